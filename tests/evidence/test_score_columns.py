"""Score rows as columns."""

import numpy as np
import pytest

from pytest_benchbench.evidence.score_columns import FACETS, ScoreColumns
from pytest_benchbench.evidence.score_rows import ScoreRow, read_scores


@pytest.fixture
def columns(score_files):
    row = score_files.row
    rows = [
        row("b~jpeg", 0, 0.25, pixelScore=0.5),
        row("a", 1, None, rawScore=1, source="x"),
        row("ü", None, None, status="timeout", source=None, baseId=None),
        row("b", 0, 0),
    ]
    path = score_files.write(rows)
    return ScoreColumns.of(read_scores(path), path)


def test_numbers_are_kept_and_what_is_absent_is_no_number(columns):
    assert len(columns) == 4
    assert columns.label.tolist() == [0, 1, -1, 0]
    np.testing.assert_array_equal(columns.score, [0.25, np.nan, np.nan, 0])
    np.testing.assert_array_equal(columns.raw_score, [np.nan, 1, np.nan, np.nan])
    np.testing.assert_array_equal(columns.pixel_score, [0.5, np.nan, np.nan, np.nan])
    assert columns.is_scored.tolist() == [True, False, False, True]


def test_bases_have_numbers_and_names(columns):
    assert columns.base.tolist() == [0, 1, -1, 0]
    assert columns.base_names == ("b", "a")


def test_facets_have_sorted_values_with_nothing_first(columns):
    codes, values = columns.facet("source")
    assert values == (None, "camera", "x")
    assert codes.tolist() == [1, 2, 0, 1]
    assert columns.facet("status").values == ("scored", "timeout")
    assert columns.facet("adapter").values == (None,)
    assert {name: len(columns.facet(name).codes) for name in FACETS} == dict.fromkeys(FACETS, 4)


def test_rows_are_named_as_people_find_them(columns, tmp_path):
    assert [columns.id(place) for place in range(4)] == ["b~jpeg", "a", "ü", "b"]
    assert columns.place(2) == f"{tmp_path / 'scores.jsonl'}:3"


def test_an_unknown_facet_is_refused(columns):
    with pytest.raises(ValueError, match="not in tuple"):
        columns.facet("licence")


def test_no_rows_give_empty_columns():
    columns = ScoreColumns("none")
    assert (len(columns), columns.score.shape, columns.base_names) == (0, (0,), ())
    assert columns.facet("source") == (pytest.approx([]), ())


def test_rows_can_be_taken_while_columns_are_in_use():
    columns = ScoreColumns("scores.jsonl")
    columns.add(ScoreRow(id="a", status="scored", score=-0.0))
    before = columns.score
    columns.add(ScoreRow(id="b", status="scored", score=0.5))
    assert before.tolist() == [0.0]
    assert not np.signbit(before).any(), "no -0: which of two zeros is the smaller would show the order of rows"
    assert len(columns.score) == 2
