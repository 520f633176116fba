"""What the commands print reaches people in any locale: nothing that is printed is ever a reason to end."""

from __future__ import annotations

import codecs
import sys
from io import TextIOWrapper

_ERRORS = "benchbench-shown"


def prepare_streams() -> None:
    """Let standard output and error take any text.

    Where the locale knows ASCII alone (``LC_ALL=C``), UTF-8 is written, as Python does by itself unless it is told not to.
    What cannot be written is escaped; the name of a file that the locale could not read is written as the bytes that it has,
    if these are UTF-8 that a terminal can show.
    """
    codecs.register_error(_ERRORS, _shown)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if is_ascii else stream.encoding, errors=_ERRORS)


def _shown(error: UnicodeError) -> tuple[str | bytes, int]:
    """Give what stands for characters that cannot be written; see ``codecs.register_error``."""
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":  # lone surrogates, all that follow each other
        try:
            name = error.object[error.start : error.end].encode("utf-8", "surrogateescape")
            if name.decode("utf-8").isprintable():
                return name, error.end
        except UnicodeError:
            pass
    return codecs.backslashreplace_errors(error)
