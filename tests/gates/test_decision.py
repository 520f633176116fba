"""The decision and its record."""

import json
import random
from dataclasses import replace

import pytest

from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.decision import DecidedRule, EvidenceFacts, decide, describe_rule
from pytest_benchbench.gates.policy import LoadedPolicy, Policy, Rule, load_policy

FACTS = EvidenceFacts(lost=0, left_out=0, lazy_verification=False, sha256={"evidence.jsonl": "d" * 64})
STRICT = load_policy("strict")


def policy(*rules, **more):
    return LoadedPolicy(Policy(name="mine", rules=rules, **more), "e" * 64)


def recall(value, name="recall", **more):
    return Rule(id=name, metric="detection_rate", op=">=", value=value, **more)


def rules_of(decision):
    return {rule.id: rule for rule in decision.rules}


GOOD = [{}, {"expected": "unresolved"}, {"status": "not_detected", "known": True}]


@pytest.fixture
def good(row):
    return [row(f"good{i}", **one) for i, one in enumerate(GOOD)]


def test_strict_passes_matches_measurements_and_known_mismatches(good):
    decision = decide(STRICT, good, FACTS)
    assert decision.decision == "pass"
    assert all(rule.passed for rule in decision.rules)
    assert rules_of(decision)["known_mismatches"].observed == 1


@pytest.mark.parametrize(
    ("one_row", "rules"),
    [
        ({"status": "not_detected"}, {"no_mismatch"}),
        ({"status": "error"}, {"no_error"}),
        ({"status": "too-small"}, {"no_error"}),
        ({"status": "unavailable"}, {"nothing_unavailable"}),
        ({"unstable": True}, {"no_mismatch", "nothing_unstable"}),
        ({"status": "error", "outcome": "not_run"}, {"nothing_lost"}),
    ],
)
def test_one_row_more_and_strict_refuses(row, good, one_row, rules):
    decision = decide(STRICT, [*good, row("bad", **one_row)], FACTS)
    assert decision.decision == "refused"
    assert {rule.id for rule in decision.rules if rule.passed is False} == rules


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"lost": 1}, "nothing_lost"),
        ({"left_out": 1}, "nothing_left_out"),
        ({"lazy_verification": True}, "verified_before_run"),
    ],
)
def test_every_gate_refuses_incomplete_or_unverified_evidence(good, changed, rule):
    decision = decide(STRICT, good, replace(FACTS, **changed))
    assert decision.decision == "refused"
    assert [one.id for one in decision.rules if one.passed is False] == [rule]


@pytest.mark.parametrize(
    ("allowed", "expected", "required"), [(True, "pass", "preflight or lazy"), (False, "refused", "preflight")]
)
def test_a_policy_may_allow_lazy_verification(row, allowed, expected, required):
    loaded = policy(recall(0.5), allow_lazy_verification=allowed)
    decision = decide(loaded, [row("a")], replace(FACTS, lazy_verification=True))
    assert decision.decision == expected
    rule = rules_of(decision)["verified_before_run"]
    assert (rule.observed, rule.required) == ("lazy", required)


def test_no_evidence_is_inconclusive():
    assert decide(STRICT, [], FACTS).decision == "inconclusive"


def test_a_rule_that_cannot_be_computed_makes_it_inconclusive(row):
    decision = decide(policy(recall(0.5, slice={"state": "attacked"})), [row("a")], FACTS)
    assert (decision.decision, decision.rules[0].passed) == ("inconclusive", None)


def test_a_failed_rule_outweighs_one_that_cannot_be_computed(row):
    rules = (recall(0.5, slice={"state": "attacked"}), recall(1.0, "other"))
    assert decide(policy(*rules), [row("a", status="not_detected")], FACTS).decision == "refused"


def test_too_few_refuse(row):
    assert decide(policy(recall(0.5, min_n=2)), [row("a")], FACTS).decision == "refused"
    assert decide(policy(recall(0.5, min_n=2)), [row("a"), row("b")], FACTS).decision == "pass"


def test_the_record_has_exactly_the_fields_of_the_contract(row, good):
    document = json.loads(encode_document(decide(STRICT, [*good, row("bad", status="not_detected")], FACTS)))
    assert list(document) == ["decision", "policy", "evidence", "rules"]
    assert document["policy"] == {"name": "strict", "sha256": STRICT.sha256}
    assert document["evidence"] == {
        "digests": {
            "evidence": [{"name": "evidence.jsonl", "sha256": "d" * 64}],
            "manifests": [{"name": "cases.jsonl", "sha256": "a" * 64}],
        },
        "counts": {
            "rows": 4,
            "match": 1,
            "mismatch": 1,
            "measured": 1,
            "known_mismatch": 1,
            "unavailable": 0,
            "error": 0,
            "not_run": 0,
            "lost": 0,
            "left_out": 0,
        },
        "attempt": None,
        "held_out": None,
    }
    assert document["rules"][0] == {
        "id": "no_mismatch",
        "passed": False,
        "observed": 1,
        "required": "<= 0",
        "bound": "observed",
        "n": 4,
        "failures": 1,
        "max_failures": 0,
        "implied_by": None,
        "power": None,
        "slice": None,
    }
    assert [rule["id"] for rule in document["rules"]] == [
        "no_mismatch",
        "no_error",
        "nothing_unavailable",
        "nothing_unstable",
        "known_mismatches",
        "nothing_lost",
        "nothing_left_out",
        "one_suite_per_case",
        "verified_before_run",
    ]
    assert all(list(rule) == list(document["rules"][0]) for rule in document["rules"])


def test_lost_rows_are_planned_whether_or_not_evidence_lists_them(row):
    rows = [row("a"), row("b", status="error", outcome="not_run")]
    for lost, observed, planned in ((0, 1, 3), (1, 1, 3), (2, 2, 4)):
        rule = rules_of(decide(STRICT, rows, replace(FACTS, lost=lost, left_out=1)))["nothing_lost"]
        assert (rule.observed, rule.failures, rule.n) == (observed, observed, planned)


def test_a_case_in_two_suites_is_refused(row, good):
    rows = [*good, *(row("good0", suite=suite) for suite in ("other.py::test", "third.py::test"))]
    decision = decide(STRICT, rows, FACTS)
    rule = rules_of(decision)["one_suite_per_case"]
    assert decision.decision == "refused"
    assert (rule.passed, rule.observed, rule.failures, rule.n) == (False, 1, 1, 3)


@pytest.mark.parametrize("differs", [{"adapter": "other"}, {"params": "q75"}])
def test_another_adapter_or_other_parameters_are_another_case(row, differs):
    rows = [row("a"), row("a", suite="other.py::test", **differs)]
    assert rules_of(decide(STRICT, rows, FACTS))["one_suite_per_case"].passed


def test_the_order_of_rows_does_not_matter(row):
    rows = [
        row(
            f"c{i}",
            adapter="xy"[i % 2],
            status="detected" if i % 3 else "not_detected",
            artifact=str(i % 7),
            manifest=str(i % 2),
        )
        for i in range(40)
    ]
    loaded = policy(recall(0.5, bound="wilson_lower"), recall(0.9, "base", unit="base"))
    shuffled = random.Random(7).sample(rows, len(rows))
    assert encode_document(decide(loaded, shuffled, FACTS)) == encode_document(decide(loaded, rows, FACTS))


@pytest.fixture
def hundred(row):
    return [row(f"c{i}", status="detected" if i < 95 else "not_detected") for i in range(100)]


def implications(loaded, rows):
    return [rule.implied_by for rule in decide(loaded, rows, FACTS).rules[: len(loaded.policy.rules)]]


def test_a_weaker_rule_is_implied_by_the_strictest(hundred):
    rules = (recall(0.5, "weak"), recall(0.8, "middle"), recall(0.9, "strong"))
    assert implications(policy(*rules), hundred) == ["strong", "strong", None]


def test_a_bound_implies_the_observed_rate(hundred):
    rules = (recall(0.85, "observed"), recall(0.85, "bound", bound="wilson_lower"))
    assert implications(policy(*rules), hundred) == ["bound", None]


def test_of_equally_strict_rules_the_first_is_named(hundred):
    rules = (recall(0.5, "weak"), recall(0.9, "one"), recall(0.9, "two"))
    assert implications(policy(*rules), hundred) == ["one", None, "one"]


def test_of_equal_rules_the_later_is_implied(hundred):
    assert implications(policy(recall(0.8, "one"), recall(0.8, "two")), hundred) == [None, "one"]


@pytest.mark.parametrize(
    "other",
    [
        recall(0.9, "other", slice={"state": "marked"}),
        recall(0.9, "other", unit="base"),
        recall(0.9999, "other", bound="wilson_lower"),
        Rule(id="other", metric="detection_rate", op="<=", value=0.99),
        Rule(id="other", metric="match_count", op=">=", value=90),
    ],
    ids=["slice", "unit", "cannot hold", "direction", "metric"],
)
def test_rules_about_other_failures_imply_nothing(hundred, other):
    assert implications(policy(recall(0.5), other), hundred)[0] is None


def test_a_rule_below_its_minimum_is_implied_by_nothing(hundred):
    assert implications(policy(recall(0.5, min_n=101), recall(0.9, "other")), hundred) == [None, None]
    assert implications(policy(recall(0.5, min_n=100), recall(0.9, "other")), hundred) == ["other", None]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            DecidedRule(
                id="a", passed=False, observed=3, required="<= 0", bound="observed", n=46, failures=3, max_failures=0
            ),
            "a: 3, required <= 0 (n 46; 3 failures, at most 0 pass)",
        ),
        (
            DecidedRule(
                id="a",
                passed=False,
                observed=0.75,
                required=">= 0.95",
                bound="wilson_lower",
                n=9,
                failures=1,
                implied_by="b",
                slice={"state": "marked", "adapter": "x"},
            ),
            "a [adapter=x] [state=marked]: 0.75 (wilson_lower), required >= 0.95"
            " (n 9; 1 failure, cannot pass; implied by b)",
        ),
        (
            DecidedRule(id="a", passed=None, observed=None, required=">= 1", n=0),
            "a: cannot be computed, required >= 1 (n 0)",
        ),
        (DecidedRule(id="a", passed=False, observed="lazy", required="preflight"), "a: lazy, required preflight"),
        (DecidedRule(id="a", passed=True, observed=1 / 3, required="<= 0.5"), "a: 0.3333333333, required <= 0.5"),
    ],
)
def test_a_rule_is_described_in_one_line(rule, text):
    assert describe_rule(rule) == text


def test_a_minimum_is_part_of_what_is_required(row):
    assert decide(policy(recall(0.95, min_n=10)), [row("a")], FACTS).rules[0].required == ">= 0.95, n >= 10"
