"""What calls have used is counted once, by all processes of a run together."""

import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.metering import Usage
from pytest_benchbench.evidence.shared_lines import SharedLinesError
from pytest_benchbench.evidence.spending import Spending, Spent

USAGES = st.builds(Usage, st.integers(0, 1000), st.integers(1, 3), st.none() | st.integers(0, 9))


def anything(_):
    """Let every call pass."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "spending.jsonl"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["reserve", "refund", "retried"]), USAGES), max_size=10))
def test_totals_are_what_was_reserved_and_not_taken_back(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("run") / "spending.jsonl"
    words, calls, tries = dict.fromkeys("ab", 0), dict.fromkeys("ab", 0), dict.fromkeys("ab", 0)
    for alias, step, usage in steps:
        spending = Spending(path)  # each time another process
        if step == "retried":
            spending.retried(alias)
            tries[alias] += 1
            continue
        spending.reserve(alias, usage, anything)
        if step == "refund":
            spending.refund(alias, usage)
        else:
            words[alias] += usage.words
            calls[alias] += usage.calls
    totals = Spending(path).totals()
    for alias in "ab":
        spent = totals.get(alias, Spent())
        assert (spent.words, spent.calls, spent.retries) == (words[alias], calls[alias], tries[alias])


def test_credits_are_counted_only_where_there_are_some(path):
    spending = Spending(path)
    spending.reserve("a", Usage(10), anything)
    spending.reserve("b", Usage(10, credits=2), anything)
    assert (spending.totals()["a"].credits, spending.totals()["b"].credits) == (None, 2)


def test_what_was_billed_beyond_a_call_is_no_further_call(path):
    spending = Spending(path)
    spending.reserve("a", Usage(10, credits=2), anything)
    spending.billed_beyond("a", 5)
    assert Spending(path).totals()["a"] == Spent(words=10, calls=1, credits=7)


def test_a_call_that_must_not_be_made_is_not_counted(path):
    spending, seen = Spending(path), []

    def refuse(used):
        seen.append(used)
        raise LookupError

    spending.reserve("a", Usage(5), anything)
    with pytest.raises(LookupError):
        spending.reserve("b", Usage(7), refuse)
    assert seen == [{"a": Spent(5, 1), "b": Spent(7, 1)}]
    assert Spending(path).totals() == {"a": Spent(5, 1)}


def test_processes_that_spend_together_do_not_pass_what_they_may(path):
    program = """
import sys
from pathlib import Path
from pytest_benchbench.adapters.metering import Usage
from pytest_benchbench.evidence.spending import Spending

def check(used):
    if sum(spent.words for spent in used.values()) > 100:
        raise SystemExit(0)

spending = Spending(Path(sys.argv[1]))
while True:
    spending.reserve(sys.argv[2], Usage(3), check)
"""
    processes = [subprocess.Popen([sys.executable, "-c", program, path, alias]) for alias in "abc"]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    assert sum(spent.words for spent in Spending(path).totals().values()) == 99


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"schema_version":1,"alias":"a","event":"lost"}',
        b'{"schema_version":1,"alias":"a","event":"reserved","words":-1}',
        b'{"schema_version":1,"alias":"a","event":"reserved","words":1.5}',
        b'{"schema_version":1,"alias":"a","event":"reserved","text":"x"}',
    ],
)
def test_a_damaged_line_is_told(path, line):
    path.write_bytes(line + b"\n")
    with pytest.raises(SharedLinesError, match=r"spending\.jsonl:1: not a line of spending: "):
        Spending(path).totals()


def test_an_unterminated_line_was_never_counted(path):
    Spending(path).reserve("a", Usage(5), anything)
    with path.open("ab") as file:
        file.write(b'{"schema_version":1,"alias":"a","event":"reserved","words":9')
    assert Spending(path).totals() == {"a": Spent(5, 1)}
    Spending(path).reserve("a", Usage(2), anything)
    assert Spending(path).totals() == {"a": Spent(7, 2)}
