"""Reaching a browser at its port, and what is said where there is none."""

import base64
import gc
import hashlib
import os
import re
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.browser.endpoint import Endpoint, find_socket
from pytest_benchbench.browser.errors import BrowserError, BrowserGone, CallRefused, TabGone


@pytest.fixture
def listen():
    """``listen(answer)``: a server on loopback that does with each connection what ``answer(connection)`` does."""
    servers = []

    def start(answer):
        server = socket.create_server(("127.0.0.1", 0))

        def work():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    try:
                        answer(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        servers.append((server, thread))
        return server.getsockname()[1]

    yield start
    for server, thread in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(10)


def http(body, status="200 OK"):
    def answer(connection):
        connection.recv(4096)
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    return answer


def silent(connection):
    while connection.recv(4096):
        pass


def dripping(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)


def unfinished(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n{")
    silent(connection)


def endless(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b" " * 65536)


def speaking(*frames):
    """Greet like a browser, and then send these WebSocket frames."""

    def answer(connection):
        asked = connection.recv(4096).decode()
        if asked.startswith("GET /json/version"):
            body = '{"webSocketDebuggerUrl": "ws://elsewhere.example/devtools/browser/1-2"}'
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            return
        assert asked.startswith("GET /devtools/browser/1-2 ")
        key = re.search(r"Sec-WebSocket-Key: (\S+)", asked)[1]
        accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
        switch = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        connection.sendall(f"{switch}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        for frame in frames:
            connection.recv(4096)
            connection.sendall(frame)
        silent(connection)

    return answer


def text_frame(text):
    data = text.encode()
    length = bytes([len(data)]) if len(data) < 126 else b"\x7f" + len(data).to_bytes(8, "big")
    return b"\x81" + length + data


def test_what_the_browser_says_of_itself(endpoint, browser, chromium, extension):
    assert chromium.version in endpoint.product
    assert endpoint.version()["product"] == endpoint.product
    assert endpoint.process_id() == browser.pid
    assert endpoint.command_line() == browser.command_line
    assert endpoint.alive()
    (loaded,) = endpoint.extensions()
    assert (loaded.name, loaded.version, loaded.path, loaded.enabled) == ("probe", "1.2", extension, True)


def test_that_targets_of_every_type_are_listed(endpoint, worker):
    """pychrome's own list has pages only."""
    assert worker.url.endswith("/worker.js")
    assert {"page", "service_worker"} <= {target.type for target in endpoint.targets()}


@pytest.mark.parametrize("exceptions", [None, "example.com"])
def test_that_no_proxy_is_asked(browser, monkeypatch, exceptions):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:9")
    if exceptions:
        monkeypatch.setenv("no_proxy", exceptions)
        monkeypatch.setenv("NO_PROXY", exceptions)
    with Endpoint(browser.port) as endpoint:
        assert endpoint.open_tab().evaluate("1 + 1") == 2


def test_that_the_traffic_is_not_printed(browser, monkeypatch, capfd, caplog):
    monkeypatch.setenv("DEBUG", "1")
    with Endpoint(browser.port) as endpoint:
        assert endpoint.open_tab().evaluate("1 + 1") == 2
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_that_two_connections_know_nothing_of_each_other(browser):
    with Endpoint(browser.port) as one:
        tab = one.open_tab()
        with Endpoint(browser.port) as two:
            assert two._tabs == []
            other = two.attach(tab.id)
            assert other is not tab
            assert other.evaluate("1 + 1") == 2
        assert other.gone
        assert tab.evaluate("1 + 1") == 2
        one.close_tab(tab)


def test_that_nothing_is_left_after_closing(browser):
    before = set(threading.enumerate())
    with Endpoint(browser.port) as endpoint:
        tab = endpoint.open_tab()
        assert len(set(threading.enumerate()) - before) == 2
    assert set(threading.enumerate()) <= before
    endpoint.close()
    with pytest.raises(BrowserGone, match=rf"the browser at 127\.0\.0\.1:{browser.port} is gone: it was let go of"):
        tab.evaluate("1")
    with Endpoint(browser.port) as endpoint:
        endpoint.close_tab(tab.id)


def pages(endpoint):
    """The pages that are open; workers come and go as they like."""
    return {target.id for target in endpoint.targets() if target.type == "page"}


def test_that_a_page_that_cannot_be_opened_is_told_and_closed(endpoint):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    before = pages(endpoint)
    with pytest.raises(BrowserError, match=rf"http://127\.0\.0\.1:{port}/ cannot be opened: net::ERR_CONNECTION_REFUSED"):
        endpoint.open_tab(f"http://127.0.0.1:{port}/")
    assert pages(endpoint) == before


def test_that_a_tab_is_closed_once(endpoint):
    tab = endpoint.open_tab()
    endpoint.close_tab(tab)
    endpoint.close_tab(tab)
    endpoint.close_tab(tab.id)
    assert tab.id not in {target.id for target in endpoint.targets()}
    with pytest.raises(TabGone, match="cannot be connected to: it is closed or was never there"):
        endpoint.attach(tab.id)


def test_that_a_page_that_is_just_being_opened_is_closed(endpoint, serve):
    """Chromium forgets to close some of them when it is asked once."""
    url = serve()
    before = pages(endpoint)
    for _ in range(8):
        endpoint.close_tab(endpoint.open_tab(url))
    assert pages(endpoint) == before


def test_that_events_of_a_flat_session_keep_their_session(endpoint, serve):
    tab = endpoint.open_tab()
    session = endpoint.call("Target.attachToTarget", targetId=tab.id, flatten=True)["sessionId"]
    endpoint.browser.call("Page.enable", session=session)
    endpoint.browser.call("Page.navigate", session=session, url=serve())
    assert endpoint.browser.wait_for("Page.loadEventFired").session == session
    assert tab.wait_for("Page.loadEventFired").session is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_that_loopback_has_two_names(browser, host):
    with Endpoint(browser.port, host=host) as endpoint:
        assert endpoint.alive()


def test_that_a_wrong_port_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(BrowserGone) as caught:
        Endpoint(port)
    assert str(caught.value) == (
        f"no browser listens on 127.0.0.1:{port} (Connection refused):"
        f" start it with --remote-debugging-port={port}, or let it be started by launch="
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (silent, "timed out|no answer in"),
        (dripping, "no answer in"),
        (unfinished, "timed out|no answer in"),
        (endless, "no answer in|no /json/version"),
    ],
    ids=["silent", "dripping", "unfinished", "endless"],
)
def test_that_what_does_not_come_to_an_end_is_left(listen, answer, message):
    port = listen(answer)
    began = time.monotonic()
    with pytest.raises(BrowserGone, match=message) as caught:
        Endpoint(port, timeout=0.5)
    assert time.monotonic() - began < 30
    assert str(caught.value).isprintable()
    assert f"127.0.0.1:{port}" in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (http("<h1>hello"), r"no /json/version \(JSONDecodeError\)"),
        (http("not found", "404 Not Found"), r"no /json/version \(JSONDecodeError\)"),
        (http("[1]"), r"no /json/version \(TypeError\)"),
        (http("[" * 60_000), r"no /json/version \(RecursionError\)"),
        (http('{"Browser": "node.js/v20"}'), r"no /json/version \(KeyError\)"),
        (http('{"webSocketDebuggerUrl": "ws://127.0.0.1:1/other"}'), "it has no browser socket"),
        (http('{"webSocketDebuggerUrl": "ws://127.0.0.1:1/devtools/browser/1-2"}'), "cannot be connected to"),
        (lambda connection: connection.sendall(b"SSH-2.0-OpenSSH\r\n"), r"no /json/version \(BadStatusLine\)"),
        (lambda connection: None, "no /json/version"),
    ],
    ids=["page", "404", "array", "nested", "node", "socket", "no socket", "ssh", "closing"],
)
def test_that_what_is_no_browser_is_refused(listen, answer, message):
    port = listen(answer)
    began = time.monotonic()
    with pytest.raises(BrowserGone, match=message) as caught:
        Endpoint(port)
    assert time.monotonic() - began < 30
    assert str(caught.value).isprintable()
    assert f"127.0.0.1:{port}" in str(caught.value)


def test_that_an_answer_that_is_broken_off_is_closed(listen, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.browser.connection.ends_after", lambda seconds, connected: nullcontext())

    def ask():
        with pytest.raises(BrowserGone, match="timed out") as caught:
            Endpoint(listen(unfinished), timeout=0.2)
        assert caught.value.__context__  # which keeps what was read from, until all is collected

    ask()
    gc.collect()  # a connection that was left open warns now


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (text_frame("hello"), "it sent what is not the debugging protocol: JSONDecodeError"),
        (text_frame("[1]"), "it sent what is not the debugging protocol"),
        (text_frame('{"params": 1}'), "it sent what is not the debugging protocol: KeyError"),
        (text_frame('{"id": 1, "error": "no"}'), "it sent what is not the debugging protocol: TypeError"),
        (text_frame('{"id": 1, "result": 3}'), "it sent what is not the debugging protocol: TypeError"),
        (text_frame("[" * 100_000), "it sent what is not the debugging protocol: RecursionError"),
        (b"\x88\x00", "the connection was lost"),
        (b"\xff\x00", "the connection was lost"),
        (text_frame('{"id": 1, "error": {"message": "one\\ntwo\\u001b[31m"}}'), r"Browser\.getVersion: one two\\x1b\[31m"),
        (text_frame('{"id": 1, "error": {}}'), "refused without a reason"),
    ],
)
def test_that_a_browser_that_talks_nonsense_ends_the_call(listen, frame, message):
    with Endpoint(listen(speaking(frame))) as endpoint, pytest.raises((BrowserGone, CallRefused), match=message) as caught:
        endpoint.version()
    assert str(caught.value).isprintable()


def test_that_a_killed_browser_ends_every_call(mortal):
    with Endpoint(mortal.port) as endpoint:
        tab, other = endpoint.open_tab(), endpoint.open_tab()
        with ThreadPoolExecutor() as pool:
            waiting = [pool.submit(one.evaluate, "new Promise(() => {})", timeout=60) for one in (tab, other)]
            waiting.append(pool.submit(endpoint.browser.wait_for, "Target.targetCreated", timeout=60))
            assert tab.evaluate("1 + 1") == 2
            os.kill(mortal.pid, signal.SIGKILL)
            began = time.monotonic()
            errors = [one.exception() for one in waiting]
        assert time.monotonic() - began < 30
        assert [type(error) for error in errors] == [BrowserGone] * 3
        assert f"the browser at 127.0.0.1:{mortal.port} is gone: the connection was lost" in str(errors[0])
        for ask in (endpoint.version, endpoint.open_tab, lambda: tab.call("Page.enable"), lambda: endpoint.attach("1")):
            with pytest.raises(BrowserGone):
                ask()
        assert not endpoint.alive()
        with pytest.raises(BrowserGone, match="no browser listens"):
            Endpoint(mortal.port)


def test_that_a_stopped_browser_keeps_nobody(mortal):
    with Endpoint(mortal.port) as endpoint:
        tab = endpoint.open_tab()
        os.kill(mortal.pid, signal.SIGSTOP)
        with pytest.raises(BrowserError, match=r"no answer in 0\.3 s"):
            tab.evaluate("1", timeout=0.3)
        with pytest.raises(BrowserError, match=r"no answer in 0\.3 s"):
            endpoint.call("Browser.getVersion", timeout=0.3)
        with pytest.raises(BrowserGone, match="is no browser that can be driven"):
            Endpoint(mortal.port, timeout=0.3)
        os.kill(mortal.pid, signal.SIGCONT)
        assert tab.evaluate("1 + 1") == 2


@pytest.mark.parametrize("package", ["pychrome", "websocket"])
def test_that_a_missing_package_is_told(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AdapterUnavailable) as caught:
        Endpoint(1)
    assert caught.value.install == "pip install 'pytest-benchbench[browser]'"
    assert package in caught.value.reason


def test_that_the_browser_refuses_a_socket_that_names_another_origin(browser):
    import websocket

    path, _ = find_socket(("127.0.0.1", browser.port), 60)
    address = f"ws://127.0.0.1:{browser.port}{path}"
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        websocket.create_connection(address, origin="http://elsewhere.example", timeout=60)
    websocket.create_connection(address, suppress_origin=True, timeout=60).close()
