"""The pictures of failing cases: ``failing_pictures(cases, places) -> {case.key: CasePictures}``.

``cases`` are those that a page shows one by one (``FailingCases.shown()``), ``places`` are an ``ArtifactPlaces``: made
by ``ArtifactPlaces.of_manifests(plan.manifests, plan.settings.artifact_roots)`` at the end of a session and by
``ArtifactPlaces.of_runs([(directory, run_json), ...], roots)`` from recorded runs.

The files are read and decoded in a process of its own, see ``picture_process``: a file that crashes, hangs or floods a
decoder, such as the very one over which a row became an ``error``, costs one picture and not the report.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from pytest_benchbench.evidence.grouping import facet
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.manifests.dataset import DATASET, MEDIA_TYPE
from pytest_benchbench.manifests.faults import shown_text
from pytest_benchbench.reports.html.failing import FailingCase, Key
from pytest_benchbench.reports.html.figure import CasePictures, File, PictureRequest
from pytest_benchbench.reports.html.picture_process import PictureProcess

MAX_BYTES = 3_000_000
"""What the data URIs of all pictures of a page may take."""

MAX_CASE_BYTES = 96 * 1024
"""What those of one case may take, however few cases there are."""

MAX_SECONDS = 30.0
"""How long drawing all pictures may take; cases whose turn does not come have none, and say so."""

MAX_CASE_SECONDS = 10.0
"""How long drawing those of one case may take before it is given up."""


class Places(Protocol):
    """Knows where files may lie, such as ``ArtifactPlaces``."""

    def __call__(self, manifest_sha256: str, written: str) -> Sequence[str]:
        """Give the real paths where a file may lie that a manifest writes so, the likeliest first."""

    def paths_on(self, manifest_sha256: str, lines: Collection[int]) -> Mapping[int, str]:
        """Give the paths that stand on lines of a manifest, as far as it is at hand."""


def failing_pictures(
    cases: Sequence[FailingCase],
    places: Places,
    *,
    max_bytes: int = MAX_BYTES,
    max_seconds: float = MAX_SECONDS,
) -> dict[Key, CasePictures]:
    """Draw what the detectors were shown in failing cases.

    An image is a thumbnail and the amplified difference from its reference; a sound a waveform and a spectrogram; a video
    about eight of its frames, with the share of right bits in each where the evidence has it. A file is shown only if it has
    the digest that was measured. Whatever is missing or cannot be drawn is said in the note; no file raises.

    The same files and limits give the same pictures, byte for byte, as long as the time suffices.

    Args:
        cases: The worst first: they are drawn in this order until the time is used up.
        places: Tell where a file may lie.
        max_bytes: What the data URIs of all pictures may take together. Each case has an equal share of what is left, so
            that pictures of many cases are small and the last one has as much as the first.
        max_seconds: How long all this may take, the start of the process included.

    Returns:
        An entry for each case, by its key.
    """
    deadline = time.monotonic() + max_seconds
    pictures: dict[Key, CasePictures] = {}
    left = max_bytes
    written = _written(cases, places)
    with PictureProcess() as process:
        for number, case in enumerate(cases):
            share = min(left // (len(cases) - number), MAX_CASE_BYTES)
            request = _request(case.row, written.get(case.key), places, share)
            drawn = _draw(request, process, deadline, max_seconds)
            left -= sum(len(figure.data_uri) for figure in drawn.figures)
            pictures[case.key] = drawn
    return pictures


def _written(cases: Sequence[FailingCase], places: Places) -> dict[Key, str]:
    """Give the path of each case's file as its manifest writes it, where it is known."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    for case in cases:
        if case.row.kind == DATASET.name and case.row.manifest.line is not None:
            lines[case.row.manifest.sha256].add(case.row.manifest.line)
    on = {sha256: places.paths_on(sha256, numbers) for sha256, numbers in lines.items()}
    found = {}
    for case in cases:
        row = case.row
        path = on[row.manifest.sha256].get(row.manifest.line or 0) if row.kind == DATASET.name else facet(row, "path")
        if path is not None:
            found[case.key] = path
    return found


def _draw(request: PictureRequest | str, process: PictureProcess, deadline: float, max_seconds: float) -> CasePictures:
    if not isinstance(request, PictureRequest):
        return CasePictures(note=request)
    seconds = min(deadline - time.monotonic(), MAX_CASE_SECONDS)
    if seconds <= 0:
        return CasePictures(note=f"no picture: the {max_seconds:g} s that all pictures may take were used up")
    return process.draw(request, seconds)


def _request(row: EvidenceRow, written: str | None, places: Places, share: int) -> PictureRequest | str:
    """Say what is to be drawn of a row, or why nothing is."""
    is_dataset = row.kind == DATASET.name
    media_type = MEDIA_TYPE if is_dataset else facet(row, "media_type")
    if media_type not in ("image", "audio", "video"):
        return "no picture: the case is no image, sound or video"
    if written is None:
        lacking = "its manifest is not at hand, or names no file" if is_dataset else "the evidence names no file"
        return f"no picture: {lacking}"
    artifact = _file(row, written, row.artifact.sha256, places)
    if not artifact.paths:
        return f"no picture: file not at hand ({artifact.name})"
    reference = None
    path, sha256 = facet(row, "reference_path"), facet(row, "reference_sha256")
    if path is not None and sha256 is not None:
        reference = _file(row, path, sha256, places)
    return PictureRequest(media_type, artifact, reference, _frame_bit_accuracy(row.detection.temporal), share)


def _file(row: EvidenceRow, written: str, sha256: str, places: Places) -> File:
    # The last part alone: a path may be absolute where artifacts lie elsewhere, and the page is for others to read.
    name = written.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return File(shown_text(name), sha256, tuple(map(os.fsencode, places(row.manifest.sha256, written))))


def _frame_bit_accuracy(temporal: dict[str, Any] | None) -> tuple[float, ...]:
    """Read the series of a video adapter; whatever else an adapter may have put there is no series."""
    accuracy = (temporal or {}).get("bit_accuracy")
    series = accuracy.get("series") if isinstance(accuracy, dict) else None
    if not isinstance(series, list) or not all(type(share) in (int, float) and 0 <= share <= 1 for share in series):
        return ()
    return tuple(map(float, series))
