"""Watermarks: each row's adapter is asked about the artifact, and its answer held against the row's expectation."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.cohorts.defaults import DEFAULT_COHORTS
from pytest_benchbench.cohorts.schemes import SCHEMES


@pytest.mark.cases(kind="watermark", where={"media_type": "image"})
def test_detection(observe: Callable[[], Any]) -> None:
    observe().check()


@pytest.mark.cases(kind="watermark", where={"media_type": "audio"})
def test_audio_detection(observe: Callable[[], Any]) -> None:
    observe().check()


@pytest.mark.cases(kind="watermark", where={"media_type": "video"})
def test_video_detection(observe: Callable[[], Any]) -> None:
    observe().check()


ADAPTERS = dict.fromkeys(adapter for describe in DEFAULT_COHORTS.values() for adapter in describe().schemes())


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_default_cohorts_have_rows_for(adapter: str, left_out: dict[str, str]) -> None:
    """Show an adapter whose planned rows are left out, because its marks cannot be made here, as one skipped item."""
    if adapter not in left_out:
        return
    try:
        SCHEMES[adapter].open()
    except AdapterUnavailable as missing:  # which names the install command
        pytest.skip(f"{adapter}: {missing}")
    pytest.fail(f"{adapter} is available, but was left out: {left_out[adapter]}")
