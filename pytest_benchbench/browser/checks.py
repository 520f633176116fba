"""Whether a browser is the one that was asked for: which extension, which profile, which flags, which provider."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Literal

from pytest_benchbench.browser.endpoint import Endpoint, Extension
from pytest_benchbench.browser.errors import BrowserError, BrowserGone, CallRefused, CheckFailed
from pytest_benchbench.browser.flags import Runtime
from pytest_benchbench.manifests.faults import shown_text

ProfileState = Literal["fresh", "warm"]
"""``fresh``: nobody used the profile before this browser; ``warm``: it was used, or nobody knows."""

METADATA = "metadata"
"""The provider of answers for which no model ran."""

_LOADING_SECONDS = 10.0
"""How long after its start a browser may need until it lists its extensions."""

_LOOK_SECONDS = 0.1

_SHOWN_EXTENSIONS = 3

_PROFILE_FLAG = "--user-data-dir="

_LOCAL_PATH = re.compile(r"(?<=[=,;])(?:file:/*)?(?:/|~|[A-Za-z]:[\\/])[^,;]*")

_CREDENTIALS = re.compile(r"(?<=://)[^/@,;]*@")

_START_FIELD = 19
"""Of ``/proc/PID/stat``, counted behind the name of the program: clock ticks from the boot to the start."""


def require_extension(endpoint: Endpoint, folder: Path, *, timeout: float = _LOADING_SECONDS) -> Extension:
    """Make sure that one unpacked extension is loaded and enabled, and that it is the one of a folder.

    Args:
        endpoint: The browser.
        folder: What was built, with its ``manifest.json``.
        timeout: Seconds until the browser has to list it.

    Raises:
        CheckFailed: None is loaded, several are, another one is, it is switched off, or the browser does not tell.
    """
    until = time.monotonic() + timeout
    while True:
        try:
            loaded = endpoint.extensions()
        except CallRefused as error:
            raise CheckFailed(
                f"the browser ({endpoint.product}) does not list its extensions, take a newer one: {error}"
            ) from None
        if loaded or time.monotonic() > until:
            break
        time.sleep(_LOOK_SECONDS)
    if not loaded:
        raise CheckFailed(
            f"no unpacked extension is loaded: start the browser with --load-extension={folder}; is its manifest valid?",
            folder,
        )
    if len(loaded) > 1:
        named = ", ".join(f"{one.name} ({one.path})" for one in sorted(loaded, key=lambda one: one.path)[:_SHOWN_EXTENSIONS])
        more = "" if len(loaded) <= _SHOWN_EXTENSIONS else ", ..."
        raise CheckFailed(
            f"{len(loaded)} unpacked extensions are loaded, {named}{more}: leave only {folder}",
            folder,
            *(one.path for one in loaded),
        )
    (only,) = loaded
    if only.path == Path():
        raise CheckFailed(
            f"the browser does not say where its extension {only.name} lies: its locale has no letters for the name;"
            " start it under LC_ALL=C.UTF-8"
        )
    if not _same_folder(only.path, folder):
        raise CheckFailed(
            f"the unpacked extension is {only.name} of {only.path}, another folder than {folder}", only.path, folder
        )
    if not only.enabled:
        raise CheckFailed(
            f"the extension {only.name} of {folder} is switched off: enable it, or see why the browser refused it", folder
        )
    return only


def profile_state(endpoint: Endpoint, *, warm: bool = False) -> ProfileState:
    """Make sure that nobody used the browser's profile before it, or that it is said to be warm.

    A profile is fresh if everything at its top was written after the browser's process had started. That is looked up in
    the folder that the browser's own flags name.

    Args:
        endpoint: The browser.
        warm: Whether the user says that the profile was used; nothing is looked up then.

    Raises:
        CheckFailed: It was used, or that cannot be found out; and nobody said so.
    """
    if warm:
        return "warm"
    remedy = "say warm=true, or start the browser with a new --user-data-dir"
    try:
        flags = endpoint.command_line()
        number = endpoint.process_id()
    except BrowserGone:
        raise
    except BrowserError as error:
        raise CheckFailed(f"{error}; so whether its profile is fresh cannot be found out: {remedy}") from None
    named = [flag.removeprefix(_PROFILE_FLAG) for flag in flags if flag.startswith(_PROFILE_FLAG)]
    if not named:
        raise CheckFailed(f"the browser runs on its user's own profile: {remedy}")
    profile = Path(named[-1])
    try:
        started = _started(number)
        entries = os.scandir(Path(f"/proc/{number}/cwd") / profile)  # an absolute one stays what it is
        oldest = min((entry.stat(follow_symlinks=False).st_mtime, entry.name) for entry in entries)
    except (OSError, ValueError, IndexError) as error:
        raise CheckFailed(
            f"{profile}: whether the profile is fresh cannot be found out ({type(error).__name__}): {remedy}", profile
        ) from None
    if oldest[0] < started:
        raise CheckFailed(
            f"{profile}: the profile was used before this browser was started ({oldest[1]} is older): {remedy}", profile
        )
    return "fresh"


def recorded_flags(command_line: tuple[str, ...]) -> tuple[str, ...]:
    """Give the flags of a browser for the evidence: without its program and its pages, local paths and passwords left out.

    ``--user-data-dir=/home/me/profile`` becomes ``--user-data-dir=(path)``.
    """
    flags = [flag for flag in command_line[1:] if flag.startswith("-")]
    return tuple(shown_text(_CREDENTIALS.sub("", _LOCAL_PATH.sub("(path)", flag))) for flag in flags)


def provider_fault(provider: str | None, runtime: Runtime) -> str | None:
    """Say in one line what is wrong with the provider of an answer; ``None`` if it is the expected one.

    Answers for which no model ran, ``METADATA``, are none of it.
    """
    if provider in (METADATA, runtime):
        return None
    if provider is None:
        return f"the extension does not say what it ran on, expected {runtime}"
    return f"the extension ran on {shown_text(provider)}, expected {runtime}"


def _same_folder(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _started(number: int) -> float:
    """Give the time at which a process was started, in seconds since the epoch, early by at most a tick and a second."""
    fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    return time.time() - uptime + int(fields[_START_FIELD]) / os.sysconf("SC_CLK_TCK") - 1.0
