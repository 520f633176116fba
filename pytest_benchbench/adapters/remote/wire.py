"""One call over HTTPS: bounded in bytes and in time, redirected by nobody, and clear about whether anything was sent."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Mapping
from concurrent.futures import Future, wait
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.remote.discretion import Credential, Discretion
from pytest_benchbench.adapters.remote.errors import AnswerLost, NotSent
from pytest_benchbench.adapters.remote.timekeeping import Timekeeper

if TYPE_CHECKING:
    import httpx
    from anyio.from_thread import BlockingPortal

INSTALL = "pip install 'pytest-benchbench[remote]'"

USER_AGENT = f"pytest-benchbench/{version('pytest-benchbench')}"
"""How this package introduces itself. What Python's libraries say by default is refused by what guards some vendors."""

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Of an answer's body. The longest that are documented describe every sentence of 50,000 characters."""

LONGEST_CONNECT = 10.0
"""Seconds for a connection, TLS included."""

_threads: set[int] = set()
"""Of the event loops of this module."""

_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy", "httpcore.socks")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        status: The HTTP status.
        headers: By lower-case names.
        body: At most ``MAX_ANSWER_BYTES``; of an answer that is no success it may be cut off there.
        latency_ms: Wall time from connecting, or from sending on a connection that was open, to the last byte.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    latency_ms: float


class Wire:
    """Makes calls, from any thread, on an event loop of its own: so that a limit holds for a whole call, whatever drips in.

    Args:
        timeout: Seconds for one call.
        connections: Calls at a time.
        ca_file: Certificates that are trusted in place of the usual ones.
        clock: Whose time latencies are told in.
        discretion: What must not be repeated of error messages.
    """

    def __init__(
        self, *, timeout: float, connections: int, ca_file: Path | None, clock: Timekeeper, discretion: Discretion
    ) -> None:
        self._timeout = timeout
        self._connections = connections
        self._ca_file = ca_file
        self._clock = clock
        self._discretion = discretion
        self._opened: tuple[BlockingPortal, httpx.AsyncClient] | None = None
        self._stack = ExitStack()
        self._under_way: set[Future[Reply]] = set()

    def open(self) -> None:
        """Import the libraries, read the certificates and start the event loop. Nothing is sent.

        Raises:
            AdapterUnavailable: A package is missing, or ``ca_file`` holds no certificate.
        """
        try:
            import certifi
            import httpx
            from anyio.from_thread import start_blocking_portal
        except ImportError as error:
            raise AdapterUnavailable(f"httpx cannot be imported: {error}", INSTALL) from error
        try:
            trusted = ssl.create_default_context(cafile=str(self._ca_file or certifi.where()))
        except (ssl.SSLError, OSError):
            raise AdapterUnavailable(f"ca_file={self._ca_file}: it holds no certificate that can be read") from None
        _be_silent()
        client = httpx.AsyncClient(
            verify=trusted,
            trust_env=False,  # no proxy, no .netrc and no certificates that the environment names
            follow_redirects=False,
            headers={"user-agent": USER_AGENT, "accept": "application/json", "accept-encoding": "identity"},
            timeout=httpx.Timeout(self._timeout, connect=min(self._timeout, LONGEST_CONNECT)),
            limits=httpx.Limits(max_connections=self._connections, max_keepalive_connections=self._connections),
        )
        portal = self._stack.enter_context(start_blocking_portal("asyncio"))
        _threads.add(thread := portal.call(threading.get_ident))
        self._stack.callback(_threads.discard, thread)
        self._stack.callback(portal.call, client.aclose)
        self._opened = portal, client

    def close(self) -> None:
        """Let the calls end that are under way, which are paid for, and stop the event loop."""
        self._opened = None
        wait(set(self._under_way), timeout=self._timeout + 1)
        self._stack.close()

    def post(self, url: str, headers: Mapping[str, str | Credential], document: Mapping[str, Any]) -> Reply:
        """Send a JSON document and take the answer.

        Args:
            url: Where to.
            headers: Further headers.
            document: What is sent; ``Credential`` in it is revealed.

        Returns:
            The answer, whatever its status.

        Raises:
            NotSent: Nothing of the request left the machine, or the connection was never made.
            AnswerLost: Something was sent, and no whole answer came back within the limits.
        """
        if self._opened is None:
            raise NotSent("the adapter is closed", lasting=True)
        portal, client = self._opened
        call = portal.start_task_soon(self._post, client, url, headers, document)
        self._under_way.add(call)
        call.add_done_callback(self._under_way.discard)
        reply: Reply = call.result()
        return reply

    async def _post(
        self, client: httpx.AsyncClient, url: str, headers: Mapping[str, str | Credential], document: Mapping[str, Any]
    ) -> Reply:
        import anyio
        import httpx

        host = urlsplit(url).netloc
        sent = False
        connections: list[Any] = []

        async def watch(event: str, information: Mapping[str, Any]) -> None:
            nonlocal sent
            sent = sent or event == "http11.send_request_headers.started"
            if event == "connection.connect_tcp.complete":
                connections.append(information["return_value"])

        revealed = {name: v.reveal() if isinstance(v, Credential) else v for name, v in headers.items()}
        content = msgspec.json.encode(document, enc_hook=_revealed)
        request = client.build_request(
            "POST",
            url,
            headers={**revealed, "content-type": "application/json"},
            content=content,
            extensions={"trace": watch},
        )
        begin = self._clock.monotonic()
        try:
            with anyio.fail_after(self._timeout):
                response = await client.send(request, stream=True)
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.TimeoutException) as error:
            connecting = isinstance(error, httpx.ConnectTimeout)
            seconds = min(self._timeout, LONGEST_CONNECT) if connecting else self._timeout
            raise self._fault(f"{host}: no whole answer within {seconds:g} s", sent=sent) from None
        except _TooLargeError:
            raise self._fault(f"{host}: an answer of more than {MAX_ANSWER_BYTES} bytes", sent=True) from None
        except (httpx.HTTPError, OSError) as error:
            said = self._discretion.repeated(str(error)) or type(error).__name__
            raise self._fault(f"{host}: {said}", sent=sent, lasting=_is_about_certificates(error)) from None
        finally:
            if not sent:  # a connection that is given up while TLS is agreed on is closed by nobody else
                for connection in connections:
                    with anyio.move_on_after(1.0, shield=True):
                        await connection.aclose()
        latency = (self._clock.monotonic() - begin) * 1e3
        found = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status_code, found, body, latency)

    @staticmethod
    def _fault(message: str, *, sent: bool, lasting: bool = False) -> NotSent | AnswerLost:
        if sent:
            return AnswerLost(f"{message}; the question was sent and may have been billed")
        return NotSent(f"{message}; nothing was sent", lasting=lasting)


class _TooLargeError(Exception):
    pass


async def _read(response: httpx.Response) -> bytes:
    """Read a body up to the bound; of an answer that is no success the beginning is enough.

    Raises:
        _TooLargeError: It is a success, and larger.
    """
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            if response.is_success:
                raise _TooLargeError
            break
    return bytes(body[:MAX_ANSWER_BYTES])


def _revealed(value: object) -> str:
    if isinstance(value, Credential):
        return value.reveal()
    raise TypeError(f"{type(value).__name__} is not sent")


def _is_about_certificates(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _be_silent() -> None:
    """Keep the libraries from logging about the calls made here: what a vendor sends may repeat a key."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_is_not_ours)


def _is_not_ours(record: logging.LogRecord) -> bool:
    return record.thread not in _threads
