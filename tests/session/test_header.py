"""What the header of a run says before any row."""

import json

import pytest


def large(project) -> None:
    row = project.case("case")
    with (project.path / "cases.jsonl").open("w") as file:
        file.writelines(json.dumps(row | {"case_id": f"case-{number:05}"}) + "\n" for number in range(20_000))


@pytest.mark.parametrize("off", [False, True], ids=["cache-on", "cache-off"])
def test_a_large_run_is_warned_of_pytests_cache_unless_it_is_off(project, off):
    large(project)
    given = ["-p", "no:cacheprovider"] if off else []
    result = project.call("cases.jsonl", "-k", "case-00007", *given)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["benchbench: cases.jsonl (20000 rows); verify preflight; gate off"])
    assert any("-p no:cacheprovider" in line for line in result.outlines if line.startswith("benchbench: ")) is not off


def test_a_small_run_says_what_runs_and_no_more(project):
    project.case("case")
    project.write()
    result = project.call("cases.jsonl")
    result.stdout.fnmatch_lines(["benchbench: cases.jsonl (1 rows); verify preflight; gate off"])
    assert not any("cacheprovider" in line for line in result.outlines)
