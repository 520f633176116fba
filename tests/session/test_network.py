"""The network guard: real sockets against a real server, in this process and in workers."""

import _socket
import asyncio
import ipaddress
import socket
import threading
import urllib.request

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.session.network import NetworkGuard, NetworkRefused

OUTSIDE = "192.0.2.1"
"""An address that is kept free for documentation: nobody answers there, if a packet should go out after all."""

NOWHERE = "host.invalid"
"""A name that no name server knows: looking it up is an error of its own, which a refusal before the look-up is not."""


@pytest.fixture
def guarded():
    """Begin guards of given modes; all end with the test."""
    guards = []

    def begin(mode):
        guards.append(NetworkGuard(mode))
        guards[-1].begin()
        return guards[-1]

    yield begin
    for guard in guards:
        guard.end()


def _connect(address, family=socket.AF_INET):
    with socket.socket(family) as sock:
        sock.connect(address)


def _connect_ex(address):
    with socket.socket() as sock:
        return sock.connect_ex(address)


def _send_to(address, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", address)


def _send_to_with_flags(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", 0, address)


def _send_message(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendmsg([b"x"], [], 0, address)


def _bind(address):
    with socket.socket() as sock:
        sock.bind(address)


def _open_asynchronously(address):
    async def connect():
        _, writer = await asyncio.open_connection(*address)
        writer.close()
        await writer.wait_closed()

    asyncio.run(connect())


def _create(address):
    socket.create_connection(address).close()


CONNECTIONS = [_connect, _connect_ex, _send_to, _send_to_with_flags, _send_message, _create, _open_asynchronously]

LOOK_UPS = {
    "getaddrinfo": lambda host: socket.getaddrinfo(host, 80),
    "gethostbyname": socket.gethostbyname,
    "gethostbyname_ex": socket.gethostbyname_ex,
    "gethostbyaddr": socket.gethostbyaddr,
    "getnameinfo": lambda host: socket.getnameinfo((host, 80), 0),
    "bytes": lambda host: socket.getaddrinfo(host.encode(), 80),
}


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_connections_to_this_machine_pass(guarded, server, connect):
    guard = guarded("loopback")
    connect(("127.0.0.1", server))
    connect(("localhost", server))
    assert guard.refused == 0


@pytest.mark.parametrize("connect", CONNECTIONS)
@pytest.mark.parametrize("host", [OUTSIDE, NOWHERE, "0.0.0.0", "127.1"])
def test_connections_to_others_are_refused_before_names_are_looked_up(guarded, connect, host):
    guard = guarded("loopback")
    with pytest.raises(NetworkRefused, match=f"{host}:80: refused by --bench-network=loopback"):
        connect((host, 80))
    assert guard.refused == 1


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_deny_refuses_this_machine_too(guarded, server, connect):
    guarded("deny")
    with pytest.raises(NetworkRefused, match="--bench-network=loopback"):
        connect(("127.0.0.1", server))


@pytest.mark.parametrize("look_up", LOOK_UPS.values(), ids=LOOK_UPS)
@pytest.mark.parametrize(("mode", "host"), [("loopback", NOWHERE), ("loopback", OUTSIDE), ("deny", "localhost")])
def test_look_ups_are_refused(guarded, look_up, mode, host):
    guarded(mode)
    with pytest.raises(NetworkRefused, match=f"look-up of {host}"):
        look_up(host)


@pytest.mark.parametrize("look_up", LOOK_UPS, ids=str)
def test_localhost_may_be_looked_up(guarded, look_up):
    guarded("loopback")
    LOOK_UPS[look_up]("127.0.0.1" if look_up == "getnameinfo" else "localhost")


def test_nothing_is_refused_where_everything_is_allowed(guarded, server):
    guarded("allow")
    _connect(("127.0.0.1", server))
    with pytest.raises(socket.gaierror):
        _connect((NOWHERE, 80))


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
@pytest.mark.parametrize("host", ["::1", "::ffff:127.0.0.1"])
def test_loopback_addresses_of_ipv6_pass(guarded, host):
    guard = guarded("loopback")
    try:
        _send_to((host, 9), socket.AF_INET6)
    except NetworkRefused:
        raise
    except OSError:
        pass  # a machine without IPv6 on its loopback says so itself
    assert guard.refused == 0


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
@pytest.mark.parametrize("host", ["2001:db8::1", "::ffff:192.0.2.1", "::"])
def test_other_addresses_of_ipv6_do_not(guarded, host):
    guarded("loopback")
    with pytest.raises(NetworkRefused, match=r"\[.*\]:80: refused"):
        _connect((host, 80), socket.AF_INET6)


@given(st.ip_addresses(v=4) | st.ip_addresses(v=4, network="127.0.0.0/8"), st.booleans())
def test_exactly_the_loopback_network_is_within_reach(address, as_bytes):
    host = str(address).encode() if as_bytes else str(address)
    assert NetworkGuard("loopback").reaches(host) == (address in ipaddress.ip_network("127.0.0.0/8"))
    assert NetworkGuard("loopback").reaches(f"::ffff:{address}") == (address in ipaddress.ip_network("127.0.0.0/8"))


@given(st.text().filter(lambda text: text.lower() != "localhost"))
def test_no_other_name_is_within_reach(text):
    try:
        ipaddress.ip_address(text)
    except ValueError:
        assert not NetworkGuard("loopback").reaches(text)


@pytest.mark.parametrize("mode", ["deny", "loopback"])
def test_sockets_within_the_machine_are_nobodys_business(guarded, tmp_path, monkeypatch, mode):
    guarded(mode)
    monkeypatch.chdir(tmp_path)  # the path of such a socket is short
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as calling:
        listening.bind("socket")
        listening.listen()
        calling.connect("socket")
    first, second = socket.socketpair()
    first.sendmsg([b"x"])
    assert second.recv(1) == b"x"
    first.close()
    second.close()


def test_binding_reaches_nobody_but_a_name_to_bind_to_is_looked_up(guarded):
    guarded("deny")
    _bind(("0.0.0.0", 0))
    _bind(("", 0))
    with pytest.raises(NetworkRefused, match=f"look-up of {NOWHERE}"):
        _bind((NOWHERE, 0))


def test_sockets_that_send_without_an_address_are_not_made(guarded):
    guarded("loopback")
    with pytest.raises(NetworkRefused, match="a socket of the family"):
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW)


def test_sockets_that_look_names_up_unseen_are_not_made(guarded):
    guarded("loopback")
    with pytest.raises(NetworkRefused, match="not of socket"):
        _socket.socket(socket.AF_INET)


def test_a_web_client_is_told_why(guarded, server):
    guarded("loopback")
    with urllib.request.urlopen(f"http://localhost:{server}/") as answer:
        assert answer.read() == b"hello"
    with pytest.raises(OSError, match="refused by --bench-network=loopback; give --bench-network=allow"):
        urllib.request.urlopen(f"http://{NOWHERE}/")


def test_other_threads_are_guarded(guarded):
    guard = guarded("loopback")
    raised = []

    def connect():
        try:
            _connect((OUTSIDE, 80))
        except NetworkRefused as error:
            raised.append(error)

    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    assert len(raised) == guard.refused == 1


def test_the_innermost_session_decides(guarded, server):
    outer = guarded("loopback")
    inner = guarded("deny")
    with pytest.raises(NetworkRefused):
        _connect(("127.0.0.1", server))
    inner.end()
    _connect(("127.0.0.1", server))
    with pytest.raises(NetworkRefused):
        _connect((OUTSIDE, 80))
    assert (outer.refused, inner.refused) == (1, 1)


def test_sockets_are_as_before_in_the_end(guarded, server):
    methods = dict(vars(socket.socket))
    guard = guarded("deny")
    guard.end()
    assert dict(vars(socket.socket)) == methods
    _connect(("127.0.0.1", server))


def test_a_method_that_somebody_else_replaced_is_called_and_comes_back(guarded, monkeypatch, server):
    called = []
    original = socket.socket.connect

    def connect(self, address):
        called.append(address)
        original(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    guard = guarded("loopback")
    _connect(("127.0.0.1", server))
    guard.end()
    assert called == [("127.0.0.1", server)]
    assert socket.socket.connect is connect
