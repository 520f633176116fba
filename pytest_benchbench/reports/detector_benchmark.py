"""The document ``benchmark.json``: what detectors came to on one split of a golden set."""
# ruff: noqa: N815 - the names are those of the document

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.faults import schema_fault_parts, shown
from pytest_benchbench.manifests.golden_set import Label, Status
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object
from pytest_benchbench.reports.detector_figures import (
    CommonSubset,
    DetectorFigures,
    DetectorResults,
    Identity,
    PairedAccuracy,
    Sha256,
    Strict,
)

BENCHMARK: Final = "benchmark.json"
"""The name of the file in the directory of a run."""

SCHEMA_VERSION: Final = 1

MAX_BYTES: Final = 64 * 1024 * 1024
"""A longer file is refused."""

EXAMPLE_BANNER: Final = "example set: no claim"

UNKNOWN_BANNER: Final = "status of the set unknown: no claim"


class GoldenSetRecord(Strict, frozen=True):
    """The golden set; null where only evidence is there, and nothing says it.

    Attributes:
        name: As the set calls itself.
        version: As the set writes it.
        status: ``example`` sets carry no claim.
        sha256: Of the set's file.
    """

    name: str | None
    version: str | None
    status: Status | None
    sha256: Sha256


class SampleRecord(Strict, frozen=True, omit_defaults=True):
    """A sample of the split, without its text.

    Attributes:
        id: Its name.
        label: What it is.
        category: Of the set's categories.
        sha256: Of its text as UTF-8.
        pairOf: The sample of which it is the humanized variant.
    """

    id: str
    label: Label
    category: str
    sha256: Sha256
    pairOf: str | None = None


class RunRecord(Strict, frozen=True):
    """The run. What evidence alone does not tell is null.

    Attributes:
        id: Its name.
        started: When it began, in UTC.
        commit: Of the project.
        dirty: Whether tracked files were changed.
        packageVersion: Of this package.
        evidenceSha256: Of its evidence.
        complete: Whether every sample of the split was put to every detector.
        gaps: Why not, one line each.
    """

    id: str
    started: str | None
    commit: str | None
    dirty: bool | None
    packageVersion: str | None
    evidenceSha256: Sha256
    complete: bool
    gaps: tuple[str, ...]


class VersionEntry(Strict, frozen=True):
    """The entry of a run in the history.

    Attributes:
        date: When the run began, in UTC.
        runId: Its name.
        commit: Of the project.
        dirty: Whether tracked files were changed.
        split: The split.
        evidenceSha256: Of its evidence.
        detectors: Those that scored anything, in the order of the document.
    """

    date: str
    runId: str
    commit: str | None
    dirty: bool | None
    split: str
    evidenceSha256: Sha256
    detectors: tuple[Identity, ...]


class SplitResults(Strict, frozen=True, omit_defaults=True):
    """What detectors answered on one split: the part of ``benchmark.json`` that depends on the observations alone.

    It is a part of ``report.json`` too.

    Attributes:
        goldenSet: What was run.
        split: ``tune`` or ``holdout``.
        threshold: From which score on a text is called AI.
        samples: Those that any detector was to be asked about, sorted by id.
        detectors: Sorted by alias.
        commonSubset: What all of them scored.
        pairs: Declared pairs only, in the order of their declaration.
        run: The number of the run in a report about several.
        banner: What has to stand over every rendering; absent for a final set.
    """

    goldenSet: GoldenSetRecord
    split: str
    threshold: Literal[50]
    samples: tuple[SampleRecord, ...]
    detectors: tuple[DetectorResults, ...]
    commonSubset: CommonSubset
    pairs: tuple[PairedAccuracy, ...]
    run: int | None = None
    banner: str | None = None


class DetectorBenchmark(Strict, frozen=True, omit_defaults=True):
    """The content of ``benchmark.json``.

    Attributes:
        schema_version: Of this shape.
        type: What it is.
        goldenSet: What was run.
        split: ``tune`` or ``holdout``.
        run: The run.
        threshold: From which score on a text is called AI.
        samples: Those that any detector was to be asked about, sorted by id.
        detectors: Sorted by alias.
        commonSubset: What all of them scored.
        pairs: Declared pairs only, in the order of their declaration.
        versionHistory: One entry for a complete run of the holdout split, else none.
        banner: What has to stand over every rendering; absent for a final set.
    """

    schema_version: Literal[1]
    type: Literal["detector-benchmark"]
    goldenSet: GoldenSetRecord
    split: str
    run: RunRecord
    threshold: Literal[50]
    samples: tuple[SampleRecord, ...]
    detectors: tuple[DetectorFigures, ...]
    commonSubset: CommonSubset
    pairs: tuple[PairedAccuracy, ...]
    versionHistory: tuple[VersionEntry, ...]
    banner: str | None = None


class BenchmarkFileError(Exception):
    """A file that is no ``benchmark.json``; one line that names file, field and fault."""


def encode_benchmark(document: DetectorBenchmark) -> bytes:
    """Write the document as ``benchmark.json`` keeps it; floats read back as they were."""
    return encode_document(document)


def read_benchmark(path: Path) -> DetectorBenchmark:
    """Read a ``benchmark.json`` strictly.

    Raises:
        BenchmarkFileError: It cannot be read, is too large, no JSON, has a name twice, one that is not known, or a number
            out of its range.
    """
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BenchmarkFileError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_BYTES:
        raise BenchmarkFileError(f"{path}: larger than {MAX_BYTES} bytes")
    try:
        value, problems = parse_object(data.strip(b"\n"))
    except MalformedJsonError as error:
        raise BenchmarkFileError(f"{path}: {error}") from None
    if problems:
        name, message = problems[0]
        raise BenchmarkFileError(f"{path}: {name}: {message}")
    try:
        return decode_benchmark(value)
    except ValueError as error:
        raise BenchmarkFileError(f"{path}: {error}") from None


def decode_benchmark(value: Any) -> DetectorBenchmark:
    """Read a document from plain values, such as an entry of a series.

    Raises:
        ValueError: It is none, or contradicts itself; one line with field and fault.
    """
    try:
        document = msgspec.convert(value, DetectorBenchmark)
    except (msgspec.ValidationError, OverflowError) as error:
        field, reason = schema_fault_parts(error)
        raise ValueError(f"{field}: {reason}" if field else reason) from None
    _check(document)
    return document


def _check(document: DetectorBenchmark) -> None:
    """Demand of what a schema cannot say that it holds, so that no reader has to look for it.

    Raises:
        ValueError: It does not.
    """
    ids = [sample.id for sample in document.samples]
    if len(set(ids)) != len(ids):
        raise ValueError("samples: an id stands twice")
    known = frozenset(ids)
    aliases = [detector.alias for detector in document.detectors]
    if len(set(aliases)) != len(aliases):
        raise ValueError("detectors: an alias stands twice")
    for number, detector in enumerate(document.detectors):
        place = f"detectors[{number}]"
        cells = detector.confusion
        if not cells.tp + cells.fp + cells.tn + cells.fn == detector.scored == len(detector.scores):
            raise ValueError(f"{place}: scored, confusion and scores do not agree")
        if sum(detector.histogram) != detector.scored:
            raise ValueError(f"{place}.histogram: its counts do not sum to scored")
        if stranger := next((each for each in detector.scores if each not in known), None):
            raise ValueError(f"{place}.scores: {shown(stranger)} is none of the samples")
