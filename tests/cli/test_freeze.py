"""``benchbench freeze``: the digest is written whole, beside the set itself, and replaces no other one in silence."""

import hashlib
import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main
from pytest_benchbench.manifests import new_files
from pytest_benchbench.manifests.golden_set_hash import digest_path as beside

SAMPLE = {
    "id": "h-1",
    "split": "holdout",
    "category": "prose",
    "label": "human",
    "text": "Ein Satz aus Köln, den jemand schrieb.",
    "provenance": {
        "kind": "human",
        "source": "a letter",
        "date": "1813",
        "license": "CC0-1.0",
        "termsChecked": "2026-01-02",
    },
    "labelOwner": "Ada",
    "labelSource": "provenance",
    "borderline": False,
    "reviewers": ["Bea"],
}
GOLDEN = {"schema_version": 1, "name": "g", "version": "1", "status": "final", "licenses": ["CC0-1.0"], "samples": [SAMPLE]}
FILE = "golden.json"
OTHER = "0" * 64


@pytest.fixture
def golden(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / FILE
    path.write_text(json.dumps(GOLDEN))
    return path


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def invoke(*arguments):
    return CliRunner().invoke(main, ["freeze", *map(str, arguments)])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(result, *said, code=1):
    """Make sure of an exit code and of one line that says all this."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert all(part in result.stderr for part in said), result.stderr


def test_the_digest_is_written_as_sha256sum_writes_it(golden):
    result = invoke(FILE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"golden.sha256: {sha256(golden)} of 1 sample; commit both files\n"
    assert beside(golden).read_text() == f"{sha256(golden)}  {FILE}\n"
    assert names(golden.parent) == [FILE, "golden.sha256"]


def test_a_set_that_is_frozen_already_is_left_alone(golden):
    invoke(FILE)
    before = beside(golden).stat()
    for arguments in ([FILE], [FILE, "--accept-change", sha256(golden)]):
        result = invoke(*arguments)
        assert (result.exit_code, result.stdout) == (0, f"{FILE}: frozen already: {sha256(golden)}\n")
    assert beside(golden).stat() == before


def test_a_changed_set_is_refused_and_its_digest_left(golden):
    invoke(FILE)
    old = beside(golden).read_bytes()
    frozen = sha256(golden)
    golden.write_text(json.dumps(GOLDEN | {"name": "other"}))
    refused(invoke(FILE), f"{FILE}: its SHA-256 is {sha256(golden)}", f"golden.sha256 says {frozen}", "--accept-change")
    assert beside(golden).read_bytes() == old
    assert names(golden.parent) == [FILE, "golden.sha256"]


def test_a_change_is_accepted_by_naming_the_digest_that_stands_there(golden):
    invoke(FILE)
    frozen = sha256(golden)
    golden.write_text(json.dumps(GOLDEN | {"version": "2"}))
    assert invoke(FILE, "--accept-change", frozen).exit_code == 0
    assert beside(golden).read_text() == f"{sha256(golden)}  {FILE}\n"
    assert names(golden.parent) == [FILE, "golden.sha256"]
    # the same once more names what no longer stands there
    golden.write_text(json.dumps(GOLDEN | {"version": "3"}))
    refused(invoke(FILE, "--accept-change", frozen), f"--accept-change {frozen}: golden.sha256 says", "nothing was written")


def test_a_change_of_something_else_is_not_accepted(golden):
    invoke(FILE)
    old = beside(golden).read_bytes()
    golden.write_text(json.dumps(GOLDEN | {"version": "2"}))
    refused(invoke(FILE, "--accept-change", OTHER), f"--accept-change {OTHER}: golden.sha256 says {old[:64].decode()}")
    assert beside(golden).read_bytes() == old


def test_nothing_can_be_accepted_where_nothing_was_frozen(golden):
    refused(invoke(FILE, "--accept-change", OTHER), "there is no golden.sha256")
    assert names(golden.parent) == [FILE]


@pytest.mark.parametrize("given", ["", "0", "0" * 63, "0" * 65, "A" * 64, f"{OTHER}\n", f" {OTHER}"])
def test_what_is_no_digest_is_wrong_use(golden, given):
    result = invoke(FILE, "--accept-change", given)
    assert result.exit_code == 2
    assert "64 lower-case hex digits" in result.stderr
    assert names(golden.parent) == [FILE]


DAMAGED = {
    "empty": b"",
    "a line end": b"\n",
    "a digit short": b"0" * 63,
    "byte-order mark": b"\xef\xbb\xbf%(digest)s  golden.json\n",
    "two lines": b"%(digest)s  golden.json\n%(digest)s  golden.json\n",
    "an empty line": b"%(digest)s  golden.json\n\n",
    "two carriage returns": b"%(digest)s  golden.json\r\r\n",
    "one space": b"%(digest)s golden.json\n",
    "another file": b"%(digest)s  other.json\n",
    "a path": b"%(digest)s  ./golden.json\n",
    "an escaped name": b"\\%(digest)s  golden.json\n",
    "BSD": b"SHA256 (golden.json) = %(digest)s\n",
    "digits of another script": "0\u0660".encode() * 32,
    "UTF-16": ("f" * 64).encode("utf-16"),
    "NUL": b"\0" * 64,
    "long": b"0" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("accepting", [False, True])
def test_what_is_no_digest_is_neither_taken_nor_replaced(golden, damage, accepting):
    damaged = DAMAGED[damage].replace(b"%(digest)s", sha256(golden).encode())
    beside(golden).write_bytes(damaged)
    result = invoke(FILE, *(("--accept-change", sha256(golden)) if accepting else ()))
    refused(result, "golden.sha256: is ", "nothing was written: restore it, or remove it first")
    assert beside(golden).read_bytes() == damaged


@pytest.mark.parametrize("form", ["{}  golden.json\n", "{} *golden.json\r\n", "{}\n", "{}"])
def test_a_digest_in_another_form_stands(golden, form):
    for digest in (sha256(golden), sha256(golden).upper()):
        beside(golden).write_bytes(form.format(digest).encode())
        assert invoke(FILE).stdout == f"{FILE}: frozen already: {sha256(golden)}\n"
    beside(golden).write_bytes(form.format(OTHER).encode())
    refused(invoke(FILE), f"golden.sha256 says {OTHER}")
    assert invoke(FILE, "--accept-change", OTHER).exit_code == 0
    assert beside(golden).read_text() == f"{sha256(golden)}  {FILE}\n"


@pytest.mark.parametrize("made", ["folder", "pipe", "dangling link"])
def test_what_is_no_file_in_the_place_of_the_digest(golden, made):
    place = beside(golden)
    {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place), "dangling link": lambda: place.symlink_to("none")}[made]()
    before = names(golden.parent)
    refused(invoke(FILE), "golden.sha256: cannot be read: ", "remove it first")
    assert names(golden.parent) == before


def test_a_link_to_the_set_names_the_place_where_the_digest_is(golden):
    real = golden.parent / "real"
    real.mkdir()
    golden.rename(real / "set.json")
    golden.symlink_to("real/set.json")
    result = invoke(FILE)
    assert result.stdout == f"real/set.sha256: {sha256(golden)} of 1 sample; commit both files\n"
    assert names(golden.parent) == [FILE, "real"]
    assert (real / "set.sha256").read_text() == f"{sha256(golden)}  set.json\n"
    (real / "set.json").write_text(json.dumps(GOLDEN | {"name": "other"}))
    refused(invoke(FILE), f"{FILE}: its SHA-256 is", "but real/set.sha256 says")


def test_a_link_to_a_set_elsewhere_names_the_whole_place(golden, tmp_path_factory):
    real = tmp_path_factory.mktemp("elsewhere") / "set.json"
    golden.rename(real)
    golden.symlink_to(real)
    assert invoke(FILE).stdout.startswith(f"{real.with_suffix('.sha256')}: ")


def test_from_another_working_directory(golden, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    given = os.path.relpath(golden)
    assert invoke(given).stdout.startswith(f"{given.removesuffix('.json')}.sha256: ")
    assert beside(golden).read_text() == f"{sha256(golden)}  {FILE}\n"
    assert not list(os.scandir("."))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"samples": []}',
        pytest.param(b"[" * 100_000, id="deep"),
        json.dumps(GOLDEN | {"samples": []}).encode(),
        json.dumps(GOLDEN | {"unknown": 1}).encode(),
        json.dumps(GOLDEN).replace('"name"', '"name": "x", "name"').encode(),
        json.dumps(GOLDEN | {"samples": [SAMPLE, SAMPLE]}).encode(),
        json.dumps(GOLDEN | {"samples": [SAMPLE | {"label": "ai"}]}).encode(),
        json.dumps(GOLDEN | {"samples": [SAMPLE | {"text": "\ud800"}]}).encode(),
    ],
)
def test_an_invalid_set_is_not_frozen(golden, content):
    golden.write_bytes(content)
    result = invoke(FILE)
    assert (result.exit_code, result.stdout) == (1, "")
    assert all(line.removeprefix("Error: ").startswith(FILE) for line in result.stderr.splitlines())
    assert "Traceback" not in result.stderr
    assert names(golden.parent) == [FILE]


def test_faults_tell_no_text_of_a_sample(golden):
    golden.write_text(json.dumps(GOLDEN | {"samples": [SAMPLE | {"text": ["secret"]}]}))
    assert "secret" not in invoke(FILE).stderr


def test_what_is_no_file_is_refused(golden):
    os.mkfifo("pipe.json")
    refused(invoke("pipe.json"), "pipe.json: cannot be read: not a regular file")
    for name in ("none.json", "."):
        assert invoke(name).exit_code == 2


def test_a_set_with_the_name_of_a_digest_would_be_its_own(golden):
    golden.rename("golden.sha256")
    refused(invoke("golden.sha256"), "golden.sha256: has the name that its own digest would have; let it end in .json")


@pytest.mark.parametrize(
    "name", ["a b.json", "-x.json", ".json", "golden", "a.b.json", "Köln.json", "'$(id)'.json", "x\u202ey.json"]
)
def test_odd_names_are_frozen_and_found_again(golden, name):
    golden.rename(name)
    assert invoke("--", name).exit_code == 0
    assert beside(golden.with_name(name)).read_text() == f"{sha256(golden.with_name(name))}  {name}\n"
    assert "frozen already" in invoke("--", name).stdout


def test_names_that_a_terminal_would_obey_are_shown_escaped(golden):
    golden.rename("e\x1b[31m.json")
    assert invoke("e\x1b[31m.json").stdout.startswith("e\\x1b[31m.sha256: ")
    golden.with_name("e\x1b[31m.json").rename("a\nb.json")
    refused(invoke("a\nb.json"), "a\\nb.sha256: cannot name the file", "rename it")
    refused(invoke("a\nb.json", "--accept-change", OTHER), "there is no a\\nb.sha256")


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there alone")
@pytest.mark.parametrize("name", [b"K\xc3\xb6ln.json", b"K\xf6ln.json"])
@pytest.mark.parametrize("mode", ["0", "1"])
def test_names_that_the_locale_cannot_read(golden, name, mode):
    golden.rename(os.fsdecode(name))
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": mode, "PYTHONCOERCECLOCALE": "0"}
    command = [os.fsencode(sys.executable), b"-c", b"from pytest_benchbench.cli import main; main()", b"freeze", name]
    for said in (b" of 1 sample; commit both files", b": frozen already: "):
        done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        assert said in done.stdout
    assert subprocess.run([b"sha256sum", b"-c", name.replace(b"json", b"sha256")], capture_output=True).returncode == 0


@pytest.mark.parametrize("standing", [None, OTHER])
def test_a_folder_that_cannot_be_written(golden, monkeypatch, standing):
    if standing:
        beside(golden).write_text(standing)
    before = names(golden.parent)

    def read_only(self, *arguments, **more):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", read_only)
    result = invoke(FILE, *(("--accept-change", standing) if standing else ()))
    monkeypatch.undo()
    refused(result, "golden.sha256: cannot be written: Permission denied")
    assert names(golden.parent) == before
    assert not standing or beside(golden).read_text() == standing


@pytest.mark.parametrize("standing", [None, OTHER])
def test_a_disk_that_is_full_leaves_nothing_half_written(golden, monkeypatch, standing):
    if standing:
        beside(golden).write_text(standing)
    before = names(golden.parent)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    result = invoke(FILE, *(("--accept-change", standing) if standing else ()))
    refused(result, "golden.sha256: cannot be written: No space left on device")
    assert names(golden.parent) == before
    assert not standing or beside(golden).read_text() == standing


def test_somebody_else_freezes_at_the_same_time(golden, monkeypatch):
    def late(beside_it, path):
        path.write_text(OTHER)
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(new_files, "put_new", late)
    refused(invoke(FILE), "golden.sha256: was just written by somebody else; freeze again")
    assert names(golden.parent) == [FILE, "golden.sha256"]
    assert beside(golden).read_text() == OTHER


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process can be killed so")
@pytest.mark.parametrize("standing", [None, OTHER])
def test_killed_just_before_the_end_nothing_half_written_stands_there(golden, standing):
    if standing:
        beside(golden).write_text(standing)
    code = (
        "import os, signal; os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL);"
        "from pytest_benchbench.cli import main; main()"
    )
    accepting = ["--accept-change", standing] if standing else []
    done = subprocess.run([sys.executable, "-c", code, "freeze", FILE, *accepting], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert beside(golden).exists() == bool(standing)
    assert not standing or beside(golden).read_text() == standing
    assert invoke(FILE, *accepting).exit_code == 0
    assert beside(golden).read_text() == f"{sha256(golden)}  {FILE}\n"
