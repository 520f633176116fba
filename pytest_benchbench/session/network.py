"""What Python code may reach while detectors may run: an audit hook that refuses connections and name look-ups."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.observation import NetworkRecord
from pytest_benchbench.session.collection import CaseItem

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import PooledAdapter
    from pytest_benchbench.session.options import NetworkMode

_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})

_WITHIN_THE_MACHINE = frozenset(
    getattr(socket, family) for family in ("AF_UNIX", "AF_NETLINK", "AF_ALG") if hasattr(socket, family)
)
"""Families whose peers are files or the kernel: no packet comes of them."""

_UNKNOWN_FAMILY = -1
"""What the audit event of a new socket says of one that is made around an open file descriptor."""


class NetworkRefused(PermissionError):  # noqa: N818 - a refusal; detectors know its base class as any failed connection
    """Python code tried to reach what ``--bench-network`` does not let it reach. One line: what, which mode, what to do."""


class NetworkGuard:
    """Enforces the mode of one session in this process, from ``begin`` to the session's end.

    Registered as a plugin. Tests of the session that are no rows are none of its business: they keep their network.

    Args:
        mode: ``deny`` refuses every connection and look-up, ``loopback`` all but those of this machine, ``allow`` none.
    """

    def __init__(self, mode: NetworkMode) -> None:
        self.mode = mode
        self._refused = 0
        self._lifted = False

    def begin(self) -> None:
        """Refuse from now on; a session inside of this one has its own mode meanwhile."""
        if self.mode != "allow":
            _watch()
        _guards.append(self)

    def end(self) -> None:
        """Stop refusing; once is enough, twice does no harm."""
        if self in _guards:
            _guards.remove(self)
        if not _guards:
            _unwatch_names()

    def record(self, pooled: PooledAdapter | None, *, earlier: int = 0) -> NetworkRecord:
        """Say for the evidence what was refused to the running row.

        Args:
            pooled: The instance that was asked.
            earlier: What was refused while its batch was asked, in the time of an earlier row.
        """
        return NetworkRecord(self.mode, self._refused + earlier, pooled.refused_loading if pooled else 0)

    @property
    def refused(self) -> int:
        """Attempts that were refused since the running row began, those of loading left out."""
        return self._refused

    @contextmanager
    def loading(self, pooled: PooledAdapter) -> Iterator[None]:
        """Count what is refused meanwhile as part of an instance's loading: it bears on all rows that this one answers."""
        before = self._refused
        try:
            yield
        finally:
            pooled.refused_loading += self._refused - before
            self._refused = before

    def check(self, target: str | None) -> None:
        """Count and raise, unless there is nothing to refuse.

        Raises:
            NetworkRefused: ``target`` is out of reach.
        """
        if target is None:
            return
        self._refused += 1  # detectors with threads may race here, and no call lies between reading and writing
        remedy = "allow" if self.mode == "loopback" else "loopback (this machine) or allow"
        raise NetworkRefused(f"{one_line(target)}: refused by --bench-network={self.mode}; give --bench-network={remedy}")

    def reaches(self, host: object) -> bool:
        """Say whether the mode lets code reach a host, by address or by name."""
        return self.mode == "loopback" and _is_this_machine(host)

    @property
    def is_idle(self) -> bool:
        """Whether everything is let through now."""
        return self._lifted or self.mode == "allow"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Leave tests alone that are no rows."""
        self._lifted = not isinstance(item, CaseItem)
        try:
            return (yield)
        finally:
            self._lifted = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Begin to count for a row."""
        self._refused = 0

    def pytest_sessionfinish(self) -> None:
        """End, once the adapters are closed: plugins that send results somewhere come after."""
        self.end()


GUARD = pytest.StashKey[NetworkGuard]()
"""Where a session keeps its guard."""

_guards: list[NetworkGuard] = []
"""Guards of the sessions in this process, which can lie inside each other; the last one decides."""

_watching = False
_overridden: dict[str, tuple[object, object]] = {}
"""Methods of ``socket.socket`` that are watched: what is there instead, and what was there before."""

_NOTHING = object()


def _is_this_machine(host: object) -> bool:
    """Whether a host is written as a loopback address, in full, or is the name ``localhost``."""
    if isinstance(host, (bytes, bytearray)):
        host = bytes(host).decode("latin-1")
    if not isinstance(host, str):
        return False
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _is_numeric(host: object) -> bool:
    """Whether a host can be bound to without a look-up: an address, or the texts that stand for one."""
    if isinstance(host, (bytes, bytearray)):
        host = bytes(host).decode("latin-1")
    if host in ("", "<broadcast>"):
        return True
    try:
        ipaddress.ip_address(str(host))
    except ValueError:
        return False
    return True


def _shown(host: object, port: object = None) -> str:
    if isinstance(host, (bytes, bytearray)):
        host = bytes(host).decode("latin-1")
    if port is None:
        return str(host)
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"


def _out_of_reach(guard: NetworkGuard, sock: socket.socket, address: object) -> str | None:
    """Name what a socket is about to reach, if it may not."""
    if address is None or sock.family in _WITHIN_THE_MACHINE:
        return None  # without an address the peer is the one that was connected to
    if sock.family not in _INTERNET:
        return f"{address!r}"
    if not isinstance(address, tuple) or len(address) < 2:
        return None  # no address: the socket refuses it by itself
    return None if guard.reaches(address[0]) else _shown(*address[:2])


def _new_socket(guard: NetworkGuard, sock: object, family: int, *_: object) -> str | None:
    """Refuse what could not be judged later: families that send without an address, sockets whose names are not watched."""
    if family == _UNKNOWN_FAMILY or family in _WITHIN_THE_MACHINE:
        return None
    if family not in _INTERNET:
        return f"a socket of the family {family}"
    if not isinstance(sock, socket.socket):
        return f"an internet socket of the class {type(sock).__name__} of _socket, not of socket"
    return None


def _looked_up(guard: NetworkGuard, host: object, port: object = None, *_: object) -> str | None:
    return None if host is None or guard.reaches(host) else f"look-up of {_shown(host, port)}"


def _named(guard: NetworkGuard, sockaddr: object) -> str | None:
    host = sockaddr[0] if isinstance(sockaddr, tuple) and sockaddr else sockaddr
    return None if guard.reaches(host) else f"look-up of {_shown(host)}"


_JUDGES: dict[str, Callable[..., str | None]] = {
    "socket.__new__": _new_socket,
    "socket.connect": _out_of_reach,
    "socket.sendto": _out_of_reach,
    "socket.sendmsg": _out_of_reach,
    "socket.getaddrinfo": _looked_up,
    "socket.gethostbyname": _looked_up,
    "socket.gethostbyaddr": _looked_up,
    "socket.getnameinfo": _named,
}
"""The audit events of CPython 3.11 to 3.13 that come before a connection or a look-up; ``connect_ex`` and
``gethostbyname_ex`` raise those of their namesakes."""


@contextmanager
def guarded_loading(config: pytest.Config, mode: NetworkMode) -> Iterator[NetworkGuard]:
    """Guard the loading of adapters before rows run: by the session's guard or, where workers have it, by one for the time.

    Args:
        config: The session's configuration.
        mode: What may be reached.
    """
    if (guard := config.stash.get(GUARD, None)) is not None:
        yield guard
        return
    guard = NetworkGuard(mode)
    guard.begin()
    try:
        yield guard
    finally:
        guard.end()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _JUDGES and _guards and not (guard := _guards[-1]).is_idle:
        guard.check(_JUDGES[event](guard, *arguments))


def _watch() -> None:
    """Install the hook, once in a process, as Python cannot take it back; and watch the names that it would see too late."""
    global _watching
    if not _watching:
        sys.addaudithook(_audit)
        _watching = True
    for name, position in {"connect": 0, "connect_ex": 0, "sendto": -1, "sendmsg": 3, "bind": 0}.items():
        current = socket.socket.__dict__.get(name, _NOTHING)
        if name not in _overridden or current is not _overridden[name][0]:
            method = _watched(name, getattr(socket.socket, name), position)
            setattr(socket.socket, name, method)
            _overridden[name] = (method, current)


def _watched(name: str, original: Callable[..., Any], position: int) -> Callable[..., Any]:
    """Make a method of sockets that judges its address first.

    CPython looks a name up before it raises the audit event of ``connect``, ``sendto``, ``sendmsg`` or ``bind``. Binding
    reaches nobody, but a name to bind to is looked up.
    """

    def method(self: socket.socket, *arguments: Any) -> Any:
        if _guards and not (guard := _guards[-1]).is_idle and arguments[position:]:
            address = arguments[position]
            if name != "bind":
                guard.check(_out_of_reach(guard, self, address))
            elif self.family in _INTERNET and isinstance(address, tuple) and address and not _is_numeric(address[0]):
                guard.check(_looked_up(guard, address[0]))
        return original(self, *arguments)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = original.__doc__
    return method


def _unwatch_names() -> None:
    """Give sockets their methods back, unless somebody else has replaced them since."""
    for name, (method, before) in _overridden.items():
        if socket.socket.__dict__.get(name) is method:
            if before is _NOTHING:
                delattr(socket.socket, name)
            else:
                setattr(socket.socket, name, before)
    _overridden.clear()
