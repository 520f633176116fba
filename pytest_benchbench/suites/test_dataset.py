"""The built-in suite of dataset manifests. Copy these lines to begin a suite of your own."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.cases(kind="dataset")
def test_detection(observe: Callable[[], Any]) -> None:
    """Ask an adapter about the image; a row expects nothing, so every score and every verdict passes as measured."""
    observe().check()
