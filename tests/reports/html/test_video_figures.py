"""Videos: the frames of a strip are those that the caption names, and bars are as long as their shares."""

import numpy as np
import pytest

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.reports.html import video_figures as module
from pytest_benchbench.reports.html.video_figures import video_figures

pytest.importorskip("av")

ROOM = 200_000


def gray_clip(count, height=90, width=160):
    """Frame n is one gray of 8 n."""
    return [np.full((height, width, 3), 8 * number, np.uint8) for number in range(count)]


def drawn(media, frames, shares=(), room=ROOM):
    file = media.video(frames)
    return video_figures((media.folder / file.name).read_bytes(), file.name, shares, room)


def test_a_strip_shows_eight_frames_at_equal_distances(media, pixels_of):
    (figure,) = drawn(media, gray_clip(22))
    assert figure.alt == "8 frames of clip.mkv"
    assert figure.caption == "clip.mkv, 160 x 90 pixels, 22 frames, 25 a second. Frames 0, 3, 6, 9, 12, 15, 18, 21."
    pixels = pixels_of(figure)[..., 0].astype(int)
    assert pixels.shape == (2 * 90 + 4, 4 * 160 + 12)
    centres = [pixels[45 + 94 * row, 80 + 164 * column] for row in range(2) for column in range(4)]
    assert centres == pytest.approx([8 * number for number in (0, 3, 6, 9, 12, 15, 18, 21)], abs=3)


@pytest.mark.parametrize(("count", "named"), [(1, "Frames 0."), (2, "Frames 0, 1."), (5, "Frames 0, 1, 2, 3, 4.")])
def test_a_short_video_shows_every_frame(media, count, named):
    (figure,) = drawn(media, gray_clip(count))
    assert figure.caption.endswith(named)


def test_each_frame_has_a_bar_as_long_as_its_share(media, pixels_of):
    shares = (0.0, 0.25, 0.5, 1.0)
    strip, curve = drawn(media, gray_clip(4), shares)
    assert strip.caption.endswith("Bar: share of right bits in each: 0, 0.25, 0.5, 1.")
    row = pixels_of(strip)[94, :, 0]
    lengths = [int((row[164 * column : 164 * column + 160] < 60).sum()) for column in range(4)]
    assert lengths == pytest.approx([160 * share for share in shares], abs=3)
    assert "share of right bits in each frame, 0 to 1 upwards, frames 0 to 3" in curve.caption
    assert "Least 0, mean 0.438, greatest 1." in curve.caption


def test_the_curve_lies_where_the_shares_are(media, pixels_of):
    _, curve = drawn(media, gray_clip(20), (1.0,) * 10 + (0.25,) * 10)
    ink = pixels_of(curve)[..., 3] > 0
    assert ink[0, :190].all()
    assert ink[round(0.75 * 95), 194:].all()


def test_a_series_of_another_length_is_about_something_else(media):
    (figure,) = drawn(media, gray_clip(4), (0.5,) * 5)
    assert "right bits" not in figure.caption


def test_pictures_fit_their_room(media):
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 256, (90, 160, 3), np.uint8) for _ in range(9)]
    for room in (60_000, 15_000, 5_000, 300):
        figures = drawn(media, noise, (0.5,) * 9, room)
        assert sum(len(figure.data_uri) for figure in figures) <= room
    assert len(drawn(media, noise, (0.5,) * 9, 15_000)) == 2


def test_a_video_beyond_the_bounds_is_not_decoded(media, monkeypatch):
    monkeypatch.setattr(module, "MAX_FRAMES", 3)
    with pytest.raises(UndecodableArtifactError, match="more than 3 frames"):
        drawn(media, gray_clip(4))
    monkeypatch.setattr(module, "MAX_PIXELS", 100)
    with pytest.raises(UndecodableArtifactError, match="more than the limit"):
        drawn(media, gray_clip(2))
