"""The part of a report about labelled rows."""

import json

import pytest

from pytest_benchbench.reports.lines import terminal_lines
from pytest_benchbench.reports.markdown import render_markdown


@pytest.fixture
def row(score_files):
    """Give a row of evidence of a dataset."""

    def evidence(row_id, label=1, score=0.9, **more):
        of_evidence = {name: more.pop(name) for name in ("adapter", "outcome", "key") if name in more}
        return score_files.evidence_row(score_files.row(row_id, label, score, **more), **of_evidence)

    return evidence


def evaluation(document):
    return document["results"]["evaluation"]["series"]


def test_a_report_without_labelled_rows_has_no_such_part(report, directories):
    assert "evaluation" not in report([directories.row("a")])["results"]


def test_labelled_rows_have_figures(report, row):
    document = report([row("a1"), row("a2", score=0.1), row("r1", 0, 0.1), row("r2", 0, None, status="timeout")])
    (line,) = evaluation(document)
    assert (line["suite"], line["params"], line["adapter"], line["split"]) == (
        "benchmarks/test_ai_images.py::test_detection",
        None,
        "onnx",
        "test",
    )
    assert line["statuses"] == {"scored": 3, "timeout": 1}
    overall = line["scores"]["score"]["overall"]
    assert overall["confusion"] == {"tp": 1, "fn": 1, "tn": 1, "fp": 0}
    assert overall["bases"]["confusion"] == {"tp": 1, "fn": 1, "tn": 1, "fp": 1}


def test_adapters_are_series_of_their_own(report, row):
    rows = [
        row(case, label, score, adapter=adapter)
        for adapter, score in (("x", 0.9), ("y", 0.1))
        for case, label in (("a", 1), ("r", 0))
    ]
    lines = evaluation(report(rows))
    assert [(line["adapter"], line["scores"]["score"]["overall"]["confusion"]["tp"]) for line in lines] == [
        ("x", 1),
        ("y", 0),
    ]


def test_an_adapter_that_gives_verdicts_has_no_figures_and_the_others_do(report, row):
    verdict = row("a", adapter="c2pa")
    verdict["detection"]["status"] = "detected"
    del verdict["detection"]["score"]
    first, second = evaluation(report([row("a"), verdict]))
    assert (first["adapter"], first["scores"], first["rows"]) == ("c2pa", {}, 0)
    assert (
        first["refused"] == "1 row is no score row, such as row 'a' (detection.status: 'detected' is a verdict, not a score)"
    )
    assert second["refused"] is None


def test_a_model_that_changed_within_a_run_has_no_figures(report, row):
    (line,) = evaluation(report([row("a"), row("b", modelSha256="b" * 64)]))
    assert line["refused"] == (
        f"modelSha256: rows differ in it ({'a' * 64} in row 'a', {'b' * 64} in row 'b'): their figures would be those of "
        "neither"
    )


def test_the_order_of_evidence_does_not_show(report, row):
    rows = [row(f"i{n}", n % 2, n / 20, adapter=adapter) for n in range(20) for adapter in ("x", "y")]
    assert json.dumps(report(rows)["results"]) == json.dumps(report(rows[::-1])["results"])


def test_people_are_told(report, row):
    document = report([row("a1"), row("a2", score=0.1), row("r1", 0, 0.1), row("r2", 0, None, status="timeout")])
    lines = terminal_lines(document)
    assert (
        "onnx, test: score: AI recall 0.5000 (1/2, at least 0.0945), "
        "real 0.5000 (1/2, at least 0.0945) of bases, 1 row without a score"
    ) in lines
    text = render_markdown(document)
    assert "## How well AI images are told from real ones" in text
    assert "| rows | 3 | 1 | 1 | 1 | 0 |" in text


def test_people_are_told_which_bases_lack_rows(report, row):
    """One shard of several has some rows of a base, and its bases fail for that alone."""
    from pytest_benchbench.reports.html.labelled import evaluation_sections

    rows = [row("a", transform="none"), row("a-jpeg", baseId="a", transform="jpeg-50"), row("b", transform="jpeg-50")]
    document = report(rows)
    lacking = "1 of 2 bases lack rows of required derivatives and count as failed (of rows: AI recall 3/3, real 0/0)"
    assert [line for line in terminal_lines(document) if line.endswith(f"of bases; {lacking}")]
    assert f"\n{lacking}.\n" in render_markdown(document)
    (section,) = evaluation_sections(document["results"])
    assert any(note.endswith(f": {lacking}.") for note in section.notes)
    whole = report([*rows, row("b-plain", baseId="b", transform="none")])
    assert not any("lack rows" in line for line in [*terminal_lines(whole), render_markdown(whole)])


def test_people_are_told_why_there_are_no_figures(report, row):
    document = report([row("a"), row("b", modelSha256="b" * 64)])
    assert any("no figures: modelSha256: rows differ" in line for line in terminal_lines(document))
    assert "No figures: modelSha256: rows differ" in render_markdown(document)


def test_several_runs_are_not_pooled(tmp_path, directories, row, valid):
    from pytest_benchbench.evidence.repeated_runs import RepeatedRuns
    from pytest_benchbench.reports.repeated import report_on

    rows = [row("a"), row("r", 0, 0.1)]
    paths = [directories.write(name, rows) for name in ("one", "two")]
    document = valid(report_on(RepeatedRuns.read(paths)))
    lines = evaluation(document)
    assert [line["run"] for line in lines] == [1, 2]
    assert [line["scores"]["score"]["overall"]["rows"] for line in lines] == [2, 2]
    assert "run 2" in render_markdown(document)


def test_suites_are_told_where_they_differ(report, row):
    rows = [row("a"), row("b")]
    rows[1]["key"]["suite"] = "other.py::test"
    told = [line for line in terminal_lines(report(rows)) if "AI recall" in line]
    assert [line.split(": ")[0] for line in told] == [
        "onnx, test, suite benchmarks/test_ai_images.py::test_detection",
        "onnx, test, suite other.py::test",
    ]


def test_raw_scores_are_in_the_short_report_only_where_there_are_no_others(report, row):
    def quantities(**more):
        told = terminal_lines(report([row("a", **more)]))
        return [line.split(": ")[1] for line in told if "AI recall" in line]

    assert quantities(rawScore=0.5, pixelScore=0.6) == ["score", "pixelScore"]
    assert quantities(score=None, rawScore=0.5) == ["rawScore"]
