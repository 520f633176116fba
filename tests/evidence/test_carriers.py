"""Pairs that share an artifact are one base, whatever the order of rows; a ``baseId`` is taken at its word."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pytest_benchbench.evidence.carriers import BASE_BYTES, base_digest, bases_of, joined


class Row:
    def __init__(self, **case):
        self.case = case


def words(rows):
    return np.frombuffer(b"".join(base_digest(row) for row in rows), dtype=np.uint64)


def same(numbers):
    """Say which rows have the same base, by the first that has it."""
    return [None if number < 0 else numbers.tolist().index(number) for number in numbers]


def test_a_base_id_comes_before_a_pair_and_other_values_name_none():
    one, other = Row(baseId="a", pair_id="b"), Row(baseId="a", pair_id="c")
    assert base_digest(one) == base_digest(other) != base_digest(Row(pair_id="a"))
    assert base_digest(Row(baseId=7, pair_id="a")) == base_digest(Row(pair_id="a"))
    assert base_digest(Row()) == base_digest(Row(pair_id=None)) == bytes(BASE_BYTES)
    assert len(base_digest(Row(pair_id="\ud800"))) == BASE_BYTES


@given(st.text(max_size=5), st.text(max_size=5))
def test_digests_tell_names_and_their_sorts_apart(one, other):
    digests = [base_digest(Row(**{field: name})) for field in ("baseId", "pair_id") for name in (one, other)]
    assert len(set(digests)) == 2 * len({one, other})
    assert bytes(BASE_BYTES) not in digests


def test_three_marks_on_one_carrier_are_one_base():
    rows = [Row(pair_id=f"cat-{mark}") for mark in "abc" for _ in ("clean", "marked")] + [Row(pair_id="dog"), Row()]
    carrier, dog = 0, 9
    artifacts = np.array([carrier, 1, carrier, 2, carrier, 3, dog, carrier])
    assert same(bases_of(words(rows), artifacts)) == [0] * 6 + [6, None]


def test_base_ids_that_share_a_file_stay_apart():
    rows = [Row(baseId="a"), Row(baseId="b"), Row(pair_id="p")]
    assert same(bases_of(words(rows), np.zeros(3, dtype=np.intp))) == [0, 1, 2]


def test_rows_that_show_no_artifact_join_nothing():
    assert same(bases_of(words([Row(pair_id="a"), Row(pair_id="b")]), np.array([-1, -1]))) == [0, 1]


def test_no_rows_have_no_bases():
    assert len(bases_of(words([]), np.zeros(0, dtype=np.intp))) == 0


@given(st.lists(st.tuples(st.none() | st.integers(0, 8), st.integers(-1, 12)), max_size=40), st.randoms())
def test_bases_are_the_connected_components(drawn, random):
    rows = [Row() if pair is None else Row(pair_id=str(pair)) for pair, _ in drawn]
    artifacts = np.array([artifact for _, artifact in drawn], dtype=np.intp)
    numbers = bases_of(words(rows), artifacts)
    edges = np.array([(p, 9 + a) for p, a in drawn if p is not None and a >= 0], dtype=int).reshape(-1, 2)
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(22, 22))
    component = connected_components(graph, directed=False)[1]
    expected = np.array([-1 if pair is None else component[pair] for pair, _ in drawn], dtype=int)
    assert same(numbers) == same(expected)
    assert sorted(set(numbers.tolist()) - {-1}) == list(range(len(set(numbers.tolist()) - {-1})))
    order = list(range(len(drawn)))
    random.shuffle(order)
    shuffled = bases_of(words([rows[place] for place in order]), artifacts[order])
    assert same(shuffled) == same(numbers[order] if len(order) else numbers)


@pytest.mark.parametrize("pairs", [[(0, 1), (1, 2), (3, 4)], [(2, 1), (1, 0), (4, 3)]])
def test_what_is_joined_has_the_smallest_number(pairs):
    assert joined(6, pairs).tolist() == [0, 0, 0, 3, 3, 5]
