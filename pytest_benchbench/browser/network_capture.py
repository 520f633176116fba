"""What pages and offscreen documents request while they score: one connection to the browser that watches them all."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from pytest_benchbench.browser.endpoint import connection_module, find_socket
from pytest_benchbench.browser.errors import BrowserGone, CallRefused, CallTimedOut
from pytest_benchbench.browser.origins import is_outside, origin_of, shortened, stays_inside
from pytest_benchbench.browser.tab import CALL_SECONDS

MAX_KEPT_OF_AN_ORIGIN = 20
"""Requests to one origin that are kept; the rest is counted."""

MAX_ORIGINS = 1000
"""Origins that are told apart. An allowed one is always among those that were not: nothing is taken for allowed by this."""

_WATCHED = [{"type": kind, "exclude": True} for kind in ("service_worker", "browser_ui", "tab", "browser")] + [{}]
"""Targets to attach to. A session on a service worker would keep it from being suspended, as it is with users; the browser's
own windows are nobody's pages."""

_AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": _WATCHED}

_ENABLE = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}
"""What was fetched need not be kept: nobody asks for it."""

_RESUME = "Runtime.runIfWaitingForDebugger"

_URL_OF_EVENT: dict[str, Callable[[dict[str, Any]], str]] = {
    "Network.requestWillBeSent": lambda event: event["request"]["url"],
    "Network.webSocketCreated": lambda event: event["url"],
    "Network.webTransportCreated": lambda event: event["url"],
}


@dataclass(frozen=True, slots=True)
class CapturedRequest:
    """A request that a page, a frame, a worker or an offscreen document made, answered or not.

    Attributes:
        url: As the browser wrote it, cut after ``MAX_URL_SHOWN`` characters.
        target: The type of what made it, as the browser calls it: ``page``, ``iframe``, ``worker``; an offscreen document is
            ``other`` or ``background_page``.
        initiator: URL of the script or document that made it, where the browser says so.
        method: ``requestWillBeSent``, ``webSocketCreated``, ``webTransportCreated``, or ``attached`` for the page that a
            target had when it was first seen.
    """

    url: str
    target: str
    initiator: str | None
    method: str

    def __str__(self) -> str:
        by = f", by {self.initiator}" if self.initiator else ""
        return f"{self.url} ({self.target}{by})"


@dataclass(frozen=True, slots=True)
class _Target:
    kind: str
    url: str

    def __str__(self) -> str:
        return f"{self.kind} {self.url}".rstrip()


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    session: str | None


class NetworkCapture:
    """Watches every page and offscreen document of a browser from its first request on; use it in a ``with``.

    New targets wait until they are watched (``waitForDebuggerOnStart``), so nothing is missed between. What a service worker
    fetches by itself, and WebRTC, is not seen here: the browser's own log sees it (``netlog``).

    Nothing happens before the ``with``.

    Args:
        port: Of the browser's debugging protocol.
        host: Address of it, a loopback one.

    Raises:
        BrowserGone: Nobody listens there, or it is no browser.
        CallRefused: The browser cannot be watched.
        CallTimedOut: It does not answer.
        AdapterUnavailable: websocket-client is not installed.
    """

    def __init__(self, port: int, *, host: str = "127.0.0.1") -> None:
        self._address = (host, port)
        self._name = f"the browser at {host}:{port}"
        self._lock = threading.Condition()
        self._kept: dict[str | None, list[CapturedRequest]] = {}
        self._count = 0
        self._targets: dict[str, _Target] = {}
        self._asked: dict[int, _Call] = {}
        self._last_id = 0
        self._unwatched: list[str] = []
        self._gone: str | None = None
        self._closing = False

    def __enter__(self) -> Self:
        path, _ = find_socket(self._address, CALL_SECONDS)
        self._socket, self._under = connection_module().open_socket(
            self._address, path, name=self._name, error=BrowserGone, timeout=CALL_SECONDS
        )
        self._socket.settimeout(None)  # only the reading thread reads, and it ends when the connection does
        self._reader = threading.Thread(target=self._read, name="network capture", daemon=True)
        self._reader.start()
        try:
            self._attach_to_all()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def requests(self) -> tuple[CapturedRequest, ...]:
        """The first requests to each origin, in the order of the origins' first requests."""
        with self._lock:
            return tuple(request for kept in self._kept.values() for request in kept)

    @property
    def count(self) -> int:
        """All requests so far; those that the browser answers by itself, such as ``data:``, are left out."""
        with self._lock:
            return self._count

    @property
    def unwatched(self) -> tuple[str, ...]:
        """Targets that could not be watched, one line for each: what they request is not known."""
        with self._lock:
            return tuple(self._unwatched)

    def outside(self, allowed: Collection[str]) -> list[CapturedRequest]:
        """List the requests to anywhere but the allowed origins; at most ``MAX_KEPT_OF_AN_ORIGIN`` of one origin.

        Call ``settle`` before, else the last requests may still be on their way.

        Args:
            allowed: Origins, as in ``http://127.0.0.1:8000`` and ``chrome-extension://abcdefghijklmnopabcdefghijklmnop``.
        """
        return [request for request in self.requests if is_outside(request.url, allowed)]

    def settle(self, timeout: float = CALL_SECONDS) -> list[str]:
        """Wait until everything that was requested up to now is known.

        Args:
            timeout: Seconds to wait for all targets together.

        Returns:
            The targets that did not answer in time, as ``type URL``, because a script keeps them busy or they crashed. What
            they requested becomes known when they do.

        Raises:
            BrowserGone: The connection was lost.
        """
        with self._lock:
            targets = list(self._targets)
        # asked once more, which changes nothing; a target answers after it has told of its earlier requests
        asked = {self._send("Network.enable", _ENABLE, target): target for target in targets}
        self._wait(asked, timeout)
        with self._lock:
            silent = [target for call, target in asked.items() if call in self._asked]
            return [str(self._targets[target]) for target in silent if target in self._targets]

    def close(self) -> None:
        """End watching; targets that still wait are let go by the browser. Twice does no harm."""
        self._closing = True
        self._hang_up()
        self._reader.join()
        self._socket.shutdown()

    def _attach_to_all(self) -> None:
        """Watch what is there and what will be.

        Raises:
            CallTimedOut: The browser does not answer.
            CallRefused: It refuses.
        """
        call = self._send("Target.setAutoAttach", _AUTO_ATTACH)
        self._wait([call], CALL_SECONDS)
        with self._lock:
            if call in self._asked:
                raise CallTimedOut(f"{self._name}: Target.setAutoAttach: no answer in {CALL_SECONDS:g} s")
            if self._unwatched:
                raise CallRefused(f"{self._name}: it cannot be watched: {self._unwatched[0]}")

    def _send(self, method: str, parameters: dict[str, Any], session: str | None = None) -> int:
        """Ask for something, without waiting; the answer is awaited by ``_wait``."""
        with self._lock:
            self._last_id += 1
            call = self._last_id
            self._asked[call] = _Call(method, session)
        message = {"id": call, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        with suppress(*_lost()):  # the reading thread notices too, and says so
            self._socket.send(json.dumps(message))
        return call

    def _wait(self, calls: Collection[int], timeout: float) -> None:
        """Wait for answers.

        Raises:
            BrowserGone: The connection was lost.
        """
        with self._lock:
            self._lock.wait_for(lambda: self._gone or not any(call in self._asked for call in calls), timeout)
            if self._gone is not None:
                raise BrowserGone(f"{self._name}: it cannot be watched any more: {self._gone}")

    def _read(self) -> None:
        """Take what the browser sends, until the connection ends. In a thread of its own."""
        try:
            while text := self._socket.recv():
                self._take(json.loads(text))
            reason = "it closed the connection"
        except _lost() as error:
            reason = str(error) or type(error).__name__
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            reason = f"it sent what is no message of the protocol ({type(error).__name__}: {error})"
        self._hang_up()  # the browser lets go what waits for us
        with self._lock:
            self._gone = "it was closed here" if self._closing else reason
            self._lock.notify_all()

    def _hang_up(self) -> None:
        with suppress(OSError):  # the other side was first
            self._under.shutdown(socket.SHUT_RDWR)

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._take_answer(message["id"], message.get("error"))
            return
        method, event = message["method"], message["params"]
        if method == "Target.attachedToTarget":
            self._take_target(event["sessionId"], event["targetInfo"])
        elif method == "Target.detachedFromTarget":
            self._drop_target(event["sessionId"])
        elif (url := _URL_OF_EVENT.get(method)) is not None:
            target = self._targets.get(message.get("sessionId", ""))
            self._keep(url(event), target.kind if target else "unknown", _initiator(event), method.partition(".")[2])

    def _take_answer(self, call: int, error: dict[str, Any] | None) -> None:
        with self._lock:
            asked = self._asked.pop(call, None)
            if asked is not None and error is not None and asked.method != _RESUME:
                target = self._targets.get(asked.session) if asked.session else None
                if asked.session is None or target is not None:  # else it was closed meanwhile
                    self._unwatched.append(f"{target or 'browser'}: {asked.method}: {error.get('message')}")
            self._lock.notify_all()

    def _take_target(self, session: str, info: dict[str, Any]) -> None:
        target = _Target(info["type"], shortened(info["url"]))
        with self._lock:
            self._targets[session] = target
        if target.url:
            self._keep(info["url"], target.kind, None, "attached")
        self._send("Network.enable", _ENABLE, session)
        self._send("Target.setAutoAttach", _AUTO_ATTACH, session)  # its frames and workers
        self._send(_RESUME, {}, session)

    def _drop_target(self, session: str) -> None:
        with self._lock:
            self._targets.pop(session, None)
            for call in [call for call, asked in self._asked.items() if asked.session == session]:
                del self._asked[call]
            self._lock.notify_all()

    def _keep(self, url: str, target: str, initiator: str | None, method: str) -> None:
        if stays_inside(url):
            return
        with self._lock:
            self._count += 1
            origin = origin_of(url)
            if origin not in self._kept and len(self._kept) >= MAX_ORIGINS:
                return
            kept = self._kept.setdefault(origin, [])
            if len(kept) < MAX_KEPT_OF_AN_ORIGIN:
                kept.append(CapturedRequest(shortened(url), target, initiator and shortened(initiator), method))


def _initiator(event: dict[str, Any]) -> str | None:
    """Give the URL of what made a request: its script's, else its document's."""
    initiator = event.get("initiator") or {}
    frames = (initiator.get("stack") or {}).get("callFrames") or []
    candidates = [initiator.get("url"), *(frame.get("url") for frame in frames[:1]), event.get("documentURL")]
    return next((url for url in candidates if url), None)


def _lost() -> tuple[type[Exception], ...]:
    """Name the errors of a connection that is gone."""
    import websocket

    return (OSError, websocket.WebSocketException)
