"""Image watermarks: each row's adapter is asked about the artifact, and its answer held against the row's expectation."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.cohorts.schemes import IMAGE_SCHEMES, Scheme


@pytest.mark.cases(kind="watermark", where={"media_type": "image"})
def test_detection(observe: Callable[[], Any]) -> None:
    observe().check()


@pytest.mark.parametrize("scheme", IMAGE_SCHEMES, ids=lambda scheme: scheme.adapter)
def test_the_default_cohorts_have_rows_for(scheme: Scheme) -> None:
    """Show an adapter whose planned rows are left out, because its marks cannot be made here, as one skipped item."""
    try:
        assert len(scheme.marks()) == len(scheme.mark_names)
    except AdapterUnavailable as missing:
        pytest.skip(str(missing))
