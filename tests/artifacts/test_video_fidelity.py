from fractions import Fraction

import numpy as np
import pytest

from pytest_benchbench.artifacts.video import decode_video
from pytest_benchbench.artifacts.video_fidelity import video_fidelity

pytest.importorskip("av")


@pytest.fixture
def lossless(encode_video):
    """A video whose decoded frames are the given ones exactly."""

    def make(frames, **how):
        return decode_video(encode_video(frames, **how))

    return make


def test_the_mean_is_over_the_frames_that_differ_and_the_share_says_how_many(lossless, clip):
    frames = clip(4)
    changed = [frame.copy() for frame in frames]
    changed[1][0, 0, 0] ^= 16
    changed[3][5, 5, 1] ^= 64
    measured = video_fidelity(lossless(changed), lossless(frames))
    samples = frames[0].size
    expected = np.mean([10 * np.log10(255**2 * samples / step**2) for step in (16, 64)])
    assert measured.mean_psnr_db == pytest.approx(expected)
    assert (measured.status, measured.mean_psnr_status) == ("measured", "finite")
    assert measured.changed_frame_fraction == 0.5


def test_identical_frames_have_no_bound(lossless, clip):
    measured = video_fidelity(lossless(clip(3)), lossless(clip(3)))
    assert (measured.mean_psnr_db, measured.mean_psnr_status) == (None, "unbounded_identical")
    assert measured.changed_frame_fraction == 0


@pytest.mark.parametrize("other", [{"count": 5}, {"count": 4, "height": 96}])
def test_another_shape_is_incomparable(lossless, clip, other):
    measured = video_fidelity(lossless(clip(**other)), lossless(clip(4)))
    assert measured.status == "incomparable"
    assert measured.reason.startswith("shape_mismatch")
    assert measured.mean_psnr_db is None


def test_another_frame_rate_is_incomparable(lossless, clip):
    measured = video_fidelity(lossless(clip(4), rate=Fraction(50)), lossless(clip(4)))
    assert measured.status == "incomparable"
    assert measured.reason.startswith("frame_rate_mismatch")


def test_deeper_samples_are_incomparable(encode_video, lossless, clip):
    deep = decode_video(encode_video(clip(4), "ffv1", "matroska", "yuv420p10le"))
    measured = video_fidelity(deep, lossless(clip(4)))
    assert measured.status == "incomparable"
    assert measured.reason
