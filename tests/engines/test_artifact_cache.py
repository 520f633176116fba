"""Files near to where they are used: verified before each use, placed in one step, by many processes at once."""

import hashlib
import io
import os
import subprocess
import sys

import pytest

from pytest_benchbench.engines import UnfetchableError
from pytest_benchbench.engines.artifact_cache import ArtifactCache, source_digest
from pytest_benchbench.engines.artifact_source import open_source


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Counted:
    """A source in memory that counts what is asked of it."""

    def __init__(self, **files):
        self.files = files
        self.opened = []

    def open(self, name):
        self.opened.append(name)
        if name not in self.files:
            raise UnfetchableError(": there is no such file")
        return io.BytesIO(self.files[name])


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def cached_file(tmp_path, data):
    return tmp_path / "cache" / "sha256" / digest(data)[:2] / digest(data)


def test_a_file_is_fetched_once_and_placed_as_often_as_needed(tmp_path, root):
    source = Counted(a=b"pixels", b=b"pixels")
    cache = ArtifactCache(tmp_path / "cache", source)
    first = cache.place("a", digest(b"pixels"), root)
    second = cache.place("b", digest(b"pixels"), root)
    assert first.read_bytes() == second.read_bytes() == b"pixels"
    assert (root / "a").samefile(cached_file(tmp_path, b"pixels"))
    assert source.opened == ["a"]


def test_a_folder_of_the_source_stands_for_the_root(tmp_path, root):
    source = Counted(**{"sets/one/media/a": b"pixels"})
    placed = ArtifactCache(tmp_path / "cache", source).place("media/a", digest(b"pixels"), root, below="sets/one")
    assert placed == root / "media" / "a"


def test_other_bytes_than_the_pinned_ones_are_neither_used_nor_kept(tmp_path, root):
    cache = ArtifactCache(tmp_path / "cache", Counted(a=b"other"))
    with pytest.raises(UnfetchableError, match=f" has {digest(b'other')}, the manifest says {digest(b'pixels')}") as caught:
        cache.place("a", digest(b"pixels"), root)
    assert not caught.value.passing
    assert not (root / "a").exists()
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_damaged_cached_file_is_fetched_again(tmp_path, root):
    source = Counted(first=b"pixels", second=b"pixels")
    cache = ArtifactCache(tmp_path / "cache", source)
    kept = cached_file(tmp_path, b"pixels")
    cache.place("first", digest(b"pixels"), root)
    kept.chmod(0o644)
    kept.write_bytes(b"damage")
    assert cache.place("second", digest(b"pixels"), root).read_bytes() == b"pixels"
    assert kept.read_bytes() == b"pixels"
    assert source.opened == ["first", "second"]


def test_a_link_in_the_cache_is_not_followed(tmp_path, root):
    (tmp_path / "elsewhere").write_bytes(b"pixels")
    link = cached_file(tmp_path, b"pixels")
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    placed = ArtifactCache(tmp_path / "cache", Counted(a=b"pixels")).place("a", digest(b"pixels"), root)
    assert not placed.is_symlink()
    assert not link.is_symlink()


def test_what_is_larger_than_allowed_is_not_read_to_its_end(tmp_path, root):
    class Endless(Counted):
        def open(self, name):
            return open("/dev/zero", "rb")

    with pytest.raises(UnfetchableError, match="more than the 3000000 bytes"):
        ArtifactCache(tmp_path / "cache", Endless()).place("a", digest(b""), root, limit=3_000_000)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["../a", "/a", "b/../../a"])
def test_a_name_that_leaves_the_root_is_refused_before_anything_is_fetched(tmp_path, root, name):
    source = Counted(a=b"pixels")
    with pytest.raises(UnfetchableError, match="leaves"):
        ArtifactCache(tmp_path / "cache", source).place(name, digest(b"pixels"), root)
    assert source.opened == []
    assert not (tmp_path / "a").exists()


def test_a_digest_that_is_a_path_is_refused(tmp_path, root):
    with pytest.raises(UnfetchableError, match="not 64 lower-case hex digits"):
        ArtifactCache(tmp_path / "cache", Counted(a=b"pixels")).place("a", "../" * 21 + "x", root)


def test_where_no_links_can_be_made_files_are_copied(tmp_path, root, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    placed = ArtifactCache(tmp_path / "cache", Counted(a=b"pixels")).place("a", digest(b"pixels"), root)
    assert placed.read_bytes() == b"pixels"
    assert not placed.samefile(cached_file(tmp_path, b"pixels"))


def test_a_work_folder_is_gone_afterwards_and_the_cached_file_stays(tmp_path):
    cache = ArtifactCache(tmp_path / "cache", Counted(a=b"pixels"))
    with cache.work_folder() as work:
        cache.place("a", digest(b"pixels"), work)
    assert not work.exists()
    assert cached_file(tmp_path, b"pixels").read_bytes() == b"pixels"


def test_a_manifest_of_a_source_is_hashed(tmp_path):
    assert source_digest(Counted(a=b"rows"), "./a") == digest(b"rows")


PLACE_MANY = """
import sys, tempfile
from pathlib import Path
from pytest_benchbench.engines.artifact_cache import ArtifactCache
from pytest_benchbench.engines.artifact_source import open_source

source, folder, *digests = sys.argv[1:]
cache = ArtifactCache(Path(folder), open_source(source))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    with cache.work_folder() as work:
        for number, digest in enumerate(digests):
            cache.place(f"{number}.bin", digest, work)
        assert all(len((work / f"{number}.bin").read_bytes()) == 200_000 for number in range(len(digests)))
"""


def test_many_processes_fill_one_cache_at_once(tmp_path):
    files = [bytes([number]) * 200_000 for number in range(5)]
    (tmp_path / "source").mkdir()
    for number, data in enumerate(files):
        (tmp_path / "source" / f"{number}.bin").write_bytes(data)
    command = [sys.executable, "-c", PLACE_MANY, str(tmp_path / "source"), str(tmp_path / "cache"), *map(digest, files)]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    try:
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        for data in files * 3:  # damage while they work: each notices what it uses, and fetches again
            kept = cached_file(tmp_path, data)
            beside = kept.with_name("damaged")
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(b"damage")
            os.replace(beside, kept)
        for process in processes:
            process.communicate(timeout=120)
        assert [process.returncode for process in processes] == [0, 0, 0, 0]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    (tmp_path / "root").mkdir()
    cache = ArtifactCache(tmp_path / "cache", open_source(str(tmp_path / "source")))
    for number, data in enumerate(files):
        assert cache.place(f"{number}.bin", digest(data), tmp_path / "root").read_bytes() == data
    assert [path.name for path in (tmp_path / "cache").rglob(".*")] == []
