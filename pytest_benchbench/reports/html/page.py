"""A report as one HTML file: it carries its style, script and pictures, and asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchbench.gates.decision import Decision
from pytest_benchbench.reports.html.case_cards import CaseCard, case_cards
from pytest_benchbench.reports.html.cases import Cases, PackedCases
from pytest_benchbench.reports.html.failing import FAILING, Key
from pytest_benchbench.reports.html.figure import CasePictures
from pytest_benchbench.reports.html.measured import Measured, measured_of
from pytest_benchbench.reports.html.sections import contents, first_sections, other_sections
from pytest_benchbench.reports.html.verdict import Verdict, verdict_of
from pytest_benchbench.reports.html.view import Section, shown

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_BYTES = 4_900_000
"""What a page may have at most; the list of all cases takes what the rest leaves."""

READING = (
    "A row is one question: one detector was asked about one file, and a manifest had said beforehand what is expected. "
    "“Detected” means that this detector recognised its own signal; “not detected” says no more than that, and nothing "
    "about other marks. Errors and rows that were unavailable, unstable or not run are counted apart and are in no rate.",
    "Artifacts are files, told apart by their SHA-256: each counts once however many rows show it. A rate is k of n: the "
    "detected among the n artifacts that were decided either way. A dash means that nothing was decided.",
    "The 95 % interval (Wilson) says how far chance alone may have moved a rate: of such intervals, made from other files "
    "drawn in the same way, about 95 in 100 would hold the rate of all such files. Few artifacts give a wide interval. It "
    "says nothing about other kinds of files, attacks or settings than those measured here.",
    "A base is what independent pieces were made from, such as a carrier. Artifacts of one base are alike, so they "
    "tell less than as many independent ones: where a line has bases, they are counted beside the artifacts, and the "
    "interval by bases allows for it.",
    "Detectors, suites and parameters are never added up, and there is no score over several detectors.",
)


@dataclass(frozen=True, slots=True)
class Failing:
    """The cases that are shown one by one."""

    note: str
    cases: Sequence[CaseCard]


@dataclass(frozen=True, slots=True)
class Page:
    """What the page shows, beside the list of all cases."""

    verdict: Verdict
    contents: Sequence[tuple[str, str]]
    reading: Sequence[str]
    measured: Measured
    sections_first: Sequence[Section]
    failing: Failing
    sections_rest: Sequence[Section]

    def cut(self, most: int) -> Page:
        """Give the page with at most so many lines in each table of results."""
        return replace(
            self,
            sections_first=[section.cut(most) for section in self.sections_first],
            sections_rest=[section.cut(most) for section in self.sections_rest],
        )


def render_html(
    document: Mapping[str, Any],
    *,
    cases: Cases,
    pictures: Mapping[Key, CasePictures] | None = None,
    gate: Decision | None = None,
    max_bytes: int = MAX_BYTES,
) -> str:
    """Write a report for people, as a page of its own.

    Args:
        document: What ``build_report`` gave, or ``report.json`` read back. Its numbers are shown; none is computed.
        cases: Took every settled row that the document counts.
        pictures: Of the cases that are shown one by one, by their keys.
        gate: The decision, if a gate ran.
        max_bytes: How long the page may be as UTF-8. Tables that would leave too little room are cut to fewer lines. Rows
            that the list of all cases has no room for are left out, those with good outcomes first. The page says how many
            lines and rows it has not. Pictures are the caller's to bound.

    Returns:
        HTML. All text that came from manifests, detectors or machines is escaped.

    Raises:
        ImportError: Jinja2 is not installed; see ``is_available``.
    """
    templates = _templates()
    page = _page(document, cases, pictures or {}, gate)
    body = _safe(_body(page, max_bytes))
    frame: dict[str, Any] = {
        "title": f"{page.verdict.headline}: benchmark report",
        "subtitle": f"pytest-benchbench report on {_runs(document)}",
        "footer": "Everything on this page stands in report.json and evidence.jsonl beside it.",
        "policy": _policy(),
        "style": _safe(_style()),
        "script": _safe(_inline("page.js")),
        "body": body,
    }
    empty = templates.get_template("page.html.j2").render(**frame, all_cases="")
    room = max(0, max_bytes - len(empty.encode()) - _ROOM_FOR_WORDS)
    all_cases = templates.get_template("all_cases.html.j2").render(**_all_cases(cases.packed(room)))
    return templates.get_template("page.html.j2").render(**frame, all_cases=_safe(all_cases))


def _body(page: Page, max_bytes: int) -> str:
    template = _templates().get_template("body.html.j2")
    body = template.render(page=page)
    for most in _FEWER_LINES:
        if len(body.encode()) <= _SHARE_OF_THE_BODY * max_bytes:
            break
        body = template.render(page=page.cut(most))
    return body


_FEWER_LINES = (100, 25)
"""Lines of a table where its usual number would take too much room."""

_SHARE_OF_THE_BODY = 0.75
"""Of the page: all but the list of all cases, the style and the script."""

_ROOM_FOR_WORDS = 20_000
"""Of the section of all cases without its rows: its words, and the tags around at most some hundred blocks."""


def _page(
    document: Mapping[str, Any],
    cases: Cases,
    pictures: Mapping[Key, CasePictures],
    gate: Decision | None,
) -> Page:
    from pytest_benchbench.reports.html.plots import report_plots

    verdict, plots = verdict_of(document, gate), report_plots(document)
    first, rest = list(first_sections(document, plots)), list(other_sections(document, plots))
    runs = document.get("runs") or ()
    numbers = {run["run_id"]: run["run"] for run in runs} if len(runs) > 1 else None
    cards = case_cards(cases.shown(), pictures, numbers)
    listed = contents([*first, *rest], has_gate=verdict.rules is not None, has_failing=bool(cards), first=len(first))
    return Page(
        verdict=verdict,
        contents=listed,
        reading=READING,
        measured=measured_of(document),
        sections_first=first,
        failing=Failing(_failing_note(len(cards), cases.failing.count()), cards),
        sections_rest=rest,
    )


def _failing_note(shown_cases: int, failed: int) -> str:
    names = [name.replace("_", " ") for name in FAILING]
    kinds = f"{', '.join(names[:-1])} and {names[-1]}"
    if shown_cases == failed:
        return f"All {failed} cases of the kinds {kinds}, with their evidence."
    return (
        f"{shown_cases} of {failed} cases of the kinds {kinds}, with their evidence: of each kind equally many where "
        "there are enough, the first ones of the manifests. The list of all cases and evidence.jsonl have the others."
    )


def _all_cases(packed: PackedCases) -> dict[str, Any]:
    total, listed = sum(packed.total.values()), sum(packed.listed.values())
    left_out = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in packed.left_out.items())
    return {
        "packed": packed,
        "note": (
            f"{listed} of {total} rows, the worst outcomes first. A node id, given to pytest, runs the case again. On paper "
            "this list is missing."
        ),
        "left_out": [f"Left out here for the size of the page, and in evidence.jsonl: {left_out}."] if left_out else [],
    }


def _runs(document: Mapping[str, Any]) -> str:
    run_ids = document["inputs"]["run_ids"]
    return shown(run_ids[0]) if len(run_ids) == 1 else f"{len(run_ids)} runs"


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["spaced"] = lambda text: text.replace("_", " ")
    return environment


def _safe(text: str) -> str:
    """Mark text of ours, or that a template has escaped, as ready for the page."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - a file of this package, or what a template with autoescape gave


@cache
def _style() -> str:
    from pytest_benchbench.reports.html.plots import plots_css

    return _inline("page.css") + plots_css()


@cache
def _inline(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@cache
def _policy() -> str:
    """Allow the one style, the one script and pictures inside the page, and nothing else: no network, no form, no frame."""
    style, script = _source(_style()), _source(_inline("page.js"))
    return f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'"


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
