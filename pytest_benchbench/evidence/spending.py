"""What a run's calls of paid detectors have used so far, over its processes and sessions: ``spending.jsonl``.

A call is written down before it is made. One of which nobody knows how it ended, because the process was killed or the
answer never came, stays counted: it may have been billed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from pytest_benchbench.adapters.metering import Usage
from pytest_benchbench.evidence.shared_lines import SharedLines
from pytest_benchbench.manifests.faults import schema_fault
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object

SPENDING = "spending.jsonl"
"""The file in a run directory."""

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

Event = Literal["reserved", "refunded", "retried"]


class Spent(msgspec.Struct, frozen=True):
    """What one detector has used.

    Attributes:
        words: Words of the texts that were asked about.
        calls: Calls that were billed, or may have been.
        credits: Credits; ``None`` for a vendor that does not bill by them.
        retries: Tries beyond those calls, which surely were not billed.
    """

    words: int = 0
    calls: int = 0
    credits: int | None = None
    retries: int = 0

    def plus(self, usage: Usage) -> Spent:
        """Add a call."""
        return Spent(self.words + usage.words, self.calls + usage.calls, _sum(self.credits, usage.credits), self.retries)


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    schema_version: Literal[1]
    alias: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    event: Event
    words: _Count = 0
    calls: _Count = 0
    credits: _Count | None = None


class Spending:
    """The file of one run; used by its threads and processes together.

    Args:
        path: The file; made with the first call.
    """

    def __init__(self, path: Path) -> None:
        self._lines = SharedLines(path, self._take)
        self._spent: dict[str, Spent] = {}

    def totals(self) -> Mapping[str, Spent]:
        """Give what each detector has used, by alias.

        Raises:
            SharedLinesError: The file is damaged.
            LockHeldError, OSError: It cannot be read.
        """
        self._lines.refresh()
        return dict(self._spent)

    def reserve(self, alias: str, usage: Usage, check: Callable[[Mapping[str, Spent]], None]) -> None:
        """Write down a call that is about to be made.

        Args:
            alias: The detector.
            usage: What the call uses.
            check: Is shown what all detectors will have used with this call, while nobody else can write; raises where the
                call must not be made, and then nothing is written.

        Raises:
            SharedLinesError: The file is damaged.
            LockHeldError, OSError: It cannot be written: the call must not be made.
        """
        with self._lines.appending() as append:
            check({**self._spent, alias: self._spent.get(alias, Spent()).plus(usage)})
            append(_encode(alias, "reserved", usage))

    def refund(self, alias: str, usage: Usage) -> None:
        """Take back a call that was surely not billed; raises as ``reserve``."""
        with self._lines.appending() as append:
            append(_encode(alias, "refunded", usage))

    def retried(self, alias: str) -> None:
        """Count a try that was not billed; raises as ``reserve``."""
        with self._lines.appending() as append:
            append(_encode(alias, "retried", Usage(0, 0)))

    def billed_beyond(self, alias: str, count: int) -> None:
        """Count credits beyond those of a call, which was made; raises as ``reserve``."""
        with self._lines.appending() as append:
            append(_encode(alias, "reserved", Usage(0, 0, count)))

    def _take(self, encoded: bytes) -> None:
        try:
            members, problems = parse_object(encoded)
            if problems:
                raise ValueError(": ".join(part for part in problems[0] if part))
            line = msgspec.convert(members, _Line)
        except (MalformedJsonError, msgspec.ValidationError) as error:
            raise ValueError(f"not a line of spending: {schema_fault(error)}") from None
        spent = self._spent.get(line.alias, Spent())
        sign = -1 if line.event == "refunded" else 1
        self._spent[line.alias] = Spent(
            spent.words + sign * line.words,
            spent.calls + sign * line.calls,
            _sum(spent.credits, None if line.credits is None else sign * line.credits),
            spent.retries + (line.event == "retried"),
        )


def _encode(alias: str, event: Event, usage: Usage) -> bytes:
    line = _Line(schema_version=1, alias=alias, event=event, words=usage.words, calls=usage.calls, credits=usage.credits)
    return msgspec.json.encode(line)


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
