"""Whatever is killed and whenever, going on with the run loses no row, counts none twice and gives the same bytes.

Each story begins a run, or two shards of one, and kills the controller, a worker or the only process at a place that is
drawn by a fixed seed: while a row is asked, in its teardown, before and after its evidence is kept, before and after the
report is written. Then it goes on with the run, and may be killed again, until the run ends by itself; shards are merged.
``BENCHBENCH_KILLS`` says how many kills there are in all; without it there are few::

    BENCHBENCH_KILLS=50 pytest tests/session/test_killing.py
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter

import pytest

from pytest_benchbench.manifests.sharding import Shard

KILLS = int(os.environ.get("BENCHBENCH_KILLS", "6"))
SEED = 20261130
ROWS = 24

PLACES = ("call", "teardown", "unkept", "kept", "ending", "ended")
"""Where a process is killed. The last four are places of the process that keeps the evidence."""

CONFTEST = """

import json, pathlib
import pytest

PARENT = os.getppid()
ORDER = pathlib.Path(os.environ.get("KILL_ORDER", "none"))

def kill_at(place, nodeid=""):
    '''Kill what is ordered to be killed at this place, once.'''
    if not ORDER.exists():
        return
    order = json.loads(ORDER.read_text())
    if (order["place"], order["node"]) != (place, nodeid):
        return
    ORDER.unlink()
    if order["victim"] == "self":
        os.kill(os.getpid(), signal.SIGKILL)
    elif os.getppid() == PARENT:
        os.kill(PARENT, signal.SIGKILL)  # and this worker goes on, as long as it can

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    kill_at("call", item.nodeid)

@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    kill_at("teardown", item.nodeid)

class Keeper:
    '''Kills the process that keeps the evidence.'''

    @pytest.hookimpl(tryfirst=True, specname="pytest_runtest_logreport")
    def pytest_keeper_before(self, report):
        if report.when == "call":
            kill_at("unkept", report.nodeid)

    @pytest.hookimpl(trylast=True, specname="pytest_runtest_logreport")
    def pytest_keeper_after(self, report):
        if report.when == "call":
            kill_at("kept", report.nodeid)

    @pytest.hookimpl(tryfirst=True, specname="pytest_sessionfinish")
    def pytest_keeper_ending(self):
        kill_at("ending")

    @pytest.hookimpl(trylast=True, specname="pytest_sessionfinish")
    def pytest_keeper_ended(self):
        kill_at("ended")

@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Keeper())

class Other(Toy):
    name = "other"
"""


@pytest.fixture
def deterministic(project):
    """Two detectors with right and wrong answers, measurements, and a row that is always an error."""
    conftest = project.path / "conftest.py"
    text = conftest.read_text().replace("for adapter in (Toy, Absent", "for adapter in (Toy, Other, Absent")
    conftest.write_text(text + CONFTEST)
    for number in range(1, ROWS + 1):
        says = "raise" if number == 7 else "not_detected" if number % 5 == 0 else "detected"
        adapter = "toy" if number % 3 else "other"
        project.case(f"cat-{number:02}", says, adapter=adapter, expected="unresolved" if number % 4 == 0 else "detected")
    project.write()
    return project


class Killer:
    """Begins runs, kills them and goes on with them.

    Args:
        project: Where.
        setenv: Sets a variable of the environment.
    """

    def __init__(self, project, setenv):
        self.project = project
        self.setenv = setenv
        self.draw = random.Random(SEED)
        self.kills = Counter()
        self.sessions = 0

    def finish(self, directory, kills, shard=None):
        """Begin a run, kill it up to so many times, and go on until it ends by itself."""
        options = [f"--bench-shard={shard}"] if shard else []
        for _ in range(kills):
            workers = self.draw.choice([0, 2])
            order = self.draw_kill(workers, self.left(directory, shard))
            if self.session(directory, workers, order, *options):
                self.kills[f"{order['place']}, {workers} workers, {order['victim']}"] += 1
        # a row over which processes died more often than it is retried is an error until that is asked for
        self.session(directory, self.draw.choice([0, 2]), None, "--bench-retry=error", *options)

    def left(self, directory, shard):
        """Give the node ids of the rows without evidence."""
        evidence = self.project.path / directory / "evidence.jsonl"
        lines = evidence.read_text().splitlines() if evidence.exists() else []
        kept = {json.loads(line)["key"]["case_id"] for line in lines}
        takes = Shard.parse(shard).takes if shard else lambda case_id: True
        rows = [row for row in self.project.rows if row["case_id"] not in kept and takes(row["case_id"])]
        return [f"cases.jsonl::test_detection::{row['adapter']}::{row['case_id']}" for row in rows]

    def draw_kill(self, workers, nodes):
        place = self.draw.choice((*PLACES[:2], *PLACES) if nodes else PLACES[4:])
        victim = self.draw.choice(["self", "self", "controller"]) if workers and place in PLACES[:2] else "self"
        node = "" if place in PLACES[4:] else self.draw.choice(nodes)
        return {"place": place, "victim": victim, "node": node}

    def session(self, directory, workers, order, *options):
        """Run one session; say whether it was killed."""
        self.sessions += 1
        file = self.project.path / f"kill-{self.sessions}.json"
        self.setenv("KILL_ORDER", str(file))
        if order is not None:
            file.write_text(json.dumps(order))
        begun = (self.project.path / directory / "run.json").exists()
        if not begun:
            options = [option for option in options if not option.startswith("--bench-retry")]
        processes = ("-n", str(workers)) if workers else ("-p", "no:xdist")
        where = f"--bench-{'resume' if begun else 'run-dir'}={directory}"
        command = ("-p", "no:randomly", "-p", "no:cacheprovider", *processes, "cases.jsonl", where, *options)
        status = self.project.pytester.runpytest_subprocess(*command).ret
        killed = order is not None and not file.exists()
        keeper_died = killed and (order["victim"] == "controller" or not workers or order["place"] in PLACES[2:])
        assert status == (-signal.SIGKILL if keeper_died else 1)
        file.unlink(missing_ok=True)
        return killed

    def merge(self, *directories):
        """Join shards into the directory ``run``."""
        command = [sys.executable, "-c", "from pytest_benchbench.cli import main; main()"]
        command += ["merge", *directories, "--output-dir", "run"]
        return subprocess.run(command, cwd=self.project.path, check=False, capture_output=True, text=True)


def results_of(project, directory):
    return json.dumps(json.loads((project.path / directory / "report.json").read_text())["results"])


def check(project, whole):
    """Every row stands once, no line twice, nothing is lost, and the results are those of a run that nobody killed."""
    lines = [(row["key"]["case_id"], row["key"]["attempt"], row.get("error", {}).get("type")) for row in project.evidence]
    assert max(Counter(lines).values()) == 1
    assert project.document("report.json")["results"]["rows"] == len({case_id for case_id, _, _ in lines}) == ROWS
    assert project.document("run.json")["planned"] == {"rows": ROWS, "selected": ROWS, "left_out": 0, "lost": 0}
    assert project.document("run.json")["exit_status"] == 1
    assert results_of(project, "run") == whole


@pytest.mark.timeout(3600)
def test_kills_lose_nothing_and_count_nothing_twice(deterministic, monkeypatch):
    project, killer = deterministic, Killer(deterministic, monkeypatch.setenv)
    killer.finish("whole", 0)
    whole = results_of(project, "whole")
    story = 0
    while (left := KILLS - killer.kills.total()) > 0:
        story += 1
        if killer.draw.random() < 0.25 and left > 1:
            for number in (1, 2):
                killer.finish(f"shard-{number}", 1, f"{number}/2")
            merged = killer.merge("shard-1", "shard-2")
            assert merged.returncode == 1, merged.stderr
        else:
            killer.finish("run", killer.draw.randint(1, min(3, left)))
        check(project, whole)
        for directory in ("run", "shard-1", "shard-2"):
            if (project.path / directory).exists():
                (project.path / directory).rename(project.path / f"{directory}-of-story-{story}")
    print(f"{killer.kills.total()} kills in {killer.sessions} sessions of {story} runs, nothing lost and nothing twice:")
    for what, count in sorted(killer.kills.items()):
        print(f"{count:4} {what}")
