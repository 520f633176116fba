"""All cases as a page carries them, unpacked again."""

import base64
import json
import zlib

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.case_names import case_id_of
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.html import cases as module
from pytest_benchbench.reports.html.cases import Cases

PLENTY = 10_000_000

FIELDS = ("suite", "params", "adapter", "state", "transform", "arm", "expected", "status", "manifest", "run")


def settled(given_row, *, unstable=False, outcome=None):
    row = msgspec.convert(given_row, EvidenceRow)
    return SettledRow(row, outcome or row.outcome, unstable, 1, b"")


def packed(rows, room=PLENTY):
    cases = Cases()
    for row in rows:
        cases.add(row if isinstance(row, SettledRow) else settled(row))
    return cases.packed(room)


def unpacked(page):
    """Read the cases back as the module says that they are written."""
    header = json.loads(zlib.decompress(base64.b64decode(page.header)))
    read = []
    for (outcome, count), block in zip(header["blocks"], page.blocks, strict=True):
        data = zlib.decompress(base64.b64decode(block))
        rows, name_bytes, reason_bytes = np.frombuffer(data, "<u4", 3).tolist()
        assert rows == count
        kinds = np.frombuffer(data, "<u4", rows, 12).tolist()
        lines = np.cumsum(np.frombuffer(data, "<i4", rows, 12 + 4 * rows)).tolist()
        texts = data[12 + 8 * rows :]
        assert len(texts) == name_bytes + reason_bytes
        names, reasons = texts[:name_bytes].decode().split("\n"), texts[name_bytes:].decode().split("\n")
        for kind, line, name, reason in zip(kinds, lines, names, reasons, strict=True):
            places = header["kinds"][kind]
            told = {
                field: None if place < 0 else header["texts"][place] for field, place in zip(FIELDS, places, strict=False)
            }
            read.append({"outcome": outcome, "name": name, "line": line, "reason": reason, **told, "unstable": places[-1]})
    return read


def test_what_is_said_of_a_case_comes_back(row):
    (case,) = unpacked(packed([row("a", expected="detected", reason="24/48 bits", line=7, transform="jpeg")]))
    assert case == {
        "outcome": "match",
        "name": "a",
        "line": 7,
        "reason": "24/48 bits",
        "suite": "suite.py::test_detection",
        "params": None,
        "adapter": "dwt-dct",
        "state": "marked",
        "transform": "jpeg",
        "arm": "positive",
        "expected": "detected",
        "status": "detected",
        "manifest": "cases.jsonl",
        "run": "run-1",
        "unstable": 0,
    }


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(st.lists(st.tuples(texts, texts, st.integers(0, 2**53)), max_size=30))
def test_any_texts_come_back_in_their_order(row, cases):
    rows = [row(case_id, reason=reason, line=line) for case_id, reason, line in cases]
    read = unpacked(packed(rows))
    assert [case_id_of(case["name"]) for case in read] == [case_id for case_id, _, _ in cases]
    assert [case["line"] for case in read] == [line if line < 2**31 else 0 for _, _, line in cases]
    assert [case["reason"] for case in read] == [
        reason if reason.isprintable() else case["reason"] for (_, reason, _), case in zip(cases, read, strict=True)
    ]


def test_the_worst_outcomes_come_first(row):
    rows = [
        row("open"),
        row("right", expected="detected"),
        row("wrong", expected="detected", status="not_detected"),
        row("broken", status="error", error={"type": "OSError", "message": "gone"}),
        row("missing", status="unavailable"),
    ]
    assert [case["outcome"] for case in unpacked(packed(rows))] == ["error", "mismatch", "unavailable", "match", "measured"]


def test_the_reason_is_the_error_or_what_was_measured(row):
    rows = [
        row("a", status="error", error={"type": "OSError", "message": "gone"}),
        row("b", status="error", reason="the adapter said so"),
        row("c", score=0.123456, message_bit_accuracy=0.75),
        row("d", score=0.5, reason="first"),
        row("e"),
        row("f", reason="z" * 400),
    ]
    reasons = {case["name"]: case["reason"] for case in unpacked(packed(rows))}
    assert reasons == {
        "a": "OSError: gone",
        "b": "the adapter said so",
        "c": "score 0.1235, bit accuracy 0.75",
        "d": "first",
        "e": "",
        "f": "z" * 159 + "…",
    }


def test_rows_without_room_are_counted_by_outcome_the_good_ones_first(row, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 10)
    rows = [row(f"right-{number}", expected="detected", line=number) for number in range(100)]
    rows += [row(f"wrong-{number}", expected="detected", status="not_detected", line=number) for number in range(15)]
    everything = packed(rows)
    assert everything.left_out == {}
    room = len(everything.header) + sum(map(len, everything.blocks[:5])) + 200
    page = packed(rows, room)
    read = unpacked(page)
    assert len(page.header) + sum(map(len, page.blocks)) <= room
    assert [case["name"] for case in read] == [f"wrong-{n}" for n in range(15)] + [
        f"right-{n}" for n in range(len(read) - 15)
    ]
    assert 15 < len(read) < 115
    assert page.left_out == {"match": 115 - len(read)}
    assert page.listed["match"] + page.left_out["match"] == page.total["match"] == 100


def test_no_room_at_all_leaves_everything_out(row):
    page = packed([row("a"), row("b", status="unavailable")], 0)
    assert (page.blocks, page.left_out) == ([], {"unavailable": 1, "measured": 1})


def test_only_so_many_rows_of_an_outcome_are_kept(row, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 10)
    monkeypatch.setattr(module, "ROWS", 20)
    page = packed([row(f"c{number}") for number in range(45)])
    assert [case["name"] for case in unpacked(page)] == [f"c{number}" for number in range(20)]
    assert page.left_out == {"measured": 25}


def test_too_many_kinds_are_counted_and_not_listed(row, monkeypatch):
    monkeypatch.setattr(module, "MAX_KINDS", 3)
    page = packed([row(f"c{number}", transform=f"t{number}") for number in range(5)])
    assert (len(unpacked(page)), page.left_out) == (3, {"measured": 2})


@pytest.mark.parametrize("value", [["list"], {"name": ["deep"]}, 7, True])
def test_what_should_be_text_and_is_not_counts_as_absent(row, value):
    one = row("a")
    one["case"] |= {"state": value, "arm": value, "transform": value}
    (case,) = unpacked(packed([one, one][:1]))
    assert (case["state"], case["arm"], case["transform"]) == (None, None, None)


def test_an_unstable_row_is_told_apart(row):
    page = packed([settled(row("a"), unstable=True, outcome="mismatch"), settled(row("b"), outcome="mismatch")])
    assert [case["unstable"] for case in unpacked(page)] == [1, 0]


def test_the_same_rows_give_the_same_characters(row):
    rows = [row(f"c{number}", reason=f"{number % 7}/48") for number in range(100)]
    assert packed(rows) == packed(rows)
