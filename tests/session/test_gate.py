"""A gate decides on every planned row, or says that it cannot."""

SUITES = """
    import pytest

    @pytest.mark.cases(kind="watermark", where={"state": "marked"})
    def test_marked(observe):
        observe().check()

    @pytest.mark.cases(kind="watermark", where={"state": "attacked"})
    def test_attacked(observe):
        observe().check()
"""

ONE = """
    import pytest

    @pytest.mark.cases(kind="watermark")
    def test_one(observe):
        observe().check()

    def test_unit():
        pass
"""


def test_a_mismatch_is_refused_and_named(project, workers):
    project.case("cat-01")
    project.case("cat-02", "not_detected")
    project.write()
    assert project.run("cases.jsonl", "--bench-gate=strict", workers=workers).ret == 20
    decision = project.document("gate.json")
    assert decision["decision"] == "refused"
    assert [rule["id"] for rule in decision["rules"] if rule["passed"] is False] == ["no_mismatch"]


def test_evidence_without_fault_passes(project, workers):
    project.case("cat-01")
    project.write()
    assert project.run("cases.jsonl", "--bench-gate=strict", workers=workers).ret == 0
    assert project.document("gate.json")["decision"] == "pass"


def test_lazy_verification_is_refused(project):
    project.case("cat-01")
    project.write()
    assert project.run("cases.jsonl", "--bench-gate=strict", "--bench-verify=lazy").ret == 20


def test_rows_left_out_by_keyword_are_missed(project):
    project.case("cat-01")
    project.case("cat-02")
    project.write()
    assert project.run("cases.jsonl", "-k", "cat-01", "--bench-gate=strict").ret == 21


def test_a_run_in_which_every_row_was_left_out_does_not_pass(project):
    project.case("cat-01")
    project.write()
    project.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl")
    project.pytester.makepyfile(test_bench=ONE)
    result = project.run("--bench-gate=strict", "-k", "unit")
    assert result.ret == 21
    result.stdout.fnmatch_lines(["incomplete: 1 rows were left out, and a gate decides on all"])


def test_rows_of_a_suite_that_was_not_collected_are_missed(project):
    project.case("cat-01")
    project.case("cat-02", "not_detected", state="attacked")
    project.write()
    project.pytester.makepyfile(test_bench=SUITES)
    result = project.run("--manifest=cases.jsonl", "--bench-gate=strict", "test_bench.py::test_marked")
    assert result.ret == 21
    assert project.document("run.json")["planned"] == {"rows": 2, "selected": 1, "left_out": 1, "lost": 0}


def test_rows_that_dead_workers_never_counted_are_missed(project):
    project.case("cat-01", "exit")
    project.case("cat-02")
    project.case("cat-03")
    project.write()
    result = project.run("cases.jsonl", "-k", "cat-01", "--max-worker-restart=0", "--bench-gate=strict", workers=1)
    assert result.ret == 21
    assert project.document("run.json")["planned"]["left_out"] == 2


def test_the_same_case_in_two_suites_is_refused(project):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(test_bench=ONE.replace("def test_unit", "test_two = test_one\n\n    def test_unit"))
    result = project.run("--manifest=cases.jsonl", "--bench-gate=strict")
    assert result.ret == 20


def test_a_gate_without_a_manifest_is_a_fault_of_use(project):
    project.pytester.makepyfile(test_unit="def test_unit(): pass")
    assert project.run("--bench-gate=strict").ret == 4


def test_a_policy_of_the_configuration_lies_beside_it(project, monkeypatch):
    project.case("cat-01")
    project.write()
    (project.path / "mine.yaml").write_text("name: mine\nrules: [{id: a, metric: mismatch_count, op: <=, value: 0}]\n")
    project.pytester.makeini("[pytest]\nbench_gate = mine.yaml")
    (project.path / "elsewhere").mkdir()
    monkeypatch.chdir(project.path / "elsewhere")
    result = project.run("../cases.jsonl")
    assert result.ret == 0
    assert "gate mine" in result.stdout.str()
