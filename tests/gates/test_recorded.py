"""Decisions about what was recorded: what is known of it, what is not, and what cannot be read."""

import json

import msgspec
import pytest

from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.decision import Decision, is_incomplete
from pytest_benchbench.gates.policy import LoadedPolicy, Policy, Rule, load_policy
from pytest_benchbench.gates.recorded import UnreadableEvidenceError, decide_recorded

RECALL = Rule(id="recall", metric="real_recall", op=">=", value=0.5)
ERRORS = Rule(id="errors", metric="error_count", op="<=", value=0)


def mine(*rules, **demands):
    return LoadedPolicy(Policy(name="mine", rules=rules or (RECALL,), **demands), "e" * 64)


def amiss(decision):
    return {rule.id: rule.passed for rule in decision.rules if rule.passed is not True}


@pytest.fixture
def rows(score_files):
    row = score_files.row
    return [row("r1", 0, 0.1), row("r2", 0, 0.2), row("a1", 1, 0.9), row("a2", 1, 0.8)]


@pytest.fixture
def evidence(score_files, rows):
    return [score_files.evidence_row(row) for row in rows]


def test_plain_rows_tell_of_no_run(score_files, rows):
    decision = decide_recorded(score_files.write(rows), mine())
    assert decision.decision == "pass"
    assert not {"nothing_lost", "nothing_left_out", "one_suite_per_case", "verified_before_run"} & {
        rule.id for rule in decision.rules
    }
    assert decision.evidence.counts == {
        "rows": 4,
        "match": 0,
        "mismatch": 0,
        "measured": 4,
        "known_mismatch": 0,
        "unavailable": 0,
        "error": 0,
        "not_run": 0,
        "lost": 0,
        "left_out": 0,
    }


def test_plain_rows_have_no_outcomes(score_files, rows):
    decision = decide_recorded(score_files.write(rows), mine(ERRORS))
    assert (decision.decision, amiss(decision)) == ("inconclusive", {"errors": None})


@pytest.mark.parametrize(
    ("status", "outcome"), [("timeout", "error"), ("not_run", "not_run"), ("unavailable", "unavailable")]
)
def test_plain_rows_without_a_score_are_counted(score_files, rows, status, outcome):
    rows[0] = score_files.row("r1", 0, None, status=status)
    counts = decide_recorded(score_files.write(rows), mine()).evidence.counts
    assert (counts["rows"], counts["measured"], counts[outcome]) == (4, 3, 1)


def test_a_run_is_decided_with_what_it_says_of_itself(directories, evidence):
    path = directories.write("run", evidence)
    decision = decide_recorded(path, mine(RECALL, ERRORS))
    assert (decision.decision, amiss(decision)) == ("pass", {})


@pytest.mark.parametrize(
    ("said", "rule", "passed", "is_missing"),
    [
        ({"lost": 1}, "nothing_lost", False, True),
        ({"left_out": 1}, "nothing_left_out", False, True),
        ({"options": {"verify": "lazy"}}, "verified_before_run", False, False),
        ({"options": {"select": ["transform=none"]}}, "nothing_selected", False, False),
        ({"shard": "1/2"}, "nothing_lost", None, True),
        ({"finished": None}, "nothing_lost", None, True),
    ],
)
def test_a_run_that_is_not_the_whole_is_no_basis(directories, evidence, said, rule, passed, is_missing):
    decision = decide_recorded(directories.write("run", evidence, **said), mine())
    assert amiss(decision)[rule] is passed
    assert is_incomplete(decision) is is_missing


@pytest.mark.parametrize("report", ["as it was", "gone", "damaged"])
def test_evidence_that_was_edited_is_no_basis(directories, evidence, report):
    path = directories.write("run", evidence)
    lines = (path / "evidence.jsonl").read_text()
    (path / "evidence.jsonl").write_text(lines.replace('"score": 0.2', '"score": 0.1'))
    if report == "gone":
        (path / "report.json").unlink()
    elif report == "damaged":
        (path / "report.json").write_text("{}")
    decision = decide_recorded(path, mine())
    assert amiss(decision) == {"nothing_lost": None}
    assert is_incomplete(decision)


def test_evidence_without_its_run_leaves_open_whether_it_is_all(score_files, rows):
    decision = decide_recorded(score_files.evidence(rows, "elsewhere.jsonl"), mine())
    assert amiss(decision) == {"nothing_lost": None, "verified_before_run": None, "nothing_selected": None}
    assert is_incomplete(decision)


@pytest.mark.parametrize(("most", "passed"), [(3, True), (2, True), (1, False)])
def test_a_policy_may_refuse_later_attempts(directories, evidence, most, passed):
    opening = {"attempt": 2, "ledger": "l.jsonl", "split_sha256": "a" * 64, "asked_sha256": "b" * 64}
    decision = decide_recorded(directories.write("run", evidence, opening=opening), mine(max_attempt=most))
    assert decision.evidence.attempt == 2
    assert (amiss(decision) == {}) is passed


def test_without_a_ledger_no_attempt_is_known(directories, evidence):
    decision = decide_recorded(directories.write("run", evidence), mine(max_attempt=1))
    assert amiss(decision) == {"max_attempt": None}


def test_rows_of_another_kind_are_refused_by_name(directories, evidence):
    decision = decide_recorded(directories.write("run", [*evidence, directories.row("mark-1")]), mine())
    (rule,) = [rule for rule in decision.rules if rule.id == "score_rows"]
    assert (rule.passed, rule.failures) == (False, 1)
    assert rule.rows[0].startswith("mark-1: kind: 'watermark' rows have no labels")


def test_an_answer_that_is_no_probability_fails_its_base(directories, evidence):
    evidence[0]["detection"]["score"] = 1.5
    decision = decide_recorded(directories.write("run", evidence), mine())
    rules = {rule.id: rule for rule in decision.rules}
    assert (rules["recall"].n, rules["recall"].failures) == (2, 1)
    assert (rules["score_rows"].passed, rules["score_rows"].rows[0].split(":")[0]) == (False, "r1")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "x", "label": 0, "score": NaN}', ":5:"),
        ('{"id": "x", "label": 0, "score": 1.5}', ":5: score:"),
        ('{"id": "x", "label": 2, "score": 0.5}', ":5: label:"),
        ('{"id": "r1", "label": 0, "score": 0.5}', ":5: id:"),
        ("not json", ":5:"),
        ('{"id": "x", "label": 0}', ":5: score:"),
    ],
)
def test_plain_rows_that_cannot_be_read_are_no_basis(score_files, rows, line, message):
    path = score_files.write([*rows, line])
    with pytest.raises(UnreadableEvidenceError) as caught:
        decide_recorded(path, mine())
    assert str(caught.value).startswith(f"{path}{message}")
    assert "\n" not in str(caught.value)


def test_evidence_that_cannot_be_read_is_no_basis(directories, evidence):
    path = directories.write("run", evidence)
    with (path / "evidence.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(UnreadableEvidenceError, match=r"evidence\.jsonl:5: "):
        decide_recorded(path, mine())


def test_a_manifest_that_contradicts_the_rows_is_no_basis(score_files, rows):
    manifest = score_files.manifest([{**rows[0], "label": 1, "generatorFamily": "gan"}, *rows[1:]])
    with pytest.raises(UnreadableEvidenceError, match=r"scores\.jsonl:1: label: 0, but 1 in .*dataset\.jsonl:1"):
        decide_recorded(score_files.write(rows), mine(), manifests=[manifest])


def test_plain_rows_have_one_manifest(score_files, rows):
    manifests = [score_files.manifest(rows), score_files.manifest(rows, "other.jsonl")]
    with pytest.raises(UnreadableEvidenceError, match="joined with one manifest"):
        decide_recorded(score_files.write(rows), mine(), manifests=manifests)


@pytest.mark.parametrize("missing", ["evidence", "manifest"])
def test_a_missing_file_is_no_basis(score_files, rows, tmp_path, missing):
    nothing = tmp_path / "nothing.jsonl"
    given = (nothing, []) if missing == "evidence" else (score_files.write(rows), [nothing])
    with pytest.raises(UnreadableEvidenceError, match=r"nothing\.jsonl: (cannot be read: )?No such file or directory$"):
        decide_recorded(given[0], mine(), manifests=given[1])


# how peers ship what they should not


def test_five_identical_cases_do_not_ship(small):
    evidence = small(5, 5)
    decision = evidence.decide()
    counts = {rule.id: rule.passed for rule in decision.rules if rule.id in ("real_bases", "ai_bases")}
    assert (decision.decision, counts) == ("refused", {"real_bases": False, "ai_bases": False})


def test_one_case_repeated_a_thousand_times_is_one_case(small, base_rows):
    evidence = small(1, 1)
    for name, rows in evidence.bases.items():
        copies = [{**row, "id": f"{row['id']}~{i}"} for row in rows for i in range(500)]
        evidence.bases[name] = copies
    rules = {rule.id: rule for rule in evidence.decide().rules}
    assert (rules["real_bases"].observed, rules["real_recall_lower"].n) == (1, 1)
    assert rules["real_recall_lower"].passed is False


def test_a_detector_that_crashes_on_every_real_image_has_no_perfect_recall(release):
    release.change([f"real-{i}" for i in range(500)], score=None, status="inference-error")
    rules = {rule.id: rule for rule in release.decide().rules}
    assert rules["real_recall"].observed == 0
    assert rules["false_positives_upper"].failures == 500
    assert rules["real_bases"].observed == 0


def test_rows_that_lost_their_score_are_not_dropped(release):
    release.change([f"ai-{i}" for i in range(400)], score=None, status="error")
    rules = {rule.id: rule for rule in release.decide().rules}
    assert (rules["ai_recall_lower"].n, rules["ai_recall_lower"].failures) == (500, 400)


def test_pixels_alone_are_reported_beside(small):
    evidence = small().change(small().bases, pixelScore=0.1)
    decision = evidence.decide()
    told = {(one.quantity, str(one.slice)): (one.real.failures, one.ai.failures) for one in decision.reported}
    groups = [None, {"resolutionGroup": "full-res"}, {"resolutionGroup": "thumbnail"}]
    assert told == {
        **{("score", str(where)): (0, 0) for where in groups},
        **{("pixelScore", str(where)): (0, 4) for where in groups},
    }
    assert {rule.id for rule in decision.rules if rule.id == "ai_recall_lower" and rule.failures} == set()


def test_bounds_of_resolution_groups_are_reported(release):
    release.fail(0, 3, "thumbnail")
    decision = release.decide()
    (thumbnail,) = [one for one in decision.reported if one.slice == {"resolutionGroup": "thumbnail"}]
    assert (thumbnail.real.low, thumbnail.real.high) == pytest.approx((0.982509747896, 0.997957403728), abs=1e-12)


def test_missing_stress_sets_are_named(small):
    missing = small().decide().missing_stress_sets
    assert "jpeg-75" in missing
    assert "camera-photography" not in missing
    evidence = small().change(small().bases, transform="jpeg-75")
    assert "jpeg-75" not in evidence.decide().missing_stress_sets


def test_the_required_derivatives_are_in_the_decision(small):
    required = small().decide().required
    assert (required.count, required.listed) == (2, [("none", "full-res"), ("none", "thumbnail")])
    assert len(required.sha256) == 64


def test_the_tutorial_accepts_synthetic_evidence_and_release_refuses_it(small):
    evidence = small(20, 20)
    evidence.change(evidence.bases, evaluationMode="synthetic")
    assert evidence.decide("tutorial", manifest=evidence.manifest()).decision == "pass"
    assert evidence.decide("release", manifest=evidence.manifest()).decision == "refused"
    evidence.change(["real-0"], "full-res", evaluationMode="deployed")
    assert amiss(evidence.decide("tutorial", manifest=evidence.manifest())) == {"requires.evaluationMode": False}


@pytest.mark.parametrize("policy", ["release", "tutorial"])
def test_the_built_in_policies_differ_in_bounds_alone(policy):
    ours, release = load_policy(policy).policy, load_policy("release").policy
    for name in ("threshold", "required_transforms", "identity", "unmixed", "held_out", "max_attempt"):
        assert json.dumps(getattr(ours, name)) == json.dumps(getattr(release, name))


def test_a_decision_is_read_back_as_it_was(small):
    evidence = small()
    evidence.bases["real-0"].pop()
    decision = evidence.decide()
    assert msgspec.json.decode(encode_document(decision), type=Decision) == decision
