"""The built-in suite of golden sets. Copy these lines to begin a suite of your own."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.cases(kind="golden-set")
def test_detection(observe: Callable[[], Any]) -> None:
    """Ask an adapter about the text; a sample expects nothing, so every score passes as measured."""
    observe().check()
