"""Shards: every row runs in exactly one of them, and what one shard says is true although it does not know the others."""

import json

import pytest

from pytest_benchbench.manifests.sharding import Shard

IDS = [f"cat-{number:02}" for number in range(12)]
SHARD = Shard(2, 3)
MINE = [case_id for case_id in IDS if SHARD.takes(case_id)]
OTHER = next(case_id for case_id in IDS if not SHARD.takes(case_id))


def empty_shard(*case_ids):
    """A shard that has none of some ids."""
    return next(shard for index in range(1, 65) if not any((shard := Shard(index, 64)).takes(i) for i in case_ids))


@pytest.fixture
def twelve(project):
    for case_id in IDS:
        project.case(case_id)
    project.write()
    return project


def test_a_shard_runs_its_own_rows(twelve, workers):
    assert twelve.run("cases.jsonl", f"--bench-shard={SHARD}", workers=workers).ret == 0
    assert sorted(twelve.outcomes) == MINE
    assert 0 < len(MINE) < len(IDS)


def test_each_row_runs_in_one_shard(project):
    for case_id in IDS:
        project.case(case_id)
    project.write()
    ran = []
    for index in (1, 2, 3):
        listed = project.run("cases.jsonl", f"--bench-shard={index}/3", "--collect-only", "-q").stdout.lines
        ran += [line.rpartition("::")[2] for line in listed if "::" in line]
    assert sorted(ran) == IDS


def test_the_run_says_which_part_of_the_whole_it_is(twelve):
    result = twelve.run("cases.jsonl", f"--bench-shard={SHARD}")
    result.stdout.fnmatch_lines([f"benchbench: cases.jsonl ({len(MINE)} of 12 rows, shard 2/3); *"])
    run = twelve.document("run.json")
    assert run["options"]["shard"] == "2/3"
    assert [(found["rows"], found["shard_rows"]) for found in run["manifests"]] == [(12, len(MINE))]
    assert run["planned"] == {"rows": len(MINE), "selected": len(MINE), "left_out": 0, "lost": 0}


def test_the_digest_is_that_of_the_whole_file(twelve):
    twelve.run("cases.jsonl", f"--bench-shard={SHARD}")
    sha256 = twelve.document("run.json")["manifests"][0]["sha256"]
    twelve.pytester.run("rm", "-r", "run")
    twelve.run("cases.jsonl")
    assert twelve.document("run.json")["manifests"][0]["sha256"] == sha256
    assert {row["manifest"]["sha256"] for row in twelve.evidence} == {sha256}


def test_a_row_keeps_its_line_in_the_file(twelve):
    twelve.rows[IDS.index(MINE[-1])]["expected"] = "not_detected"
    twelve.write()
    result = twelve.run("cases.jsonl", f"--bench-shard={SHARD}")
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*cases.jsonl:{IDS.index(MINE[-1]) + 1}: {MINE[-1]}: expected not_detected*"])


def test_an_empty_shard_leaves_a_run_that_can_be_merged(project, workers):
    project.case("cat-01")
    project.write()
    shard = empty_shard("cat-01")
    result = project.run("cases.jsonl", f"--bench-shard={shard}", workers=workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"shard {shard} has none of the rows that run"])
    assert project.evidence == []
    run = project.document("run.json")
    assert (run["exit_status"], run["planned"]["rows"], run["options"]["shard"]) == (0, 0, str(shard))
    assert [(found["rows"], found["shard_rows"]) for found in run["manifests"]] == [(1, 0)]
    assert project.document("report.json")["results"]["rows"] == 0
    assert (project.path / "run" / "report.md").exists()


def test_a_shard_of_which_nothing_is_selected_is_empty(twelve, workers):
    result = twelve.run("cases.jsonl", f"--bench-shard={SHARD}", "--bench-select=state=clean", workers=workers)
    assert result.ret == 0
    assert twelve.document("run.json")["planned"]["rows"] == 0


def test_an_empty_selection_without_shard_is_5(twelve):
    assert twelve.run("cases.jsonl", "--bench-select=state=clean").ret == 5


def test_a_shard_of_which_the_user_leaves_everything_out_is_no_empty_one(twelve, workers):
    assert twelve.run("cases.jsonl", f"--bench-shard={SHARD}", "-k", "no_such_case", workers=workers).ret == 5
    assert not (twelve.path / "run").exists()


def test_collecting_an_empty_shard_leaves_nothing(project):
    project.case("cat-01")
    project.write()
    assert project.run("cases.jsonl", f"--bench-shard={empty_shard('cat-01')}", "--collect-only").ret == 0
    assert not (project.path / "run").exists()


def test_other_tests_beside_an_empty_shard_decide_about_the_exit_code(project):
    project.case("cat-01")
    project.write()
    project.pytester.makepyfile(test_unit="def test_unit(): assert False")
    assert project.run("cases.jsonl", "test_unit.py", f"--bench-shard={empty_shard('cat-01')}").ret == 1
    assert project.document("run.json")["planned"]["rows"] == 0


def test_a_session_without_suites_leaves_no_run(project):
    project.case("cat-01")
    project.write()
    project.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl")
    project.pytester.makepyfile(test_unit="def test_unit(): pass")
    assert project.run("test_unit.py", f"--bench-shard={empty_shard('cat-01')}").ret == 0
    assert not (project.path / "run").exists()


def test_a_suite_without_rows_in_a_shard_is_not_said_to_have_none(twelve, workers):
    twelve.rows[IDS.index(OTHER)] |= {"state": "clean"}
    twelve.write()
    suite = """
        import pytest

        @pytest.mark.cases(kind="watermark", where={{"state": "{state}"}})
        def test_{state}(observe):
            observe().check()
    """
    twelve.pytester.makepyfile(test_clean=suite.format(state="clean"), test_marked=suite.format(state="marked"))
    result = twelve.run("--manifest=cases.jsonl", f"--bench-shard={SHARD}", workers=workers)
    assert result.ret == 0
    result.assert_outcomes(passed=len(MINE))


def test_a_suite_for_which_only_other_shards_have_rows_is_an_empty_shard(twelve, workers):
    twelve.pytester.makeini("[pytest]\nbench_manifest = cases.jsonl")
    twelve.pytester.makepyfile(
        test_clean="""
        import pytest

        @pytest.mark.cases(kind="watermark", where={"state": "clean"})
        def test_clean(observe):
            observe().check()
        """
    )
    assert twelve.run("test_clean.py", f"--bench-shard={SHARD}", workers=workers).ret == 0
    planned = twelve.document("run.json")["planned"]
    assert planned == {"rows": len(MINE), "selected": 0, "left_out": len(MINE), "lost": 0}


def test_a_fault_of_another_shards_row_is_left_to_that_shard(twelve):
    twelve.rows[IDS.index(OTHER)]["seed"] = "x"
    twelve.write()
    assert twelve.run("cases.jsonl", f"--bench-shard={SHARD}").ret == 0
    others = next(shard for i in (1, 2, 3) if (shard := Shard(i, 3)).takes(OTHER))
    result = twelve.run("cases.jsonl", f"--bench-shard={others}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*cases.jsonl:{IDS.index(OTHER) + 1}: seed: *"])


def test_a_line_whose_id_cannot_be_read_is_a_fault_of_every_shard(twelve):
    path = twelve.write()
    path.write_text(path.read_text() + "{broken\n")
    for index in (1, 2, 3):
        result = twelve.run("cases.jsonl", f"--bench-shard={index}/3")
        assert result.ret == 4
        result.stderr.fnmatch_lines(["*cases.jsonl:13: not JSON*"])


def test_only_the_files_of_the_shard_are_hashed(twelve):
    (twelve.path / twelve.rows[IDS.index(OTHER)]["path"]).unlink()
    assert twelve.run("cases.jsonl", f"--bench-shard={SHARD}").ret == 0
    (twelve.path / twelve.rows[IDS.index(MINE[0])]["path"]).unlink()
    result = twelve.run("cases.jsonl", f"--bench-shard={SHARD}", "--bench-run-dir=second")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*cases.jsonl:{IDS.index(MINE[0]) + 1}: path: *"])


def test_an_id_that_stands_twice_shows_in_its_shard(twelve):
    twelve.case(MINE[0])
    twelve.write()
    result = twelve.run("cases.jsonl", f"--bench-shard={SHARD}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*cases.jsonl:13: case_id: '{MINE[0]}' stands already in cases.jsonl:*"])


@pytest.mark.parametrize("setting", [None, "strict"], ids=["option", "configuration"])
def test_a_gate_decides_on_the_merged_whole(twelve, setting):
    if setting:
        twelve.pytester.makeini(f"[pytest]\nbench_gate = {setting}")
    result = twelve.run("cases.jsonl", "--bench-shard=1/3", *([] if setting else ["--bench-gate=strict"]))
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *strict with --bench-shard=1/3: *benchbench merge DIR... --gate strict"])
    assert not (twelve.path / "run").exists()


def test_a_gate_of_the_configuration_can_be_left_to_the_merge(twelve):
    twelve.pytester.makeini("[pytest]\nbench_gate = strict")
    assert twelve.run("cases.jsonl", f"--bench-shard={SHARD}", "--bench-gate=off").ret == 0


def expecting(project, *case_ids, **more):
    text = "".join(
        f"- {{id: {case_id}, expected: detected, reason: known{''.join(f', {k}: {v}' for k, v in more.items())}}}\n"
        for case_id in case_ids
    )
    (project.path / "known.yaml").write_text(text)
    return "--bench-expectations=known.yaml"


@pytest.mark.parametrize("more", [{}, {"suite": "test_detection"}], ids=["plain", "of-a-suite"])
def test_an_expectation_about_another_shards_row_is_no_warning(twelve, more):
    twelve.rows[IDS.index(MINE[0])] |= twelve.case(MINE[0], "not_detected")
    twelve.rows.pop()
    twelve.write()
    result = twelve.run("cases.jsonl", f"--bench-shard={SHARD}", expecting(twelve, OTHER, MINE[0], **more))
    assert result.ret == 0
    assert "match no row" not in result.stdout.str()
    assert twelve.outcomes[MINE[0]] == "known_mismatch"


@pytest.mark.parametrize("more", [{}, {"suite": "test_detection"}], ids=["plain", "of-a-suite"])
def test_an_expectation_about_no_row_is_a_warning_in_one_shard(twelve, more):
    warned = [
        "1 of 1 entries match no row: no-such"
        in twelve.run(
            "cases.jsonl", f"--bench-shard={index}/3", f"--bench-run-dir=run{index}", expecting(twelve, "no-such", **more)
        ).stdout.str()
        for index in (1, 2, 3)
    ]
    assert warned == [Shard(index, 3).takes("no-such") for index in (1, 2, 3)]


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b"])
def test_a_shard_that_is_none_is_refused(twelve, text):
    result = twelve.run("cases.jsonl", f"--bench-shard={text}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: --bench-shard={text}: expected I/N with 1 <= I <= N, such as 3/64"])


def test_the_evidence_of_the_shards_is_that_of_the_whole(twelve):
    twelve.run("cases.jsonl")
    whole = twelve.evidence
    parts = []
    for index in (1, 2, 3):
        twelve.run("cases.jsonl", f"--bench-shard={index}/3", f"--bench-run-dir=run{index}")
        parts += (twelve.path / f"run{index}" / "evidence.jsonl").read_text().splitlines()

    def settled(row):
        return {name: row[name] for name in ("key", "manifest", "case", "row_sha256", "artifact", "outcome")}

    by_id = {row["key"]["case_id"]: settled(row) for row in map(json.loads, parts)}
    assert len(parts) == len(whole)
    assert by_id == {row["key"]["case_id"]: settled(row) for row in whole}
