"""AI texts: every adapter that the command names scores the texts of the split that it opens.

``pytest benchmarks/test_ai_texts.py --manifest=golden-set-v1.json --bench-split=holdout --bench-adapter=NAME``
"""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.cases(kind="golden-set")
def test_detection(observe: Callable[[], Any]) -> None:
    observe().check()
