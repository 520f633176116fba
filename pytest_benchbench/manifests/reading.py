"""Manifests, read strictly and streamed: what stays in memory is where each case stands, never the rows."""

from __future__ import annotations

import hashlib
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import BufferedReader
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.manifests.faults import (
    MAX_FAULTS_KEPT as MAX_FAULTS_KEPT,
    Fault as Fault,
    FaultLog,
    ManifestError as ManifestError,
    refused,
    shown,
)
from pytest_benchbench.manifests.golden_set import GOLDEN_SET, MAX_GOLDEN_SET_BYTES
from pytest_benchbench.manifests.golden_set_manifest import index_golden_manifest, read_golden_manifest
from pytest_benchbench.manifests.kinds import ROW_KINDS, SHAPES, is_golden_set, kind_of_lines
from pytest_benchbench.manifests.lines import BYTE_ORDER_MARK, MAX_LINE_BYTES, Lines, without_end
from pytest_benchbench.manifests.manifest import (
    CaseRef as CaseRef,
    Manifest as Manifest,
    ManifestChangedError as ManifestChangedError,
    ManifestRow as ManifestRow,
    NamedArtifact as NamedArtifact,
    changed,
    stamp_of,
)
from pytest_benchbench.manifests.row_reader import RowReader
from pytest_benchbench.manifests.rows import ManifestKind, RowContext, RowKind
from pytest_benchbench.manifests.shard_lines import ShardLines
from pytest_benchbench.manifests.sharding import Shard
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object

TOO_LONG = "line longer than 1 MiB"


class LineManifest(Manifest):
    """A manifest with a row on each line."""

    def __init__(
        self,
        path: Path,
        display: str,
        kind: RowKind,
        file: BufferedReader,
        stamp: tuple[int, int],
        lines: Lines,
        adapters: dict[str | None, list[CaseRef]],
        rows: int,
    ) -> None:
        super().__init__(
            path,
            display,
            kind,
            file,
            stamp=stamp,
            sha256=lines.sha256,
            total_rows=lines.count,
            adapters=adapters,
            rows=rows,
        )
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind.row).decode
        self._id_of = attrgetter(kind.id_field)

    def read(self, ref: CaseRef) -> ManifestRow:
        """Read a row again, as ``Manifest.read``."""
        self._check_unchanged()
        self._file.seek(ref.offset)
        line = without_end(self._file.readline(MAX_LINE_BYTES + 2))
        try:
            case = self._decode(line)
        except msgspec.DecodeError:
            self._changed(ref.line)
        if self._id_of(case) != ref.case_id:
            self._changed(ref.line)
        return ManifestRow(case, hashlib.sha256(line).hexdigest())

    def artifacts(self) -> Iterator[NamedArtifact]:
        """Yield every file that a row names, as ``Manifest.artifacts``."""
        for ref in sorted((ref for refs in self.adapters.values() for ref in refs), key=attrgetter("line")):
            case = self.read(ref).case
            for pinned in self._kind.files:
                if (path := getattr(case, pinned.path_field)) is not None:
                    place = f"{self.display}:{ref.line}"
                    digest = getattr(case, pinned.digest_field)
                    yield NamedArtifact(f"{place}: {pinned.digest_field}", f"{place}: {pinned.path_field}", path, digest)

    def row_splits(self) -> Iterator[str]:
        """Yield the split of each row, as ``Manifest.row_splits``; a line of another shard that is no row has none."""
        if self._kind.split_field is None:
            return
        head: Any = msgspec.defstruct("Head", [("split", str)], rename={"split": self._kind.split_field})
        decode = msgspec.json.Decoder(head).decode
        for line in self.lines():
            with suppress(msgspec.DecodeError, RecursionError):  # the run of its shard refuses it
                yield decode(line).split


def read_manifest(
    path: Path,
    *,
    display: str | None = None,
    media_types: Mapping[str, frozenset[str]],
    seen: dict[str, CaseRef] | None = None,
    outside_allowed: bool = False,
    shard: Shard | None = None,
    split: str | None = None,
) -> Manifest:
    """Validate a whole manifest, or one shard of it.

    UTF-8 with or without byte-order mark, one JSON object a line, lines ended by LF or CRLF; the end of the last line may be
    missing if the line is complete. A golden set is one JSON object; whether it is frozen, ``check_frozen`` says. The whole
    file is read even if faults are found, so that their number is right.

    Args:
        path: The file.
        display: What to call it in messages; by default ``path``.
        media_types: Media types by adapter name; rows may name no other adapter.
        seen: Case ids of the manifests read before, to which those of this one are added.
        outside_allowed: Whether paths may be absolute or leave the manifest's directory.
        shard: Look at its rows only, see ``ShardLines``; lines whose id cannot be read are faults in every shard.
        split: Keep the cases of this split only, if rows of this kind have splits; all rows are validated.

    Raises:
        ManifestError: Something is wrong with it.
    """
    display = str(path) if display is None else display
    file = _open(path, display)
    try:
        kind = _tell_kind(file, display)
        file.seek(0)
        seen = {} if seen is None else seen
        if kind is None:
            return read_golden_manifest(path, display, file, seen=seen, shard=shard, split=split)
        return _read(path, display, kind, file, RowContext(media_types, outside_allowed), seen, shard, split)
    except OSError as error:
        file.close()
        raise refused(display, None, f"cannot be read: {error.strerror or error}") from None
    except BaseException:
        file.close()
        raise


def index_manifest(
    path: Path,
    *,
    display: str | None = None,
    sha256: str,
    kind: ManifestKind,
    shard: Shard | None = None,
    split: str | None = None,
) -> Manifest:
    """Find the cases of a manifest that another process has validated.

    Args:
        path: The file.
        display: What to call it in messages; by default ``path``.
        sha256: Digest of the bytes that were validated.
        kind: The kind that they were found to be.
        shard: The shard that was validated, if it was not the whole.
        split: The split whose cases are kept, if it is one alone.

    Raises:
        ManifestChangedError: The bytes are not those.
    """
    display = str(path) if display is None else display
    if kind == GOLDEN_SET.name:
        return index_golden_manifest(path, display, sha256=sha256, shard=shard, split=split)
    row_kind = ROW_KINDS[kind]
    named = (row_kind.id_field, row_kind.adapter_field, row_kind.split_field)
    names = [name for name in named if name is not None]
    decode = msgspec.json.Decoder(msgspec.defstruct("Head", [(name, str) for name in names])).decode
    try:
        file = path.open("rb")
    except OSError:
        raise changed(display) from None
    try:
        stamp, lines = stamp_of(file), Lines(file)
        adapters: dict[str | None, list[CaseRef]] = {}
        id_of, adapter_of = attrgetter(row_kind.id_field), _adapter_getter(row_kind)
        split_of = _split_getter(row_kind, split)
        rows = 0
        for number, offset, line in _lines_of(shard, lines, row_kind):
            head = decode(line)
            rows += 1
            if split_of(head) == split:
                adapters.setdefault(adapter_of(head), []).append(CaseRef(id_of(head), number, offset, display))
    except (msgspec.DecodeError, RecursionError, OSError):
        file.close()
        raise changed(display) from None
    if lines.sha256 != sha256:
        file.close()
        raise changed(display)
    return LineManifest(path.absolute(), display, row_kind, file, stamp, lines, adapters, rows)


def _read(
    path: Path,
    display: str,
    kind: RowKind,
    file: BufferedReader,
    context: RowContext,
    seen: dict[str, CaseRef],
    shard: Shard | None,
    split: str | None,
) -> Manifest:
    log = FaultLog(display)
    reader = RowReader(kind, context)
    accept, id_of, adapter_of = reader.accept, attrgetter(kind.id_field), _adapter_getter(kind)
    split_of = _split_getter(kind, split)
    adapters: dict[str | None, list[CaseRef]] = defaultdict(list)
    rows = 0
    stamp, lines = stamp_of(file), Lines(file)
    for number, offset, line in _lines_of(shard, lines, kind):
        if len(line) > MAX_LINE_BYTES:
            log.add(number, None, TOO_LONG)
            continue
        if (case := accept(line)) is not None:
            case_id = id_of(case)
        else:
            examined = reader.examine(line)
            case, case_id = examined.case, examined.case_id
            for name, message in examined.problems:
                cut = "the last line is cut off: " if examined.malformed and not lines.terminated else ""
                log.add(number, name, f"{cut}{message}")
            if case_id is None:
                continue
        ref = CaseRef(case_id, number, offset, display)
        if (first := seen.setdefault(case_id, ref)) is not ref:
            log.add(number, kind.id_field, f"{shown(case_id)} stands already in {first}")
        elif case is not None:
            rows += 1
            if split_of(case) == split:
                adapters[adapter_of(case)].append(ref)
    log.check()
    return LineManifest(path.absolute(), display, kind, file, stamp, lines, dict(adapters), rows)


def _lines_of(shard: Shard | None, lines: Lines, kind: RowKind) -> Iterable[tuple[int, int, bytes]]:
    return lines if shard is None else ShardLines(lines, kind.id_field, shard)


def _adapter_getter(kind: RowKind) -> Any:
    return (lambda row: None) if kind.adapter_field is None else attrgetter(kind.adapter_field)


def _split_getter(kind: RowKind, split: str | None) -> Any:
    """Give what tells a row's split; every row is of the one that was asked for where there are none, or none was."""
    return (lambda row: split) if kind.split_field is None or split is None else attrgetter(kind.split_field)


def _open(path: Path, display: str) -> BufferedReader:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # asked before opening: opening a pipe would wait for its writer
            raise refused(display, None, "not a regular file")
        return path.open("rb")
    except OSError as error:
        raise refused(display, None, f"cannot be read: {error.strerror or error}") from None


def _tell_kind(file: BufferedReader, display: str) -> RowKind | None:
    """Give the kind of the rows; ``None`` for a golden set, which is no file of lines."""
    kind = kind_of_lines(Lines(file))
    if kind is None:
        file.seek(0)
        document = file.read(MAX_GOLDEN_SET_BYTES).removeprefix(BYTE_ORDER_MARK)
        if not document.strip():
            raise refused(display, None, "empty: a manifest has at least one row")
        if not is_golden_set(document):
            raise refused(display, 1, f"{_why_untold(document)}; {SHAPES}")
        return None
    return ROW_KINDS.get(kind)


def _why_untold(document: bytes) -> str:
    line = document.split(b"\n", 1)[0].removesuffix(b"\r")
    if len(line) > MAX_LINE_BYTES:
        return TOO_LONG
    try:
        parse_object(line)
    except MalformedJsonError as error:
        return str(error)
    return "a row of no known kind"
