"""What the index says of lines is what folding all attempts at each row says."""

import json
from collections import defaultdict

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.attempts import Attempt, RowHistory
from pytest_benchbench.evidence.index import EvidenceIndex, Pair
from pytest_benchbench.evidence.observation import OUTCOMES

STATUS_OF = {
    "match": ["detected", "not_detected"],
    "mismatch": ["detected", "not_detected"],
    "measured": ["detected", "scored"],
    "unavailable": ["unavailable"],
    "error": ["error", "timeout"],
    "not_run": ["error"],
}


def line(
    case_id="a",
    outcome="match",
    status="detected",
    *,
    number=1,
    adapter="x",
    params=None,
    row_sha256=None,
    score=None,
    **key,
):
    return {
        "schema_version": 1,
        "key": {"suite": "s", "adapter": adapter, "case_id": case_id, "params": params, "attempt": number, **key},
        "row_sha256": f"row of {case_id}" if row_sha256 is None else row_sha256,
        "detection": {"status": status, **({} if score is None else {"score": score})},
        "outcome": outcome,
    }


lines = st.sampled_from(sorted(STATUS_OF)).flatmap(
    lambda outcome: st.builds(
        line,
        case_id=st.sampled_from("abc"),
        adapter=st.sampled_from("xy"),
        params=st.sampled_from([None, "", "q"]),
        outcome=st.just(outcome),
        status=st.sampled_from(STATUS_OF[outcome]),
        number=st.integers(1, 3),
        score=st.sampled_from([None, 0.25, 0.75]),
    )
)


def index_of(entries):
    index = EvidenceIndex()
    for entry in entries:
        index.add(json.dumps(entry).encode())
    return index


def identity(entry):
    key = entry["key"]
    return key["suite"], key["adapter"], key["case_id"], key["params"] or ""


@given(st.lists(lines, max_size=12))
def test_every_row_counts_once_by_the_laws_of_attempts(entries):
    histories = defaultdict(list)
    for position, entry in enumerate(entries):
        detection = entry["detection"]
        attempt = Attempt(entry["key"]["attempt"], entry["outcome"], detection["status"], position, detection.get("score"))
        histories[identity(entry)].append(attempt)
    expected = {}
    for attempts in histories.values():
        history = RowHistory.of(attempts)
        expected[history.counting.position] = (len(history.attempts), history.outcome, history.unstable)
    settled = index_of(entries).settle()
    found = {
        number: (int(count), OUTCOMES[settled.outcomes[number]], bool(settled.unstable[number]))
        for number, count in enumerate(settled.attempts)
        if count
    }
    assert found == expected
    ended = sum(outcome != "not_run" for _, outcome, _ in expected.values())
    assert settled.ended(0, len(entries)) == ended


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from(["1", "2"])), max_size=8))
def test_a_contradiction_is_found_where_a_case_comes_from_two_lines(drawn):
    found = index_of(line(case, adapter=adapter, row_sha256=made) for case, adapter, made in drawn).contradiction()
    made_from = defaultdict(set)
    seconds = []
    for number, (case, _, made) in enumerate(drawn):
        if made_from[case] - {made}:
            seconds.append(number)
        made_from[case].add(made)
    assert (found and found.second) == (seconds[0] if seconds else None)
    if found is not None:
        first, second = drawn[found.first], drawn[found.second]
        assert (first[0] == second[0], first[2] == second[2]) == (True, False)


@pytest.mark.parametrize("outcome", ["error", "not_run"])
def test_a_row_that_could_not_be_read_again_contradicts_nothing(outcome):
    assert index_of([line(), line(outcome=outcome, status="error", number=2, row_sha256="")]).contradiction() is None


def test_a_verdict_about_no_line_contradicts_one_about_a_line():
    assert index_of([line(), line(number=2, row_sha256="")]).contradiction() == Pair(0, 1)


def test_rows_of_several_parts_are_found():
    index = index_of([line("a"), line("b"), line("a", number=2), line("b", adapter="y"), line("c"), line("b")])
    assert index.in_several([0, 2, 4]) == [Pair(0, 2), Pair(1, 5)]
    assert index.in_several([0, 3]) == [Pair(1, 5)]
    assert index.in_several([0]) == []


def test_a_part_without_lines_has_no_row():
    assert index_of([line("a"), line("b")]).in_several([0, 1, 1, 2]) == []
    assert index_of([line("a"), line("a", number=2)]).in_several([0, 1, 1]) == [Pair(0, 1)]


@pytest.mark.parametrize("number", [0, -1, 2**64, 1.5, "1", None])
def test_an_attempt_has_a_number(number):
    with pytest.raises(ValueError, match="attempt"):
        index_of([line(attempt=number)])


def test_nothing_is_settled_of_nothing():
    index = EvidenceIndex()
    assert (len(index), index.contradiction(), len(index.settle().attempts)) == (0, None, 0)
