"""One tab, extension page or worker of a browser: calls that end in time, and what happened there to be read outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pytest_benchbench.browser.errors import CallRefused, CallTimedOut, ScriptFailed, TabGone
from pytest_benchbench.manifests.faults import shown_text

if TYPE_CHECKING:
    from pytest_benchbench.browser.connection import Connection
    from pytest_benchbench.browser.endpoint import Endpoint

CALL_SECONDS = 30.0
"""How long a call may take where nothing else is said: long for a browser, short for who waits."""

_LOOK_SECONDS = 0.05

_IS_LOADED = "document.readyState === 'complete' && location.href !== 'about:blank'"

_SCRIPT_SHARE = 0.9
"""Of the time for a script after which it is stopped, so that the answer is there in time."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a target.

    Attributes:
        method: ``Network.requestWillBeSent``.
        params: What is said about it.
        session: Id of the flat session in which it happened; ``None`` for the target itself.
    """

    method: str
    params: dict[str, Any]
    session: str | None = None


@dataclass(frozen=True, slots=True)
class World:
    """A JavaScript world of a page: the page's own, or the isolated one of an extension's content scripts.

    Attributes:
        key: By which the browser knows it, never used twice.
        origin: ``http://127.0.0.1:1234`` or ``chrome-extension://<id>``.
        isolated: Whether it is that of content scripts.
        frame: Id of the frame.
    """

    key: str
    origin: str
    isolated: bool
    frame: str


class Tab:
    """A target of the browser, connected to.

    Made by ``Endpoint.open_tab`` and ``Endpoint.attach``. May be used from several threads. ``close`` only lets go of the
    target; ``Endpoint.close_tab`` also closes it.

    Attributes:
        id: Of the target.
    """

    def __init__(self, target_id: str, connection: Connection, endpoint: Endpoint) -> None:
        self.id = target_id
        self._connection = connection
        self._endpoint = endpoint

    def call(
        self, method: str, /, *, timeout: float = CALL_SECONDS, session: str | None = None, **params: Any
    ) -> dict[str, Any]:
        """Call a method of the protocol.

        Args:
            method: ``Page.navigate``.
            timeout: Seconds until the answer has to be there.
            session: Id of a flat session on this connection; ``None`` for the target itself.
            params: Of the method. A parameter of the name ``timeout`` cannot be given; see ``evaluate``.

        Returns:
            The result.

        Raises:
            CallRefused: The browser answered with an error.
            CallTimedOut: There was no answer in time.
            TabGone: The tab was closed, its page crashed, or the connection was lost, before or meanwhile.
            BrowserGone: So it was because the browser ended.
        """
        with self._telling_apart():
            return self._connection.request(method, params, timeout=timeout, session=session)

    def evaluate(self, expression: str, *, world: World | None = None, timeout: float = CALL_SECONDS) -> Any:
        """Evaluate JavaScript, and wait for the promise if it gives one.

        A script that does not end is stopped, so that the page can be used again.

        Args:
            expression: What is evaluated.
            world: In which; ``None`` is the page's own.
            timeout: Seconds.

        Returns:
            Its value, as JSON carries it; numbers read back exactly. ``undefined`` is ``None``. Inside of objects and
            arrays, what JSON does not carry is what ``JSON.stringify`` makes of it: NaN is ``None``.

        Raises:
            ScriptFailed: It threw, its promise was rejected, or its value is none that JSON carries (NaN, functions).
            CallRefused: The world is gone, or its value cannot be carried at all: it holds itself, it is a symbol.
            CallTimedOut: It did not end in time.
            TabGone: See ``call``.
        """
        params = {
            "expression": expression,
            "returnByValue": True,
            "awaitPromise": True,
            "timeout": timeout * _SCRIPT_SHARE * 1000,
            **({} if world is None else {"uniqueContextId": world.key}),
        }
        began = monotonic()
        try:
            with self._telling_apart():
                answer = self._connection.request("Runtime.evaluate", params, timeout=timeout)
        except CallRefused as error:  # all that is said of a script that was stopped
            if "Internal error" in str(error) and monotonic() - began >= timeout * _SCRIPT_SHARE:
                raise CallTimedOut(
                    f"script {_place(expression)}: it did not end in {timeout:g} s, and was stopped"
                ) from None
            raise
        return _value(answer, expression)

    def worlds(self, *, timeout: float = CALL_SECONDS) -> list[World]:
        """Give the worlds that the page has now; the first call of a tab starts listening to their coming and going.

        Raises:
            CallTimedOut, TabGone: See ``call``.
        """
        with self._telling_apart():
            return self._connection.worlds(timeout)

    def events(self) -> list[Event]:
        """Take what happened since the last time, in its order. To be judged by the caller: nothing listens.

        Raises:
            BrowserError: More happened than is kept; the rest is lost.
        """
        return self._connection.take_events()

    def wait_for(
        self, method: str, *, timeout: float = CALL_SECONDS, where: Callable[[dict[str, Any]], bool] = lambda params: True
    ) -> Event:
        """Take the first event of a kind that has happened or will happen, and leave the others for ``events``.

        Args:
            method: ``Network.requestWillBeSent``; its domain has to be enabled.
            timeout: Seconds.
            where: Which ones are meant, by their parameters.

        Raises:
            CallTimedOut: There was none in time.
            TabGone: There can be none any more.
        """
        with self._telling_apart():
            return self._connection.wait_for(method, where, timeout)

    def wait_until_loaded(self, *, timeout: float = CALL_SECONDS) -> None:
        """Wait until the page that was opened, other than ``about:blank``, and all it is made of are there.

        An event of loading does not tell: that of the ``about:blank`` with which a tab begins may come as late.

        Raises:
            CallTimedOut: It is not loaded in time.
            TabGone: See ``call``.
        """
        deadline = monotonic() + timeout
        while not self._is_loaded(max(deadline - monotonic(), _LOOK_SECONDS)):
            if monotonic() >= deadline:
                raise CallTimedOut(f"the page is not loaded after {timeout:g} s")
            sleep(_LOOK_SECONDS)

    def _is_loaded(self, timeout: float) -> bool:
        try:
            return bool(self.evaluate(_IS_LOADED, timeout=timeout))
        except CallTimedOut:  # its own scripts keep it busy, or the machine is slow
            return False

    @property
    def gone(self) -> str | None:
        """Why the tab cannot be used any more, in one line; ``None`` while it can."""
        return self._connection.gone

    def close(self) -> None:
        """Let go of the target: the connection is closed and its thread has ended. Twice does no harm."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _telling_apart(self) -> Iterator[None]:
        """Say that the browser is gone where that is why the tab is."""
        try:
            yield
        except TabGone:
            self._endpoint.require_alive()
            raise


def _value(answer: dict[str, Any], expression: str) -> Any:
    """Take the value out of an answer to ``Runtime.evaluate``, whose exceptions are part of the answer."""
    place = _place(expression)
    details = answer.get("exceptionDetails")
    if details is not None:
        thrown = details.get("exception", {})
        said = str(thrown.get("description") or thrown.get("value") or details.get("text") or "").splitlines()
        raise ScriptFailed(f"script {place}: {said[0] if said else 'an exception without a text'}")
    result = answer.get("result", {})
    special = result.get("unserializableValue")
    if special == "-0":
        return -0.0
    if special is not None or result.get("type") == "function":
        raise ScriptFailed(f"script {place}: its value, {special or 'a function'}, is none that JSON carries")
    return result.get("value")


def _place(expression: str) -> str:
    return repr(shown_text(" ".join(expression.split())[:60]))
