"""Labelled rows on the page: the document's numbers, plots by class, and why there are none."""

import re

import pytest

from pytest_benchbench.evidence.reading import index_evidence
from pytest_benchbench.reports.html.cases import Cases
from pytest_benchbench.reports.html.page import render_html
from pytest_benchbench.reports.summary import Summary


@pytest.fixture
def page(score_files):
    """Write the page about plain rows, as evidence has them."""

    def of(rows):
        path = score_files.evidence(rows)
        summary, cases = Summary(), Cases()
        index_evidence(path).feed(summary.add, cases.add)
        return render_html(summary.report(path.name, "a" * 64, {}), cases=cases)

    return of


def table(page, id_):
    """Give the texts of a table's cells, row by row."""
    (found,) = re.findall(rf'<table[^>]*id="{id_}".*?</table>', page, re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", found, re.DOTALL)
    return [
        [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows
    ]


def test_the_page_has_figures_of_rows_and_of_bases(page, score_files):
    row = score_files.row
    rows = [row("a1", 1, 0.9), row("a2", 1, 0.1), row("r1", 0, 0.1), row("r2", 0, None, status="timeout")]
    text = page(rows)
    head, of_rows, of_bases = table(text, "labelled-0-score-table")
    assert head[:5] == ["of", "tp", "fn", "tn", "fp"]
    assert of_rows[:6] == ["rows", "1", "1", "1", "0", "0.5000 (1/2)"]
    assert of_bases[:6] == ["bases", "1", "1", "1", "1", "0.5000 (1/2)"]
    head, *lines = table(text, "labelled-0-score-source-table")
    assert {line[0] for line in lines} == {"camera", "collection"}
    assert "AI images told from real ones: onnx, test" in text
    assert "Spread of the score: onnx, test" in text
    assert "Reliability of the scores: onnx, test" in text


def test_a_series_without_figures_says_why(page, score_files):
    text = page([score_files.row("a"), score_files.row("b", modelSha256="b" * 64)])
    assert "No figures: modelSha256: rows differ in it" in text


def test_scores_that_are_none_are_warned_of(page, score_files):
    assert "all scores are equal; its figures say little" in page([score_files.row("a"), score_files.row("b", 0)])


def test_a_page_about_other_rows_has_no_such_section(directories):
    path = directories.write("run", [directories.row("a")]) / "evidence.jsonl"
    summary, cases = Summary(), Cases()
    index_evidence(path).feed(summary.add, cases.add)
    assert "AI images" not in render_html(summary.report(path.name, "a" * 64, {}), cases=cases)
