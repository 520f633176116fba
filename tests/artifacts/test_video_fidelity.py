"""Fidelity of videos against plain arithmetic, on decoded files without loss."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.artifacts import video_fidelity as module
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.video import decode_video
from pytest_benchbench.artifacts.video_fidelity import video_fidelity


@pytest.fixture(scope="session")
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


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([1, 4, 255]))
def test_the_figures_are_those_of_plain_arithmetic(lossless, seed, spread):
    random = np.random.default_rng(seed)
    frames = random.integers(0, 256, (3, 96, 240, 3), dtype=np.uint8)  # more samples than one step takes
    noise = random.integers(-spread, spread + 1, frames.shape) * random.integers(0, 2, (3, 1, 1, 1))
    changed = np.clip(frames + noise, 0, 255).astype(np.uint8)
    measured = video_fidelity(lossless(list(changed)), lossless(list(frames)))
    errors = ((changed.astype(float) - frames) ** 2).mean(axis=(1, 2, 3))
    assert measured.changed_frame_fraction == np.count_nonzero(errors) / 3
    if errors.any():
        assert measured.mean_psnr_db == pytest.approx(np.mean(10 * np.log10(255**2 / errors[errors > 0])))
    assert video_fidelity(lossless(list(frames)), lossless(list(changed))) == measured


def test_the_largest_difference_does_not_overflow(lossless):
    black, white = (lossless([np.full((96, 240, 3), value, np.uint8)] * 2) for value in (0, 255))
    assert video_fidelity(black, white).mean_psnr_db == 0
    assert 255**2 * module._BLOCK_SAMPLES < 2**32


@pytest.mark.parametrize("other", [{"count": 5}, {"count": 4, "height": 96}, {"count": 4, "width": 110}])
def test_another_shape_is_incomparable(lossless, clip, other):
    measured = video_fidelity(lossless(clip(**other)), lossless(clip(4)))
    assert measured.status == "incomparable"
    assert measured.reason.startswith("shape_mismatch: artifact ")
    assert measured.mean_psnr_db is measured.mean_psnr_status is measured.changed_frame_fraction is None


def test_another_frame_rate_is_incomparable(lossless, clip):
    measured = video_fidelity(lossless(clip(4), rate=Fraction(50)), lossless(clip(4)))
    assert (measured.status, measured.mean_psnr_db) == ("incomparable", None)
    assert measured.reason == "frame_rate_mismatch: artifact 50, reference 25 frames per second"


def test_the_rate_of_television_is_another_one(lossless, clip):
    near = lossless(clip(4), rate=Fraction(30000, 1001))
    assert video_fidelity(near, lossless(clip(4), rate=Fraction(30))).reason.startswith("frame_rate_mismatch")


@pytest.mark.parametrize("rate", [Fraction(24000, 1001), Fraction(30000, 1001), Fraction(60), Fraction(25, 2)])
def test_containers_of_different_clocks_are_compared(encode_video, clip, rate):
    kinds = (("libx264", "mp4", "yuv420p"), ("libvpx-vp9", "webm", "yuv420p"), ("mjpeg", "avi", "yuvj420p"))
    first, *others = [decode_video(encode_video(clip(), *kind, rate=rate)) for kind in kinds]
    assert [video_fidelity(other, first).status for other in others] == ["measured", "measured"]


def test_frames_at_other_times_are_incomparable_and_those_at_the_same_times_are_not(lossless, clip):
    ticks = [0, 1, 2, 9]
    variable, again, otherwise = (lossless(clip(4), ticks=when) for when in (ticks, ticks, [0, 7, 8, 9]))
    assert variable.rate == otherwise.rate
    assert video_fidelity(again, variable).mean_psnr_status == "unbounded_identical"
    assert video_fidelity(otherwise, variable).reason == "frame_rate_mismatch: the frames are shown at other times"


def test_deeper_samples_are_incomparable(lossless, clip):
    deep = lossless(clip(4), pixel_format="yuv420p10le")
    assert video_fidelity(deep, lossless(clip(4))).reason == "artifact: 10-bit samples"
    assert video_fidelity(lossless(clip(4)), deep).reason == "reference: 10-bit samples"


def test_a_video_in_memory_compares_like_a_streamed_one(videos):
    marked, clean = decode_video(videos["h264-mp4"]), decode_video(videos["vp9-webm"])
    assert video_fidelity(marked.held(), clean) == video_fidelity(marked, clean.held()) == video_fidelity(marked, clean)


def test_a_clip_that_cannot_be_decoded_again_has_no_fidelity(lossless, clip, monkeypatch):
    artifact, reference = lossless(clip(4)), lossless(clip(4))

    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr("pytest_benchbench.artifacts.video_frames.PictureConverter.picture", exhausted)
    with pytest.raises(UndecodableArtifactError, match=r"^MemoryError$"):
        video_fidelity(artifact, reference)
