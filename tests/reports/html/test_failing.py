"""Which cases a page shows one by one."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.html.failing import SHOWN, FailingCases


@pytest.fixture(scope="module")
def failing(row):
    def take(*rows):
        cases = FailingCases()
        for given_row in rows:
            read = msgspec.convert(given_row, EvidenceRow)
            cases.add(SettledRow(read, read.outcome, False, 1, b""))
        return cases

    return take


@pytest.fixture(scope="module")
def wrong(row):
    return lambda number, **more: row(f"wrong-{number}", expected="detected", status="not_detected", line=number, **more)


@pytest.fixture(scope="module")
def broken(row):
    return lambda number: row(f"broken-{number}", status="error", error={"type": "OSError", "message": "gone"}, line=number)


def names(cases):
    return [case.row.key.case_id for case in cases.shown()]


def test_mismatches_come_before_errors_and_known_ones(failing, row, wrong, broken):
    rows = [wrong(1, known=True), broken(2), wrong(3), row("right"), row("missing", status="unavailable")]
    assert names(failing(*rows)) == ["wrong-3", "broken-2", "wrong-1"]
    assert failing(*rows).count() == 3


def test_errors_do_not_crowd_mismatches_out(failing, wrong, broken):
    cases = failing(*(broken(number) for number in range(500)), *(wrong(number) for number in range(500)))
    assert names(cases) == [f"wrong-{n}" for n in range(100)] + [f"broken-{n}" for n in range(100)]
    assert cases.count() == 1000


def test_a_lone_outcome_has_all_places(failing, wrong):
    assert names(failing(*(wrong(number) for number in range(300)))) == [f"wrong-{n}" for n in range(SHOWN)]


@given(st.permutations(range(12)))
def test_the_order_of_the_evidence_does_not_matter(failing, wrong, order):
    assert names(failing(*(wrong(number) for number in order))) == [f"wrong-{number}" for number in range(12)]


def test_a_long_series_is_left_out_and_a_short_one_kept(failing, wrong):
    short, long = failing(wrong(1, temporal={"frames": [0.5]}), wrong(2, temporal={"frames": [0.5] * 100_000})).shown()
    assert (short.row.detection.temporal, short.is_cut) == ({"frames": [0.5]}, False)
    assert (long.row.detection.temporal, long.is_cut) == (None, True)
