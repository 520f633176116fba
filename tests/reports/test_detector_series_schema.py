"""The schema takes every series that is written, and nothing that lacks a part of one or has a part more."""

import json

import jsonschema
import pytest

from pytest_benchbench.reports.detector_series import append_entry, entry_of
from pytest_benchbench.reports.detector_series_schema import detector_series_schema


@pytest.fixture
def series(text_benchmarks, tmp_path):
    """Write series of one, two and three runs, and read each as plain JSON."""
    documents = []
    for run, reasons in ((1, {}), (2, {"zippy": "a new model, looked into"}), (3, {})):
        benchmark = text_benchmarks.benchmark(
            run, zippy=["a01"], gptzero={"plan": "starter", "apiVersion": "v2", "unscored": ["a02"]}
        )
        append_entry(tmp_path / "series.json", entry_of(benchmark, reasons))
        documents.append(json.loads((tmp_path / "series.json").read_bytes()))
    return documents


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(detector_series_schema())
    return jsonschema.Draft202012Validator(detector_series_schema())


def test_what_is_written_is_valid(series, validator):
    for document in series:
        validator.validate(document)
    assert series[1]["versionHistory"][1]["newBaseline"] == {"zippy": "a new model, looked into"}


def test_every_member_that_is_always_written_is_demanded(series, validator):
    for name in series[2]:
        assert not validator.is_valid({key: value for key, value in series[2].items() if key != name}), name
    for number, entry in enumerate(series[2]["versionHistory"]):
        for name in entry.keys() - {"newBaseline"}:
            assert not validator.is_valid(with_entry(series[2], number, {k: v for k, v in entry.items() if k != name})), name


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (0, {"previousSha256": "5" * 64}),
        (1, {"previousSha256": None}),
        (2, {"previousSha256": "no digest"}),
        (1, {"split": "tune"}),
        (1, {"date": 1}),
        (1, {"dirty": "no"}),
        (1, {"newBaseline": {"zippy": ""}}),
        (1, {"benchmark": {}}),
        (0, {"comment": "mine"}),
    ],
)
def test_another_entry_is_not_valid(series, validator, number, change):
    assert not validator.is_valid(with_entry(series[2], number, series[2]["versionHistory"][number] | change))


@pytest.mark.parametrize(
    "change", [{"versionHistory": []}, {"type": "series"}, {"schema_version": 2}, {"lastSha256": None}, {"comment": "mine"}]
)
def test_another_document_is_not_valid(series, validator, change):
    assert not validator.is_valid(series[2] | change)


def with_entry(document, number, entry):
    history = document["versionHistory"]
    return document | {"versionHistory": [*history[:number], entry, *history[number + 1 :]]}
