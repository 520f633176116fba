"""The page of a report with all that belongs on it: numbers, plots, pictures of failing cases, and the list of all cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_benchbench.gates.decision import Decision
from pytest_benchbench.reports.html.cases import Cases
from pytest_benchbench.reports.html.page import render_html

if TYPE_CHECKING:
    from pytest_benchbench.reports.html.pictures import Places

PICTURE_BYTES = 2_000_000
"""What the pictures of a page may take; the list of all cases has the rest of the room."""


def report_page(
    document: Mapping[str, Any], cases: Cases, *, gate: Decision | None = None, places: Places | None = None
) -> bytes:
    """Write ``report.html``.

    Args:
        document: What ``build_report`` gave.
        cases: Took every settled row that the document counts.
        gate: The decision, if a gate ran.
        places: Tell where the files of the failing cases may lie, such as ``ArtifactPlaces``; without them there are no
            pictures.

    Returns:
        The page as UTF-8. A file that cannot be found, verified or drawn costs its picture, and the page says why.

    Raises:
        ImportError: Jinja2 is not installed; see ``is_available``.
    """
    shown = cases.shown()
    pictures = {}
    if shown and places is not None:
        from pytest_benchbench.reports.html.pictures import failing_pictures

        pictures = failing_pictures(shown, places, max_bytes=PICTURE_BYTES)
    return render_html(document, cases=cases, pictures=pictures, gate=gate).encode()
