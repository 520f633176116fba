"""Columns hold what rows say, whatever they say."""

import msgspec
import numpy as np
import pytest

from pytest_benchbench.evidence.grouping import standing
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow
from pytest_benchbench.reports import columns
from pytest_benchbench.reports.columns import FIDELITY, RowColumns
from pytest_benchbench.reports.facets import CaseField


def taken(rows, by=()):
    """Put rows into columns."""
    taker = RowColumns([CaseField(path) for path in by])
    for row in rows:
        read = msgspec.convert(row, EvidenceRow)
        settled = SettledRow(read, read.outcome, False, 1, b"")
        taker.add(settled, standing(settled))
    return taker.rows()


def attack(strength, family="jpeg"):
    return {"attack": {"family": family, "strength": strength}}


def test_a_row_is_told_apart_by_what_tables_group_by(row):
    source = {"source": {"provider": "p", "content_stratum": "night"}}
    rows = taken([row("a", transform="jpeg-75", parameters={**attack(75), **source}, state="attacked", expected="detected")])
    (kind,) = rows.kinds
    assert kind.series == ("suite.py::test_detection", None, "dwt-dct")
    assert (kind.standing, kind.outcome) == ("detected", "match")
    facets = kind.facets._asdict()
    assert facets == {
        "state": "attacked",
        "transform": "jpeg-75",
        "arm": "positive",
        "expected": "detected",
        "media_type": "image",
        "family": "jpeg",
        "strength": 75.0,
        "provider": "p",
        "content_stratum": "night",
        "fields": (),
    }


@pytest.mark.parametrize(("first", "second"), [(75, 75.0), (0.0, -0.0), (None, "low"), (None, [1]), (True, None)])
def test_strengths_that_are_one_number_or_none_are_one(row, first, second):
    for strengths in [(first, second), (second, first)]:
        rows = taken([row(f"c{i}", parameters=attack(strength)) for i, strength in enumerate(strengths)])
        assert len(rows.kinds) == 1
        assert str(rows.kinds[0].facets.strength) in {"75.0", "0.0", "None"}


@pytest.mark.parametrize("strengths", [(1, True), (True, 1)])
def test_a_strength_of_true_is_none(row, strengths):
    rows = taken([row(f"c{i}", parameters=attack(strength)) for i, strength in enumerate(strengths)])
    assert {kind.facets.strength for kind in rows.kinds} == {1.0, None}


@pytest.mark.parametrize("strange", [7, True, ["x"], {"x": 1}, None])
def test_what_is_no_text_is_told_as_nothing(row, strange):
    cases = [
        {"case_id": "a", "state": strange, "arm": strange, "transform": strange},
        {"case_id": "b", "transform": {"name": strange, "parameters": strange}},
        {"case_id": "c", "transform": {"parameters": {"attack": strange, "source": strange}}},
        {"case_id": "d", "transform": {"parameters": {"source": {"provider": strange}, "attack": {"family": strange}}}},
    ]
    rows = taken([row(case["case_id"], case=case) for case in cases])
    assert len(rows.kinds) == 1
    assert set(rows.kinds[0].facets) == {None, ()}
    assert rows.of_rows.tolist() == [0, 0, 0, 0]


def test_columns_stand_side_by_side(row):
    measured = {"status": "measured", "mae": 0.5, "psnr_db": 41.0, "psnr_status": "finite"}
    identical = {"status": "measured", "mae": 0.0, "psnr_db": None, "psnr_status": "unbounded_identical"}
    rows = taken(
        [
            row("a", fidelity=measured, message_bit_accuracy=0.75, reason="12/16 bits"),
            row("b", pair_id="pair-a", fidelity=identical, status="scored", score=2.5),
            row("c", status="error", fidelity={"status": "incomparable", "reason": "size"}, message_bit_accuracy=1.0),
            row("d", status="error", outcome="not_run", case={"case_id": "d"}),
        ]
    )
    assert [FIDELITY[code] for code in rows.fidelity] == ["measured", "unbounded_identical", "incomparable", "not_run"]
    assert rows.bases[0] == rows.bases[1] != rows.bases[2]
    assert rows.bases[3] == 0
    assert rows.artifacts[0].hex() == row("a")["artifact"]["sha256"]
    assert (rows.artifacts[2], rows.artifacts[3]) == (bytes(32), bytes(32))
    quantities = {name: (q.places.tolist(), q.values.tolist()) for name, q in rows.quantities.items() if len(q.places)}
    assert quantities == {
        "message_bit_accuracy": ([0], [0.75]),
        "score": ([1], [2.5]),
        "mae": ([0, 1], [0.5, 0.0]),
        "psnr_db": ([0], [41.0]),
    }
    assert rows.message_bits.tolist() == [16]
    assert rows.counts().tolist() == [1, 1, 1, 1]


def test_rows_are_grouped_by_a_key_of_their_kind(row):
    rows = taken([row(f"c{i}", state=state) for i, state in enumerate("babca")])
    groups = {key: places.tolist() for key, places in rows.grouped(lambda kind: (kind.facets.state,))}
    assert groups == {("a",): [1, 4], ("b",): [0, 2], ("c",): [3]}
    assert list(groups) == sorted(groups)
    some = dict(rows.grouped(lambda kind: (kind.facets.state,), np.array([4, 2])))
    assert {key: places.tolist() for key, places in some.items()} == {("a",): [0], ("b",): [1]}


def test_rows_are_chosen_by_their_kind(row):
    rows = taken([row(f"c{i}", state=state) for i, state in enumerate("bab")])
    assert rows.that(lambda kind: kind.facets.state == "b").tolist() == [True, False, True]
    assert taken([]).that(lambda kind: True).tolist() == []


def test_an_answer_about_no_artifact_is_refused(row):
    broken = row("a")
    broken["artifact"]["sha256"] = "12"
    with pytest.raises(EvidenceError, match=r"a: artifact\.sha256: expected 64 hex digits"):
        taken([broken])
    broken["detection"]["status"] = broken["outcome"] = "error"
    assert len(taken([broken]).of_rows) == 1


def test_a_field_that_no_two_rows_share_is_no_table(row, monkeypatch):
    monkeypatch.setattr(columns, "MOST_KINDS", 3)
    rows = [row(f"c{i}") for i in range(4)]
    assert len(taken(rows).kinds) == 1
    assert len(taken(rows[:3], by=["case_id"]).kinds) == 3
    with pytest.raises(EvidenceError, match="by case_id: above 3 different lines are no table"):
        taken(rows, by=["case_id"])
