"""Puts the figures of the committed reports into the pages of the documentation, where comments say which.

Markdown shows no comments, so a reader sees figures only.

- ``<!-- table: NAME -->`` up to ``<!-- end of table -->``: the table ``NAME`` of ``baseline_tables.py``.
- ``19/21<!-- = real-image dwt-dct state=marked -->``: the figure before the comment is that of the slice; behind the slice
  ``interval``, ``whole``, ``scores``, ``accuracies`` or ``bits`` ask for something else than ``k/n``.
- ``74/114<!-- published: WHERE -->``: the figure before it was published by somebody else.
- ``0.92<!-- tested: tests/... -->``: the figure before it is held by that test.

``fill`` writes the first two anew. ``tests/docs/test_accuracy_figures.py`` compares them, and refuses accuracy figures that
have none of the four.
"""

from __future__ import annotations

import re

from baseline_reports import BASELINES, ROOT, accuracies, bits, count, scores
from baseline_tables import TABLES

__all__ = ["BASELINES", "FIGURE", "MARK", "PAGES", "ROOT", "TABLE", "figure", "fill"]

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

FIGURE = (
    r"(?P<figure>\d[\d,]* of (?:the )?\d[\d,]*|\d+/\d+(?: \(\d+-\d+ %\))?"
    r"|\d[\d.e]*(?:(?:-| to |, )\d[\d.e-]*)*(?: %)?)"
)
"""What stands before a mark: ``19/21``, ``19/21 (71-97 %)``, ``71-97 %``, ``0.009, 1.000``, ``98.4``, ``3 of the 20``."""

MARK = re.compile(FIGURE + r"<!-- (?:= (?P<slice>[^>]+?)|published: (?P<published>[^>]+?)|tested: (?P<tested>[^>]+?)) -->")

TABLE = re.compile(r"<!-- table: (?P<name>[\w-]+) -->\n(?P<text>.*?)<!-- end of table -->", re.DOTALL)

_WAYS = {
    "interval": lambda study, adapter, **where: count(study, adapter, **where).interval,
    "whole": lambda study, adapter, **where: count(study, adapter, **where).whole,
    "scores": scores,
    "accuracies": accuracies,
    "bits": bits,
}


def figure(asked: str) -> str:
    """Give the figure that a comment asks for.

    Args:
        asked: A study, an adapter, the slice as ``name=value``, and a way of writing unless it is ``k/n``.

    Raises:
        NoSuchSliceError: There is none.
        KeyError: The way of writing is unknown.
    """
    study, adapter, *rest = asked.split()
    where = dict(part.split("=", 1) for part in rest if "=" in part)
    ways = [part for part in rest if "=" not in part]
    return _WAYS[ways[0]](study, adapter, **where) if ways else str(count(study, adapter, **where))


def fill(page: str) -> str:
    """Write the tables and figures of a page anew."""
    page = TABLE.sub(
        lambda found: f"<!-- table: {found['name']} -->\n\n{TABLES[found['name']]()}\n\n<!-- end of table -->", page
    )
    return MARK.sub(_filled, page)


def _filled(found: re.Match[str]) -> str:
    return found[0] if found["slice"] is None else figure(found["slice"]) + found[0][len(found["figure"]) :]
