"""Case ids as parts of pytest node ids, and back."""

from __future__ import annotations

import re

_OTHER = re.compile(r"[^A-Za-z0-9._-]")
_ESCAPED = re.compile(r"(?:\+[0-9A-F]{2})+")


def node_name(case_id: str) -> str:
    """Write a case id so that pytest can address it: ``+`` and two hex digits per UTF-8 byte outside ``[A-Za-z0-9._-]``.

    Injective, and free of what ``-k`` and node ids give a meaning to.
    """
    return _OTHER.sub(lambda match: "".join(f"+{byte:02X}" for byte in match[0].encode()), case_id)


def case_id_of(name: str) -> str:
    """Read a case id back from its node name."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[0].replace("+", "")).decode(), name)
