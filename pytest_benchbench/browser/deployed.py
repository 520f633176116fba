"""A browser with the extension in it: started or found, checked, set up, watched, and ready to be shown waves."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pytest_benchbench.adapters.base import AnswersWithdrawn
from pytest_benchbench.browser.checks import ProfileState, profile_state, provider_fault, recorded_flags, require_extension
from pytest_benchbench.browser.contract import ContractError, Ready, read_record, ready_of
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.errors import BrowserError, BrowserGone, CheckFailed, LaunchFailed
from pytest_benchbench.browser.flags import Runtime
from pytest_benchbench.browser.image_server import ImageServer
from pytest_benchbench.browser.installed import find_browser
from pytest_benchbench.browser.launching import LaunchedBrowser, launch_browser
from pytest_benchbench.browser.netlog import NetLogError, Sighting
from pytest_benchbench.browser.network_capture import CapturedRequest, NetworkCapture
from pytest_benchbench.browser.profile import LoadedProfile
from pytest_benchbench.browser.profile_check import check_syntax
from pytest_benchbench.browser.profile_steps import run_setup
from pytest_benchbench.browser.tab import CALL_SECONDS, Tab
from pytest_benchbench.browser.traffic_log import TrafficLog
from pytest_benchbench.browser.waves import Reading, Seen, run_wave, wait_until_ready

_SHOWN_REQUESTS = 3

_QUIET_S = 0.2
"""How long after a wave requests are still waited for, seconds: what is sent off with an answer comes right behind it."""

_MARK_AGAIN_S = 0.05
"""How long a request is waited for in the log until it is made again, seconds: the browser writes some events at a time."""

_LOGS = 1000
"""Browsers of one run that may write a log."""


class OutsideRequest(BrowserError, AnswersWithdrawn):  # noqa: N818 - named for what happened
    """The extension, or a page, asked for something outside of loopback and of the extension itself."""


class TrafficUnknown(BrowserError, AnswersWithdrawn):  # noqa: N818 - named for what happened
    """What the browser requests is not known: it could not be watched, or its log tells nothing."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which browser, with what in it.

    Attributes:
        extension: The folder of the unpacked extension.
        port: Debugging port of a browser that runs; or
        launch: name or path of one that is started.
        runtime: What the extension's model is expected to run on; ``None`` expects nothing.
        profile: How an extension is read that does not keep the contract.
        timeout: For each wave, and for the extension to be ready, seconds.
        net_log: A file that gets the whole log of a browser that is started; numbers are added for further ones.
        warm: Whether a running browser's profile is said to be used.
    """

    extension: Path
    port: int | None
    launch: str | None
    runtime: Runtime | None
    profile: LoadedProfile | None
    timeout: float
    net_log: Path | None
    warm: bool


class DeployedExtension:
    """An extension in a browser. Nothing of what was started is left after ``close``.

    Args:
        wanted: Which browser, with what in it.

    Attributes:
        ready: What the extension says about itself.
        known: What is known of each row without the extension's saying so, by the contract's names.
        profile: Whether the browser's profile was fresh.
        product: What the browser calls itself, with its version.
        flags: With which it runs, local paths left out.

    Raises:
        AdapterUnavailable: No browser, or a package is missing.
        BrowserError: The browser cannot be started, reached or watched; it is not the one that was asked for; the extension
            cannot be set up, or is not ready in time. What was requested meanwhile is judged with the first wave.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._reading = Reading.of(wanted.profile.profile if wanted.profile else None)
        self._launched: LaunchedBrowser | None = None
        self._marking: Tab | None = None  # an empty tab, which stays: opening one costs more than a request
        with ExitStack() as opening:
            self._open(opening)
            self._held = opening.pop_all()

    def _open(self, opening: ExitStack) -> None:
        wanted = self._wanted
        if wanted.launch is not None:
            browser = find_browser(wanted.launch)
            log = None if wanted.net_log is None else _free_log(wanted.net_log)
            self._launched = opening.enter_context(
                launch_browser(browser.executable, extension=wanted.extension, runtime=wanted.runtime or "wasm", net_log=log)
            )
            port = self._launched.port
        else:
            assert wanted.port is not None
            port = wanted.port
        # connected to before it is watched: whoever is no browser is told so in the endpoint's words
        self._endpoint = opening.enter_context(Endpoint(port))
        self._capture = opening.enter_context(NetworkCapture(port))
        self._server = opening.enter_context(ImageServer())
        self.product = self._endpoint.product
        extension = require_extension(self._endpoint, wanted.extension)
        self._origin = f"chrome-extension://{extension.id}"
        self.profile: ProfileState = (
            "fresh" if self._launched is not None else profile_state(self._endpoint, warm=wanted.warm)
        )
        self.flags = recorded_flags(self._endpoint.command_line())
        if wanted.profile is not None:
            with self._endpoint.open_tab() as tab:
                check_syntax(tab, wanted.profile)
                self._endpoint.close_tab(tab)
        if wanted.profile is not None and not wanted.warm:
            run_setup(self._endpoint, wanted.profile, extension_origin=self._origin)
        said = wait_until_ready(
            self._endpoint, self._server, self._reading, extension_origin=self._origin, timeout=wanted.timeout
        )
        self.ready = _ready(said) if said is not None else Ready(name=extension.name, version=extension.version)
        if (
            said is not None
            and wanted.runtime is not None
            and (fault := provider_fault(self.ready.provider, wanted.runtime))
        ):
            raise CheckFailed(f"{fault} ({self.product}; the flags of the browser and the extension's build decide)")
        self.known = _known(self.ready, wanted.profile)

    def show(self, images: Sequence[bytes]) -> list[Seen]:
        """Show one wave in one foreground tab, and wait until every image is settled.

        Args:
            images: 1 to ``MAX_WAVE`` files.

        Returns:
            What became of each, in their order.

        Raises:
            OutsideRequest: Something was requested that leaves the machine, now or earlier in this browser's life.
            TrafficUnknown: Something could not be watched.
        """
        seen = run_wave(
            self._endpoint,
            self._server,
            images,
            self._reading,
            extension_origin=self._origin,
            timeout=self._wanted.timeout,
        )
        lost: BrowserError | None = next((one.fault for one in seen if isinstance(one.fault, BrowserError)), None)
        try:
            time.sleep(_QUIET_S)
            self.check_network()
        except BrowserGone as error:
            lost = lost or error
        if lost is not None:  # what the page, or the browser, requested at last is not known
            for one in seen:
                one.record, one.fault = None, one.fault or lost
        return seen

    def check_network(self) -> None:
        """Look at what was requested up to now: by pages and offscreen documents, and by a started browser's log at all.

        Raises:
            OutsideRequest: Something leaves the machine.
            BrowserGone: The browser can no longer be watched.
            TrafficUnknown: A target could not be watched, or does not answer, or the log does not tell.
        """
        silent = self._capture.settle()
        self._refuse(self._capture.outside(self.allowed))
        if unwatched := self._capture.unwatched:
            raise TrafficUnknown(f"what {unwatched[0]} requests could not be watched")
        if self._launched is not None:
            self._bring_log_up_to_date(self._launched.traffic)
            self._check_log(self._launched.traffic)
        if silent:
            raise TrafficUnknown(f"what {silent[0]} requests is not known: it does not answer, it is busy or has crashed")

    def _bring_log_up_to_date(self, traffic: TrafficLog) -> None:
        """Have the browser request something until that is in its log: all that was requested before is in it, too."""
        mark = self._server.mark()
        until = time.monotonic() + CALL_SECONDS
        if self._marking is None or self._marking.gone is not None:
            self._marking = self._endpoint.open_tab()
        with self._reading_log(traffic):
            while True:
                self._marking.call("Page.navigate", url=mark)
                if traffic.reaches(mark, _MARK_AGAIN_S):
                    return
                if time.monotonic() >= until:
                    raise TrafficUnknown(f"what the browser sent is not known: its log is {CALL_SECONDS:g} s behind")

    def _check_log(self, traffic: TrafficLog) -> None:
        with self._reading_log(traffic):
            self._refuse(traffic.outside(self.allowed))

    @contextmanager
    def _reading_log(self, traffic: TrafficLog) -> Iterator[None]:
        try:
            yield
        except NetLogError as error:
            places = [] if traffic.copy is None else [traffic.copy]
            raise TrafficUnknown(f"what the browser sent is not known: {error}", *places) from None

    def _refuse(self, outside: Sequence[CapturedRequest | Sighting]) -> None:
        if outside:
            more = f" and {len(outside) - _SHOWN_REQUESTS} more" if len(outside) > _SHOWN_REQUESTS else ""
            raise OutsideRequest(f"it asked outside of this machine: {', '.join(map(str, outside[:_SHOWN_REQUESTS]))}{more}")

    @property
    def allowed(self) -> frozenset[str]:
        """The origins that may be asked: the server of the images, and the extension itself."""
        return frozenset({self._server.origin, self._origin})

    @property
    def process_id(self) -> int:
        """The browser's main process."""
        return self._endpoint.process_id()

    @property
    def alive(self) -> bool:
        """Whether the browser still answers."""
        return self._endpoint.alive()

    def close(self) -> None:
        """End all that was started, and let go of the rest. Twice does no harm.

        Raises:
            OutsideRequest: Something was requested that leaves the machine.
            TrafficUnknown: What was requested is not known.
        """
        try:
            if self.alive:
                self.check_network()
        except BrowserGone:  # with a log, the log tells
            pass
        finally:
            self._held.close()
        if self._launched is not None:  # which has ended: its log has all
            self._check_log(self._launched.traffic)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _ready(said: str) -> Ready:
    try:
        return ready_of(read_record(said))
    except ContractError as error:
        raise CheckFailed(f"what the extension says about itself breaks the contract: {error}") from None


def _known(ready: Ready, profile: LoadedProfile | None) -> dict[str, str]:
    known = {} if profile is None else profile.known()
    for name in ("modelSha256", "preprocessingVersion"):
        if (value := getattr(ready, name)) is not None:
            known[name] = value
    return known


def _free_log(path: Path) -> Path:
    """Find a name that is free: a run may start more than one browser, and two would overwrite each other's log."""
    for number in range(1, _LOGS):
        numbered = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        if not os.path.lexists(numbered):
            return numbered
    raise LaunchFailed(f"{path}: {_LOGS - 1} logs of this name exist already: name another one", path)
