import os

import pytest

from pytest_benchbench.manifests.new_files import new_file, put_new


def test_a_file_appears_when_it_is_written(tmp_path):
    place = tmp_path / "made.bin"
    with new_file(place) as file:
        file.write(b"whole")
        assert not place.exists()
    assert place.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [place]


def test_nothing_stays_behind_where_writing_fails(tmp_path):
    def fail_halfway():
        with new_file(tmp_path / "made.bin") as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("links", [True, False])
def test_an_existing_file_stays_as_it_is(tmp_path, monkeypatch, links):
    if not links:
        _forget_hard_links(monkeypatch)
    place = tmp_path / "made.bin"
    place.write_bytes(b"old")
    with pytest.raises(FileExistsError, match="exists already"), new_file(place):
        raise AssertionError("not reached")
    assert place.read_bytes() == b"old"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_came_meanwhile_stays_as_it_is(tmp_path, monkeypatch, links):
    if not links:
        _forget_hard_links(monkeypatch)
    place = tmp_path / "made.bin"

    def be_late():
        with new_file(place) as file:
            file.write(b"new")
            place.write_bytes(b"theirs")

    with pytest.raises(FileExistsError):
        be_late()
    assert place.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [place]


def test_a_link_to_nothing_is_something(tmp_path):
    place = tmp_path / "made.bin"
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError), new_file(place):
        raise AssertionError("not reached")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_system_without_hard_links_is_served_too(tmp_path, monkeypatch):
    _forget_hard_links(monkeypatch)
    with new_file(tmp_path / "made.bin") as file:
        file.write(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["made.bin"]


@pytest.mark.parametrize("links", [True, False])
def test_of_two_that_come_at_once_one_takes_the_place(tmp_path, monkeypatch, links):
    if not links:
        _forget_hard_links(monkeypatch)
    place = tmp_path / "made.bin"
    (tmp_path / "one").write_bytes(b"one")
    (tmp_path / "other").write_bytes(b"other")
    put_new(tmp_path / "one", place)
    with pytest.raises(FileExistsError):
        put_new(tmp_path / "other", place)
    assert place.read_bytes() == b"one"


def test_a_place_that_was_taken_is_left_where_nothing_comes_of_it(tmp_path, monkeypatch):
    _forget_hard_links(monkeypatch)
    with pytest.raises(FileNotFoundError):
        put_new(tmp_path / "absent", tmp_path / "made.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError), new_file(tmp_path / "none" / "made.bin"):
        raise AssertionError("not reached")


def test_a_finished_file_is_put_where_nothing_is(tmp_path):
    beside = tmp_path / "beside"
    beside.write_bytes(b"finished")
    put_new(beside, tmp_path / "place")
    assert (tmp_path / "place").read_bytes() == b"finished"


def _forget_hard_links(monkeypatch):
    def link(*_arguments):
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", link)
