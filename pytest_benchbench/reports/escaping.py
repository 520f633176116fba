"""Foreign text made harmless: identities, reasons and messages come from manifests and detectors."""

from __future__ import annotations

import re

_ACTIVE = re.compile(
    r"[\\`*\[\]<>|~$&{}]"  # code, emphasis, links, HTML, table cells, strikethrough, formulas, entities, roles
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # emphasis; an underscore inside a word is none
    r"|:(?=//)|(?<=www)\."  # addresses that some readers turn into links
)


def plain(text: str) -> str:
    """Write text on one line for a terminal: what is not printable becomes its Python escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def cell(text: str) -> str:
    """Write text for a cell of a Markdown table, so that a reader sees exactly ``plain(text)`` and no markup."""
    escaped = _ACTIVE.sub(r"\\\g<0>", plain(text))
    if escaped.startswith(" "):
        escaped = "&#32;" + escaped[1:]
    if escaped.endswith(" "):
        escaped = escaped[:-1] + "&#32;"
    return escaped
