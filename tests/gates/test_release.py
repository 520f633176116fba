"""The policy ``release``: every rule passes at its edge, and one base more refuses it."""

import hashlib
import random
import re
from collections import Counter

import pytest

from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.gates.recorded import decide_recorded


def passed(decided):
    """Say whether all findings of a rule passed; there must be one."""
    assert decided
    return all(rule.passed is True for rule in decided)


def test_a_derivative_cannot_be_left_out_by_leaving_out_its_name(release):
    for name, rows in release.bases.items():
        rows.append({**rows[0], "id": f"{name}~jpeg", "transform": "jpeg-75"})
    for i in range(4):  # what went wrong there
        release.bases[f"real-{i}"].pop()
    assert [rule.passed for rule in release.rules("false_positives_upper")] == [False]
    release.change(release.bases, transform=None)
    decision = release.decide()
    assert decision.decision == "refused"
    assert [rule.id for rule in decision.rules if rule.passed is not True] == ["carries.transform"]


def test_sound_evidence_passes(release):
    decision = release.decide()
    assert decision.decision == "pass"
    assert [rule.id for rule in decision.rules if rule.passed is not True] == []


def keep(label, count):
    """Keep as many bases of a class."""

    def change(evidence):
        kind = ("real", "ai")[label]
        for name in [name for name in evidence.bases if name.startswith(kind)][count:]:
            del evidence.bases[name]

    return change


def with_score_at(label, group, count):
    """Leave only so many bases of a class with a score in a resolution group."""

    def change(evidence):
        kind = ("real", "ai")[label]
        names = [name for name in evidence.bases if name.startswith(kind)]
        evidence.change(names[count:], group, score=None, status="timeout")

    return change


def third(label, count):
    """Two sources or families, and a third one of as many bases."""

    def change(evidence):
        kind, field = (("real", "source"), ("ai", "generatorFamily"))[label]
        for place, name in enumerate(name for name in evidence.bases if name.startswith(kind)):
            evidence.change([name], **{field: "third" if place < count else f"value-{place % 2}"})

    return change


def failing(label, count, group=None):
    return lambda evidence: evidence.fail(label, count, group)


def small_source(count):
    """A source of so many real bases."""
    return lambda evidence: evidence.change([f"real-{i}" for i in range(500)], source="large").change(
        [f"real-{i}" for i in range(count)], source="small"
    )


def source_of_fifty(failures):
    """A source of fifty, of which so many fail."""
    return lambda evidence: small_source(50)(evidence).fail(0, failures)


EDGES = {
    "real_bases": (keep(0, 500), keep(0, 499)),
    "ai_bases": (keep(1, 500), keep(1, 499)),
    "real_sources": (third(0, 1), third(0, 0)),
    "generator_families": (third(1, 1), third(1, 0)),
    "balanced_accuracy": (failing(1, 100), failing(1, 101)),
    "real_recall": (failing(0, 10), failing(0, 11)),
    "real_recall_lower": (failing(0, 15), failing(0, 16)),
    "ai_recall_lower": (failing(1, 82), failing(1, 83)),
    "false_positives_upper": (failing(0, 3), failing(0, 4)),
    "full_res_real": (with_score_at(0, "full-res", 100), with_score_at(0, "full-res", 99)),
    "full_res_ai": (with_score_at(1, "full-res", 100), with_score_at(1, "full-res", 99)),
    "full_res_accuracy": (failing(1, 150, "full-res"), failing(1, 151, "full-res")),
    "full_res_recall": (failing(0, 15, "full-res"), failing(0, 16, "full-res")),
    "thumbnail_real": (with_score_at(0, "thumbnail", 100), with_score_at(0, "thumbnail", 99)),
    "thumbnail_ai": (with_score_at(1, "thumbnail", 100), with_score_at(1, "thumbnail", 99)),
    "thumbnail_accuracy": (failing(1, 150, "thumbnail"), failing(1, 151, "thumbnail")),
    "thumbnail_recall": (failing(0, 15, "thumbnail"), failing(0, 16, "thumbnail")),
    "source_real": (small_source(50), small_source(49)),
    "source_false_positives": (source_of_fifty(2), source_of_fifty(3)),
}


def test_every_rule_has_its_edge():
    assert list(EDGES) == [rule.id for rule in load_policy("release").policy.rules]


@pytest.mark.parametrize("rule", EDGES)
def test_one_base_decides(release, small, rule):
    holding, breaking = EDGES[rule]
    holding(release)
    assert passed(release.rules(rule))
    other = small(500, 500)
    breaking(other)
    assert not passed(other.rules(rule))
    assert other.decide().decision == "refused"


@pytest.mark.parametrize(("label", "most"), [(0, 3), (1, 82)])
def test_as_many_failures_as_are_told_pass_and_one_more_is_refused(release, label, most):
    rules = [rule for rule in release.decide().rules if rule.max_failures is not None and not rule.id.startswith("one_")]
    about = {0: ("false_positives_upper",), 1: ("ai_recall_lower",)}[label]
    assert {rule.max_failures for rule in rules if rule.id in about} == {most}
    assert release.fail(label, most).decide().decision == "pass"
    assert release.fail(label, most + 1).decide().decision == "refused"


def test_a_clean_full_resolution_result_does_not_override_a_thumbnail_failure(release):
    decision = release.fail(0, 16, "thumbnail").decide()
    found = {rule.id: rule.passed for rule in decision.rules}
    assert (decision.decision, found["full_res_recall"], found["thumbnail_recall"]) == ("refused", True, False)
    assert found["false_positives_upper"] is False


@pytest.mark.parametrize("group", ["full-res", "thumbnail"])
def test_both_resolution_groups_are_required(release, group):
    for rows in release.bases.values():
        rows[:] = [row for row in rows if row["resolutionGroup"] == group]
    decision = release.decide()
    other = {"full-res": "thumbnail", "thumbnail": "full_res"}[group]
    assert decision.decision == "refused"
    assert {rule.id for rule in decision.rules if rule.passed is False} == {f"{other}_real", f"{other}_ai"}


def test_more_derivatives_inflate_no_count(release, base_rows):
    keep(0, 499)(release)
    many = [(f"crop-{i}", group) for i in range(4) for group in ("full-res", "thumbnail")]
    for name, rows in release.bases.items():
        label = rows[0]["label"]
        told = {field: rows[0][field] for field in ("source", "generatorFamily")}
        rows[:] = base_rows(name, label, many, **told)
    (rule,) = release.rules("real_bases")
    assert (rule.passed, rule.n) == (False, 499)


def test_the_bounds_are_those_of_the_reference(release):
    rules = {rule.id: rule for rule in release.fail(0, 3).fail(1, 82).decide().rules}
    assert rules["false_positives_upper"].observed == pytest.approx(0.017490252104, abs=1e-12)
    assert rules["real_recall_lower"].observed == pytest.approx(0.982509747896, abs=1e-12)
    assert rules["ai_recall_lower"].observed == pytest.approx(0.801005363526, abs=1e-12)
    assert rules["real_recall"].observed == 0.994
    assert rules["balanced_accuracy"].observed == pytest.approx((0.994 + 418 / 500) / 2, abs=1e-15)


def test_rules_that_another_one_implies_are_marked(release):
    implied = {rule.id: rule.implied_by for rule in release.decide().rules if rule.implied_by}
    assert implied == {
        "real_recall": "false_positives_upper",
        "real_recall_lower": "false_positives_upper",
        "full_res_recall": "false_positives_upper",
        "thumbnail_recall": "false_positives_upper",
        "full_res_accuracy": "balanced_accuracy",
        "thumbnail_accuracy": "balanced_accuracy",
        "source_false_positives": "false_positives_upper",
    }


def test_the_power_is_that_of_the_reference(release):
    power = {rule.id: rule.power for rule in release.decide().rules if rule.power is not None}
    assert power["false_positives_upper"] == pytest.approx(0.757845, abs=1e-6)
    assert power["real_recall_lower"] > power["real_recall"] > power["false_positives_upper"]


def test_what_one_class_leaves_of_balanced_accuracy_is_told(release):
    (rule,) = release.fail(0, 10).fail(1, 30).rules("balanced_accuracy")
    assert (rule.failures, rule.max_failures) == (None, None)
    assert {name: (room.n, room.failures, room.max_failures) for name, room in rule.classes.items()} == {
        "real": (500, 10, 70),
        "ai": (500, 30, 90),
    }


def test_a_balanced_accuracy_at_its_very_bound_holds(release):
    (rule,) = release.fail(0, 10).fail(1, 90).rules("balanced_accuracy")
    assert (rule.observed, rule.passed) == (0.9, True)


def test_every_source_is_decided_by_itself(release):
    found = Counter(rule.slice["source"] for rule in release.rules("source_false_positives"))
    assert found == {f"camera-{i}": 1 for i in range(5)}


def test_a_source_of_ai_images_alone_is_no_real_source(release):
    release.change([f"ai-{i}" for i in range(500)], source="prompts")
    assert release.decide().decision == "pass"
    assert [rule for rule in release.rules("source_real") if rule.slice["source"] == "prompts"] == []


@pytest.mark.parametrize("score", [0.65, 0.6499999999999999])
def test_the_threshold_belongs_to_ai(release, score):
    release.change(["real-0", "ai-0"], score=score)
    failures = {rule.id: rule.failures for rule in release.decide().rules}
    is_ai = score >= 0.65
    assert (failures["false_positives_upper"], failures["ai_recall_lower"]) == (int(is_ai), int(not is_ai))


def test_the_order_of_rows_changes_nothing_but_their_lines(small):
    evidence = small(20, 20).fail(0, 2).fail(1, 3, "thumbnail").change(["real-9"], evaluationMode="synthetic")
    rows = evidence.rows()
    decisions = []
    for order in (rows, rows[::-1], random.Random(7).sample(rows, len(rows))):
        path = evidence.write(order)
        text = encode_document(decide_recorded(path, load_policy("release"))).decode()
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        decisions.append(re.sub(r" \(scores\.jsonl:\d+\)", "", text).replace(digest, ""))
    assert decisions[0] == decisions[1] == decisions[2]
    assert "real-9~none~thumbnail" in decisions[0]
