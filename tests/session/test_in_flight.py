"""The mark of the row that is being run, as a later process finds it."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.session.in_flight import FILE, InFlight, RowInFlight, row_in_flight

rows = st.builds(RowInFlight, st.text(min_size=1, max_size=300), st.integers(1, 10_000))


@given(st.lists(rows | st.none(), min_size=1, max_size=8))
def test_the_last_row_begun_is_found_unless_it_ended(history):
    with tempfile.TemporaryDirectory() as directory:
        mark = InFlight(Path(directory))
        for row in history:
            mark.end() if row is None else mark.begin(row)
        assert row_in_flight(Path(directory)) == history[-1]
        mark.remove()
        assert row_in_flight(Path(directory)) is None


def test_a_mark_of_before_is_written_over(tmp_path):
    InFlight(tmp_path).begin(RowInFlight("a much longer node id of an earlier process", 17))
    second = InFlight(tmp_path)
    second.begin(RowInFlight("short", 1))
    assert row_in_flight(tmp_path) == RowInFlight("short", 1)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b'{"attempt":1,"node":"unfinished"}',
        b"{\n",
        b"[]\n",
        b'{"attempt":0,"node":"a"}\n',
        b'{"attempt":true,"node":"a"}\n',
        b'{"attempt":1,"node":7}\n',
        b'{"node":"a"}\n',
        b"\xff\n",
        b"[" * 60_000 + b"\n",
    ],
)
def test_what_is_no_mark_says_nothing(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    assert row_in_flight(tmp_path) is None


def test_where_no_mark_can_be_written_the_run_goes_on(tmp_path):
    mark = InFlight(tmp_path / "gone")
    mark.begin(RowInFlight("a", 1))
    mark.end()
    mark.remove()
    assert row_in_flight(tmp_path / "gone") is None
