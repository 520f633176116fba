"""From a manifest's path to bytes that are the pinned ones: confinement, special files, digests."""

import hashlib
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.artifacts import verification
from pytest_benchbench.artifacts.verification import (
    ArtifactMismatchError,
    ArtifactPathError,
    ArtifactUnreadableError,
    NamedFile,
    preflight,
    read_verified,
    resolve_artifact,
)

DIGEST = hashlib.sha256(b"cat").hexdigest()


@pytest.fixture
def base(tmp_path):
    """A manifest's directory with ``cat.png`` and ``sub/cat.png``, beside ``outside/cat.png``."""
    for directory in ("manifest", "manifest/sub", "outside"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "cat.png").write_bytes(b"cat")
    return tmp_path / "manifest"


# Confinement


@pytest.mark.parametrize(
    "relative", ["cat.png", "./cat.png", "sub/cat.png", "sub/../cat.png", "not-there.png", "a..b", "..cat"]
)
def test_paths_inside_the_manifests_directory_resolve(base, relative):
    assert resolve_artifact(relative, base=base, roots=[]) == os.path.realpath(base / relative)


@pytest.mark.parametrize(
    "relative", ["../outside/cat.png", "..", "sub/../../outside/cat.png", "/etc/passwd", "../manifest-2/cat.png"]
)
def test_paths_that_leave_it_are_refused(base, relative):
    with pytest.raises(ArtifactPathError, match="leaves the manifest's directory"):
        resolve_artifact(relative, base=base, roots=[])


@pytest.mark.parametrize("relative", ["cat\0.png", "\ud800.png"])
def test_what_is_no_path_is_refused(base, relative):
    with pytest.raises(ArtifactPathError, match="is not a path"):
        resolve_artifact(relative, base=base, roots=[])


def test_a_root_allows_what_lies_in_it_and_no_more(base):
    outside = base.parent / "outside"
    for relative in ("../outside/cat.png", str(outside / "cat.png")):
        assert resolve_artifact(relative, base=base, roots=[outside]) == str(outside / "cat.png")
    with pytest.raises(ArtifactPathError):
        resolve_artifact("../elsewhere/cat.png", base=base, roots=[outside])


def test_a_symbolic_link_to_outside_is_refused(base):
    (base / "link.png").symlink_to("../outside/cat.png")
    with pytest.raises(ArtifactPathError):
        resolve_artifact("link.png", base=base, roots=[])


def test_a_symbolic_link_to_a_directory_outside_is_refused_on_the_way(base):
    (base / "sub" / "link").symlink_to("../../outside", target_is_directory=True)
    with pytest.raises(ArtifactPathError):
        resolve_artifact("sub/link/cat.png", base=base, roots=[])


def test_a_symbolic_link_that_stays_inside_is_followed(base):
    (base / "link").symlink_to("sub", target_is_directory=True)
    assert resolve_artifact("link/cat.png", base=base, roots=[]) == str(base / "sub" / "cat.png")


def test_a_manifest_reached_through_a_symbolic_link_has_its_files_with_it(base):
    entrance = base.parent / "entrance"
    entrance.symlink_to(base, target_is_directory=True)
    assert resolve_artifact("cat.png", base=entrance, roots=[]) == str(base / "cat.png")


def test_links_in_a_circle_end_as_an_unreadable_file(base):
    (base / "one").symlink_to("two")
    (base / "two").symlink_to("one")
    with pytest.raises((ArtifactPathError, ArtifactUnreadableError)):
        read_verified(resolve_artifact("one", base=base, roots=[]), DIGEST)


# Reading


def test_the_bytes_returned_are_the_bytes_hashed(save):
    path, digest = save("cat.png", bytes(range(256)) * 5000)
    assert read_verified(path, digest) == bytes(range(256)) * 5000


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 5000])
def test_a_disk_that_gives_less_at_once_is_read_to_the_end(save, monkeypatch, size):
    path, digest = save("cat.png", bytes(number % 251 for number in range(size)))
    read = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, most: read(descriptor, min(most, 1000)))
    assert len(read_verified(path, digest)) == size


@pytest.mark.parametrize("change", [b"", b"ca", b"cat!"])
def test_a_file_that_changes_while_it_is_read_is_refused(save, monkeypatch, change):
    path, digest = save("cat.png", b"cat")
    read = os.read

    def write_and_read(descriptor, most):
        path.write_bytes(change)
        return read(descriptor, most)

    monkeypatch.setattr(os, "read", write_and_read)
    with pytest.raises(ArtifactUnreadableError, match=r"^cat\.png changed while it was read$"):
        read_verified(path, digest)


def test_an_empty_file_can_be_verified(save):
    assert read_verified(*save("empty", b"")) == b""


def test_other_bytes_are_a_mismatch_with_both_digests(base):
    with pytest.raises(ArtifactMismatchError, match=f"^cat.png has {DIGEST}, the manifest says {'0' * 64}$"):
        read_verified(base / "cat.png", "0" * 64)


def test_a_missing_file_is_named(base):
    with pytest.raises(ArtifactUnreadableError, match=r"^dog\.png: there is no such file$"):
        read_verified(base / "dog.png", DIGEST)


def test_a_directory_is_no_artifact(base):
    with pytest.raises(ArtifactUnreadableError, match=r"^sub is a directory, not a file$"):
        read_verified(base / "sub", DIGEST)


def test_a_fifo_is_refused_without_waiting_for_a_writer(base):
    os.mkfifo(base / "fifo")
    with pytest.raises(ArtifactUnreadableError, match=r"^fifo is not a regular file$"):
        read_verified(base / "fifo", DIGEST)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_refused_without_being_opened(monkeypatch, device):
    monkeypatch.setattr(os, "open", None)
    with pytest.raises(ArtifactUnreadableError, match=r"is not a regular file$"):
        read_verified(Path(device), DIGEST)


@pytest.mark.parametrize("put", ["fifo", "link"])
def test_what_takes_the_name_between_looking_and_opening_is_refused(base, monkeypatch, put):
    path = base / "cat.png"
    look = os.lstat

    def look_and_swap(name):
        status = look(name)
        path.unlink()
        if put == "fifo":
            os.mkfifo(path)
        else:
            path.symlink_to(base.parent / "outside" / "cat.png")
        return status

    monkeypatch.setattr(os, "lstat", look_and_swap)
    with pytest.raises(ArtifactUnreadableError):
        read_verified(path, DIGEST)


def test_a_link_put_there_after_resolving_is_refused(base):
    path = Path(resolve_artifact("cat.png", base=base, roots=[]))
    path.unlink()
    path.symlink_to("../outside/cat.png")
    with pytest.raises(ArtifactUnreadableError):
        read_verified(path, DIGEST)


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path):
    huge = tmp_path / "huge.png"
    with huge.open("wb") as file:
        file.truncate(verification.MAX_ARTIFACT_BYTES + 1)  # sparse: takes no room
    size = verification.MAX_ARTIFACT_BYTES
    with pytest.raises(
        ArtifactUnreadableError, match=f"{size + 1} bytes, more than the {size} that an artifact may have"
    ) as caught:
        read_verified(huge, DIGEST)
    assert preflight([NamedFile(huge, DIGEST, "cases.jsonl:1: sha256")]) == [f"cases.jsonl:1: sha256: {caught.value}"]


def test_a_file_that_grows_while_it_is_read_is_refused(base, monkeypatch):
    look = os.fstat

    def look_and_append(descriptor):
        status = look(descriptor)
        with (base / "cat.png").open("ab") as file:
            file.write(b"!")
        return status

    monkeypatch.setattr(os, "fstat", look_and_append)
    with pytest.raises(ArtifactUnreadableError, match="changed while it was read"):
        read_verified(base / "cat.png", DIGEST)


def test_a_file_without_permission_is_refused_in_the_systems_words(base, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(ArtifactUnreadableError, match=r"^cat\.png: permission denied$"):
        read_verified(base / "cat.png", DIGEST)


# Preflight


def test_preflight_names_every_fault_in_manifest_order(base):
    os.mkfifo(base / "fifo")
    files = [
        NamedFile(base / "cat.png", DIGEST, "cases.jsonl:1: sha256"),
        NamedFile(base / "cat.png", "9b1c" * 16, "cases.jsonl:2: sha256"),
        NamedFile(base / "dog.png", DIGEST, "cases.jsonl:3: reference_sha256"),
        NamedFile(base / "sub", DIGEST, "cases.jsonl:4: sha256"),
        NamedFile(base / "fifo", DIGEST, "cases.jsonl:5: sha256"),
        NamedFile(base / "sub" / "cat.png", DIGEST, "cases.jsonl:6: sha256"),
    ]
    assert preflight(iter(files)) == [
        f"cases.jsonl:2: sha256: cat.png has {DIGEST}, the manifest says {'9b1c' * 16}",
        "cases.jsonl:3: reference_sha256: dog.png: there is no such file",
        "cases.jsonl:4: sha256: sub is a directory, not a file",
        "cases.jsonl:5: sha256: fifo is not a regular file",
    ]


def test_preflight_shows_the_path_as_it_is_written_and_a_missing_file_at_its_place(base):
    path = base / "sub" / "cat.png"
    gone = base / "sub" / "dog.png"
    files = [
        NamedFile(path, "0" * 64, "c.jsonl:1: sha256", "c.jsonl:1: path", "sub/cat.png"),
        NamedFile(path, "0" * 64, "c.jsonl:2: sha256", path_origin="c.jsonl:2: path", written="./sub/cat.png"),
        NamedFile(gone, DIGEST, "c.jsonl:3: reference_sha256", "c.jsonl:3: reference_path", "sub/../sub/dog.png"),
        NamedFile(gone.parent, DIGEST, "c.jsonl:4: sha256", "c.jsonl:4: path", "sub"),
    ]
    assert preflight(files) == [
        f"c.jsonl:1: sha256: sub/cat.png has {DIGEST}, the manifest says {'0' * 64}",
        f"c.jsonl:2: sha256: ./sub/cat.png has {DIGEST}, the manifest says {'0' * 64}",
        "c.jsonl:3: reference_path: sub/../sub/dog.png: there is no such file",
        "c.jsonl:4: path: sub is a directory, not a file",
    ]


@pytest.mark.parametrize("count", [1, 100])
def test_a_fault_found_before_keeps_its_place(base, count):
    files = [NamedFile(base / "dog.png", DIGEST, "dog"), "elsewhere", NamedFile(base / "cat.png", DIGEST, "cat")]
    assert preflight(files * count, threads=1) == ["dog: dog.png: there is no such file", "elsewhere"] * count


def test_preflight_of_nothing_finds_nothing():
    assert preflight([]) == []


@pytest.fixture(scope="session")
def menagerie(tmp_path_factory):
    """Files of several sizes, one of them missing, with their digests."""
    directory = tmp_path_factory.mktemp("menagerie")
    found = {}
    for number, size in enumerate((0, 1, 1000, 70_000, 300_000)):
        path = directory / f"{number}.bin"
        path.write_bytes(bytes([number]) * size)
        found[path] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found | {directory / "missing.bin": None}


@settings(deadline=None)
@given(data=st.data(), threads=st.integers(1, 5))
def test_preflight_is_the_plain_loop_with_threads(menagerie, data, threads):
    names = data.draw(st.lists(st.tuples(st.sampled_from(sorted(menagerie)), st.booleans()), max_size=120))
    files = [
        NamedFile(path, menagerie[path] if right and menagerie[path] else "0" * 64, f"{n}")
        for n, (path, right) in enumerate(names)
    ]
    expected = [
        f"{n}: {path.name}: there is no such file"
        if menagerie[path] is None
        else f"{n}: {path.name} has {menagerie[path]}, the manifest says {'0' * 64}"
        for n, (path, right) in enumerate(names)
        if menagerie[path] is None or not right
    ]
    assert preflight(files, threads=threads) == expected


def test_each_file_is_hashed_once_and_few_are_in_flight(tmp_path, monkeypatch):
    hashed, ahead, lock = [], [], threading.Lock()
    digest = verification._digest

    def counted(path):
        found = digest(path)
        with lock:
            hashed.append(path)
        return found

    def files():
        for number in range(300):
            path = tmp_path / f"{number}"
            path.write_bytes(b"cat")
            ahead.append(number + 1 - len(hashed))
            for row in range(3):
                yield NamedFile(path, DIGEST, f"{number}.{row}")

    monkeypatch.setattr(verification, "_digest", counted)
    assert preflight(files(), threads=2) == []
    assert len(set(hashed)) == len(hashed) == 300
    assert max(ahead) <= (2 * verification._TASKS_IN_FLIGHT_PER_THREAD + 1) * verification._FILES_OF_A_TASK


@pytest.mark.parametrize("beyond", [-1, 0, 1, 300_000])
def test_files_of_any_size_are_hashed_whole(tmp_path, beyond):
    data = bytes(range(256)) * 5000
    data = data[: verification._SMALL_BYTES + beyond]
    path = tmp_path / "file"
    path.write_bytes(data)
    assert preflight([NamedFile(path, hashlib.sha256(data).hexdigest(), "1")]) == []
    assert len(preflight([NamedFile(path, hashlib.sha256(data[:-1]).hexdigest(), "1")])) == 1


def test_no_descriptor_is_left_open(base):
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    os.mkfifo(base / "fifo")
    preflight([NamedFile(base / name, DIGEST, name) for name in ("cat.png", "fifo", "sub", "dog.png")] * 20)
    read_verified(base / "cat.png", DIGEST)
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after == before
