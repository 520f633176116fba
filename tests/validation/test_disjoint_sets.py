import numpy as np
from hypothesis import given, strategies as st

from pytest_benchbench.validation.disjoint_sets import DisjointSets

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20)


def joined(edges, blocks):
    sets = DisjointSets(12)
    for block in np.array_split(np.array(edges, np.intp).reshape(-1, 2), blocks):
        sets.join(block[:, 0], block[:, 1])
    return sets.roots().tolist()


@given(edges=EDGES, blocks=st.integers(1, 4), data=st.data())
def test_sets_are_the_connected_components_however_pairs_come(edges, blocks, data):
    component = {number: {number} for number in range(12)}
    for one, other in edges:
        together = component[one] | component[other]
        component.update(dict.fromkeys(together, together))
    expected = [min(component[number]) for number in range(12)]
    assert joined(edges, blocks) == expected
    assert joined(data.draw(st.permutations(edges)), blocks) == expected


@given(keys=st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_equal_keys_are_joined(keys):
    sets = DisjointSets(12)
    sets.join_equal(np.arange(12), np.array(keys, np.int64))
    assert sets.roots().tolist() == [keys.index(key) for key in keys]
