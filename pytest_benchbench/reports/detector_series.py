"""The series file: benchmarks of holdout runs in the order of time, each chained to the one before, never rewritten.

The file is one JSON document whose lines are fixed: a head, one line for each entry of ``versionHistory``, and an end. So it
is read as JSON anywhere, and a longer file begins with the bytes of the shorter one up to its last entry::

    {"schema_version":1,"type":"detector-series","goldenSet":"essays","versionHistory":[
    {"date":"2026-05-02T06:00:00+00:00","runId":"...",...,"previousSha256":null,"benchmark":{...}},
    {"date":"2026-05-09T06:00:00+00:00","runId":"...",...,"previousSha256":"9c4f...","benchmark":{...}}
    ],"lastSha256":"1be0..."}

``previousSha256`` is the SHA-256 of the entry before, from its brace to its brace; ``lastSha256`` that of the last one.
"""
# ruff: noqa: N815 - the names are those of the document

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.writing import write_atomically
from pytest_benchbench.manifests.faults import schema_fault_parts
from pytest_benchbench.manifests.golden_set import HOLDOUT
from pytest_benchbench.manifests.locked_files import LockHeldError, locked_file, sync_folder
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object
from pytest_benchbench.reports.detector_benchmark import DetectorBenchmark, VersionEntry, decode_benchmark
from pytest_benchbench.reports.detector_figures import Sha256
from pytest_benchbench.reports.detector_outcomes import several_in_one

MAX_SERIES_BYTES: Final = 256 * 1024 * 1024
"""Some hundreds of runs of a thousand samples."""

Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]

_BEGIN: Final = b'{"schema_version":1,"type":"detector-series","goldenSet":'

_HEAD: Final = _BEGIN + b'%s,"versionHistory":['

_END: Final = b'],"lastSha256":"%s"}'


class SeriesError(Exception):
    """A series file that cannot be read or written, or is not what was appended to it; one line that names the place."""


class UnfitEntryError(SeriesError):
    """A run that cannot follow those of a series; one line that says why."""


class SeriesEntry(VersionEntry, frozen=True, kw_only=True, omit_defaults=True):
    """A run in a series.

    Attributes:
        previousSha256: Of the entry before; null for the first.
        newBaseline: By alias, for detectors whose shift was looked into and is accepted: why this run is their baseline.
        benchmark: What ``benchmark.json`` of the run says.
    """

    previousSha256: Sha256 | None
    newBaseline: dict[str, Reason] = msgspec.field(default_factory=dict)
    benchmark: DetectorBenchmark


@dataclass(frozen=True, slots=True)
class Series:
    """A series as it was read.

    Attributes:
        golden_set: Name of the golden set that it is about.
        entries: In the order of time; at least one.
        last_sha256: Digest of the last one, which stands for the whole chain.
    """

    golden_set: str
    entries: tuple[SeriesEntry, ...]
    last_sha256: str


def is_series(data: bytes) -> bool:
    """Say whether a file is meant to be a series, by its first bytes."""
    return data.startswith(_BEGIN)


def read_series(path: Path) -> Series:
    """Read a series, and check its chain.

    Raises:
        SeriesError: It cannot be read, is too large, or its bytes are not those that were appended.
    """
    try:
        with open_regular(path) as file:
            data = file.read(MAX_SERIES_BYTES + 1)
    except FileNotFoundError:
        raise SeriesError(
            f"{path}: there is no such series; to begin one: benchbench history FILE --append RUN_DIR"
        ) from None
    except (OSError, ValueError) as error:
        raise SeriesError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return _parsed(path, data)


def append_entry(path: Path, entry: SeriesEntry) -> Series:
    """Append one entry: the file with it takes the place of the file without it in one step. Others wait meanwhile.

    Args:
        path: The series; it is made if it is missing, or empty.
        entry: What is appended; its ``previousSha256`` is written as it has to be.

    Returns:
        The series with the entry.

    Raises:
        UnfitEntryError: The entry cannot follow those of the series, see ``unfit``.
        SeriesError: The file is damaged, or cannot be written. It is as it was.
    """
    place = Path(os.path.realpath(path))  # a link stays one; unlike Path.resolve this bears links that go round
    if not place.parent.is_dir():
        raise SeriesError(f"{path}: there is no folder {place.parent}; make it first")
    try:
        if place.exists():
            open_regular(place).close()  # a pipe or a device is not opened for writing
        with locked_file(place) as file:
            with os.fdopen(os.dup(file), "rb") as reader:
                data = reader.read(MAX_SERIES_BYTES + 1)
            try:
                whole = _appended(path, data, entry)
                series = _parsed(path, whole)
                write_atomically(place, whole)
            except BaseException:
                if not data:
                    with suppress(OSError):
                        place.unlink()  # made just now, or as good as missing
                raise
        sync_folder(place.parent)
    except LockHeldError as error:
        raise SeriesError(str(error)) from None
    except OSError as error:
        raise SeriesError(f"{path}: cannot be written: {error.strerror or error}") from None
    return series


def _appended(path: Path, data: bytes, entry: SeriesEntry) -> bytes:
    """Give the bytes of the series with one entry more.

    Raises:
        UnfitEntryError: The entry cannot follow.
        SeriesError: The series is damaged, or would become too large.
    """
    known = _parsed(path, data) if data else None
    if (reason := unfit(known.entries if known else (), entry.benchmark)) is not None:
        raise UnfitEntryError(f"{path}: not appended: {reason}")
    entry = msgspec.structs.replace(entry, previousSha256=known.last_sha256 if known else None)
    line = msgspec.json.encode(entry)
    if known is None:
        kept = _HEAD % msgspec.json.encode(entry.benchmark.goldenSet.name)
    else:
        kept = data[: data.rindex(b"\n", 0, len(data) - 1)] + b","
    whole = b"\n".join([kept, line, _END % _sha256(line).encode(), b""])
    if len(whole) > MAX_SERIES_BYTES:
        raise SeriesError(f"{path}: it would be larger than {MAX_SERIES_BYTES} bytes; begin another series")
    return whole


def _parsed(path: Path, data: bytes) -> Series:
    if len(data) > MAX_SERIES_BYTES:
        raise SeriesError(f"{path}: larger than {MAX_SERIES_BYTES} bytes")
    lines = data.split(b"\n")
    if not is_series(data):
        raise SeriesError(f"{path}: not a series of benchmarks; benchbench history FILE --append RUN begins one")
    if len(lines) < 4 or lines[-1]:
        raise SeriesError(f"{path}:{len(lines)}: the file is cut off, or its lines were joined; restore it")
    name = _head(f"{path}:1", lines[0])
    entries: list[SeriesEntry] = []
    digest: str | None = None
    last = len(lines) - 3
    for place, line in enumerate(lines[1:-2], 1):
        where = f"{path}:{place + 1}"
        if place != last:
            if not line.endswith(b","):
                raise SeriesError(f"{where}: not an entry of a series, and a comma; the file was reformatted, restore it")
            line = line[:-1]
        entry = _entry(where, line)
        if entry.previousSha256 != digest:
            told = "stands first, but names one before" if digest is None else "does not name the digest of the one before"
            raise SeriesError(f"{where}: the chain is broken: the entry {told}; an entry was changed, taken out or put in")
        if entry.benchmark.goldenSet.name != name:
            raise SeriesError(f"{where}: benchmark.goldenSet.name: not that of the series")
        if (reason := unfit(entries, entry.benchmark)) is not None:
            raise SeriesError(f"{where}: {reason}")
        entries.append(entry)
        digest = _sha256(line)
    assert digest is not None, "there is at least one entry"
    if lines[-2] != _END % digest.encode():
        raise SeriesError(
            f"{path}:{len(lines) - 1}: the chain is broken: the end does not name the digest of the last entry"
        )
    return Series(name, tuple(entries), digest)


def _head(where: str, line: bytes) -> str:
    document = _object(where, line + b"]}")
    name = document.get("goldenSet")
    if not isinstance(name, str) or line != _HEAD % msgspec.json.encode(name):
        raise SeriesError(f"{where}: not the first line of a series; the file was reformatted, restore it")
    return name


def _entry(where: str, line: bytes) -> SeriesEntry:
    members = _object(where, line)
    try:
        benchmark = decode_benchmark(members.get("benchmark"))
    except ValueError as error:
        raise SeriesError(f"{where}: benchmark: {error}") from None
    try:
        entry = msgspec.convert(members, SeriesEntry)
    except (msgspec.ValidationError, OverflowError) as error:
        field, reason = schema_fault_parts(error)
        raise SeriesError(f"{where}: {field}: {reason}" if field else f"{where}: {reason}") from None
    if benchmark.versionHistory != (_said_by(entry),):
        raise SeriesError(f"{where}: benchmark.versionHistory: not what the entry says")
    if stranger := next((alias for alias in entry.newBaseline if alias not in aliases(benchmark)), None):
        raise SeriesError(f"{where}: newBaseline: {one_line(stranger)} is none of the detectors")
    return entry


def unfit(entries: Sequence[SeriesEntry], benchmark: DetectorBenchmark) -> str | None:
    """Say why a benchmark cannot follow the entries of a series; ``None`` where it can.

    Args:
        entries: The series so far, in order.
        benchmark: What is to follow.
    """
    if benchmark.split != HOLDOUT:
        return f"the run is of the split {one_line(benchmark.split)}; a series is about the split {HOLDOUT} alone"
    if benchmark.goldenSet.name is None:
        return "nothing says which golden set the run is of"
    if not benchmark.run.complete:
        return f"the run is not complete: {'; '.join(map(one_line, benchmark.run.gaps))}"
    if len(benchmark.versionHistory) != 1:
        return "no detector scored anything"
    for detector in benchmark.detectors:
        if (varying := several_in_one(detector.identity)) is not None:
            return f"{one_line(detector.alias)} is several detectors under one name: {varying}"
    (said,) = benchmark.versionHistory
    for number, entry in enumerate(entries, 1):
        if entry.runId == said.runId or entry.evidenceSha256 == said.evidenceSha256:
            return f"the run {one_line(said.runId)} is in the series already, as entry {number}"
    if not entries:
        return None
    last = entries[-1]
    if (name := last.benchmark.goldenSet.name) != benchmark.goldenSet.name:
        return (
            f"the run is of the golden set {one_line(benchmark.goldenSet.name)}, the series of {one_line(name)}: "
            f"begin another series"
        )
    if said.date < last.date:
        return f"the run is of {one_line(said.date)}, before the last entry ({one_line(last.date)}): runs follow in time"
    return None


def entry_of(benchmark: DetectorBenchmark, new_baseline: Mapping[str, str]) -> SeriesEntry:
    """Give the entry of a run, to be appended.

    Args:
        benchmark: Of the run.
        new_baseline: By alias, why the run is a detector's baseline.

    Raises:
        UnfitEntryError: No series takes the run, see ``unfit``.
    """
    if (reason := unfit((), benchmark)) is not None:
        raise UnfitEntryError(f"not appended: {reason}")
    (said,) = benchmark.versionHistory
    return SeriesEntry(
        **msgspec.structs.asdict(said), previousSha256=None, newBaseline=dict(new_baseline), benchmark=benchmark
    )


def _said_by(entry: VersionEntry) -> VersionEntry:
    """Give what an entry says of its run, without the benchmark."""
    return VersionEntry(**{name: getattr(entry, name) for name in VersionEntry.__struct_fields__})


def aliases(benchmark: DetectorBenchmark) -> list[str]:
    """Give what the run calls its detectors."""
    return [detector.alias for detector in benchmark.detectors]


def _object(where: str, data: bytes) -> dict[str, Any]:
    try:
        members, problems = parse_object(data)
    except MalformedJsonError as error:
        raise SeriesError(f"{where}: {error}") from None
    if problems:
        field, message = problems[0]
        raise SeriesError(f"{where}: {field}: {message}" if field else f"{where}: {message}")
    return members


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
