"""What processes cost that ran whole manifests: the content of ``profile.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_benchbench.evidence.environment import machine, versions
from pytest_benchbench.evidence.observed_run import ObservedRun
from pytest_benchbench.statistics.latency import nearest_rank

SCHEMA_VERSION = 1

BENCHMARK = "profile"

WIDE_WALL = 0.20
"""Spread of wall times, (max - min) / p50, above which the report warns."""

WIDE_PEAK = 0.10
"""Spread of peaks, (max - min) / p50, above which the report warns: memory hardly depends on who else computes."""

BUSY_LOAD = 0.5
"""Load average of the last minute before the first process, from which on the machine counts as busy."""

QUANTITIES = ("wall_ms", "processor_ms", "peak_mib")
"""What is summed up: wall time, user and system time together, largest resident set."""

NEVER_DIVIDED = (
    "These are figures of whole processes: start of the interpreter, imports, loading of the detector, decoding, calls, "
    "fidelity, evidence and report. They are not divided by the number of cases: the quotient would spread what a process "
    "does once, such as loading a model, over however many cases happen to be in the manifest, and would be the cost of "
    "no case. What one call costs is measured as such: see the section on adapter time in the report of each run."
)


@dataclass(frozen=True, slots=True)
class ProcessCost:
    """What one process cost, seen by the process that started it.

    Attributes:
        wall_s: Seconds from just before its start to its end.
        user_s: Seconds of processor time in its own code, its waited-for children included.
        system_s: Seconds of processor time in the system.
        peak_bytes: Largest resident set of the process, or of the largest of its waited-for children.
    """

    wall_s: float
    user_s: float
    system_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Process:
    """One fresh process over one manifest.

    Attributes:
        manifest: What the profile calls its manifest.
        repetition: 1 for the first.
        directory: Its run directory below the profile's.
        exit_status: What it exited with; 128 and the signal's number if one ended it.
        cost: What it cost; ``None`` if nobody knows.
        observed: What it observed; ``None`` if it did not come to its end.
        fault: Why its cost is in no figure, in one line; ``None`` if it is.
    """

    manifest: str
    repetition: int
    directory: str
    exit_status: int | None
    cost: ProcessCost | None = None
    observed: ObservedRun | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class ProfiledManifest:
    """A manifest, asked of one adapter, with what became of its processes.

    Attributes:
        display: As the user named it.
        sha256: Digest of its bytes.
        adapter: The one adapter that its rows name, or of which they are asked: the alias.
        rows: How many it has, of the split if one is profiled.
        needs_network: Whether the adapter is known to leave the machine.
        processes: In the order in which they ran.
        crossed_by: The ``--bench-adapter`` of which its rows are asked; ``None`` where they name their adapter.
        split: The split that is profiled; ``None`` where rows have none.
    """

    display: str
    sha256: str
    adapter: str
    rows: int
    needs_network: bool = False
    processes: list[Process] = field(default_factory=list)
    crossed_by: str | None = None
    split: str | None = None

    @property
    def name(self) -> str:
        """What the profile calls it: as the user named it, with the adapter where the rows name none."""
        return self.display if self.crossed_by is None else f"{self.display} ({self.adapter})"

    @property
    def measured(self) -> list[Process]:
        """The processes that came to their end."""
        return [process for process in self.processes if process.fault is None]


def build_profile(
    manifests: Sequence[ProfiledManifest],
    *,
    repeat: int,
    suite: str | None,
    split: str | None,
    load: tuple[float, float, float] | None,
) -> dict[str, Any]:
    """Sum up a profile.

    Args:
        manifests: What was profiled.
        repeat: How many processes each manifest was to have.
        suite: The suite that ran them, if not the built-in one.
        split: The split that was profiled of manifests whose rows have splits.
        load: Load averages of the last 1, 5 and 15 minutes before the first process.

    Returns:
        A JSON document in the shape that the performance suite prints (``figures`` and ``samples`` by name), with the
        section ``manifests`` on top. Percentiles are nearest rank. Processes that died are in no figure.
    """
    lines = [_line(manifest, repeat) for manifest in manifests]
    return {
        "schema_version": SCHEMA_VERSION,
        "benchmark": BENCHMARK,
        "parameters": {
            "manifests": [manifest.name for manifest in manifests],
            "repeat": repeat,
            "suite": suite,
            "split": split,
        },
        "machine": machine(),
        "versions": versions(),
        "load_before": None if load is None else [round(value, 2) for value in load],
        "figures": {
            f"{line['manifest']} {quantity} {name}": value
            for line in lines
            for quantity, summary in line["cost"].items()
            for name, value in summary.items()
            if name in _SUMMARY
        },
        "wanted": {},
        "samples": {manifest.name: _samples(manifest) for manifest in manifests},
        "manifests": lines,
        "warnings": [*_busy(load), *(warning for line in lines for warning in line["warnings"])],
        "never_divided": NEVER_DIVIDED,
    }


_OWN_TO_EACH = ("--bench-run-dir=", "--override-ini=cache_dir=")
"""Arguments of pytest that differ from process to process."""

_SUMMARY = ("p50", "p90", "min", "max")


def _samples(manifest: ProfiledManifest) -> dict[str, list[float]]:
    costs = [process.cost for process in manifest.measured if process.cost is not None]
    return {
        "wall_ms": [cost.wall_s * 1e3 for cost in costs],
        "user_ms": [cost.user_s * 1e3 for cost in costs],
        "system_ms": [cost.system_s * 1e3 for cost in costs],
        "processor_ms": [(cost.user_s + cost.system_s) * 1e3 for cost in costs],
        "peak_mib": [cost.peak_bytes / 2**20 for cost in costs],
    }


def _line(manifest: ProfiledManifest, repeat: int) -> dict[str, Any]:
    observed = [process.observed for process in manifest.measured if process.observed is not None]
    adapters: list[dict[str, Any]] = []
    for run in observed:
        adapters += [record for record in run.adapters if record not in adapters]
    samples = _samples(manifest)
    line = {
        "manifest": manifest.name,
        "sha256": manifest.sha256,
        "adapter": manifest.adapter,
        "adapters": adapters,
        "code": observed[0].code if observed else None,
        "arguments": _arguments(observed[0]) if observed else None,
        "split": manifest.split,
        "rows": manifest.rows,
        "largest": observed[0].largest if observed else {},
        "statuses": observed[0].statuses if observed else {},
        "statuses_stable": _same(run.statuses for run in observed),
        "answers_stable": _same(run.answers_sha256 for run in observed),
        "processes": len(manifest.processes),
        "died": len(manifest.processes) - len(manifest.measured),
        "cost": {quantity: _summary(samples[quantity]) for quantity in QUANTITIES if samples[quantity]},
        "repetitions": [_repetition(process) for process in manifest.processes],
    }
    return {**line, "warnings": list(_warnings(manifest, observed, line, repeat))}


def _same(values: Iterator[Any]) -> bool | None:
    """Say whether all values are equal; ``None`` where there are not two of them."""
    found = list(values)
    return None if len(found) < 2 else all(value == found[0] for value in found)


def _arguments(run: ObservedRun) -> list[str]:
    return [argument for argument in run.arguments if not argument.startswith(_OWN_TO_EACH)]


def _summary(values: Sequence[float]) -> dict[str, float]:
    ascending = sorted(values)
    p50 = nearest_rank(ascending, 50)
    return {
        "n": len(ascending),
        "p50": p50,
        "p90": nearest_rank(ascending, 90),
        "min": ascending[0],
        "max": ascending[-1],
        "spread": (ascending[-1] - ascending[0]) / p50 if p50 else 0.0,
    }


def _repetition(process: Process) -> dict[str, Any]:
    observed = process.observed
    return {
        "repetition": process.repetition,
        "directory": process.directory,
        "exit_status": process.exit_status,
        "fault": process.fault,
        "cost": None if process.cost is None else asdict(process.cost),
        "run_id": observed.run_id if observed else None,
        "evidence_sha256": observed.evidence_sha256 if observed else None,
        "rows": observed.rows if observed else None,
        "statuses": observed.statuses if observed else None,
    }


def _busy(load: tuple[float, float, float] | None) -> Iterator[str]:
    if load is None:
        yield "how busy the machine was before the first process is not told by this system"
    elif load[0] >= BUSY_LOAD:
        yield (
            f"the machine was busy before the first process: load average {load[0]:.2f} over the last minute "
            f"(warned from {BUSY_LOAD:g} on); repeat on an idle machine before you claim anything about time"
        )


def _warnings(
    manifest: ProfiledManifest, observed: Sequence[ObservedRun], line: dict[str, Any], repeat: int
) -> Iterator[str]:
    """Say what hinders a reader from taking the figures at face value; each warning names its manifest."""
    name = manifest.name
    for process in manifest.processes:
        if process.fault is not None:
            yield f"{name}: repetition {process.repetition} is in no figure: {process.fault}"
    if (ran := len(manifest.processes)) < repeat:
        yield f"{name}: {ran} of {repeat} processes ran"
    if line["statuses_stable"] is False:
        yield f"{name}: status counts differ between repetitions; the processes did not do the same work"
    elif line["answers_stable"] is False:
        yield f"{name}: status counts agree between repetitions, but not which row has which status"
    if measured_nothing(line):
        hint = f"; {manifest.adapter} needs the network: give -- --bench-network=allow" if manifest.needs_network else ""
        yield f"{name}: nothing was measured: no row was asked about, the figures are those of pytest alone{hint}"
    elif missing := sum(line["statuses"].get(status, 0) for status in ("error", "unavailable", "not_run")):
        yield f"{name}: {missing} of {manifest.rows} rows have no verdict; what they would have cost is missing"
    if observed and (left_out := observed[0].left_out):
        yield f"{name}: {left_out} rows were left out"
    if any(run.may_connect for run in observed):
        who = f"the adapter {manifest.adapter} needs the network" if manifest.needs_network else "rows may use the network"
        yield f"{name}: {who}; waiting for other machines is in the wall time, and their work in no figure"
    if any(run.by_workers for run in observed):
        yield f"{name}: workers of pytest-xdist ran rows; the peak is that of the largest process, not of all together"
    if len(line["adapters"]) > 1 and line["statuses_stable"]:
        yield f"{name}: the detector is not the same in all rows; see adapters in profile.json"
    yield from _noise(name, line["cost"])


def measured_nothing(line: Mapping[str, Any]) -> bool:
    """Say whether the processes of a manifest ran without asking the detector about any row.

    Args:
        line: Of the section ``manifests``.
    """
    return bool(line["statuses"]) and set(line["statuses"]) <= {"unavailable", "not_run"}


def _noise(name: str, cost: dict[str, dict[str, float]]) -> Iterator[str]:
    for quantity, label, wide in (("wall_ms", "wall times", WIDE_WALL), ("peak_mib", "peaks", WIDE_PEAK)):
        summary = cost.get(quantity)
        if summary is None:
            continue
        if summary["n"] == 1:
            if quantity == "wall_ms":
                yield f"{name}: one process says nothing about noise; give --repeat 3 or more"
        elif summary["spread"] > wide:
            yield (
                f"{name}: {label} spread over {100 * summary['spread']:.0f} % of the p50 (warned above {100 * wide:.0f} %): "
                "take them as a range, not as a comparison"
            )
