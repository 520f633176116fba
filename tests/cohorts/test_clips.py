import sys
from fractions import Fraction

import numpy as np
import pytest

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.clips import CLIP_ENCODER, Clip, VideoEncoder, decode_clip, encode_clip

H265 = VideoEncoder("libx265", {"crf": "20", "x265-params": "pools=none:frame-threads=1:log-level=none"})
VP9 = VideoEncoder("libvpx-vp9", {"crf": "20", "b": "0", "threads": "1"}, container="webm")


def clip(frames=4, height=68, width=72, rate=Fraction(25)):
    random = np.random.default_rng(0)
    return Clip(random.integers(0, 256, (frames, height, width, 3), dtype=np.uint8), rate)


def plain(colour):
    return Clip(np.full((3, 68, 72, 3), colour, np.uint8), Fraction(25))


@pytest.mark.parametrize("encoder", [CLIP_ENCODER, H265, VP9], ids=lambda encoder: encoder.codec)
@pytest.mark.parametrize("frames", [1, 2, 3, 7])
@pytest.mark.parametrize("rate", [Fraction(25), Fraction(30_000, 1001), Fraction(15, 2)])
def test_frames_and_rate_come_back(encoder, frames, rate):
    decoded = decode_clip(encode_clip(clip(frames, rate=rate), encoder))
    assert decoded.frames.shape == (frames, 68, 72, 3)
    assert decoded.rate == rate


@pytest.mark.parametrize("encoder", [CLIP_ENCODER, H265, VP9], ids=lambda encoder: encoder.codec)
def test_a_deterministic_encoder_writes_the_same_bytes_every_time(encoder):
    assert encoder.deterministic == "bytes"
    assert len({encode_clip(clip(), encoder) for _ in range(4)}) == 1


@pytest.mark.parametrize("colour", [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (200, 30, 90)])
def test_colours_come_back(colour):
    """Another matrix or range on either side would move them by 10 and more."""
    decoded = decode_clip(encode_clip(plain(colour)))
    assert np.abs(decoded.frames.astype(int) - colour).max() <= 3


def test_full_chroma_takes_odd_sides():
    encoder = VideoEncoder("libx264", {"crf": "8", "threads": "1", "mbtree": "0"}, pixel_format="yuv444p")
    assert decode_clip(encode_clip(clip(height=33, width=35), encoder)).frames.shape == (4, 33, 35, 3)


def test_the_record_says_everything_that_was_set():
    record = CLIP_ENCODER.record()
    assert record["options"] == {"crf": "8", "preset": "medium", "threads": "1", "mbtree": "0"}
    again = VideoEncoder(record["codec"], record["options"], record["pixel_format"], record["container"])
    assert encode_clip(clip(), again) == encode_clip(clip())


@pytest.mark.parametrize(
    ("encoder", "size", "reason"),
    [
        (CLIP_ENCODER, (33, 32), "libx264: yuv420p needs even sides, not 32x33"),
        (H265, (64, 64), "libx265: needs sides of at least 66 pixels, not 64x64"),
        (VideoEncoder("libx264", {"crf": "8", "crrf": "9"}), (32, 32), "libx264 has no option 'crrf'"),
        (VideoEncoder("libx264", {"preset": "hasty"}), (32, 32), "libx264: cannot encode 32x32: [^\n]*"),
        (VideoEncoder("libnothing", {}), (32, 32), "libnothing: cannot encode 32x32: [^\n]*"),
    ],
)
def test_what_cannot_be_encoded_is_refused_in_one_line(encoder, size, reason):
    with pytest.raises(CohortError, match=rf"^{reason}$"):
        encode_clip(clip(2, *size), encoder)


@pytest.mark.parametrize(
    ("frames", "rate"),
    [
        (np.zeros((0, 8, 8, 3), np.uint8), Fraction(25)),
        (np.zeros((8, 8, 3), np.uint8), Fraction(25)),
        (np.zeros((2, 8, 8, 4), np.uint8), Fraction(25)),
        (np.zeros((2, 8, 8, 3), np.float32), Fraction(25)),
        (np.zeros((2, 8, 8, 3), np.uint8), Fraction(0)),
    ],
)
def test_what_is_no_clip_is_refused(frames, rate):
    with pytest.raises(CohortError, match=r"^a clip of "):
        Clip(frames, rate)


def test_bytes_that_are_no_video_are_refused():
    with pytest.raises(UndecodableArtifactError):
        decode_clip(b"no video")


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(CohortError, match=r"^clips [^\n]*: pip install 'pytest-benchbench\[cohorts,audio,video\]'$"):
        encode_clip(clip())
