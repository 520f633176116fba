"""The rows of golden sets in a report, brought together by set and detector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.golden_set_rows import KIND, GoldenRow, Sample, golden_row
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.reports.detector_figures import Identity, WeightsFile

SAID: Final = {
    "vendor": "vendor",
    "plan": "plan",
    "apiVersion": "apiVersion",
    "requestedModel": "requestedModel",
    "model": "model",
    "mixed": "mixed",
}
"""Members of an identity that a scorer says, and what it calls them."""

MOST_MS = 2.0**53
"""A longer time is none."""

VALUES = 20
"""How many values of a varying member are told."""


class Call(NamedTuple):
    """How long the call took that answered about one sample, in milliseconds.

    Attributes:
        milliseconds: At least 0.
        is_cold: Whether it was the first one of an instance.
        is_recorded: Whether answer and time are of an earlier session.
    """

    milliseconds: float
    is_cold: bool
    is_recorded: bool


_Spoken = tuple[str | None, ...]


@dataclass(slots=True)
class AnsweredSet:
    """What one detector answered about the samples of one set.

    Attributes:
        statuses: How each sample ended, by id.
        groups: How many rows count as what; see ``GoldenRow.group``.
        scores: The score of each sample that has one, by id.
        calls: Of those, in no order.
        untimed: How many of those have no time of their own.
    """

    statuses: dict[str, str] = field(default_factory=dict)
    groups: Counter[str] = field(default_factory=Counter)
    scores: dict[str, float] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    untimed: int = 0
    _identities: dict[bool, set[_Spoken]] = field(default_factory=lambda: {True: set(), False: set()})

    def add(self, found: GoldenRow, row: EvidenceRow) -> None:
        """Take one row."""
        self.statuses[found.id] = found.status
        self.groups[found.group] += 1
        self._identities[found.score is not None].add(_spoken(row))
        if found.score is None:
            return
        self.scores[found.id] = found.score
        if (call := _call(row)) is None:
            self.untimed += 1
        else:
            self.calls.append(call)

    def identity(self) -> Identity:
        """Say what answered; where nothing did, what was to answer."""
        spoken = self._identities[True] or self._identities[False]
        names = ("name", "version", "rule", "weights", *SAID)
        values = {name: set(each) - {None} for name, each in zip(names, zip(*spoken, strict=True), strict=True)}
        name = "; ".join(sorted(one_line(each) for each in values.pop("name")))
        varying = {member: tuple(sorted(map(str, found))[:VALUES]) for member, found in values.items() if len(found) > 1}
        same = {member: next(iter(found)) for member, found in values.items() if len(found) == 1}
        weights = msgspec.json.decode(same.pop("weights", None) or b"[]", type=tuple[WeightsFile, ...])
        version, rule = same.pop("version", None), same.pop("rule", None)
        return Identity(name=name, version=version, rule=rule, weights=weights, varying=varying, **same)


def _spoken(row: EvidenceRow) -> _Spoken:
    record, scorer = row.adapter, row.detection.scorer or {}
    weights = msgspec.json.encode(record.weights).decode()
    return (record.name, record.version, record.rule, weights, *(_text(scorer, name) for name in SAID.values()))


def _text(scorer: Mapping[str, Any], name: str) -> str | None:
    value = scorer.get(name)
    return None if value is None else one_line(value)


def _call(row: EvidenceRow) -> Call | None:
    """Give the call's own time: what the scorer says of it, else the adapter's, unless several samples shared the call.

    The first call of an instance loads what answers. That is in the adapter's time of it, and what the scorer says of the
    first call stands apart too; not so of a first call that several samples shared, since all of them would.
    """
    detection, scorer = row.detection, row.detection.scorer or {}
    said, is_recorded = scorer.get("latencyMs"), scorer.get("recorded") is True
    is_alone = row.batch is msgspec.UNSET or row.batch.size == 1
    is_cold = detection.call == "cold" and is_alone and not is_recorded
    if isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said <= MOST_MS:  # no NaN, no endless integer
        return Call(float(said), is_cold, is_recorded)
    if detection.adapter_elapsed_ms is None or is_recorded:
        return None
    return Call(detection.adapter_elapsed_ms, is_cold, is_recorded=False)


@dataclass(slots=True)
class AnsweredSplit:
    """One golden set in one run.

    Attributes:
        sha256: Of the set.
        run: The number of the run in a report about several.
        split: The split; ``None`` until a row says it.
        samples: By id, those of which a row says what they are.
        detectors: By suite, parameters and adapter.
    """

    sha256: str
    run: int | None
    split: str | None = None
    samples: dict[str, Sample] = field(default_factory=dict)
    detectors: dict[tuple[str, str | None, str], AnsweredSet] = field(default_factory=dict)

    def add(self, found: GoldenRow, row: EvidenceRow) -> None:
        """Take one row.

        Raises:
            EvidenceError: It is of another split than the rows before it, or says something else of its sample.
        """
        if found.sample is not None:
            if self.split not in (None, found.split):
                raise EvidenceError(
                    f"{shown(found.id)}: case.split: {found.split}, and {self.split} in other rows: figures of both splits "
                    "together would be those of neither"
                )
            self.split = found.split
            if self.samples.setdefault(found.id, found.sample) != found.sample:
                raise EvidenceError(
                    f"{shown(found.id)}: case: says something else of the sample than another detector's row"
                )
        key = row.key.suite, row.key.params, row.key.adapter
        if key not in self.detectors:
            self.detectors[key] = AnsweredSet()
        self.detectors[key].add(found, row)

    def by_alias(self) -> dict[str, AnsweredSet]:
        """Give the detectors by a name that is unique: the alias, with parameters and suite where there are several."""
        suites = {suite for suite, _, _ in self.detectors}
        named = {
            (f"{suite}::" if len(suites) > 1 else "") + alias + (f"[{params}]" if params is not None else ""): found
            for (suite, params, alias), found in self.detectors.items()
        }
        return dict(sorted(named.items()))


class GoldenSetRows:
    """Takes every row of a report and keeps those of golden sets. Memory: some hundred bytes a row.

    Attributes:
        run: The number of the run that the next rows are of; ``None`` in a report about one.
    """

    def __init__(self) -> None:
        self.run: int | None = None
        self._found: dict[tuple[str, int | None], AnsweredSplit] = {}

    def add(self, settled: SettledRow) -> None:
        """Take the next row; one of another kind is passed over.

        Raises:
            EvidenceError: It contradicts itself or an earlier one.
        """
        row = settled.row
        if row.kind != KIND:
            return
        key = row.manifest.sha256, self.run
        if key not in self._found:
            self._found[key] = AnsweredSplit(*key)
        self._found[key].add(golden_row(settled), row)

    def splits(self) -> list[AnsweredSplit]:
        """Give what was found, by run and set."""
        return sorted(self._found.values(), key=lambda found: (found.run or 0, found.sha256))
