"""``benchbench gate``: apply a policy to recorded evidence."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_benchbench.cli.gate_options import held_against, metrics_help, read_policy, tell_trust
from pytest_benchbench.cli.new_output import refuse_output, write_output
from pytest_benchbench.cli.progress import evidence_progress
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.decision import is_incomplete
from pytest_benchbench.gates.policy import LoadedPolicy
from pytest_benchbench.gates.recorded import UnreadableEvidenceError, decide_recorded
from pytest_benchbench.reports.lines import decision_lines
from pytest_benchbench.session.exit_status import GATE_NOT_PASSED, INCOMPLETE


@click.command("gate", epilog=metrics_help())
@click.argument("evidence", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--policy",
    default="release",
    show_default=True,
    metavar="POLICY",
    callback=read_policy,
    help="What decides: a built-in policy (release, strict, tutorial) or a .yaml file.",
)
@held_against
@click.option("--output", type=click.Path(path_type=Path), help="Write the decision to this new file, as gate.json.")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as JSON instead of lines for people.")
def command(
    evidence: Path,
    policy: LoadedPolicy | None,
    manifests: tuple[Path, ...],
    held_out_unverified: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Decide by a policy whether EVIDENCE is good enough.

    EVIDENCE is the directory of a run, a file of evidence, or a file of score rows as JSON Lines. The decision about a run
    is that of --bench-gate at its end.

    Exit codes: 0 it passes, 1 the evidence or the manifest cannot be read (then nothing is written), 2 wrong use, 20 refused
    or inconclusive, 21 incomplete.
    """
    if policy is None:
        raise click.UsageError("--policy off: there is nothing to decide by")
    if output is not None:
        refuse_output(output)
    try:
        with evidence_progress([evidence], "reading") as progress:
            decision = decide_recorded(
                evidence, policy, manifests=manifests, held_out_unverified=held_out_unverified, progress=progress
            )
    except UnreadableEvidenceError as error:
        raise click.ClickException(str(error)) from None
    written = encode_document(decision)
    if output is not None:
        write_output(output, written)
    if as_json:
        click.echo(written.decode(), nl=False)
    else:
        for line in decision_lines(decision, passed=True):
            click.echo(line)
    tell_trust([decision], held_out_unverified)
    if is_incomplete(decision):
        raise SystemExit(INCOMPLETE)
    if decision.decision != "pass":
        raise SystemExit(GATE_NOT_PASSED)
