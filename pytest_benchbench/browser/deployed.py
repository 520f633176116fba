"""A browser with the extension in it: started or found, checked, set up, watched, and ready to be shown waves."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
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
from pytest_benchbench.browser.netlog import NetLogError, read_net_log
from pytest_benchbench.browser.network_capture import NetworkCapture
from pytest_benchbench.browser.profile import LoadedProfile
from pytest_benchbench.browser.profile_steps import run_setup
from pytest_benchbench.browser.waves import Reading, Seen, run_wave, wait_until_ready

_SHOWN_REQUESTS = 3

_QUIET_S = 0.2
"""How long after a wave requests are still waited for, seconds: what is sent off with an answer comes right behind it."""

_LOGS = 1000
"""Browsers of one run that may write a log."""


class OutsideRequest(BrowserError, AnswersWithdrawn):  # noqa: N818 - named for what happened
    """The extension, or a page, asked for something outside of loopback and of the extension itself."""


class TrafficUnknown(BrowserError, AnswersWithdrawn):  # noqa: N818 - named for what happened
    """The log by which the browser's traffic was to be judged tells nothing."""


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
        net_log: Where a browser that is started writes down its traffic; numbers are added for further ones.
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
            cannot be set up, or is not ready in time; or something was requested that leaves the machine.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._reading = Reading.of(wanted.profile.profile if wanted.profile else None)
        self._launched: LaunchedBrowser | None = None
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
            raise CheckFailed(f"{fault} ({self.product}; the flags of the browser decide)")
        self.known = _known(self.ready, wanted.profile)
        self.check_network()

    def show(self, images: Sequence[bytes]) -> list[Seen]:
        """Show one wave in one foreground tab, and wait until every image is settled.

        Args:
            images: 1 to ``MAX_WAVE`` files.

        Returns:
            What became of each, in their order.

        Raises:
            OutsideRequest: Something was requested that leaves the machine, now or earlier in this browser's life.
            CheckFailed: Something could not be watched.
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
        """Look at what was requested up to now.

        Raises:
            OutsideRequest: Something leaves the machine.
            BrowserGone: The browser can no longer be watched.
            CheckFailed: A target could not be watched, or does not answer.
        """
        silent = self._capture.settle()
        self._refuse([str(request) for request in self._capture.outside({self._server.origin, self._origin})])
        if unwatched := self._capture.unwatched:
            raise CheckFailed(f"what {unwatched[0]} requests could not be watched")
        if silent:
            raise CheckFailed(f"what {silent[0]} requests is not known: it does not answer, it is busy or has crashed")

    def _refuse(self, outside: list[str]) -> None:
        if outside:
            more = f" and {len(outside) - _SHOWN_REQUESTS} more" if len(outside) > _SHOWN_REQUESTS else ""
            raise OutsideRequest(f"it asked outside of this machine: {', '.join(outside[:_SHOWN_REQUESTS])}{more}")

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
            OutsideRequest: Something was requested that leaves the machine, by what the pages did or by the browser's log,
                which also knows what its service workers and WebRTC did.
            TrafficUnknown: There is to be a log, and it cannot be judged.
        """
        try:
            if self.alive:
                self.check_network()
        except BrowserGone:  # with a log, the log tells
            pass
        finally:
            self._held.close()
        if self._launched is not None and (log := self._launched.net_log) is not None:
            try:
                outside = read_net_log(log).outside({self._server.origin, self._origin})
            except NetLogError as error:
                raise TrafficUnknown(f"what the browser sent is not known: {error}") from None
            self._refuse([str(seen) for seen in outside])

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
    raise LaunchFailed(f"{path}: {_LOGS - 1} logs of this name exist already: name another one")
