"""Reads the log that a browser keeps of its whole network (``--log-net-log``), complete or cut off by a kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from pytest_benchbench.browser.origins import is_address, is_outside, is_this_machine, origin_of, shortened
from pytest_benchbench.manifests.faults import schema_fault
from pytest_benchbench.manifests.regular_files import open_regular

MAX_LINE_BYTES = 1 << 24
"""The longest line of a log that is read: one event, or the table of all names."""

MAX_PLACES = 10_000
"""Places that are told apart; further ones are ``unknown``, which nobody takes for allowed."""

MAX_SOCKETS = 100_000
"""Connected UDP sockets of which it is kept to where; what further ones send goes to ``unknown``."""

_PIECE_BYTES = 1 << 16

Way = Literal["request", "look-up", "connection", "packet"]

_Place = tuple[Way, str, str | None]
"""By what, where to, and for whom."""


class NetLogError(Exception):
    """The file is no log of a browser's network, or one that cannot be relied on. One line: file, line, what is wrong."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that the browser did on the network, or tried to.

    Attributes:
        way: ``request`` (HTTP, and the handshake of a WebSocket), ``look-up`` of a name, ``connection`` (TCP, tried or
            made), ``packet`` (UDP, really sent; WebRTC and DNS among it).
        where: The URL of the first such request, the name, or address and port; ``unknown`` where the log does not say.
        initiator: Origin of the page or extension that asked for it; ``None`` for the browser itself and for what is below
            requests and look-ups, where the log does not say.
        count: How often.
    """

    way: Way
    where: str
    initiator: str | None
    count: int

    def __str__(self) -> str:
        by = f" by {self.initiator}" if self.initiator else ""
        times = f", {self.count} times" if self.count > 1 else ""
        return f"{self.way} {self.where}{by}{times}"

    def is_outside(self, allowed: Collection[str]) -> bool:
        """Say whether it leads anywhere but to an allowed origin.

        Below requests no origin is known, there loopback is what is allowed. The browser's own requests to loopback are,
        too: launch flags send its services there, where nobody listens.

        Args:
            allowed: Origins as ``origins.origin_of`` writes them.
        """
        if self.way == "request":
            own = self.initiator is None and is_this_machine(_host_of(origin_of(self.where) or ""))
            return not own and is_outside(self.where, allowed)
        host = self.where if self.way == "look-up" else _host_of(self.where)
        return not (is_this_machine(host) or (self.way == "look-up" and is_address(host)))


@dataclass(frozen=True, slots=True)
class NetLog:
    """What a browser did on the network from its start to its end, or to the moment when the log was cut.

    Attributes:
        sightings: Everything, each with how often, in the order in which it was first seen.
        events: How many events the log has.
        complete: Whether the browser finished it. A cut log is true as far as it goes.
        browser: Name and version, as the log gives them.
    """

    sightings: tuple[Sighting, ...]
    events: int
    complete: bool
    browser: str

    def outside(self, allowed: Collection[str]) -> list[Sighting]:
        """List what led elsewhere than to the allowed origins (see ``Sighting.is_outside``)."""
        return [sighting for sighting in self.sightings if sighting.is_outside(allowed)]


class _Source(msgspec.Struct):
    id: int
    type: int


class _Event(msgspec.Struct):
    source: _Source
    type: int
    phase: int = 0
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _Client(msgspec.Struct):
    name: str = ""
    version: str = ""


class _Constants(msgspec.Struct, rename="camel"):
    log_event_types: dict[str, int]
    log_event_phase: dict[str, int]
    client_info: _Client = msgspec.field(default_factory=_Client)


class _Head(msgspec.Struct):
    constants: _Constants


_BEGIN = "PHASE_BEGIN"

_UNKNOWN = "unknown"

_NAMES = (
    "URL_REQUEST_START_JOB",
    "HOST_RESOLVER_MANAGER_REQUEST",
    "HOST_RESOLVER_MANAGER_JOB",
    "DNS_TRANSACTION",
    "TCP_CONNECT_ATTEMPT",
    "UDP_CONNECT",
    "UDP_BYTES_SENT",
)
"""The events that say who was asked for what. A browser that does not know one of them has a log that we cannot read."""

_decode_head = msgspec.json.Decoder(_Head).decode
_decode_event = msgspec.json.Decoder(_Event).decode
_decode_parameters = msgspec.json.Decoder(dict[str, Any]).decode


def read_net_log(path: Path) -> NetLog:
    """Read a log, as far as it goes.

    A log that a kill cut off ends somewhere in a line: the events before are read, and ``complete`` is ``False``.

    Args:
        path: What ``--log-net-log`` named. The browser must have ended: what it has not written yet is missing.

    Raises:
        NetLogError: The file cannot be read, is no such log, is damaged elsewhere than at its end, or is of a browser that
            names its events otherwise.
    """
    reader = NetLogReader(str(path))
    try:
        with open_regular(path) as file:
            while data := file.read(_PIECE_BYTES):
                reader.feed(data)
    except OSError as error:
        raise NetLogError(f"{path}: {error.strerror or error}") from None
    return reader.end()


class NetLogReader:
    """Reads a log in pieces, as they come; what it keeps of it is bounded.

    Args:
        name: What the log is called in messages.

    Attributes:
        awaited: A URL whose request is waited for; ``None`` once the log has it.
    """

    def __init__(self, name: str) -> None:
        self.awaited: str | None = None
        self._name = name
        self._line = 0
        self._rest = bytearray()
        self._head: bytes | None = None
        self._names: dict[int, str] | None = None
        self._begin = 0
        self._client = _Client()
        self._events = 0
        self._ended = self._cut = False
        self._last = b""
        self._seen: Counter[_Place] = Counter()
        self._first: dict[_Place, str] = {}
        self._peers: dict[int, str] = {}

    def feed(self, data: bytes) -> None:
        """Read on.

        Args:
            data: What comes next, broken off anywhere.

        Raises:
            NetLogError: It is no such log, is damaged, or is of a browser that names its events otherwise.
        """
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._rest += line
            whole, self._rest = bytes(self._rest), bytearray()
            self._take_line(whole, is_whole=True)
        self._rest += rest
        self._bound(len(self._rest))

    def sightings(self) -> tuple[Sighting, ...]:
        """Give everything that was seen up to now, each with how often, in the order in which it was first seen."""
        return tuple(Sighting(key[0], self._first[key], key[2], count) for key, count in self._seen.items())

    def end(self) -> NetLog:
        """Say what the log holds; nothing more comes.

        Raises:
            NetLogError: It ends before its first event.
        """
        if self._rest:
            last, self._rest = bytes(self._rest), bytearray()
            self._take_line(last, is_whole=False)
        if self._names is None:
            raise self._no_log()
        complete = self._ended and not self._cut and self._last == b"}"
        return NetLog(self.sightings(), self._events, complete, f"{self._client.name} {self._client.version}".strip())

    def _bound(self, length: int) -> None:
        if length > MAX_LINE_BYTES:
            raise NetLogError(f"{self._name}:{self._line + 1}: longer than {MAX_LINE_BYTES} bytes")

    def _take_line(self, text: bytes, *, is_whole: bool) -> None:
        self._bound(len(text))
        self._line += 1
        if self._head is None:
            self._head = text
            return
        if self._names is None:
            if text.strip() != b'"events": [':
                raise self._no_log()
            self._take_head(self._head)
            return
        self._last = text.strip()
        if self._ended or self._last.startswith((b'"polledData"', b"]")):
            self._ended = True  # what follows is the state at the end, and nothing that happened
            return
        event, self._ended = self._event(text, is_whole=is_whole)
        if event is None:
            self._cut = True
            return
        self._events += 1
        name = self._names.get(event.type)
        if name is not None and (event.phase == self._begin or name == "UDP_BYTES_SENT"):
            self._take(name, event)

    def _no_log(self) -> NetLogError:
        return NetLogError(f"{self._name}: no log of a browser's network, or one that was cut before its first event")

    def _take_head(self, head: bytes) -> None:
        try:
            constants = _decode_head(head.strip().removesuffix(b",") + b"}").constants
        except msgspec.DecodeError as error:
            raise NetLogError(f"{self._name}:1: no log of a browser's network: {schema_fault(error)}") from None
        if missing := [name for name in _NAMES if name not in constants.log_event_types]:
            raise NetLogError(f"{self._name}:1: a log whose events have other names: there is no {', '.join(missing)}")
        if _BEGIN not in constants.log_event_phase:
            raise NetLogError(f"{self._name}:1: a log whose events have other phases: there is no {_BEGIN}")
        self._names = {number: name for name, number in constants.log_event_types.items() if name in _NAMES}
        self._begin = constants.log_event_phase[_BEGIN]
        self._client = constants.client_info

    def _event(self, text: bytes, *, is_whole: bool) -> tuple[_Event | None, bool]:
        """Read a line: its event, ``None`` where the log was cut inside of it, and whether it is the list's last one."""
        written = text.strip()
        is_last = written.endswith((b"]", b"],"))
        try:
            return _decode_event(written.removesuffix(b",").removesuffix(b"]")), is_last
        except msgspec.DecodeError as error:
            if not is_whole:
                return None, False
            raise NetLogError(f"{self._name}:{self._line}: no event: {schema_fault(error)}") from None

    def _take(self, name: str, event: _Event) -> None:
        try:
            parameters = _decode_parameters(event.params) if event.params else {}
        except msgspec.DecodeError as error:
            raise NetLogError(f"{self._name}:{self._line}: params: {schema_fault(error)}") from None
        if name == "URL_REQUEST_START_JOB":
            url = str(parameters.get("url", _UNKNOWN))
            self.awaited = None if url == self.awaited else self.awaited
            origin = origin_of(url)  # a WebSocket shares it with the pages of its server, and is told apart by its scheme
            place = shortened(url) if origin is None else f"{url.partition(':')[0]} {origin}"
            self._see("request", place, _asker(parameters.get("initiator")), url)
        elif name in ("HOST_RESOLVER_MANAGER_REQUEST", "HOST_RESOLVER_MANAGER_JOB"):
            host = _host_of(str(parameters.get("host", _UNKNOWN)))
            self._see("look-up", host, _asker_of_name(parameters.get("network_anonymization_key")))
        elif name == "DNS_TRANSACTION":
            if "hostname" in parameters:  # else it only says which look-up it belongs to
                self._see("look-up", _host_of(str(parameters["hostname"])), None)
        elif name == "TCP_CONNECT_ATTEMPT":
            self._see("connection", str(parameters.get("address", _UNKNOWN)), None)
        elif name == "UDP_CONNECT":
            if len(self._peers) < MAX_SOCKETS:
                self._peers[event.source.id] = shortened(str(parameters.get("address", _UNKNOWN)))
        else:  # sent; what a connected socket sends has no address of its own, as with DNS
            self._see("packet", str(parameters.get("address") or self._peers.get(event.source.id, _UNKNOWN)), None)

    def _see(self, way: Way, place: str, initiator: str | None, first: str | None = None) -> None:
        key = (way, shortened(place), None if initiator is None else shortened(initiator))
        if key not in self._seen and len(self._seen) >= MAX_PLACES:
            key, first = (way, _UNKNOWN, None), _UNKNOWN
        self._seen[key] += 1
        self._first.setdefault(key, shortened(first or place))


def _host_of(text: str) -> str:
    """Give the host of ``http://name:80``, ``name:80``, ``name.``, ``10.0.0.1:53`` or ``[::1]:53``."""
    text = text.partition("://")[2] or text
    host = text.partition("/")[0]
    if host.startswith("["):
        return host.partition("]")[0].removeprefix("[")
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() and name and ":" not in name else host).removesuffix(".")


def _asker(initiator: Any) -> str | None:
    """Give the origin that made a request; ``None`` for the browser itself."""
    return None if initiator == "not an origin" else str(initiator)


def _asker_of_name(key: Any) -> str | None:
    """Give the origin that a look-up is for, ``http://127.0.0.1`` of ``http://127.0.0.1 same_site``, where there is one."""
    origin = str(key or "null").partition(" ")[0]
    return None if origin == "null" else origin
