"""What a finished run observed, without its times: what two runs of the same manifest must have in common."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.artifacts.audio import AUDIO_RATE
from pytest_benchbench.evidence.grouping import STANDINGS, standing
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow, index_evidence
from pytest_benchbench.evidence.recorded_run import read_run
from pytest_benchbench.manifests.dataset import DATASET, MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """What one run observed.

    Attributes:
        run_id: Its name.
        arguments: The command line of pytest, secrets hidden.
        manifests: Digests of its manifests.
        evidence_sha256: Of its evidence.
        rows: How many rows have evidence.
        statuses: How many rows count as what, see ``grouping.standing``; those that do not occur are left out.
        answers_sha256: Of what each row counts as; two runs of equal digests answered every row alike.
        adapters: What stood behind the answers, each record once.
        code: The code that ran.
        largest: The largest artifact that was decoded, by media type: ``{"image": {"width": 512, "height": 512}}``, a video
            also with ``frames``, a sound with ``seconds``. By pixels, pixels times frames, and length.
        by_workers: Whether workers of pytest-xdist ran rows.
        may_connect: Whether rows could connect to other machines.
        left_out: Planned rows that the user left out.
        lost: Rows that were to run and never ended.
    """

    run_id: str
    arguments: tuple[str, ...]
    manifests: tuple[str, ...]
    evidence_sha256: str
    rows: int
    statuses: dict[str, int]
    answers_sha256: str
    adapters: tuple[dict[str, Any], ...]
    code: dict[str, Any]
    largest: dict[str, dict[str, float]]
    by_workers: bool
    may_connect: bool
    left_out: int
    lost: int

    @classmethod
    def read(cls, directory: Path) -> ObservedRun:
        """Read the directory of a run. Memory grows by some two hundred bytes a row.

        Raises:
            RecordedRunError: It holds no run.
            EvidenceError: Its evidence cannot be read.
        """
        run = read_run(directory)
        (part,) = run.parts[:1]
        evidence = index_evidence(run.evidence)
        rows = _Rows()
        evidence.feed(rows.add)
        options = run.document["options"]
        return cls(
            run_id=run.document["run_id"],
            arguments=tuple(options.get("arguments", ())),
            manifests=tuple(manifest["sha256"] for manifest in run.document["manifests"]),
            evidence_sha256=evidence.sha256,
            rows=len(rows.answers),
            statuses={name: rows.standings[name] for name in STANDINGS if rows.standings[name]},
            answers_sha256=hashlib.sha256(msgspec.json.encode(sorted(rows.answers))).hexdigest(),
            adapters=tuple(msgspec.json.decode(record) for record in sorted(rows.adapters)),
            code={"kernel_sha256": run.document["package"]["kernel_sha256"], **run.document["project"]},
            largest={name: rows.largest[name] for name in sorted(rows.largest)},
            by_workers=rows.by_workers,
            may_connect=options.get("network") == "allow",
            left_out=part.planned.left_out if part.planned else 0,
            lost=part.planned.lost if part.planned else 0,
        )


class _Rows:
    """Collects the facts row by row."""

    def __init__(self) -> None:
        self.standings: Counter[str] = Counter()
        self.answers: list[tuple[str, ...]] = []
        self.adapters: set[bytes] = set()
        self.largest: dict[str, dict[str, float]] = {}
        self.by_workers = False
        self._encode = msgspec.json.Encoder(order="deterministic").encode

    def add(self, settled: SettledRow) -> None:
        row, counts_as = settled.row, standing(settled)
        self.standings[counts_as] += 1
        self.answers.append((*row.key.row, counts_as))
        self.adapters.add(self._encode(row.adapter))
        self.by_workers |= row.worker is not None
        if (size := _size(row)) is not None:
            media_type, found = size
            if _extent(found) > _extent(self.largest.get(media_type, {})):
                self.largest[media_type] = found


def _size(row: EvidenceRow) -> tuple[str, dict[str, float]] | None:
    """Give media type and size of a decoded artifact; ``None`` where nothing was decoded, or it was none of the known."""
    media_type = MEDIA_TYPE if row.kind == DATASET.name else row.case.get("media_type")
    decoding = row.artifact.decoding or {}
    match media_type, decoding:
        case "image", {"size": [int(width), int(height)]}:
            return "image", {"width": width, "height": height}
        case "video", {"size": [int(width), int(height)], "frames": int(frames)}:
            return "video", {"width": width, "height": height, "frames": frames}
        case "audio", {"size": [int(samples)]}:
            return "audio", {"seconds": samples / AUDIO_RATE}
    return None


def _extent(size: Mapping[str, float]) -> float:
    if not size:
        return -1
    return size.get("seconds", size.get("width", 0) * size.get("height", 0) * size.get("frames", 1))
