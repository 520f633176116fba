"""Which columns the lines of a report have, and what stands in them."""

import pytest

from pytest_benchbench.reports.html.columns_of import fields_of, identity_of
from pytest_benchbench.reports.html.view import NOTHING, table_of

RATE = {"k": 3, "n": 4, "rate": 0.75, "wilson95_low": 0.3006, "wilson95_high": 0.9544}
NO_RATE = {"k": 0, "n": 0, "rate": None, "wilson95_low": None, "wilson95_high": None}


@pytest.fixture
def shown():
    def of(*lines):
        lines = [{"suite": "s", "params": None, "adapter": "dwt-dct", **line} for line in lines]
        table = table_of("t", "T", lines, fields_of(lines, identity_of(lines)))
        titles = [column.title for column in table.columns]
        return [dict(zip(titles, row, strict=True)) for row in table.rows]

    return of


def test_a_rate_has_its_counts_and_its_interval(shown):
    (line,) = shown({"detected_rate_of_artifacts": RATE})
    assert (line["rate (k/n)"].text, line["rate (k/n)"].sort) == ("0.7500 (3/4)", "0.75")
    assert line["95 % interval"].text == "0.3006 to 0.9544"
    assert tuple(line["95 % interval"].range) == ("30.1", "95.4", "74.0")


def test_nothing_decided_is_a_dash_and_never_a_zero(shown):
    (line,) = shown({"detected_rate_of_artifacts": NO_RATE})
    assert (line["rate (k/n)"].text, line["95 % interval"].text) == (NOTHING, NOTHING)


def test_bases_and_the_interval_by_bases_stand_beside_the_rate(shown):
    bases = {"count": 2, "detected_in_all": {**RATE, "k": 1, "n": 2, "rate": 0.5}, "detected_in_any": RATE}
    clustered = {"low": 0.1, "high": 0.9, "effective_n": 2.5, "design_effect": 1.6}
    (line,) = shown({"bases": bases, "clustered95": clustered})
    assert line["bases"].text == "2"
    assert line["detected in all (bases)"].text == "0.5000 (1/2)"
    assert line["95 % interval by bases"].text == "0.1000 to 0.9000"
    assert line["effective n"].text == "2.5"


def test_ranges_are_least_middle_and_greatest(shown):
    accuracy = {"n": 5, "min": 0.5, "median": 0.75, "max": 1.0}
    first, second = shown({"psnr_db": accuracy, "ranges": {"mae": accuracy}}, {"psnr_db": None, "ranges": {}})
    assert first["psnr db (min / median / max)"].text == first["mae (min / median / max)"].text == "0.5 / 0.75 / 1"
    assert second["psnr db (min / median / max)"].text == second["mae (min / median / max)"].text == NOTHING


def test_columns_in_which_nothing_stands_are_left_out_but_verdicts_never(shown):
    (line,) = shown({"rows": 0, "rows_detected": 0, "rows_error": 0, "mcnemar_p": None, "odd": ""})
    assert list(line) == ["adapter", "rows", "detected"]


def test_suites_and_parameters_are_shown_where_they_differ(shown):
    first, _ = shown({"suite": "one"}, {"suite": "two"})
    assert list(first) == ["adapter", "suite"]


def test_members_that_nobody_expected_are_shown_too(shown):
    (line,) = shown({"rows": 1, "unheard_of": 4.25, "deep": {"a": 1}})
    assert (line["unheard of"].text, line["deep"].text) == ("4.25", "a=1")


def test_lines_beyond_the_most_are_counted(shown):
    lines = [{"adapter": "a", "rows": number} for number in range(5)]
    table = table_of("t", "T", lines, fields_of(lines, ("adapter",)), most=3)
    assert (len(table.rows), table.left_out) == (3, 2)
