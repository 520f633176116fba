"""Every line is taken once by everyone, whoever wrote it."""

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence import shared_lines
from pytest_benchbench.evidence.shared_lines import SharedLines, SharedLinesError

WRITERS = 3

TEXTS = st.binary(max_size=8).map(lambda data: data.replace(b"\n", b""))


@given(st.lists(st.tuples(st.sampled_from(["append", "refresh", "tear"]), st.integers(0, WRITERS - 1), TEXTS), max_size=20))
def test_everyone_takes_every_line_once_in_one_order(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("run") / "lines"
    taken = [[] for _ in range(WRITERS)]
    writers = [SharedLines(path, lines.append) for lines in taken]
    written = []
    for step, who, line in steps:
        if step == "append":
            with writers[who].appending() as append:
                assert taken[who] == written  # known before it is written
                append(line)
            written.append(line)
            assert taken[who] == written
        elif step == "refresh":
            writers[who].refresh()
            assert taken[who] == written
        elif path.exists():  # a process is killed while it writes
            with path.open("ab") as file:
                file.write(line)
    for writer, lines in zip(writers, taken, strict=True):
        writer.refresh()
        assert lines == written


def test_a_line_that_cannot_be_taken_is_told_by_number(tmp_path):
    def take(line):
        if line == b"bad":
            raise ValueError("it is bad")

    path = tmp_path / "lines"
    path.write_bytes(b"good\nbad\n")
    with pytest.raises(SharedLinesError, match=r"lines:2: it is bad"):
        SharedLines(path, take).refresh()


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_lines, "MAX_BYTES", 3)
    path = tmp_path / "lines"
    path.write_bytes(b"four")
    with pytest.raises(SharedLinesError, match="larger than 3 bytes"):
        SharedLines(path, [].append).refresh()


def test_a_file_that_lost_lines_is_not_written_on(tmp_path):
    path = tmp_path / "lines"
    lines = SharedLines(path, [].append)
    with lines.appending() as append:
        append(b"one")
    path.write_bytes(b"on")
    with pytest.raises(SharedLinesError, match="has become shorter"), lines.appending():
        pass
    assert path.read_bytes() == b"on"
