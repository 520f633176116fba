"""Whether what answered under one name in two runs is the same detector in kind, and in what it differs.

A new version, other weights and other sources of the same detector are what a comparison is for. Another adapter, another
decision rule, an option that may change what is decided, and another vendor, tier or API version are another detector: a
difference between the two is no change of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import msgspec

from pytest_benchbench.adapters.weights import NOT_PINNED
from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.observation import SETTLED, AdapterRecord
from pytest_benchbench.evidence.reading import SettledRow

WHERE_WEIGHTS_LIE = frozenset({"weights", "generator", "card", "allow_unpinned"})
"""Options that choose the weights. They may differ: what the weights are is told by their digests."""

NAMES_WEIGHTS = {"onnx": frozenset({"config"})}
"""The same of single adapters: what else the file of ``onnx`` declares stands in its rule."""

HOW_IT_IS_ASKED = frozenset({"timeout", "concurrency", "retries", "ca_file"})
"""Options of how a service is called. They may differ: they change whether an answer comes and when, and not what it is."""

SERVICE = ("vendor", "tier", "plan", "api_version", "apiVersion")
"""What tells remote detectors apart beside their name, among an adapter's options and in what it reports of each answer."""

MODEL = "model"
"""What an answer calls the model that gave it. Vendors change it without being asked: that is told, and refused by none."""


@dataclass(frozen=True, slots=True)
class Detector:
    """What stood behind an answer.

    Attributes:
        record: What the adapter says of itself.
        service: Those of ``SERVICE`` that the answer names, with their values.
        model: The model that the answer names.
    """

    record: AdapterRecord
    service: tuple[tuple[str, str], ...]
    model: str | None = None

    def kind(self) -> dict[str, Any]:
        """Give what makes it the detector that it is, by name; another value of any is another detector."""
        record = self.record
        choosing = WHERE_WEIGHTS_LIE | HOW_IT_IS_ASKED | NAMES_WEIGHTS.get(record.name, frozenset())
        options = {f"option {name}": value for name, value in record.options.items() if name not in choosing}
        rule = None if record.rule is None else record.rule.removesuffix(f"; {NOT_PINNED}")
        return {"name": record.name, "rule": rule, **options, **dict(self.service)}


class DetectorsSeen:
    """Collects what stood behind the verdicts of each adapter."""

    def __init__(self) -> None:
        self.by_adapter: dict[str, list[Detector]] = {}
        self._last: dict[str, tuple[AdapterRecord, dict[str, Any] | None]] = {}  # rows that follow each other mostly agree

    def add(self, settled: SettledRow) -> None:
        """Take one row."""
        row = settled.row
        if settled.outcome not in SETTLED:
            return
        adapter, scorer = row.key.adapter, row.detection.scorer
        if self._last.get(adapter) == (row.adapter, scorer):
            return
        self._last[adapter] = row.adapter, scorer
        detector = Detector(row.adapter, _service(scorer or {}), _model(scorer or {}))
        seen = self.by_adapter.setdefault(adapter, [])
        if detector not in seen:
            seen.append(detector)


def _service(scorer: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(scorer[name])) for name in SERVICE if name in scorer)


def _model(scorer: Mapping[str, Any]) -> str | None:
    return None if scorer.get(MODEL) is None else one_line(scorer[MODEL])


def other_detectors(old: DetectorsSeen, new: DetectorsSeen, accepted: Set[str] = frozenset()) -> Iterator[str]:
    """Name the adapters that stand for another detector in the second run.

    Args:
        old: Of the first run.
        new: Of the second.
        accepted: Differences that are accepted: ``rule``, or names of options that are none of ``SERVICE``.

    Yields:
        One line for each, with what differs.
    """
    for adapter in sorted(set(old.by_adapter) & set(new.by_adapter)):
        one, other = ([detector.kind() for detector in seen.by_adapter[adapter]] for seen in (old, new))
        names = dict.fromkeys(name for kind in (*one, *other) for name in kind)
        differing = [
            f"{name} was {_values(one, name)} and is {_values(other, name)}"
            for name in names
            if not _is_accepted(name, accepted) and _set(one, name) != _set(other, name)
        ]
        if differing:
            yield f"{adapter} is not the same detector: {'; '.join(differing)}"


def changed_fields(old: Iterable[Detector], new: Iterable[Detector]) -> list[str]:
    """Name what differs in the second run: fields of an adapter's record, such as ``version``, and ``model`` of answers."""
    sides = [list(detectors) for detectors in (old, new)]
    one, other = ([msgspec.to_builtins(detector.record) for detector in detectors] for detectors in sides)
    names = [name for name in AdapterRecord.__struct_fields__ if _set(one, name) != _set(other, name)]
    was, now = ({detector.model for detector in detectors} - {None} for detectors in sides)  # not every answer names it
    return [*names, *([MODEL] if was and now and was != now else [])]


def _is_accepted(name: str, accepted: Set[str]) -> bool:
    option = name.removeprefix("option ")
    return option in accepted and option not in SERVICE and name != "name"


def _set(kinds: Iterable[Mapping[str, Any]], name: str) -> set[bytes]:
    encode = msgspec.json.Encoder(order="deterministic").encode
    return {encode(kind.get(name)) for kind in kinds}


def _values(kinds: Iterable[Mapping[str, Any]], name: str) -> str:
    return " or ".join(sorted(one_line(value.decode()) for value in _set(kinds, name)))
