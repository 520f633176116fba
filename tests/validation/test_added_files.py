import os
import subprocess

import pytest

from pytest_benchbench.validation.added_files import AddedFilesError, added_since

ODD = ["a b.txt", "-x.txt", "\n new.txt", "\u00e9.txt", '"q".txt']


@pytest.fixture
def git(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]

    def run(*arguments):
        return subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    run("init", "-q", "-b", "main")
    (tmp_path / "old.txt").write_text("old\n")
    (tmp_path / "gone.txt").write_text("gone\n")
    (tmp_path / ".gitignore").write_text("ignored.txt\n")
    run("add", ".")
    run("commit", "-q", "-m", "first")
    return run


def names(base, directory, root=None):
    return [str(path.relative_to(root or directory)) for path in added_since(base, directory)]


def test_what_commits_the_work_tree_and_untracked_files_add(git, tmp_path):
    git("checkout", "-q", "-b", "work")
    for name in ODD[:2]:
        (tmp_path / name).write_text("x")
        git("add", "--", name)
    git("commit", "-q", "-m", "odd names")
    for name in ODD[2:]:
        (tmp_path / name).write_text("x")
    git("add", "--", ODD[2])
    (tmp_path / "ignored.txt").write_text("x")
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "folder").mkdir()
    assert set(names("main", tmp_path)) == set(ODD)
    assert set(names("main", tmp_path / "folder", tmp_path)) == set(ODD)
    (tmp_path / "old.txt").write_text("changed\n")
    assert set(names("main", tmp_path)) == {*ODD, "old.txt"}


def test_what_the_other_branch_has_added_meanwhile_is_not_ours(git, tmp_path):
    git("checkout", "-q", "-b", "work")
    git("checkout", "-q", "main")
    (tmp_path / "theirs.txt").write_text("x")
    git("add", "theirs.txt")
    git("commit", "-q", "-m", "theirs")
    git("checkout", "-q", "work")
    assert names("main", tmp_path) == []


@pytest.mark.parametrize("base", ["nothing", "-x", "--upload-pack=touch x", "", "main..HEAD", "a\0b"])
def test_what_is_no_commit_is_refused_and_is_no_option(git, tmp_path, base):
    with pytest.raises(AddedFilesError) as refusal:
        added_since(base, tmp_path)
    assert "\n" not in str(refusal.value)


def test_nothing_that_the_repository_names_is_run(git, tmp_path):
    trap = tmp_path / "trap.sh"
    trap.write_text("#!/bin/sh\ntouch sprung\n")
    trap.chmod(0o755)
    git("config", "core.fsmonitor", str(trap))
    git("config", "diff.external", str(trap))
    git("config", "diff.x.textconv", str(trap))
    (tmp_path / ".gitattributes").write_text("* diff=x\n")
    (tmp_path / "old.txt").write_text("changed\n")
    assert set(names("main", tmp_path)) == {".gitattributes", "old.txt", "trap.sh"}
    assert not (tmp_path / "sprung").exists()


def test_without_a_repository_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(AddedFilesError, match="git"):
        added_since("main", tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(AddedFilesError, match="git cannot be run"):
        added_since("main", tmp_path)
