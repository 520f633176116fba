"""The network guard: real sockets against a real server, in this process and in workers."""

import _socket
import asyncio
import ipaddress
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.session.network import NetworkGuard, NetworkRefused

OUTSIDE = "192.0.2.1"
"""An address that is kept free for documentation: nobody answers there, if a packet should go out after all."""

NOWHERE = "host.invalid"
"""A name that no name server knows: looking it up is an error of its own, which a refusal before the look-up is not."""


@pytest.fixture(scope="module")
def server():
    """A web server on this machine; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield served.server_address[1]
        served.shutdown()
        thread.join()


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


DETECTORS = """
    import socket, subprocess, sys
    import msgspec
    from pytest_benchbench import Adapter, AdapterDescription, BatchAdapter, Detection

    class Options(msgspec.Struct, frozen=True):
        host: str = "127.0.0.1"
        port: int = 0

    class Caller(Adapter):
        '''Asks a server about every sample.'''
        name = "caller"
        media_types = frozenset({"image"})
        needs = "bytes"
        Options = Options

        def call(self):
            socket.create_connection((self.options.host, self.options.port)).close()

        def detect(self, sample):
            self.call()
            return Detection("detected")

        def describe(self):
            return AdapterDescription("1", "the server is there")

    class Shrugging(Caller):
        '''Goes on without the server.'''
        name = "shrugging"

        def detect(self, sample):
            for _ in range(2):
                try:
                    self.call()
                except OSError:
                    pass
            return Detection("detected")

    class LoadsModel(Shrugging):
        '''Goes on without what it wanted to fetch once.'''
        name = "loads"

        def load(self):
            try:
                self.call()
            except OSError:
                pass

        def detect(self, sample):
            return Detection("detected")

    class Remote(Caller):
        name = "remote"
        network = True

    class ChildProcess(Caller):
        name = "child"

        def call(self):
            code = f"import socket; socket.create_connection(({self.options.host!r}, {self.options.port}))"
            subprocess.run([sys.executable, "-c", code], check=True)

    class Waves(BatchAdapter):
        name = "remote-waves"
        media_types = frozenset({"image"})
        needs = "bytes"
        batch_size = 2
        Options = Options
        call = Caller.call

        def detect_batch(self, samples):
            try:
                self.call()
            except OSError:
                pass
            return [Detection("detected") for sample in samples]

        def describe(self):
            return AdapterDescription("1", "anything")

    def pytest_benchbench_adapters(registry):
        for adapter in (Caller, Shrugging, LoadsModel, Remote, ChildProcess, Waves):
            registry.register(adapter)
"""


@pytest.fixture
def calling(project, server):
    """Run rows of a detector that calls the server, or a host that is none."""
    project.pytester.makeconftest(DETECTORS)

    def run(adapter, *arguments, host="127.0.0.1", rows=1, workers=0):
        for number in range(rows):
            project.case(f"cat-{number}", adapter=adapter)
        project.write()
        return project.run(
            "cases.jsonl", f"--bench-adapter={adapter}:host={host},port={server}", *arguments, workers=workers
        )

    return run


@pytest.mark.parametrize(
    ("arguments", "mode"),
    [((), "loopback"), (("--bench-network=loopback",), "loopback"), (("--bench-network=allow",), "allow")],
)
def test_a_detector_may_call_this_machine(calling, project, arguments, mode):
    assert calling("caller", *arguments).ret == 0
    assert project.evidence[0]["network"] == {"mode": mode}


def test_a_refusal_is_the_error_of_the_row(calling, project, workers):
    result = calling("caller", host=NOWHERE, workers=workers)
    assert result.ret == 1
    (row,) = project.evidence
    assert (row["outcome"], row["error"]["type"]) == ("error", "NetworkRefused")
    assert row["error"]["message"].startswith(f"look-up of {NOWHERE}:")
    assert row["error"]["message"].endswith(": refused by --bench-network=loopback; give --bench-network=allow")
    assert row["network"] == {"mode": "loopback", "refused": 1}


def test_deny_holds_in_workers(calling, project):
    assert calling("caller", "--bench-network=deny", rows=3, workers=2).ret == 1
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused": 1}] * 3


def test_what_a_detector_shrugs_off_is_counted(calling, project):
    assert calling("shrugging", "--bench-network=deny", rows=2).ret == 0
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused": 2}] * 2


def test_what_was_refused_to_loading_bears_on_every_row(calling, project, workers):
    assert calling("loads", "--bench-network=deny", rows=4, workers=workers).ret == 0
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused_loading": 1}] * 4


def test_what_was_refused_to_a_wave_is_counted_for_each_of_its_rows(calling, project):
    assert calling("remote-waves", "--bench-network=deny", rows=3).ret == 0
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused": 1}] * 3


def test_a_detector_that_declares_to_leave_the_machine_is_unavailable(calling, project, workers):
    result = calling("remote", "-rs", workers=workers)
    assert result.ret == 21
    result.stdout.fnmatch_lines(
        ["*remote is unavailable: asking it leaves this machine; to let it, give --bench-network=allow*"]
    )
    assert project.outcomes == {"cat-0": "unavailable"}


def test_unless_it_is_allowed(calling, project):
    assert calling("remote", "--bench-network=allow").ret == 0
    assert project.outcomes == {"cat-0": "match"}


def test_a_child_process_is_beyond_the_guard(calling):
    """A limit, stated in the docs: what holds for child processes is the operating system's to enforce."""
    assert calling("child", "--bench-network=deny").ret == 0


def test_other_tests_of_the_session_keep_their_network(calling, project, server):
    project.pytester.makepyfile(
        test_ordinary=f"""
        import socket

        def test_connects():
            socket.create_connection(("127.0.0.1", {server})).close()
        """
    )
    result = calling("shrugging", "test_ordinary.py", "--bench-network=deny")
    result.assert_outcomes(passed=2)


def test_nothing_is_guarded_after_the_session(calling, server):
    assert calling("shrugging", "--bench-network=deny").ret == 0
    _connect(("127.0.0.1", server))
    with pytest.raises(socket.gaierror):
        _connect((NOWHERE, 80))


def test_a_session_without_plan_installs_nothing(pytester):
    pytester.makepyfile(
        """
        import socket, sys

        def test_unit():
            assert "pytest_benchbench.session.network" not in sys.modules
            assert "connect" not in vars(socket.socket)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:xdist", "--bench-network=deny")
    result.assert_outcomes(passed=1)


@pytest.mark.skipif(sys.platform != "linux", reason="unshare is a command of Linux")
def test_the_proof_by_the_operating_system(calling_namespace, server):
    """What the docs show: without a network there is not even this machine's loopback, for child processes neither."""
    code = f"import socket; socket.create_connection(('127.0.0.1', {server}))"
    done = subprocess.run([*calling_namespace, sys.executable, "-c", code], text=True, capture_output=True)
    assert "Network is unreachable" in done.stderr


@pytest.fixture
def calling_namespace():
    command = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
    try:
        usable = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    except OSError:
        usable = False
    if not usable:
        pytest.skip("no network namespace can be made here")
    return command
