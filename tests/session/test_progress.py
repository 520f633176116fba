import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.session.progress import WINDOW_SECONDS, Progress


def progress_of(*samples, in_flight=()):
    """Make a progress from numbers of remaining rows at some times."""
    progress = Progress()
    for remaining, now in samples:
        progress.sample(remaining, now)
    for nodeid, began in in_flight:
        progress.begin(nodeid, began)
    return progress


@pytest.mark.parametrize(
    ("samples", "line"),
    [
        ([(10, 0.0)], "benchbench: 0 of 10 rows"),
        ([(10, 0.0), (10, 9.0)], "benchbench: 0 of 10 rows"),
        ([(10, 0.0), (5, 2.0)], "benchbench: 5 of 10 rows, 2.5 rows/s, about 0:02 left"),
        ([(10, 0.0), (9, 90.0)], "benchbench: 1 of 10 rows, 90.0 s/row, about 13:30 left"),
        ([(10, 0.0), (9, 1200.0)], "benchbench: 1 of 10 rows, 1200.0 s/row, about 3:00:00 left"),
        ([(10, 0.0), (0, 5.0)], "benchbench: 10 of 10 rows, 2.0 rows/s"),
    ],
)
def test_rows_pace_and_what_is_left(samples, line):
    assert progress_of(*samples).line(samples[-1][1]) == line


def test_the_pace_is_that_of_the_last_minute():
    quick_then_slow = [(1000 - number * 9, float(number)) for number in range(101)]
    quick_then_slow += [(100 - number // 10, 100.0 + number) for number in range(1, 1 + int(WINDOW_SECONDS))]
    line = progress_of(*quick_then_slow).line(quick_then_slow[-1][1])
    assert line == "benchbench: 906 of 1000 rows, 10.0 s/row, about 15:40 left"


def test_where_nothing_was_done_lately_the_pace_is_that_of_the_whole():
    samples = [(10, 0.0), (5, 10.0), *((5, 10.0 + number) for number in range(1, 91))]
    assert progress_of(*samples).line(100.0) == "benchbench: 5 of 10 rows, 20.0 s/row, about 1:40 left"


def test_the_row_that_runs_the_longest_is_named():
    rows = [("a.jsonl::test::toy::second", 5.0), ("a.jsonl::test::toy::first", 3.0), ("a.jsonl::test::toy::third", 6.0)]
    progress = progress_of((7, 0.0), in_flight=rows)
    assert progress.line(15.4) == "benchbench: 0 of 7 rows; running for 0:12: toy::first and 2 more"
    assert progress.longest(15.0) == 12.0
    progress.end("a.jsonl::test::toy::first")
    progress.end("never begun")
    assert progress.line(15.4) == "benchbench: 0 of 7 rows; running for 0:10: toy::second and 1 more"


def test_another_try_begins_anew():
    progress = progress_of(in_flight=[("x::toy::a", 1.0), ("x::toy::a", 9.0)])
    assert progress.line(10.0) == "benchbench: running for 0:01: toy::a"


def test_without_rows_nothing_runs():
    assert Progress().longest(5.0) == 0.0


@given(st.text(min_size=1), st.floats(0, 1e7))
def test_a_line_is_printable_ascii_whatever_a_row_is_called(name, seconds):
    line = progress_of((3, 0.0), in_flight=[(name, 0.0)]).line(seconds)
    assert line.isascii()
    assert line.isprintable()
