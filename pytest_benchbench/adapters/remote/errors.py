"""Why a vendor gave no usable answer. Their names and messages stand in the evidence: never a key, never the text."""

from __future__ import annotations


class RemoteError(Exception):
    """There is no usable answer about this sample; one line for people."""


class NotSent(RemoteError):  # noqa: N818 - its name is what people read in a row
    """Nothing of the question reached the vendor, so nothing was billed.

    Args:
        message: One line.
        lasting: Whether another try would fail in the same way, as with a certificate that is not trusted.
    """

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting


class AnswerLost(RemoteError):  # noqa: N818 - likewise
    """The question was sent, and no whole answer came back in time: it may have been billed."""


class VendorRefusal(RemoteError):  # noqa: N818 - likewise
    """The vendor answered with another status than success, and bills nothing unless it broke over the call.

    Args:
        message: One line.
        status: The HTTP status.
        asked_wait: Seconds after which the vendor says that it can be asked again.
    """

    def __init__(self, message: str, status: int, asked_wait: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.asked_wait = asked_wait


class UnreadableAnswer(RemoteError):  # noqa: N818 - likewise
    """The vendor's answer has not the documented shape. The message shows the names that it has, not what they hold."""


class OtherModel(RemoteError):  # noqa: N818 - likewise
    """The vendor says that another model answered than the one that was asked for."""


class NoFurtherCalls(RemoteError):  # noqa: N818 - likewise
    """Nothing was asked: earlier answers were paid for and could not be used, and nothing says that the next one can."""
