"""What can go wrong between this program and a browser, each told in one line."""

from __future__ import annotations

from pathlib import Path

from pytest_benchbench.manifests.faults import shown_text

_LOOKED_AT = 4096
"""Characters of a message; a page may throw millions, of which the first few are shown."""


class BrowserError(Exception):
    """The browser, or something in it, did not do what was asked.

    Args:
        message: What, where and what to do. Whatever a page or a browser put into it is made one printable line.
        places: Local paths in it, of which only the last part is said: what an error says gets into the evidence. The whole
            message is a note of the exception, which a terminal shows.
    """

    def __init__(self, message: str, *places: Path) -> None:
        said = message
        for place in sorted(map(str, places), key=len, reverse=True):  # one may be the beginning of another
            said = said.replace(place, Path(place).name or place)
        super().__init__(_one_line(said))
        if said != message:
            self.add_note(_one_line(message))


def _one_line(text: str) -> str:
    return shown_text(" ".join(text[:_LOOKED_AT].split()))


class LaunchFailed(BrowserError):  # noqa: N818 - named for what happened
    """A browser could not be started; nothing of it is left."""


class BrowserGone(BrowserError):  # noqa: N818 - named for what happened
    """Nobody answers at the browser's port, or the browser ended."""


class TabGone(BrowserError):  # noqa: N818 - named for what happened
    """The tab was closed, its page crashed, or the connection to it was lost; the browser itself may live on."""


class CallTimedOut(BrowserError):  # noqa: N818 - named for what happened
    """There was no answer in time; whether what was asked for happened is not known."""


class CallRefused(BrowserError):  # noqa: N818 - named for what happened
    """The browser answered a call with an error."""


class ScriptFailed(BrowserError):  # noqa: N818 - named for what happened
    """A script in a page threw an exception, or its promise was rejected."""


class CheckFailed(BrowserError):  # noqa: N818 - named for what happened
    """The browser is not the one that was asked for: another extension, another profile, another provider."""
