"""Vendors that are played on this machine, over real TLS, and adapters that ask them by a clock that tests put on."""

import hashlib
import importlib.util
import json
import sys
import threading
from pathlib import Path

import pytest

from pytest_benchbench import Sample, Text
from pytest_benchbench.adapters.remote.copyleaks import Copyleaks
from pytest_benchbench.adapters.remote.gptzero import GptZero
from pytest_benchbench.adapters.remote.originality import Originality
from pytest_benchbench.adapters.remote.timekeeping import Timekeeper

KEYS = {
    "GPTZERO_API_KEY": "gz-canary-5c1f8ea2d09b4471",
    "ORIGINALITY_API_KEY": "oa-canary-77e0b2149cfa4d10",
    "COPYLEAKS_API_KEY": "cl-canary-1b9d60e83f5a4c22",
    "COPYLEAKS_EMAIL": "canary-5520@example.org",
}

TEXT = "Seven quiet herons walked along the river. " * 12

MADE_FROM = {"gptzero": (GptZero, {}), "originality": (Originality, {"model": "lite-102"}), "copyleaks": (Copyleaks, {})}


def _load_player():
    path = Path(__file__).parents[3] / "benchmarks" / "played_vendors.py"
    spec = importlib.util.spec_from_file_location("played_vendors", path)
    module = sys.modules["played_vendors"] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def player():
    """The module ``benchmarks/played_vendors.py``."""
    return _load_player()


@pytest.fixture(scope="session")
def played_server(player, tmp_path_factory):
    vendors = player.PlayedVendors(tmp_path_factory.mktemp("played"))
    yield vendors
    vendors.close()


@pytest.fixture
def vendors(played_server):
    """The played vendors, with nothing asked yet."""
    played_server.reset()
    return played_server


@pytest.fixture
def keys(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return KEYS


class Clock(Timekeeper):
    """Time that passes only where somebody waits, and chance that always takes the larger number."""

    def __init__(self):
        super().__init__(lambda: self.now, lambda: 1_800_000_000.0 + self.now, self._pass, lambda low, high: high)
        self.now = 0.0
        self.waits = []
        self._changing = threading.Lock()

    def _pass(self, seconds, ended):
        with self._changing:
            self.waits.append(seconds)
            self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ask(vendors, keys, clock):
    """Make a loaded adapter that asks the played vendors: ``ask("gptzero", version="...")``."""
    made = []

    def make(vendor, **options):
        adapter_class, always = MADE_FROM[vendor]
        given = {"base_url": vendors.url, "ca_file": vendors.ca_file, "timeout": 30.0, **always, **options}
        adapter = adapter_class(adapter_class.Options(**given), clock=clock)
        adapter.load()
        made.append(adapter)
        return adapter

    yield make
    for adapter in made:
        adapter.close()


@pytest.fixture
def sample_of():
    """Make a sample of a text."""

    def sample(text):
        data = text.encode()
        return Sample("text", hashlib.sha256(data).hexdigest(), data, Text(text, {"rule": "utf-8"}))

    return sample


@pytest.fixture
def texts(sample_of):
    """Make samples of different texts that every vendor takes: 80 words, more than 255 characters."""

    def make(count):
        return [
            sample_of(f"Text {number}. " + "Seven quiet herons walked along the river. " * 12) for number in range(count)
        ]

    return make


class Project:
    """A golden set in a folder, about which the played vendors are asked."""

    def __init__(self, pytester, vendors):
        self.pytester = pytester
        self.path = pytester.path
        self.vendors = vendors
        self.reached = f"base_url={vendors.url},ca_file={vendors.ca_file},timeout=30"

    def texts(self, count):
        samples = [
            {
                "id": f"s-{number}",
                "split": "holdout",
                "category": "essay",
                "label": "ai",
                "text": f"Text {number}. {TEXT}",
                "provenance": {"kind": "ai", "model": "generator", "date": "2026-01-01", "prompt": "write"},
                "labelOwner": "A",
                "labelSource": "provenance",
                "borderline": False,
                "reviewers": ["B"],
            }
            for number in range(count)
        ]
        head = {"schema_version": 1, "name": "set", "version": "v1", "status": "example", "licenses": ["CC0-1.0"]}
        data = json.dumps({**head, "samples": samples}).encode()
        (self.path / "golden.json").write_bytes(data)
        (self.path / "golden.sha256").write_text(f"{hashlib.sha256(data).hexdigest()}  golden.json\n")

    def run(self, *arguments, workers=0, network="allow"):
        given = ["golden.json", "--bench-split=holdout", "--bench-html=off", "-p", "no:randomly", "-p", "no:cacheprovider"]
        spread = ["-n", str(workers)] if workers else ["-p", "no:xdist"]
        run_dir = [] if "--bench-resume=run" in arguments else ["--bench-run-dir=run"]
        return self.pytester.runpytest_subprocess(*given, *spread, f"--bench-network={network}", *run_dir, *arguments)

    @property
    def rows(self):
        return [json.loads(line) for line in (self.path / "run" / "evidence.jsonl").read_text().splitlines()]

    def written(self):
        for path in self.path.rglob("*"):
            if path.is_file() and path.name != "golden.json":
                yield path, path.read_bytes().decode("utf-8", "replace")


@pytest.fixture
def project(pytester, vendors, keys):
    return Project(pytester, vendors)
