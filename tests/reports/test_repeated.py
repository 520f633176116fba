"""A report about several runs, its numbers held against pandas over the rows of all files."""

import copy
import json
import random

import pandas
import pytest
from scipy.stats import binomtest

from pytest_benchbench.evidence.repeated_runs import RepeatedRuns
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.repeated import report_on
from pytest_benchbench.reports.summary import Summary, build_report


def report(*paths, by=(), **options):
    return report_on(RepeatedRuns.read(list(paths)), summary=Summary(by), **options)


@pytest.fixture
def three(directories, row):
    """Write three runs of the same 60 cases, some of them artifacts of others, with answers drawn anew in each."""

    def write(seed=5, started=(0, 1, 2)):
        drawn = random.Random(seed)
        paths = []
        for number, hour in enumerate(started, 1):
            rows = []
            for case in range(60):
                status = drawn.choices(["detected", "not_detected", "error", "unavailable"], [60, 25, 10, 5])[0]
                expected = "detected" if case % 3 else "unresolved"
                made = row(
                    f"c{case}",
                    status=status,
                    expected=expected,
                    state=("marked", "attacked", "clean")[case % 3],
                    transform=("none", "jpeg", "crop")[case // 3 % 3],
                    artifact=f"a{case // 2 if case % 3 == 0 else case}",
                    line=case + 1,
                    elapsed=drawn.uniform(1, 9),
                    call="warm" if case else "cold",
                    error={"type": "OSError", "message": f"no {number}"} if status == "error" else None,
                )
                rows.append(made)
            drawn.shuffle(rows)
            paths.append(directories.write(f"run-{number}", rows, started=f"2026-11-30T{hour:02}:00:00.000+00:00"))
        return paths

    return write


def frame_of(paths):
    rows = []
    for number, path in enumerate(paths, 1):
        for line in (path / "evidence.jsonl").read_text().splitlines():
            made = json.loads(line)
            case = made["case"]
            rows.append(
                {
                    "run": number,
                    "case": case["case_id"],
                    "state": case["state"],
                    "transform": case["transform"]["name"],
                    "artifact": made["artifact"]["sha256"],
                    "status": made["detection"]["status"],
                    "outcome": made["outcome"],
                    "elapsed": made["detection"]["adapter_elapsed_ms"],
                    "call": made["detection"]["call"],
                    "line": made["manifest"]["line"],
                }
            )
    return pandas.DataFrame(rows)


def test_every_number_is_that_of_pandas_over_all_rows(three):
    paths = three()
    document, frame = report(*paths), frame_of(paths)
    results = document["results"]
    assert results["rows"] == len(frame) == 180
    assert {name: count for name, count in results["outcomes"].items() if count} == frame.outcome.value_counts().to_dict()
    answered = frame[frame.status.isin(["detected", "not_detected"])]
    verdicts = answered.groupby("artifact").status.agg(lambda told: told.iloc[0] if told.nunique() == 1 else "conflicting")
    for line in results["tables"]["adapter_state"]:
        rows = frame[frame.state == line["state"]]
        of_state = verdicts[verdicts.index.isin(answered[answered.state == line["state"]].artifact)]
        assert line["rows"] == len(rows)
        for status in ("detected", "not_detected", "error", "unavailable"):
            assert line[f"rows_{status}"] == (rows.status == status).sum()
        k, n = (of_state == "detected").sum(), of_state.isin(["detected", "not_detected"]).sum()
        rate = line["detected_rate_of_artifacts"]
        interval = binomtest(k, n).proportion_ci(method="wilson")
        assert (rate["k"], rate["n"], line["artifacts_conflicting"]) == (k, n, (of_state == "conflicting").sum())
        assert (rate["wilson95_low"], rate["wilson95_high"]) == pytest.approx((interval.low, interval.high))
    assert results["conflicting_artifacts"]["count"] == (verdicts == "conflicting").sum()
    by_case = answered.groupby("case").status
    unstable = by_case.nunique()[lambda kinds: kinds > 1].index
    lines = frame.drop_duplicates("case").set_index("case").line
    listed = results["unstable_across_runs"]["listed"]
    assert [entry["case_id"] for entry in listed] == sorted(unstable, key=lambda case: lines[case])
    for entry in listed:
        told = answered[answered.case == entry["case_id"]].groupby("status").run.agg(sorted)
        assert entry["verdicts"] == told.to_dict()
        assert entry["line"] == lines[entry["case_id"]]
    assert results["repetition"] == {"runs": 3, "rows": 60, "rows_in_every_run": 60}
    warm = answered[answered.call == "warm"].elapsed
    timing = document["timing"]["dwt-dct"]["warm"]
    assert (timing["n"], timing["max_ms"]) == (len(warm), warm.max())
    assert timing["p50_ms"] == warm.quantile(0.5, interpolation="lower")


def test_each_run_has_its_own_cold_calls_and_rows(three):
    paths = three()
    document, frame = report(*paths), frame_of(paths)
    for number, (run, path) in enumerate(zip(document["runs"], paths, strict=True), 1):
        told = frame[
            (frame.run == number) & (frame.call == "cold") & frame.status.isin(["detected", "not_detected"])
        ].elapsed
        cold = {"dwt-dct": {"n": 1, "p50_ms": told.iloc[0], "max_ms": told.iloc[0]}} if len(told) else {}
        assert (run["run"], run["name"], run["rows"], run["cold"]) == (number, path.name, 60, cold)
        assert run["code"] == {"project_commit": "abc", "dirty": False, "kernel_sha256": "c" * 64}
    digests = [{"name": "evidence.jsonl", "sha256": run["evidence_sha256"]} for run in document["runs"]]
    assert document["inputs"]["evidence"] == digests
    assert document["inputs"]["run_ids"] == sorted(run["run_id"] for run in document["runs"])


def test_listed_rows_say_of_which_run_they_are(three):
    paths = three()
    document, frame = report(*paths), frame_of(paths)
    for name, outcome in (("mismatches", "mismatch"), ("errors", "error"), ("unavailable", "unavailable")):
        wanted = frame[frame.outcome == outcome].sort_values(["line", "run"])
        listed = document["results"][name]["listed"]
        assert [(entry["line"], entry["run"]) for entry in listed] == list(zip(wanted.line, wanted.run, strict=True))
    messages = {(entry["run"], entry["message"]) for entry in document["attempts"]["messages"]["listed"] if entry["message"]}
    assert messages == {(1, "no 1"), (2, "no 2"), (3, "no 3")}


def test_the_order_in_which_runs_are_given_changes_nothing(three):
    paths = three()
    once = encode_document(report(*paths))
    for given in (paths[::-1], [paths[1], paths[2], paths[0]]):
        assert encode_document(report(*given)) == once


def test_the_results_of_one_run_are_those_of_its_own_report(three):
    paths = three()
    alone = report(paths[0], by=["media_type"])
    own = build_report(paths[0] / "evidence.jsonl", json.loads((paths[0] / "run.json").read_text()), by=["media_type"])
    assert encode_document({name: alone[name] for name in own}) == encode_document(own)
    assert [run["rows"] for run in alone["runs"]] == [60]


def test_repeating_a_deterministic_run_changes_no_rate(directories, row):
    rows = [row(f"c{n}", status="detected" if n % 3 else "not_detected", line=n + 1) for n in range(12)]
    paths = [
        directories.write(f"run-{number}", copy.deepcopy(rows), started=f"2026-11-30T0{number}:00:00.000+00:00")
        for number in range(4)
    ]
    one, four = report(paths[0])["results"], report(*paths)["results"]
    assert four["rows"] == 4 * one["rows"]
    assert four["unstable_across_runs"] == four["conflicting_artifacts"] == {"count": 0, "listed": []}
    for name, lines in one["tables"].items():
        for line, other in zip(lines, four["tables"][name], strict=True):
            kept = [field for field in line if not field.startswith("rows")]
            assert {field: line[field] for field in kept} == {field: other[field] for field in kept}
            assert other["rows_detected"] == 4 * line["rows_detected"]
    assert one["transitions"] == four["transitions"]


def test_what_runs_lack_and_in_what_they_differ_is_said(directories, row):
    one = directories.write("one", [row("a")], lost=2, versions={"python": "3.11.7", "numpy": "2.4.6"})
    other = directories.write(
        "other", [row("a", run_id="x")], finished=None, planned=None, versions={"python": "3.12.0", "numpy": "2.4.6"},
        started="2026-11-30T03:00:00.000+00:00", project={"commit": "def", "dirty": False},
    )  # fmt: skip
    environment = report(one, other)["environment"]
    assert environment["gaps"] == ["run 1 (one): 2 rows lost", "run 2 (other): never finished"]
    assert environment["notes"] == ["runs differ in the project's commit", "versions of python differ: 3.11.7, 3.12.0"]
    assert environment["versions"] == {"python": None, "numpy": "2.4.6"}
    assert "planned" not in environment
    markdown = render_markdown(report(one, other))
    assert "- Gap: run 1 (one): 2 rows lost\n- Gap: run 2 (other): never finished\n" in markdown
    assert "- Note: runs differ in the project's commit\n- Note: versions of python differ" in markdown


def test_evidence_that_is_not_what_the_report_was_made_from_is_a_gap(directories, row):
    path = directories.write("one", [row("a")])
    (path / "report.json").write_text(json.dumps({"inputs": {"evidence": {"sha256": "f" * 64}}}))
    assert report(path)["environment"]["gaps"] == ["no report was made from its evidence as it is"]


def test_a_table_by_a_field_is_that_of_pandas(three):
    paths = three()
    frame = frame_of(paths)
    lines = report(*paths, by=["transform.name"])["results"]["by"]["transform.name"]
    assert {line["value"]: line["rows"] for line in lines} == frame["transform"].value_counts().to_dict()


def test_markdown_names_the_runs_and_what_they_disagree_about(three):
    document = report(*three())
    markdown = render_markdown(document)
    count = document["results"]["unstable_across_runs"]["count"]
    assert "## Runs: 3\n" in markdown
    assert "These are 60 planned rows; 60 of them every run has." in markdown
    assert f"## Rows about which the runs disagree: {count}\n" in markdown
    entry = document["results"]["unstable_across_runs"]["listed"][0]
    told = " ".join(f"{verdict}={', '.join(map(str, runs))}" for verdict, runs in entry["verdicts"].items())
    assert f"| cases.jsonl:{entry['line']} | {entry['case_id']} | dwt-dct | {told} |" in markdown
    assert "| manifest | case | run | adapter | expected | observed | reason |" in markdown
    for run in document["runs"]:
        assert run["evidence_sha256"] in markdown


def test_progress_tells_the_bytes_of_both_passes_and_no_more(directories, row):
    rows = [row(f"c{number}", line=number + 1) for number in range(2500)]
    paths = [
        directories.write(f"run-{number}", rows, started=f"2026-11-30T0{number}:00:00.000+00:00") for number in range(2)
    ]
    size = sum((path / "evidence.jsonl").stat().st_size for path in paths)
    told = []
    runs = RepeatedRuns.read(paths, told.append)
    indexed = sum(told)
    report_on(runs, progress=told.append)
    assert min(told) > 0
    assert 0.7 * size < indexed <= size
    assert 0.9 * size < sum(told) - indexed <= size
