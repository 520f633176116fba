"""The laws of the exit code."""

from hypothesis import given, strategies as st

from pytest_benchbench.session.exit_status import RunFacts, exit_status

facts = st.builds(
    RunFacts,
    lost=st.integers(0, 2),
    left_out=st.integers(0, 2),
    nothing_measured=st.booleans(),
    failed_rows=st.integers(0, 2),
    gate=st.sampled_from([None, "pass", "refused", "inconclusive"]),
)
statuses = st.integers(0, 6)


@given(st.sampled_from([2, 3, 4]), facts)
def test_pytests_own_faults_stay(status, given_facts):
    assert exit_status(status, given_facts) == status


@given(st.sampled_from([0, 1, 5, 6]), facts)
def test_incomplete_evidence_comes_before_everything_else(status, given_facts):
    incomplete = given_facts.lost or given_facts.nothing_measured or (given_facts.gate and given_facts.left_out)
    assert (exit_status(status, given_facts) == 21) == bool(incomplete)


@given(st.sampled_from([0, 1, 5, 6]), facts)
def test_a_gate_that_did_not_pass_shows_unless_evidence_is_incomplete(status, given_facts):
    code = exit_status(status, given_facts)
    if code != 21:
        assert (code == 20) == (given_facts.gate in {"refused", "inconclusive"})


@given(facts)
def test_nothing_turns_failures_into_success(given_facts):
    assert exit_status(1, given_facts) != 0


@given(facts)
def test_success_means_that_there_is_nothing_to_report(given_facts):
    if exit_status(0, given_facts) == 0:
        assert not given_facts.lost
        assert not given_facts.nothing_measured
        assert not given_facts.failed_rows
        assert given_facts.gate in {None, "pass"}


@given(statuses)
def test_without_facts_pytests_code_stays(status):
    assert exit_status(status, RunFacts()) == status
