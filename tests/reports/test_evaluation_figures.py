"""Figures of rows about which nobody was asked: no rate is made up from them."""

import pytest

from pytest_benchbench.evidence.score_columns import ScoreColumns
from pytest_benchbench.evidence.score_rows import read_scores
from pytest_benchbench.reports.evaluation import evaluate
from pytest_benchbench.reports.evaluation_markdown import evaluation_blocks, evaluation_lines


@pytest.fixture
def series(score_files):
    """Evaluate rows of one series, given as label, score and status."""

    def of(*told):
        rows = [
            score_files.row(f"{label}-{number}", label, score, status=status)
            for number, (label, score, status) in enumerate(told)
        ]
        source = read_scores(score_files.write(rows))
        (line,) = evaluate(ScoreColumns.of(source, source.file))
        return line

    return of


@pytest.mark.parametrize("statuses", [("unavailable",), ("not_run",), ("unavailable", "not_run")], ids=str)
def test_where_nobody_could_be_asked_no_rate_is_known(series, statuses):
    line = series(*((label, None, statuses[n % len(statuses)]) for label in (0, 1) for n in range(2)))
    found = line["scores"]["score"]
    (of_slice,) = found["slices"]["contentGroup"]
    for bases in (found["overall"]["bases"], of_slice["bases"]):
        assert (bases["count"], bases["without_a_score"], set(bases["confusion"].values())) == (4, 4, {0})
        for name in ("ai_recall", "real_recall", "false_positive_rate", "precision"):
            assert (bases[name]["n"], bases[name]["rate"], bases[name]["wilson95_low"]) == (0, None, None)
        assert bases["balanced_accuracy"] is None
    assert (found["wrong_slices"], "/2)" in "\n".join(evaluation_blocks([line], 0.65))) == (0, False)
    assert evaluation_lines({"evaluation": {"series": [line]}}) == [
        "test: score: AI recall -, real - of bases, 4 rows without a score"
    ]


def test_where_somebody_was_asked_what_is_unavailable_fails(series):
    bases = series((1, 0.9, "scored"), (1, None, "unavailable"))["scores"]["score"]["overall"]["bases"]
    assert (bases["ai_recall"]["k"], bases["ai_recall"]["n"]) == (1, 2)
