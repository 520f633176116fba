"""pychrome's ``Tab`` without what makes it hang, lose events or speak up out of turn; imported only where it is needed.

What pychrome 0.2.4 does, and what is done here:

- a closed socket, read as an empty text, ended its thread with a traceback: it ends the connection, and every waiting call;
- a call without a time-out waited for ever on a page that crashed or a worker that ended: every call has one, and a crash
  ends those that wait;
- listeners ran in one thread, their exceptions were swallowed, and those still queued at the end were dropped: there are no
  listeners. What happened is kept in its order until somebody takes it;
- the environment decided: a proxy was asked for loopback, ``DEBUG`` printed all traffic. Neither is looked at;
- errors were also given as warnings: they are only raised;
- the session of an event was lost: it is kept.
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

import pychrome
import websocket

from pytest_benchbench.browser.errors import BrowserError, CallRefused, CallTimedOut
from pytest_benchbench.browser.tab import Event, World

MAX_EVENTS = 50_000
MAX_EVENT_CHARACTERS = 1 << 26
"""Of events that nobody took yet; what comes after is counted, not kept."""

_SOCKET_SECONDS = 5.0
"""How long the browser may leave a message of ours unread."""

_JOIN_SECONDS = 10.0


class Connection(pychrome.Tab):  # type: ignore[misc] # pychrome is untyped
    """A connection to one target, open from the start.

    Args:
        address: Host and port.
        path: Of the target's socket, ``/devtools/page/<id>``.
        name: What the target is called in messages.
        error: What is raised when it is gone.
        timeout: Seconds that connecting may take.

    Attributes:
        gone: Why nothing can be asked any more, in one line; ``None`` while it can.

    Raises:
        BrowserError: ``error``: there is no such target, or nobody answers.
    """

    def __init__(self, address: tuple[str, int], path: str, *, name: str, error: type[BrowserError], timeout: float) -> None:
        host, port = address
        super().__init__(id=path, type="target", webSocketDebuggerUrl=f"ws://{host}:{port}{path}")
        self.debug = False
        self.gone: str | None = None
        self._address = address
        self._name = name
        self._error = error
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._events: deque[tuple[Event, int]] = deque()
        self._kept_characters = 0
        self._lost_events = 0
        self._worlds: dict[str, World] = {}
        self._worlds_are_told = False
        self._connect(timeout)

    def request(self, method: str, params: dict[str, Any], *, timeout: float, session: str | None = None) -> dict[str, Any]:
        """Call a method of the protocol; see ``Tab.call``."""
        message = {"id": next(self._numbers), "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        if self.gone is not None:
            raise self._error(f"{self._name}: {method}: {self.gone}")
        try:
            answer = self._send(message, timeout)
        except pychrome.TimeoutException:
            raise CallTimedOut(f"{self._name}: {method}: no answer in {timeout:g} s") from None
        except pychrome.UserAbortException:
            answer = None
        except (websocket.WebSocketException, OSError) as error:  # half a message may have been sent
            self._end(f"the connection was lost: {error}")
            answer = None
        if answer is None:
            raise self._error(f"{self._name}: {method}: {self.gone}")
        if "error" in answer:
            raise CallRefused(f"{self._name}: {method}: {answer['error'].get('message', 'refused without a reason')}")
        return dict(answer.get("result", {}))

    def worlds(self, timeout: float) -> list[World]:
        """Give the JavaScript worlds of the page; see ``Tab.worlds``."""
        if not self._worlds_are_told:
            self.request("Runtime.enable", {}, timeout=timeout)
            self._worlds_are_told = True
        with self._changed:
            return list(self._worlds.values())

    def take_events(self) -> list[Event]:
        """Take what happened since the last time; see ``Tab.events``."""
        with self._changed:
            taken = [event for event, _ in self._events]
            lost, self._lost_events = self._lost_events, 0
            self._events.clear()
            self._kept_characters = 0
        if lost:
            raise BrowserError(
                f"{self._name}: {lost} events were lost, more than are kept happened since they were last taken"
            )
        return taken

    def wait_for(self, method: str, where: Callable[[dict[str, Any]], bool], timeout: float) -> Event:
        """Take the first event of a kind; see ``Tab.wait_for``."""
        until = monotonic() + timeout
        with self._changed:
            while True:
                for entry in self._events:
                    event, characters = entry
                    if event.method == method and where(event.params):
                        self._events.remove(entry)
                        self._kept_characters -= characters
                        return event
                if self.gone is not None:
                    raise self._error(f"{self._name}: waiting for {method}: {self.gone}")
                if not self._changed.wait(until - monotonic()):
                    raise CallTimedOut(f"{self._name}: there was no {method} in {timeout:g} s")

    def close(self) -> None:
        """End the connection and its thread."""
        self._end("it was let go of")
        with suppress(OSError):  # the other side was first
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        if threading.current_thread() is not self._recv_th:
            self._recv_th.join(_JOIN_SECONDS)
        self._ws.shutdown()

    def _connect(self, timeout: float) -> None:
        path = str(self.id)
        self._ws, self._socket = open_socket(self._address, path, name=self._name, error=self._error, timeout=timeout)
        self._ws.settimeout(_SOCKET_SECONDS)
        self._started = True
        self._recv_th.name = f"benchbench reads {self._name}"
        self._recv_th.start()

    def _recv_loop(self) -> None:
        why = "the connection was lost: it was closed, or the browser ended"
        try:
            while True:
                try:
                    text = self._ws.recv()
                except websocket.WebSocketTimeoutException:
                    continue
                if not text:  # the other side closes
                    break
                self._take(json.loads(text), len(text))
        except (websocket.WebSocketException, OSError):
            pass
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            why = f"it sent what is not the debugging protocol: {type(error).__name__}"
        finally:
            self._end(why)

    def _take(self, message: dict[str, Any], characters: int) -> None:
        if "id" in message:
            if not isinstance(message.get("error", {}), dict) or not isinstance(message.get("result", {}), dict):
                raise TypeError
            waiting = self.method_results.get(message["id"])
            if waiting is not None:
                waiting.put(message)
            return
        event = Event(message["method"], message.get("params", {}), message.get("sessionId"))
        with self._changed:
            self._note(event)
            if len(self._events) < MAX_EVENTS and self._kept_characters + characters <= MAX_EVENT_CHARACTERS:
                self._events.append((event, characters))
                self._kept_characters += characters
            else:
                self._lost_events += 1
            self._changed.notify_all()
        if event.session is None and event.method in ("Inspector.targetCrashed", "Inspector.detached"):
            crashed = event.method == "Inspector.targetCrashed"
            self._end("it crashed or was ended" if crashed else f"it was closed ({event.params.get('reason')})")

    def _note(self, event: Event) -> None:
        """Keep the list of worlds."""
        if event.session is not None:
            return
        if event.method == "Runtime.executionContextCreated":
            told = event.params["context"]
            about = told.get("auxData", {})
            isolated = about.get("type") == "isolated"
            self._worlds[told["uniqueId"]] = World(told["uniqueId"], told["origin"], isolated, str(about.get("frameId", "")))
        elif event.method == "Runtime.executionContextDestroyed":
            self._worlds.pop(event.params["executionContextUniqueId"], None)
        elif event.method == "Runtime.executionContextsCleared":
            self._worlds.clear()

    def _end(self, why: str) -> None:
        """Let nothing more be asked, and end what waits. The first reason counts."""
        with self._changed:
            if self.gone is None:
                self.gone = why
            self._stopped.set()  # pychrome's own loop looks at it each second; those that wait are told at once
            for waiting in list(self.method_results.values()):
                waiting.put(None)
            self._changed.notify_all()


def open_socket(
    address: tuple[str, int], path: str, *, name: str, error: type[BrowserError], timeout: float
) -> tuple[websocket.WebSocket, socket.socket]:
    """Open a socket of the browser's protocol, past any proxy; see ``Connection`` for the arguments.

    Returns:
        The WebSocket, and the socket under it, which any thread can shut down.

    Raises:
        BrowserError: ``error``: there is no such target, or nobody answers.
    """
    try:
        connected = socket.create_connection(address, timeout)
    except OSError as fault:
        raise error(f"{name}: cannot be reached: {fault.strerror or fault}") from None
    try:
        with ends_after(timeout, connected):
            opened = websocket.create_connection(
                f"ws://{address[0]}:{address[1]}{path}",
                timeout=timeout,
                socket=connected,
                enable_multithread=True,
                suppress_origin=True,  # the browser refuses origins that it was not told of
                redirect_limit=0,
            )
    except (websocket.WebSocketException, OSError, ValueError) as fault:
        connected.close()
        refused = isinstance(fault, websocket.WebSocketBadStatusException)
        why = "it is closed or was never there" if refused else fault
        raise error(f"{name}: cannot be connected to: {why}") from None
    return opened, connected


@contextmanager
def ends_after(seconds: float, connected: socket.socket) -> Iterator[None]:
    """Shut a socket down if the block takes longer: a server that sends a byte now and then keeps nobody.

    Raises:
        TimeoutError: It did; in place of whatever the block raised of it.
    """
    late = threading.Event()

    def shut() -> None:
        late.set()
        with suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception:
        if late.is_set():
            raise TimeoutError(f"no answer in {seconds:g} s") from None
        raise
    finally:
        timer.cancel()
        timer.join()
