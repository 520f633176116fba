"""A report about one or several runs, each an independent process: what all of them observed, and where they disagree."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from pytest_benchbench.adapters.base import VERDICTS
from pytest_benchbench.evidence.merging import common, version_notes
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.repeated_run import RepeatedRun
from pytest_benchbench.evidence.repeated_runs import RepeatedRuns
from pytest_benchbench.reports.listings import identity_of, order_of
from pytest_benchbench.reports.ordering import Listing
from pytest_benchbench.reports.summary import Summary
from pytest_benchbench.statistics.latency import Latency

Progress = Callable[[int], None]
"""Is told how many more bytes were read."""

_TOLD_AFTER = 1000
"""Rows after which progress is told again."""

_SHARED = ("package", "project", "options", "versions", "machine")
"""Parts of ``run.json`` of which a report about several runs gives what they have in common."""


class RunTaker(Protocol):
    """Sees the rows of all runs, one run after the other, and is told which run they are of."""

    def begin_run(self, number: int) -> None:
        """Say that the rows to come are those of another run."""

    def add(self, settled: SettledRow) -> None:
        """Take one row."""


def report_on(
    runs: RepeatedRuns,
    *,
    summary: Summary | None = None,
    exports: Sequence[RunTaker] = (),
    also: Sequence[Callable[[SettledRow], None]] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Sum up one or several runs.

    Args:
        runs: Those that were read.
        summary: What sums them up, as yet empty; an ordinary one unless told otherwise.
        exports: See every row too.
        also: So do these.
        progress: Is told how many more bytes of evidence were read.

    Returns:
        The document of ``reports.summary.build_report``, its rows being those of all runs, with a section ``runs``: what is
        known of each run, in the order of their numbers. About several runs ``inputs.evidence`` is a list, an entry of a
        list of rows says its ``run``, ``environment`` holds what the runs have in common, and ``results`` has two parts
        more: ``repetition`` (how many planned rows there are, each once, and how many of them every run has) and
        ``unstable_across_runs``, the rows about which runs disagree.

    Raises:
        EvidenceError: Evidence is damaged, or the runs cannot be counted together; see ``RepeatedRuns.feed``.
        UnknownPairError: As ``Summary.report``, as is the next.
        TuneRunError: The tune run is about something else.
    """
    are_several = len(runs.runs) > 1
    summary = summary or Summary()
    cold = _ColdCalls()
    takers: list[RunTaker] = [cold, *exports]

    def begin_run(number: int) -> None:
        if are_several:
            summary.begin_run(number)
        for taker in takers:
            taker.begin_run(number)

    watch = [] if progress is None else [_watch(runs.runs, progress)]
    runs.feed(begin_run, summary.add, *(taker.add for taker in takers), *also, *watch)
    entries = [_run_entry(number, run, runs.rows_in[number - 1], cold) for number, run in enumerate(runs.runs, 1)]
    evidence = [(run.evidence.path.name, run.evidence.sha256) for run in runs.runs]
    manifests = [manifest for run in runs.runs for manifest in run.document.get("manifests", ())]
    document = summary.report(*evidence[0], _environment(runs), manifests=manifests)
    if are_several:
        document["inputs"]["evidence"] = [{"name": name, "sha256": sha256} for name, sha256 in evidence]
        document["results"] = dict(sorted((document["results"] | _comparison(runs)).items()))
    return {**document, "runs": entries}


def _comparison(runs: RepeatedRuns) -> dict[str, Any]:
    """Give the parts of the results that only several runs have."""
    unstable = Listing()
    for found in runs.unstable_rows():
        row = found.row
        entry = {**identity_of(row), "verdicts": found.verdicts}
        unstable.add(order_of(row), dict(sorted(entry.items())))
    shared = runs.repetition()
    return {
        "repetition": {"runs": len(runs.runs), "rows": shared.rows, "rows_in_every_run": shared.in_every_run},
        "unstable_across_runs": unstable.document(),
    }


class _ColdCalls:
    """Collects for each run what the first calls of its instances took. Memory: 8 bytes a cold call."""

    def __init__(self) -> None:
        self._calls: defaultdict[int, defaultdict[str, array[float]]] = defaultdict(lambda: defaultdict(lambda: array("d")))
        self._of_run = self._calls[1]

    def begin_run(self, number: int) -> None:
        self._of_run = self._calls[number]

    def add(self, settled: SettledRow) -> None:
        detection = settled.row.detection
        if detection.call == "cold" and detection.adapter_elapsed_ms is not None and detection.status in VERDICTS:
            self._of_run[settled.row.key.adapter].append(detection.adapter_elapsed_ms)

    def document(self, number: int) -> dict[str, Any]:
        """Give for each adapter the number of cold calls of a run, their median (nearest rank) and the longest."""
        found = {adapter: Latency.of(calls) for adapter, calls in sorted(self._calls[number].items())}
        return {
            adapter: {"n": latency.n, "p50_ms": latency.p50_ms, "max_ms": latency.max_ms}
            for adapter, latency in found.items()
            if latency is not None
        }


def _run_entry(number: int, run: RepeatedRun, rows: int, cold: _ColdCalls) -> dict[str, Any]:
    document = run.document
    package, project = document.get("package", {}), document.get("project", {})
    return {
        "run": number,
        "name": run.name,
        "run_id": run.run_id,
        "evidence_sha256": run.evidence.sha256,
        "rows": rows,
        "planned": None if run.planned is None else msgspec.to_builtins(run.planned),
        "started": document.get("started"),
        "finished": document.get("finished"),
        "exit_status": document.get("exit_status"),
        "code": {
            "project_commit": project.get("commit"),
            "dirty": project.get("dirty"),
            "kernel_sha256": package.get("kernel_sha256"),
        }
        if document
        else None,
        "gaps": list(run.gaps),
        "cold": cold.document(number),
    }


def _environment(read: RepeatedRuns) -> dict[str, Any]:
    """Give ``run.json`` of a single run, and of several what they have in common; with what is missing, and what differs."""
    runs = read.runs
    documents = [run.document for run in runs]
    if len(runs) == 1:
        environment = dict(documents[0])
        gaps = list(runs[0].gaps)
    else:
        shared = [name for name in _SHARED if all(name in document for document in documents)]
        environment = {name: common([document[name] for document in documents]) for name in shared}
        known = [msgspec.to_builtins(run.planned) for run in runs if run.planned is not None]
        if len(known) == len(runs):
            environment["planned"] = {name: sum(planned[name] for planned in known) for name in known[0]}
        environment["interrupted"] = any(document.get("interrupted", False) for document in documents)
        gaps = [f"run {number} ({run.name}): {gap}" for number, run in enumerate(runs, 1) for gap in run.gaps]
    told = {"gaps": [*_unrepeated(read), *gaps], "notes": _notes(runs)}
    return {**environment, **{name: lines for name, lines in told.items() if lines}}


def _unrepeated(read: RepeatedRuns) -> list[str]:
    """Say which runs repeat nothing, since none of their rows is in another one."""
    alone = read.alone()
    if alone and len(alone) == sum(rows > 0 for rows in read.rows_in):
        return [
            "no row is in more than one run: nothing was repeated, and every number is of runs of different rows; "
            "parts of one run are joined by benchbench merge"
        ]
    return [
        f"run {number} ({read.runs[number - 1].name}) has no row in common with another run: it repeats nothing"
        for number in alone
    ]


def _notes(runs: Sequence[RepeatedRun]) -> list[str]:
    """Say what differs between runs that may be counted together nevertheless: answers may differ for that reason alone."""
    recorded = [run.recorded for run in runs if run.recorded is not None]
    told: dict[str, list[Any]] = {
        "the project's commit": [run.document["project"].get("commit") for run in recorded],
        "whether the project had changes": [run.document["project"].get("dirty") for run in recorded],
        "the sources of this package": [run.document["package"]["kernel_sha256"] for run in recorded],
        "the machine": [run.document["machine"] for run in recorded],
    }
    differing = [what for what, values in told.items() if any(value != values[0] for value in values)]
    return [*(f"runs differ in {what}" for what in differing), *version_notes(recorded)]


def _watch(runs: Sequence[RepeatedRun], progress: Progress) -> Callable[[SettledRow], None]:
    """Tell, row by row, how much of the evidence was read again."""
    size = sum(run.evidence.path.stat().st_size for run in runs)
    rows = sum(int((run.evidence.settlement.attempts > 0).sum()) for run in runs)
    seen = told = 0

    def take(_: SettledRow) -> None:
        nonlocal seen, told
        seen += 1
        if seen % _TOLD_AFTER == 0:
            progress(size * seen // rows - told)
            told = size * seen // rows

    return take
