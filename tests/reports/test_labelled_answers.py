"""Labelled rows of two runs: a score that changes sides is a change, one that stays on its side is none."""

from dataclasses import asdict

import pytest

from pytest_benchbench.reports.comparison import CannotCompareError
from pytest_benchbench.reports.comparison_lines import comparison_lines
from pytest_benchbench.reports.regressions import RegressionRule, regressions


@pytest.fixture
def row(score_files):
    def evidence(row_id, label=1, score=0.9, base=None, **more):
        return score_files.evidence_row(score_files.row(row_id, label, score, **({"baseId": base} if base else {}), **more))

    return evidence


@pytest.mark.parametrize(
    ("label", "old", "new", "change"),
    [
        (1, 0.65, 0.99, "still_right"),
        (1, 0.65, 0.6499, "newly_wrong"),
        (0, 0.6499, 0.65, "newly_wrong"),
        (0, 0.65, 0.6499, "newly_right"),
        (0, 0.9, 0.7, "still_wrong"),
    ],
)
def test_a_score_is_held_against_the_label_at_the_threshold(row, compared, label, old, new, change):
    document = compared([row("a", label, old)], [row("a", label, new)]).document()
    assert {name: count for name, count in document["changes"]["counts"].items() if count} == {change: 1}


def test_a_changed_side_is_named_tested_by_base_and_a_regression(row, compared):
    old = [row(f"r{base}{copy}", 0, 0.1, f"r{base}") for base in range(8) for copy in "xy"]
    new = [row(f"r{base}{copy}", 0, 0.9 if copy == "x" else 0.2, f"r{base}") for base in range(8) for copy in "xy"]
    document = compared(old, new).document()
    (line,) = document["lines"]
    assert (line["quantity"], line["tested"], line["bases"]["n"], line["bases"]["new"]["k"]) == (
        "as_expected",
        "bases",
        8,
        0,
    )
    assert line["bases"]["mcnemar_p"] == pytest.approx(2 / 2**8)
    entry = document["changes"]["newly_wrong"]["listed"][0]
    assert (entry["expected"], entry["old"], entry["new"], entry["score"]) == ("real", "real", "AI", 0.9)
    found = regressions(document, RegressionRule(), is_incomplete=False)
    assert [reason["rule"] for reason in found] == ["newly_wrong", "significant_loss"]
    sides = {"compared": "runs", "old": {"name": "old"}, "new": {"name": "new"}}
    assert document["thresholds"] == {"dataset": 0.65}
    lines = comparison_lines({**document, **sides, "rule": asdict(RegressionRule()), "regressions": found})
    assert any("r0x: onnx: expected real, real -> AI (score 0.9)" in line for line in lines)


def test_a_score_that_is_gone_is_a_lost_verdict_whatever_the_label(row, compared):
    old = [row("a"), row("r", 0, 0.9)]
    new = [row("a", score=None, status="timeout"), row("r", 0, None, status="error")]
    assert compared(old, new).document()["changes"]["counts"]["verdict_lost"] == 2


def test_a_row_of_another_label_is_another_case(row, compared):
    with pytest.raises(CannotCompareError, match="label"):
        compared([row("a", 1)], [row("a", 0)]).check()


def test_where_every_answer_is_a_score_nothing_says_that_nothing_was_detected(row, report):
    from pytest_benchbench.reports.github import render_summary
    from pytest_benchbench.reports.html.columns_of import fields_of
    from pytest_benchbench.reports.html.view import table_of
    from pytest_benchbench.reports.lines import terminal_lines
    from pytest_benchbench.reports.markdown import render_markdown

    document = report([row("a"), row("r", 0, 0.2)])
    table = document["results"]["tables"]["adapter_state"]
    texts = [
        *terminal_lines(document),
        *(line for line in render_markdown(document).splitlines() if line.startswith("|")),
        *(column.title for column in table_of("t", "", table, fields_of(table, ["adapter"])).columns),
        *(line for line in render_summary(document, None, report="r").splitlines() if line.startswith(("|", "-"))),
    ]
    assert not [text for text in texts if "detected" in text and "rate" not in text]
    assert any("AI recall 1.0000 (1/1" in text for text in texts if text.startswith("- "))


@pytest.mark.parametrize(
    ("more", "mood", "headline"),
    [
        ([], "warn", "2 rows scored, and no rule decided about them"),
        ([{"row_id": "e", "score": None, "status": "timeout"}], "bad", "1 of 3 rows is without a score"),
    ],
)
def test_a_page_of_scores_does_not_say_that_nothing_was_wrong(row, report, more, mood, headline):
    from pytest_benchbench.reports.html.verdict import verdict_of

    found = verdict_of(report([row("a", 1, 0.1), row("r", 0, 0.2), *(row(**each) for each in more)]), None)
    assert (found.mood, found.headline) == (mood, headline)
    assert any("AI recall 0.0000" in line for line in found.lines)


def test_a_page_shows_rows_on_the_wrong_side_one_by_one(row):
    import msgspec

    from pytest_benchbench.evidence.observation import EvidenceRow
    from pytest_benchbench.evidence.reading import SettledRow
    from pytest_benchbench.reports.html.case_cards import case_cards
    from pytest_benchbench.reports.html.cases import Cases

    cases = Cases()
    for given_row in [row("a"), row("missed", 1, 0.64), row("alarm", 0, 0.65), row("r", 0, 0.1)]:
        read = msgspec.convert(given_row, EvidenceRow)
        cases.add(SettledRow(read, read.outcome, False, 1, b""))
    cards = case_cards(cases.shown(), {})
    assert [(card.title, card.outcome, card.line) for card in cards] == [
        ("alarm", "wrong_score", "onnx: expected real, observed AI"),
        ("missed", "wrong_score", "onnx: expected AI, observed real"),
    ]
