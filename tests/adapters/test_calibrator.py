import hashlib
import json
import tracemalloc

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.calibrator import (
    Calibrator,
    CalibratorError,
    Counts,
    deployment_gaps,
    load_calibrator,
    parse_calibrator,
)

STATED = {
    "schema_version": 1,
    "type": "calibrator",
    "method": "platt",
    "input": "logit",
    "clip": 1e-6,
    "slope": 0.686601583134,
    "intercept": -0.174852599932,
    "threshold": 0.65,
}
"""What a calibrator that was written by hand has."""

SHA256 = "a" * 64

ENOUGH = {
    "unit": "base",
    "rows": 900,
    "real_bases": 100,
    "ai_bases": 100,
    "real_sources": {"a": 50, "b": 25, "c": 25},
    "generator_families": {"f": 25, "g": 25, "h": 50},
    "real_without_source": 0,
    "ai_without_family": 0,
}
"""What a deployable calibrator was fitted on, to the last base."""


def parse(document):
    return parse_calibrator(json.dumps(document).encode(), name="c.json")


def refusal(document):
    with pytest.raises(CalibratorError) as refused:
        parse(document)
    message = str(refused.value)
    assert message.startswith("c.json: ")
    assert "\n" not in message
    return message.removeprefix("c.json: ")


def gaps(**changes):
    return deployment_gaps(Counts(**ENOUGH | changes), SHA256, "1")


def test_a_calibrator_written_by_hand(tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(STATED))
    loaded = load_calibrator(path)
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert loaded.calibrator.apply(0.5) == pytest.approx(0.456397882, abs=1e-9)
    assert loaded.calibrator.apply_all([0.5]).tolist() == [loaded.calibrator.apply(0.5)]
    assert not loaded.calibrator.deployable


def test_the_identity_gives_back_what_it_is_given():
    calibrator = parse(STATED | {"method": "identity", "slope": 1, "intercept": 0})
    assert calibrator.apply(0.1234567) == 0.1234567


def test_what_is_written_reads_back_and_is_canonical():
    calibrator = Calibrator(
        method="temperature", slope=0.1 + 0.2, intercept=0.0, counts=Counts(unit="row", rows=1, terminal={"b": 1, "a": 2})
    )
    data = calibrator.encoded()
    assert data.endswith(b"}\n")
    assert parse_calibrator(data, name="c.json") == calibrator
    assert parse_calibrator(data, name="c.json").slope.hex() == (0.1 + 0.2).hex()
    assert parse_calibrator(data, name="c.json").encoded() == data
    assert data.index(b'"a": 2') < data.index(b'"b": 1')


@pytest.mark.parametrize("field", STATED)
def test_nothing_that_gives_the_numbers_their_meaning_may_be_absent(field):
    assert refusal({name: value for name, value in STATED.items() if name != field}) == f"no calibrator: {field} is missing"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": 2}, "schema_version: invalid enum value 2"),
        ({"type": "fusion"}, "type: invalid enum value 'fusion'"),
        ({"method": "isotonic"}, "method: invalid enum value 'isotonic'"),
        ({"input": "raw"}, "input: invalid enum value 'raw'"),
        ({"slope": -0.5}, "slope: expected a finite number above 0, got -0.5"),
        ({"slope": 0}, "slope: expected a finite number above 0, got 0.0"),
        ({"slope": "1"}, "slope: expected float, got str"),
        ({"slope": True}, "slope: expected float, got bool"),
        ({"slope": None}, "slope: expected float, got null"),
        ({"clip": 0.5}, "clip: expected a number strictly between 0 and 0.5, got 0.5"),
        ({"threshold": 1}, "threshold: expected a number strictly between 0 and 1, got 1.0"),
        ({"method": "temperature"}, "intercept: only platt has one, got -0.174852599932 for temperature"),
        ({"method": "identity", "intercept": 0}, "slope: the identity has 1, got 0.686601583134"),
        ({"raw_at_threshold": 0.7606}, "raw_at_threshold: 0.7606 does not belong to slope and intercept, which give"),
        ({"intercept": -50, "raw_at_threshold": 1}, "raw_at_threshold: 1.0 does not belong to slope and intercept"),
        ({"modelSha256": "A" * 64}, "modelSha256: expected str matching regex"),
        ({"preprocessingVersion": ""}, "preprocessingVersion: expected str of length >= 1"),
        ({"bias": 1}, "object contains unknown field bias"),
        ({"counts": ENOUGH | {"rows": -1}}, "counts.rows: expected int >= 0"),
        ({"deployable": True}, "deployable: is true, but counts: it is not known what it was fitted on"),
        (
            {"deployable": True, "modelSha256": SHA256, "preprocessingVersion": "1", "counts": ENOUGH | {"ai_bases": 99}},
            "deployable: is true, but 99 unique AI bases, at least 100 needed",
        ),
        (
            {
                "deployable": True,
                "missing": ["sense"],
                "modelSha256": SHA256,
                "preprocessingVersion": "1",
                "counts": ENOUGH,
            },
            "deployable: is true, but sense",
        ),
    ],
)
def test_what_contradicts_itself_or_the_format_is_refused(changes, message):
    assert refusal(STATED | changes).startswith(message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no calibrator: blank line"),
        (b"[]", "no calibrator: expected a JSON object"),
        (b"{", "no calibrator: not JSON"),
        (b"\xff", "no calibrator: not UTF-8"),
        (json.dumps(STATED).replace("0.686601583134", "NaN").encode(), "slope: NaN is no JSON number"),
        (json.dumps(STATED).replace("0.686601583134", "1e999").encode(), "slope: 1e999 is beyond the range of numbers"),
        (json.dumps(STATED).replace('"type"', '"slope": 9, "type"').encode(), "slope: this key stands twice"),
    ],
)
def test_what_is_no_object_or_hides_something_is_refused(data, message):
    with pytest.raises(CalibratorError, match=message):
        parse_calibrator(data, name="c.json")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(CalibratorError, match=r"absent\.json: the calibrator cannot be read: No such file"):
        load_calibrator(tmp_path / "absent.json")


def test_a_calibrator_with_all_that_is_demanded_is_deployable():
    assert gaps() == []
    full = {"deployable": True, "modelSha256": SHA256, "preprocessingVersion": "1", "counts": ENOUGH}
    assert parse(STATED | full).deployable


@pytest.mark.parametrize(
    ("changes", "gap"),
    [
        ({"real_bases": 99}, "99 unique real bases, at least 100 needed"),
        ({"ai_bases": 99}, "99 unique AI bases, at least 100 needed"),
        ({"real_sources": {"a": 50, "b": 50}}, "2 real sources, at least 3 needed"),
        ({"real_sources": {"a": 50, "A": 50, "b ": 50}}, "2 real sources, at least 3 needed"),
        ({"real_sources": {"a": 50, "b": 26, "c": 24}}, "real source c: 24 unique bases, at least 25 needed"),
        ({"generator_families": {"f": 50, "g": 50}}, "2 generator families, at least 3 needed"),
        ({"generator_families": {"f": 26, "g": 24, "h": 50}}, "generator family g: 24 unique bases, at least 25 needed"),
        ({"real_without_source": 1}, "source: not known for 1 real base"),
        ({"ai_without_family": 2}, "generatorFamily: not known for 2 AI bases"),
        ({"evaluation_modes": {"synthetic": 1, "deployed": 899}}, "evaluationMode: 1 row of synthetic scores"),
        (
            {"unit": "row"},
            "baseId: no row names its base, so derivatives of one image cannot be told from independent images",
        ),
    ],
)
def test_one_base_too_few_is_not_deployable(changes, gap):
    assert gaps(**changes) == [gap]


def test_a_fourth_group_needs_as_many_bases_as_the_first():
    assert gaps(real_sources={"a": 25, "b": 25, "c": 25, "d": 25}) == []
    assert gaps(real_sources={"a": 26, "b": 25, "c": 25, "d": 24}) == ["real source d: 24 unique bases, at least 25 needed"]


def test_checkpoint_and_preprocessing_must_be_known():
    counts = Counts(**ENOUGH)
    assert deployment_gaps(counts, None, "1") == ["modelSha256: the checkpoint is not known"]
    assert deployment_gaps(counts, SHA256, None) == ["preprocessingVersion: it is not known how pictures were prepared"]


def test_everything_that_is_missing_is_named():
    empty = Counts(unit="base", rows=1, real_bases=1, ai_bases=0, real_sources={"a": 1}, generator_families={})
    assert deployment_gaps(empty, None, None) == [
        "1 unique real base, at least 100 needed",
        "0 unique AI bases, at least 100 needed",
        "1 real source, at least 3 needed",
        "real source a: 1 unique base, at least 25 needed",
        "0 generator families, at least 3 needed",
        "modelSha256: the checkpoint is not known",
        "preprocessingVersion: it is not known how pictures were prepared",
    ]


@given(st.floats(1e-3, 1e3), st.floats(-30, 30), st.sampled_from(["temperature", "platt"]))
def test_every_mapping_survives_its_file(slope, intercept, method):
    calibrator = Calibrator(method=method, slope=slope, intercept=intercept if method == "platt" else 0.0)
    calibrator = msgspec.structs.replace(calibrator, raw_at_threshold=calibrator.mapping.raw_at(0.65))
    again = parse_calibrator(calibrator.encoded(), name="c.json")
    assert again.mapping == calibrator.mapping
    assert again.apply(0.3).hex() == calibrator.apply(0.3).hex()


def test_a_large_file_that_is_no_calibrator_is_refused_without_being_held_in_memory():
    written = json.dumps(STATED).removesuffix("}").encode()
    bomb = written + b', "missing": [' + b"[]," * 700_000 + b"[]]}"
    tracemalloc.start()
    try:
        with pytest.raises(CalibratorError, match=r"^c\.json: missing\[0\]: expected str, got array$"):
            parse_calibrator(bomb, name="c.json")
        assert tracemalloc.get_traced_memory()[1] < 10 * len(bomb)
    finally:
        tracemalloc.stop()
