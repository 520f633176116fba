"""Node ids of rows."""

from hypothesis import given, strategies as st

from pytest_benchbench.evidence.case_names import node_name
from pytest_benchbench.session.node_names import CaseNode

case_ids = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=200)


@given(case_ids, st.none() | st.text(min_size=1))
def test_a_node_id_comes_apart_into_what_made_it(case_id, params):
    suite = "dir/[odd]/test_x.py::TestA::test_b"
    nodeid = f"{suite}::dwt-dct::{node_name(case_id)}" + (f"[{params}]" if params else "")
    assert CaseNode.parse(nodeid) == CaseNode(suite, "dwt-dct", case_id, params)


def test_a_name_that_only_looks_like_a_case_is_none():
    assert CaseNode.parse("test_x.py::toy::x+FF") is None


def test_a_shorter_node_id_is_no_case():
    assert CaseNode.parse("test_x.py::test_b") is None
