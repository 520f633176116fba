"""Answers that were paid for, kept in the run directory so that none is paid for twice: ``responses/<alias>.jsonl``.

A line has the digest of what was asked of whom, and the numbers and short names of the answer. No text of a sample and no
key of an account is in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from pytest_benchbench.evidence.shared_lines import SharedLines
from pytest_benchbench.manifests.faults import schema_fault, shown_key
from pytest_benchbench.manifests.locked_files import locked_file
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object

RESPONSES = "responses"
"""The folder in a run directory."""

MAX_ANSWER_BYTES = 64 * 1024
"""Of an answer as JSON."""

MAX_NAME_CHARACTERS = 200
"""Of a text in an answer: names of classes and models, ids of scans. Longer ones could be parts of a sample."""


class _Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema_version: Literal[1]
    key: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
    answer: dict[str, Any]


def journal_path(directory: Path, alias: str) -> Path:
    """Say where a run keeps the answers of a detector.

    Args:
        directory: The run directory.
        alias: What the run calls the detector.
    """
    return directory / RESPONSES / f"{alias}.jsonl"


class ResponseJournal:
    """The answers of one detector; used by the threads and processes of a run together.

    Args:
        path: The file; made with the first answer.
        mask: Cuts secrets out of a JSON value.
    """

    def __init__(self, path: Path, mask: Callable[[Any], Any]) -> None:
        self._path = path
        self._lines = SharedLines(path, self._take)
        self._mask = mask
        self._answers: dict[str, dict[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._answers)

    def refresh(self) -> None:
        """Read what was recorded meanwhile.

        Raises:
            SharedLinesError: The file is damaged.
            LockHeldError, OSError: It cannot be read.
        """
        self._lines.refresh()

    def find(self, key: str) -> dict[str, Any] | None:
        """Give the answer that was recorded under a key, by whichever process; ``None`` if none was.

        Raises:
            SharedLinesError: The file is damaged.
            LockHeldError, OSError: It cannot be read.
        """
        if key not in self._answers:
            self._lines.refresh()
        return self._answers.get(key)

    @contextmanager
    def claimed(self, key: str) -> Iterator[None]:
        """Keep all others from asking for an answer meanwhile: those who want the same one wait until this one is there.

        The file that says so is gone afterwards, and says nothing any more once its process has died.

        Raises:
            OSError: It cannot be made.
        """
        self._path.parent.mkdir(exist_ok=True)
        claim = self._path.with_name(f"{self._path.stem}.{key[:32]}.asked")
        with locked_file(claim, seconds=math.inf):  # as long as a call may take, with its waits and further tries
            try:
                yield
            finally:
                claim.unlink(missing_ok=True)

    def record(self, key: str, answer: dict[str, Any]) -> None:
        """Keep an answer for good; one that is recorded already stays.

        Args:
            key: 64 lower-case hex digits.
            answer: Numbers and short names, as plain JSON.

        Raises:
            ValueError: It holds something else, or is too large.
            SharedLinesError: The file is damaged.
            LockHeldError, OSError: It cannot be written.
        """
        line = encoded_line(key, self._mask(answer))
        with self._lines.appending() as append:
            if key not in self._answers:
                append(line)

    def _take(self, line: bytes) -> None:
        try:
            members, problems = parse_object(line)
            if problems:
                raise ValueError(": ".join(part for part in problems[0] if part))
            recorded = msgspec.convert(members, _Recorded)
        except (MalformedJsonError, msgspec.ValidationError) as error:
            raise ValueError(f"not a recorded answer: {schema_fault(error)}") from None
        self._answers.setdefault(recorded.key, recorded.answer)


def encoded_line(key: str, answer: dict[str, Any]) -> bytes:
    """Write a line of the journal, without its end.

    Raises:
        ValueError: The answer is no plain JSON of finite numbers and short names, or is too large.
    """
    if (fault := _fault(answer, "answer")) is not None:
        raise ValueError(fault)
    line = json.dumps({"schema_version": 1, "key": key, "answer": answer}, allow_nan=False, separators=(",", ":")).encode()
    if len(line) > MAX_ANSWER_BYTES:
        raise ValueError(f"answer: {len(line)} bytes as JSON, more than {MAX_ANSWER_BYTES}")
    return line


def _fault(value: object, place: str, depth: int = 0) -> str | None:
    if isinstance(value, str):
        if len(value) <= MAX_NAME_CHARACTERS:
            return None
        return f"{place}: a text of {len(value)} characters: only numbers and short names are kept"  # never the text
    if value is None or isinstance(value, (bool, int, float)):
        return None
    if depth >= 8:
        return f"{place}: nested too deeply"
    if isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str) or len(name) > MAX_NAME_CHARACTERS:
                return f"{place}: a key that is no short name"
            if (fault := _fault(item, f"{place}.{shown_key(name)}", depth + 1)) is not None:
                return fault
        return None
    if isinstance(value, list):
        faults = (_fault(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value))
        return next((fault for fault in faults if fault is not None), None)
    return f"{place}: {type(value).__name__} is no plain JSON"
