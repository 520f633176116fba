"""Fits against reference numbers, against scikit-learn, and against the laws that a minimum obeys."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.calibration import NoFitError, Scored, fit
from pytest_benchbench.statistics.classification import brier

RAWS = [0.02, 0.08, 0.15, 0.22, 0.35, 0.41, 0.48, 0.55, 0.62, 0.71, 0.83, 0.95]
LABELS = [0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1]


def scored(raws, labels, bases=None):
    return Scored.of(
        np.array(raws, dtype=np.float64),
        np.array(labels, dtype=np.int8),
        np.arange(len(raws)) if bases is None else np.array(bases),
    )


def drawn(seed, rows=300, bases=None):
    """Draw overconfident scores of both classes."""
    random = np.random.Generator(np.random.PCG64(seed))
    of_rows = np.arange(rows) if bases is None else random.integers(0, bases, rows)
    labels = of_rows % 2
    logits = random.normal(1.5 * (2 * labels - 1) + 0.4, 2.0)
    return scored(1 / (1 + np.exp(-logits)), labels, np.unique(of_rows, return_inverse=True)[1])


def test_a_part_has_every_column_of_its_rows():
    rows = drawn(2, rows=30, bases=9)
    chosen = rows.labels == 1
    part = rows.part(chosen)
    for name in ("raws", "logits", "labels", "bases"):
        assert getattr(part, name).tolist() == getattr(rows, name)[chosen].tolist()


def test_reference_platt():
    mapping = fit("platt", scored(RAWS, LABELS))
    assert (-mapping.slope, -mapping.intercept) == pytest.approx((-0.686601583134, 0.174852599932), abs=1e-10)
    assert brier(mapping.apply_all(RAWS), np.array(LABELS, dtype=np.int8)) == pytest.approx(0.153413756220, abs=1e-11)


def test_reference_temperature():
    mapping = fit("temperature", scored(RAWS, LABELS))
    assert 1 / mapping.slope == pytest.approx(0.7472265418, abs=1e-7)  # what was published stopped that near
    assert brier(mapping.apply_all(RAWS), np.array(LABELS, dtype=np.int8)) == pytest.approx(0.149437990906, abs=1e-8)


def test_reference_identity():
    mapping = fit("identity", scored(RAWS, LABELS))
    assert brier(mapping.apply_all(RAWS), np.array(LABELS, dtype=np.int8)) == pytest.approx(0.148425, abs=1e-12)


def test_reference_separable_platt():
    logits = np.array([-4.0, -3, -2, -1, 1, 2, 3, 4])
    mapping = fit("platt", scored(1 / (1 + np.exp(-logits)), logits > 0))
    assert mapping.slope == pytest.approx(0.572846672298, abs=1e-9)
    assert mapping.intercept == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bases", [None, 60])
def test_platt_is_that_of_scikit_learn(seed, bases):
    calibration = pytest.importorskip("sklearn.calibration")
    rows = drawn(seed, bases=bases)
    a, b = calibration._sigmoid_calibration(rows.logits, rows.labels, sample_weight=rows.weights)
    mapping = fit("platt", rows)
    assert (-mapping.slope, -mapping.intercept) == pytest.approx((a, b), abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bases", [None, 60])
def test_temperature_is_that_of_scikit_learn(seed, bases):
    calibration = pytest.importorskip("sklearn.calibration")
    if not hasattr(calibration, "_TemperatureScaling"):
        pytest.skip("scikit-learn before 1.8")
    rows = drawn(seed, bases=bases)
    pairs = np.column_stack([1 - rows.raws, rows.raws])
    reference = calibration._TemperatureScaling().fit(np.log(pairs), rows.labels, sample_weight=rows.weights)
    assert fit("temperature", rows).slope == pytest.approx(reference.beta_, abs=1e-5)


@pytest.mark.parametrize("method", ["temperature", "platt"])
def test_repeating_the_rows_of_bases_changes_nothing(method):
    once = drawn(1, rows=80)
    times = 1 + np.arange(80) % 4
    often = Scored.of(*(np.repeat(column, times) for column in (once.raws, once.labels, once.bases)))
    expected, found = fit(method, once), fit(method, often)
    assert (found.slope, found.intercept) == pytest.approx((expected.slope, expected.intercept), rel=1e-12)


@pytest.mark.parametrize("method", ["temperature", "platt"])
def test_derivatives_are_no_further_bases(method):
    """Four rows of one wrong base pull no harder than one."""
    raws, labels = [0.1, 0.2, 0.4, 0.6, 0.8, 0.9], [0, 0, 1, 0, 1, 1]
    one = fit(method, scored([*raws, 0.7], [*labels, 0]))
    four = fit(method, scored([*raws, *[0.7] * 4], [*labels, *[0] * 4], [*range(6), 6, 6, 6, 6]))
    apart = fit(method, scored([*raws, *[0.7] * 4], [*labels, *[0] * 4]))
    assert four.slope == pytest.approx(one.slope, rel=1e-12)
    assert apart.slope < one.slope


@st.composite
def samples(draw):
    """Both classes, from harmless to hostile: saturated, nearly equal, one outlier, many rows of a base."""
    raw = st.one_of(
        st.floats(0, 1),
        st.sampled_from([0.0, 1.0, 1e-6, 0.5, 1 - 1e-6, 0.5 + 1e-7, 0.9999, 0.65]),
        st.floats(0.4999, 0.5001),
    )
    bases = draw(st.lists(st.tuples(st.integers(0, 1), st.lists(raw, min_size=1, max_size=4)), min_size=2, max_size=12))
    rows = [(raw, label, base) for base, (label, raws) in enumerate(bases) for raw in raws]
    return scored(*zip(*rows, strict=True))


def targets(rows):
    ai, real = rows.bases_of(1), rows.bases_of(0)
    return np.where(rows.labels == 1, (ai + 1) / (ai + 2), 1 / (real + 2))


@given(samples())
def test_at_a_platt_fit_both_derivatives_vanish(rows):
    try:
        mapping = fit("platt", rows)
    except NoFitError:
        return
    assert 0 < mapping.slope < math.inf
    residuals = rows.weights * (mapping.apply_all(rows.raws) - targets(rows))
    centred = rows.logits - np.average(rows.logits, weights=rows.weights)
    size = max(float(np.abs(centred).max()), 1e-12)
    # slope and intercept round to doubles, which moves probabilities by as much as the logit is large times the slope
    allowed = 1e-9 + 1e-15 * mapping.slope * 14
    assert float(residuals.sum()) == pytest.approx(0, abs=len(residuals) * allowed)
    assert float((residuals * centred).sum()) / size == pytest.approx(0, abs=len(residuals) * allowed)


@given(samples())
def test_at_a_temperature_fit_the_derivative_vanishes(rows):
    try:
        mapping = fit("temperature", rows)
    except NoFitError:
        return
    s = np.where(rows.labels == 1, rows.logits, -rows.logits)
    p = mapping.apply_all(rows.raws)
    wrong = np.where(rows.labels == 1, 1 - p, p)
    pulls = rows.weights * s * wrong
    assert float(pulls.sum()) == pytest.approx(0, abs=1e-9 * float(np.abs(pulls).sum()) + 1e-13 * len(s))


@given(samples())
def test_every_sample_has_a_fit_or_a_reason(rows):
    """Which of the two it is can be told without searching."""
    has_both = {0, 1} <= set(rows.labels.tolist())
    is_constant = rows.logits.max() - rows.logits.min() < 1e-9
    s = np.where(rows.labels == 1, rows.logits, -rows.logits)
    lean = float((rows.weights * s).sum())
    is_separable = not (s < 0).any()
    try:
        fit("temperature", rows)
    except NoFitError:
        assert not has_both or is_constant or is_separable or lean <= 1e-8 * float(np.abs(s).sum())
    else:
        assert has_both
        assert not is_constant
        assert not is_separable
        assert lean > 0
    centred = rows.logits - np.average(rows.logits, weights=rows.weights)
    covariance = float((rows.weights * centred * targets(rows)).sum())
    try:
        fit("platt", rows)
    except NoFitError:
        assert not has_both or is_constant or covariance <= 1e-8 * float(np.abs(centred).sum())
    else:
        assert has_both
        assert not is_constant
        assert covariance > -1e-8 * float(np.abs(centred).sum())


@given(samples())
def test_exchanging_the_classes_mirrors_a_platt_fit(rows):
    mirrored = Scored.of(1 - rows.raws, 1 - rows.labels, rows.bases)
    try:
        expected = fit("platt", rows)
    except NoFitError:
        with pytest.raises(NoFitError):
            fit("platt", mirrored)
        return
    found = fit("platt", mirrored)
    assert found.slope == pytest.approx(expected.slope, rel=1e-3)
    for raw in rows.raws.tolist():
        assert found.apply(1 - raw) == pytest.approx(1 - expected.apply(raw), abs=1e-5)


REASONS = {
    "there is only one class": ([0.2, 0.8], [1, 1]),
    "all raw scores are the same": ([0.3, 0.3, 0.3], [0, 1, 1]),
    "a higher raw score does not speak for AI": ([0.8, 0.7, 0.2, 0.3], [0, 0, 1, 1]),
}


@pytest.mark.parametrize("method", ["temperature", "platt"])
@pytest.mark.parametrize("reason", REASONS)
def test_data_without_a_usable_fit_say_why(method, reason):
    with pytest.raises(NoFitError, match=reason):
        fit(method, scored(*REASONS[reason]))


def test_scores_beyond_the_clip_are_the_same():
    with pytest.raises(NoFitError, match="all raw scores are the same"):
        fit("platt", scored([0.0, 1e-7, 1e-6], [0, 1, 1]))


def test_no_row_has_no_fit():
    with pytest.raises(NoFitError, match="there is no row"):
        fit("platt", scored([], []))


def test_a_sample_that_one_half_separates_has_no_temperature():
    with pytest.raises(NoFitError, match=r"0\.5 separates the classes"):
        fit("temperature", scored([0.2, 0.4, 0.6, 0.9], [0, 0, 1, 1]))
    assert fit("temperature", scored([0.2, 0.51, 0.6, 0.9], [0, 0, 1, 1])).slope > 1


def test_uninformative_scores_have_no_slope():
    raws, labels = [0.1, 0.1, 0.6, 0.6], [0, 1, 0, 1]
    with pytest.raises(NoFitError, match="does not speak for AI"):
        fit("platt", scored(raws, labels))


def test_one_outlier_among_many_converges():
    rows = 5000
    raws = np.full(rows, 0.5)
    raws[0] = 1.0
    labels = np.zeros(rows)
    labels[0] = 1
    mapping = fit("platt", scored(raws, labels))
    assert mapping.apply(0.5) < 0.001
    assert mapping.apply(1.0) == pytest.approx(2 / 3, abs=1e-6)  # the target of a class of one
