import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.calibrator import parse_calibrator
from pytest_benchbench.evidence.calibrating import calibrate
from pytest_benchbench.evidence.calibration_rows import read_calibration_rows
from pytest_benchbench.evidence.score_rows import read_scores
from pytest_benchbench.statistics.folds import deal_folds


def calibrated(rows, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return calibrate(read_calibration_rows(read_scores(path), exclude_terminal=True), **options)


def overconfident(bases=200, wrong=20, raw=0.99):
    """Give bases of which one in so many is wrong, and sure of itself."""
    rows = []
    for number in range(bases):
        label = number % 2
        called_ai = label == 0 if number < wrong else label == 1
        group = {"generatorFamily": f"f{number % 3}", "source": "generated"} if label else {"source": f"s{number % 3}"}
        rows.append(
            {
                "id": f"r{number}",
                "baseId": f"b{number}",
                "split": "calibration",
                "label": label,
                "rawScore": raw if called_ai else 1 - raw,
                "modelSha256": "a" * 64,
                "preprocessingVersion": "1",
                **group,
            }
        )
    return rows


@st.composite
def score_rows(draw):
    """Rows of bases of both classes, with derivatives, some of which have no score."""
    rows = []
    for base in range(draw(st.integers(2, 24))):
        for number in range(draw(st.integers(1, 3))):
            row = {"id": f"{number}-{base}", "baseId": f"b{base}", "split": "calibration", "label": base % 2}
            if number and draw(st.integers(0, 9)) == 0:
                row["status"] = draw(st.sampled_from(["too-small", "timeout"]))
            else:
                row["rawScore"] = draw(st.floats(0, 1))
            rows.append(row)
    return rows


@given(score_rows(), st.randoms())
def test_every_order_of_the_rows_gives_the_same_bytes(rows, random):
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert calibrated(shuffled).encoded() == calibrated(rows).encoded()


@given(score_rows())
def test_what_is_written_can_be_loaded(rows):
    calibrator = calibrated(rows)
    assert parse_calibrator(calibrator.encoded(), name="c.json") == calibrator


def test_the_artifact_holds_all_that_was_decided():
    calibrator = calibrated(overconfident(), folds=4, salt="s")
    temperature, platt = calibrator.candidates["temperature"], calibrator.candidates["platt"]
    assert calibrator.method == "temperature"
    assert (calibrator.slope, calibrator.intercept, calibrator.clip) == (temperature.slope, 0.0, 1e-6)
    assert calibrator.apply(calibrator.raw_at_threshold) == pytest.approx(0.65, abs=1e-12)
    assert (calibrator.deployable, calibrator.missing) == (True, ())
    assert (calibrator.modelSha256, calibrator.preprocessingVersion) == ("a" * 64, "1")
    assert (platt.eligible, platt.intercept) == (True, pytest.approx(0, abs=1e-12))
    identity = calibrator.candidates["identity"]
    assert (identity.slope, identity.intercept, identity.oof_gain) == (1.0, 0.0, 0.0)
    assert identity.brier == pytest.approx((20 * 0.99**2 + 180 * 0.01**2) / 200)
    assert temperature.oof_brier < identity.oof_brier
    assert (temperature.oof_bases.tp, temperature.oof_bases.fp, temperature.oof_rows.fn) == (90, 10, 10)
    assert temperature.oof_balanced_accuracy == pytest.approx(0.9)
    assert temperature.oof_false_positive_rate == pytest.approx(0.1)
    assert (calibrator.folds.salt, calibrator.folds.count) == ("s", 4)
    labels = {f"b{number}": number % 2 for number in range(200)}
    assert calibrator.folds.of_base == deal_folds(labels, count=4, salt="s")


def test_a_class_without_the_last_base_is_not_deployable():
    calibrator = calibrated(overconfident()[:-1])
    assert calibrator.deployable is False
    assert calibrator.missing == ("99 unique AI bases, at least 100 needed",)


def test_derivatives_do_not_make_up_for_a_missing_base():
    rows = overconfident()
    last = rows.pop()
    rows.append(rows[1] | {"id": last["id"]})
    calibrator = calibrated(rows)
    assert calibrator.counts.rows == 200
    assert calibrator.missing == ("99 unique AI bases, at least 100 needed",)


def test_without_bases_a_calibrator_is_fitted_but_not_deployable():
    rows = [{name: value for name, value in row.items() if name != "baseId"} for row in overconfident()]
    calibrator = calibrated(rows)
    assert calibrator.method == "temperature"
    assert calibrator.counts.real_bases is None
    assert calibrator.missing[0].startswith("baseId: no row names its base")
    assert set(calibrator.folds.of_base) == {row["id"] for row in rows}


@pytest.mark.parametrize("rows", [1, 2])
def test_a_row_or_two_give_the_identity(rows):
    calibrator = calibrated(overconfident()[:rows])
    assert calibrator.method == "identity"
    assert calibrator.raw_at_threshold == 0.65
    assert calibrator.candidates["platt"].eligible is False


def test_the_renaming_of_bases_moves_folds_and_no_full_fit():
    rows = overconfident()
    one, other = calibrated(rows), calibrated([row | {"baseId": "x" + row["baseId"]} for row in rows])
    for method in ("temperature", "platt"):
        assert other.candidates[method].slope == pytest.approx(one.candidates[method].slope, rel=1e-12)
