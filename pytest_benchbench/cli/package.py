"""``benchbench package``: pack a build as a release after a pass, or as a review build."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from pytest_benchbench.cli.gate_options import held_against, read_policy, tell_trust
from pytest_benchbench.cli.new_output import refuse_output
from pytest_benchbench.cli.progress import evidence_progress
from pytest_benchbench.evidence.score_rows import ScoreError, read_scores
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.decision import is_incomplete
from pytest_benchbench.gates.policy import LoadedPolicy, load_policy
from pytest_benchbench.gates.recorded import UnreadableEvidenceError, decide_recorded
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.evaluation_document import evaluation_document
from pytest_benchbench.reports.lines import decision_lines
from pytest_benchbench.reports.packaging import (
    Basis,
    Kind,
    Package,
    PackageError,
    PackageRefusedError,
    name_fault,
    write_package,
)
from pytest_benchbench.session.exit_status import GATE_NOT_PASSED, INCOMPLETE


@click.command("package")
@click.argument("dist", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--evidence",
    type=click.Path(exists=True, path_type=Path),
    help="The directory of a run, a file of evidence, or a file of score rows as JSON Lines.",
)
@click.option(
    "--policy",
    default="release",
    show_default=True,
    metavar="POLICY",
    callback=read_policy,
    help="What decides: a built-in policy or a .yaml file. A release must pass the built-in policy release too.",
)
@held_against
@click.option("--output", required=True, type=click.Path(path_type=Path), help="The new ZIP.")
@click.option("--review", is_flag=True, help="Make a review build, whatever is decided; its name has the word review in it.")
@click.option("--json", "as_json", is_flag=True, help="Print what was packed as JSON instead of lines for people.")
def command(
    dist: Path,
    evidence: Path | None,
    policy: LoadedPolicy | None,
    manifests: tuple[Path, ...],
    held_out_unverified: bool,
    output: Path,
    review: bool,
    as_json: bool,
) -> None:
    """Pack the build in DIST as a ZIP, if its evidence passes the policy, and the built-in policy release in any case.

    The ZIP has the files of DIST, and in the folder benchbench-release the decision, the report, and the digests of all
    files. The model that the evidence is about must be one of the files. The same build and evidence give the same bytes.

    Exit codes: 0 packed, 1 the evidence or the build cannot be read, 2 wrong use, 20 refused or inconclusive, 21 incomplete.
    Nothing is written but with 0.
    """
    kind: Kind = "review" if review else "release"
    if (fault := name_fault(output, kind)) is not None:
        raise click.UsageError(fault)
    refuse_output(output)
    if evidence is None and not review:
        raise click.UsageError("a release needs --evidence; for a build that is none give --review")
    if evidence is None and (manifests or held_out_unverified):
        raise click.UsageError("--manifest and --held-out-unverified are about --evidence, which is not given")
    if evidence is not None and policy is None:
        raise click.UsageError("--policy off: there is nothing to decide by")
    basis = None
    if evidence is not None and policy is not None:
        basis = _basis(evidence, policy, manifests, held_out_unverified, kind)
        for line in chain.from_iterable(map(decision_lines, basis.decisions)):
            click.echo(line, err=as_json)
        tell_trust(basis.decisions, held_out_unverified)
        if not review:
            _refuse_unless_passed(basis)
    try:
        packed = write_package(dist, output, kind, basis)
    except PackageRefusedError as error:
        click.echo(plain(str(error)), err=True)
        raise SystemExit(GATE_NOT_PASSED) from None
    except PackageError as error:
        raise click.ClickException(plain(str(error))) from None
    _tell(packed, kind, as_json=as_json)


def _refuse_unless_passed(basis: Basis) -> None:
    """End with the exit code that the decisions about a release come to, unless all of them passed."""
    if any(map(is_incomplete, basis.decisions)):
        raise SystemExit(INCOMPLETE)
    if all(decision.decision == "pass" for decision in basis.decisions):
        return
    if basis.decision.decision == "pass":
        told = "whatever another policy says, a release must pass the built-in policy release too; or give --review"
        click.echo(f"refused: {told}", err=True)
    raise SystemExit(GATE_NOT_PASSED)


def _basis(
    evidence: Path, policy: LoadedPolicy, manifests: tuple[Path, ...], held_out_unverified: bool, kind: Kind
) -> Basis:
    """Decide about the evidence, by the built-in policy release too if a release is wanted, and sum it up.

    Raises:
        click.ClickException: It cannot be read.
    """
    release = load_policy("release")
    policies = [policy] if kind == "review" or policy.sha256 == release.sha256 else [policy, release]
    try:
        decisions = []
        for each in policies:
            with evidence_progress([evidence], "reading") as progress:
                decisions.append(
                    decide_recorded(
                        evidence, each, manifests=manifests, held_out_unverified=held_out_unverified, progress=progress
                    )
                )
        report = evaluation_document(read_scores(evidence, manifest=manifests[0] if len(manifests) == 1 else None))
    except (UnreadableEvidenceError, ScoreError) as error:
        raise click.ClickException(str(error)) from None
    read = report["inputs"]["scores"]["sha256"]
    if any(read not in {digest.sha256 for digest in decision.evidence.digests.evidence} for decision in decisions):
        raise click.ClickException(f"{evidence}: was changed while it was read")
    return Basis(decisions[0], report, release=None if kind == "review" else decisions[-1])


def _tell(packed: Package, kind: Kind, *, as_json: bool) -> None:
    for note in packed.notes:
        click.echo(f"note: {plain(note)}", err=True)
    if as_json:
        document = {"output": str(packed.path), "sha256": packed.sha256, **packed.document}
        click.echo(encode_document(document).decode(), nl=False)
        return
    named = "release" if kind == "release" else "review build, no release"
    click.echo(f"packed: {packed.path} ({named}; {packed.document['dist']['files']} files; sha256 {packed.sha256})")
