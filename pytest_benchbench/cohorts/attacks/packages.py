"""Packages that attacks on sounds and clips need, which the base install lacks."""

from __future__ import annotations

import importlib
from typing import Any

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.clips import INSTALL


def needed(module: str) -> Any:
    """Import a module that an extra brings.

    Raises:
        CohortError: It is not installed; the message has the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise CohortError(f"{module.partition('.')[0]} is needed for this attack: {INSTALL}") from missing
