"""A file that several processes append to: one at a time, and no half of a line."""

import os

import pytest

from pytest_benchbench.manifests.locked_files import LockHeldError, append_synced, locked_file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lines"


def test_the_file_is_made_and_lines_are_appended(path):
    with locked_file(path) as file:
        append_synced(file, 0, b"one\n")
        append_synced(file, 4, b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"


@pytest.mark.skipif(os.name == "nt", reason="files are not locked there")
def test_who_waits_too_long_is_told_which_file_is_held(path, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.manifests.locked_files.LOCK_SECONDS", 0.05)
    said = r"lines: another process has held the file for 0\.05 s"
    with locked_file(path), pytest.raises(LockHeldError, match=said), locked_file(path):
        pass
    with locked_file(path):  # it is let go of
        pass


def test_a_line_that_cannot_be_synced_is_taken_back(path, monkeypatch):
    def full(file):
        raise OSError("the disk is full")

    path.write_bytes(b"one\n")
    monkeypatch.setattr(os, "fsync", full)
    with locked_file(path) as file, pytest.raises(OSError, match="the disk is full"):
        append_synced(file, 4, b"two\n")
    assert path.read_bytes() == b"one\n"
