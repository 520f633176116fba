"""Kinds brought together, against a plain loop."""

import numpy as np
from hypothesis import given, strategies as st

from pytest_benchbench.reports.facets import Facets, Kind, Series
from pytest_benchbench.reports.kind_groups import KindGroups

KINDS = [
    Kind(Series("suite", None, adapter), Facets(state=state), standing, "measured")
    for adapter in ("b", "a")
    for state in ("marked", "attacked", None)
    for standing in ("detected", "error")
]


def state(kind):
    return kind.facets.state


@given(of_rows=st.lists(st.integers(0, len(KINDS) - 1)))
def test_every_row_whose_kind_has_a_key_is_in_its_group_in_order(of_rows):
    groups = KindGroups.of(KINDS, state, str)
    assert groups.keys == ["attacked", "marked"]
    parts = groups.parts(np.array(of_rows, dtype=np.uint32))
    for key, part in zip(groups.keys, parts, strict=True):
        assert part.tolist() == [place for place, kind in enumerate(of_rows) if state(KINDS[kind]) == key]


def test_without_kinds_there_is_no_group():
    groups = KindGroups.of([], state, str)
    assert (groups.keys, groups.parts(np.zeros(0, dtype=np.uint32))) == ([], [])
