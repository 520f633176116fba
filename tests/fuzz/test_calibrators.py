"""The reader of calibrators."""

import math

import pytest
from hypothesis import event, given, strategies as st

from pytest_benchbench.adapters.calibrator import Calibrator, CalibratorError, load_calibrator

BY_HAND = {
    "schema_version": 1,
    "type": "calibrator",
    "method": "platt",
    "input": "logit",
    "clip": 1e-6,
    "slope": 0.7,
    "intercept": -0.2,
    "threshold": 0.65,
}
NUMBERS = {"brier": 0.1, "oof_brier": 0.1, "oof_gain": 0.0, "oof_gain_se": 0.0}
RATES = {"oof_balanced_accuracy": 0.9, "oof_false_positive_rate": 0.1}
CELLS = {"tp": 9, "fn": 1, "tn": 9, "fp": 1}
FITTED = BY_HAND | {
    "method": "identity",
    "slope": 1,
    "intercept": 0.0,
    "raw_at_threshold": 0.65,
    "deployable": True,
    "missing": [],
    "modelSha256": "a" * 64,
    "preprocessingVersion": "1",
    "counts": {
        "unit": "base",
        "rows": 250,
        "terminal": {"timeout": 1},
        "real_bases": 100,
        "ai_bases": 100,
        "real_sources": {"a": 50, "b": 25, "c": 25},
        "generator_families": {"f": 50, "g": 25, "h": 25},
        "real_without_source": 0,
        "ai_without_family": 0,
        "evaluation_modes": {"deployed": 250},
    },
    "candidates": {
        "identity": NUMBERS
        | RATES
        | {"slope": 1, "intercept": 0, "oof_bases": CELLS, "oof_rows": CELLS, "eligible": True, "reason": "r"},
        "platt": dict.fromkeys(["slope", "intercept", *NUMBERS, *RATES, "oof_bases", "oof_rows"])
        | {"eligible": False, "reason": "r"},
    },
    "scores_sha256": "b" * 64,
    "folds": {"salt": "s", "count": 5, "of_base": {"a": 0, "b": 4}},
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "calibrator.json"


@given(data=st.data())
def test_a_calibrator_is_sound_or_refused(mangled, told, path, data):
    path.write_bytes(data.draw(mangled([BY_HAND, FITTED])))
    try:
        calibrator = load_calibrator(path).calibrator
    except CalibratorError as error:
        event("refused")
        told(error, f"{path}: ")
        return
    event("accepted")
    assert isinstance(calibrator, Calibrator)
    scores = calibrator.apply_all([0.0, 0.3, 0.65, 1.0]).tolist()
    assert scores == sorted(scores)
    assert all(math.isfinite(score) and 0 <= score <= 1 for score in scores)
