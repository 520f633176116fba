"""pytest-xdist on another machine by ssh: here the other machine is another checkout behind an sshd of this test's own."""

import getpass
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_benchbench

pytest.importorskip("xdist")

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")

pytestmark = pytest.mark.skipif(
    SSHD is None or shutil.which("ssh") is None,
    reason="no sshd or no ssh here: apt-get install -y openssh-server openssh-client",
)

TELLS_WHERE = """
import os
from pytest_benchbench import Adapter, AdapterDescription, Detection

class Toy(Adapter):
    name = "toy"
    media_types = frozenset({"image"})
    needs = "bytes"

    def detect(self, sample):
        return Detection(sample.data.decode().split()[0], reason=os.getcwd())

    def describe(self):
        return AdapterDescription("1", "what the file says")

def pytest_benchbench_adapters(registry):
    registry.register(Toy)
"""


class Server:
    """An sshd that knows one key, and the configuration by which a client reaches it as host ``there``."""

    def __init__(self, folder):
        for name in ("host", "client"):
            keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name]
            subprocess.run(keygen, check=True, timeout=60)
        (folder / "authorized").write_bytes((folder / "client.pub").read_bytes())
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1:{port}\nHostKey {folder / 'host'}\nAuthorizedKeysFile {folder / 'authorized'}\n"
            "PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            "AcceptEnv none\n"
        )
        host_key = (folder / "host.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{port} {host_key}")
        self.config = folder / "ssh_config"
        self.config.write_text(
            f"Host there\nHostName 127.0.0.1\nPort {port}\nUser {getpass.getuser()}\nIdentityFile {folder / 'client'}\n"
            f"IdentitiesOnly yes\nUserKnownHostsFile {folder / 'known'}\nStrictHostKeyChecking yes\nBatchMode yes\n"
        )
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # where it keeps its unprivileged half; its package's service makes it
        command = [SSHD, "-D", "-e", "-f", folder / "sshd_config"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def await_listening(self):
        said = []
        for line in self.process.stderr:
            said.append(line)
            if "Server listening" in line:
                return
        pytest.fail("".join(said))


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    server = Server(folder)
    try:
        server.await_listening()
        yield server
    finally:
        server.process.kill()
        server.process.communicate()


@pytest.fixture
def there(project, tmp_path):
    """Give a copy of the project, the checkout of the other machine; the manifest lies in a folder of each."""
    project.cases(6)
    (project.path / "sets").mkdir()
    project.write("sets/cases.jsonl")
    (project.path / "media").rename(project.path / "sets" / "media")
    (project.path / "conftest.py").write_text(TELLS_WHERE)
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly\n")  # the environment does not travel
    shutil.copytree(project.path, tmp_path / "there")
    return tmp_path / "there"


def run(project, server, there, *arguments):
    spec = f"2*ssh=there//ssh_config={server.config}//python={sys.executable}//chdir={there}"
    command = [sys.executable, "-m", "pytest", "-d", "--tx", spec, "--bench-run-dir=run", *arguments]
    return subprocess.run(command, cwd=project.path, capture_output=True, text=True, timeout=180, check=False)


def evidence(project):
    return [json.loads(line) for line in (project.path / "run" / "evidence.jsonl").read_text().splitlines()]


def test_rows_run_in_the_other_checkout_and_evidence_comes_back(project, server, there):
    done = run(project, server, there, "--manifest=sets/cases.jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = evidence(project)
    assert {row["detection"]["reason"] for row in rows} == {str(there)}
    assert sorted(row["key"]["case_id"] for row in rows) == [row["case_id"] for row in project.rows]
    assert {row["outcome"] for row in rows} == {"match"}


def test_another_manifest_there_is_refused(project, server, there):
    manifest = there / "sets" / "cases.jsonl"
    manifest.write_text(manifest.read_text().replace('"detected"', '"not_detected"'))
    done = run(project, server, there, "--manifest=sets/cases.jsonl")
    assert done.returncode == 4
    assert "sets/cases.jsonl: the manifest was changed after it was validated" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (project.path / "run").exists()


def test_other_sources_there_are_refused(project, server, there):
    shutil.copytree(Path(pytest_benchbench.__file__).parent, there / "pytest_benchbench")
    (there / "pytest_benchbench" / "another.py").write_text("")
    done = run(project, server, there, "--manifest=sets/cases.jsonl")
    assert done.returncode == 4
    assert ": other sources of pytest-benchbench are installed there; " in done.stdout
    assert not (project.path / "run").exists()


def test_one_machine_of_several_at_fault_ends_the_run(project, server, there):
    manifest = there / "sets" / "cases.jsonl"
    manifest.write_text(manifest.read_text().replace('"detected"', '"not_detected"'))
    done = run(project, server, there, "--manifest=sets/cases.jsonl", "--tx", "popen")
    assert done.returncode == 21
    assert "sets/cases.jsonl: the manifest was changed after it was validated" in done.stdout
