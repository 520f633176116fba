"""``videoseal`` without torch: the rule about a clip's logits, the temporal block, and what is refused before loading."""

import hashlib
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench import AdapterUnavailable, Sample
from pytest_benchbench.adapters import videoseal
from pytest_benchbench.adapters.seal_rule import MESSAGE
from pytest_benchbench.adapters.videoseal import PIN, VideoSeal, VideoSealEmbedder, VideoSealOptions, read_clip
from pytest_benchbench.artifacts.video import Video

OWN = np.array(MESSAGE) * 2.0 - 1.0
"""Logits that spell the message."""


def clip(*frames: np.ndarray) -> np.ndarray:
    """Logits of frames, each behind a detection logit that says no."""
    return np.concatenate([np.full((len(frames), 1), -9.0), np.stack(frames)], axis=1).astype(np.float32)


def wrong(count: int, strength: float = 1.0) -> np.ndarray:
    """The message's logits with the first ones turned over."""
    return np.where(np.arange(256) < count, -OWN, OWN) * strength


def video(frames: np.ndarray) -> Video:
    return Video(frames.shape, Fraction(25), {"rule": "test"}, None, None, frames)


@pytest.mark.parametrize(("count", "status"), [(25, "detected"), (26, "not_detected")])
def test_the_boundary_lies_between_231_and_230_equal_bits(count, status):
    detection = read_clip(clip(wrong(count), wrong(count)))
    assert (detection.status, detection.message_bit_accuracy) == (status, (256 - count) / 256)


def test_raw_logits_are_averaged_and_not_the_bits():
    """Two of three frames are wrong everywhere, but the third is surer than both."""
    detection = read_clip(clip(wrong(256), wrong(256), OWN * 3))
    assert (detection.status, detection.message_bit_accuracy) == ("detected", 1.0)
    assert detection.temporal["bit_accuracy"]["series"] == [0.0, 0.0, 1.0]


def test_frames_count_alike_whatever_their_strength():
    """The average over frames, not one that weighs frames by their norm, which would be 1 here."""
    assert read_clip(clip(OWN * 2, wrong(256), wrong(256, 1.5))).message_bit_accuracy == 0.0


def test_an_average_of_zero_is_a_zero_bit():
    detection = read_clip(clip(OWN, -OWN))
    assert detection.label == "0" * 64
    assert detection.message_bit_accuracy == MESSAGE.count(0) / 256


def test_the_temporal_block():
    detection = read_clip(clip(OWN, wrong(64), wrong(128)))
    assert detection.temporal == {
        "frames": 3,
        "bit_accuracy": {"min": 0.5, "mean": 0.75, "max": 1.0, "series": [1.0, 0.75, 0.5]},
    }
    assert msgspec.json.decode(msgspec.json.encode(detection.temporal)) == detection.temporal


def test_the_label_is_the_decoded_message_even_of_an_unknown_one():
    assert read_clip(clip(OWN)).label == hashlib.sha256(b"pytest-benchbench").hexdigest()
    complement = bytes(255 - byte for byte in hashlib.sha256(b"pytest-benchbench").digest()).hex()
    assert read_clip(clip(-OWN)).label == complement


@given(st.lists(st.integers(0, 256), min_size=1, max_size=20))
def test_the_series_is_in_the_order_of_the_frames_and_holds_its_extremes(counts):
    block = read_clip(clip(*map(wrong, counts))).temporal["bit_accuracy"]
    assert block["series"] == [(256 - count) / 256 for count in counts]
    assert block["min"] == min(block["series"]) <= block["mean"] <= max(block["series"]) == block["max"]


def test_logits_that_are_not_finite_are_no_answer():
    logits = clip(OWN, OWN)
    logits[1, 7] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        read_clip(logits)


def make_detector(options):
    VideoSeal(options).load()


MAKERS = pytest.mark.parametrize("make", [make_detector, VideoSealEmbedder], ids=["detector", "embedder"])


@MAKERS
def test_the_file_must_be_given(make):
    with pytest.raises(AdapterUnavailable, match="weights= must say where the file of VideoSeal lies") as refusal:
        make(VideoSealOptions())
    assert "videoseal:weights=y_256b_img.jit" in refusal.value.install
    assert "\n" not in str(refusal.value)


@MAKERS
def test_missing_and_other_files_are_refused_before_anything_is_loaded(tmp_path, make):
    path = tmp_path / "y_256b_img.jit"
    with pytest.raises(AdapterUnavailable, match=r"y_256b_img\.jit cannot be read: No such file"):
        make(VideoSealOptions(weights=path))
    path.write_bytes(b"no program")
    with pytest.raises(AdapterUnavailable) as refusal:
        make(VideoSealOptions(weights=path))
    digest = hashlib.sha256(b"no program").hexdigest()
    assert refusal.value.reason == f"y_256b_img.jit has SHA-256 {digest}, not the pinned {PIN}"
    assert "dl.fbaipublicfiles.com/videoseal/y_256b_img.jit" in refusal.value.install


@pytest.mark.parametrize(
    ("shape", "lengths"),
    [((2, 2), [16, 16, 8]), ((720, 1280), [6] * 6 + [4]), ((2400, 2400), [1] * 40)],
    ids=["small", "720p", "large"],
)
def test_chunks_follow_from_the_size_of_a_frame(shape, lengths):
    frame = np.broadcast_to(np.float32(0), (*shape, 3))
    assert [len(chunk) for chunk in videoseal._chunks(frame for _ in range(40))] == lengths


def test_a_clip_without_frames_is_too_small():
    adapter = VideoSeal()
    adapter._opened = videoseal._Opened(model=None, file=None, version="")
    detection = adapter.detect(Sample("video", "0" * 64, b"", video(np.zeros((0, 4, 4, 3), np.float32))))
    assert (detection.status, detection.reason) == ("too-small", "the clip has no frames")


def test_only_a_video_is_read():
    adapter = VideoSeal()
    adapter._opened = videoseal._Opened(model=None, file=None, version="")
    with pytest.raises(TypeError, match="expected a decoded video"):
        adapter.detect(Sample("video", "0" * 64, b""))


def test_it_must_be_loaded_first():
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        VideoSeal().describe()


def test_it_streams_and_no_weights_are_called_verified():
    assert VideoSeal.needs == "frames"
    assert VideoSeal.verified_weights is None
