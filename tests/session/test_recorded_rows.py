"""The frozen list of recorded rows, as workers get it."""

from hypothesis import given, strategies as st

from pytest_benchbench.evidence.observation import EvidenceKey
from pytest_benchbench.session.node_names import CaseNode, RowName
from pytest_benchbench.session.recorded_rows import RecordedRows

names = st.builds(RowName, st.sampled_from(["a.py::test::toy", "a[1]/b.py::T::test::toy"]), st.text(max_size=8))
finished_and_waiting = st.tuples(st.frozensets(names), st.frozensets(names)).map(lambda sets: (sets[0], sets[1] - sets[0]))


@given(finished_and_waiting, names)
def test_workers_get_the_rows_that_the_controller_froze(rows, other):
    finished, waiting = rows
    received = RecordedRows.decode(RecordedRows.of(finished, waiting).encode())
    for row in {*finished, *waiting, other}:
        assert received.is_finished(row) == (row in finished)


@given(finished_and_waiting, st.frozensets(names))
def test_recorded_rows_that_are_not_planned_any_more_are_found(rows, planned):
    finished, waiting = rows
    recorded = RecordedRows.of(finished, waiting)
    for group in {row.group for row in finished | waiting}:
        recorded.reconcile(group, [row.name for row in planned if row.group == group])
    assert sorted(recorded.unplanned()) == sorted(row.nodeid for row in (finished | waiting) - planned)


def test_a_group_that_is_not_collected_is_named():
    recorded = RecordedRows.of([RowName("a.py::test::toy", "cat-01")], [RowName("b.py::test::toy", "cat-02")])
    recorded.reconcile("b.py::test::toy", ["cat-02"])
    assert recorded.unplanned() == ["a.py::test::toy"]


@given(st.text(min_size=1, max_size=8), st.none() | st.text("ab[]:-", min_size=1, max_size=8))
def test_a_row_has_the_node_id_that_pytest_gives_it(case_id, params):
    row = RowName.of(EvidenceKey("dir/a.py::test", "toy", case_id, params, 1))
    assert CaseNode.parse(row.nodeid) == CaseNode("dir/a.py::test", "toy", case_id, params)
