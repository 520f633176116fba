"""Brings one question to a vendor: in its turn, again where that makes sense, and with an account of what may be billed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.remote.answers import vendor_message
from pytest_benchbench.adapters.remote.discretion import Credential, Discretion
from pytest_benchbench.adapters.remote.errors import AnswerLost, NotSent, RemoteError, VendorRefusal
from pytest_benchbench.adapters.remote.timekeeping import LONGEST_ASKED_WAIT, RateGate, Timekeeper
from pytest_benchbench.adapters.remote.wire import INSTALL, Reply, Wire

if TYPE_CHECKING:
    from tenacity import RetryCallState

TRIED_AGAIN = frozenset({429, 502, 503, 504})
"""Statuses that say: not now. 500 does not: it may be about this very text."""

GIVEN_UP_BETWEEN = frozenset({502, 504})
"""Statuses of a gateway that got no answer from behind it, where the call may have been taken, and billed."""

HINTS: Mapping[int, str] = {
    301: "redirects are not followed, a key would go with them",
    302: "redirects are not followed, a key would go with them",
    307: "redirects are not followed, a key would go with them",
    308: "redirects are not followed, a key would go with them",
    401: "the key was not accepted",
    402: "the account has no credits",
    403: "the key may not do this, or the call was stopped before it reached the vendor",
    404: "there is nothing at this address",
}


@dataclass(frozen=True, slots=True)
class Query:
    """One question.

    Attributes:
        url: Where to.
        headers: With the key in them.
        document: What is sent.
        repeatable: Whether the vendor takes a second such call for the same question: it may then follow a lost one.
    """

    url: str
    headers: Mapping[str, str | Credential]
    document: Mapping[str, Any]
    repeatable: bool = False


@dataclass(slots=True)
class Trip:
    """What became of one question so far.

    Attributes:
        requests: Calls made.
        waited: Seconds of waiting for a turn or between tries.
        lost: Whether an answer was lost that may be billed.
        under_way: Whether a call was sent whose end is not known.
        renewed: Whether a new token was taken for it.
    """

    requests: int = 0
    waited: float = 0.0
    lost: bool = False
    under_way: bool = False
    renewed: bool = False

    @property
    def may_be_billed(self) -> bool:
        """Whether the vendor may bill what was sent."""
        return self.lost or self.under_way


class Delivery:
    """Delivers questions to one vendor, from several threads.

    Args:
        vendor: Its name, for messages.
        wire: Makes the calls.
        gate: Says when.
        clock: The time.
        retries: Further tries of a call that the vendor did not take.
        discretion: What may be repeated of its words.
    """

    def __init__(
        self, vendor: str, wire: Wire, gate: RateGate, clock: Timekeeper, retries: int, discretion: Discretion
    ) -> None:
        try:
            import tenacity
        except ImportError as error:
            raise AdapterUnavailable(f"tenacity cannot be imported: {error}", INSTALL) from error
        self._tenacity = tenacity
        self._vendor = vendor
        self._wire = wire
        self._gate = gate
        self._clock = clock
        self._retries = retries
        self._discretion = discretion
        self._ended = threading.Event()

    def close(self) -> None:
        """End all waiting: a question that was not sent yet is not sent any more."""
        self._ended.set()

    def send(
        self,
        make: Callable[[], Query],
        trip: Trip,
        *,
        text: str = "",
        renew: Callable[[Query], None] | None = None,
        retried: Callable[[], None] | None = None,
    ) -> Reply:
        """Send a question until it is answered, refused for good, or tried often enough.

        A call that was sent and got no answer is sent again only if it is ``repeatable``.

        Args:
            make: Makes the question, anew for each try.
            trip: Is kept up to date, whatever happens.
            text: The sample, which messages must not repeat.
            renew: Is given a question whose token was refused, once: the next one is made with another.
            retried: Is told of each further try.

        Returns:
            A successful answer.

        Raises:
            NotSent, AnswerLost, VendorRefusal: There is none.
        """
        repeatable = False

        def once() -> Reply:
            nonlocal repeatable
            query = make()
            repeatable = query.repeatable
            try:
                return self._once(query, trip, text)
            except VendorRefusal as error:
                if error.status != 401 or renew is None or trip.renewed:
                    raise
            trip.renewed = True
            renew(query)
            return self._once(make(), trip, text)

        def worth_another(error: BaseException) -> bool:
            return _is_passing(error) or (repeatable and isinstance(error, AnswerLost))

        def before_sleep(_: RetryCallState) -> None:
            if retried is not None:
                retried()

        retrying = self._tenacity.Retrying(
            retry=self._tenacity.retry_if_exception(worth_another),
            stop=self._tenacity.stop_after_attempt(self._retries + 1),
            wait=self._wait_after,
            sleep=lambda seconds: self._wait(seconds, trip),
            before_sleep=before_sleep,
            reraise=True,
        )
        try:
            reply: Reply = retrying(once)
        except RemoteError as error:
            if trip.requests > 1:
                error.args = (f"{error} (call {trip.requests} of this question)",)
            raise
        return reply

    def _once(self, query: Query, trip: Trip, text: str) -> Reply:
        if (turn := self._gate.reserve(self._clock.monotonic())) > 0:
            self._wait(turn, trip)
        trip.requests += 1
        trip.under_way = True
        try:
            reply = self._wire.post(query.url, query.headers, query.document)
        except NotSent:
            trip.under_way = False
            raise
        except AnswerLost:
            trip.lost = True
            raise
        if 200 <= reply.status < 300:
            return reply
        trip.under_way = False
        if reply.status in GIVEN_UP_BETWEEN:
            trip.lost = True
        raise self._refusal(reply, text)

    def _refusal(self, reply: Reply, text: str) -> VendorRefusal:
        """Say why there is no answer; a vendor that asks to be left alone for a while is, by all threads."""
        try:
            phrase = f" {HTTPStatus(reply.status).phrase}"
        except ValueError:
            phrase = ""
        said, hint = vendor_message(reply, self._discretion, text), HINTS.get(reply.status)
        parts = [f"{self._vendor} answered {reply.status}{phrase}", *filter(None, (said, hint))]
        asked = self._clock.asked_wait(reply.headers) if reply.status in TRIED_AGAIN else None
        if asked is not None and asked <= LONGEST_ASKED_WAIT:
            self._gate.hold(self._clock.monotonic() + asked)
        elif asked is not None:
            parts.append(f"it asks to wait {asked:.0f} s, longer than is waited")
        return VendorRefusal(": ".join(parts), reply.status, asked)

    def _wait_after(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, VendorRefusal) and error.asked_wait is not None:
            return error.asked_wait + self._clock.uniform(0.0, 1.0)
        return self._clock.backoff(state.attempt_number)

    def _wait(self, seconds: float, trip: Trip) -> None:
        trip.waited += seconds
        self._clock.sleep(seconds, self._ended)
        if self._ended.is_set():
            raise NotSent("the run ended before the vendor's turn came; nothing was sent", lasting=True)


def _is_passing(error: BaseException) -> bool:
    if isinstance(error, VendorRefusal):
        return error.status in TRIED_AGAIN and (error.asked_wait or 0.0) <= LONGEST_ASKED_WAIT
    return isinstance(error, NotSent) and not error.lasting
