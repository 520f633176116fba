"""Benchmarks of watermark and AI-content detectors as pytest suites.

Everything public is importable from here. Names are resolved on first use, so that the pytest plugin costs nothing in a
project that has no manifest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_benchbench.adapters.base import (
        Adapter as Adapter,
        AdapterDescription as AdapterDescription,
        AdapterUnavailable as AdapterUnavailable,
        AnswersWithdrawn as AnswersWithdrawn,
        BatchAdapter as BatchAdapter,
        Detection as Detection,
        DetectionError as DetectionError,
        Embedder as Embedder,
        Remover as Remover,
        Sample as Sample,
        Weights as Weights,
    )
    from pytest_benchbench.adapters.metering import (
        BudgetExceeded as BudgetExceeded,
        MeteredAdapter as MeteredAdapter,
        RateLimit as RateLimit,
        Usage as Usage,
    )
    from pytest_benchbench.adapters.secrets import Secret as Secret
    from pytest_benchbench.artifacts.audio import Audio as Audio
    from pytest_benchbench.artifacts.image import Image as Image
    from pytest_benchbench.artifacts.media import MediaType as MediaType
    from pytest_benchbench.artifacts.text import Text as Text
    from pytest_benchbench.artifacts.video import Video as Video
    from pytest_benchbench.evidence.observation import Mismatch as Mismatch

__version__ = "0.1.0"

_HOMES = {
    "Adapter": "adapters.base",
    "AdapterDescription": "adapters.base",
    "AdapterUnavailable": "adapters.base",
    "AnswersWithdrawn": "adapters.base",
    "Audio": "artifacts.audio",
    "BatchAdapter": "adapters.base",
    "BudgetExceeded": "adapters.metering",
    "Detection": "adapters.base",
    "DetectionError": "adapters.base",
    "Embedder": "adapters.base",
    "Image": "artifacts.image",
    "MediaType": "artifacts.media",
    "MeteredAdapter": "adapters.metering",
    "Mismatch": "evidence.observation",
    "RateLimit": "adapters.metering",
    "Remover": "adapters.base",
    "Sample": "adapters.base",
    "Secret": "adapters.secrets",
    "Text": "artifacts.text",
    "Usage": "adapters.metering",
    "Video": "artifacts.video",
    "Weights": "adapters.base",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
