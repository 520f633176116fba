"""Case ids as parts of node ids."""

import re

from hypothesis import given, strategies as st

from pytest_benchbench.evidence.case_names import case_id_of, node_name

case_ids = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=200)


@given(case_ids)
def test_a_case_id_reads_back_from_its_node_name(case_id):
    assert case_id_of(node_name(case_id)) == case_id


@given(case_ids)
def test_a_node_name_has_nothing_that_pytest_gives_a_meaning_to(case_id):
    assert re.fullmatch(r"[A-Za-z0-9._+-]+", node_name(case_id))
