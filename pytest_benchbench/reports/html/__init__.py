"""The report as one HTML file that carries everything it shows. Jinja2 is imported when a page is written, not before."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_benchbench.reports.html.cases import Cases

REPORT_HTML = "report.html"


def is_available() -> bool:
    """Say whether a page can be written here: whether the extra ``html`` is installed."""
    return find_spec("jinja2") is not None


def new_cases() -> Cases | None:
    """Give what takes the settled rows for a page; ``None`` where no page can be written."""
    if not is_available():
        return None
    from pytest_benchbench.reports.html.cases import Cases

    return Cases()
