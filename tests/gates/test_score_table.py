"""The columns that a decision is made of: which derivatives are required, which rows are named, which bases share what."""

import hashlib

import numpy as np
import pytest

from pytest_benchbench.evidence.score_columns import ScoreColumns
from pytest_benchbench.evidence.score_row import ScoreRow
from pytest_benchbench.gates.policy import Derivative, Policy, Rule
from pytest_benchbench.gates.score_table import ScoreTable

RULES = (Rule(id="r", metric="real_recall", op=">=", value=0.5),)


def row(name, *, base="b", score=0.1, label=0, transform="none", group="full-res", **more):
    return ScoreRow(
        id=name,
        baseId=base,
        label=label,
        score=score,
        status="timeout" if score is None else "scored",
        transform=transform,
        resolutionGroup=group,
        **more,
    )


def table(*rows, file="", observed=None, **demands):
    columns = ScoreColumns(file)
    for line, one in enumerate(rows, 1):
        one.line = line
        columns.add(one)
    return ScoreTable(columns, Policy(name="mine", rules=RULES, **demands), len(rows) if observed is None else observed)


def test_all_that_any_base_has_is_required_and_sorted():
    rows = [("none", "thumbnail"), ("crop", None), (None, "full-res"), ("none", "full-res"), ("none", "full-res")]
    found = table(*(row(f"i{place}", transform=pair[0], group=pair[1]) for place, pair in enumerate(rows)))
    assert found.pairs == [(None, "full-res"), ("crop", None), ("none", "full-res"), ("none", "thumbnail")]
    assert found.required.count == 4
    assert found.required.listed == found.pairs
    encoded = b'[[null,"full-res"],["crop",null],["none","full-res"],["none","thumbnail"]]'
    assert found.required.sha256 == hashlib.sha256(encoded).hexdigest()


def test_of_many_derivatives_ten_are_listed():
    required = table(*(row(f"i{number}", transform=f"crop-{number:02}") for number in range(12))).required
    assert required.count == 12
    assert required.listed == [(f"crop-{number:02}", "full-res") for number in range(10)]


def test_a_list_requires_what_it_says_whatever_there_is():
    wanted = tuple(Derivative(transform=name, resolutionGroup="thumbnail") for name in ("none", "crop"))
    found = table(row("a", group="thumbnail"), row("b"), required_transforms=wanted)
    assert found.pairs == [("crop", "thumbnail"), ("none", "thumbnail")]
    units = found.units(None, "score", "base", ())
    assert (units.outcomes.missing.tolist(), units.outcomes.failing.tolist()) == ([1], [0])


def test_without_rows_nothing_is_required():
    found = table()
    assert (found.pairs, len(found), found.bases) == ([], 0, 0)
    assert found.having("adapter", [None]).tolist() == []
    assert found.units(None, "score", "base", ()).outcomes.labels.tolist() == []


def test_rows_are_named_by_id_whatever_order_they_came_in():
    rows = [row(f"i{number:02}") for number in reversed(range(12))]
    every = np.ones(12, dtype=np.bool_)
    assert table(*rows).named(every) == [f"i{number:02}" for number in range(10)]
    assert table(*rows, file="s.jsonl").named(every)[:2] == ["i00 (s.jsonl:12)", "i01 (s.jsonl:11)"]
    assert table(*rows, file="s.jsonl").named(np.arange(12) == 3) == ["i08 (s.jsonl:4)"]


def test_a_row_that_is_missing_has_no_line():
    found = table(row("here"), row("gone"), file="s.jsonl", observed=1)
    assert found.is_observed.tolist() == [True, False]
    assert found.named(np.array([True, True])) == ["gone", "here (s.jsonl:1)"]


def test_bases_whose_rows_differ():
    found = table(*(row(f"i{place}", base=base) for place, base in enumerate(["a", "a", "b", "b", "c", None])))
    every = np.ones(6, dtype=np.bool_)
    assert found.disagreeing(np.array([1, 1, 1, 2, 3, 4]), every).tolist() == [False, True, False]
    assert found.disagreeing(np.array([1, 2, 1, 2, 3, 4]), np.array([True, False, True, True, True, True])).tolist() == [
        False,
        True,
        False,
    ]
    assert found.of_bases(np.array([False, True, True])).tolist() == [False, False, True, True, True, False]


@pytest.mark.parametrize(
    ("codes", "shares"),
    [
        ([0, 0, 1, 2, 3, 3], [False, False, False, False]),
        ([0, 1, 1, 2, 3, 3], [True, True, False, False]),
        ([0, 1, 2, 0, 0, 3], [True, False, True, True]),
        ([-1, 1, -1, 2, -1, 3], [False, False, False, False]),
        ([5, 1, 2], [False, False, False, False]),
        ([5, 1, 5], [True, True, False, False]),
        ([], [False, False, False, False]),
    ],
)
def test_bases_that_have_a_value_of_another_base(codes, shares):
    found = table(*(row(f"i{place}", base=base) for place, base in enumerate(["a", "a", "b", "c", "d", "d"])))
    assert found.sharing(np.array(codes, dtype=np.intp)).tolist() == shares


def test_a_row_without_a_base_shares_nothing():
    found = table(row("i0", base="a"), row("i1", base=None), row("i2", base="b"))
    assert found.sharing(np.array([0, 0, 1])).tolist() == [False, False]


def test_the_worst_error_of_a_base():
    found = table(
        row("a0", base="a", score=0.1),
        row("a1", base="a", score=0.4, group="thumbnail"),
        row("b0", base="b", score=0.4),
        row("c0", base="c", score=0.9, label=1),
        row("c1", base="c", score=0.8, label=1, group="thumbnail"),
        row("d0", base="d", score=0.1),
        row("d1", base="d", score=None, group="thumbnail"),
    )
    units = found.units(None, "score", "base", ())
    assert units.worst_error.tolist() == pytest.approx([0.16, 1.0, 0.04, 1.0])
    assert units.has_score.tolist() == [True, True, True, True]
    assert units.is_terminal.tolist() == [False, False, False, True]
    assert units.of_label(1).tolist() == [False, False, True, False]
    units = found.units(None, "score", "base", (("resolutionGroup", "full-res"),))
    assert units.worst_error.tolist() == pytest.approx([0.01, 0.16, 0.01, 0.01])
    assert units.is_terminal.tolist() == [False] * 4


def test_rows_that_stand_for_themselves_are_units():
    found = table(row("a0", score=0.1), row("a1", score=None, group="thumbnail"), row("a2", score=0.7, adapter="other"))
    units = found.units(None, "score", "row", ())
    assert units.outcomes.labels.tolist() == [0, 0, -1]
    assert units.outcomes.succeeded.tolist()[:2] == [True, False]
    assert (units.has_score.tolist(), units.is_terminal.tolist()) == ([True, False, False], [False, True, False])
    assert units.worst_error.tolist()[:2] == pytest.approx([0.01, 1.0])


def test_a_base_of_two_labels_is_of_no_class():
    found = table(row("a0", base="a", label=0), row("a1", base="a", label=1, group="thumbnail"), row("b0", base="b"))
    units = found.units(None, "score", "base", ())
    assert units.outcomes.labels.tolist() == [-1, 0]
