import pytest

from pytest_benchbench.cohorts.stress_transforms import STRESS_TRANSFORMS
from pytest_benchbench.validation.stress_sets import STRESS_SETS, Facets, coverage, facets_of, missing_sets

CONTRACT = {
    "generated-metadata-intact": [(1, "photo", "metadata-intact", None)],
    "generated-metadata-stripped": [(1, "photo", "metadata-stripped", None)],
    "camera-photography": [(0, "photo", "other", None)],
    "human-digital-art": [(0, "digital-art", "other", None)],
    "cgi-game-render": [(0, "game-render", "other", None)],
    "edited-photo": [(0, "edited-photo", "other", None)],
    "product-photo": [(0, "product-photo", "other", None)],
    "screenshot": [(0, "screenshot", "other", None)],
    "meme": [(1, "meme", "other", None)],
    "text-heavy": [(0, "text-heavy", "other", None)],
    "small-thumbnail": [(label, "x", "y", "thumbnail") for label in (0, 1)],
    **{
        name: [(label, None, transform or name, None) for label in (0, 1)]
        for name, transform in {
            **dict.fromkeys(("jpeg-95", "jpeg-75", "jpeg-50", "jpeg-30", "webp-80", "webp-50")),
            **dict.fromkeys(("resize-1024", "resize-512", "resize-256", "resize-112", "crop-90", "crop-75")),
            "blur": "blur-1",
            "sharpening": "sharpen-2",
            "alpha-compositing": "alpha-patch-50",
            "combined": "combined-repost",
        }.items()
    },
}
"""For each set of the contract, rows that cover it."""


def missing(facets):
    return [one.name for one in coverage([Facets(*one) for one in facets]) if one.lacks is not None]


def test_the_sets_are_those_of_the_contract():
    assert [one.name for one in STRESS_SETS] == list(CONTRACT)


def test_rows_for_every_set_leave_none_missing():
    assert missing([row for rows in CONTRACT.values() for row in rows]) == []


@pytest.mark.parametrize("name", CONTRACT)
def test_a_set_is_missing_when_one_of_its_rows_is_not_there(name):
    rows = [row for other, those in CONTRACT.items() if other != name for row in those]
    assert name in missing([*rows, *CONTRACT[name][1:]])
    assert name not in missing([*rows, *CONTRACT[name]])


def test_what_a_class_lacks_is_named():
    covered = {one.name: one for one in coverage([Facets(0, "photo", "jpeg-75", "full-res")] * 3)}
    assert (covered["jpeg-75"].real, covered["jpeg-75"].ai, covered["jpeg-75"].lacks) == (3, 0, "AI")
    assert str(covered["jpeg-75"]) == "jpeg-75 (no AI images)"
    assert (covered["meme"].lacks, str(covered["meme"])) == ("any", "meme")


def test_a_set_of_one_class_does_not_count_the_other():
    assert "camera-photography" in missing([(1, "photo", "none", None)])


@pytest.mark.parametrize("written", ["Digital Art", "digital_art", "DIGITAL-ART", "illustration-ink"])
def test_names_may_be_written_otherwise(written):
    assert "human-digital-art" not in missing([(0, written, None, None)])


@pytest.mark.parametrize("transform", ["jpeg-7", "jpeg-751", "xjpeg-75", "resize-25", "crop-9", "none"])
def test_a_name_that_only_looks_alike_counts_for_nothing(transform):
    made = {one.name for one in STRESS_SETS if one.transforms and one.classes == "both"}
    assert made <= set(missing([(0, "x", transform, None), (1, "x", transform, None)]))


def test_what_the_stress_cohort_makes_covers_every_transform():
    made = [Facets(label, "x", name, None) for name in STRESS_TRANSFORMS for label in (0, 1)]
    lacking = {one.name for one in coverage(made) if one.lacks is not None}
    assert all(not one.transforms for one in STRESS_SETS if one.name in lacking)


def test_facets_of_a_split_are_counted(dataset):
    rows = [dataset.row("a"), dataset.row("b"), dataset.row("c", label=1), dataset.row("d", split="train")]
    columns = dataset.columns(*rows, dataset.row("e", resolutionGroup="thumbnail"))
    assert facets_of(columns, "test") == {
        Facets(0, "photo", "none", None): 2,
        Facets(1, "photo", "none", None): 1,
        Facets(0, "photo", "none", "thumbnail"): 1,
    }
    assert facets_of(columns, "calibration") == {}


def test_missing_sets_of_the_test_split_are_a_warning(dataset):
    columns = dataset.columns(dataset.row("a"), dataset.row("b", split="train"))
    covered = {split: coverage(facets_of(columns, split)) for split in ("train", "test")}
    outcome = missing_sets(columns, covered)
    assert outcome.kept[0].message.startswith("test lacks 26 of 27 required stress sets: generated-metadata-intact, ")
    assert missing_sets(columns, {"train": covered["train"]}).total == 0
