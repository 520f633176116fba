"""The law of accounting."""

from hypothesis import given, strategies as st

from pytest_benchbench.session.accounting import account

counts = st.integers(0, 50)


@given(counts, counts, counts, counts, st.booleans())
def test_each_planned_row_is_finished_left_out_or_lost(planned, finished, pending, lost_before, stopped):
    result = account(planned=planned, finished=finished, pending=pending, stopped=stopped, lost_before=lost_before)
    assert result.planned == finished + result.left_out + result.lost
    assert result.selected == finished + pending + lost_before
    assert result.planned >= max(planned, result.selected)
    assert result.left_out >= 0


@given(counts, counts, counts)
def test_stopping_on_request_loses_nothing(planned, finished, pending):
    assert account(planned=planned, finished=finished, pending=pending, stopped=True).lost == 0
    assert account(planned=planned, finished=finished, pending=pending, stopped=False).lost == pending


@given(counts, counts, counts, counts, st.booleans())
def test_what_an_earlier_session_lost_stays_lost(planned, finished, pending, lost_before, stopped):
    of_this_session = account(planned=planned, finished=finished, pending=pending, stopped=stopped)
    result = account(planned=planned, finished=finished, pending=pending, stopped=stopped, lost_before=lost_before)
    assert result.lost == of_this_session.lost + lost_before
