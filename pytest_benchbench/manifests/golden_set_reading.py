"""Reading a golden set strictly: every fault with file, line, sample, field and value, and never with a sample's text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from pytest_benchbench.manifests.faults import FaultLog, refused, shown, shown_key, shown_text
from pytest_benchbench.manifests.field_types import MAX_ID_LENGTH
from pytest_benchbench.manifests.golden_set import (
    MAX_GOLDEN_SET_BYTES,
    PROVENANCES,
    BalanceTargets,
    GoldenSample,
    GoldenSet,
    Label,
)
from pytest_benchbench.manifests.json_document import Element, JsonDocument, MalformedDocumentError, parse_document
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.rows import check_fields
from pytest_benchbench.manifests.strict_json import Problem

SAMPLES = "samples"

TOO_LARGE = "larger than 64 MiB"


class SamplePlace(NamedTuple):
    """Where a sample stands in the file.

    Attributes:
        line: The line on which it begins, 1 for the first.
        begin: Its first byte.
        end: The byte behind it.
    """

    line: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class LocatedSet:
    """A golden set as it stands in a file.

    Attributes:
        golden_set: Its content.
        places: Where each of its samples stands.
        sha256: Digest of the whole file.
    """

    golden_set: GoldenSet
    places: tuple[SamplePlace, ...]
    sha256: str


def read_golden_set(path: Path, *, display: str | None = None) -> GoldenSet:
    """Read a golden set, whether or not it is frozen.

    Args:
        path: The file.
        display: What to call it in messages; by default ``path``.

    Raises:
        ManifestError: It cannot be read, or is no valid golden set.
    """
    return locate_golden_set(path, display=display).golden_set


def locate_golden_set(path: Path, *, display: str | None = None) -> LocatedSet:
    """Read a golden set as ``read_golden_set`` does, and say where its samples stand."""
    display = str(path) if display is None else display
    try:
        with open_regular(path) as file:
            data = file.read(MAX_GOLDEN_SET_BYTES + 1)
    except OSError as error:
        raise refused(display, None, f"cannot be read: {error.strerror or error}") from None
    return parse_golden_set(data, display)


def parse_golden_set(data: bytes, display: str) -> LocatedSet:
    """Check the bytes of a golden set.

    Args:
        data: The whole file, or a byte more than ``MAX_GOLDEN_SET_BYTES`` of it.
        display: What to call it in messages.

    Raises:
        ManifestError: They are no valid golden set; every fault is counted, and the first ones are told.
    """
    if len(data) > MAX_GOLDEN_SET_BYTES:
        raise refused(display, None, TOO_LARGE)
    try:
        document = parse_document(data, SAMPLES)
    except MalformedDocumentError as error:
        raise refused(display, error.line, error.message) from None
    log = FaultLog(display)
    _check_head(document, log)
    samples = [_sample(index, element, data, log) for index, element in enumerate(document.elements or ())]
    _check_together(document.elements or [], samples, log)
    log.check()
    head = {name: element.value for name, element in document.members.items()}
    head["balance"] = msgspec.convert(head.get("balance"), dict[str, BalanceTargets] | None)
    return LocatedSet(
        GoldenSet(**head, samples=[sample for sample in samples if sample is not None]),
        tuple(SamplePlace(element.line, element.begin, element.end) for element in document.elements or ()),
        hashlib.sha256(data).hexdigest(),
    )


def _check_head(document: JsonDocument, log: FaultLog) -> None:
    """Check everything but the samples."""
    values: dict[str, Any] = {name: element.value for name, element in document.members.items()}
    problems: list[Problem] = [problem for element in document.members.values() for problem in element.problems]
    spoiled = {_root(name) for name, _ in problems}
    if document.elements is not None:
        values[SAMPLES] = document.elements
        spoiled.add(SAMPLES)
    if document.elements == []:
        problems.append((SAMPLES, "empty: a golden set has at least one sample"))
    if isinstance(balance := values.get("balance"), dict) and "balance" not in spoiled:
        spoiled.add("balance")
        for category, targets in balance.items():
            of_category = f"balance.{shown_key(category)}"
            if isinstance(targets, dict):
                check_fields(targets, BalanceTargets, f"{of_category}.", frozenset(), problems)
            else:
                problems.append((of_category, f"expected an object, got {shown(targets)}"))
    check_fields(values, GoldenSet, "", frozenset(spoiled), problems)
    for name, line in document.repeated:
        log.add(line, shown_key(name), "this key stands twice")
    for place, message in problems:
        element = document.members.get(_root(place))
        log.add(document.line if element is None else element.line, place, message)


def _root(name: str | None) -> str:
    """Give the member in which a problem is."""
    return "" if name is None else name.split(".")[0].split("[")[0]


def _sample(index: int, element: Element, data: bytes, log: FaultLog) -> GoldenSample | None:
    """Check one sample by itself."""
    value = element.value
    if not isinstance(value, dict):
        log.add(element.line, None, "expected an object", case=_named(index, None))
        return None
    problems = list(element.problems)
    _check_fields(value, frozenset(_root(name) for name, _ in problems), problems)
    for name, message in problems:
        log.add(element.line, name, message, case=_named(index, value.get("id")))
    if problems:
        return None
    try:
        return msgspec.json.decode(data[element.begin : element.end], type=GoldenSample)
    except (msgspec.DecodeError, RecursionError) as error:  # two parsers disagree about what JSON is: then it is refused
        log.add(element.line, None, str(error), case=_named(index, value["id"]))
        return None


def _check_fields(value: dict[str, Any], spoiled: frozenset[str], problems: list[Problem]) -> None:
    check_fields(value, GoldenSample, "", spoiled | {"provenance"}, problems)
    if "provenance" not in spoiled:
        _check_provenance(value, problems)


def _check_provenance(value: dict[str, Any], problems: list[Problem]) -> None:
    if "provenance" not in value:
        problems.append(("provenance", "missing"))
        return
    provenance, label = value["provenance"], value.get("label")
    if not isinstance(provenance, dict):
        problems.append(("provenance", f"expected an object, got {shown(provenance)}"))
        return
    kind = provenance.get("kind")
    if not isinstance(kind, str) or kind not in PROVENANCES:
        told = f"expected {' or '.join(PROVENANCES)}, got {shown(kind)}" if "kind" in provenance else "missing"
        problems.append(("provenance.kind", told))
        return
    told_of = {name: found for name, found in provenance.items() if name != "kind"}
    check_fields(told_of, PROVENANCES[kind], "provenance.", frozenset(), problems)
    if label in get_args(Label) and label != kind:
        problems.append(("provenance.kind", f"{kind}, and the label is {label}"))


def _named(index: int, sample_id: object) -> str:
    """Name a sample for a fault: by its id, or by its place where it has none."""
    is_id = isinstance(sample_id, str) and 0 < len(sample_id) <= MAX_ID_LENGTH
    return shown_text(str(sample_id)) if is_id else f"{SAMPLES}[{index}]"


def _check_together(elements: list[Element], samples: list[GoldenSample | None], log: FaultLog) -> None:
    """Check what samples say of one another: of those that are sound by themselves."""
    first: dict[str, tuple[int, GoldenSample | None]] = {}
    owner: tuple[int, str] | None = None
    for index, (element, sample) in enumerate(zip(elements, samples, strict=True)):
        sample_id = element.value.get("id") if isinstance(element.value, dict) else None
        if not isinstance(sample_id, str):
            continue
        if sample_id in first:
            log.add(
                element.line,
                "id",
                f"{shown(sample_id)} stands already in {log.file}:{first[sample_id][0]}",
                case=_named(index, sample_id),
            )
            continue
        first[sample_id] = element.line, sample
        if sample is None:
            continue
        if owner is None:
            owner = element.line, sample.labelOwner
        elif sample.labelOwner != owner[1]:
            told = f"{shown(sample.labelOwner)}, but {shown(owner[1])} in {log.file}:{owner[0]}: one person answers for all"
            log.add(element.line, "labelOwner", told, case=_named(index, sample_id))
    for index, (element, sample) in enumerate(zip(elements, samples, strict=True)):
        if sample is not None and sample.pairOf is not None and (why := _no_pair(sample, sample.pairOf, first)):
            log.add(element.line, "pairOf", f"{shown(sample.pairOf)} {why}", case=_named(index, sample.id))


def _no_pair(sample: GoldenSample, original_id: str, first: dict[str, tuple[int, GoldenSample | None]]) -> str | None:
    """Say why a sample is no humanized variant of another one; ``None`` where it is, or where that is at fault itself."""
    if original_id not in first:
        return "is no sample of the set"
    original = first[original_id][1]
    if original is None:
        return None
    if original.id == sample.id:
        return "is the sample itself"
    if original.pairOf is not None:
        return "is a humanized variant itself: name the original"
    if "human" in (original.label, sample.label):
        return "and its humanized variant must both have the label ai"
    if original.split != sample.split:
        return f"is of the split {original.split}: a pair stays in one split"
    return None
