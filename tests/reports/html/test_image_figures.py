"""Images: the thumbnail, and a difference that is what it says."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.reports.html import image_figures as module
from pytest_benchbench.reports.html.image_figures import image_figures, reduced_difference

ROOM = 100_000


@pytest.fixture
def figures(media):
    """``figures(artifact's pixels, reference's pixels)``."""

    def draw(artifact, reference=None, room=ROOM):
        data = {file.name: (media.folder / file.name).read_bytes() for file in [media.png(artifact)]}["cat.png"]
        if reference is None:
            return image_figures(data, "cat.png", None, room)
        media.png(reference, "reference.png")
        return image_figures(data, "cat.png", (media.folder / "reference.png").read_bytes, room)

    return draw


def test_an_image_without_reference_is_a_thumbnail(figures, picture, pixels_of):
    (figure,) = figures(picture(640, 400))
    assert pixels_of(figure).shape == (160, 256, 4)
    assert figure.alt == "Thumbnail of cat.png"
    assert figure.caption == "cat.png, 640 x 400 pixels. The case has no reference."


def test_the_difference_states_how_much_it_is_amplified(figures, picture, pixels_of):
    reference = picture(256, 160)
    artifact = reference.copy()
    artifact[10:20, 30:50, 1] += 9
    artifact[100, 200, 2] -= 3
    thumbnail, difference = figures(artifact, reference)
    assert thumbnail.caption == "cat.png, 256 x 160 pixels."
    assert difference.alt == "Difference of cat.png from its reference, 28 times as large"
    assert difference.caption == (
        "Difference from the reference in each pixel, shown 28 times as large: black is none, white 9.107 of 255. "
        "Largest difference: 9 of 255."
    )
    shown = pixels_of(difference)[..., 0].astype(int)
    assert abs(shown[12:18, 34:46] - 252).max() < 30  # written with loss
    assert shown[40:90].max() < 30


def test_one_changed_pixel_of_millions_is_seen(figures, picture, pixels_of):
    reference = np.full((2000, 3000, 3), 100, np.uint8)
    artifact = reference.copy()
    artifact[1234, 777] = 101
    difference = figures(artifact, reference)[1]
    assert "each block of 12 x 12 pixels, its largest, shown 255 times" in difference.caption
    assert pixels_of(difference)[..., 0].max() > 100


def test_equal_pixels_have_no_difference_picture(figures, picture):
    (figure,) = figures(picture(), picture())
    assert figure.caption.endswith("Each pixel equals that of the reference.")


def test_sizes_that_differ_are_said(figures, picture):
    (figure,) = figures(picture(320, 200), picture(320, 100))
    assert figure.caption.endswith("No difference: the reference has 320 x 100 pixels.")


def test_samples_that_fidelity_refuses_have_no_difference_either(media, picture):
    media.png(picture(64, 64))
    media.png(np.full((64, 64), 1000, np.uint16), "deep.png")
    (figure,) = image_figures(
        (media.folder / "cat.png").read_bytes(), "cat.png", (media.folder / "deep.png").read_bytes, ROOM
    )
    assert figure.caption.endswith("No difference: the reference has 16-bit samples.")


def test_a_reference_that_is_no_image_leaves_the_thumbnail(media, picture):
    media.png(picture(64, 64))
    (figure,) = image_figures((media.folder / "cat.png").read_bytes(), "cat.png", lambda: b"GIF89a", ROOM)
    assert "No difference: the reference cannot be decoded" in figure.caption


def test_both_pictures_fit_their_room(figures):
    rng = np.random.default_rng(0)
    noise, other = rng.integers(0, 256, (2, 600, 800, 3), np.uint8)
    for room in (200_000, 30_000, 15_000, 5_000):
        drawn = figures(noise, other, room)
        assert len(drawn) == 2
        assert sum(len(figure.data_uri) for figure in drawn) <= room
    assert figures(noise, other, 200) == []


def test_an_image_beyond_the_bound_is_not_decoded(media, picture, monkeypatch):
    monkeypatch.setattr(module, "MAX_PIXELS", 1000)
    media.png(picture())
    with pytest.raises(UndecodableArtifactError, match="more than the limit"):
        image_figures((media.folder / "cat.png").read_bytes(), "cat.png", None, ROOM)


@settings(max_examples=30)
@given(st.data(), st.integers(1, 700), st.integers(1, 700))
def test_a_reduced_difference_is_the_largest_of_each_block(data, height, width):
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    artifact, reference = rng.integers(0, 256, (2, height, width, 3), np.uint8)
    reduced, block = reduced_difference(artifact, reference)
    whole = np.abs(artifact.astype(int) - reference).max(axis=2)
    assert max(reduced.shape) <= 256
    rows, columns = np.mgrid[: reduced.shape[0], : reduced.shape[1]]
    expected = [
        whole[r * block : (r + 1) * block, c * block : (c + 1) * block].max()
        for r, c in zip(rows.ravel(), columns.ravel(), strict=True)
    ]
    assert reduced.ravel().tolist() == expected
    assert reduced.max() == whole.max()


@given(arrays.arrays(np.uint8, (3, 4, 3)), arrays.arrays(np.uint8, (3, 4, 3)))
def test_the_amplification_never_overflows(artifact, reference):
    reduced, _ = reduced_difference(artifact, reference)
    if largest := int(reduced.max()):
        assert largest * (255 // largest) <= 255
        assert 2 * largest * (255 // largest) > 255
