import pytest

from pytest_benchbench.validation import examination, image_measures
from pytest_benchbench.validation.examination import ExaminationSettings, examine_dataset
from pytest_benchbench.validation.image_measures import ImagesUnmeasuredError


def rules(examined):
    return {outcome.rule for outcome in examined.outcomes if outcome.total}


def errors(examined):
    return {finding.rule for finding in examined.findings() if finding.severity == "error"}


def test_pictures_that_look_alike_are_errors_until_a_split_group_joins_them(dataset, pictures):
    group = {"splitGroup": "siblings"}
    rows = [pictures.row("a", 1, **group), pictures.row("b", 1, make="JPEG", **group), pictures.row("c", 2)]
    examined = examine_dataset([dataset.manifest(*rows)], ExaminationSettings())
    assert (examined.is_valid, examined.rows_compared, examined.images_read) == (True, 3, 3)
    del rows[1]["splitGroup"]
    examined = examine_dataset([dataset.manifest(*rows)], ExaminationSettings())
    assert (examined.is_valid, errors(examined)) == (False, {"near-duplicates"})


def test_leaks_are_found_without_files(dataset):
    rows = [dataset.row("a"), dataset.row("b", baseId="a", source="camera-test", split="train", path="missing.png")]
    examined = examine_dataset([dataset.manifest(*rows)], ExaminationSettings(files=False))
    assert errors(examined) == {"base-split", "source-split"}
    assert (examined.rows, examined.rows_without_path, examined.rows_compared, examined.images_read) == (2, 1, None, 0)


def test_a_leak_between_manifests_is_found(dataset):
    one = dataset.manifest(dataset.row("a", split="train"), name="train.jsonl")
    two = dataset.manifest(dataset.row("b", baseId="a"), name="test.jsonl")
    examined = examine_dataset([one, two], ExaminationSettings())
    (finding,) = (one for one in examined.findings() if one.rule == "base-split")
    assert [row.file for row in finding.rows] == ["train.jsonl", "test.jsonl"]


def test_without_comparing_pictures_shortcuts_are_still_audited(dataset, pictures, monkeypatch):
    monkeypatch.setattr(image_measures, "find_spec", lambda name: None)
    rows = [
        pictures.row(f"{label}-{seed}", seed, make=make, label=label)
        for label, make in enumerate(("PNG", "BMP"))
        for seed in range(30)
    ]
    examined = examine_dataset([dataset.manifest(*rows)], ExaminationSettings(near_duplicates=False))
    assert "shortcut-format" in rules(examined)
    assert (examined.rows_compared, examined.images_read) == (None, 60)
    with pytest.raises(ImagesUnmeasuredError):
        examine_dataset([dataset.manifest(*rows)], ExaminationSettings())


def test_a_dataset_without_paths_needs_no_library(dataset, monkeypatch):
    monkeypatch.setattr(image_measures, "find_spec", lambda name: None)
    examined = examine_dataset([dataset.manifest(dataset.row("a"))], ExaminationSettings())
    assert (examined.is_valid, examined.rows_compared) == (True, 0)


def test_counts_and_coverage_are_given_for_each_split_with_rows(dataset):
    rows = [
        dataset.row("a", split="train"),
        dataset.row("b"),
        dataset.row("c", baseId="b", sha256=dataset.row("b")["sha256"], transform="jpeg-75"),
    ]
    examined = examine_dataset([dataset.manifest(*rows)], ExaminationSettings())
    assert [counts.split for counts in examined.counts] == list(examined.coverage) == ["train", "test"]
    assert examined.repeated_derivatives == 1
    assert {"test-counts", "test-stress-sets"} == rules(examined)


def test_errors_come_before_warnings(dataset):
    rows = [dataset.row("a"), dataset.row("b", baseId="a", split="train")]
    severities = [one.severity for one in examine_dataset([dataset.manifest(*rows)], ExaminationSettings()).findings()]
    assert severities == sorted(severities)
    assert {"error", "warning"} == set(severities)


def test_the_largest_distance_is_the_default():
    assert ExaminationSettings().distance == examination.MAX_DISTANCE
