"""What a decision says as a whole: its verdict, and whether anything is missing that it was to be about."""

import pytest

from pytest_benchbench.gates.decided import (
    DecidedEvidence,
    DecidedRule,
    Decision,
    Digest,
    EvidenceDigests,
    is_incomplete,
    missing_rows,
    verdict,
)


def rule(passed, name="r", failures=None):
    return DecidedRule(id=name, passed=passed, observed=None, required="<= 0", failures=failures)


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        ([], "pass"),
        ([True, True], "pass"),
        ([True, None], "inconclusive"),
        ([None, False], "refused"),
        ([True, False, True], "refused"),
    ],
)
def test_a_failed_rule_refuses_and_one_without_a_value_decides_nothing(passed, expected):
    assert verdict([rule(each) for each in passed]) == expected


def decision(*rules, rows=2, unavailable=0):
    evidence = DecidedEvidence(EvidenceDigests([], []), {"rows": rows, "unavailable": unavailable})
    return Decision(verdict(list(rules)), Digest("mine", "e" * 64), evidence, list(rules))


@pytest.mark.parametrize("name", ["nothing_lost", "nothing_left_out"])
@pytest.mark.parametrize(("passed", "expected"), [(True, False), (False, True), (None, True)])
def test_rows_that_a_run_lost_or_left_out_are_missing(name, passed, expected):
    assert is_incomplete(decision(rule(passed, name))) is expected


def test_a_rule_that_fails_makes_nothing_incomplete():
    assert not is_incomplete(decision(rule(False), rule(None, "verified_before_run"), rule(False, "one_suite_per_case")))


@pytest.mark.parametrize(("failures", "missing"), [(None, 0), (0, 0), (1, 1), (3, 3)])
def test_rows_that_manifests_have_alone_are_missing(failures, missing):
    decided = decision(rule(not failures, "nothing_missing", failures), rule(False, "other", 7))
    assert missing_rows(decided) == missing
    assert is_incomplete(decided) is (missing > 0)


@pytest.mark.parametrize(
    ("rows", "unavailable", "expected"), [(0, 0, False), (1, 1, True), (2, 2, True), (2, 1, False), (2, 0, False)]
)
def test_where_nothing_could_be_asked_everything_is_missing(rows, unavailable, expected):
    assert is_incomplete(decision(rule(True), rows=rows, unavailable=unavailable)) is expected
