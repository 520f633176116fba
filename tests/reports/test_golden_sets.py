"""Golden sets in a report, and the benchmark of one run."""

import json
import random

import jsonschema
import pytest

from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.reports.benchmark_document import lacks_of
from pytest_benchbench.reports.detector_benchmark import read_benchmark
from pytest_benchbench.reports.detector_benchmark_schema import detector_benchmark_schema
from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.reports.report_folder import write_report
from pytest_benchbench.reports.split_results import Asked

SERVICE = {"vendor": "v", "plan": "p", "apiVersion": "2", "requestedModel": "m", "model": "m", "mixed": "ai"}


@pytest.fixture
def rows(golden):
    """Two detectors on four samples; one of them has no score of the shortest."""
    found = []
    for place, (sample, label) in enumerate((("a", "ai"), ("b", "human"), ("c", "ai"), ("d", "human"))):
        pair_of = "a" if sample == "c" else None
        scorer = {**SERVICE, "latencyMs": 100.0 + place, "recorded": place == 0}
        told = {"pair_of": pair_of, "category": "short" if sample == "d" else "essay"}
        found.append(golden.row(sample, label, 25.0 * place, adapter="remote", scorer=scorer, **told))
        found.append(golden.row(sample, label, 60.0, status="too-small" if sample == "d" else "scored", **told))
    return found


@pytest.fixture
def benchmark(directories, golden, tmp_path):
    """Give the benchmark of a run's report, read back and held against its schema."""

    def benchmark_of(rows, *, about=None, asked=None, **run):
        number = len(list(tmp_path.iterdir()))
        path = directories.write(f"run-{number}", rows, manifests=golden.manifests(**(about or {})), **run)
        folder = write_report([path], tmp_path / f"report-{number}", asked=asked or Asked(), page=False).path
        document = json.loads((folder / "benchmark.json").read_text())
        jsonschema.Draft202012Validator(detector_benchmark_schema()).validate(document)
        return read_benchmark(folder / "benchmark.json")

    return benchmark_of


def test_the_parts_of_a_report(report, golden, rows):
    document = report(rows, {"manifests": golden.manifests()})
    (found,) = document["results"]["golden_sets"]
    assert found["goldenSet"] == {"name": "Texts", "version": "v1", "status": "final", "sha256": golden.SET}
    assert (found["split"], found["threshold"], "banner" in found) == ("holdout", 50, False)
    remote, zippy = found["detectors"]
    assert remote["confusion"] == {"tp": 1, "fp": 1, "tn": 1, "fn": 1}
    assert (zippy["planned"], zippy["scored"], zippy["errors"], zippy["statuses"]) == (4, 3, 1, {"too-small": 1})
    assert zippy["confusion"] == {"tp": 2, "fp": 1, "tn": 0, "fn": 0}  # the one without a score is no human
    assert remote["scores"] == {"a": 0.0, "b": 25.0, "c": 50.0, "d": 75.0}
    assert (remote["humanizerBypass"]["k"], remote["humanizerBypass"]["n"]) == (0, 1)
    assert found["commonSubset"]["excluded"] == [{"id": "d", "detectors": ["zippy"]}]
    assert found["pairs"] == []
    (timed,) = document["detector_timing"]
    assert (timed["detectors"]["remote"]["n"], timed["detectors"]["remote"]["recorded"]) == (4, 1)


def test_the_order_of_evidence_does_not_show(report, rows):
    shuffled = random.Random(7).sample(rows, len(rows))
    assert json.dumps(report(rows)["results"]) == json.dumps(report(shuffled)["results"])


def test_times_are_in_no_result(report, golden, rows):
    slower = [{**row, "detection": {**row["detection"], "adapter_elapsed_ms": 77.0}} for row in rows]
    assert json.dumps(report(rows)["results"]) == json.dumps(report(slower)["results"])


def test_a_report_without_golden_sets_has_no_such_part(report, row):
    document = report([row("a")])
    assert "golden_sets" not in document["results"]
    assert "detector_timing" not in document


@pytest.mark.parametrize(
    ("about", "banner"),
    [({"status": "example"}, "example set: no claim"), ({"status": None}, "status of the set unknown: no claim")],
)
def test_no_rendering_is_without_the_banner(report, golden, rows, about, banner, benchmark):
    document = report(rows, {"manifests": golden.manifests(**about)})
    assert terminal_lines(document).count(banner) == 1
    head, _, rest = render_markdown(document).partition("8 rows")
    assert f"**{banner}**" in head
    assert f"**{banner}**" in rest
    if about["status"]:
        assert benchmark(rows, about=about).banner == banner


def test_the_banner_is_on_the_page_and_in_a_jobs_summary(report, golden, rows, tmp_path, directories):
    pytest.importorskip("jinja2")
    from pytest_benchbench.reports.github import render_summary

    document = report(rows, {"manifests": golden.manifests(status="example")})
    for is_short in (False, True):
        assert "**example set: no claim**" in render_summary(document, None, report="r", is_short=is_short)
    path = directories.write("run", rows, manifests=golden.manifests(status="example"))
    page = (write_report([path], tmp_path / "report", page=True).path / "report.html").read_text()
    assert page.count("example set: no claim") >= 2
    assert "Text detectors: Texts v1, split holdout" in page


def test_scores_of_golden_sets_alone_are_in_no_table_of_verdicts(report, golden, rows, tmp_path, directories):
    from pytest_benchbench.reports.github import render_summary

    document = report(rows, {"manifests": golden.manifests()})
    shown = render_markdown(document)
    assert "## Text detectors: Texts v1" in shown
    assert "What the detectors recognised" not in shown
    assert "state" not in shown.partition("## Text detectors")[2].partition("## Inputs")[0]
    assert "recognised" not in render_summary(document, None, report="r")
    assert terminal_lines(document)[1:3] == ["adapter  rows  scored  error", "remote      4       4      0"]


def test_texts_that_nobody_could_be_asked_about_are_not_counted_as_undetected(report, golden):
    rows = [golden.row(name, "ai", None, status="unavailable") for name in "ab"]
    lines = terminal_lines(report(rows, {"manifests": golden.manifests()}))
    assert "adapter  rows  unavailable" in lines


def test_other_rows_beside_a_golden_set_keep_their_tables(report, golden, rows, row):
    from pytest_benchbench.reports.github import render_summary

    document = report([*rows, row("m")], {"manifests": golden.manifests()})
    shown = render_markdown(document)
    table = shown.partition("### By adapter and state")[2].partition("###")[0]
    assert "| dwt-dct |" in table
    assert "zippy" not in table
    assert "zippy" not in render_summary(document, None, report="r").partition("recognised, by state")[2]
    assert any("adapter  state" in line for line in terminal_lines(document))


def test_an_adapter_that_answered_about_something_else_too_keeps_its_lines(report, golden, rows, row):
    both = {**row("m"), "key": {**row("m")["key"], "adapter": "zippy"}}
    shown = render_markdown(report([*rows, both], {"manifests": golden.manifests()}))
    assert "| zippy |" in shown.partition("### By adapter and state")[2].partition("###")[0]


def test_a_table_that_was_asked_for_is_shown_of_golden_sets_too(report, golden, rows):
    shown = render_markdown(report(rows, {"manifests": golden.manifests()}, by=["category"]))
    assert "### By category" in shown
    assert "### By adapter and state" not in shown


def test_the_page_has_no_verdicts_of_golden_sets(directories, golden, rows, row, tmp_path):
    pytest.importorskip("jinja2")
    for name, found, count in (("golden", rows, 0), ("mixed", [*rows, row("m")], 1)):
        path = directories.write(name, found, manifests=golden.manifests())
        page = (write_report([path], tmp_path / f"{name}-report", page=True).path / "report.html").read_text()
        assert page.count('<h2 id="recognised">') == count


def test_a_complete_run_of_the_holdout_split_has_an_entry(benchmark, rows):
    found = benchmark(rows)
    (entry,) = found.versionHistory
    assert found.run.complete
    assert (entry.runId, entry.split, entry.commit, entry.date) == (found.run.id, "holdout", "abc", found.run.started)
    assert [identity.name for identity in entry.detectors] == ["remote", "zippy"]
    assert (entry.detectors[0].vendor, entry.detectors[0].apiVersion) == ("v", "2")


@pytest.mark.parametrize(
    "run",
    [
        {"lost": 1},
        {"left_out": 1},
        {"options": {"select": ["category=essay"]}},
        {"shard": "1/2"},
        {"interrupted": True},
    ],
)
def test_a_run_that_is_not_whole_has_none(benchmark, rows, run):
    found = benchmark(rows, **run)
    assert not found.run.complete
    assert found.run.gaps
    assert found.versionHistory == ()


def test_an_answer_that_nobody_asked_for_is_a_gap(benchmark, golden, rows):
    found = benchmark([*rows[:-1], golden.row("d", "human", category="short", status="error", outcome="not_run")])
    assert found.detectors[1].notRun == 1
    assert not found.run.complete


def test_the_tune_split_has_none(benchmark, golden):
    found = benchmark([golden.row(split="tune")])
    assert (found.run.complete, found.split, found.versionHistory) == (True, "tune", ())


def test_a_detector_that_scored_nothing_is_in_no_entry(benchmark, golden, rows):
    silent = [
        golden.row(sample, "ai" if sample in "ac" else "human", adapter="gone", status="unavailable") for sample in "ab"
    ]
    changed = [
        {**row, "case": next(r["case"] for r in rows if r["key"]["case_id"] == row["key"]["case_id"])} for row in silent
    ]
    found = benchmark([*rows, *changed])
    assert found.commonSubset.silent == ("gone",)
    assert found.commonSubset.n == 3
    assert [identity.name for identity in found.versionHistory[0].detectors] == ["remote", "zippy"]
    (gone,) = (line for line in found.detectors if line.alias == "gone")
    assert (gone.unavailable, gone.errors, gone.accuracy.value, gone.latencyMs.p50) == (2, 0, None, None)


def test_a_model_that_changes_within_a_run_is_told(benchmark, golden):
    rows = [golden.row(name, scorer={**SERVICE, "model": model}) for name, model in (("a", "m1"), ("b", "m2"), ("c", None))]
    (identity,) = (line.identity for line in benchmark(rows).detectors)
    assert (identity.model, identity.varying, identity.vendor) == (None, {"model": ("m1", "m2")}, "v")


def test_rows_of_two_splits_are_refused(report, golden):
    with pytest.raises(EvidenceError, match=r"'b': case.split: tune, and holdout in other rows"):
        report([golden.row("a"), golden.row("b", split="tune")])


def test_rows_that_disagree_about_a_sample_are_refused(report, golden):
    with pytest.raises(EvidenceError, match="says something else of the sample"):
        report([golden.row("a"), golden.row("a", "human", adapter="other")])


def test_only_declared_pairs_are_compared(benchmark, rows):
    (pair,) = benchmark(rows, asked=Asked(pairs=(("zippy", "remote"),))).pairs
    assert (pair.a, pair.b, pair.n, pair.p == pair.adjustedP) == ("zippy", "remote", 3, True)


def test_what_a_run_lacks_is_said_once():
    assert lacks_of({}, lost=1, left_out=2, gaps=()) == ["1 row lost", "2 rows left out"]
    assert lacks_of({}, lost=1, left_out=0, gaps=["a part is missing"]) == ["a part is missing"]
    assert lacks_of({"interrupted": True}, lost=0, left_out=0, gaps=()) == ["the run was interrupted"]
