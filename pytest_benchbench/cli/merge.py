"""``benchbench merge``: join the directories of runs into one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from pytest_benchbench.cli.gate_options import held_against, read_policy, tell_trust
from pytest_benchbench.cli.progress import evidence_progress
from pytest_benchbench.evidence.merging import MergeError
from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.policy import LoadedPolicy
from pytest_benchbench.manifests.faults import ManifestError
from pytest_benchbench.reports.github import tell_github
from pytest_benchbench.reports.html import REPORT_HTML
from pytest_benchbench.session.merging import MergedRun, merge_runs


@click.command("merge")
@click.argument(
    "directories",
    nargs=-1,
    required=True,
    metavar="DIR...",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option("--output-dir", required=True, type=click.Path(path_type=Path), help="New folder for the merged run.")
@click.option(
    "--gate",
    "policy",
    metavar="POLICY",
    callback=read_policy,
    help="Decide about the whole: a built-in policy or a .yaml file.",
)
@held_against
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
def command(
    directories: tuple[Path, ...],
    output_dir: Path,
    policy: LoadedPolicy | None,
    manifests: tuple[Path, ...],
    held_out_unverified: bool,
    as_json: bool,
) -> None:
    """Join the directories of runs, such as the shards of one benchmark.

    They must agree in code, manifests and in every option that changes the plan or an observation. No row may be in two of
    them. Report and gate are about the whole; what is missing is named.

    Exit codes: 0 done, 1 rows failed, or the runs contradict each other (then nothing is written), 2 wrong use, 20 the gate
    did not pass, 21 incomplete.
    """
    if policy is None and (manifests or held_out_unverified):
        raise click.UsageError("--manifest and --held-out-unverified are for --gate")
    try:
        with evidence_progress(directories, "merging") as progress:
            merged = merge_runs(
                directories,
                output_dir,
                policy,
                progress,
                manifests=[ScoreManifest(manifest) for manifest in manifests],
                held_out_unverified=held_out_unverified,
            )
    except (MergeError, RecordedRunError, EvidenceError, ManifestError) as error:
        raise click.ClickException(str(error)) from None
    for note in merged.notes:
        click.echo(f"note: {note}", err=True)
    if as_json:
        click.echo(encode_document(_document(merged)).decode(), nl=False)
    else:
        for line in merged.lines():
            click.echo(line)
        parts = len(merged.document["merged_from"])
        if (page := output_dir / REPORT_HTML).exists():
            click.echo(f"with pictures and all cases: {page}")
        click.echo(f"merged {parts} run{'' if parts == 1 else 's'}: {output_dir / 'report.md'}")
    if merged.reckoning.decision is not None:
        tell_trust([merged.reckoning.decision], held_out_unverified)
    tell_ci(merged)
    raise SystemExit(merged.exit_status)


def tell_ci(merged: MergedRun) -> None:
    """Tell GitHub Actions of a merged run, if that is where it runs; on standard error, so that JSON stays JSON."""
    report = merged.reckoning.report
    told = tell_github(
        report, merged.reckoning.decision, os.environ, report=str(merged.path / "report.md"), directory=Path.cwd()
    )
    for command in told.commands:
        click.echo(command, err=True)
    if told.warning is not None:
        click.echo(f"warning: {told.warning}", err=True)


def _document(merged: MergedRun) -> dict[str, Any]:
    results, decision = merged.reckoning.report["results"], merged.reckoning.decision
    return {
        "output_dir": str(merged.path),
        "run_id": merged.document["run_id"],
        "exit_status": merged.exit_status,
        "runs": len(merged.document["merged_from"]),
        "planned": merged.whole.planned,
        "rows": results["rows"],
        "outcomes": results["outcomes"],
        "unstable": results["unstable"]["count"],
        "gaps": merged.whole.gaps,
        "notes": merged.notes,
        "gate": None if decision is None else {"policy": decision.policy, "decision": decision.decision},
    }
