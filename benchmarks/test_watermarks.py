"""Image watermarks: each row's adapter is asked about the artifact, and its answer held against the row's expectation."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.cases(kind="watermark", where={"media_type": "image"})
def test_detection(observe: Callable[[], Any]) -> None:
    observe().check()
