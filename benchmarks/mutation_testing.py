"""Changes the code of one room in every small way that mutmut knows, and says which changes no test of the room notices.

    python benchmarks/mutation_testing.py statistics --results statistics.jsonl
    python benchmarks/mutation_testing.py gates --limit 300 --results gates.jsonl
    python benchmarks/mutation_testing.py statistics --modules folds --tests tests/statistics/test_folds.py
    python benchmarks/mutation_testing.py gates --results gates.jsonl --show        what the file says; nothing is run

mutmut (``pip install mutmut==3.8.1``) makes the mutants. They are not run by ``mutmut run``, which collects the tests anew
for each of them: here one process collects the tests of the room and runs them once, which says what they cost and which
functions they enter; then each mutant is a fork of it that runs the tests that enter the changed function, cheapest first,
until one fails. Everything happens in a copy of the repository, in a temporary folder.

A mutant has one of these fates:

    killed      a test failed
    endless     its tests took more than four times the processor time that they take without it, and 5 s
    survived    all tests that enter the function passed
    unreached   no test enters the function

Mutants run in an order that ``--seed`` shuffles, so those of a run that was stopped, or ended by ``--limit``, are a simple
random sample of all. A line is added to the results after each. Called again with the same file, the script leaves out what
was killed and still is the same change, and runs the others again. Examples of Hypothesis are the same in each run, and a
failing one is not made smaller.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

COPIED = ("pytest_benchbench", "tests", "benchmarks", "docs", "conftest.py", "pyproject.toml", "README.md", "tox.ini")

FATES = ("killed", "endless", "survived", "unreached")

ENDLESS_FACTOR, ENDLESS_SECONDS = 4, 5
"""Processor time that a mutant's tests may take: so many times what they take without it, and so many seconds more."""

WALL_SECONDS = 1800
"""How long a mutant may wait for something that never comes; a busy machine must not look like one that hangs."""

MEMORY_BYTES = 8 << 30

_PLAN, _LOG = "mutants.json", "tests.log"


def make_mutants(copy: Path, room: str, modules: list[str]) -> dict[str, str]:
    """Put all mutants of a room into a copy of the repository.

    Args:
        copy: The copy; its modules are replaced by ones that hold every mutant beside the original.
        room: A folder of the package.
        modules: Those that are changed; all of the room where there are none.

    Returns:
        The change that each mutant makes, as the lines that differ, by the name of the mutant.
    """
    from mutmut.mutation.file_mutation import mutate_file_contents

    changes = {}
    for path in sorted((copy / "pytest_benchbench" / room).glob("*.py")):
        if modules and path.stem not in modules:
            continue
        mutated = mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
        path.write_text(mutated.code, encoding="utf-8")
        lines = mutated.code.splitlines()
        bodies = {name: lines[at.start - 1 : at.end] for name, at in mutated.line_span_by_function_name.items()}
        for name in mutated.mutant_names:
            original = name.rpartition("_mutmut_")[0] + "_mutmut_orig"
            renamed = [line.replace(name, original) for line in bodies[name]]
            differing = difflib.unified_diff(bodies[original], renamed, n=0, lineterm="")
            shown = [line for line in differing if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
            changes[f"pytest_benchbench.{room}.{path.stem}.{name}"] = "\n".join(shown)
    return changes


class Mutants:
    """A pytest plugin that runs the collected tests once as they are, and then for each mutant in a fork."""

    def __init__(self, changes: dict[str, str], of: int, results: Path) -> None:
        self._changes = changes
        self._of = of
        self._results = results
        self._costs: dict[str, float] = {}
        self._failed: str | None = None
        self._sound: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Say how Hypothesis draws, before its own plugin asks."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", deadline=None, database=None, derandomize=True, phases=phases)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember a test that failed, in whichever of its phases."""
        if report.failed:
            self._failed = report.nodeid

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the tests, then the mutants; in place of pytest's own loop."""
        if session.testsfailed:
            raise session.Interrupted("tests cannot be collected")
        entering = self._run_as_they_are(session.items)
        with self._results.open("a", encoding="utf-8") as results:
            for name, change in self._changes.items():
                function = name.rpartition("__mutmut_")[0]
                items = sorted(entering[function], key=lambda item: self._costs[item.nodeid])
                found = self._run_mutant(name, items) if items else {"fate": "unreached"}
                results.write(json.dumps({"mutant": name, **found, "change": change, "of": self._of}) + "\n")
                results.flush()
        return True

    def _run_as_they_are(self, items: list[Any]) -> dict[str, list[Any]]:
        """Give the tests that enter each function."""
        from mutmut.mutation import trampoline

        entered: set[str] = set()
        trampoline.record_trampoline_hit = lambda name, caller=None: entered.add(name)
        trampoline.set_mutant_under_test("stats")
        del os.environ["MUTANT_UNDER_TEST"]  # processes that tests start have nowhere to record
        entering = defaultdict(list)
        for item, following in zip(items, [*items[1:], None], strict=True):
            entered.clear()
            start = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self._costs[item.nodeid] = time.process_time() - start
            if self._failed:
                raise RuntimeError(f"{self._failed} fails without a mutant")
            for function in entered:
                entering[function].append(item)
        trampoline.set_mutant_under_test("")
        return entering

    def _run_mutant(self, name: str, items: list[Any]) -> dict[str, Any]:
        """Run tests under a mutant until one fails."""
        code, killer, spent = self._fork(name, items)
        ended = "survived" if code == 0 else "killed"
        fate = "endless" if code in (-signal.SIGXCPU, -signal.SIGKILL) else ended
        if killer and killer not in self._sound:
            self._sound.add(killer)  # a test that fails in a fork without a mutant would prove nothing
            if self._fork("", [item for item in items if item.nodeid == killer])[0]:
                raise RuntimeError(f"{killer} fails when it is run again, without a mutant")
        return {"fate": fate, "tests": len(items), "cpu_s": round(spent, 3), **({"by": killer} if killer else {})}

    def _fork(self, name: str, items: list[Any]) -> tuple[int, str, float]:
        """Give the exit code of a fork that runs tests, the test that failed, and the processor time that it took."""
        seconds = int(ENDLESS_FACTOR * sum(self._costs[item.nodeid] for item in items)) + ENDLESS_SECONDS
        sys.stdout.flush()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            os._exit(self._run_in_fork(name, items, writing))
        os.close(writing)
        handle = os.pidfd_open(child)
        in_time = select.select([handle], [], [], WALL_SECONDS)[0]
        os.close(handle)
        if not in_time:
            os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what its tests started
        killer = os.read(reading, 65536).decode()
        os.close(reading)
        return os.waitstatus_to_exitcode(status), killer, usage.ru_utime + usage.ru_stime

    def _run_in_fork(self, name: str, items: list[Any], writing: int) -> int:
        from mutmut.mutation.trampoline import set_mutant_under_test

        set_mutant_under_test(name)
        try:
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failed:
                    os.write(writing, self._failed.encode()[:4000])
                    return 1
        except BaseException:
            return 2  # an interrupt, or an error of pytest itself: it was noticed
        return 0


def run_plan(copy: Path) -> int:
    """Be the process that collects the tests and forks: in the copy, with the plan that lies there."""
    sys.stdout = sys.stderr = (copy / _LOG).open("w", encoding="utf-8")
    plan = json.loads((copy / _PLAN).read_text(encoding="utf-8"))
    plugin = Mutants(plan["changes"], plan["of"], Path(plan["results"]))
    plain = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--hypothesis-profile=mutants"]
    return int(pytest.main(["-q", "--tb=short", *plain, *plan["tests"]], plugins=[plugin]))


def run(arguments: argparse.Namespace) -> None:
    """Make the mutants of a room, and run those that the results do not have yet."""
    with tempfile.TemporaryDirectory(prefix="benchbench-mutants-") as folder:
        copy = Path(folder).resolve()
        for name in COPIED:
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "node_modules", "_build")
                shutil.copytree(ROOT / name, copy / name, ignore=ignored)
            else:
                shutil.copy2(ROOT / name, copy / name)
        with contextlib.chdir(copy):  # mutmut reads its configuration there
            changes = make_mutants(copy, arguments.room, arguments.modules)
        order = sorted(changes)
        random.Random(arguments.seed).shuffle(order)
        order = order[: arguments.limit]
        known = {row["mutant"]: row for row in read(arguments.results)}
        killed = {name for name in order if name in known and _is_killed(known[name], changes[name])}
        plan = {
            "tests": arguments.tests or [f"tests/{arguments.room}"],
            "changes": {name: changes[name] for name in order if name not in killed},
            "of": len(changes),
            "results": str(arguments.results.resolve()),
        }
        (copy / _PLAN).write_text(json.dumps(plan), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(copy / "benchmarks" / Path(__file__).name), arguments.room, "--in-copy", str(copy)]
        if subprocess.run(command, cwd=copy, env=environment).returncode:
            sys.exit((copy / _LOG).read_text(encoding="utf-8")[-8000:])


def _is_killed(row: dict[str, Any], change: str) -> bool:
    return row["fate"] in ("killed", "endless") and row["change"] == change


def read(results: Path) -> Iterator[dict[str, Any]]:
    """Give the lines of a file of results; the last line of a mutant is the one that counts."""
    if results.exists():
        with results.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def show(results: Path) -> None:
    """Print what the results say: counts for each module, and every mutant that no test notices."""
    rows = sorted({row["mutant"]: row for row in read(results)}.values(), key=lambda row: row["mutant"])
    by_module: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        by_module[row["mutant"].split(".")[2]][row["fate"]] += 1
    for row in rows:
        if row["fate"] not in ("killed", "endless"):
            print(f"{row['fate']} {row['mutant']}\n{row['change']}\n")
    total = sum(by_module.values(), Counter())
    print("| module | mutants | " + " | ".join(FATES) + " |\n|---|---|---|---|---|---|")
    for module, fates in [*sorted(by_module.items()), ("all", total)]:
        print(f"| {module} | {fates.total()} | " + " | ".join(str(fates[fate]) for fate in FATES) + " |")
    if rows:
        noticed = total["killed"] + total["endless"]
        print(f"{noticed} of {total.total()} noticed ({noticed / total.total():.1%}); the room has {rows[-1]['of']} mutants")
        print(f"{sum(row.get('cpu_s', 0.0) for row in rows):.0f} s of processor time")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("room", help="a folder of the package: statistics, gates")
    parser.add_argument("--modules", nargs="+", default=[], help="only these modules of it")
    parser.add_argument("--tests", nargs="+", help="the tests that are to notice; those of the room unless told otherwise")
    parser.add_argument("--results", type=Path, default=Path("mutants.jsonl"), help="where a line for each mutant is added")
    parser.add_argument("--limit", type=int, help="run only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which mutants are drawn")
    parser.add_argument("--show", action="store_true", help="only print what the results say")
    parser.add_argument("--in-copy", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_copy:
        sys.exit(run_plan(arguments.in_copy))
    if not arguments.show:
        run(arguments)
    show(arguments.results)


if __name__ == "__main__":
    main()
