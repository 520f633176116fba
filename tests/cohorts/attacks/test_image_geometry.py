import numpy as np
import PIL.Image
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.cohorts.attacks.image_geometry import (
    cropped_border,
    cropped_centre,
    cropped_edge,
    cropped_somewhere,
    fitted_into,
    mirrored,
    place_within,
    rotated,
    scaled,
    tilted,
)
from pytest_benchbench.cohorts.attacks.registry import attacks_of

sides = st.integers(16, 90)


def picture(width, height):
    return np.random.default_rng(width * 1000 + height).integers(0, 256, (height, width, 3), dtype=np.uint8)


@given(width=sides, height=sides)
def test_a_size_is_restored_exactly_when_the_record_says_so(width, height):
    pixels = picture(width, height)
    for name in ("resize-50", "crop-10", "crop-centre-50", "crop-left-10", "crop-bottom-10"):
        for variant, restored in (("", True), ("-unrestored", False)):
            changed, record = attacks_of("image")[name + variant].change(pixels)
            assert record["size_restored"] is restored
            assert (changed.shape == pixels.shape) is restored


@given(width=st.integers(1, 400), height=st.integers(1, 400), long_side=st.integers(1, 300))
def test_a_picture_is_fitted_into_its_long_side_and_never_scaled_up(width, height, long_side):
    pixels = np.zeros((height, width, 3), np.uint8)
    attacked, record = fitted_into(long_side)(pixels)
    assert record["resized_to"] == [attacked.shape[1], attacked.shape[0]]
    if max(width, height) <= long_side:
        assert (attacked is pixels, record["scaled"]) == (True, False)
        return
    assert (max(attacked.shape[:2]), record["scaled"]) == (long_side, True)
    exact = np.array([height, width]) * long_side / max(width, height)
    assert (np.abs(np.array(attacked.shape[:2]) - np.maximum(exact, 1)) <= 0.5).all()


def test_a_fitted_picture_is_scaled_with_lanczos_in_one_step():
    pixels = picture(64, 48)
    expected = PIL.Image.fromarray(pixels).resize((32, 24), PIL.Image.Resampling.LANCZOS)
    assert np.array_equal(fitted_into(32)(pixels)[0], np.asarray(expected))


@given(
    width=st.integers(1, 90), height=st.integers(1, 90), percent=st.sampled_from([90, 75]), seed=st.integers(0, 2**48 - 1)
)
def test_a_crop_somewhere_cuts_its_box_out_of_the_picture(width, height, percent, seed):
    pixels = picture(width, height)
    attacked, record = cropped_somewhere(percent, seed)(pixels)
    left, top, right, bottom = record["box"]
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    kept = (max(1, (width * percent + 50) // 100), max(1, (height * percent + 50) // 100))
    assert (right - left, bottom - top) == kept
    assert np.array_equal(attacked, pixels[top:bottom, left:right])


def test_a_crop_somewhere_is_everywhere_equally_often():
    places = [place_within((3, 9), seed) for seed in range(4000)]
    for axis, room in enumerate((3, 9)):
        counts = np.bincount([place[axis] for place in places], minlength=room + 1)
        assert counts.size == room + 1
        assert counts == pytest.approx(4000 / (room + 1), rel=0.2)


def test_a_resize_goes_down_and_back_up_with_lanczos():
    pixels = picture(64, 48)
    attacked, record = scaled(75, restored=True)(pixels)
    expected = PIL.Image.fromarray(pixels).resize((48, 36), PIL.Image.Resampling.LANCZOS)
    expected = expected.resize((64, 48), PIL.Image.Resampling.LANCZOS)
    assert np.array_equal(attacked, np.asarray(expected))
    assert record["resized_to"] == [48, 36]


def test_a_crop_without_restoring_leaves_the_inner_pixels_untouched():
    pixels = picture(100, 60)
    attacked, record = cropped_border(5, restored=False)(pixels)
    assert record["box"] == [5, 3, 95, 57]
    assert np.array_equal(attacked, pixels[3:57, 5:95])


def test_five_percent_of_512_is_26_pixels():
    assert cropped_border(5, restored=True)(picture(512, 512))[1]["box"] == [26, 26, 486, 486]


def test_the_centre_is_in_the_middle():
    pixels = picture(81, 60)
    attacked, record = cropped_centre(50, restored=False)(pixels)
    assert record["box"] == [20, 15, 61, 45]
    assert np.array_equal(attacked, pixels[15:45, 20:61])


@pytest.mark.parametrize(
    ("edge", "box"),
    [("left", [8, 0, 80, 60]), ("top", [0, 6, 80, 60]), ("right", [0, 0, 72, 60]), ("bottom", [0, 0, 80, 54])],
)
def test_a_single_edge_is_cut(edge, box):
    pixels = picture(80, 60)
    attacked, record = cropped_edge(edge, 10, restored=False)(pixels)
    assert record["box"] == box
    assert np.array_equal(attacked, pixels[box[1] : box[3], box[0] : box[2]])


def test_a_quarter_turn_of_a_square_loses_nothing():
    pixels = picture(32, 32)
    assert np.array_equal(rotated(90)(pixels)[0], np.rot90(pixels))


def test_a_slanted_turn_keeps_the_size_and_blackens_the_corners():
    attacked, _ = rotated(45)(np.full((40, 60, 3), 200, np.uint8))
    assert attacked.shape == (40, 60, 3)
    assert attacked[0, 0].tolist() == [0, 0, 0]
    assert attacked[20, 30].tolist() == [200, 200, 200]


def test_mirroring_twice_restores_the_picture():
    pixels = picture(31, 20)
    once, _ = mirrored(pixels)
    assert np.array_equal(once[:, 0], pixels[:, -1])
    assert np.array_equal(mirrored(once)[0], pixels)


def test_a_tilt_draws_the_picture_between_its_corners():
    attacked, record = tilted(0.5, seed=0)(np.full((100, 200, 3), 255, np.uint8))
    assert attacked.shape == (100, 200, 3)
    corners = np.array(record["corners"])
    for corner, inwards in zip(corners, [(1, 1), (-1, 1), (-1, -1), (1, -1)], strict=True):
        across, down = corner + 3 * np.array(inwards)
        assert attacked[int(down), int(across)].tolist() == [255, 255, 255]
        if min(corner) > 4:
            across, down = corner - 3 * np.array(inwards)
            assert attacked[int(down), int(across)].tolist() == [0, 0, 0]
    x, y = corners.T
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    assert (attacked[:, :, 0] / 255).sum() == pytest.approx(area, rel=0.02)


def test_a_stronger_tilt_moves_the_same_corners_farther():
    outer = np.array([(0, 0), (64, 0), (64, 48), (0, 48)])
    weak, strong = (np.array(tilted(scale, seed=0)(picture(64, 48))[1]["corners"]) - outer for scale in (0.2, 0.4))
    assert strong == pytest.approx(2 * weak, abs=0.002)
    assert (np.abs(strong) <= 0.4 * np.array([32, 24])).all()


def test_another_seed_tilts_otherwise():
    pixels = picture(64, 48)
    assert tilted(0.2, seed=0)(pixels)[1] != tilted(0.2, seed=1)(pixels)[1]


def test_what_moves_pixels_is_never_compared():
    moved = {attack.family for attack in attacks_of("image").values() if not attack.keeps_positions}
    crops = {f"crop{part}" for part in ("", "-centre", "-left", "-top", "-right", "-bottom")}
    assert moved == crops | {f"{crop}-unrestored" for crop in crops} | {
        "resize-unrestored", "rotate", "hflip", "perspective", "combined", "combined-omniseal", "long-side",
        "crop-somewhere", "combined-upload", "combined-repost", "combined-screenshot", "combined-thumbnail",
    }  # fmt: skip
