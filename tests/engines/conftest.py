"""A project with a toy detector, and real scheduler and worker processes that listen on this machine alone."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest

CONFTEST = """
import os, signal
from pytest_benchbench import Adapter, AdapterDescription, Detection

class Toy(Adapter):
    '''Answers what the file says.'''
    name = "toy"
    media_types = frozenset({"image"})
    needs = "bytes"

    def detect(self, sample):
        word, *rest = sample.data.decode().split()
        if word == "hold":  # the first time until it is interrupted, once it has told who runs it
            flag, pipe = rest[:2]
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                word = "detected"
            else:
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # to miss none, however early it comes
                with open(pipe, "w") as told:
                    print(os.environ.get("TOLD_NAME"), os.getpid(), file=told)
                signal.sigwait([signal.SIGINT])
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
                raise KeyboardInterrupt
        if word == "die":  # the first time
            try:
                os.close(os.open(rest[0], os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                word = "detected"
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return Detection(word, score=0.5 if word == "scored" else None, reason="says the file")

    def describe(self):
        return AdapterDescription("1", "what the file says")

def pytest_benchbench_adapters(registry):
    registry.register(Toy)
"""


class Project:
    """A folder in which pytest can run a manifest."""

    def __init__(self, path):
        self.path = path
        self.rows = []
        path.mkdir()
        (path / "conftest.py").write_text(CONFTEST)
        (path / "pytest.ini").write_text("[pytest]\n")

    def case(self, case_id, says="detected", expected="detected"):
        """Add a case whose file says what the detector will answer."""
        data = f"{says} about {case_id}".encode()
        file = self.path / "media" / f"{len(self.rows)}.bin"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
        self.rows.append(
            {
                "schema_version": 1,
                "case_id": case_id,
                "pair_id": case_id,
                "media_type": "image",
                "adapter": "toy",
                "arm": "positive",
                "state": "marked",
                "path": f"media/{file.name}",
                "sha256": hashlib.sha256(data).hexdigest(),
                "reference_path": None,
                "reference_sha256": None,
                "source_revision": "toy@1",
                "transform": {"name": "none", "revision": "1", "parameters": {}},
                "seed": None,
                "expected": expected,
            }
        )

    def cases(self, count):
        """Add some cases that meet their expectation."""
        for number in range(count):
            self.case(f"case-{number:03}")

    def write(self, name="cases.jsonl"):
        """Write the manifest."""
        path = self.path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        return path

    def write_dataset(self, splits, name="dataset.jsonl"):
        """Write a manifest of labelled images, one for each split that is named."""
        rows = []
        for number, split in enumerate(splits):
            self.case(f"image-{number}", says="scored")
            case = self.rows[-1]
            rows.append(
                {
                    "id": case["case_id"],
                    "baseId": case["case_id"],
                    "sha256": case["sha256"],
                    "label": 0,
                    "split": split,
                    "source": "camera",
                    "contentGroup": "photo",
                    "transform": "none",
                    "license": "CC0-1.0",
                    "path": case["path"],
                }
            )
        path = self.path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def results(self):
        """Give the results of one ordinary run of all rows, see ``results_of``."""
        run = self.path.parent / "plain-run"
        command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider"]
        command += ["--manifest=cases.jsonl", f"--bench-run-dir={run}"]
        subprocess.run(command, cwd=self.path, env=clean_environment(), timeout=120, capture_output=True, check=False)
        return self.results_of(run)

    def results_of(self, run):
        """Give what a run's report says of the observations alone."""
        return json.dumps(json.loads((run / "report.json").read_text())["results"])


def clean_environment(**more):
    """Give the environment without what belongs to the outer pytest."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return {**kept, "PYTEST_ADDOPTS": "-p no:randomly", **more}


class Cluster:
    """A scheduler and its workers, each a process that the test may kill."""

    def __init__(self, stack, folder):
        self._stack = stack
        self._folder = folder
        self.workers = {}
        self.scheduler = self._start("distributed.cli.dask_scheduler", "--port", "0")
        self.address = self._line(self.scheduler, "Scheduler at:").split()[-1]

    def add_worker(self, name, **environment):
        """Start a worker of one thread; what runs in it finds its name in the environment."""
        arguments = [self.address, "--nthreads", "1", "--no-nanny", "--name", name, "--local-directory", self._folder]
        process = self._start("distributed.cli.dask_worker", *arguments, TOLD_NAME=name, **environment)
        self.workers[name] = process
        self._line(process, "Registered to:")
        return process

    def _start(self, module, *arguments, **environment):
        command = [sys.executable, "-m", module, "--host", "127.0.0.1", "--no-dashboard", *map(str, arguments)]
        process = subprocess.Popen(
            command, cwd=self._folder, env=clean_environment(**environment), stderr=subprocess.PIPE, text=True
        )
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        return process

    def _line(self, process, words):
        """Read what a process says until it says this; afterwards only to keep its pipe from filling up."""
        said = []
        for line in process.stderr:
            said.append(line)
            if words in line:
                drain = threading.Thread(target=process.stderr.read)
                drain.start()
                self._stack.callback(drain.join)
                self._stack.callback(process.kill)
                return line
        raise AssertionError("".join(said))


@pytest.fixture(autouse=True)
def _rows_in_the_order_of_the_file(monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:randomly")


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed", reason="pip install 'pytest-benchbench[dask]'")
    folder = tmp_path / "scratch"
    folder.mkdir()
    with ExitStack() as stack:
        yield Cluster(stack, folder)
