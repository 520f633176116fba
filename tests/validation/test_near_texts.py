from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.validation.near_texts import MOST_PAIRS, NEAR, near_texts
from pytest_benchbench.validation.shingles import jaccard

few_shingles = st.lists(st.sets(st.integers(0, 12), max_size=9), max_size=12)


def as_shingles(sets):
    return [np.array(sorted(one), np.uint64) for one in sets]


def by_brute_force(texts):
    """Compare everything with everything."""
    groups = list(range(len(texts)))
    pairs = [pair for pair in combinations(range(len(texts)), 2) if jaccard(texts[pair[0]], texts[pair[1]]) >= NEAR]
    for one, other in pairs:
        low, high = sorted((groups[one], groups[other]))
        groups = [low if group == high else group for group in groups]
    return groups


@given(sets=few_shingles, most_pairs=st.sampled_from([0, 3, MOST_PAIRS]))
@settings(max_examples=100, deadline=None)
def test_it_finds_what_comparing_everything_finds(sets, most_pairs):
    texts = as_shingles(sets)
    found = near_texts(texts, most_pairs=most_pairs)
    assert (found.groups.tolist(), found.finished) == (by_brute_force(texts), True)


@given(sets=few_shingles, most_work=st.integers(0, 5000), most_pairs=st.sampled_from([0, MOST_PAIRS]))
@settings(deadline=None)
def test_work_that_ends_early_says_so_or_has_found_everything(sets, most_work, most_pairs):
    texts = as_shingles(sets)
    found = near_texts(texts, most_work=most_work, most_pairs=most_pairs)
    assert not found.finished or found.groups.tolist() == by_brute_force(texts)


@pytest.mark.parametrize("near", [True, False])
def test_the_bound_is_inclusive(near):
    texts = as_shingles([range(7), range(3, 10 if near else 11)])
    assert jaccard(*texts) == pytest.approx(0.4 if near else 4 / 11)
    assert (near_texts(texts).groups.tolist() == [0, 0]) == near


def test_many_texts_of_one_pattern_are_found_with_little_work():
    common = list(range(50))
    texts = as_shingles([{*common, 1000 + number} for number in range(500)])
    found = near_texts(texts, most_pairs=1000)
    assert (set(found.groups.tolist()), found.finished) == ({0}, True)


def test_many_texts_with_little_in_common_end_in_bounded_work():
    texts = as_shingles([{*range(20), *range(1000 * number, 1000 * number + 40)} for number in range(1, 300)])
    found = near_texts(texts, most_pairs=10, most_work=20_000)
    assert found.groups.tolist() == list(range(299))


def test_no_texts_are_no_groups():
    assert near_texts([]).groups.tolist() == []
