"""Policies about scores: what is accepted, and which demand would let evidence talk the gate round."""

import time
from typing import get_args

import msgspec
import pytest

from pytest_benchbench.gates.metrics import METRICS, SCORE_FACETS
from pytest_benchbench.gates.policy import Derivative, Metric, PolicyError, load_policy
from pytest_benchbench.gates.policy_faults import CARRIED, MAX_RULES, REQUIRABLE, policy_fault
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD

RULE = "{id: r, metric: real_recall, op: '>=', value: 0.9}"


@pytest.fixture
def load(tmp_path):
    """Read a policy from its text."""

    def read(text):
        (tmp_path / "mine.yaml").write_text(text)
        return load_policy("mine.yaml", directory=tmp_path).policy

    return read


@pytest.fixture
def refusal(load):
    """Give the message with which a policy is refused."""

    def refuse(text):
        with pytest.raises(PolicyError) as caught:
            load(text)
        return str(caught.value)

    return refuse


def test_every_metric_is_described():
    assert tuple(METRICS) == get_args(Metric)


def test_release_says_what_the_contract_says():
    policy = load_policy("release").policy
    assert policy.threshold == RELEASE_THRESHOLD == 0.65
    assert policy.required_transforms == "all-seen"
    assert policy.requires == {"split": "test", "evaluationMode": "deployed"}
    assert policy.held_out == "verified"
    demanded = {
        (rule.metric, rule.bound, rule.op, rule.value, tuple((rule.slice or {}).items()), rule.unit) for rule in policy.rules
    }
    assert demanded == {
        ("real_count", "observed", ">=", 500, (), "base"),
        ("ai_count", "observed", ">=", 500, (), "base"),
        ("real_source_count", "observed", ">=", 3, (), "base"),
        ("generator_family_count", "observed", ">=", 3, (), "base"),
        ("balanced_accuracy", "observed", ">=", 0.90, (), "base"),
        ("real_recall", "observed", ">=", 0.98, (), "base"),
        ("real_recall", "wilson_lower", ">=", 0.95, (), "base"),
        ("ai_recall", "wilson_lower", ">=", 0.80, (), "base"),
        ("false_positive_rate", "wilson_upper", "<=", 0.02, (), "base"),
        *(
            (*demand, (("resolutionGroup", group),), "base")
            for group in ("full-res", "thumbnail")
            for demand in (
                ("real_count", "observed", ">=", 100),
                ("ai_count", "observed", ">=", 100),
                ("balanced_accuracy", "observed", ">=", 0.85),
                ("real_recall", "observed", ">=", 0.97),
            )
        ),
        ("real_count", "observed", ">=", 50, (("source", "*"),), "base"),
        ("false_positive_rate", "observed", "<=", 0.05, (("source", "*"),), "base"),
    }


def test_every_field_is_read(load):
    policy = load(
        "name: mine\n"
        "threshold: 0.5\n"
        "required_transforms: [{transform: none, resolutionGroup: full-res}]\n"
        "requires: {split: test, provider: [wasm, webgpu]}\n"
        "identity: [baseId, provider]\n"
        "unmixed: [provider]\n"
        "held_out: verified\n"
        "max_attempt: 3\n"
        "rules: [{id: r, metric: real_recall, op: '>=', value: 0.9, slice: {source: '*'}, assumed: 0.99}]\n"
    )
    assert (policy.threshold, policy.held_out, policy.max_attempt) == (0.5, "verified", 3)
    assert policy.required_transforms == (Derivative(transform="none", resolutionGroup="full-res"),)
    assert policy.requires == {"split": "test", "provider": ("wasm", "webgpu")}
    assert (policy.identity, policy.unmixed) == (("baseId", "provider"), ("provider",))
    (rule,) = policy.rules
    assert (rule.unit, rule.slice, rule.assumed) == ("base", {"source": "*"}, 0.99)


@pytest.mark.parametrize(
    ("demand", "is_about_scores"),
    [
        ("", False),
        ("requires: {split: test}", True),
        ("identity: [baseId]", True),
        ("unmixed: [modelSha256]", True),
        ("held_out: verified", True),
        ("held_out: any", False),
        ("max_attempt: 1", False),
    ],
)
def test_scores_are_looked_at_if_anything_is_demanded_of_them(load, demand, is_about_scores):
    outcomes = "{id: r, metric: error_count, op: '<=', value: 0}"
    assert load(f"name: a\n{demand}\nrules: [{outcomes}]").is_about_scores is is_about_scores
    assert load(f"name: a\n{demand}\nrules: [{RULE}]").is_about_scores


@pytest.mark.parametrize("unit", ["base", "row"])
def test_a_rule_says_what_it_counts(load, unit):
    (rule,) = load(f"name: a\nrules: [{{id: r, metric: ai_recall, op: '>=', value: 0.9, unit: {unit}}}]").rules
    assert rule.unit == unit


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("metric: real_recall, op: '<=', value: 0.9", "op: real_recall of a good detector is high: compare by >= or >"),
        (
            "metric: false_positive_rate, op: '>=', value: 0",
            "op: false_positive_rate of a good detector is low: compare by <= or <",
        ),
        ("metric: brier, op: '>', value: 0.1", "op: brier of a good detector is low: compare by <= or <"),
        ("metric: ai_recall, op: '==', value: 1", "op: a rate is compared by <=, >=, < or >"),
        ("metric: ai_recall, op: '>=', value: 1.1", "value: a rate lies in [0, 1], got 1.1"),
        ("metric: brier, op: '<=', value: -0.1", "value: a rate lies in [0, 1], got -0.1"),
        (
            "metric: ai_recall, op: '>=', value: 0.9, bound: wilson_upper",
            "bound: wilson_upper is the hopeful end of ai_recall; use wilson_lower",
        ),
        (
            "metric: false_positive_rate, op: '<=', value: 0.02, bound: wilson_lower",
            "bound: wilson_lower is the hopeful end of false_positive_rate; use wilson_upper",
        ),
        (
            "metric: balanced_accuracy, op: '>=', value: 0.9, bound: wilson_lower",
            "bound: balanced_accuracy is no share of units and has no interval; use observed",
        ),
        (
            "metric: real_count, op: '>=', value: 5, bound: wilson_lower",
            "bound: real_count is a count and has no interval; use observed",
        ),
        (
            "metric: real_recall, op: '>=', value: 0.9, slice: {arm: positive}",
            f"slice: unknown property 'arm'; known: {', '.join(SCORE_FACETS)}",
        ),
        (
            "metric: real_count, op: '>=', value: 5, assumed: 1",
            "assumed: the chance to pass is known for rates only, and real_count is none",
        ),
        ("metric: real_recall, op: '>=', value: 0.9, assumed: 2", "assumed: a rate lies in [0, 1], got 2.0"),
        ("metric: real_recall, op: '>=', value: 0.9, assumed: .nan", "assumed: a rate lies in [0, 1], got nan"),
    ],
)
def test_a_rule_that_asks_for_nonsense_is_refused_with_its_field(refusal, rule, message):
    assert refusal(f"name: a\nrules: [{{id: r, {rule}}}]") == f"mine.yaml: rules[0].{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("threshold: 0", "threshold: lies strictly between 0 and 1, got 0.0"),
        ("threshold: 1", "threshold: lies strictly between 0 and 1, got 1.0"),
        ("threshold: .nan", "threshold: lies strictly between 0 and 1, got nan"),
        (
            "required_transforms: some",
            "required_transforms: expected all-seen or a list, got 'some'",
        ),
        ("required_transforms: []", "required_transforms: expected array of length >= 1"),
        (
            "required_transforms: [{transform: none, resolutionGroup: small}]",
            "required_transforms[0].resolutionGroup: expected one of full-res, thumbnail, got 'small'",
        ),
        (
            "required_transforms: [{transform: a, resolutionGroup: full-res}, {transform: a, resolutionGroup: full-res}]",
            "required_transforms[1]: 'a' at full-res is given twice",
        ),
        ("requires: {colour: red}", f"requires: unknown name 'colour'; known: {', '.join(REQUIRABLE)}"),
        ("requires: {split: []}", "requires[...]: expected array of length >= 1"),
        ("requires: {split: [test, test]}", "requires.split: 'test' is given twice"),
        ("identity: [label]", f"identity[0]: unknown name 'label'; known: {', '.join(CARRIED)}"),
        ("identity: [baseId, baseId]", "identity: baseId is given twice"),
        ("unmixed: [baseId]", f"unmixed[0]: unknown name 'baseId'; known: {', '.join(REQUIRABLE)}"),
        ("held_out: maybe", "held_out: expected one of verified, any, got 'maybe'"),
        ("max_attempt: 0", "max_attempt: expected int >= 1"),
        ("thresholds: 0.6", "object contains unknown field thresholds"),
    ],
)
def test_a_demand_that_makes_no_sense_is_refused_with_its_field(refusal, text, message):
    assert refusal(f"name: a\n{text}\nrules: [{RULE}]") == f"mine.yaml: {message}"


def test_so_many_rules_are_refused(refusal):
    rules = ", ".join(RULE.replace("id: r", f"id: r{i}") for i in range(MAX_RULES + 1))
    assert refusal(f"name: a\nrules: [{rules}]") == f"mine.yaml: rules: more than {MAX_RULES}"


def test_many_values_are_compared_in_proportion_to_their_number():
    demands = {"source": tuple(f"s{number}" for number in range(40_000))}
    policy = msgspec.structs.replace(load_policy("release").policy, requires=demands)
    begin = time.process_time()
    assert policy_fault(policy) is None
    assert time.process_time() - begin < 2
