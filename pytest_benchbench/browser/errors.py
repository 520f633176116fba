"""What can go wrong between this program and a browser, each told in one line."""

from __future__ import annotations

from pytest_benchbench.manifests.faults import shown_text

_LOOKED_AT = 4096
"""Characters of a message; a page may throw millions, of which the first few are shown."""


class BrowserError(Exception):
    """The browser, or something in it, did not do what was asked.

    Args:
        message: What, where and what to do. Whatever a page or a browser put into it is made one printable line.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shown_text(" ".join(message[:_LOOKED_AT].split())))


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
