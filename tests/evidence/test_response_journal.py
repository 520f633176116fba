"""Answers that were paid for are there again, whatever became of the process that kept them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.response_journal import ResponseJournal, encoded_line, journal_path
from pytest_benchbench.evidence.shared_lines import SharedLinesError

KEYS = [f"{number:064x}" for number in range(4)]


def as_it_is(value):
    return value


@pytest.fixture
def path(tmp_path):
    return journal_path(tmp_path, "vendor")


def open_journal(path):
    return ResponseJournal(path, as_it_is)


def test_an_answer_is_found_by_whoever_opens_the_file_later_and_by_who_has_it_open(path):
    other = open_journal(path)
    assert other.find(KEYS[0]) is None
    assert not path.parent.exists()  # looking makes nothing
    open_journal(path).record(KEYS[0], {"score": 0.1, "class": "ai", "n": 3, "deep": {"list": [1, None, True]}})
    assert other.find(KEYS[0]) == {"score": 0.1, "class": "ai", "n": 3, "deep": {"list": [1, None, True]}}
    assert open_journal(path).find(KEYS[0]) == other.find(KEYS[0])


def test_the_first_answer_stays(path):
    first, second = open_journal(path), open_journal(path)
    first.record(KEYS[0], {"score": 1})
    second.record(KEYS[0], {"score": 2})
    assert first.find(KEYS[0]) == second.find(KEYS[0]) == {"score": 1}
    assert len(path.read_bytes().splitlines()) == 1


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.binary(max_size=4)), max_size=12))
def test_what_was_recorded_survives_every_death(tmp_path_factory, steps):
    """Each step is a process that records one answer; what it leaves behind the last line end was never acknowledged."""
    path = journal_path(tmp_path_factory.mktemp("run"), "vendor")
    known, asked = {}, 0
    for number, (key, torn) in enumerate(steps):
        journal = open_journal(path)
        assert journal.find(key) == known.get(key)
        if key not in known:
            asked += 1
            journal.record(key, {"score": number})
            known[key] = {"score": number}
        with path.open("ab") as file:
            file.write(torn.replace(b"\n", b""))
    assert asked == len(known)
    assert {key: open_journal(path).find(key) for key in known} == known


def test_processes_that_record_together_lose_nothing_and_keep_one_answer_of_each(path):
    program = """
import sys
from pathlib import Path
from pytest_benchbench.evidence.response_journal import ResponseJournal

journal = ResponseJournal(Path(sys.argv[1]), lambda value: value)
for number in range(20):
    journal.record(f"{number:064x}", {"by": sys.argv[2]})
"""
    path.parent.mkdir()
    processes = [subprocess.Popen([sys.executable, "-c", program, path, name]) for name in "abc"]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    keys = [json.loads(line)["key"] for line in path.read_text().splitlines()]
    assert keys == [f"{number:064x}" for number in range(20)]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"sentence": "x" * 201}, "answer.sentence: a text of 201 characters: only numbers and short names are kept"),
        ({"a": [{"b": "x" * 201}]}, "answer.a[0].b: a text of 201 characters"),
        ({"x" * 201: 1}, "answer: a key that is no short name"),
        ({"a": object()}, "answer.a: object is no plain JSON"),
        ({"a": [[[[[[[[[1]]]]]]]]]}, "nested too deeply"),
        ({"a": ["short"] * 10_000}, "bytes as JSON, more than 65536"),
        ({"a": float("nan")}, "not JSON compliant"),
    ],
)
def test_no_text_and_nothing_foreign_is_kept(path, answer, said):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the message is held below
        open_journal(path).record(KEYS[0], answer)
    assert said in str(raised.value)
    assert "xxx" not in str(raised.value)
    assert not path.exists()


def test_secrets_are_cut_out(path):
    ResponseJournal(path, lambda value: json.loads(json.dumps(value).replace("sesame", "***"))).record(
        KEYS[0], {"scanId": "of sesame"}
    )
    assert open_journal(path).find(KEYS[0]) == {"scanId": "of ***"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "blank line"),
        (b"[]", "expected a JSON object"),
        (b'{"schema_version":1,"key":"a","answer":{}}', "key: "),
        (b'{"schema_version":2,"key":"%064d","answer":{}}' % 1, "schema_version: "),
        (b'{"schema_version":1,"key":"%064d","answer":{"score":NaN}}' % 1, "score"),
        (b'{"schema_version":1,"key":"%064d","answer":{"a":1,"a":2}}' % 1, "a: "),
    ],
)
def test_a_damaged_line_is_told_and_nothing_is_changed(path, line, said):
    path.parent.mkdir()
    content = encoded_line(KEYS[0], {"score": 1}) + b"\n" + line + b"\n"
    path.write_bytes(content)
    for use in (lambda: open_journal(path).find(KEYS[1]), lambda: open_journal(path).record(KEYS[1], {})):
        with pytest.raises(SharedLinesError) as raised:
            use()
        assert str(raised.value).startswith(f"{path}:2: ")
        assert said in str(raised.value)
    assert path.read_bytes() == content


def test_without_a_run_directory_nothing_is_made():
    with pytest.raises(FileNotFoundError):
        open_journal(journal_path(Path("/nowhere/run"), "vendor")).record(KEYS[0], {})
