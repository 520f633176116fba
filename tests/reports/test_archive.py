import hashlib
import os
import stat
import subprocess
import zipfile

import pytest

from pytest_benchbench.reports import archive as module
from pytest_benchbench.reports.archive import ArchiveError, new_archive


@pytest.fixture
def dist(tmp_path):
    folder = tmp_path / "dist"
    (folder / "models").mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    (folder / "models" / "visual.onnx").write_bytes(b"weights")
    (folder / "ä.js").write_text("1")
    return folder


def pack(folder, path):
    with new_archive(path) as archive:
        archive.add_folder(folder)
        archive.add("notes/README", b"said\n")
        archive.add("notes/SHA256SUMS", archive.sums())
    return path


def test_files_are_packed_in_the_order_of_their_names(dist, tmp_path):
    with zipfile.ZipFile(pack(dist, tmp_path / "x.zip")) as packed:
        assert packed.namelist() == ["manifest.json", "models/visual.onnx", "ä.js", "notes/README", "notes/SHA256SUMS"]
        assert packed.read("models/visual.onnx") == b"weights"
        assert packed.testzip() is None


def test_bytes_depend_on_names_and_contents_alone(dist, tmp_path):
    first = pack(dist, tmp_path / "x.zip").read_bytes()
    for path in dist.rglob("*"):
        path.chmod(0o700)
        os.utime(path, (1, 1))
    (dist / "empty").mkdir()
    assert pack(dist, tmp_path / "y.zip").read_bytes() == first


def test_bytes_are_the_same_with_every_python(dist, tmp_path):
    packed = pack(dist, tmp_path / "x.zip").read_bytes()
    assert hashlib.sha256(packed).hexdigest() == "e6205785df2cdad6f053dfea7eefd5d01a87c0848824e9e4e4278e778907fae1"


def test_times_and_modes_are_fixed(dist, tmp_path):
    with zipfile.ZipFile(pack(dist, tmp_path / "x.zip")) as packed:
        for info in packed.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.external_attr >> 16 == stat.S_IFREG | 0o644
            assert info.compress_type == zipfile.ZIP_STORED


def test_sums_are_what_sha256sum_checks(dist, tmp_path):
    with zipfile.ZipFile(pack(dist, tmp_path / "x.zip")) as packed:
        packed.extractall(tmp_path / "out")
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "notes/SHA256SUMS"], cwd=tmp_path / "out", capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
    assert len(checked.stdout.splitlines()) == 4


def test_an_existing_file_is_left_as_it_is(dist, tmp_path):
    (tmp_path / "x.zip").write_bytes(b"old")
    with pytest.raises(ArchiveError, match=r"x\.zip: exists already"):
        pack(dist, tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes() == b"old"


def test_a_missing_folder_is_named(dist, tmp_path):
    with pytest.raises(ArchiveError, match=r"none/x\.zip: cannot be written: No such file"):
        pack(dist, tmp_path / "none" / "x.zip")


@pytest.mark.parametrize("target", ["manifest.json", "models", "nothing"])
def test_a_symbolic_link_is_refused(dist, tmp_path, target):
    (dist / "link").symlink_to(target)
    _is_refused(dist, tmp_path, "link: is a symbolic link")


def test_a_pipe_is_refused(dist, tmp_path):
    os.mkfifo(dist / "pipe")
    _is_refused(dist, tmp_path, "pipe: is neither a file nor a folder")


@pytest.mark.parametrize(
    "name", ["a:b", "a\\b", "what?", "dot.", "space ", "line\nfeed", "turned\u202etxt", "aux", "NUL.txt", "com1.tar.gz"]
)
def test_a_name_that_cannot_be_unpacked_everywhere_is_refused(dist, tmp_path, name):
    (dist / name).write_text("")
    _is_refused(dist, tmp_path, "cannot be unpacked everywhere")


def test_a_folder_of_such_a_name_is_refused_too(dist, tmp_path):
    (dist / "dot.").mkdir()
    (dist / "dot." / "file").write_text("")
    _is_refused(dist, tmp_path, "cannot be unpacked everywhere")


def test_a_name_that_is_not_unicode_is_refused(dist, tmp_path):
    (dist / os.fsdecode(b"\xff")).write_text("")
    _is_refused(dist, tmp_path, "not Unicode")


def test_names_that_differ_by_case_are_refused(dist, tmp_path):
    (dist / "Manifest.json").write_text("")
    _is_refused(dist, tmp_path, "same name as Manifest.json")


def pack_names(folder, *names):
    path = folder / "x.zip"
    with new_archive(path) as archive:
        for name in names:
            archive.add(name, name.encode())
    path.unlink()


@pytest.mark.parametrize(("inside", "file"), [("Models/x", "models"), ("a/B/x", "A/b")])
def test_a_file_and_a_folder_that_differ_by_case_are_refused(tmp_path, inside, file):
    for names in ((inside, file), (file, inside)):
        with pytest.raises(ArchiveError, match="the same name as"):
            pack_names(tmp_path, *names)
    pack_names(tmp_path, inside, f"{inside}y", f"{file}.js")


def test_letters_of_both_cases_are_compared_however_they_are_composed(tmp_path):
    with pytest.raises(ArchiveError, match="the same name as"):
        pack_names(tmp_path, "\u0390", "\u0390".upper())


@pytest.mark.parametrize("name", ["auxiliary", "null.txt", "com10", "com.json", "a.con"])
def test_a_name_that_only_begins_like_a_device_is_packed(dist, tmp_path, name):
    (dist / name).write_text("1")
    pack(dist, tmp_path / "x.zip")


def test_a_long_path_is_refused(dist, tmp_path):
    (dist / ("d" * 200)).mkdir()
    (dist / ("d" * 200) / ("f" * 40)).write_text("")
    _is_refused(dist, tmp_path, "longer than 240 bytes")


def test_the_number_of_files_is_bounded(dist, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILES", 4)
    _is_refused(dist, tmp_path, "more than 4 files")  # three, and what is said about them


def test_the_number_of_folders_is_bounded(dist, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILES", 4)
    for number in range(9):
        (dist / f"empty{number}").mkdir()
    _is_refused(dist, tmp_path, "dist: more than 4 files")


def test_the_size_of_all_files_is_bounded(dist, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 8)
    _is_refused(dist, tmp_path, "visual.onnx: with it there are more than 8 bytes")


def test_a_folder_may_not_bring_a_file_that_is_added(dist, tmp_path):
    (dist / "notes").mkdir()
    (dist / "notes" / "readme").write_text("")
    _is_refused(dist, tmp_path, "notes/README: the same name as notes/readme")


def _is_refused(dist, tmp_path, said):
    with pytest.raises(ArchiveError) as raised:
        pack(dist, tmp_path / "x.zip")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert [path.name for path in tmp_path.iterdir()] == ["dist"]
