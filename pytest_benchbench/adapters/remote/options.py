"""What every vendor's adapter can be told on the command line, and which addresses may be asked at all."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

UNSPECIFIED = "unspecified"
"""The plan of an account that the user did not name."""

ShortName = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]
"""A plan, a model, a version: what becomes part of a detector's identity."""


class RemoteOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a vendor is asked.

    Attributes:
        plan: The plan of the account, part of the detector's identity and of the price.
        timeout: Seconds for one call, from connecting to the last byte of the answer.
        concurrency: Calls that may be under way at a time.
        retries: How often a call is tried again that the vendor did not take.
        base_url: Another address than the vendor's: a played vendor, or a proxy that speaks for it. ``https``, or ``http``
            on this machine.
        ca_file: Certificates (PEM) of the authorities that are trusted, in place of the usual ones.

    Raises:
        ValueError: ``base_url`` cannot be asked, or ``ca_file`` is no file.
    """

    plan: ShortName = UNSPECIFIED
    timeout: Annotated[float, msgspec.Meta(gt=0, le=600)] = 60.0
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=32)] = 4
    retries: Annotated[int, msgspec.Meta(ge=0, le=10)] = 4
    base_url: Annotated[str, msgspec.Meta(max_length=1024)] | None = None
    ca_file: Path | None = None

    def __post_init__(self) -> None:
        if self.base_url is not None:
            check_address(self.base_url)
        if self.ca_file is not None and not self.ca_file.is_file():
            raise ValueError(f"ca_file={self.ca_file}: there is no such file")


def check_address(url: str) -> None:
    """Refuse an address that a key must not be sent to, or that may hold one.

    Args:
        url: Scheme, host, perhaps a port and a path.

    Raises:
        ValueError: It is one; the address is not repeated, because a part of it may be secret.
    """
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("base_url: an address has printable ASCII characters only")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - looked at, because it raises
    except ValueError:
        raise ValueError("base_url: this is no address") from None
    if "@" in parts.netloc:
        raise ValueError("base_url: keys come from the environment; an address must not hold a user or a password")
    if parts.query or parts.fragment or not parts.hostname:
        raise ValueError("base_url: expected https://HOST[:PORT][/PATH]")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise ValueError("base_url: keys and texts are sent over https only, or over http to this machine")


def is_loopback(host: str) -> bool:
    """Say whether a host is written as an address of this machine alone, or is called ``localhost``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
