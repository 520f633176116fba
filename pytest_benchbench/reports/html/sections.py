"""The results of a report as sections of a page. Nothing is computed here: every number is in the document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_benchbench.reports.detector_lines import beside_golden_sets
from pytest_benchbench.reports.html.columns_of import fields_of, identity_of
from pytest_benchbench.reports.html.costs import cost_sections
from pytest_benchbench.reports.html.detectors import detector_sections
from pytest_benchbench.reports.html.labelled import evaluation_sections
from pytest_benchbench.reports.html.measured import environment_table
from pytest_benchbench.reports.html.view import Field, Line, Section, Table, cell, shown, table_of, value_field
from pytest_benchbench.reports.wording import where

if TYPE_CHECKING:
    from pytest_benchbench.reports.html.plots import Plots

LISTED = 100
"""How many rows a list of rows shows; the list of all cases and ``report.json`` have more."""

_TABLE_TITLES = {
    "adapter_state": "By adapter and state",
    "adapter_arm": "By adapter and arm",
    "adapter": "By adapter",
    "adapter_provider": "By adapter and provider",
    "adapter_content_stratum": "By adapter and content",
    "adapter_state_transform": "By adapter, state and transform",
}

_ANSWERS = ("expected", "observed", "reason")

_LISTS: dict[str, tuple[str, Sequence[str]]] = {
    "errors": ("Errors", ("status", "error_type")),
    "mismatches": ("Mismatches", _ANSWERS),
    "unstable": ("Unstable rows: attempts gave different verdicts", _ANSWERS),
    "unstable_across_runs": ("Rows about which the runs disagree", ("verdicts",)),
    "known_mismatches": ("Known mismatches", _ANSWERS),
    "unavailable": ("Unavailable", ()),
    "not_run": ("Not run", ()),
}

_PLACE = frozenset({"manifest", "line", "pointer", "suite", "params", "adapter", "case_id"})


class _Part(NamedTuple):
    """A part of the results that is a list of lines."""

    key: str
    id: str
    title: str
    note: str


_PARTS = (
    _Part(
        "transitions",
        "transitions",
        "Pairs: what became of the detections",
        "Members of a pair have one carrier. Kept: detected in the marked artifact and in the later one; lost: in the "
        "marked one only; gained: in the later one only; absent: in neither. McNemar's exact test asks whether lost and "
        "gained differ.",
    ),
    _Part(
        "robustness",
        "robustness",
        "Detection by the strength of attacks",
        "Each line is one strength of one family of attacks; a line without an attack is the marked artifact as it was.",
    ),
    _Part(
        "message_matches",
        "messages",
        "Message bits",
        "How many bits of the expected message were recovered. log10 p: the chance that fair coins match as many or more.",
    ),
    _Part(
        "removal",
        "removal",
        "After removal",
        "What the named detector still recognised in removed-state artifacts. It certifies nothing beyond this detector.",
    ),
    _Part(
        "confusion",
        "confusion",
        "Expected against observed",
        "Rows whose answer is asserted. A row without a verdict (error, unavailable, unstable, not run) is neither.",
    ),
    _Part(
        "reliability",
        "reliability",
        "Scores against expectations",
        "Rows by score: how many of them were expected to be detected. No calibration is claimed.",
    ),
    _Part(
        "detection_ranges",
        "ranges",
        "What the detectors measured",
        "Smallest, middle (nearest rank) and largest value over the rows that have a verdict.",
    ),
    _Part(
        "fidelity",
        "fidelity",
        "Fidelity",
        "Decoded artifacts against their references, over rows. It says nothing about whether an invisible mark remains.",
    ),
)

_SHOWN_OTHERWISE = frozenset(
    {
        *(
            "rows",
            "outcomes",
            "tables",
            "by",
            "absent_arms",
            "conflicting_artifacts",
            "worst_slices",
            "wrong_slices",
            "histograms",
            "evaluation",
            "golden_sets",
        ),
        "repetition",
        *_LISTS,
        *(part.key for part in _PARTS),
    }
)

PlotsOf = Mapping[str, "Plots"]
"""Plots by the part of the report that they show; see ``report_plots``."""


def first_sections(document: Mapping[str, Any], plots: PlotsOf) -> Iterator[Section]:
    """Give what stands before the failing cases: the worst slices, and what labelled rows and samples come to."""
    results = document["results"]
    if lines := results.get("worst_slices"):
        identity = identity_of(results["tables"]["adapter"])
        note = (
            "Slices with mismatches, errors or unstable rows, ordered by the lower 95 % bound of their share, so that one "
            "bad row of one does not come before a hundred of a hundred."
        )
        table = table_of(
            "worst-table",
            "By adapter, state, transform and arm",
            lines,
            fields_of(lines, identity),
            note=note,
            left_out=results.get("wrong_slices", len(lines)) - len(lines),
        )
        yield Section("worst", "Worst slices first", (), plots.get("worst_slices"), [table])
    yield from evaluation_sections(results)
    yield from detector_sections(document)


def other_sections(document: Mapping[str, Any], plots: PlotsOf) -> Iterator[Section]:
    """Give what stands after the failing cases."""
    results = document["results"]
    identity = identity_of(results["tables"]["adapter"])
    lists = [
        *_lists(results, identity),
        *_list(
            "messages",
            "Messages of rows without a verdict",
            document["attempts"]["messages"],
            (*identity, "outcome", "message"),
        ),
    ]
    if lists:
        yield Section("attention", "Rows that want attention", tables=lists)
    yield from _recognised(results, identity, plots)
    for part in _PARTS:
        lines = list(_flat(results.get(part.key) or ()))
        drawn = plots.get(part.key)
        if lines or drawn:
            table = table_of(f"{part.id}-table", f"{part.title}: numbers", lines, fields_of(lines, identity))
            yield Section(part.id, part.title, [part.note], drawn, [table] if lines else ())
    yield from _timing(document["timing"], plots)
    yield from _batch_timing(document.get("batch_timing") or {}, plots)
    yield from cost_sections(document["environment"])
    yield from _others(results, identity)
    yield _attempts(document["attempts"])
    if document["environment"]:
        yield Section("environment", "Environment", tables=[environment_table(document["environment"])])


def _recognised(results: Line, identity: Sequence[str], plots: PlotsOf) -> Iterator[Section]:
    tables = [
        table_of(f"by-{name}", title, lines, fields_of(lines, identity))
        for name, title in _TABLE_TITLES.items()
        if (lines := beside_golden_sets(results, results["tables"].get(name) or ()))
    ]
    for number, (path, lines) in enumerate((results.get("by") or results["tables"].get("by") or {}).items()):
        tables.append(table_of(f"by-field-{number}", f"By {shown(path)}", lines, fields_of(lines, identity)))
    if absent := [line for line in results["absent_arms"] if line["absent"]]:
        fields = [value_field(name) for name in (*identity, "absent")]
        note = "Without negatives a rate of detection says little."
        tables.append(table_of("absent-arms", "Arms without any row", absent, fields, note=note))
    notes = [
        "Each line tells what one detector recognised of its own signal; “not detected” says no more than that. Counts are "
        "rows; the rate is about artifacts. Columns in which nothing stands are left out."
    ]
    if tables or not results["rows"]:
        yield Section("recognised", "What the detectors recognised", notes, plots.get("histograms"), tables)


def _lists(results: Line, identity: Sequence[str]) -> Iterator[Table]:
    for name, (title, columns) in _LISTS.items():
        if listing := results.get(name):
            yield from _list(name.replace("_", "-"), title, listing, (*identity, *columns))
    conflicting = results["conflicting_artifacts"]
    if conflicting["count"]:
        fields = [value_field(name) for name in (*identity, "artifact_sha256", "states", "verdicts")]
        yield table_of(
            "conflicting",
            f"Artifacts with conflicting verdicts: {conflicting['count']}",
            conflicting["listed"][:LISTED],
            fields,
            note="One adapter answered differently about the same bytes. They are in no rate.",
            left_out=conflicting["count"] - len(conflicting["listed"][:LISTED]),
        )


def _list(id_: str, title: str, listing: Line, columns: Sequence[str]) -> Iterator[Table]:
    if not listing["count"]:
        return
    entries = listing["listed"][:LISTED]
    more = [name for name in dict.fromkeys(name for entry in entries for name in entry) if name not in (*_PLACE, *columns)]
    fields = [
        Field("manifest", lambda entry: cell(where(dict(entry))))
        if "manifest" in entries[0]
        else value_field("manifest", is_optional=True),
        value_field("case_id", "case"),
        *(value_field(name, is_optional=name not in columns[:1]) for name in (*columns, *more)),
    ]
    yield table_of(f"list-{id_}", f"{title}: {listing['count']}", entries, fields, left_out=listing["count"] - len(entries))


def _flat(lines: Iterable[Line]) -> Iterator[Line]:
    """Write a line with inner lines, such as the points of a curve, as one line for each of them."""
    for line in lines:
        inner = next((name for name in ("points", "bins") if name in line), None)
        if inner is None:
            yield line
        else:
            yield from ({**{name: value for name, value in line.items() if name != inner}, **one} for one in line[inner])


def _timing(timing: Mapping[str, Any], plots: PlotsOf) -> Iterator[Section]:
    lines = [
        {"adapter": adapter, "call": call, **_with_intervals(latency)}
        for adapter, calls in timing.items()
        for call, latency in calls.items()
        if latency is not None
    ]
    if lines:
        note = (
            "Wall time of the adapter's call alone, in milliseconds, nearest rank: always a time that was measured. A cold "
            "call is an instance's first and includes loading. Beside a percentile stand the two measured times between "
            "which it lies with 95 %, where there are enough calls."
        )
        table = table_of("time-table", "By adapter and call", lines, fields_of(lines, ("adapter",)))
        yield Section("time", "Adapter time", [note], plots.get("timing"), [table])


def _batch_timing(timing: Mapping[str, Any], plots: PlotsOf) -> Iterator[Section]:
    lines = [
        {
            "adapter": adapter,
            "call": call,
            "rows in a batch": batches["batch_size"],
            "time of": of,
            **_with_intervals({"batches" if name == "n" else name: value for name, value in latency.items()}),
        }
        for adapter, calls in timing.items()
        for call, batches in calls.items()
        if batches is not None
        for of, latency in (("a batch", batches["per_batch"]), ("a row's share", batches["row_share"]))
    ]
    if lines:
        note = (
            "Wall time of calls that several rows shared, in milliseconds, nearest rank over calls. No row was timed on its "
            "own: a row's share is the time of its batch divided by the number of rows in it, and says nothing of what one "
            "row takes alone."
        )
        table = table_of("batch-time-table", "By adapter, call and share", lines, fields_of(lines, ("adapter",)))
        yield Section("batch-time", "Batch time", [note], plots.get("batch_timing"), [table])


def _with_intervals(latency: Line) -> Line:
    intervals = latency.get("intervals") or {}
    written: dict[str, Any] = {}
    for name, value in latency.items():
        if name != "intervals":
            written[name] = value
            if (interval := intervals.get(name)) is not None:
                written[f"{name} 95 %"] = f"{shown(interval['low_ms'])} to {shown(interval['high_ms'])}"
    return written


def _others(results: Line, identity: Sequence[str]) -> Iterator[Section]:
    """Show parts of the results that no section is for, so that nothing is left out unseen."""
    tables: list[Table] = []
    for number, name in enumerate(name for name in results if name not in _SHOWN_OTHERWISE):
        value = results[name]
        title = shown(name.replace("_", " ")).capitalize()
        if isinstance(value, Mapping) and "listed" in value:
            tables += _list(f"other-{number}", title, value, identity)
        elif isinstance(value, list) and value and all(isinstance(line, Mapping) for line in value):
            lines = list(_flat(value))
            tables.append(table_of(f"other-{number}", title, lines, fields_of(lines, identity)))
        elif value:
            tables.append(table_of(f"other-{number}", title, [{"value": value}], [value_field("value")]))
    if tables:
        yield Section("others", "More results", tables=tables)


def _attempts(attempts: Line) -> Section:
    note = (
        f"{attempts['attempts']} attempts at {attempts['rows']} rows; {attempts['rows_with_several_attempts']} rows "
        "were tried more than once. A later attempt takes the place of an error, never of a verdict."
    )
    return Section("attempts", "Attempts", [note])


def contents(sections: Iterable[Section], *, has_gate: bool, has_failing: bool, first: int) -> list[tuple[str, str]]:
    """List what the page has, in its order.

    Args:
        sections: All sections.
        has_gate: Whether there are rules.
        has_failing: Whether cases are shown one by one.
        first: How many of the sections stand before them.
    """
    listed = [(section.id, section.title) for section in sections]
    return list(
        chain(
            [("gate", "Gate")] if has_gate else [],
            listed[:first],
            [("failing", "Wrong answers and errors")] if has_failing else [],
            [("measured", "What was measured"), ("reading", "How to read")],
            listed[first:],
            [("all-cases", "All cases")],
        )
    )
