"""Scores in whatever form they are given: the directory of a run, its evidence, or a plain file of score rows."""

from __future__ import annotations

from pathlib import Path

import msgspec

from pytest_benchbench.evidence.plain_scores import PlainScores
from pytest_benchbench.evidence.reading import MAX_LINE_BYTES
from pytest_benchbench.evidence.recorded_scores import RecordedScores
from pytest_benchbench.evidence.run_facts import RunFacts as RunFacts
from pytest_benchbench.evidence.score_manifest import ManifestCase as ManifestCase, ScoreManifest
from pytest_benchbench.evidence.score_row import NAMES as NAMES, TERMINAL as TERMINAL, ScoreRow as ScoreRow
from pytest_benchbench.evidence.score_source import ScoreError as ScoreError, ScoreSource as ScoreSource
from pytest_benchbench.manifests.faults import ManifestError
from pytest_benchbench.manifests.regular_files import open_regular


def read_scores(path: Path, *, manifest: Path | None = None, adapter: str | None = None) -> ScoreSource:
    """Open scores, of whichever form; what is read of them beforehand is what tells the form.

    Args:
        path: The directory of a run, a file of evidence, or a file of plain score rows.
        manifest: A dataset manifest: what rows do not say themselves is taken from it by ``id``. Where both say something,
            they must agree, and it must know every id.
        adapter: Take the rows of this adapter only, by its alias; for evidence.

    Raises:
        ScoreError: It cannot be read, or the manifest cannot.
    """
    try:
        joined = None if manifest is None else ScoreManifest(manifest)
    except ManifestError as error:
        raise ScoreError(str(error)) from None
    if not path.is_dir() and not path.is_file():
        raise ScoreError(f"{path}: {'not a regular file' if path.exists() else 'no such file or directory'}")
    if path.is_dir() or is_evidence(path):
        return RecordedScores(path, joined, adapter)
    if adapter is not None:
        raise ScoreError(f"{path}: plain score rows name no adapter, so none can be chosen")
    return PlainScores(path, joined, None)


def is_evidence(path: Path) -> bool:
    """Say whether a file's first line is a row of evidence, by its members."""
    try:
        with open_regular(path) as file:
            head = msgspec.json.decode(file.readline(MAX_LINE_BYTES), type=dict[str, msgspec.Raw])
    except OSError as error:
        raise ScoreError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        return False
    return {"schema_version", "key", "detection"} <= head.keys()
