"""A running browser, reached at its debugging port on this machine."""

from __future__ import annotations

import http.client
import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

from pytest_benchbench.adapters.torch_runtime import import_package
from pytest_benchbench.browser.errors import BrowserError, BrowserGone, CallRefused, CallTimedOut, TabGone
from pytest_benchbench.browser.tab import CALL_SECONDS, Tab
from pytest_benchbench.manifests.faults import shown_text

INSTALL = "pip install 'pytest-benchbench[browser]'"

_MAX_VERSION_BYTES = 1 << 16

_SOCKET_PATH = re.compile(r"wss?://[^/]+(/devtools/browser/[0-9A-Za-z-]{1,64})")

_PROBE_SECONDS = 5.0

_CLOSE_SECONDS = 10.0

_ASK_AGAIN_SECONDS = 0.25

_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Target:
    """Something in the browser that can be connected to.

    Attributes:
        id: By which the browser knows it.
        type: ``page``, ``background_page`` (an offscreen document), ``service_worker``, ...
        url: Of its document or script.
    """

    id: str
    type: str
    url: str


@dataclass(frozen=True, slots=True)
class Extension:
    """An unpacked extension that the browser has.

    Attributes:
        id: 32 letters of a to p.
        name: As its manifest says.
        version: As its manifest says.
        path: Its folder.
        enabled: Whether it may run.
    """

    id: str
    name: str
    version: str
    path: Path
    enabled: bool


class Endpoint:
    """A connection to a running browser. It ends, with those to all of its tabs, with ``close``.

    Args:
        port: Its debugging port.
        host: A loopback address.
        timeout: Seconds that connecting may take.

    Attributes:
        product: ``Chrome/156.0.8078.108`` or what else it calls itself.
        browser: The browser itself as a target, for its events and for flat sessions.

    Raises:
        BrowserGone: Nobody listens there, or it is no browser.
        AdapterUnavailable: pychrome is not installed.
    """

    def __init__(self, port: int, *, host: str = "127.0.0.1", timeout: float = CALL_SECONDS) -> None:
        self._connections = connection_module()
        self._address = (host, port)
        self._name = f"the browser at {host}:{port}"
        self._tabs: list[Tab] = []
        path, self.product = find_socket(self._address, timeout)
        connection = self._connections.Connection(self._address, path, name=self._name, error=BrowserGone, timeout=timeout)
        self.browser = Tab("browser", connection, self)

    def call(self, method: str, /, *, timeout: float = CALL_SECONDS, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol on the browser itself.

        Raises:
            CallRefused, CallTimedOut: See ``Tab.call``.
            BrowserGone: The browser ended.
        """
        return self.browser.call(method, timeout=timeout, **params)

    def version(self) -> dict[str, str]:
        """Give what the browser says of itself: ``product``, ``protocolVersion``, ``jsVersion``, ``userAgent``."""
        return {name: str(value) for name, value in self.call("Browser.getVersion").items()}

    def alive(self) -> bool:
        """Say whether the browser answers, within a few seconds."""
        try:
            self.call("Browser.getVersion", timeout=_PROBE_SECONDS)
        except BrowserError:
            return False
        return True

    def extensions(self) -> list[Extension]:
        """Give the unpacked extensions, those that are switched off among them.

        Raises:
            CallRefused: The browser cannot say; it is too old.
        """
        listed = self.call("Extensions.getExtensions").get("extensions", [])
        return [Extension(one["id"], one["name"], one["version"], Path(one["path"]), one["enabled"]) for one in listed]

    def process_id(self) -> int:
        """Give the number of the browser's main process, as the browser itself counts processes."""
        for process in self.call("SystemInfo.getProcessInfo").get("processInfo", []):
            if process.get("type") == "browser":
                return int(process["id"])
        raise BrowserError(f"{self._name}: it does not say which process it is")

    def command_line(self) -> tuple[str, ...]:
        """Give the browser's program and flags as the system knows them, whoever started it.

        Raises:
            BrowserError: The system does not tell: it is not Linux, or the process is another user's or another container's.
        """
        number = self.process_id()
        try:
            told = Path(f"/proc/{number}/cmdline").read_bytes()
        except OSError as error:
            raise BrowserError(
                f"{self._name}: the flags of process {number} cannot be read ({error.strerror}): Linux tells its user"
            ) from None
        return tuple(part.decode("utf-8", "replace") for part in told.removesuffix(b"\0").split(b"\0"))

    def targets(self) -> list[Target]:
        """Give everything that can be connected to: pages, offscreen documents, workers."""
        listed = self.call("Target.getTargets").get("targetInfos", [])
        return [Target(one["targetId"], one["type"], one["url"]) for one in listed]

    def attach(self, target: Target | str) -> Tab:
        """Connect to a target.

        Raises:
            TabGone: There is no such target any more.
            BrowserGone: The browser ended.
        """
        target_id = target.id if isinstance(target, Target) else target
        name = f"tab {shown_text(target_id)[:8]}" if isinstance(target, str) else f"{target.type} {shown_text(target.url)}"
        connect = self._connections.Connection
        path = f"/devtools/page/{target_id}"
        try:
            connection = connect(self._address, path, name=name, error=TabGone, timeout=CALL_SECONDS)
        except TabGone:
            self.require_alive()
            raise
        tab = Tab(target_id, connection, self)
        for gone in [one for one in self._tabs if one.gone]:
            gone.close()
            self._tabs.remove(gone)
        self._tabs.append(tab)
        return tab

    def open_tab(self, url: str = "about:blank", *, timeout: float = CALL_SECONDS) -> Tab:
        """Open a page in a tab of its own, in front of the others. It may still be loading: see ``Tab.wait_until_loaded``.

        Its events of ``Page`` are listened to before the page is opened, so that none is missed.

        Raises:
            BrowserError: The page cannot be opened: ``net::ERR_CONNECTION_REFUSED``; the tab is closed again.
        """
        target_id = str(self.call("Target.createTarget", url="about:blank", timeout=timeout)["targetId"])
        tab = self.attach(target_id)
        try:
            tab.call("Page.enable", timeout=timeout)
            if url != "about:blank":
                failed = tab.call("Page.navigate", url=url, timeout=timeout).get("errorText")
                if failed:
                    raise BrowserError(f"{self._name}: {url} cannot be opened: {failed}")
        except BaseException:
            with suppress(BrowserError):
                self.close_tab(tab)
            raise
        return tab

    def close_tab(self, tab: Tab | Target | str) -> None:
        """Close a page, or end a worker, wait until it is gone, and let go of it. One that is gone already does no harm.

        Raises:
            CallTimedOut: It does not go.
            BrowserGone: The browser ended.
        """
        if isinstance(tab, Tab):
            tab.close()
            if tab in self._tabs:
                self._tabs.remove(tab)
        target_id = tab if isinstance(tab, str) else tab.id
        to_be_asked = time.monotonic()
        until = to_be_asked + _CLOSE_SECONDS
        while True:
            now = time.monotonic()
            if now >= to_be_asked:  # the browser forgets to close a page that is just being changed for another
                to_be_asked = now + _ASK_AGAIN_SECONDS
                with suppress(CallRefused):  # it is gone already
                    self.call("Target.closeTarget", targetId=target_id)
            if all(target.id != target_id for target in self.targets()):
                return
            if now > until:
                raise CallTimedOut(f"{self._name}: tab {target_id[:8]} is not closed after {_CLOSE_SECONDS:g} s")
            time.sleep(_LOOK_SECONDS)

    def require_alive(self) -> None:
        """Make sure that the browser answers.

        Raises:
            BrowserGone: It does not.
        """
        if not self.alive():
            raise BrowserGone(f"{self._name} is gone: {self.browser.gone or f'no answer in {_PROBE_SECONDS:g} s'}")

    def close(self) -> None:
        """Let go of the browser and of all tabs; the browser and its pages go on. Twice does no harm."""
        for tab in self._tabs:
            tab.close()
        self._tabs.clear()
        self.browser.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def find_socket(address: tuple[str, int], timeout: float) -> tuple[str, str]:
    """Ask a browser for the path of its own socket; the standard library asks no proxy, whatever the environment says.

    Args:
        address: Host and port of its debugging protocol.
        timeout: Seconds that the answer may take.

    Returns:
        The path, and what the browser calls itself.

    Raises:
        BrowserGone: Nobody listens there, or it is no browser.
        AdapterUnavailable: pychrome is not installed.
    """
    host, port = address
    asked = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        try:
            asked.connect()
        except OSError as error:
            raise BrowserGone(
                f"no browser listens on {host}:{port} ({error.strerror or error}): start it with"
                f" --remote-debugging-port={port}, or let it be started by launch="
            ) from None
        try:
            with connection_module().ends_after(timeout, asked.sock):
                asked.request("GET", "/json/version")
                with asked.getresponse() as answer:  # one that ends with its connection keeps that open
                    told = json.loads(answer.read(_MAX_VERSION_BYTES))
            matched = _SOCKET_PATH.fullmatch(told["webSocketDebuggerUrl"])
        except (OSError, http.client.HTTPException, ValueError, RecursionError, KeyError, TypeError) as error:
            why = str(error) if isinstance(error, TimeoutError) else f"no /json/version ({type(error).__name__})"
            raise BrowserGone(f"what listens on {host}:{port} is no browser that can be driven: {why}") from None
        if matched is None:
            raise BrowserGone(f"what listens on {host}:{port} is no browser: it has no browser socket")
        return matched[1], str(told.get("Browser", ""))
    finally:
        asked.close()


def connection_module() -> ModuleType:
    """Import what needs pychrome.

    Raises:
        AdapterUnavailable: It is not installed.
    """
    for package in ("websocket", "pychrome"):
        import_package(package, INSTALL)
    return import_package("pytest_benchbench.browser.connection", INSTALL)
