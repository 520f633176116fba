"""The built-in suite of watermark manifests. Copy these lines to begin a suite of your own."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.cases(kind="watermark")
def test_detection(observe: Callable[[], Any]) -> None:
    """Ask the row's adapter about the artifact and hold the answer against the row's expectation."""
    observe().check()
