"""Which browser is installed here, and of which version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.manifests.faults import shown_text

INSTALL = "apt-get install chromium"

NAMES = ("chromium", "chromium-browser", "chrome", "google-chrome", "chrome-for-testing", "google-chrome-stable")
"""Under which a browser is looked for on ``$PATH``, in this order."""

_WRAPPER = Path("/usr/bin/chromium")
_WRAPPED = Path("/usr/lib/chromium/chromium")
"""Debian's program itself, and the script around it, which adds flags and keys of its own."""

_VERSION_SECONDS = 30.0

_VERSION = re.compile(r"\b\d+(?:\.\d+){1,3}\b")


@dataclass(frozen=True, slots=True)
class InstalledBrowser:
    """A browser on this machine.

    Attributes:
        executable: The program.
        version: As it says, ``156.0.8078.108``.
    """

    executable: Path
    version: str


def find_browser(wanted: str | None = None) -> InstalledBrowser:
    """Find a browser, and ask it for its version.

    Args:
        wanted: A path, or a name that is looked up on ``$PATH``; ``None`` takes the first of ``NAMES`` that is there.

    Raises:
        AdapterUnavailable: There is none, or what is there is no browser.
    """
    executable = _locate(wanted)
    return InstalledBrowser(executable, _version(executable))


def _locate(wanted: str | None) -> Path:
    for name in NAMES if wanted is None else (wanted,):
        found = _on_path(name)
        if found is not None:
            return found
    if wanted is None:
        raise AdapterUnavailable("no Chromium and no Chrome is installed", INSTALL)
    raise AdapterUnavailable(f"there is no browser {shown_text(repr(Path(wanted).name or wanted))}", INSTALL)


def _on_path(name: str) -> Path | None:
    found = shutil.which(os.path.expanduser(name))  # noqa: PTH111 - a path is only checked, and a Path would make ./x a name
    if (name == NAMES[0] if found is None else Path(found) == _WRAPPER) and os.access(_WRAPPED, os.X_OK):
        return _WRAPPED
    return None if found is None else Path(found).absolute()


def _version(executable: Path) -> str:
    try:
        asked = subprocess.run(  # noqa: S603 - the user's own choice of a browser, and no shell
            [executable, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = "it does not answer" if isinstance(error, subprocess.TimeoutExpired) else error.strerror or str(error)
        raise AdapterUnavailable(f"{shown_text(executable.name)} --version: {shown_text(why)}", INSTALL) from error
    said = asked.stdout.decode("utf-8", "replace")
    found = _VERSION.search(said)
    if asked.returncode != 0 or found is None:
        raise AdapterUnavailable(
            f"{shown_text(executable.name)} is no browser: --version exited {asked.returncode} without a version", INSTALL
        )
    return found.group()
