"""Runs as parts of a whole: whether they belong together, what is missing, and what ``run.json`` says of the whole.

Laws, held by ``tests/evidence/test_merging.py``: the order in which directories are given changes nothing; merging merged
runs gives what merging all their parts at once gives; no planned row counts twice.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.joined_costs import COSTS, joined_costs
from pytest_benchbench.evidence.joining import JoinedPart, Piece
from pytest_benchbench.evidence.opened_split import OPENING, joined_opening
from pytest_benchbench.evidence.recorded_run import ALTERED, Planned, RecordedRun

INDIFFERENT = frozenset({"arguments", "shard", "gate", "crash_retries", "require_available", "expectations", "budget"})
"""Options that change neither the plan nor an observation: all others must agree. Of expectations the bytes must."""

NAMED = 10
"""How many missing shards are named."""

_ENDED_BADLY = {2: "interrupted, or a suite that could not be collected", 3: "internal error", 4: "wrong use"}

_encode = msgspec.json.Encoder(order="deterministic").encode


class MergeError(Exception):
    """Runs that cannot be parts of one whole; one line."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What the parts come to.

    Attributes:
        planned: What became of the planned rows, as far as is known.
        gaps: What is missing, one line each.
        unaccounted: Parts of which nobody knows how many rows they lost.
    """

    planned: Planned
    gaps: tuple[str, ...]
    unaccounted: int


def check_together(runs: Sequence[RecordedRun]) -> None:
    """Demand that runs can be parts of one whole: same code, manifests and options, and no part twice.

    Raises:
        MergeError: They cannot; says what differs in which directories.
    """
    _refuse_repeated_directories(runs)
    facts = [_facts(run.document) for run in runs]
    differing = []
    for name in sorted({name for known in facts for name in known}):
        values: defaultdict[str, list[str]] = defaultdict(list)
        for run, known in zip(runs, facts, strict=True):
            values[_shown(known.get(name))].append(str(run.path))
        if len(values) > 1:
            told = "; ".join(f"{value} in {', '.join(sorted(where))}" for value, where in sorted(values.items()))
            differing.append(f"{name} ({told})")
    if differing:
        raise MergeError(f"these runs cannot be merged, they differ: {', '.join(differing)}")


def check_parts(pieces: Sequence[Piece]) -> None:
    """Demand that no run and no shard is there twice, and that all shards are shards of the same cut.

    Raises:
        MergeError: There is one.
    """
    _refuse_repeated((f"run {piece.part.run_id}", piece) for piece in pieces)
    cuts: defaultdict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        cut = piece.part.cut
        cuts[f"shards of {cut.count}" if cut else "all rows"].append(piece.label)
    if len(cuts) > 1:
        told = "; ".join(f"{kind} in {', '.join(sorted(labels))}" for kind, labels in sorted(cuts.items()))
        raise MergeError(f"these runs cannot be merged, their parts are cut differently: {told}")
    _refuse_repeated((f"shard {piece.part.shard}", piece) for piece in pieces if piece.part.cut)


def version_notes(runs: Sequence[RecordedRun]) -> list[str]:
    """Name the packages whose versions differ between runs: answers may differ for that reason alone."""
    notes = []
    versions = [run.document["versions"] for run in runs]
    for name in sorted({name for known in versions for name in known}):
        found = sorted({str(known.get(name)) for known in versions})
        if len(found) > 1:
            notes.append(f"versions of {one_line(name)} differ: {', '.join(map(one_line, found))}")
    return notes


def take_stock(parts: Sequence[JoinedPart], runs: Sequence[RecordedRun]) -> Whole:
    """Account for the planned rows of the whole, and name the gaps.

    Args:
        parts: What the parts' evidence has.
        runs: The directories.
    """
    gaps = list(_missing_shards(parts, runs))
    unaccounted = len(gaps)
    lost = 0
    for joined in parts:
        unknown, known, missing = _losses(joined)
        gaps += [f"{joined.part.label}: {said}" for said in (*unknown, *known)]
        unaccounted += bool(unknown)
        lost += missing
    ended = sum(joined.ended for joined in parts)
    by_part = _left_out(parts, ended + lost)
    gaps += [f"{who}: {_rows(count)} left out" for who, count in by_part.items() if count]
    left_out = sum(by_part.values())
    rows = ended + lost + left_out
    if not rows and not gaps:
        gaps.append("no row was selected")
        unaccounted += 1
    return Whole(Planned(rows=rows, selected=rows - left_out, left_out=left_out, lost=lost), tuple(gaps), unaccounted)


def merged_document(runs: Sequence[RecordedRun], parts: Sequence[JoinedPart], whole: Whole) -> dict[str, Any]:
    """Say in ``run.json`` what the parts have in common, and which they are. What differs between them is null.

    It depends on the parts alone, so merging again gives the same bytes; ``exit_status`` is for the caller to add.

    Raises:
        MergeError: What a run says of its costs cannot be read.
    """
    documents = [run.document for run in runs]
    listed = [joined.part for joined in parts]
    started = min(part.started for part in listed)
    ends = [part.finished for part in listed]
    identity = hashlib.sha256(_encode([(part.run_id, part.evidence_sha256) for part in listed])).hexdigest()
    decoding = [document.get("decoding", {}) for document in documents]
    document = {
        "schema_version": 1,
        "run_id": f"{started[:19].replace('-', '').replace(':', '')}Z-{identity[:8]}",
        **{name: common([document[name] for document in documents]) for name in ("package", "project")},
        "manifests": _manifests(documents, is_cut=listed[0].cut is not None),
        "options": {**common([document["options"] for document in documents]), "shard": None},
        **{name: common([document[name] for document in documents]) for name in ("versions", "machine")},
        "started": started,
        "decoding": {name: sum(counts.get(name, 0) for counts in decoding) for name in ("hits", "misses")},
        "planned": msgspec.to_builtins(whole.planned),
        "interrupted": any(part.interrupted for part in listed),
    }
    if (opening := joined_opening(documents)) is not None:
        document[OPENING] = msgspec.to_builtins(opening)
    try:
        costs = joined_costs(documents)
    except ValueError as error:
        raise MergeError(str(error)) from None
    if costs is not None:
        document[COSTS] = msgspec.to_builtins(costs)
    if None not in ends:
        document["finished"] = max(end for end in ends if end is not None)
    return {**document, "merged_from": msgspec.to_builtins(listed), "gaps": list(whole.gaps)}


def _refuse_repeated_directories(runs: Sequence[RecordedRun]) -> None:
    seen: dict[Any, RecordedRun] = {}
    for run in runs:
        other = seen.setdefault(run.path.resolve(), run)
        if other is not run:
            raise MergeError(f"{run.path}: the same directory is given twice, also as {other.path}")


def _refuse_repeated(named: Iterable[tuple[str, Piece]]) -> None:
    seen: dict[str, Piece] = {}
    for name, piece in named:
        other = seen.setdefault(name, piece)
        if other is not piece:
            raise MergeError(f"{one_line(name)} is there twice: in {other.label} and in {piece.label}")


def _facts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Give what must agree, by the names of ``run.json``."""
    options = document["options"]
    expectations = options.get("expectations")
    return {
        "package.kernel_sha256": document["package"]["kernel_sha256"],
        "project.commit": document["project"].get("commit"),
        "project.dirty": document["project"].get("dirty"),
        "manifests": sorted([m["kind"], m["name"], m["sha256"]] for m in document["manifests"]),
        "options.expectations": expectations.get("sha256") if isinstance(expectations, dict) else expectations,
        **{
            f"options.{name}": sorted(value, key=_encode) if isinstance(value, list) else value
            for name, value in options.items()
            if name not in INDIFFERENT
        },
    }


def _shown(value: Any) -> str:
    text = _encode(value).decode()
    return text if len(text) <= 200 else f"{text[:160]}... ({hashlib.sha256(text.encode()).hexdigest()[:8]})"


def _missing_shards(parts: Sequence[JoinedPart], runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Name the shards that are not there, unless those that are there have every row of the manifests."""
    cut = parts[0].part.cut
    if cut is None:
        return
    there = {joined.part.cut.index for joined in parts if joined.part.cut}
    missing = [index for index in range(1, cut.count + 1) if index not in there]
    if not missing or _have_all_rows([run.document for run in runs]):
        return
    named = ", ".join(f"{index}/{cut.count}" for index in missing[:NAMED])
    more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    yield f"missing: shard{'s' if len(missing) > 1 else ''} {named}{more}"


def _have_all_rows(documents: Sequence[Mapping[str, Any]]) -> bool:
    manifests = _manifests(documents, is_cut=True)
    return bool(manifests) and all(manifest.get("shard_rows") == manifest["rows"] for manifest in manifests)


def _manifests(documents: Sequence[Mapping[str, Any]], *, is_cut: bool) -> list[dict[str, Any]]:
    """List the manifests; shards have read different rows of them."""
    by_digest: dict[tuple[str, str], dict[str, Any]] = {}
    for document in documents:
        for manifest in document["manifests"]:
            key = manifest["name"], manifest["sha256"]
            known = by_digest.get(key)
            if known is None:
                by_digest[key] = dict(manifest)
            else:
                counts = [one.get("shard_rows", one["rows"]) for one in (known, manifest)]
                by_digest[key] = {**common([known, manifest]), "shard_rows": sum(counts) if is_cut else max(counts)}
    return [by_digest[key] for key in sorted(by_digest)]


def _losses(joined: JoinedPart) -> tuple[list[str], list[str], int]:
    """Say what a part lost: what may hide losses of unknown number, what is known to be lost, and how many rows that is."""
    part, planned = joined.part, joined.part.planned
    unknown, known, lost = [], [], 0
    if part.finished is None or planned is None:
        unknown.append("never finished")
    elif part.interrupted:
        unknown.append("was interrupted")
    elif part.exit_status in _ENDED_BADLY:
        unknown.append(f"ended with exit code {part.exit_status} ({_ENDED_BADLY[part.exit_status]})")
    if part.is_altered:
        unknown.append(ALTERED)
    if planned is not None:
        if planned.lost:
            known.append(f"{_rows(planned.lost)} lost")
        if (missing := planned.rows - planned.left_out - planned.lost - joined.ended) > 0:
            known.append(f"{_rows(missing)} ended that the evidence does not have")
        elif missing < 0:
            unknown.append(f"its evidence has {_rows(-missing)} more than ended")
        lost = planned.lost + max(missing, 0)
    return unknown, known, lost


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _left_out(parts: Sequence[JoinedPart], accounted: int) -> dict[str, int]:
    """Count the rows that were left out of the whole, by who left them out.

    Shards have no row in common. Several runs of all rows have the same plan, and what one of them left out another may have
    run. Where their plans differ in size that cannot be told, and is not believed.
    """
    by_part = {joined.part.label: joined.part.planned for joined in parts if joined.part.planned is not None}
    sizes = {planned.rows for planned in by_part.values()}
    if len(parts) > 1 and parts[0].part.cut is None and len(sizes) == 1:
        return {"by all runs": max(0, sizes.pop() - accounted)}
    return {label: planned.left_out for label, planned in by_part.items()}


def common(values: Sequence[Any]) -> Any:
    """Give what all values share: themselves if they are equal, what is common inside objects, else null.

    Args:
        values: Of JSON, at least one.
    """
    first = values[0]
    if all(value == first for value in values):
        return first
    if all(isinstance(value, dict) for value in values):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: common([value.get(name) for value in values]) for name in names}
    return None
