"""Texts that come from adapters, suites and files, made fit for evidence, terminals and transports between processes."""

from __future__ import annotations

import traceback

MAX_CHARACTERS = 500
"""Of a foreign message, label or reason that evidence keeps."""


def one_line(text: object) -> str:
    """Give a foreign text as one printable line of at most ``MAX_CHARACTERS``.

    White space is folded; control characters and lone surrogates, which terminals obey and JSON cannot carry, are escaped.
    An object that cannot even be turned into text is named by its type.
    """
    try:
        words = str(text).split()
    except Exception:
        return f"<{type(text).__name__} that cannot be shown>"
    line = _printable(" ".join(words))
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1]}…"


def is_one_line(text: object) -> bool:
    """Say whether ``one_line`` would give the very same text back; quick, for the usual case."""
    return type(text) is str and text.isprintable() and len(text) <= MAX_CHARACTERS and text == " ".join(text.split())


def traceback_text(error: BaseException, *, frames: int | None = None) -> str:
    """Format a foreign exception with its causes; what terminals obey and what UTF-8 cannot carry is escaped.

    Args:
        error: The exception.
        frames: How many of the innermost frames of each are wanted; ``None`` for all.
    """
    try:
        text = "".join(traceback.format_exception(error, limit=None if frames is None else -frames))
    except Exception:
        return one_line(error)
    return "\n".join(map(_printable, text.split("\n")))


def _printable(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
