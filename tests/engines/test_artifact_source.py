"""Where artifacts are fetched from: folders and what fsspec opens, and names that lead nowhere else."""

import io
import os
import zipfile

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.engines import UnfetchableError
from pytest_benchbench.engines.artifact_source import blocks_of, confined_name, open_source, without_credentials


def read(source, name):
    return b"".join(blocks_of(source, name))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "set" / "media").mkdir(parents=True)
    (tmp_path / "set" / "media" / "a b#1?.png").write_bytes(b"pixels")
    (tmp_path / "secret").write_bytes(b"secret")
    return tmp_path / "set"


def zipped(folder):
    archive = folder.parent / "set.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(folder / "media" / "a b#1?.png", "media/a b#1?.png")
    return f"zip://::file://{archive}"


@pytest.mark.parametrize("written", [str, lambda folder: f"file://{folder}", zipped], ids=["path", "file-url", "zip-url"])
def test_a_file_is_read_from_a_folder_and_from_a_url(folder, written):
    source = open_source(written(folder))
    assert read(source, "media/a b#1?.png") == b"pixels"
    with pytest.raises(UnfetchableError, match="there is no such file") as caught:
        read(source, "media/none.png")
    assert not caught.value.passing


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "media/../../secret", "..", "a/..", "", ".", "./", "a\nb", "\0"]
)
def test_a_name_that_leads_elsewhere_is_refused(name):
    with pytest.raises(UnfetchableError):
        confined_name(name)


@given(st.text(st.sampled_from("ab./\\ \0\n"), max_size=12))
def test_a_confined_name_stays_below_any_folder(name):
    try:
        confined = confined_name(name)
    except UnfetchableError:
        return
    path = os.path.normpath(f"/folder/{confined}")
    assert path == f"/folder/{confined}"
    assert path.startswith("/folder/")
    assert confined_name(confined) == confined


def test_a_link_out_of_a_folder_is_refused(folder):
    (folder / "link").symlink_to(folder.parent / "secret")
    (folder / "up").symlink_to(folder.parent)
    source = open_source(str(folder))
    for name in ("link", "up/secret"):
        with pytest.raises(UnfetchableError, match="leaves the folder"):
            read(source, name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_its_writer(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(UnfetchableError, match="not a regular file"):
        read(open_source(str(folder)), "pipe")


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UnfetchableError, match="no such folder"):
        open_source(str(tmp_path / "none"))


def test_a_url_of_an_unknown_kind_names_no_password():
    with pytest.raises(UnfetchableError) as caught:
        open_source("nosuch://user:hunter2@host/set")
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_credentials_are_taken_out_of_any_url_of_a_text():
    assert without_credentials("cannot open ftp://me:pw@host/a and s3://bucket/b@c") == (
        "cannot open ftp://host/a and s3://bucket/b@c"
    )


def test_a_server_that_does_not_answer_is_a_passing_fault():
    fsspec = pytest.importorskip("fsspec")

    class Silent(fsspec.AbstractFileSystem):
        """Says of whatever goes wrong that there is no such file, as that of the web does."""

        protocol = "silent"

        def open(self, path, mode):
            raise FileNotFoundError(path) from ConnectionRefusedError("connection refused")

    fsspec.register_implementation("silent", Silent, clobber=True)
    with pytest.raises(UnfetchableError, match="ConnectionRefusedError: connection refused") as caught:
        read(open_source("silent://host/set"), "a")
    assert caught.value.passing


class Breaking(io.BytesIO):
    """Ends in the middle, as a connection does."""

    def read(self, size=-1):
        if self.tell():
            raise ConnectionResetError("reset by peer")
        return super().read(1)


class BreakingSource:
    def open(self, name):
        return Breaking(b"pixels")


def test_a_file_that_breaks_off_is_a_passing_fault():
    with pytest.raises(UnfetchableError, match="ConnectionResetError: reset by peer") as caught:
        read(BreakingSource(), "a")
    assert caught.value.passing
