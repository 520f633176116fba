"""Counts and rates of a classifier, held against scikit-learn; outcomes of bases, held against their definition."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.classification import (
    RELEASE_THRESHOLD,
    Confusion,
    TwoLabelsError,
    base_outcomes,
    brier,
    called_ai,
    confusion,
)

metrics = pytest.importorskip("sklearn.metrics")

scores = st.floats(0, 1) | st.sampled_from([0.0, 0.65, math.nextafter(0.65, 0), 1.0])
labelled = st.lists(st.tuples(scores, st.integers(0, 1)), min_size=1, max_size=40)


def arrays(rows):
    found = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1].astype(np.int8)


def test_the_frozen_rule():
    assert RELEASE_THRESHOLD == 0.65
    assert called_ai(np.array([0.65, math.nextafter(0.65, 0), 1.0, 0.0, math.nan])).tolist() == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_reference_numbers():
    """The release contract's formula, and facts/statistics: Brier([0,1,1,0],[.1,.9,.8,.3]) = .0375."""
    counts = Confusion(tp=80, fn=20, tn=45, fp=5)
    assert counts.ai_recall == 0.8
    assert counts.real_recall == 0.9
    assert counts.balanced_accuracy == pytest.approx(0.85, abs=1e-15)
    assert counts.false_positive_rate == 0.1
    assert counts.precision == pytest.approx(80 / 85, abs=1e-15)
    assert counts.accuracy == pytest.approx(125 / 150, abs=1e-15)
    assert brier(np.array([0.1, 0.9, 0.8, 0.3]), np.array([0, 1, 1, 0], np.int8)) == pytest.approx(0.0375, abs=1e-15)


@given(labelled)
def test_counts_and_rates_are_those_of_scikit_learn(rows):
    values, labels = arrays(rows)
    counts = confusion(labels, values)
    predicted = values >= 0.65
    tn, fp, fn, tp = metrics.confusion_matrix(labels, predicted, labels=[0, 1]).ravel().tolist()
    assert counts == (tp, fn, tn, fp)
    if counts.f1 is not None:
        assert counts.f1 == pytest.approx(metrics.f1_score(labels, predicted, zero_division=0), abs=1e-15)
    assert (counts.f1 is None) == (counts.precision is None or counts.ai_recall is None)
    assert sum(counts) == counts.ai + counts.real == len(rows)
    if counts.ai:
        assert counts.ai_recall == pytest.approx(metrics.recall_score(labels, predicted), abs=1e-15)
    if counts.real:
        assert counts.real_recall == pytest.approx(metrics.recall_score(labels, predicted, pos_label=0), abs=1e-15)
        assert counts.false_positive_rate == pytest.approx(1 - counts.real_recall, abs=1e-15)
    if tp + fp:
        assert counts.precision == pytest.approx(metrics.precision_score(labels, predicted), abs=1e-15)
    assert counts.accuracy == pytest.approx(metrics.accuracy_score(labels, predicted), abs=1e-15)
    if counts.ai and counts.real:
        assert counts.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(labels, predicted), abs=1e-15)
    assert brier(values, labels) == pytest.approx(metrics.brier_score_loss(labels, values, pos_label=1), abs=1e-15)


@pytest.mark.parametrize(
    ("counts", "absent"),
    [
        (Confusion(0, 0, 0, 0), {"ai_recall", "real_recall", "false_positive_rate", "precision", "accuracy"}),
        (Confusion(0, 3, 0, 0), {"real_recall", "false_positive_rate", "precision"}),
        (Confusion(3, 0, 0, 0), {"real_recall", "false_positive_rate"}),
        (Confusion(0, 0, 3, 0), {"ai_recall", "precision"}),
        (Confusion(0, 0, 0, 3), {"ai_recall"}),
    ],
)
def test_a_missing_class_is_not_invented(counts, absent):
    names = ("ai_recall", "real_recall", "false_positive_rate", "precision", "accuracy")
    assert {name for name in names if getattr(counts, name) is None} == absent
    assert counts.balanced_accuracy is None


def test_no_row_has_no_brier_score():
    assert brier(np.zeros(0), np.zeros(0, np.int8)) is None


@given(labelled, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_show(rows, draw):
    mixed = draw.sample(rows, len(rows))
    assert brier(*arrays(rows)) == brier(*arrays(mixed))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("compute", [brier, lambda values, labels: confusion(labels, values)])
def test_a_score_that_is_no_number_is_refused(compute, value):
    with pytest.raises(ValueError, match="finite"):
        compute(np.array([0.5, value]), np.array([0, 1], np.int8))


@pytest.mark.parametrize("compute", [brier, lambda values, labels: confusion(labels, values)])
def test_a_row_without_label_is_refused(compute):
    with pytest.raises(ValueError, match="labels"):
        compute(np.array([0.5, 0.5]), np.array([0, -1], np.int8))


def outcomes(rows, **more):
    """Give outcomes of rows of (base, label, score or None, pair)."""
    bases, labels, values, pairs = (list(column) for column in zip(*rows, strict=True))
    found = base_outcomes(
        np.array(bases, dtype=np.int64),
        np.array(labels, dtype=np.int8),
        np.array([np.nan if value is None else value for value in values], dtype=np.float64),
        np.array([value is not None for value in values]),
        count=max(bases) + 1,
        pairs=None if pairs == [None] * len(rows) else np.array(pairs, dtype=np.int64),
        **more,
    )
    return [
        (label, succeeded) for label, succeeded in zip(found.labels.tolist(), found.succeeded.tolist(), strict=True)
    ], found


ROWS = [(0, 0, 0.1, 0), (0, 0, 0.64, 1), (1, 1, 0.65, 0), (1, 1, 0.9, 1)]


def test_a_base_succeeds_when_every_required_derivative_does():
    told, found = outcomes(ROWS, required=2)
    assert told == [(0, True), (1, True)]
    assert found.confusion() == (1, 0, 1, 0)


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (1, 0.65, (1, 0, 0, 1)),
        (3, 0.64, (0, 1, 1, 0)),
        (1, None, (1, 0, 0, 1)),
        (3, None, (0, 1, 1, 0)),
    ],
)
def test_one_derivative_fails_its_base(place, value, expected):
    rows = list(ROWS)
    rows[place] = (*rows[place][:2], value, rows[place][3])
    _, found = outcomes(rows, required=2)
    assert found.confusion() == expected
    assert found.failing.sum() == 1


@pytest.mark.parametrize(("place", "expected"), [(1, (1, 0, 0, 1)), (3, (0, 1, 1, 0))])
def test_a_missing_derivative_fails_its_base(place, expected):
    _, found = outcomes(ROWS[:place] + ROWS[place + 1 :], required=2)
    assert found.confusion() == expected
    assert found.missing.sum() == 1


def test_a_derivative_that_is_not_required_counts_neither_way():
    _, found = outcomes([*ROWS, (0, 0, 0.99, -1), (1, 1, None, -1)], required=2)
    assert found.confusion() == (1, 0, 1, 0)


@pytest.mark.parametrize(("threshold", "expected"), [(0.7, (1, 0, 1, 1)), (0.71, (0, 1, 2, 0)), (0.1, (1, 0, 0, 2))])
def test_outcomes_are_those_at_the_threshold_that_is_asked_for(threshold, expected):
    _, found = outcomes([(0, 0, 0.1, None), (1, 0, 0.7, None), (2, 1, 0.7, None)], threshold=threshold)
    assert found.confusion() == expected


def test_repeating_a_row_changes_nothing():
    _, found = outcomes([*ROWS, *ROWS[:1] * 50], required=2)
    assert found.confusion() == (1, 0, 1, 0)
    _, found = outcomes([ROWS[0]] * 5 + ROWS[2:], required=2)
    assert found.confusion() == (1, 0, 0, 1), "the other derivative is still missing"


def test_without_a_list_every_row_counts_and_none_is_missing():
    _, found = outcomes([(0, 0, 0.1, None), (1, 0, 0.1, None), (1, 0, 0.7, None), (2, 1, 0.7, None)])
    assert found.confusion() == (1, 0, 1, 1)


def test_each_base_may_require_its_own_number():
    _, found = outcomes([(0, 0, 0.1, 0), (1, 0, 0.1, 1)], required=np.array([1, 2]))
    assert (found.succeeded.tolist(), found.missing.tolist()) == ([True, False], [0, 1])
    with pytest.raises(ValueError, match="more derivatives than are required"):
        outcomes([(0, 0, 0.1, 0), (0, 0, 0.1, 1)], required=np.array([1]))


def test_a_base_of_both_labels_is_refused():
    with pytest.raises(TwoLabelsError) as error:
        outcomes([(0, 1, 0.1, None), (1, 0, 0.1, None), (0, -1, 0.1, None), (0, 0, 0.2, None)])
    assert (error.value.first, error.value.second) == (0, 3)
    assert str(error.value) == "rows 0 and 3 are of one base and have different labels"


def test_a_row_without_label_fails_its_base():
    told, _ = outcomes([(0, 0, 0.1, None), (0, -1, 0.1, None), (1, -1, 0.1, None)])
    assert told == [(0, False), (-1, False)]


def test_places_out_of_range_are_refused():
    with pytest.raises(ValueError, match="pairs must lie below 1"):
        outcomes([(0, 0, 0.1, 1)], required=1)
    with pytest.raises(ValueError, match="bases must lie below 1"):
        base_outcomes(np.array([1]), np.array([0], np.int8), np.array([0.1]), np.array([True]), count=1)
    with pytest.raises(ValueError, match="finite"):
        outcomes([(0, 0, math.inf, 0)], required=1)


def test_no_rows_and_bases_without_rows_have_no_outcome():
    none = base_outcomes(
        np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0), np.zeros(0, bool), count=2, pairs=np.zeros(0, np.int64)
    )
    assert (none.labels.tolist(), none.succeeded.tolist(), none.missing.tolist()) == ([-1, -1], [False, False], [0, 0])
    assert none.confusion() == (0, 0, 0, 0)


def test_some_bases_can_be_counted_alone():
    _, found = outcomes(ROWS, required=2)
    assert found.confusion(np.array([True, False])) == (0, 0, 1, 0)
    assert found.confusion(np.array([1])) == (1, 0, 0, 0)


rows_of_bases = st.lists(
    st.tuples(st.integers(-1, 5), st.sampled_from([None, 0.0, 0.3, 0.65, 1.0]), st.integers(-1, 2)), min_size=1, max_size=40
)


@given(rows_of_bases, st.randoms(use_true_random=False))
def test_outcomes_follow_their_definition_in_any_order(rows, draw):
    def computed(rows):
        bases, values, pairs = zip(*rows, strict=True)
        return base_outcomes(
            np.array(bases, dtype=np.int64),
            np.array([base % 2 for base in bases], dtype=np.int8),
            np.array([np.nan if value is None else value for value in values]),
            np.array([value is not None for value in values]),
            count=6,
            pairs=np.array(pairs, dtype=np.int64),
            required=3,
        )

    found, mixed = computed(rows), computed(draw.sample(rows, len(rows)))
    for base in range(6):
        of_base = [(value, pair) for each, value, pair in rows if each == base]
        required = [[value for value, pair in of_base if pair == wanted] for wanted in range(3)]
        is_right = all(
            values and all(value is not None and (value >= 0.65) == (base % 2 == 1) for value in values)
            for values in required
        )
        assert bool(found.succeeded[base]) == is_right
        assert found.missing[base] == (sum(not values for values in required) if of_base else 0)
        assert found.failing[base] == sum(
            value is None or (value >= 0.65) != (base % 2 == 1) for value in itertools.chain(*required)
        )
    assert found.succeeded.tolist() == mixed.succeeded.tolist()
    assert found.confusion() == mixed.confusion()
    assert sum(found.confusion()) == len({base for base, _, _ in rows if base >= 0})
