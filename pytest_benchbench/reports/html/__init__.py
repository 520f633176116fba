"""The report as one HTML file that carries everything it shows. Jinja2 is imported when a page is written, not before."""

from __future__ import annotations

from importlib.util import find_spec

REPORT_HTML = "report.html"


def is_available() -> bool:
    """Say whether a page can be written here: whether the extra ``html`` is installed."""
    return find_spec("jinja2") is not None
