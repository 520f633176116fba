import hashlib
import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

FIGURES = {
    "schema_version": 1,
    "benchmark": "whole_run",
    "parameters": {"rows": 1000, "repetitions": 3},
    "machine": {"processors": 2},
    "versions": {"python": "3.11.7"},
    "figures": {"processor seconds": 10.0},
    "wanted": {},
    "samples": {"processor": [9.9, 10.0, 10.1]},
}

DARK = """
from pytest_benchbench import Adapter, AdapterDescription, Detection

class Dark(Adapter):
    name = "dark"
    media_types = frozenset({{"image"}})

    def detect(self, sample):
        return Detection("detected" if sample.decoded.pixels.mean() < {limit} else "not_detected")

    def describe(self):
        return AdapterDescription("{version}", "the mean pixel value is low")

def pytest_benchbench_adapters(registry):
    registry.register(Dark)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_two_versions_of_a_detector_from_a_users_seat(pytester, monkeypatch):
    """Two real runs, with a detector that was changed in between."""
    image = pytest.importorskip("PIL.Image")
    monkeypatch.chdir(pytester.path)
    lines = []
    for grey in range(20, 120, 20):
        image.new("RGB", (16, 16), (grey,) * 3).save(f"{grey}.png")
        sha256 = hashlib.sha256((pytester.path / f"{grey}.png").read_bytes()).hexdigest()
        lines.append(
            {
                "schema_version": 1,
                "case_id": f"grey-{grey}",
                "pair_id": f"grey-{grey}",
                "media_type": "image",
                "adapter": "dark",
                "arm": "positive",
                "state": "marked",
                "path": f"{grey}.png",
                "sha256": sha256,
                "reference_path": None,
                "reference_sha256": None,
                "source_revision": "test@1",
                "transform": {"name": "none", "revision": "1", "parameters": {}},
                "seed": None,
                "expected": "detected",
            }
        )
    (pytester.path / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, limit, version in (("old", 70, "1"), ("again", 70, "1"), ("new", 50, "2")):
        pytester.makeconftest(DARK.format(limit=limit, version=version))
        pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", f"--bench-run-dir={name}", "cases.jsonl")
    same = invoke("old", "again")
    assert same.exit_code == 0, same.stderr
    assert "5 pairs of rows; only in old: 0; only in again: 0" in same.stdout
    worse = invoke("old", "new")
    assert worse.exit_code == 1, worse.stderr
    printed = worse.stdout.splitlines()
    assert printed[:2] == ["old -> new", "dark: version 1 -> 2, other source_sha256"]
    assert printed[3:5] == ["newly wrong: 1", "  cases.jsonl:3: grey-60: dark: expected detected, detected -> not_detected"]
    assert printed[-1] == "regression: 1 row newly wrong, at most 0 allowed"
    memory = json.loads(invoke("old", "new", "--json").stdout)["memory"]
    assert (memory["old"]["processes"], memory["new"]["processes"]) == (1, 1)
    assert 10 < memory["old"]["max_mib"] < 1000
    assert invoke("new", "old").exit_code == 0


def test_a_run_compared_with_itself_is_no_regression(here, directories):
    rows = [directories.row("a"), directories.row("b", "not_detected"), directories.row("c", "error")]
    directories.write("one", rows)
    result = invoke("one", "one", "--max-slowdown", "1.01", "--measured", "lost")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1].startswith("no regression (newly wrong <= 0")


@pytest.mark.parametrize(
    ("options", "code"),
    [([], 1), (["--allow-flips", "1"], 1), (["--allow-flips", "2"], 0)],
)
def test_newly_wrong_rows_are_exit_1_unless_allowed(here, directories, options, code):
    directories.write("old", [directories.row("a"), directories.row("b")])
    directories.write("new", [directories.row("a", "not_detected"), directories.row("b", "not_detected")])
    assert invoke("old", "new", *options).exit_code == code


def test_lost_verdicts_are_exit_1_unless_allowed(here, directories):
    directories.write("old", [directories.row("a")])
    directories.write("new", [directories.row("a", "error")])
    assert invoke("old", "new").exit_code == 1
    assert invoke("old", "new", "--allow-lost", "1").exit_code == 0


def test_rows_that_the_new_run_lost_are_exit_1(here, directories):
    directories.write("old", [directories.row("a"), directories.row("b")])
    directories.write("fewer", [directories.row("a")])
    directories.write("killed", [directories.row("a")], finished=None, exit_status=None, planned=None, interrupted=None)
    directories.write("part", [directories.row("a")], exit_status=21)
    assert invoke("old", "fewer").exit_code == 0
    assert invoke("old", "part").exit_code == 1
    result = invoke("old", "killed")
    assert result.exit_code == 1
    assert "regression: the new run lost rows and lacks 1 of the old one, at most 0 allowed" in result.stdout
    assert "note: killed: never finished" in result.stderr


def test_slower_calls_are_exit_1_only_when_asked(here, directories):
    def rows(factor):
        times = [factor * (10.0 + place) for place in range(30)]
        return [
            directories.row(f"c{place}", detection={"status": "detected", "adapter_elapsed_ms": time, "call": "warm"})
            for place, time in enumerate(times)
        ]

    directories.write("old", rows(1))
    directories.write("new", rows(1.5))
    assert invoke("old", "new").exit_code == 0
    result = invoke("old", "new", "--max-slowdown", "1.2")
    assert result.exit_code == 1
    told = "regression: dwt-dct: warm calls take 1.5 times as long, at most 1.2 allowed (noise 1.5 to 1.5)"
    assert result.stdout.splitlines()[-1] == told


def test_json_has_all_that_the_lines_say(here, directories):
    directories.write("old", [directories.row("a"), directories.row("b")])
    directories.write("new", [directories.row("a", "not_detected"), directories.row("c")])
    result = invoke("old", "new", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (document["schema_version"], document["compared"]) == (1, "runs")
    assert (document["old"]["name"], document["new"]["name"]) == ("old", "new")
    assert document["old"]["evidence_sha256"] == hashlib.sha256((here / "old" / "evidence.jsonl").read_bytes()).hexdigest()
    assert document["rows"]["paired"] == 1
    assert document["changes"]["newly_wrong"]["count"] == 1
    assert document["rule"] == {
        "allow_flips": 0,
        "allow_lost": 0,
        "alpha": 0.05,
        "measured": "shown",
        "max_slowdown": None,
    }
    assert [reason["rule"] for reason in document["regressions"]] == ["newly_wrong"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": "another"}, 'dwt-dct is not the same detector: name was "dwt-dct" and is "another"'),
        ({"rule": "more bits"}, 'dwt-dct is not the same detector: rule was "bits" and is "more bits"'),
        ({"options": {"tier": "pro"}}, 'dwt-dct is not the same detector: option tier was null and is "pro"'),
    ],
)
def test_another_detector_is_refused(here, directories, change, told):
    one = directories.row("a")
    directories.write("old", [one])
    directories.write("new", [{**one, "adapter": {**one["adapter"], **change}}])
    result = invoke("old", "new")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {told}\n"


def test_another_rule_is_compared_when_that_is_accepted(here, directories):
    one = directories.row("a")
    directories.write("old", [one])
    directories.write("new", [{**one, "adapter": {**one["adapter"], "rule": "more bits"}}])
    result = invoke("old", "new", "--accept", "rule")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1] == "dwt-dct: other rule"


def test_another_artifact_is_refused(here, directories):
    one = directories.row("a")
    directories.write("old", [one])
    directories.write("new", [{**one, "artifact": {"sha256": "f" * 64, "decoding": None}}])
    result = invoke("old", "new")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(
        "Error: a is not the same case on both sides: artifact (ca978112ca1b then, ffffffffffff now)"
    )


def test_what_else_differs_is_noted(here, directories):
    directories.write("old", [directories.row("a")])
    directories.write(
        "new",
        [directories.row("a")],
        options={"network": "allow"},
        versions={"python": "3.12.1", "numpy": "2.4.6"},
        package={"name": "pytest-benchbench", "version": "2", "kernel_sha256": "d" * 64},
        machine={"system": "Linux", "processors": 8},
    )
    assert invoke("old", "new").stderr.splitlines() == [
        "note: the sources of pytest-benchbench differ",
        "note: another machine: times are not comparable",
        "note: option network: loopback -> allow",
        "note: versions of python differ: 3.11.7, 3.12.1",
    ]


def test_files_of_evidence_are_compared_too(here, directories):
    directories.write("old", [directories.row("a")])
    (here / "saved.jsonl").write_bytes((here / "old" / "evidence.jsonl").read_bytes())
    assert invoke("saved.jsonl", "old/evidence.jsonl").exit_code == 0


def both(directories, *verdicts):
    """Give rows of two adapters about the same files."""
    for place, (one, other) in enumerate(verdicts):
        for adapter, status in (("x", one), ("y", other)):
            row = directories.row(f"{adapter}{place}", status, adapter=adapter)
            sha256 = hashlib.sha256(b"%d" % place).hexdigest()
            yield {**row, "artifact": {"sha256": sha256, "decoding": None}, "case": {**row["case"], "pair_id": f"p{place}"}}


def test_two_adapters_of_one_run_are_compared_without_a_verdict(here, directories):
    verdicts = [("detected", "detected"), ("detected", "not_detected"), ("not_detected", "not_detected")]
    directories.write("run", both(directories, *verdicts))
    result = invoke("run", "--adapters", "x", "y")
    assert result.exit_code == 0
    printed = result.stdout.splitlines()
    assert printed[:3] == ["x and y in one run", "3 pairs of rows; only of x: 0; only of y: 0", "right by x alone: 1"]
    assert "as expected, x and y:" in printed
    document = json.loads(invoke("run", "--adapters", "x", "y", "--json").stdout)
    assert (document["compared"], document["regressions"]) == ("adapters", None)
    (line,) = document["lines"]
    assert (line["artifacts"]["only_old"], line["artifacts"]["only_new"]) == (1, 0)


def test_two_adapters_that_were_asked_about_other_files_have_nothing_in_common(here, directories):
    rows = list(both(directories, ("detected", "detected"), ("detected", "detected")))
    directories.write("run", [rows[0], rows[3]])
    result = invoke("run", "--adapters", "x", "y")
    assert result.exit_code == 2
    assert result.stderr.endswith("no row is on both sides: the adapters were asked about other artifacts\n")


def test_an_adapter_that_is_not_there_is_named(here, directories):
    directories.write("run", both(directories, ("detected", "detected")))
    result = invoke("run", "--adapters", "x", "z")
    assert (result.exit_code, result.stderr) == (2, "Error: run: z gave no verdict there; adapters that did: x, y\n")


@pytest.fixture
def figures(here):
    def write(name, *documents):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("\n".join(map(json.dumps, documents)))

    return write


def test_figures_that_got_worse_are_exit_1(figures):
    figures("old.json", FIGURES)
    worse = {"figures": {"processor seconds": 14.0}, "samples": {"processor": [13.9, 14.0, 14.1]}}
    figures("new.json", {**FIGURES, **worse})
    result = invoke("old.json", "new.json")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "regression: processor seconds: 1.4 times as bad, at most 1.2 allowed"
    assert invoke("old.json", "new.json", "--max-slowdown", "1.5").exit_code == 0
    assert invoke("new.json", "old.json").exit_code == 0
    assert json.loads(invoke("old.json", "new.json", "--json").stdout)["compared"] == "figures"


def test_figures_compared_with_themselves_are_no_regression(figures):
    figures("old.json", FIGURES)
    assert invoke("old.json", "old.json").exit_code == 0


def test_profiles_are_compared_by_their_folders(figures):
    name = "cases.jsonl peak_mib p50"
    profile = {**FIGURES, "benchmark": "profile", "figures": {name: 100.0}}
    figures("old/profile.json", {**profile, "samples": {"cases.jsonl": {"peak_mib": [99.0, 100.0, 101.0]}}})
    more = {"figures": {name: 150.0}, "samples": {"cases.jsonl": {"peak_mib": [149.0, 150.0, 151.0]}}}
    figures("new/profile.json", {**profile, **more})
    result = invoke("old", "new")
    assert result.exit_code == 1
    assert f"regression: {name}: 1.5 times as bad, at most 1.2 allowed" in result.stdout


def test_other_measurements_are_compared_when_that_is_accepted(figures):
    figures("old.json", FIGURES)
    figures("new.json", {**FIGURES, "parameters": {"rows": 10}})
    result = invoke("old.json", "new.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert invoke("old.json", "new.json", "--accept", "rows").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["one"],
        ["one", "absent"],
        ["one", "one", "--adapters", "x", "y"],
        ["one", "--adapters", "dwt-dct", "dwt-dct"],
        ["figures.json", "--adapters", "x", "y"],
        ["one", "figures.json"],
        ["one", "one", "--alpha", "1"],
        ["one", "one", "--max-slowdown", "1"],
        ["one", "one", "--allow-flips", "-1"],
        ["one", "empty"],
        ["one", "other"],
        ["figures.json", "broken.json"],
        ["one", "damaged.jsonl"],
    ],
)
def test_what_cannot_be_compared_is_exit_2_in_one_line(figures, here, directories, arguments):
    directories.write("one", [directories.row("a")])
    directories.write("other", [directories.row("b")])
    figures("figures.json", FIGURES)
    (here / "broken.json").write_text("{")
    (here / "damaged.jsonl").write_text("{}\n")
    (here / "empty").mkdir()
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith("Error: ")
