"""Importing torchvision where its compiled part does not fit the installed torch, which is so for PyPI's beside a CPU torch.

torchvision itself goes on without its compiled part, except that two declarations about its operators ``nms`` and ``qnms``
fail where nothing has defined these. So they are defined first, without an implementation: no adapter here calls them.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.torch_runtime import import_package, import_torch

_OPERATORS = ("nms", "qnms")

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"

_definitions: list[Any] = []
"""The library of what was defined here; the definitions end with the object."""


def import_torchvision(install: str) -> ModuleType:
    """Import torchvision, after defining what its import needs if its compiled part does not load.

    Args:
        install: The command that provides it.

    Raises:
        AdapterUnavailable: torch or torchvision is not installed or cannot be imported.
    """
    torch = import_torch(install)
    if "torchvision" not in sys.modules:
        spec = find_spec("torchvision")
        if spec is None or spec.origin is None:
            raise AdapterUnavailable("torchvision is not installed", install)
        if not _compiled_part_loads(torch, Path(spec.origin).parent):
            define_operators(torch)
    return import_package("torchvision", install)


def define_operators(torch: ModuleType) -> tuple[str, ...]:
    """Define those of the operators ``torchvision::nms`` and ``torchvision::qnms`` that nobody has, without implementation.

    Returns:
        The names of the operators that were defined.
    """
    missing = tuple(name for name in _OPERATORS if not hasattr(torch.ops.torchvision, name))
    if missing:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in missing:
            library.define(name + _SCHEMA)
        _definitions.append(library)
    return missing


def _compiled_part_loads(torch: ModuleType, folder: Path) -> bool:
    """Try what torchvision will try; a library that is loaded here stays loaded and is found by it."""
    for library in sorted([*folder.glob("_C.*so"), *folder.glob("_C.*pyd")]):
        try:
            torch.ops.load_library(str(library))
        except OSError:  # it was linked against another build of torch, say one with CUDA
            continue
        return True
    return False
