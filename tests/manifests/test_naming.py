from hypothesis import given, strategies as st

from pytest_benchbench.manifests.naming import id_part, unique_ids

NAMES = st.text("ab-2", max_size=4)


@given(st.lists(st.tuples(NAMES, NAMES)), st.sets(NAMES))
def test_ids_are_unique_and_differ_from_those_that_exist(wishes, taken):
    before = set(taken)
    ids = list(unique_ids(wishes, taken))
    assert len(set(ids)) == len(ids) == len(wishes)
    assert not before & set(ids)


def test_the_short_id_is_given_where_it_is_free():
    assert list(unique_ids([("cat", "x/cat"), ("dog", "x/dog")], {"dog"})) == ["cat", "x/dog"]


def test_cases_that_wish_the_same_short_id_all_get_the_longer_one():
    assert list(unique_ids([("cat", "a-cat"), ("cat", "b-cat"), ("cat", "b-cat")], set())) == ["a-cat", "b-cat", "b-cat-2"]


def test_a_part_of_an_id_has_no_control_characters_and_is_not_long():
    assert id_part("a/b\nc\x85") == "a-b_c_"
    assert id_part("x" * 300 + "end") == "x" * 117 + "end"
