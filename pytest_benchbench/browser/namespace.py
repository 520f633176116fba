"""A network of its own, with nothing but loopback in it: how a process gets into one, and whether it really is there."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

import msgspec

from pytest_benchbench.manifests.faults import shown_text

_PROBE_SECONDS = 20.0

_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses of documentation (RFC 5737, RFC 3849). Connecting a datagram socket there asks for a route and sends nothing."""

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
"""From Linux's ``sockios.h`` and ``if.h``."""

_IFREQ = struct.Struct("16sH14x")


class NamespaceUnavailable(Exception):  # noqa: N818 - a state of the machine, not a fault
    """The system lets nobody have a network of their own here. One line: what was tried, what it said, what to do."""


class Isolation(msgspec.Struct, frozen=True):
    """What a process can reach, as the system says.

    Attributes:
        interfaces: The network interfaces that it has.
        routes: Routes to anywhere but loopback.
        reachable: Addresses outside of the machine to which the system would send.
        separate: Whether the network is another than that of who started it.
        holds_browser: Whether the browser is in the same network.
    """

    interfaces: tuple[str, ...]
    routes: int
    reachable: tuple[str, ...]
    separate: bool
    holds_browser: bool

    @property
    def blocked(self) -> bool:
        """Whether nothing that the browser sends can leave the machine."""
        return self.separate and self.holds_browser and not (self.routes or self.reachable) and self.interfaces == ("lo",)

    @property
    def open(self) -> bool:
        """Whether what the browser sends goes out, so that it can be seen that it was sent."""
        return self.holds_browser and bool(self.reachable)


def entering_command() -> tuple[str, ...]:
    """Give the command that runs another one in a network of its own: ``unshare -n`` as root, else ``unshare -rn``.

    Raises:
        NamespaceUnavailable: Neither works here.
    """
    unshare = shutil.which("unshare")
    if sys.platform != "linux" or unshare is None:
        raise NamespaceUnavailable("a network of its own needs Linux and unshare: apt-get install util-linux")
    said = ""
    for flags in ("-n", "-rn") if os.geteuid() == 0 else ("-rn",):
        command = (unshare, flags, "--")
        try:
            tried = subprocess.run(  # noqa: S603 - runs this Python, told to do nothing
                [*command, sys.executable, "-c", ""], capture_output=True, timeout=_PROBE_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
            continue
        if tried.returncode == 0:
            return command
        said = tried.stderr.decode("utf-8", "replace")
    raise NamespaceUnavailable(
        f"the system gives no network of its own ({shown_text(' '.join(said.split()))}): be root with CAP_SYS_ADMIN,"
        " or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"
    )


def raise_loopback() -> None:
    """Switch loopback on, which is off in a new network.

    Raises:
        OSError: The process may not.
    """
    import fcntl  # not on Windows, where namespaces are not either

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        answer = fcntl.ioctl(control, _SIOCGIFFLAGS, _IFREQ.pack(b"lo", 0))
        name, flags = _IFREQ.unpack(answer)
        fcntl.ioctl(control, _SIOCSIFFLAGS, _IFREQ.pack(name, flags | _IFF_UP))


def network_of(process: int | None = None) -> str:
    """Name the network namespace of a process, of this one by default; the same name is the same network.

    Raises:
        OSError: There is no such process, or it is another user's.
    """
    return str(Path(f"/proc/{process or 'self'}/ns/net").readlink())


def isolation_of(browser: int, started_from: str) -> Isolation:
    """Ask the system what this process and a browser can reach.

    Args:
        browser: The browser's main process.
        started_from: The network of who started this process, as ``network_of`` names it.

    Raises:
        OSError: The system does not tell.
    """
    own = network_of()
    return Isolation(
        tuple(sorted(name for _, name in socket.if_nameindex())),
        _routes(),
        tuple(address for family, address in _ELSEWHERE if _has_route(family, address)),
        own != started_from,
        network_of(browser) == own,
    )


def _routes() -> int:
    """Count the routes to anywhere but loopback; the first table has a heading and never has those of loopback."""
    older = Path("/proc/self/net/route").read_text(encoding="ascii").splitlines()[1:]
    newer = Path("/proc/self/net/ipv6_route")  # not there where IPv6 is switched off
    lines = newer.read_text(encoding="ascii").splitlines() if newer.exists() else []
    return len(older) + sum(line.split()[-1] != "lo" for line in lines)


def _has_route(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
    except OSError:
        return False
    return True
