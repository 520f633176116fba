"""Each demand on a mapping, with samples that meet it and samples that do not, one base apart."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.calibration import Scored, fit
from pytest_benchbench.statistics.calibration_choice import TIE, Assessment, CalibrationSet, OutOfFold, assess, choose
from pytest_benchbench.statistics.classification import Confusion
from pytest_benchbench.statistics.score_mapping import ScoreMapping

AI, REAL = 1, 0

OVERCONFIDENT = [*[(AI, [0.99])] * 44, *[(AI, [0.01])] * 6, *[(REAL, [0.01])] * 44, *[(REAL, [0.99])] * 6]
"""One in eight is wrong, and sure of itself: a slope below 1 is better, and needs more than .65 to reach .65."""

UNDERCONFIDENT = [*[(AI, [0.7])] * 49, (AI, [0.3]), *[(REAL, [0.3])] * 49]
"""Nearly all are right, and none is sure: a slope above 1 is better, and reaches .65 from some .55 on."""

WRONG = (REAL, [0.7])


def sample(bases, count=5, failed=()):
    """Make a sample of bases, dealt in turn inside each class."""
    rows = [(raw, label, number) for number, (label, raws) in enumerate(bases) for raw in raws]
    raws, labels, codes = map(np.array, zip(*rows, strict=True))
    dealt, ranks = [], {AI: 0, REAL: 0}
    for label, _ in bases:
        dealt.append(ranks[label] % count)
        ranks[label] += 1
    return CalibrationSet(
        Scored.of(raws.astype(np.float64), labels.astype(np.int8), codes),
        np.array(dealt),
        count,
        np.isin(np.arange(len(bases)), failed),
    )


def platt(bases, **more):
    return assess(sample(bases, **more))["platt"]


def test_a_clearly_better_mapping_is_eligible():
    found = assess(sample(OVERCONFIDENT))
    assert found["temperature"].eligible
    assert found["platt"].eligible
    assert found["temperature"].reason.startswith("out of fold the Brier score is lower by more than one standard error (")
    assert found["temperature"].out_of_fold.brier < found["platt"].out_of_fold.brier
    assert choose(found) == "temperature"


def test_each_fold_is_judged_by_a_fit_on_the_others():
    given = sample(OVERCONFIDENT)
    expected = np.empty(len(given.scored.raws))
    for fold in range(5):
        rows = given.folds[given.scored.bases] == fold
        expected[rows] = fit("platt", given.scored.part(~rows)).apply_all(given.scored.raws[rows])
    gains = (given.scored.raws - given.scored.labels) ** 2 - (expected - given.scored.labels) ** 2
    found = assess(given)["platt"].out_of_fold
    assert found.brier == pytest.approx(float(np.mean((expected - given.scored.labels) ** 2)), rel=1e-12)
    assert found.gain == pytest.approx(float(np.mean(gains)), rel=1e-12)
    assert found.gain_se == pytest.approx(float(np.std(gains, ddof=1)) / math.sqrt(len(gains)), rel=1e-12)
    assert found.bases == Confusion(tp=44, fn=6, tn=44, fp=6)
    everywhere = fit("platt", given.scored).apply_all(given.scored.raws)
    assert assess(given)["platt"].brier == pytest.approx(float(np.mean((everywhere - given.scored.labels) ** 2)), rel=1e-12)


def test_the_identity_is_judged_by_the_scores_as_they_are():
    """Two ends are not clipped, and the three derivatives of one base weigh as much as the one of another."""
    found = assess(sample([(AI, [0.0, 1.0, 0.5]), (REAL, [1.0]), (REAL, [0.0])], count=2))["identity"]
    assert found.mapping == ScoreMapping("identity")
    assert found.brier == found.out_of_fold.brier == pytest.approx((1.25 / 3 + 1 + 0) / 3, abs=1e-15)
    assert (found.eligible, found.reason) == (True, "taken where no other mapping is eligible")


@pytest.mark.parametrize(
    ("method", "wrong", "eligible"),
    [("temperature", 7, False), ("temperature", 8, True), ("platt", 8, False), ("platt", 9, True)],
)
def test_the_gain_must_exceed_one_standard_error(method, wrong, eligible):
    """With every further base that is wrong and sure of itself the gain grows faster than its error."""
    ai, real = wrong // 2, wrong - wrong // 2
    bases = [*[(AI, [0.99])] * (50 - ai), *[(AI, [0.01])] * ai, *[(REAL, [0.01])] * (50 - real), *[(REAL, [0.99])] * real]
    found = assess(sample(bases))[method]
    assert found.out_of_fold.gain > 0
    assert (found.out_of_fold.gain > found.out_of_fold.gain_se) is eligible
    assert found.eligible is eligible
    told = f"{found.out_of_fold.gain:.3g} lower, standard error {found.out_of_fold.gain_se:.3g}"
    assert found.reason == (
        f"out of fold the Brier score is lower by more than one standard error ({told}), and nothing is worse"
        if eligible
        else f"out of fold the Brier score is not lower by more than one standard error ({told})"
    )


def test_a_mapping_that_is_worse_out_of_fold_is_told_so():
    found = assess(sample([*[(AI, [0.999])] * 10, *[(REAL, [0.001])] * 9, (REAL, [0.002])]))["platt"]
    assert not found.eligible
    assert f"({-found.out_of_fold.gain:.3g} higher, standard error " in found.reason


@pytest.mark.parametrize("method", ["temperature", "platt"])
@pytest.mark.parametrize(("raw", "eligible"), [(0.64, True), (0.66, False)])
def test_balanced_accuracy_must_not_fall(method, raw, eligible):
    """An AI base that the identity just called AI is lost to a slope below 1; one that was lost before is not missed."""
    found = assess(sample([*OVERCONFIDENT, (AI, [raw])]))[method]
    assert found.eligible is eligible
    assert eligible or found.reason == "out of fold the balanced accuracy over bases falls from 0.881176 to 0.871373"


@pytest.mark.parametrize(("raw", "eligible"), [(0.5, True), (0.62, False)])
def test_false_positives_must_not_rise(raw, eligible):
    """Even where an AI base that is gained makes up for the real base that is lost."""
    found = platt([*UNDERCONFIDENT, WRONG, (AI, [0.62]), (REAL, [raw])])
    assert found.eligible is eligible
    assert eligible or found.reason == "out of fold the false positives over bases rise from 1 to 2 of 51"


@pytest.mark.parametrize(("raw", "eligible"), [(0.5, True), (0.62, False)])
def test_balanced_accuracy_over_rows_must_not_fall(raw, eligible):
    """The base has failed already, with another derivative."""
    found = platt([*UNDERCONFIDENT, (REAL, [0.7, raw])])
    assert found.eligible is eligible
    assert eligible or found.reason.startswith("out of fold the balanced accuracy over rows falls")


@pytest.mark.parametrize(("raw", "eligible"), [(0.5, True), (0.62, False)])
def test_false_positives_over_rows_must_not_rise(raw, eligible):
    found = platt([*UNDERCONFIDENT, (REAL, [0.7, raw]), (AI, [0.62])])
    assert found.eligible is eligible
    assert eligible or found.reason == "out of fold the false positives over rows rise from 1 to 2 of 51"


@pytest.mark.parametrize(("wrong", "eligible"), [(0.62, False), (0.5, True)])
def test_a_base_fails_by_any_derivative(wrong, eligible):
    """All derivatives of a real base have to stay below; that one of many is called AI is enough."""
    found = platt([*UNDERCONFIDENT, WRONG, (REAL, [0.3, 0.3, wrong, 0.3])])
    assert found.eligible is eligible
    assert eligible or found.reason.startswith("out of fold the balanced accuracy over bases falls")


@pytest.mark.parametrize("failed", [True, False])
def test_a_base_with_a_row_without_score_fails_under_every_mapping(failed):
    bases = [*OVERCONFIDENT, (AI, [0.99])]
    found = assess(sample(bases, failed=[len(bases) - 1] if failed else []))
    for method in ("identity", "temperature", "platt"):
        assert found[method].out_of_fold.bases == Confusion(tp=45 - failed, fn=6 + failed, tn=44, fp=6)


@pytest.mark.parametrize(("ai", "eligible"), [(4, False), (5, True)])
def test_every_fold_needs_a_base_of_each_class(ai, eligible):
    found = platt([*[(AI, [0.7])] * ai, *[(REAL, [0.3])] * 40])
    assert found.mapping is not None
    assert found.brier is not None
    assert (found.out_of_fold is not None) is eligible
    assert found.eligible is eligible
    assert eligible or found.reason == "a class has 4 bases, too few for 5 folds"


def test_every_fold_needs_a_fit():
    """With the only base on the wrong side of 0.5 held out, every steeper slope fits better."""
    found = assess(sample([*UNDERCONFIDENT, (REAL, [0.3])]))["temperature"]
    assert found.mapping is not None
    assert found.brier is not None
    assert found.out_of_fold is None
    assert found.eligible is False
    assert found.reason.startswith("without fold 4 there is no usable fit: 0.5 separates the classes")


@pytest.mark.parametrize(
    ("bases", "reason"),
    [
        ([(AI, [0.7])], "there is only one class"),
        ([(AI, [0.7])] * 30, "there is only one class"),
        ([(AI, [0.7]), (REAL, [0.7])] * 10, "all raw scores are the same"),
        ([(AI, [0.3]), (REAL, [0.7])] * 10, "a higher raw score does not speak for AI"),
    ],
)
def test_where_nothing_can_be_fitted_the_identity_stays(bases, reason):
    found = assess(sample(bases))
    assert choose(found) == "identity"
    assert found["identity"].out_of_fold.gain == found["identity"].out_of_fold.gain_se == 0.0
    for method in ("temperature", "platt"):
        assert found[method].eligible is False
        assert found[method].mapping is None
        assert found[method].brier is None
        assert found[method].out_of_fold is None
        assert found[method].reason.startswith(reason)


def test_a_mapping_that_is_the_identity_is_a_tie():
    """A temperature of 1 differs from the identity by rounding alone, whatever the sign of that."""
    bases = [*[(AI, [0.75]), (REAL, [0.25])] * 30, *[(AI, [0.25]), (REAL, [0.75])] * 10]
    found = assess(sample(bases, count=10))["temperature"]
    assert found.mapping.slope == pytest.approx(1.0, abs=1e-12)
    assert abs(found.out_of_fold.gain) < 1e-12
    assert not found.eligible


def assessment(method, brier, eligible=True):
    found = OutOfFold(brier, 0.1, 0.01, Confusion(1, 1, 1, 1), Confusion(1, 1, 1, 1))
    return Assessment(ScoreMapping(method), brier, found, eligible, "")


@pytest.mark.parametrize(
    ("temperature", "platt", "chosen"),
    [
        ((0.10, True), (0.09, True), "platt"),
        ((0.09, True), (0.10, True), "temperature"),
        ((0.09, True), (0.09, True), "temperature"),
        ((0.09, True), (0.09 - 1e-13, True), "temperature"),
        ((0.09, True), (0.09 - TIE, True), "temperature"),
        ((0.10, True), (0.09, False), "temperature"),
        ((0.10, False), (0.09, True), "platt"),
        ((0.10, False), (0.09, False), "identity"),
    ],
)
def test_the_lowest_brier_score_of_the_eligible_is_chosen(temperature, platt, chosen):
    found = {
        "identity": assessment("identity", 0.2),
        "temperature": assessment("temperature", *temperature),
        "platt": assessment("platt", *platt),
    }
    assert choose(found) == chosen


@given(
    st.lists(st.tuples(st.integers(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=3)), min_size=1, max_size=30),
    st.integers(2, 5),
)
def test_laws_of_the_choice(bases, count):
    found = assess(sample(bases, count))
    identity, chosen = found["identity"], found[choose(found)]
    assert identity.eligible
    assert chosen.eligible
    assert chosen.out_of_fold.brier <= identity.out_of_fold.brier
    assert chosen.out_of_fold.bases.fp <= identity.out_of_fold.bases.fp
    assert chosen.out_of_fold.rows.fp <= identity.out_of_fold.rows.fp
    for each in found.values():
        if each.out_of_fold is not None:
            assert all(math.isfinite(number) for number in dataclasses.astuple(each.out_of_fold)[:3])
