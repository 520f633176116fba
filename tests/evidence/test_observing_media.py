"""Sounds and streamed videos on their way to an adapter and into the evidence."""

import hashlib
import time
from pathlib import Path

import numpy as np
import pytest

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, BatchAdapter, Detection
from pytest_benchbench.adapters.pool import AdapterPool
from pytest_benchbench.adapters.registry import AdapterRegistry
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.video import Video, decode_video
from pytest_benchbench.cohorts.carriers.audio import CARRIERS
from pytest_benchbench.cohorts.carriers.video import CARRIERS as CLIPS
from pytest_benchbench.cohorts.clips import Clip, encode_clip
from pytest_benchbench.cohorts.sounds import encode_wav
from pytest_benchbench.evidence.observing import PinnedFile, Question, observe


class Streaming(Adapter):
    """Looks at every frame as it comes."""

    name = "streaming"
    media_types = frozenset({"video"})
    needs = "frames"

    def detect(self, sample):
        assert isinstance(sample.decoded, Video)
        before = sample.decoded.decode_seconds
        frames = sum(1 for _ in sample.decoded.frames())
        return Detection("detected", score=(sample.decoded.decode_seconds - before) * 1e3, label=str(frames))

    def describe(self):
        return AdapterDescription("1", "counts frames; its score is how long their decoding took, in ms")


class Broken(Streaming):
    """Fails to decode in the middle of a call."""

    name = "broken"

    def detect(self, sample):
        frames = sample.decoded.frames()
        next(frames)
        raise UndecodableArtifactError("frame 1 is damaged")


class Waves(BatchAdapter):
    """Streams the frames of several videos in one call."""

    name = "waves"
    media_types = frozenset({"video"})
    needs = "frames"
    batch_size = 4

    def detect_batch(self, samples):
        return [Streaming().detect(sample) for sample in samples]

    def describe(self):
        return AdapterDescription("1", "as streaming")


class Whole(Streaming):
    """Looks at all samples at once."""

    name = "whole"
    media_types = frozenset({"audio", "video"})
    needs = "decoded"

    def detect(self, sample):
        whole = sample.decoded.array() if isinstance(sample.decoded, Video) else sample.decoded.samples
        assert not whole.flags.writeable
        return Detection("detected", score=float(whole.shape[0]))


@pytest.fixture
def ask(tmp_path):
    registry = AdapterRegistry()
    registry.register(Streaming)
    registry.register(Whole)
    registry.register(Broken)
    registry.register(Waves)
    pool = AdapterPool(registry, {}, tmp_path)

    def pinned(name, data):
        if data is None:
            return None
        (tmp_path / name).write_bytes(data)
        return PinnedFile(name, hashlib.sha256(data).hexdigest())

    def asking(adapter, media_type, data, reference=None):
        question = Question(
            media_type=media_type,
            artifact=pinned("artifact", data),
            reference=pinned("reference", reference),
            base=Path(tmp_path),
            roots=(),
            removed=False,
            expected="unresolved",
            known_mismatch=False,
        )
        return observe(question, pool.warm(adapter), ArtifactLoader())

    return asking


@pytest.fixture(scope="module")
def clip():
    drawn = CLIPS[0].draw()
    return Clip(drawn.frames[:8], drawn.rate)


def test_the_clock_stands_still_while_frames_are_decoded(ask, clip):
    file = encode_clip(clip)
    begin = time.perf_counter()
    observation = ask("streaming", "video", file)
    everything = (time.perf_counter() - begin) * 1e3
    detection = observation.detection
    assert (observation.outcome, detection.label) == ("measured", "8")
    assert detection.score > 0
    assert 0 <= detection.adapter_elapsed_ms <= everything - detection.score
    assert observation.artifact.decoding["frames"] == 8


def test_the_clock_of_a_batch_stands_still_too(ask, clip):
    begin = time.perf_counter()
    observation = ask("waves", "video", encode_clip(clip))
    everything = (time.perf_counter() - begin) * 1e3
    assert observation.detection.score > 0
    assert 0 <= observation.batch.elapsed_ms <= everything - observation.detection.score


def test_decoding_that_fails_in_the_call_is_an_error_and_no_verdict(ask, clip):
    observation = ask("broken", "video", encode_clip(clip))
    assert (observation.outcome, observation.detection.status) == ("error", "error")
    assert (observation.error.type, observation.error.message) == ("UndecodableArtifactError", "frame 1 is damaged")


def test_a_clip_too_large_to_be_whole_is_an_error_and_still_compared(ask, clip, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.artifacts.video.MAX_ARRAY_BYTES", 1)
    file = encode_clip(clip)
    observation = ask("whole", "video", file, file)
    assert observation.outcome == "error"
    assert "more than the limit" in observation.error.message
    assert observation.fidelity.mean_psnr_status == "unbounded_identical"
    assert ask("streaming", "video", file).outcome == "measured"


def test_a_whole_clip_is_there_before_the_clock_starts(ask, clip):
    assert ask("whole", "video", encode_clip(clip)).detection.score == 8


def test_a_damaged_video_is_an_error_and_no_verdict(ask, clip):
    file = encode_clip(clip)
    observation = ask("streaming", "video", file[: len(file) // 2])
    assert (observation.outcome, observation.detection.status) == ("error", "error")


def test_videos_are_compared_by_frames(ask, clip):
    changed = clip.frames.copy()
    changed[:4] = 255 - changed[:4]
    files = encode_clip(Clip(changed, clip.rate)), encode_clip(clip)
    fidelity = ask("streaming", "video", *files).fidelity
    assert fidelity.status == "measured"
    pairs = zip(*(decode_video(file).frames() for file in files), strict=True)
    each = [-10 * np.log10(np.mean((one.astype(float) - other) ** 2)) for one, other in pairs]
    assert max(each[:4]) < 15 < 30 < min(each[4:])
    assert fidelity.mean_psnr_db == pytest.approx(np.mean(each), abs=0.001)
    assert fidelity.changed_frame_fraction >= 0.5
    assert ask("streaming", "video", encode_clip(clip), encode_clip(clip)).fidelity.mean_psnr_status == "unbounded_identical"


def test_sounds_are_compared_by_samples(ask):
    sound = CARRIERS[1].draw(1.0)
    observation = ask("whole", "audio", encode_wav(sound * np.float32(0.5)), encode_wav(sound))
    assert observation.detection.score == 16_000
    assert observation.fidelity.snr_db == pytest.approx(6.02, abs=0.01)
    cut = ask("whole", "audio", encode_wav(sound[:-1]), encode_wav(sound)).fidelity
    assert cut.status == "incomparable"


def test_a_damaged_sound_is_an_error_and_no_verdict(ask):
    observation = ask("whole", "audio", encode_wav(CARRIERS[1].draw(1.0))[:-100])
    assert (observation.outcome, observation.detection.status) == ("error", "error")
