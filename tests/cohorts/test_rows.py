import json
from collections import Counter

import numpy as np
import PIL.Image
import pytest

from pytest_benchbench.cohorts.building import build_cohort
from pytest_benchbench.cohorts.carriers.synthetic import CARRIERS
from pytest_benchbench.cohorts.synthetic_image import synthetic_image

CARRIER_SEEDS = {"gradient": None, "texture": 0, "low-detail": 1, "high-frequency": 2}


def rows_of(cohort):
    return [json.loads(line) for line in cohort.manifest.read_text(encoding="utf-8").splitlines()]


def pixels_of(cohort, path):
    with PIL.Image.open(cohort.folder / path) as image:
        return np.asarray(image.convert("RGB"))


def test_the_synthetic_cohort_has_the_46_rows_of_its_specification(synthetic):
    rows = rows_of(synthetic)
    assert Counter((row["state"], row["arm"]) for row in rows) == {
        ("clean", "matched_negative"): 9,
        ("clean", "hard_negative"): 1,
        ("marked", "positive"): 9,
        ("attacked", "positive"): 27,
    }
    assert {row["adapter"] for row in rows} == {"dwt-dct"}


def test_the_real_cohort_has_15_rows_an_image(real):
    rows = rows_of(real)
    assert Counter(row["state"] for row in rows) == {"clean": 6, "marked": 6, "attacked": 18}
    assert Counter(row["transform"]["parameters"]["source"]["name"] for row in rows) == {"cat-one": 15, "cat-two": 15}


@pytest.mark.parametrize("name", ["synthetic", "real"])
def test_expectations_follow_the_state(name, request):
    expected = {"clean": "not_detected", "marked": "detected", "attacked": "unresolved"}
    for row in rows_of(request.getfixturevalue(name)):
        assert row["expected"] == expected[row["state"]]


def test_ids_say_size_carrier_mark_and_what_was_done(synthetic):
    ids = {row["case_id"] for row in rows_of(synthetic)}
    assert len(ids) == 46
    assert {
        "synthetic-256-gradient-sdxl-clean",
        "synthetic-256-gradient-sdxl-marked",
        "synthetic-256-low-detail-sd1-jpeg-90",
        "synthetic-256-texture-flux2-resize-75",
        "synthetic-256-texture-flux2-crop-5",
        "synthetic-256-high-frequency-dwt-dct-clean",
    } <= ids
    assert {row["transform"]["parameters"]["size"] for row in rows_of(synthetic)} == {256}


def test_a_pair_groups_the_rows_of_one_carrier_and_mark(synthetic):
    pairs = Counter(row["pair_id"] for row in rows_of(synthetic))
    assert pairs.pop("synthetic-256-high-frequency-dwt-dct") == 1
    assert set(pairs.values()) == {5}


def test_seeds_are_those_that_the_carriers_were_drawn_with(synthetic):
    for row in rows_of(synthetic):
        carrier = row["transform"]["parameters"]["carrier"]
        assert row["seed"] == carrier["seed"] == CARRIER_SEEDS[carrier["name"]]


def test_nothing_random_happens_to_a_photograph(real):
    assert {row["seed"] for row in rows_of(real)} == {None}


@pytest.mark.parametrize("name", ["synthetic", "real"])
def test_marked_and_attacked_rows_are_compared_with_their_carrier_unless_pixels_moved(name, request):
    rows = rows_of(request.getfixturevalue(name))
    clean = {row["pair_id"]: (row["path"], row["sha256"]) for row in rows if row["state"] == "clean"}
    for row in rows:
        moved = row["transform"]["name"] == "crop-5"
        expected = (None, None) if row["state"] == "clean" or moved else clean[row["pair_id"]]
        assert (row["reference_path"], row["reference_sha256"]) == expected


def test_attacks_start_from_the_saved_marked_picture(synthetic):
    rows = {row["case_id"]: row for row in rows_of(synthetic)}
    marked = PIL.Image.fromarray(pixels_of(synthetic, rows["synthetic-256-texture-sdxl-marked"]["path"]))
    there_and_back = marked.resize((192, 192), PIL.Image.Resampling.LANCZOS).resize((256, 256), PIL.Image.Resampling.LANCZOS)
    saved = pixels_of(synthetic, rows["synthetic-256-texture-sdxl-resize-75"]["path"])
    assert np.array_equal(saved, np.asarray(there_and_back))


def test_saved_carriers_are_the_drawn_ones(synthetic):
    rows = {row["case_id"]: row for row in rows_of(synthetic)}
    for carrier in CARRIERS:
        path = rows[f"synthetic-256-{carrier.name}-sdxl-clean"]["path"]
        assert np.array_equal(pixels_of(synthetic, path), carrier.draw(256))


def test_every_transform_is_fully_on_record(synthetic):
    rows = {row["case_id"]: row["transform"] for row in rows_of(synthetic)}
    jpeg = rows["synthetic-256-texture-sdxl-jpeg-90"]
    assert (jpeg["name"], jpeg["revision"]) == ("jpeg-90", "pytest-benchbench/jpeg-90@1")
    assert jpeg["parameters"]["attack"] == {
        "family": "jpeg",
        "strength": 90,
        "seed": None,
        "encoder": {
            "library": "Pillow", "format": "JPEG", "quality": 90, "subsampling": "4:4:4", "progressive": False,
            "optimize": False,
        },
    }  # fmt: skip
    assert rows["synthetic-256-texture-sdxl-crop-5"]["parameters"]["attack"]["box"] == [13, 13, 243, 243]
    marked = rows["synthetic-256-texture-sdxl-marked"]["parameters"]
    assert jpeg["parameters"]["embed"] == marked["embed"]
    assert marked["embed"]["pattern"] == "sdxl"


def test_variants_exist_as_attacks_of_their_own_names(tmp_path):
    recipe = synthetic_image(256, ["jpeg-90-420", "resize-75-unrestored"], ["dwt-dct"])
    rows = rows_of(build_cohort(recipe, tmp_path / "variants"))
    assert len(rows) == 9 + 1 + 9 + 18
    for row in rows:
        if row["transform"]["name"] == "resize-75-unrestored":
            assert row["reference_path"] is None
            assert row["transform"]["parameters"]["attack"]["resized_to"] == [192, 192]
