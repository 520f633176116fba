"""Evidence that cannot authorise anything: each reason is a rule of its own that names the rows."""

import hashlib
import json
import re

import pytest

from pytest_benchbench.gates.policy import LoadedPolicy, Policy, Rule
from pytest_benchbench.gates.recorded import decide_recorded

NONE_FAIL = Rule(id="none", metric="false_positive_rate", op="<=", value=1.0)


def broken(decision):
    """Give the rules that do not pass, with the rows that they name."""
    return {rule.id: rule.rows or [] for rule in decision.rules if rule.passed is not True}


def lenient(**demands):
    return LoadedPolicy(Policy(name="mine", rules=(NONE_FAIL,), **demands), "e" * 64)


DEMANDS = {
    "requires": {"split": "test", "evaluationMode": ("deployed", "reference")},
    "identity": ("baseId", "modelSha256", "preprocessingVersion", "resolutionGroup", "source", "generatorFamily"),
    "unmixed": ("modelSha256", "calibratorSha256", "preprocessingVersion"),
}


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({"evaluationMode": "synthetic"}, {"requires.evaluationMode"}),
        ({"evaluationMode": None}, {"requires.evaluationMode"}),
        ({"evaluationMode": "reference"}, set()),
        ({"split": "calibration"}, {"requires.split"}),
        ({"split": None}, {"requires.split"}),
        ({"modelSha256": "b" * 64}, {"unmixed.modelSha256"}),
        ({"modelSha256": None}, {"carries.modelSha256", "unmixed.modelSha256"}),
        ({"calibratorSha256": "b" * 64}, {"unmixed.calibratorSha256"}),
        ({"preprocessingVersion": "2"}, {"unmixed.preprocessingVersion"}),
        ({"preprocessingVersion": None}, {"carries.preprocessingVersion", "unmixed.preprocessingVersion"}),
        ({"resolutionGroup": None}, {"carries.resolutionGroup"}),
        ({"source": None}, {"carries.source"}),
        ({"label": None}, {"carries.label"}),
        ({"score": None, "rawScore": 0.5}, {"carries.score"}),
        ({"baseId": None}, {"carries.baseId"}),
    ],
)
def test_one_row_refuses_the_whole_and_is_named(small, fields, rules):
    evidence = small()
    row = evidence.bases["real-2"][0]
    row.update(fields)
    decision = evidence.decide(lenient(**DEMANDS))
    line = evidence.rows().index(row) + 1
    assert broken(decision) == {rule: [f"real-2~none~full-res (scores.jsonl:{line})"] for rule in rules}
    assert decision.decision == ("refused" if rules else "pass")


def test_of_ai_rows_alone_a_family_is_demanded(small):
    evidence = small().change(["ai-1"], generatorFamily=None)
    assert list(broken(evidence.decide(lenient(**DEMANDS)))) == ["carries.generatorFamily"]


def test_a_calibrator_may_be_absent_in_all_rows_or_the_same_in_all(small):
    evidence = small()
    assert evidence.decide(lenient(**DEMANDS)).decision == "pass"
    assert evidence.change(evidence.bases, calibratorSha256="b" * 64).decide(lenient(**DEMANDS)).decision == "pass"


def test_a_row_without_a_score_need_not_say_what_scored_it(small):
    evidence = small().change(["real-0"], score=None, status="timeout")
    evidence.change(["real-0"], evaluationMode=None, modelSha256=None, preprocessingVersion=None)
    assert broken(evidence.decide(lenient(**DEMANDS))) == {}


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("modelSha256", "b" * 64, "unmixed.modelSha256"),
        ("evaluationMode", "synthetic", "requires.evaluationMode"),
        ("generatorFamily", "gan", None),
    ],
)
def test_but_what_it_says_counts(small, field, value, rule):
    evidence = small().change(["real-0"], score=None, status="timeout", **{field: value})
    assert list(broken(evidence.decide(lenient(**DEMANDS)))) == ([rule] if rule else [])


def test_whatever_the_policy_a_row_has_a_base(small):
    evidence = small().change(["real-3"], baseId=None)
    assert {rule: len(rows) for rule, rows in broken(evidence.decide(lenient())).items()} == {"carries.baseId": 2}


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("label", 1, "one_label_per_base"),
        ("source", "other", "one_source_per_base"),
        ("generatorFamily", "other", "one_family_per_base"),
    ],
)
def test_rows_of_a_base_that_contradict_each_other_are_refused(small, field, value, rule):
    evidence = small().change(["ai-3"], generatorFamily="family-3").change(["real-1", "ai-3"], "thumbnail", **{field: value})
    name = "real-1" if field == "label" else "ai-3"
    assert {row.split("~")[0] for row in broken(evidence.decide(lenient()))[rule]} >= {name}


def test_named_rows_are_bounded_and_counted(release):
    release.change(release.bases, evaluationMode="synthetic")
    (rule,) = release.rules("requires.evaluationMode")
    assert (rule.observed, len(rule.rows), rule.reason) == (2000, 10, "'synthetic'")


@pytest.mark.parametrize("status", ["too-small", "timeout", "not_run", "unavailable", "error", "disabled", "unstable"])
@pytest.mark.parametrize("label", [0, 1])
def test_a_terminal_status_fails_its_base_and_leaves_the_rest_readable(small, status, label):
    evidence = small()
    evidence.change([f"{('real', 'ai')[label]}-1"], "thumbnail", score=None, status=status)
    rules = {rule.id: rule for rule in evidence.decide().rules}
    rule = rules[("false_positives_upper", "ai_recall_lower")[label]]
    assert (rule.n, rule.failures) == (4, 1)


@pytest.mark.parametrize("label", [0, 1])
def test_a_missing_derivative_fails_its_base(small, label):
    evidence = small()
    del evidence.bases[f"{('real', 'ai')[label]}-1"][1]
    rules = {rule.id: rule for rule in evidence.decide().rules}
    rule = rules[("false_positives_upper", "ai_recall_lower")[label]]
    assert (rule.n, rule.failures) == (4, 1)


def held_out_rule(decision):
    (rule,) = [rule for rule in decision.rules if rule.id == "held_out"]
    return rule


def test_without_a_manifest_nothing_is_verified(release):
    decision = release.decide(trusting=False)
    rule = held_out_rule(decision)
    assert decision.decision == "refused"
    assert broken(decision) == {"held_out": []}
    assert (rule.observed, rule.required) == ("unverified", "verified")


def test_trust_is_recorded(release):
    decision = release.decide()
    rule = held_out_rule(decision)
    assert (decision.decision, decision.evidence.held_out) == ("pass", "unverified")
    assert (rule.passed, rule.observed, rule.required) == (True, "unverified", "verified or unverified")


def test_a_manifest_verifies_it(release, base_rows):
    elsewhere = base_rows("elsewhere", 0, split="train", source="other-camera")
    decision = release.decide(manifest=release.manifest(*elsewhere), trusting=False)
    assert (decision.decision, decision.evidence.held_out) == ("pass", "verified")


@pytest.mark.parametrize(
    ("label", "fields", "told", "rows"),
    [
        (0, {"source": "camera-1"}, "source 'camera-1' occurs in train too", "real-1"),
        (1, {"generatorFamily": "family-2"}, "generatorFamily 'family-2' occurs in train too", "ai-2"),
    ],
)
@pytest.mark.parametrize("trusting", [True, False])
def test_what_occurs_in_another_split_is_refused_whoever_trusts(small, base_rows, label, fields, told, rows, trusting):
    evidence = small()
    manifest = evidence.manifest(*base_rows("elsewhere", label, split="train", **fields))
    rule = held_out_rule(evidence.decide(manifest=manifest, trusting=trusting))
    assert (rule.passed, rule.observed, rule.reason) == (False, "leaked", told)
    assert {row.split("~")[0] for row in rule.rows} == {rows}


@pytest.mark.parametrize("trusting", [True, False])
def test_a_manifest_of_one_split_verifies_nothing(small, trusting):
    evidence = small()
    rule = held_out_rule(evidence.decide(manifest=evidence.manifest(), trusting=trusting))
    assert (rule.passed, rule.observed) == (trusting, "unverified")
    assert rule.reason == "the manifest has no row of another split, so nobody can tell"


@pytest.mark.parametrize(
    ("label", "field", "value", "told"),
    [
        (0, "source", "CAMERA-1 ", "source 'CAMERA-1 ' or 'camera-1' occurs in train too"),
        (1, "generatorFamily", "\uff26amily-2", "generatorFamily 'family-2' or '\uff26amily-2' occurs in train too"),
    ],
)
def test_another_spelling_holds_nothing_out(small, base_rows, label, field, value, told):
    evidence = small()
    rule = held_out_rule(
        evidence.decide(manifest=evidence.manifest(*base_rows("e", label, split="train", **{field: value})))
    )
    assert (rule.passed, rule.reason) == (False, told)
    assert {row.split("~")[0] for row in rule.rows} == {("real-1", "ai-2")[label]}


def digest_of(row_id):
    return hashlib.sha256(row_id.encode()).hexdigest()


def test_the_same_bytes_in_another_split_are_a_leak(small, base_rows):
    evidence = small()
    manifest = evidence.manifest(*base_rows("elsewhere", 0, split="train", source="other"))
    mine, theirs = digest_of("real-1~none~full-res"), digest_of("elsewhere~none~full-res")
    manifest.write_text(manifest.read_text().replace(theirs, mine))
    rule = held_out_rule(evidence.decide(manifest=manifest))
    assert rule.passed is False
    assert re.fullmatch(rf"sha256 '{mine[:40]}.*occurs in train too", rule.reason)
    assert {row.split("~")[0] for row in rule.rows} == {"real-1"}


def test_a_split_group_in_another_split_is_a_leak(small, base_rows):
    evidence = small()
    manifest = evidence.manifest(*base_rows("elsewhere", 0, split="train", source="other"))
    lines = manifest.read_text().splitlines(keepends=True)
    grouped = [
        line.replace("}", ', "splitGroup": "siblings"}') if '"real-1"' in line or '"elsewhere"' in line else line
        for line in lines
    ]
    manifest.write_text("".join(grouped))
    rule = held_out_rule(evidence.decide(manifest=manifest))
    assert (rule.passed, rule.reason) == (False, "splitGroup 'siblings' occurs in train too")
    assert {row.split("~")[0] for row in rule.rows} == {"real-1"}


@pytest.mark.parametrize(("other", "passed"), [("real-2~none~full-res", False), ("real-1~none~thumbnail", True)])
def test_one_image_does_not_count_as_several_bases(small, other, passed):
    evidence = small()
    manifest = evidence.manifest()
    manifest.write_text(manifest.read_text().replace(digest_of(other), digest_of("real-1~none~full-res")))
    (rule,) = [rule for rule in evidence.decide(manifest=manifest).rules if rule.id == "one_base_per_image"]
    assert (rule.passed, rule.failures) == (passed, 0 if passed else 2)
    assert {row.split("~")[0] for row in rule.rows or ()} == (set() if passed else {"real-1", "real-2"})


def images_of_run(directories, score_files, shown):
    """Decide without a manifest about a run whose rows, by id, showed these files; an empty one is not known."""
    rows = [score_files.evidence_row(score_files.row(row_id, 0, 0.1)) for row_id in shown]
    for row, file in zip(rows, shown.values(), strict=True):
        row["artifact"]["sha256"] = digest_of(file) if file else ""
    decision = decide_recorded(directories.write("run", rows), lenient())
    (rule,) = [rule for rule in decision.rules if rule.id == "one_base_per_image"]
    return rule.passed, rule.failures, rule.rows or []


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ({"r1": "x", "r2": "y", "r2~jpeg": "y", "r3": "", "r4": ""}, (True, 0, [])),
        ({"r1": "x", "r1~jpeg": "y", "r2": "z", "r2~jpeg": "y"}, (False, 2, ["r1", "r1~jpeg", "r2", "r2~jpeg"])),
        ({"r1": "x", "r2": "y", "r3": "x", "r4": "x"}, (False, 3, ["r1", "r3", "r4"])),
    ],
    ids=["one base each", "a derivative of two bases", "three bases"],
)
def test_evidence_tells_by_itself_that_one_image_counts_as_several_bases(directories, score_files, shown, found):
    assert images_of_run(directories, score_files, shown) == found


def test_a_manifest_tells_of_images_that_evidence_does_not(directories, score_files):
    rows = [score_files.row(name, 0, 0.1) for name in ("r1", "r2", "r3")]
    manifest = score_files.manifest(rows)
    manifest.write_text(manifest.read_text().replace(digest_of("r3"), digest_of("r1")))
    evidence = [score_files.evidence_row(row) for row in rows]
    for row in evidence:
        row["artifact"]["sha256"] = ""
    decision = decide_recorded(directories.write("run", evidence), lenient(), manifests=[manifest])
    assert broken(decision)["one_base_per_image"] == ["r1", "r3"]


def test_plain_rows_do_not_tell_what_they_showed(small):
    assert "one_base_per_image" not in {rule.id for rule in small().decide().rules}


def test_a_manifest_of_other_splits_alone_may_be_given_beside(directories, score_files, tmp_path):
    rows = [score_files.row("r1", 0, 0.1), score_files.row("a1", 1, 0.9)]
    test, train = tmp_path / "test.jsonl", tmp_path / "train.jsonl"
    others = [score_files.row("r2", 0, source="other", split="train")]
    for path, its in ((test, rows), (train, others)):
        path.write_text("".join(json.dumps(score_files.manifest_row(row)) + "\n" for row in its))
    evidence = [score_files.evidence_row(row) for row in rows]
    for row in evidence:
        row["manifest"]["sha256"] = hashlib.sha256(test.read_bytes()).hexdigest()
    run = directories.write("run", evidence)
    assert broken(decide_recorded(run, lenient(held_out="verified"), manifests=[test])) == {"held_out": []}
    assert broken(decide_recorded(run, lenient(held_out="verified"), manifests=[test, train])) == {}
    assert "same_manifest" in broken(decide_recorded(run, lenient(), manifests=[train]))


def test_an_ai_source_may_be_shared(small, base_rows):
    evidence = small()
    more = base_rows("elsewhere", 1, split="train", source="camera-1", generatorFamily="other")
    assert held_out_rule(evidence.decide(manifest=evidence.manifest(*more))).passed


def test_a_base_in_two_splits_is_refused(small, base_rows):
    evidence = small()
    more = base_rows("real-0", 0, [("crop", "full-res")], split="calibration", source="other")
    rule = held_out_rule(evidence.decide(manifest=evidence.manifest(*more)))
    assert (rule.passed, rule.reason) == (False, "baseId 'real-0' occurs in calibration too")


def test_rows_of_the_manifest_that_evidence_lacks_are_named(release):
    manifest = release.manifest()
    missing = release.bases["real-7"].pop()
    decision = release.decide(manifest=manifest)
    (rule,) = [rule for rule in decision.rules if rule.id == "nothing_missing"]
    assert (rule.passed, rule.failures, rule.n, rule.rows) == (False, 1, 2000, [missing["id"]])
    (rate,) = [rule for rule in decision.rules if rule.id == "false_positives_upper"]
    assert (rate.n, rate.failures) == (500, 1)


def test_a_base_that_is_missing_altogether_fails(release):
    manifest = release.manifest()
    del release.bases["ai-9"]
    (rate,) = release.rules("ai_recall_lower", manifest=manifest)
    assert (rate.n, rate.failures) == (500, 1)
    (count,) = release.rules("ai_bases", manifest=manifest)
    assert (count.observed, count.passed) == (499, False)
