import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.real_image import real_image
from pytest_benchbench.cohorts.recipe import check_side, named_attacks, open_marks, plan
from pytest_benchbench.cohorts.synthetic_image import synthetic_image


def counts(recipe):
    return {
        planned.adapter: (planned.clean, planned.marked, planned.attacked, planned.removed, planned.total)
        for planned in plan(recipe)
    }


def test_the_synthetic_plan_counts_both_adapters():
    assert counts(synthetic_image()) == {"dwt-dct": (10, 9, 27, 0, 46), "trustmark": (4, 3, 9, 3, 19)}


def test_the_real_plan_is_21_rows_an_image(source_list):
    assert counts(real_image(source=source_list)) == {"dwt-dct": (6, 6, 18, 0, 30), "trustmark": (2, 2, 6, 2, 12)}


def test_an_adapter_that_cannot_embed_here_is_left_out_with_the_reason():
    marks, left_out = open_marks(synthetic_image())
    assert [mark.name for mark in marks["dwt-dct"]] == ["sdxl", "flux2", "sd1"]
    assert list(left_out) == ["trustmark"]
    assert "TrustMark" in left_out["trustmark"]


@pytest.mark.parametrize("side", [256, 272, 512, 8192])
def test_sides_from_256_in_steps_of_16_are_taken(side):
    assert check_side(side) == side


@pytest.mark.parametrize("side", [-256, 0, 240, 255, 257, 264, 8208])
def test_other_sides_are_refused(side):
    with pytest.raises(CohortError, match=f"size {side}: expected 256 to 8192 pixels, divisible by 16"):
        synthetic_image(side)


def test_attacks_are_taken_once_in_the_order_given():
    assert [attack.name for attack in named_attacks(["crop-5", "jpeg-90", "crop-5"])] == ["crop-5", "jpeg-90"]


def test_an_unknown_attack_is_refused_with_the_known_ones():
    with pytest.raises(CohortError, match="unknown attack 'blur'; known: jpeg-90, "):
        named_attacks(["blur"])
