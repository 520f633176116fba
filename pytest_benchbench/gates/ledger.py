"""The ledger of test openings: a file that only grows, one line for each run that opens a test split.

A test split measures once what it is meant to measure: who looks at it again and chooses by what was seen has made it part
of the development. So each look is written down before the first row is asked, and reports and gates say which it was.

An opening is told by manifests, models, options, commit and the number of shards. Lines that agree in all of these and are
about different shards are one opening; the same shard once more, or a whole run once more, is a new one. Openings are
counted for each test split, whoever is asked. Splits that share a base are one, directly or through others: a few rows more
or less begin no new count. The count rests on the lines alone, in their order: nothing has to be kept in step by hand, and
ledgers of two branches may be joined line by line.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from pytest_benchbench.adapters.base import Weights
from pytest_benchbench.manifests.faults import schema_fault
from pytest_benchbench.manifests.locked_files import LockHeldError, append_synced, locked_file, sync_folder
from pytest_benchbench.manifests.splits import BASE_DIGITS, BASES_KEPT
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object

LEDGER = "benchbench-ledger.jsonl"
"""The ledger's name in the root of a project."""

MAX_LEDGER_BYTES = 64 * 1024 * 1024
"""Some hundred thousand openings."""

_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
_Bases = Annotated[str, msgspec.Meta(pattern=f"^([0-9a-f]{{{BASE_DIGITS}}}){{1,{BASES_KEPT}}}$")]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
_Moment = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$")]
_Number = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]

_encode = msgspec.json.Encoder(order="deterministic").encode


class LedgerError(Exception):
    """The ledger cannot be read or written, or holds a line that is no opening; one line."""


class OpenedManifest(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """A manifest whose split was opened."""

    name: _Text
    sha256: _Sha256


class OpenedBy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that is asked about the split.

    Attributes:
        alias: What the run calls it.
        adapter: The registered name.
        options_sha256: Digest of its options; of secret ones only that there are some.
        rule_sha256: Digest of its version, decision rule and source file; null where it could not be loaded.
        weights: The weights that it loaded.
    """

    alias: _Text
    adapter: _Text
    options_sha256: _Sha256
    rule_sha256: _Sha256 | None
    weights: tuple[Weights, ...]


class Opening(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line: a run, or one shard of a run, that opens a test split.

    Attributes:
        opened: When; UTC.
        run_id: The run's name.
        split: The split's name.
        split_sha256: Digest of the bases of the split, whatever else changes in the manifests.
        split_bases: Digests of bases by which splits that share some are told, see ``SplitBases.sample``; null where an
            earlier line about the same split has them.
        manifests: All that have rows of the split.
        models: Who is asked, by alias.
        options_sha256: Digest of the options that change the plan or an observation.
        commit: Of the project; null outside a repository.
        shard: Which part of the rows is asked about; null for all.
        shards: How many parts there are; null where the rows are not shared out.
    """

    schema_version: Literal[1] = 1
    opened: _Moment
    run_id: _Text
    split: _Text
    split_sha256: _Sha256
    split_bases: _Bases | None = None
    manifests: tuple[OpenedManifest, ...]
    models: tuple[OpenedBy, ...]
    options_sha256: _Sha256
    commit: _Text | None
    shard: _Number | None
    shards: _Number | None

    @property
    def asked_sha256(self) -> str:
        """Digest of what is asked of whom: equal for the shards and the sessions of one run.

        The commit is not part of it: a run that is gone on with at another commit stays the same run.
        """
        return digest_of(
            [
                self.split,
                self.split_sha256,
                sorted(manifest.sha256 for manifest in self.manifests),
                sorted(self.models, key=_encode),
                self.options_sha256,
                self.shards,
            ]
        )


def digest_of(value: object) -> str:
    """Give the SHA-256 of a JSON value: of its deterministic encoding, in lower-case hex."""
    return hashlib.sha256(_encode(value)).hexdigest()


def attempts(openings: Iterable[Opening]) -> list[int]:
    """Number the openings that lines belong to.

    Args:
        openings: The lines of a ledger, in their order.

    Returns:
        For each line which opening it is part of, 1 for the first, of its split and of those that it is joined with by then.
    """
    splits = _OpenedSplits()
    current: dict[tuple[str, str | None], tuple[int, set[int | None]]] = {}
    numbers = []
    for line in openings:
        identity = (line.asked_sha256, line.commit)
        number, shards = current.get(identity, (0, set()))
        if not number or line.shard in shards:
            number = splits.open(line)
            shards = set()
            current[identity] = (number, shards)
        shards.add(line.shard)
        numbers.append(number)
    return numbers


class _OpenedSplits:
    """The openings so far of splits that share bases, directly or through others."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}  # from splits and bases to others of the same set, at last to the one it is told by
        self._openings: dict[str, int] = {}  # of each whole set

    def open(self, line: Opening) -> int:
        """Count an opening, and give its number."""
        split = line.split_sha256
        bases = line.split_bases or ""
        for begin in range(0, len(bases), BASE_DIGITS):
            self._join(split, bases[begin : begin + BASE_DIGITS])
        top = self._top(split)
        self._openings[top] = self._openings.get(top, 0) + 1
        return self._openings[top]

    def _join(self, one: str, other: str) -> None:
        one, other = self._top(one), self._top(other)
        if one != other:
            self._above[other] = one
            self._openings[one] = self._openings.get(one, 0) + self._openings.pop(other, 0)

    def _top(self, name: str) -> str:
        while (above := self._above.setdefault(name, name)) != name:
            self._above[name] = self._above[above]
            name = above
        return name


def read_ledger(path: Path) -> list[Opening]:
    """Read a ledger.

    Args:
        path: The file; one that is missing has no lines.

    Raises:
        LedgerError: It cannot be read, its last line is cut off, or a line is no opening.
    """
    try:
        if not _is_there(path):
            return []
        with path.open("rb") as file:
            return _parsed(path, file.read(MAX_LEDGER_BYTES + 1))
    except OSError as error:
        raise LedgerError(f"{path}: the ledger cannot be read: {error.strerror or error}") from None


def check_ledger(path: Path) -> None:
    """Make sure that an opening can be appended. Nothing is changed, and a missing file is not made.

    Raises:
        LedgerError: The ledger is damaged or cannot be written.
    """
    read_ledger(path)
    place = path if os.path.lexists(path) else path.parent
    if place is not path and not place.is_dir():
        raise LedgerError(f"{path}: the ledger cannot be written: there is no folder {place}")
    if not os.access(place, os.W_OK):
        raise LedgerError(f"{path}: the ledger cannot be written: permission denied")


def append_opening(path: Path, opening: Opening) -> int:
    """Append one line, and sync it to the disk. Other processes wait meanwhile.

    Args:
        path: The ledger; it is made if it is missing.
        opening: What is opened.

    Returns:
        Which opening of the test split this is, by any model: 1 for the first.

    Raises:
        LedgerError: The ledger is damaged or cannot be written; it is as it was.
    """
    try:
        is_new = not _is_there(path)
        with locked_file(path) as file:
            os.lseek(file, 0, os.SEEK_SET)
            with os.fdopen(os.dup(file), "rb") as reader:
                data = reader.read(MAX_LEDGER_BYTES + 1)
            known = _parsed(path, data)
            number = attempts([*known, opening])[-1]
            if any(line.split_bases and line.split_sha256 == opening.split_sha256 for line in known):
                opening = msgspec.structs.replace(opening, split_bases=None)
            append_synced(file, len(data), _encode_line(opening))
        if is_new:
            sync_folder(path.parent)
    except LockHeldError as error:
        raise LedgerError(str(error)) from None
    except OSError as error:
        raise LedgerError(f"{path}: the ledger cannot be written: {error.strerror or error}") from None
    return number


def _is_there(path: Path) -> bool:
    """Say whether there is a file.

    Raises:
        LedgerError: There is something else; reading a pipe would wait for its writer.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        raise LedgerError(f"{path}: the ledger is not a regular file")
    return True


def _parsed(path: Path, data: bytes) -> list[Opening]:
    if len(data) > MAX_LEDGER_BYTES:
        raise LedgerError(f"{path}: the ledger is larger than {MAX_LEDGER_BYTES} bytes")
    lines = data.split(b"\n")
    if lines.pop():
        raise LedgerError(f"{path}:{len(lines) + 1}: the last line is cut off: restore it, or end it if it is whole")
    return [_opening(f"{path}:{number}", line.removesuffix(b"\r")) for number, line in enumerate(lines, 1)]


def _opening(place: str, line: bytes) -> Opening:
    try:
        members, problems = parse_object(line)
        if problems:
            field, message = problems[0]
            raise LedgerError(f"{place}: {field}: {message}" if field else f"{place}: {message}")
        opening = msgspec.convert(members, Opening)
    except (MalformedJsonError, msgspec.ValidationError) as error:
        raise LedgerError(f"{place}: not an opening of a test split: {schema_fault(error)}") from None
    if (opening.shard is None) != (opening.shards is None) or (opening.shard or 0) > (opening.shards or 0):
        raise LedgerError(f"{place}: not an opening of a test split: shard {opening.shard} of {opening.shards}")
    return opening


def _encode_line(opening: Opening) -> bytes:
    return msgspec.json.encode(opening) + b"\n"
