"""``benchbench compare``: what changed between two runs, two adapters of one run, or two measurements of performance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import click

from pytest_benchbench.cli.finite_numbers import FiniteRange
from pytest_benchbench.cli.progress import evidence_progress
from pytest_benchbench.evidence.merging import INDIFFERENT, version_notes
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RUN, RecordedRunError
from pytest_benchbench.evidence.repeated_run import RepeatedRun, read_repeated_run
from pytest_benchbench.evidence.same_detector import other_detectors
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.comparison import CannotCompareError, ComparedSide, RowComparison
from pytest_benchbench.reports.comparison_lines import comparison_lines
from pytest_benchbench.reports.detector_benchmark import EXAMPLE_BANNER
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.figure_comparison import FiguresError, compare_figures, figure_lines, read_figures
from pytest_benchbench.reports.memory_change import peak_memory
from pytest_benchbench.reports.paired_rows import by_artifact, by_case
from pytest_benchbench.reports.regressions import RegressionRule, regressions

PROFILE = "profile.json"

INCOMPLETE = 21
"""The exit code of a run that lost rows, or of a merged one that lacks a part."""

SCHEMA_VERSION = 1

Progress = Callable[[float], None]


class _CannotCompare(click.ClickException):
    """Shown as one line. The exit code is not 1, which says that something got worse."""

    exit_code = 2


@click.command("compare")
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.argument("new", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--adapters", nargs=2, metavar="A B", help="Compare two adapters of the one run OLD instead.")
@click.option("--allow-flips", type=click.IntRange(0), default=0, show_default=True, help="Rows that may be newly wrong.")
@click.option("--allow-lost", type=click.IntRange(0), default=0, show_default=True, help="Verdicts that may be lost.")
@click.option(
    "--alpha",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the paired test.",
)
@click.option(
    "--measured",
    type=click.Choice(["shown", "lost", "gained"]),
    default="shown",
    show_default=True,
    help="Which change of detections is a regression where nothing is expected.",
)
@click.option(
    "--max-slowdown",
    type=FiniteRange(1, min_open=True),
    metavar="FACTOR",
    help="How many times as long calls may take, or as bad figures may be.  [default: calls decide nothing; figures 1.2]",
)
@click.option(
    "--accept",
    multiple=True,
    metavar="NAME",
    help="Compare although this differs: rule, an option of an adapter, or a parameter of a benchmark; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
def command(
    old: Path,
    new: Path | None,
    adapters: tuple[str, str] | None,
    allow_flips: int,
    allow_lost: int,
    alpha: float,
    measured: Literal["shown", "lost", "gained"],
    max_slowdown: float | None,
    accept: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare NEW with OLD: two runs of the same cases, or two files of figures (performance suite, benchbench profile).

    A run is its directory or a file of evidence. Rows pair by suite, adapter, case and parameters; what is not the same
    detector or not the same case is refused. Rows that changed are named, differences are tested row by row.

    Exit codes: 0 no regression, 1 a regression by the rule that is printed, 2 wrong use, or the two cannot be compared.
    """
    rule = RegressionRule(allow_flips, allow_lost, alpha, measured, max_slowdown)
    try:
        if adapters is not None:
            document = _compare_adapters(old, new, adapters)
        elif new is None:
            raise click.UsageError("give OLD and NEW, or one run and --adapters A B")
        elif _has_figures(old) and _has_figures(new):
            document = _compare_figures(old, new, max_slowdown, frozenset(accept))
        elif _has_figures(old) or _has_figures(new):
            raise click.UsageError(f"{old} and {new}: one is a run, the other a file of figures")
        else:
            document = _compare_runs(old, new, rule, frozenset(accept))
    except (CannotCompareError, FiguresError, RecordedRunError, EvidenceError) as error:
        raise _CannotCompare(plain(str(error))) from None
    for note in document["notes"]:
        click.echo(f"note: {plain(note)}", err=True)
    if as_json:
        click.echo(encode_document(document).decode(), nl=False)
    else:
        lines = figure_lines(document) if document["compared"] == "figures" else comparison_lines(document)
        for line in lines:
            click.echo(plain(line))
    raise SystemExit(1 if document["regressions"] else 0)


def _compare_runs(old: Path, new: Path, rule: RegressionRule, accepted: frozenset[str]) -> dict[str, Any]:
    with evidence_progress([old, new], "comparing") as progress:
        one, other = read_repeated_run(old, progress), read_repeated_run(new, progress)
        sides = ComparedSide(one.evidence, by_case(0)), ComparedSide(other.evidence, by_case(1))
        compared = RowComparison(*sides, _rows_as_bytes(progress, one, other))
    if others := list(other_detectors(sides[0].detectors, sides[1].detectors, accepted)):
        raise CannotCompareError("; ".join(others))
    compared.check()
    document = {
        "schema_version": SCHEMA_VERSION,
        "compared": "runs",
        "old": _side(one),
        "new": _side(other),
        "notes": [*_banner(one, other), *_gaps(one), *_gaps(other), *_differences(one, other)],
        **compared.document(),
        "memory": peak_memory(one.document, other.document),
    }
    found = regressions(document, rule, is_incomplete=_has_lost_rows(other))
    return {**document, "rule": asdict(rule), "regressions": found}


def _compare_adapters(run: Path, new: Path | None, adapters: tuple[str, str]) -> dict[str, Any]:
    if new is not None:
        raise click.UsageError("--adapters compares two adapters of one run; leave NEW out")
    if adapters[0] == adapters[1]:
        raise click.UsageError(f"--adapters: {adapters[0]} is the same adapter twice")
    if _has_figures(run):
        raise click.UsageError(f"{run}: a file of figures has no adapters")
    with evidence_progress([run], "comparing") as progress:
        read = read_repeated_run(run, progress)
        side = ComparedSide(read.evidence, by_artifact(*adapters))
        compared = RowComparison(side, side, _rows_as_bytes(progress, read))
    known = side.detectors.by_adapter
    if missing := [name for name in adapters if name not in known]:
        told = ", ".join(sorted(known)) or "none"
        raise CannotCompareError(f"{run}: {missing[0]} gave no verdict there; adapters that did: {told}")
    compared.check()
    document = compared.document()
    return {
        "schema_version": SCHEMA_VERSION,
        "compared": "adapters",
        "old": {**_side(read), "name": adapters[0]},
        "new": {**_side(read), "name": adapters[1]},
        "notes": [*_banner(read), *_gaps(read)],
        **document,
        "rule": None,
        "regressions": None,
        "detectors": [line for line in document["detectors"] if line["adapter"] in adapters],
    }


def _compare_figures(old: Path, new: Path, max_slowdown: float | None, accepted: frozenset[str]) -> dict[str, Any]:
    one, other = read_figures(_figures_of(old)), read_figures(_figures_of(new))
    return {
        "schema_version": SCHEMA_VERSION,
        "compared": "figures",
        "old": {"name": str(old), "documents": len(one)},
        "new": {"name": str(new), "documents": len(other)},
        **compare_figures(one, other, max_slowdown=max_slowdown, accepted=accepted),
    }


def _has_figures(path: Path) -> bool:
    if path.is_dir():
        return (path / PROFILE).is_file() and not (path / RUN).is_file()
    return path.suffix == ".json"


def _figures_of(path: Path) -> Path:
    return path / PROFILE if path.is_dir() else path


def _side(run: RepeatedRun) -> dict[str, Any]:
    project = run.document.get("project", {})
    return {
        "name": str(run.path),
        "run_id": run.run_id,
        "evidence_sha256": run.evidence.sha256,
        "started": run.document.get("started"),
        "project_commit": project.get("commit"),
        "dirty": project.get("dirty"),
        "package_version": run.document.get("package", {}).get("version"),
        "machine": run.document.get("machine"),
    }


def _gaps(run: RepeatedRun) -> Iterator[str]:
    yield from (f"{run.path}: {gap}" for gap in run.gaps)


def _banner(*runs: RepeatedRun) -> list[str]:
    """Say that figures of an example golden set claim nothing."""
    manifests = [manifest for run in runs for manifest in run.document.get("manifests", ())]
    is_example = any((manifest.get("about") or {}).get("status") == "example" for manifest in manifests)
    return [EXAMPLE_BANNER] if is_example else []


def _differences(old: RepeatedRun, new: RepeatedRun) -> Iterator[str]:
    """Name what else differs between the runs, and may be why answers do."""
    if old.recorded is None or new.recorded is None:
        return
    was, now = old.document, new.document
    if _manifests(was) != _manifests(now):
        yield "the manifests differ"
    if was["package"]["kernel_sha256"] != now["package"]["kernel_sha256"]:
        yield "the sources of pytest-benchbench differ"
    if was.get("machine") != now.get("machine"):
        yield "another machine: times are not comparable"
    for name in sorted({*was["options"], *now["options"]} - INDIFFERENT - {"adapters", "collected"}):
        if was["options"].get(name) != now["options"].get(name):
            yield f"option {name}: {was['options'].get(name)} -> {now['options'].get(name)}"
    yield from version_notes([old.recorded, new.recorded])


def _manifests(document: Mapping[str, Any]) -> list[str]:
    return sorted(manifest["sha256"] for manifest in document["manifests"])


def _has_lost_rows(run: RepeatedRun) -> bool:
    """Say whether rows were lost that the run was to have; of evidence alone that is not known."""
    if run.recorded is None:
        return False
    is_incomplete = run.planned is None or run.planned.lost > 0 or run.document.get("exit_status") == INCOMPLETE
    return is_incomplete or any(part.finished is None or part.interrupted for part in run.recorded.parts)


def _rows_as_bytes(progress: Progress | None, *runs: RepeatedRun) -> Callable[[int], None] | None:
    if progress is None:
        return None
    size = sum(run.evidence.path.stat().st_size for run in runs)
    rows = sum(len(run.evidence.settlement.attempts) for run in runs)
    return lambda count: progress(count * size / max(rows, 1))
