import pytest

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.audio import audio
from pytest_benchbench.cohorts.perth_pixelseal import perth_pixelseal
from pytest_benchbench.cohorts.real_image import real_image
from pytest_benchbench.cohorts.recipe import check_side, open_schemes, plan
from pytest_benchbench.cohorts.sweep import sweep
from pytest_benchbench.cohorts.synthetic_image import synthetic_image
from pytest_benchbench.cohorts.video import video


def counts(recipe):
    return {
        planned.adapter: (planned.clean, planned.marked, planned.attacked, planned.removed, planned.forged, planned.total)
        for planned in plan(recipe)
    }


def test_the_synthetic_plan_counts_both_adapters():
    assert counts(synthetic_image()) == {"dwt-dct": (10, 9, 27, 0, 0, 46), "trustmark": (4, 3, 9, 3, 0, 19)}


def test_the_real_plan_is_21_rows_an_image(source_list):
    assert counts(real_image(source=source_list)) == {"dwt-dct": (6, 6, 18, 0, 0, 30), "trustmark": (2, 2, 6, 2, 0, 12)}


def test_the_audio_plan_has_no_forged_rows_for_an_adapter_without_payload():
    assert counts(audio()) == {"audioseal": (4, 3, 9, 1, 3, 20), "perth": (4, 3, 9, 1, 0, 17)}


def test_speech_adds_15_rows_to_an_adapter():
    assert counts(audio(adapters=["audioseal"], with_speech=True)) == {"audioseal": (7, 6, 18, 1, 3, 35)}


def test_the_video_plan_has_15_rows():
    assert counts(video()) == {"videoseal": (3, 2, 6, 2, 2, 15)}


def test_the_study_has_12_rows_of_perth_and_8_of_pixelseal():
    assert counts(perth_pixelseal()) == {"perth": (6, 6, 0, 0, 0, 12), "pixelseal": (2, 2, 2, 0, 2, 8)}


def test_double_embedding_adds_a_row_to_each_mark_with_a_payload():
    assert counts(audio(double_embedded=True)) == {"audioseal": (4, 3, 9, 1, 6, 23), "perth": (4, 3, 9, 1, 0, 17)}


def test_a_sweep_has_a_row_for_each_strength():
    recipe = sweep("jpeg", ["dwt-dct", "dwt-dct-svd"], carriers="synthetic-image", side=256)
    strengths = len(recipe.parameters["strengths"])
    assert strengths > 3
    assert counts(recipe) == dict.fromkeys(("dwt-dct", "dwt-dct-svd"), (9, 9, 9 * strengths, 0, 0, 18 + 9 * strengths))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("no-family", ["dwt-dct"]), "unknown image attack family 'no-family'; known: "),
        (("jpeg", []), "a sweep needs at least one adapter"),
        (("jpeg", ["perth"]), "unknown audio attack family 'jpeg'; known: "),
        (("jpeg", ["dwt-dct", "perth"]), "perth marks audio, not image"),
        (("jpeg", ["no-adapter"]), "unknown adapter 'no-adapter'; known: "),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(arguments, says):
    with pytest.raises(CohortError, match=says):
        sweep(*arguments)


@pytest.mark.parametrize(
    ("adapters", "says"),
    [
        (["dwt-dct", "dwt-dct"], "adapter dwt-dct is given twice"),
        (["perth"], "perth marks audio, not image"),
        (["c2pa2"], "unknown adapter 'c2pa2'; known: "),
        ([AdapterChoice("mine", "dwt-dct")], "adapter dwt-dct cannot be given the name mine in a cohort"),
    ],
)
def test_adapters_that_a_cohort_cannot_have_are_refused(adapters, says):
    with pytest.raises(CohortError, match=says):
        synthetic_image(adapters=adapters)


def test_schemes_open_with_a_mark_for_each_planned_name():
    opened = open_schemes(synthetic_image(adapters=["dwt-dct", "dwt-dct-svd"]))
    for adapter, names in {"dwt-dct": ["sdxl", "flux2", "sd1"], "dwt-dct-svd": ["svd-sdxl", "svd-flux2", "svd-sd1"]}.items():
        marks = opened.by_adapter[adapter].marks
        assert [mark.name for mark in marks] == names
        assert [mark.record["pattern"] for mark in marks] == ["sdxl", "flux2", "sd1"]
    assert opened.left_out == {}


def test_an_adapter_without_its_weights_is_left_out_with_the_reason(tmp_path):
    opened = open_schemes(video(adapters=[AdapterChoice("videoseal", "videoseal", {"weights": str(tmp_path / "none.jit")})]))
    assert opened.by_adapter == {}
    assert list(opened.left_out) == ["videoseal"]


@pytest.mark.parametrize("side", [256, 272, 512, 8192])
def test_sides_from_256_in_steps_of_16_are_taken(side):
    assert check_side(side) == side


@pytest.mark.parametrize("side", [-256, 0, 240, 255, 257, 264, 8208])
def test_other_sides_are_refused(side):
    with pytest.raises(CohortError, match=f"size {side}: expected 256 to 8192 pixels, divisible by 16"):
        synthetic_image(side)
