"""What needs torch. Without it these tests are skipped, but not in ``tox -e neural``, which sets ``BENCHBENCH_NEURAL=1``."""

import os
from importlib.util import find_spec

import pytest

PACKAGES = (
    *("torch", "librosa", "pkg_resources", "perth", "omegaconf", "einops", "audioseal"),
    *("torchvision", "trustmark", "lightning", "torchmetrics", "videoseal", "timm", "cv2", "av", "tqdm"),
    *("onnxruntime", "imwatermark"),
)
"""Modules without which a test here would be skipped."""

if os.environ.get("BENCHBENCH_NEURAL") == "1" and (missing := [name for name in PACKAGES if find_spec(name) is None]):
    raise pytest.UsageError(f"BENCHBENCH_NEURAL=1, but these modules are not installed: {', '.join(missing)}")
