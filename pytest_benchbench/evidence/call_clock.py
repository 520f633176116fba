"""How long an adapter's call takes, decoding left out."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pytest_benchbench.adapters.base import Sample

if TYPE_CHECKING:
    from pytest_benchbench.artifacts.video import Video


class CallClock:
    """Wall time of a call from now on, without what videos spend on decoding the frames that are streamed in it.

    Args:
        samples: What the adapter is shown.
    """

    def __init__(self, samples: Iterable[Sample | None]) -> None:
        decoded = [sample.decoded for sample in samples if sample is not None and sample.media_type == "video"]
        self._videos = cast("list[Video]", list({id(video): video for video in decoded if video is not None}.values()))
        self._decoded_before = self._decode_seconds()
        self._begin = time.perf_counter()

    def elapsed_ms(self) -> float:
        """Give the time so far; 0 if the adapter had frames decoded beside the call, in threads, for longer than it took."""
        elapsed = time.perf_counter() - self._begin
        return max(elapsed - (self._decode_seconds() - self._decoded_before), 0.0) * 1e3

    def _decode_seconds(self) -> float:
        return sum(video.decode_seconds for video in self._videos)
