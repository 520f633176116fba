"""The laws of the writer: whatever was acknowledged is read back once, however the file was cut or the writing broke off."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.observation import (
    AdapterRecord,
    ArtifactRecord,
    CodeRecord,
    DetectionRecord,
    EvidenceKey,
    EvidenceRow,
    FidelityRecord,
    ManifestReference,
)
from pytest_benchbench.evidence.reading import complete_lines
from pytest_benchbench.evidence.writing import (
    EvidenceInUseError,
    EvidenceWriteError,
    EvidenceWriter,
    append_line,
    write_atomically,
)


def row(case_id):
    return EvidenceRow(
        run_id="run",
        kind="watermark",
        key=EvidenceKey("suite", "toy", case_id, None, 1),
        manifest=ManifestReference("cases.jsonl", "0" * 64, line=1),
        case={"case_id": case_id},
        row_sha256="0" * 64,
        artifact=ArtifactRecord("0" * 64, None),
        adapter=AdapterRecord("toy", "1", "rule", {}, None, ()),
        code=CodeRecord(None, None, ""),
        detection=DetectionRecord("detected", 1.0, "warm"),
        removal=None,
        fidelity=FidelityRecord("no_reference"),
        outcome="match",
        worker=None,
    )


def read(path):
    return [json.loads(line)["key"]["case_id"] for _, _, line in complete_lines(path)]


def write(path, names, *, append=False):
    writer = EvidenceWriter(path, append=append)
    if append:
        writer.cut_unfinished_line()
    for name in names:
        writer.write(row(name))
    writer.close()


# line ends inside a name are escaped in JSON, and long names cross the pieces in which the end of a file is looked at
names = st.lists(st.text(max_size=20) | st.integers(0, 70_000).map(lambda length: "x" * length), max_size=4)


@given(names, names, st.data())
def test_what_any_cut_leaves_is_gone_on_with(first, second, data):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "evidence.jsonl"
        write(path, first)
        whole = path.read_bytes()
        kept = whole[: data.draw(st.integers(0, len(whole)))]
        path.write_bytes(kept)
        write(path, second, append=True)
        assert read(path) == first[: kept.count(b"\n")] + second
        assert path.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=4), st.binary(max_size=20))
def test_a_line_is_appended_behind_the_last_whole_one(lines, cut):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "failures.jsonl"
        cut = cut.replace(b"\n", b"")
        for line in lines:
            append_line(path, line)
        with path.open("ab") as file:
            file.write(cut)
        append_line(path, b"last")
        assert path.read_bytes() == b"".join(line + b"\n" for line in [*lines, b"last"])


def test_a_new_file_overwrites_nothing(tmp_path):
    (tmp_path / "evidence.jsonl").write_bytes(b"mine\n")
    with pytest.raises(FileExistsError):
        EvidenceWriter(tmp_path / "evidence.jsonl")
    assert (tmp_path / "evidence.jsonl").read_bytes() == b"mine\n"


def test_opening_to_append_changes_nothing_yet(tmp_path):
    path = tmp_path / "evidence.jsonl"
    path.write_bytes(b'{"cut')
    EvidenceWriter(path, append=True).close()
    assert path.read_bytes() == b'{"cut'


def test_two_writers_at_once_are_refused(tmp_path):
    path = tmp_path / "evidence.jsonl"
    first = EvidenceWriter(path)
    with pytest.raises(EvidenceInUseError, match=r"evidence\.jsonl: another process is writing it"):
        EvidenceWriter(path, append=True)
    first.close()
    EvidenceWriter(path, append=True).close()


DYING = """
import os, sys
from pathlib import Path
from pytest_benchbench.evidence.writing import EvidenceWriter
writer = EvidenceWriter(Path(sys.argv[1]))
os.kill(os.getpid(), 9)
"""


def test_the_lock_goes_with_a_killed_process(tmp_path):
    path = tmp_path / "evidence.jsonl"
    assert subprocess.run([sys.executable, "-c", DYING, str(path)], check=False).returncode == -9
    EvidenceWriter(path, append=True).close()


FILLING = """
import resource, sys
from pathlib import Path
import msgspec
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.writing import EvidenceWriteError, EvidenceWriter
one = msgspec.json.decode(sys.stdin.buffer.read(), type=EvidenceRow)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
writer = EvidenceWriter(Path(sys.argv[1]))
acknowledged = 0
try:
    for _ in range(100):
        writer.write(one)
        acknowledged += 1
except EvidenceWriteError as error:
    print(acknowledged, error)
writer.close()
"""


@pytest.mark.parametrize("spare", [0, 1, 300])
def test_a_row_that_does_not_fit_is_taken_back_whole(tmp_path, spare):
    path = tmp_path / "evidence.jsonl"
    encoded = msgspec.json.encode(row("cat-01"))
    limit = 5 * (len(encoded) + 1) + spare
    command = [sys.executable, "-c", FILLING, str(path), str(limit)]
    done = subprocess.run(command, input=encoded, capture_output=True, check=True)
    assert done.stdout.decode() == f"5 {path}: {os.strerror(errno.EFBIG)}\n"
    assert path.read_bytes() == (encoded + b"\n") * 5


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_named(tmp_path):
    path = tmp_path / "evidence.jsonl"
    path.symlink_to("/dev/full")
    writer = EvidenceWriter(path, append=True)
    with pytest.raises(EvidenceWriteError, match=r"evidence\.jsonl: No space left on device"):
        writer.write(row("cat-01"))
    writer.abandon()


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path):
    (tmp_path / "report.json").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "report.json", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
