"""What run.json says of an opening, and what runs that are joined say together."""

from itertools import permutations

import pytest

from pytest_benchbench.evidence.opened_split import RecordedOpening, attempt_of, joined_opening, opening_of


def run(attempt=1, **changes):
    opening = {"attempt": attempt, "ledger": "ledger.jsonl", "split_sha256": "a" * 64, "asked_sha256": "b" * 64} | changes
    return {"run_id": "r", "opening": opening}


def test_the_opening_of_a_run():
    assert opening_of(run(2)) == RecordedOpening(2, "ledger.jsonl", "a" * 64, "b" * 64)
    assert attempt_of(run(2)) == 2


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"opening": None},
        {"opening": 1},
        {"opening": {"attempt": 1}},
        run(0),
        run(True),
        run("1"),
        run(1.5),
        run(ledger=None),
        run(asked_sha256="b"),
    ],
    ids=str,
)
def test_a_run_that_says_of_none(document):
    assert opening_of(document) is None
    assert attempt_of(document) is None


def test_shards_have_one_opening_together():
    assert joined_opening([run(3), run(3)]) == opening_of(run(3))


def test_a_shard_without_rows_opened_nothing():
    assert joined_opening([{}, run(3)]) == opening_of(run(3))


def test_runs_that_opened_nothing():
    assert joined_opening([{}, {}]) is None


def test_of_several_openings_the_last_counts_whatever_the_order():
    runs = [run(1), run(3, asked_sha256="c" * 64), run(2), {}]
    assert {joined_opening(order) for order in permutations(runs)} == {opening_of(runs[1])}
