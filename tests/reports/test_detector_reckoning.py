"""Figures of text detectors, held against scikit-learn, statsmodels and SciPy, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.evidence.golden_set_rows import Sample
from pytest_benchbench.reports.detector_reckoning import (
    by_category,
    calls_of,
    common_subset,
    figures,
    paired_accuracies,
    score_histogram,
)
from pytest_benchbench.reports.detector_tally import AnsweredSet, Call

metrics = pytest.importorskip("sklearn.metrics")
proportion = pytest.importorskip("statsmodels.stats.proportion")

SCORES = st.sampled_from([0.0, 9.999999, 10.0, 49.999999999999, 50.0, 90.0, 100.0]) | st.floats(0, 100)
ROWS = st.lists(
    st.tuples(st.sampled_from(["ai", "human", "humanized"]), SCORES | st.none(), st.sampled_from("xyz")), max_size=40
)


def sample(what, category="x"):
    return Sample("human" if what == "human" else "ai", category, "s" if what == "humanized" else None, "0" * 64)


def answers(rows):
    samples = {f"s{place}": sample(what, category) for place, (what, _, category) in enumerate(rows)}
    answered = AnsweredSet()
    for name, (_, score, _) in zip(samples, rows, strict=True):
        answered.statuses[name] = "error" if score is None else "scored"
        if score is not None:
            answered.scores[name] = score
    return samples, answered


@given(ROWS)
def test_all_figures_are_those_of_the_oracles(rows):
    samples, answered = answers(rows)
    found = figures(samples, answered.scores)
    truth = np.array([samples[name].label == "ai" for name in answered.scores], dtype=bool)
    called = np.array([score >= 50 for score in answered.scores.values()], dtype=bool)
    tn, fp, fn, tp = (
        metrics.confusion_matrix(truth, called, labels=[False, True]).ravel().tolist() if len(truth) else [0] * 4
    )
    cells = found["confusion"]
    assert (cells.tn, cells.fp, cells.fn, cells.tp) == (tn, fp, fn, tp)
    expected = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "accuracy": (tp + tn, len(truth)),
        "fpr": (fp, fp + tn),
    }
    for name, (k, n) in expected.items():
        assert_rate(found[name], k, n)
    if tp + fp and tp + fn:
        assert found["f1"].value == pytest.approx(metrics.f1_score(truth, called, zero_division=0), abs=1e-15)
    else:
        assert found["f1"].value is None
    humanized = [score for name, score in answered.scores.items() if samples[name].pair_of]
    assert_rate(found["humanizerBypass"], sum(score < 50 for score in humanized), len(humanized))
    assert found["humanizerBypass"].higherIsBetter


def assert_rate(rate, k, n):
    assert (rate.k, rate.n) == (k, n)
    if n == 0:
        assert (rate.value, rate.lower, rate.upper) == (None, None, None)
    else:
        assert rate.value == k / n
        low, high = proportion.proportion_confint(k, n, method="wilson")
        assert (rate.lower, rate.upper) == pytest.approx((max(low, 0), min(high, 1)), abs=1e-12)


@given(ROWS)
def test_categories_sum_to_the_whole(rows):
    samples, answered = answers(rows)
    whole, parts = figures(samples, answered.scores), by_category(samples, answered).values()
    for cell in ("tp", "fp", "tn", "fn"):
        assert sum(getattr(part.confusion, cell) for part in parts) == getattr(whole["confusion"], cell)
    assert sum(part.n for part in parts) == len(rows)
    assert sum(part.scored for part in parts) == len(answered.scores)
    assert sum(part.humanizerBypass.k for part in parts) == whole["humanizerBypass"].k


@given(ROWS)
def test_what_has_no_score_moves_no_figure(rows):
    samples, answered = answers(rows)
    _, scored_alone = answers([row for row in rows if row[1] is not None])
    alone = {name: samples[old] for name, old in zip(scored_alone.scores, answered.scores, strict=True)}
    assert figures(samples, answered.scores) == figures(alone, scored_alone.scores)


@given(ROWS, st.randoms())
def test_the_order_does_not_show(rows, random):
    samples, answered = answers(rows)
    names = random.sample(list(answered.scores), len(answered.scores))
    assert figures(samples, {name: answered.scores[name] for name in names}) == figures(samples, answered.scores)


@given(st.lists(SCORES, max_size=60))
def test_the_histogram_is_that_of_numpy(scores):
    counts, _ = np.histogram(scores, bins=[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    assert score_histogram(scores) == tuple(counts.tolist())


def test_the_last_bucket_has_100():
    assert score_histogram([0.0, 10.0, 100.0, 90.0, 89.9]) == (1, 1, 0, 0, 0, 0, 0, 0, 1, 2)


def test_fifty_is_ai():
    samples = {"a": sample("ai"), "b": sample("ai"), "c": sample("human")}
    cells = figures(samples, {"a": 50.0, "b": 49.999999999999, "c": 50.0})["confusion"]
    assert (cells.tp, cells.fn, cells.fp, cells.tn) == (1, 1, 1, 0)


def test_percentiles_have_their_ranks():
    calls = [Call(float(n), is_cold=False, is_recorded=n <= 3) for n in range(1, 101)]
    found = calls_of([*calls, Call(999.0, is_cold=True, is_recorded=False)], untimed=2)
    assert (found.n, found.recorded, found.cold, found.unknown) == (100, 3, (999.0,), 2)
    assert (found.p50.value, found.p50.rank) == (50.0, 50)
    assert (found.p95.value, found.p95.rank, found.p95.lowRank, found.p95.highRank) == (95.0, 95, 90, 100)
    assert (found.p95.low, found.p95.high) == (90.0, 100.0)


def test_few_calls_bound_no_percentile_and_none_have_none():
    few, none = calls_of([Call(5.0, is_cold=False, is_recorded=False)], 0), calls_of([], 3)
    assert (few.p95.value, few.p95.rank, few.p95.lowRank, few.p95.low) == (5.0, 1, None, None)
    assert (none.n, none.p50, none.p95, none.unknown) == (0, None, None, 3)


def three_detectors():
    samples = {name: sample("ai" if place % 2 else "human") for place, name in enumerate("abcdef")}
    scores = {
        "x": dict.fromkeys("abcdef", 60.0),
        "y": {name: 40.0 + 5 * place for place, name in enumerate("abcd")},
        "z": {},
    }
    return samples, {alias: AnsweredSet(scores=given) for alias, given in scores.items()}


def test_detectors_are_compared_on_what_all_of_them_scored():
    samples, answered = three_detectors()
    common = common_subset(samples, answered)
    assert common.n == 4
    assert [(line.id, line.detectors) for line in common.excluded] == [("e", ("y",)), ("f", ("y",))]
    assert common.silent == ("z",)
    assert [(line.alias, line.accuracy.n) for line in common.detectors] == [("x", 4), ("y", 4)]


def test_where_nothing_was_scored_nothing_is_common():
    samples, answered = three_detectors()
    common = common_subset(samples, {"z": answered["z"]})
    assert (common.n, common.excluded, common.silent, common.detectors) == (0, (), ("z",), ())


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), *[st.booleans() | st.none()] * 3), max_size=40))
def test_declared_pairs_are_mcnemars_and_adjusted_over_all_of_them(rows):
    """Each row: whether it is AI, and what three detectors call it."""
    mcnemar = pytest.importorskip("statsmodels.stats.contingency_tables").mcnemar
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    samples = {f"s{place}": sample("ai" if row[0] else "human") for place, row in enumerate(rows)}
    answered = {
        alias: AnsweredSet(
            scores={f"s{place}": 90.0 * row[which] for place, row in enumerate(rows) if row[which] is not None}
        )
        for which, alias in enumerate("xyz", 1)
    }
    pairs = (("x", "y"), ("x", "z"))
    lines = paired_accuracies(samples, answered, pairs)
    p_values = []
    for (a, b), line in zip(pairs, lines, strict=True):
        places = {"x": 1, "y": 2, "z": 3}
        both = [
            (row[places[a]] == row[0], row[places[b]] == row[0])
            for row in rows
            if None not in (row[places[a]], row[places[b]])
        ]
        table = [[sum(pair == (one, other) for pair in both) for other in (True, False)] for one in (True, False)]
        assert [[line.both, line.onlyA], [line.onlyB, line.neither]] == table
        assert line.n == len(both)
        p_values.append(float(mcnemar(table, exact=True).pvalue) if line.onlyA + line.onlyB else None)
        assert line.p == (None if p_values[-1] is None else pytest.approx(p_values[-1], rel=1e-9))
    adjusted = multipletests([1.0 if p is None else p for p in p_values], method="holm")[1].tolist()
    expected = [None if p is None else pytest.approx(value, rel=1e-9) for p, value in zip(p_values, adjusted, strict=True)]
    assert [line.adjustedP for line in lines] == expected
