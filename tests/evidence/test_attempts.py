"""The laws of attempts: what counts for a row whatever the order, the splitting and the repetition of its evidence."""

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.attempts import Attempt, RowHistory

STATUS_OF = {
    "match": ["detected", "not_detected"],
    "mismatch": ["detected", "not_detected"],
    "measured": ["detected", "not_detected", "scored"],
    "known_mismatch": ["detected", "not_detected"],
    "unavailable": ["unavailable"],
    "error": ["error", "too-small", "timeout"],
    "not_run": ["error"],
}

attempts = st.sampled_from(sorted(STATUS_OF)).flatmap(
    lambda outcome: st.builds(
        Attempt,
        number=st.integers(1, 4),
        outcome=st.just(outcome),
        status=st.sampled_from(STATUS_OF[outcome]),
        position=st.integers(0, 5),
        score=st.sampled_from([None, 0.0, 0.25, 0.75]),
    )
)
histories = st.lists(attempts, max_size=6).map(RowHistory.of)


@given(st.lists(attempts, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(tries, random):
    shuffled = random.sample(tries, len(tries))
    assert RowHistory.of(shuffled) == RowHistory.of(tries)


@given(histories, histories, histories)
def test_joining_is_associative(a, b, c):
    assert (a | b) | c == a | (b | c)


@given(histories, histories)
def test_joining_is_commutative(a, b):
    assert a | b == b | a


@given(histories)
def test_joining_is_idempotent(a):
    assert a | a == a


@given(st.lists(attempts, max_size=6), st.lists(attempts, max_size=6))
def test_joining_parts_is_folding_the_whole(first, second):
    assert RowHistory.of(first) | RowHistory.of(second) == RowHistory.of([*first, *second])


@given(histories.filter(lambda h: bool(h.attempts)), attempts)
def test_a_later_attempt_never_supersedes_a_verdict(history, attempt):
    later = Attempt(history.attempts[-1].number + 1, attempt.outcome, attempt.status)
    joined = history | RowHistory.of([later])
    if history.counting.settled:
        assert joined.counting == history.counting
    else:
        assert joined.counting == later


@given(histories.filter(lambda h: bool(h.attempts)))
def test_a_row_is_unstable_exactly_when_its_verdicts_differ(history):
    verdicts = {(a.status, a.score if a.status == "scored" else None) for a in history.attempts if a.settled}
    assert history.unstable == (len(verdicts) > 1)
    assert history.outcome == ("mismatch" if len(verdicts) > 1 else history.counting.outcome)


@given(attempts.filter(lambda a: a.settled))
def test_an_error_beats_the_verdict_of_its_own_attempt(verdict):
    crash = Attempt(verdict.number, "error", "error", 9)
    assert RowHistory.of([verdict, crash]).counting == crash


@given(attempts.filter(lambda a: a.settled))
def test_a_verdict_beats_the_absence_of_an_answer_in_its_own_attempt(verdict):
    for outcome in ("not_run", "unavailable"):
        weaker = Attempt(verdict.number, outcome, STATUS_OF[outcome][0], 9)
        assert RowHistory.of([weaker, verdict]).counting == verdict


def test_a_crash_in_teardown_then_a_retry_gives_the_retry():
    history = RowHistory.of(
        [Attempt(1, "match", "detected"), Attempt(1, "error", "error"), Attempt(2, "mismatch", "not_detected")]
    )
    assert history.outcome == "mismatch"
    assert not history.unstable


def scored(number, score, outcome="measured", status="scored"):
    return Attempt(number, outcome, status, score=score)


def test_a_score_that_changes_between_attempts_makes_the_row_unstable():
    history = RowHistory.of([scored(1, 0.2), scored(2, 0.9)])
    assert (history.unstable, history.outcome, history.counting.score) == (True, "mismatch", 0.2)


@pytest.mark.parametrize(
    "attempts",
    [
        [scored(1, 0.2), scored(2, 0.2)],
        [scored(1, None, "error", "timeout"), scored(2, 0.9)],
        [scored(1, 0.7, "match", "detected"), scored(2, 0.8, "match", "detected")],
    ],
    ids=["the same score", "no score before", "a verdict that rests on another score"],
)
def test_what_is_no_change_of_a_verdict(attempts):
    assert not RowHistory.of(attempts).unstable


def test_no_attempt_has_no_outcome():
    with pytest.raises(ValueError, match="without attempts"):
        _ = RowHistory(()).counting
