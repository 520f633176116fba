import json
import xml.etree.ElementTree as ElementTree

import pytest

OWN = """
name: own
rules:
  - {id: ai_recall, metric: ai_recall, op: ">=", value: 0.75, assumed: 0.9}
  - {id: real_recall, metric: real_recall, op: ">=", value: 0.5}
  - {id: per_source, metric: false_positive_rate, op: "<=", value: 0.5, slice: {source: "*"}}
"""


@pytest.fixture
def recorded(pytester, unremembered, score_files):
    score_files.base = pytester.path
    return Recorded(pytester, score_files)


class Recorded:
    """Scores of four AI bases and of four real ones of two sources, and a policy that bears one miss."""

    def __init__(self, pytester, files):
        self.pytester, self.files = pytester, files
        (pytester.path / "own.yaml").write_text(OWN)

    def scores(self, misses=0, **fields):
        rows = [self.files.row(f"ai-{i}", 1, 0.1 if i < misses else 0.9, **fields) for i in range(4)]
        rows += [self.files.row(f"real-{i}", 0, 0.1, **{"source": f"camera {i % 2}", **fields}) for i in range(4)]
        self.files.write(rows)
        return rows

    def run(self, *arguments, gate="own.yaml", evidence="scores.jsonl", workers=0):
        given = [f"--bench-evidence={evidence}", *([f"--bench-gate={gate}"] if gate else [])]
        if workers:
            return self.pytester.runpytest_subprocess("-n", str(workers), *given, *arguments)
        return self.pytester.runpytest_inprocess("-p", "no:xdist", *given, *arguments)


def test_each_rule_and_slice_is_an_item(recorded, workers):
    recorded.scores(misses=1)
    result = recorded.run("-v", workers=workers)
    assert result.ret == 0
    shown = result.stdout.str()
    for node in ("ai_recall", "real_recall", "per_source[source=camera+200]", "per_source[source=camera+201]"):
        assert f"own::{node} " in f"{shown} ".replace("\n", " \n")
    assert "gate own: pass" in shown


def test_a_rule_that_fails_shows_its_line(recorded, workers):
    recorded.scores(misses=2)
    result = recorded.run(workers=workers)
    assert result.ret == 20
    result.stdout.fnmatch_lines(
        ["refused: ai_recall: 0.5, required >= 0.75 (n 4; 2 failures, at most 1 pass; power 0.948)", "gate own: refused"]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_rule_that_cannot_be_computed_is_no_pass(recorded):
    recorded.files.write([recorded.files.row(f"real-{i}", 0, 0.1) for i in range(4)])
    result = recorded.run()
    assert result.ret == 20
    result.stdout.fnmatch_lines(["inconclusive: ai_recall: cannot be computed, required >= 0.75*", "gate own: inconclusive"])


@pytest.mark.parametrize("left_out", [("-k", "real_recall"), ("--deselect", "own::ai_recall"), ("-k", "nothing_at_all")])
def test_a_rule_that_is_left_out_refuses_all_the_same(recorded, workers, left_out):
    recorded.scores(misses=2)
    result = recorded.run(*left_out, workers=workers)
    assert result.ret == 20
    assert "gate own: refused" in result.stdout.str()


def test_stopping_at_the_first_failure_refuses(recorded):
    recorded.scores(misses=2)
    assert recorded.run("-x").ret == 20


def test_a_selection_of_a_pass_passes(recorded):
    recorded.scores()
    result = recorded.run("-k", "ai_recall")
    result.assert_outcomes(passed=1, deselected=len(_decided(recorded)) - 1)
    assert result.ret == 0


def _decided(recorded):
    from pytest_benchbench.gates.policy import load_policy
    from pytest_benchbench.gates.recorded import decide_recorded

    base = recorded.pytester.path
    return decide_recorded(base / "scores.jsonl", load_policy(str(base / "own.yaml"))).rules


def test_an_empty_selection_of_a_pass_is_exit_5(recorded):
    recorded.scores()
    assert recorded.run("-k", "nothing_at_all").ret == 5


def test_rows_of_the_manifest_that_are_missing_make_it_incomplete(recorded, workers):
    rows = recorded.scores()
    recorded.files.manifest([*rows, recorded.files.row("ai-4", 1)])
    result = recorded.run("--manifest=dataset.jsonl", workers=workers)
    assert result.ret == 21
    result.stdout.fnmatch_lines(["incomplete: rows are missing*", "*nothing_missing: 1, required <= 0*"])


def test_the_manifest_only_joins(recorded):
    rows = recorded.scores()
    recorded.files.manifest(rows)
    result = recorded.run("--manifest=dataset.jsonl")
    assert result.ret == 0
    assert "held_out" in recorded.run("--manifest=dataset.jsonl", "-v").stdout.str()


def test_trust_is_recorded(recorded):
    (recorded.pytester.path / "own.yaml").write_text(OWN + "held_out: verified\n")
    recorded.scores()
    assert recorded.run().ret == 20
    assert recorded.run("--bench-held-out-unverified").ret == 0


def test_junit_has_what_was_found(recorded, workers):
    recorded.scores(misses=2)
    recorded.run("--junitxml=junit.xml", workers=workers)
    cases = {
        case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")}
        for case in ElementTree.parse(recorded.pytester.path / "junit.xml").iter("testcase")
    }
    found = dict(cases["ai_recall"])
    assert 0 < float(found.pop("benchbench.power")) < 1
    assert found == {
        "benchbench.rule": "ai_recall",
        "benchbench.passed": "no",
        "benchbench.observed": "0.5",
        "benchbench.required": ">= 0.75",
        "benchbench.bound": "observed",
        "benchbench.n": "4",
        "benchbench.failures": "2",
        "benchbench.max_failures": "1",
    }
    assert cases["per_source[source=camera+200]"]["benchbench.slice"] == "source=camera 0"
    assert cases["real_recall"]["benchbench.passed"] == "yes"


def test_neither_tests_nor_cases_are_collected(recorded):
    recorded.scores()
    recorded.pytester.makepyfile("def test_other(): raise AssertionError")
    recorded.pytester.makeconftest(
        """
        def pytest_benchbench_manifests(config):
            raise AssertionError("no manifest is asked for")
        """
    )
    recorded.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl\ntestpaths = .")
    result = recorded.run()
    assert result.ret == 0
    assert "test_other" not in result.stdout.str()
    assert not (recorded.pytester.path / ".benchbench").exists()


def test_the_gate_may_be_configured(recorded):
    recorded.scores(misses=2)
    recorded.pytester.makeini("[pytest]\nbench_gate = own.yaml")
    assert recorded.run(gate=None).ret == 20


def test_the_directory_of_a_run_is_decided_as_at_its_end(dataset, workers):
    dataset.images(0.1, 0.2, label=0, source="camera")
    policy = "name: own\nrules: [{id: real_recall, metric: real_recall, op: '>=', value: 0.6}]\n"
    (dataset.path / "own.yaml").write_text(policy)
    assert dataset.score("--bench-gate=own.yaml").ret == 0
    at_the_end = json.loads((dataset.path / "run" / "gate.json").read_text())
    given = ["--bench-evidence=run", "--bench-gate=own.yaml", "--manifest=dataset.jsonl"]
    result = dataset.call(*given, "-v", workers=workers)
    assert result.ret == 0
    shown = result.stdout.str()
    assert "carries.label" in [rule["id"] for rule in at_the_end["rules"]]
    for rule in at_the_end["rules"]:
        assert f"own::{rule['id']}" in shown


def test_only_collecting_decides_nothing(recorded):
    recorded.scores(misses=2)
    result = recorded.run("--collect-only", "-q")
    assert result.ret == 0
    assert "own::ai_recall" in result.stdout.lines


@pytest.mark.parametrize("text", ["{\n", "", '{"id": "a", "label": 2, "score": 0.5}\n'])
def test_unreadable_evidence_is_exit_1(recorded, workers, text):
    (recorded.pytester.path / "scores.jsonl").write_text(text)
    result = recorded.run(workers=workers)
    assert result.ret == 1
    (told,) = [line for line in (*result.outlines, *result.errlines) if "scores.jsonl" in line]
    assert told.startswith("Exit: ")
    assert "scores.jsonl" in result.stderr.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "gate", "said"),
    [
        ([], None, "give --bench-gate=release"),
        ([], "off", "give --bench-gate=release"),
        ([], "none", "no such policy"),
        (["--bench-run-dir=run"], "strict", "leave out --bench-run-dir"),
        (["--bench-resume=run"], "strict", "leave out --bench-resume"),
        (["--bench-shard=1/2"], "strict", "leave out --bench-shard"),
        (["--bench-adapter=dwt-dct"], "strict", "leave out --bench-adapter"),
        (["--bench-select=state=marked"], "strict", "leave out --bench-select"),
        (["--bench-split=test"], "strict", "leave out --bench-split"),
        (["own.yaml"], "strict", "leave out own.yaml"),
        (["--manifest=none.jsonl"], "strict", "--manifest=*none.jsonl: no such file"),
    ],
)
def test_wrong_use(recorded, arguments, gate, said):
    recorded.scores()
    result = recorded.run(*arguments, gate=gate)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: *{said}*"])


def test_evidence_that_is_not_there_is_wrong_use(recorded):
    result = recorded.run(evidence="none")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-evidence=*none: no such file or directory"])


def test_trust_without_evidence_is_wrong_use(pytester):
    result = pytester.runpytest("--bench-held-out-unverified")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-held-out-unverified is about --bench-evidence, which is not given"])
