"""A policy applied to what was recorded before: the directory of a run, its evidence, or plain score rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_benchbench.evidence.reading import EvidenceError
from pytest_benchbench.evidence.recorded_run import RecordedRunError
from pytest_benchbench.evidence.repeated_run import RepeatedRun, read_repeated_run
from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.evidence.score_rows import RunFacts, is_evidence, read_scores
from pytest_benchbench.evidence.score_source import ScoreError
from pytest_benchbench.gates.decision import Decider, Decision, EvidenceFacts, decide_scores
from pytest_benchbench.gates.policy import LoadedPolicy
from pytest_benchbench.manifests.faults import ManifestError

_KNOWN_LOSSES = (" lost", " left out", " that the evidence does not have")
"""How gaps end whose number of rows is known; any other gap may hide losses."""


class UnreadableEvidenceError(Exception):
    """Evidence or a manifest that cannot be read, so that there is nothing to decide about; one line for each fault."""


def decide_recorded(
    path: Path,
    loaded: LoadedPolicy,
    *,
    manifests: Sequence[Path] = (),
    held_out_unverified: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Decision:
    """Apply a policy to recorded evidence. The decision about a run is the one that the run itself would have got.

    Args:
        path: The directory of a run, a file of evidence, or a file of plain score rows.
        loaded: The policy.
        manifests: The dataset manifests that the evidence is held against; plain score rows are joined with one.
        held_out_unverified: Whether the user takes it on trust that sources and families are held out.
        progress: Is told how many more bytes of evidence were read.

    Raises:
        UnreadableEvidenceError: Something cannot be read.
    """
    try:
        if path.is_dir() or is_evidence(path):
            known = [ScoreManifest(manifest) for manifest in manifests]
            return _of_run(path, loaded, known, held_out_unverified, progress)
        if len(manifests) > 1:
            raise UnreadableEvidenceError(f"{path}: plain score rows are joined with one manifest, not with several")
        source = read_scores(path, manifest=next(iter(manifests), None))
        return decide_scores(loaded, source, held_out_unverified=held_out_unverified)
    except (EvidenceError, RecordedRunError, ScoreError, ManifestError) as error:
        raise UnreadableEvidenceError(str(error)) from None
    except OSError as error:
        raise UnreadableEvidenceError(f"{error.filename or path}: cannot be read: {error.strerror or error}") from None


def _of_run(
    path: Path,
    loaded: LoadedPolicy,
    manifests: Sequence[ScoreManifest],
    held_out_unverified: bool,
    progress: Callable[[int], None] | None,
) -> Decision:
    run = read_repeated_run(path, progress)
    facts = RunFacts.of(run)
    decider = Decider(loaded)
    run.evidence.feed(decider.add)
    is_known = run.recorded is not None
    return decider.decision(
        EvidenceFacts(
            lost=facts.lost or 0,
            left_out=facts.left_out or 0,
            lazy_verification=facts.is_lazy if is_known else None,
            sha256={run.evidence.path.name: run.evidence.sha256},
            unaccounted=_unaccounted(run),
            selected=bool(facts.select) if is_known else None,
            attempt=facts.attempt,
            manifests=manifests,
            held_out_unverified=held_out_unverified,
        )
    )


def _unaccounted(run: RepeatedRun) -> int:
    """Count the gaps of which nobody knows how many rows they hide."""
    return sum(not gap.endswith(_KNOWN_LOSSES) for gap in run.gaps)
