"""One wave: images shown in one foreground tab until the extension is done with each of them, or the time is over."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pytest_benchbench.browser.contract import ContractError, cleaned, read_record
from pytest_benchbench.browser.errors import BrowserError, CallRefused, CallTimedOut, CheckFailed, ScriptFailed, TabGone
from pytest_benchbench.browser.image_server import ImageServer, WavePage
from pytest_benchbench.browser.page_script import (
    CONTRACT_READY,
    CONTRACT_SOURCE,
    SeenImage,
    SeenPage,
    attribute_script,
    look_script,
    seen_page,
    standing_script,
)
from pytest_benchbench.browser.profile import Condition, Page, Profile, Source
from pytest_benchbench.browser.tab import CALL_SECONDS

if TYPE_CHECKING:
    from pytest_benchbench.browser.endpoint import Endpoint
    from pytest_benchbench.browser.tab import Tab, World

MAX_WAVE: Final = 60
"""Images in one wave: an extension's queue holds 64 jobs."""

LOOK_S: Final = 0.05
"""Between two looks at the page, seconds: an answer's wall time is too long by at most this, and one look."""

SILENCE_S: Final = 5.0
"""How long nothing may happen until an image that the page cannot show, or that is too small, counts as left alone."""


_CRASH_S: Final = 5.0
"""How long ending the process of a page may take, seconds."""

_PART_S: Final = 10.0
"""How long what listens for the end of a page may take, seconds."""

_PART: Final = """(async () => {
  for (let looks = 0; looks < 20 && !document.hidden; looks++) await new Promise(done => setTimeout(done, 50));
  for (const kind of ["beforeunload", "pagehide", "unload"]) dispatchEvent(new PageTransitionEvent(kind));
})()"""


@dataclass(frozen=True, slots=True)
class Reading:
    """How images are shown, and how answers are read off a page.

    Attributes:
        sources: Where answers stand.
        read: Makes a record of the contract of what stands there; ``None`` while the extension is not done. Raises
            ``ContractError``.
        page: How images are shown.
        ready: What stands on a page once the extension works; ``None`` for the contract's own attribute.
        failure: What stands there once it has failed.
        ignored_below: Shorter sides below this are left alone by the extension, pixels.
        by_contract: Whether the extension keeps the contract.
    """

    sources: Mapping[str, Source]
    read: Callable[[Mapping[str, Any]], dict[str, Any] | None]
    page: Page = field(default_factory=Page)
    ready: Condition | None = None
    failure: Condition | None = None
    ignored_below: int | None = None
    by_contract: bool = True

    @classmethod
    def of(cls, profile: Profile | None) -> Reading:
        """Read as a profile says, or as the contract says without one."""
        if profile is None:
            return cls({"result": CONTRACT_SOURCE}, _read_contract)
        return cls(
            profile.sources,
            profile.record,
            profile.page,
            profile.ready,
            profile.failure,
            profile.ignored_below,
            by_contract=False,
        )

    @property
    def needs_world(self) -> bool:
        """Whether answers stand where only the extension's own world sees them."""
        return not self.by_contract and any(source.expression is not None for source in self.sources.values())


def _read_contract(values: Mapping[str, Any]) -> dict[str, Any] | None:
    text = values.get("result")
    if text is not None and not isinstance(text, str):
        raise ContractError("the result is no text")
    return None if text is None else read_record(text)


@dataclass(slots=True)
class Seen:
    """What became of one image of a wave.

    Attributes:
        record: What the extension said, by the contract's names; or, without ``wall_ms``, what had to be said for it.
        fault: Why there is no record.
        wall_ms: From the wave's activation to the answer, milliseconds.
        width: Natural width on the page, pixels; 0 where it was not shown.
        height: Natural height.
        hidden: Whether the tab was found in the background while the answer was awaited; times are longer then.
        threw: What the last expression of the profile that failed said, behind the name of its source.
    """

    record: dict[str, Any] | None = None
    fault: Exception | None = None
    wall_ms: float | None = None
    width: int = 0
    height: int = 0
    hidden: bool = False
    threw: str | None = None

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is awaited."""
        return self.record is not None or self.fault is not None


def run_wave(
    endpoint: Endpoint,
    server: ImageServer,
    images: Sequence[bytes],
    reading: Reading,
    *,
    extension_origin: str,
    timeout: float,
) -> list[Seen]:
    """Show images in one tab in front, and wait until each has a terminal status.

    No error of the browser leaves this function: it is the fault of each image that had no answer yet.

    Args:
        endpoint: The browser.
        server: Serves the images.
        images: At most ``MAX_WAVE`` files.
        reading: How answers are read.
        extension_origin: ``chrome-extension://ID``.
        timeout: Seconds until what has no answer is ``timeout``.

    Returns:
        What became of each, in their order; everything is settled.

    Raises:
        ValueError: There are too many images, or none.
    """
    if not 1 <= len(images) <= MAX_WAVE:
        raise ValueError(f"a wave has 1 to {MAX_WAVE} images, not {len(images)}")
    wave = _Wave(images, reading, server, extension_origin, timeout)
    try:
        wave.run(endpoint)
    except BrowserError as error:
        wave.fail(error)
    return wave.seen


def wait_until_ready(
    endpoint: Endpoint, server: ImageServer, reading: Reading, *, extension_origin: str, timeout: float
) -> str | None:
    """Open a page without images, and wait until the extension says there that it can work.

    Returns:
        What an extension that keeps the contract says about itself, JSON; ``None`` for another one.

    Raises:
        CheckFailed: It does not say so in time, or that it has failed.
        BrowserError: The browser does not do what is asked.
    """
    page = server.show((), box=reading.page.box)
    deadline = time.monotonic() + timeout
    with _opened(endpoint, page.url) as opened:
        while True:
            if opened.evaluate("location.href") == page.url:
                failed = opened.evaluate(standing_script(reading.failure)) if reading.failure else None
                if failed is not None:
                    raise CheckFailed(f"the extension says on a page of images: {cleaned(failed)}")
                said = _readiness(opened, reading, extension_origin)
                if said is not None:
                    return said if reading.by_contract else None
            if time.monotonic() >= deadline:
                break
            time.sleep(LOOK_S)
    wanted = f"the attribute {CONTRACT_READY} of <html>" if reading.by_contract else "what the profile calls ready"
    raise CheckFailed(
        f"the extension did not show {wanted} within {timeout:g} s: see that its content script runs on http://127.0.0.1/"
    )


def _readiness(tab: Tab, reading: Reading, extension_origin: str) -> str | None:
    """Give what stands where readiness is shown; ``None`` while nothing does."""
    if not reading.by_contract and reading.ready is None:
        return "" if not reading.needs_world or _world_of(tab, extension_origin) else None
    script = attribute_script(CONTRACT_READY) if reading.ready is None else standing_script(reading.ready)
    said = tab.evaluate(script)
    return None if said is None else str(said)


class _opened:  # noqa: N801 - a context manager, used as a function
    """Open a page in a tab in front, and close the tab afterwards whatever happened.

    Attributes:
        since: When the page was opened, on the monotonic clock.
    """

    def __init__(self, endpoint: Endpoint, url: str) -> None:
        self._endpoint = endpoint
        self._url = url

    def __enter__(self) -> Tab:
        self._tab = self._endpoint.open_tab("about:blank")
        try:
            self._tab.worlds()
            self._tab.call("Page.bringToFront")
            self.since = time.monotonic()
            answer = self._tab.call("Page.navigate", url=self._url)
            if error := answer.get("errorText"):
                raise TabGone(f"{self._url}: cannot be opened: {error}")
        except BaseException:
            self._close()
            raise
        return self._tab

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, CallTimedOut):  # a page that is kept busy does not let itself be closed, and goes on
            with suppress(BrowserError):
                self._tab.call("Page.crash", timeout=_CRASH_S)
        elif error is None:
            with suppress(BrowserError):  # it is gone already
                self._part()
        self._close()

    def _part(self) -> None:
        """Let what listens for the end of the page act now: what a page requests while it is closed, nobody is told."""
        front = self._endpoint.open_tab()
        try:
            self._tab.evaluate(_PART, timeout=_PART_S)
        finally:
            self._endpoint.close_tab(front)

    def _close(self) -> None:
        with suppress(BrowserError):  # it is gone already
            self._endpoint.close_tab(self._tab)


def _world_of(tab: Tab, extension_origin: str) -> World | None:
    worlds = [world for world in tab.worlds() if world.isolated and world.origin == extension_origin]
    return worlds[0] if worlds else None


class _Wave:
    def __init__(
        self, images: Sequence[bytes], reading: Reading, server: ImageServer, extension_origin: str, timeout: float
    ) -> None:
        self.seen = [Seen() for _ in images]
        self._page: WavePage = server.show(images, box=reading.page.box)
        self._reading = reading
        self._server = server
        self._origin = extension_origin
        self._timeout = timeout
        self._moved = time.monotonic()
        self._deadline = self._moved + timeout
        self._brought = -1
        self._brought_at = -math.inf

    @property
    def _pending(self) -> list[int]:
        return [place for place, seen in enumerate(self.seen) if not seen.is_settled]

    def run(self, endpoint: Endpoint) -> None:
        opened = _opened(endpoint, self._page.url)
        with opened as tab:
            while self._pending:
                looked = self._look(tab)
                now = time.monotonic()
                if looked is not None:
                    self._take(looked, (now - opened.since) * 1e3)
                    if not looked.visible:
                        tab.call("Page.bringToFront")
                    self._give_up_on_silence(looked, now)
                if now >= self._deadline:
                    self._end_of_time()
                if self._pending:
                    time.sleep(LOOK_S)

    def fail(self, error: BrowserError) -> None:
        for place in self._pending:
            self.seen[place].fault = error

    def _left(self) -> float:
        """Give the seconds that a look may take: a page that is kept busy must not keep the wave beyond its time."""
        return min(CALL_SECONDS, max(self._deadline - time.monotonic(), 1.0))

    def _look(self, tab: Tab) -> SeenPage | None:
        """Look at the page once; ``None`` while it is not there yet, or its world was replaced meanwhile."""
        world = _world_of(tab, self._origin)
        if world is None and self._reading.needs_world:
            return None
        script = look_script(
            self._reading.sources, self._pending, failure=self._reading.failure, bring=self._next_to_bring()
        )
        try:
            page = seen_page(tab.evaluate(script, world=world, timeout=self._left()))
        except CallRefused:
            return None
        except (ScriptFailed, msgspec.DecodeError, TypeError) as error:
            raise TabGone(f"the page of images cannot be looked at: {error}") from None
        if page.address == "about:blank":
            return None
        if page.address != self._page.url:
            raise TabGone(f"the page of images was left for {page.address}")
        return page

    def _next_to_bring(self) -> int | None:
        """Say which image is to be brought into view now, one after the other as long as they have no answer."""
        now = time.monotonic()
        if not self._reading.page.scroll or (
            self._brought_at and now - self._brought_at < self._reading.page.dwell_ms / 1e3
        ):
            return None
        pending = self._pending
        self._brought = next((place for place in pending if place > self._brought), pending[0])
        self._brought_at = now
        return self._brought

    def _take(self, page: SeenPage, wall_ms: float) -> None:
        pending = set(self._pending)
        for image in page.images:
            if image.place not in pending:
                continue
            seen = self.seen[image.place]
            seen.width, seen.height = image.width, image.height
            seen.hidden = seen.hidden or not page.visible
            seen.threw = image.threw
            try:
                if image.too_long:
                    raise ContractError(f"what stands at {', '.join(image.too_long)} is too long")
                seen.record = self._reading.read(image.values)
            except ContractError as error:
                seen.fault = error
            if seen.is_settled:
                seen.wall_ms = wall_ms
                self._moved = time.monotonic()
        if page.failure is not None:
            for place in self._pending:
                self._say(place, "inference-error", f"the extension says: {page.failure}")

    def _give_up_on_silence(self, page: SeenPage, now: float) -> None:
        """Settle the images that the extension leaves alone, once nothing else is awaited and nothing has happened."""
        pending = set(self._pending)
        left = [image for image in page.images if image.place in pending]
        if now - self._moved < SILENCE_S or not all(image.is_broken or self._is_ignored(image) for image in left):
            return
        for image in left:
            if image.is_broken:
                self._say(image.place, "unsupported", "the browser cannot show it, and the extension says nothing about it")
            else:
                limit = self._reading.ignored_below
                self._say(image.place, "too-small", f"{image.width} x {image.height}: below {limit}, which is left alone")

    def _is_ignored(self, image: SeenImage) -> bool:
        limit = self._reading.ignored_below
        return limit is not None and image.complete and min(image.width, image.height) < limit

    def _end_of_time(self) -> None:
        for place in self._pending:
            fetches = self._server.fetches(self._page.images[place])
            said = (
                f"no answer within {self._timeout:g} s of the wave; fetched {fetches.page} times by the page, "
                f"{fetches.extension} times by the extension"
            )
            if threw := self.seen[place].threw:
                said += f"; the profile's expression of the source {threw}"
            self._say(place, "timeout", said)

    def _say(self, place: int, status: str, reason: str) -> None:
        self.seen[place].record = {"status": status, "reason": reason}
