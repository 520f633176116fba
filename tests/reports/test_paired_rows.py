"""Rows put side by side, against a dictionary that does the same."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.evidence.reading import EvidenceError, index_evidence
from pytest_benchbench.reports.paired_rows import ComparedRows, by_artifact, by_case

few = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

keys = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("xy"), st.sampled_from([None, "1"])), unique=True)


@pytest.fixture
def paired(write):
    def pair(old, new, *, adapters=None):
        rows = ComparedRows()
        for side, given_rows in enumerate((old, new) if adapters is None else (old,)):
            key = by_case(side) if adapters is None else by_artifact(*adapters)
            index_evidence(write(given_rows)).feed(rows.taker(key))
        return rows, rows.pairs()

    return pair


@few
@given(keys, keys)
def test_rows_pair_as_in_a_dictionary(row, paired, old, new):
    rows, pairs = paired(
        *([row(case, adapter=adapter, params=params) for case, adapter, params in side] for side in (old, new))
    )
    places = {(0, key): place for place, key in enumerate(old)} | {
        (1, key): len(old) + place for place, key in enumerate(new)
    }
    assert list(zip(pairs.old.tolist(), pairs.new.tolist(), strict=True)) == [
        (places[0, key], places[1, key]) for key in old if key in new
    ]
    assert pairs.only_old.tolist() == [places[0, key] for key in old if key not in new]
    assert pairs.only_new.tolist() == [places[1, key] for key in new if key not in old]
    assert not pairs.is_conflicting.any()
    assert not len(pairs.other_question)
    assert rows.ordinals().tolist() == [*range(len(old)), *range(len(new))]


@few
@given(keys, st.randoms(use_true_random=False))
def test_the_order_of_the_second_run_does_not_matter(row, paired, given_keys, random):
    shuffled = list(given_keys)
    random.shuffle(shuffled)
    _, pairs = paired(
        *([row(case, adapter=adapter, params=params) for case, adapter, params in side] for side in (given_keys, shuffled))
    )
    assert [shuffled[place - len(given_keys)] for place in pairs.new] == given_keys


@pytest.mark.parametrize(
    ("changed", "is_other"),
    [
        ({"artifact": "another"}, True),
        ({"expected": "not_detected"}, True),
        ({"state": "attacked"}, True),
        ({"arm": "hard_negative"}, True),
        ({"transform": "jpeg"}, False),
        ({"status": "not_detected"}, False),
        ({"pair_id": "another"}, False),
        ({"line": 7}, False),
    ],
)
def test_rows_of_a_pair_are_about_the_same(row, paired, changed, is_other):
    same = [row("a", expected="detected"), row("c", expected="detected")]
    _, pairs = paired([*same, row("b", expected="detected")], [row("b", **{"expected": "detected", **changed}), *same])
    assert pairs.other_question.tolist() == ([2] if is_other else [])


def test_a_row_of_which_nothing_is_known_contradicts_nothing(row, paired):
    unread = {**row("a", status="error", outcome="error"), "row_sha256": "", "artifact": {"sha256": "", "decoding": None}}
    _, pairs = paired([row("a", status="error", outcome="error")], [unread])
    assert (len(pairs.old), len(pairs.other_question)) == (1, 0)


def test_two_adapters_pair_by_what_they_looked_at(row, paired):
    rows = [
        row("a1", adapter="x", artifact="one"),
        row("b1", adapter="y", artifact="one"),
        row("a2", adapter="x", artifact="two"),
        row("b2", adapter="y", artifact="two", state="attacked"),
        row("c1", adapter="z", artifact="one"),
    ]
    _, pairs = paired(rows, (), adapters=("x", "y"))
    assert (pairs.old.tolist(), pairs.new.tolist()) == ([0], [1])
    assert (pairs.only_old.tolist(), pairs.only_new.tolist()) == ([2], [3])


def test_the_same_artifact_counts_once_and_contradictions_are_told(row, paired):
    rows = [
        row("a1", adapter="x", artifact="one", call="cold"),
        row("a2", adapter="x", artifact="one"),
        row("b1", adapter="y", artifact="one"),
        row("a3", adapter="x", artifact="two"),
        row("b2", adapter="y", artifact="two"),
        row("b3", adapter="y", artifact="two", status="not_detected"),
    ]
    _, pairs = paired(rows, (), adapters=("x", "y"))
    assert (pairs.old.tolist(), pairs.new.tolist()) == ([0, 3], [2, 4])
    assert pairs.is_conflicting.tolist() == [False, True]


def test_ordinals_count_the_rows_that_are_left_out(row, paired):
    rows, _ = paired([row("a", adapter="z"), row("b", adapter="x"), row("c", adapter="y")], (), adapters=("x", "y"))
    assert rows.ordinals().tolist() == [1, 2]


def test_a_digest_that_is_none_is_refused(row, paired):
    with pytest.raises(EvidenceError, match="not a digest"):
        paired([{**row("a"), "artifact": {"sha256": "no digest", "decoding": None}}], ())


def test_facets_that_are_no_texts_are_rows_like_others(row, paired):
    odd = row("a")
    odd["case"] = {**odd["case"], "state": ["marked"]}
    rows, pairs = paired([odd], [odd])
    assert len(pairs.old) == 1
    assert rows.kinds[0].state is None


def test_without_rows_there_are_no_pairs(paired):
    _, pairs = paired((), ())
    assert pairs.old.shape == pairs.only_new.shape == (0,)
    assert pairs.is_conflicting.dtype == np.bool_
