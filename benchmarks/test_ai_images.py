"""AI images: every adapter that the command names scores the images of the split that it opens.

``pytest benchmarks/test_ai_images.py --manifest=dataset.jsonl --bench-split=test --bench-adapter=NAME``
"""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.cases(kind="dataset")
def test_detection(observe: Callable[[], Any]) -> None:
    observe().check()
