"""A folder that appears whole or not at all."""

import os

import pytest

from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder


def fill(folder, then):
    """Make a folder, put a file into it, and go on with something else."""
    with new_folder(folder) as beside:
        (beside / "file").write_text("content")
        then()


def fails(error):
    raise error


def test_it_appears_in_one_step(tmp_path):
    folder = tmp_path / "a" / "b" / "new"
    with new_folder(folder) as beside:
        (beside / "file").write_text("content")
        assert not folder.exists()
    assert (folder / "file").read_text() == "content"
    assert [path.name for path in folder.parent.iterdir()] == ["new"]


def test_a_fault_is_told_of_the_folder_that_was_named(tmp_path):
    name = "n" * (os.pathconf(tmp_path, "PC_NAME_MAX") - 1)  # what is beside it has a longer name, which no folder can have
    with pytest.raises(OSError, match="too long") as raised:
        fill(tmp_path / name, lambda: pytest.fail("it was made"))
    assert raised.value.filename == str(tmp_path / name)


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt])
def test_a_failure_leaves_nothing_behind(tmp_path, error):
    with pytest.raises(error):
        fill(tmp_path / "a" / "b" / "new", lambda: fails(error))
    assert list(tmp_path.iterdir()) == []


def test_what_exists_is_refused_before_anything_is_made(tmp_path, occupy):
    occupy(tmp_path / "new")
    with pytest.raises(FolderExistsError), new_folder(tmp_path / "new"):
        pytest.fail("it was given out")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_what_appears_meanwhile_is_left_alone(tmp_path, occupy):
    with pytest.raises(FolderExistsError):
        fill(tmp_path / "new", lambda: occupy(tmp_path / "new"))
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert not (tmp_path / "new" / "file").exists()


def test_parents_that_others_use_meanwhile_stay(tmp_path):

    def share():
        (tmp_path / "a" / "other").write_text("other's")
        fails(ValueError)

    with pytest.raises(ValueError):  # noqa: PT011 - raised here
        fill(tmp_path / "a" / "new", share)
    assert (tmp_path / "a" / "other").exists()
