"""What of a row is its detector's identity and its call's time."""

import msgspec
import pytest

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.detector_tally import Call, GoldenSetRows


@pytest.fixture
def answered(golden):
    """Give what rows of one detector come to."""

    def of_rows(*rows):
        taken = GoldenSetRows()
        for row in rows:
            found = msgspec.convert(row, EvidenceRow)
            taken.add(SettledRow(found, found.outcome, False, 1, b""))
        (split,) = taken.splits()
        return split.by_alias()

    return of_rows


def call_of(answered, golden, **row):
    (found,) = answered(golden.row(**row)).values()
    return (found.calls, found.untimed)


SHARED = {"size": 8, "elapsed_ms": 900.0}


@pytest.mark.parametrize(
    ("row", "calls", "untimed"),
    [
        ({}, [Call(1.5, False, False)], 0),
        ({"call": "cold"}, [Call(1.5, True, False)], 0),
        ({"scorer": {"latencyMs": 300}}, [Call(300.0, False, False)], 0),
        ({"scorer": {"latencyMs": 300}, "call": "cold"}, [Call(300.0, True, False)], 0),
        ({"scorer": {"latencyMs": 300}, "call": "cold", "elapsed": None, "batch": SHARED}, [Call(300.0, False, False)], 0),
        ({"scorer": {"latencyMs": 300, "recorded": True}, "call": "cold"}, [Call(300.0, False, True)], 0),
        ({"scorer": {"recorded": True}}, [], 1),
        ({"elapsed": None, "batch": SHARED}, [], 1),
        ({"scorer": {"latencyMs": -1}}, [Call(1.5, False, False)], 0),
        ({"scorer": {"latencyMs": 10**400}}, [Call(1.5, False, False)], 0),
        ({"scorer": {"latencyMs": float("nan")}}, [Call(1.5, False, False)], 0),
        ({"scorer": {"latencyMs": True}}, [Call(1.5, False, False)], 0),
        ({"scorer": {"latencyMs": "300"}}, [Call(1.5, False, False)], 0),
        ({"status": "error"}, [], 0),
    ],
)
def test_the_time_of_a_call(answered, golden, row, calls, untimed):
    assert call_of(answered, golden, **row) == (calls, untimed)


def test_what_answered_is_told_by_rows_with_a_score(answered, golden):
    (found,) = answered(
        golden.row("a", scorer={"vendor": "v", "model": {"no": "text"}}),
        golden.row("b", status="error", scorer={"vendor": "other"}),
    ).values()
    identity = found.identity()
    assert (identity.vendor, identity.model, identity.varying) == ("v", "{'no': 'text'}", {})


def test_where_nothing_answered_it_is_what_was_to_answer(answered, golden):
    (found,) = answered(golden.row("a", status="unavailable", scorer={"vendor": "v"})).values()
    assert (found.identity().name, found.identity().vendor) == ("zippy", "v")


def test_suites_and_parameters_make_names_of_their_own(answered, golden):
    plain = golden.row("a")
    several = [{**plain, "key": {**plain["key"], "params": params}} for params in ("p1", "p2")]
    assert list(answered(*several)) == ["zippy[p1]", "zippy[p2]"]
    other = {**plain, "key": {**plain["key"], "suite": "mine.py::test_texts"}}
    assert list(answered(plain, other)) == ["golden.json::test_detection::zippy", "mine.py::test_texts::zippy"]
