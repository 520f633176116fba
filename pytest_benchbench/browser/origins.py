"""Where a URL leads: into the browser itself, to an origin that a run may reach, or elsewhere."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

MAX_URL_SHOWN = 500
"""Characters of a URL that are kept: a request that carries data away can be as long as the data."""

_ORIGIN = re.compile(
    r"(?P<scheme>https?|wss?|chrome-extension)://(?P<host>\[[0-9a-f:.]+\]|[^\s/?#@:\\\[\]]+)(?P<port>:[0-9]{1,5})?(?=[/?#]|$)"
)
"""A URL as a browser writes it. Anything else, names with a password among it, has no origin and so is no allowed one."""

_SECURE = {"http": "http", "ws": "http", "https": "https", "wss": "https", "chrome-extension": "chrome-extension"}

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

_WITHIN_THE_BROWSER = re.compile(r"(?:about|blob|chrome|chrome-untrusted|data|devtools|filesystem|javascript):")
"""What a browser answers by itself: no server is asked, and no other extension."""


def origin_of(url: str) -> str | None:
    """Give the origin of a URL: scheme, host and port, as in ``http://127.0.0.1:8000``.

    A WebSocket has the origin of its server's pages, since a handshake is a request: ``ws`` counts as ``http``, ``wss`` as
    ``https``. The usual port of a scheme is left out.

    Returns:
        The origin, ``None`` for a URL without one.
    """
    if (matched := _ORIGIN.match(url)) is None:
        return None
    scheme, port = _SECURE[matched["scheme"]], matched["port"] or ""
    return f"{scheme}://{matched['host']}{'' if port == _DEFAULT_PORTS.get(scheme) else port}"


def stays_inside(url: str) -> bool:
    """Say whether the browser answers a URL by itself, as it does ``data:`` and ``chrome:``."""
    return _WITHIN_THE_BROWSER.match(url) is not None


def is_outside(url: str, allowed: Collection[str]) -> bool:
    """Say whether a URL leads anywhere but to an allowed origin or into the browser itself.

    Args:
        url: As the browser writes it.
        allowed: Origins as ``origin_of`` writes them.
    """
    return not stays_inside(url) and origin_of(url) not in allowed


def is_this_machine(host: str) -> bool:
    """Say whether a host is a loopback address or the name ``localhost``; brackets and a final dot do not matter."""
    host = host.removeprefix("[").removesuffix("]").removesuffix(".").lower()
    if host == "localhost" or host.endswith(".localhost"):  # browsers never look these up
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def is_address(host: str) -> bool:
    """Say whether a host is an address, which nobody has to look up."""
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]").partition("%")[0])
    except ValueError:
        return False
    return True


def shortened(url: str) -> str:
    """Cut a URL to what is kept of it."""
    return url if len(url) <= MAX_URL_SHOWN else f"{url[: MAX_URL_SHOWN - 3]}..."
