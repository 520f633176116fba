"""What the vendors' adapters have in common: from a text to an answer that is paid once, and kept without the text."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec

from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, Sample
from pytest_benchbench.adapters.metering import BudgetExceeded, MeteredAdapter, RateLimit, Usage
from pytest_benchbench.adapters.remote.answers import keys_seen, parse
from pytest_benchbench.adapters.remote.delivery import Delivery, Query, Trip
from pytest_benchbench.adapters.remote.discretion import Credential, Discretion, missing_variable, read_credentials
from pytest_benchbench.adapters.remote.errors import NoFurtherCalls, OtherModel, RemoteError, UnreadableAnswer
from pytest_benchbench.adapters.remote.lengths import Lengths
from pytest_benchbench.adapters.remote.options import RemoteOptions, is_loopback
from pytest_benchbench.adapters.remote.timekeeping import SYSTEM, Timekeeper
from pytest_benchbench.adapters.remote.wire import Reply, Wire
from pytest_benchbench.artifacts.media import MediaType
from pytest_benchbench.artifacts.text import Text

WAVES_OF_CALLS = 4
"""A batch holds so many samples for each call that may be under way, so that a slow one does not keep the others waiting."""

LONGEST_KEEPING = 30.0
"""Seconds that are waited at the end, once all calls have ended, for their answers to be kept."""

UNREADABLE_IN_A_ROW = 3
"""After so many answers that were paid for and cannot be read, nothing more is asked."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is taken of an answer.

    Attributes:
        score: How likely the text is AI's, on the scale from 0 to 100.
        raw: The numbers and classes that it was made of, and others of interest; never text.
        model: The model that answered, as the vendor says.
        credits: What the vendor says that it billed.
        scan_id: What the vendor calls this answer.
    """

    score: float
    raw: Mapping[str, Any]
    model: str | None = None
    credits: int | None = None
    scan_id: str | None = None


@dataclass(slots=True)
class _Brake:
    """Stops further calls once answers are paid for that nobody can use."""

    unreadable: int = 0
    reason: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        if self.reason is not None:
            raise NoFurtherCalls(f"not asked, it would be paid for nothing: {self.reason}")

    def passed(self) -> None:
        with self.lock:
            self.unreadable = 0

    def failed(self, error: UnreadableAnswer | OtherModel) -> None:
        with self.lock:
            self.unreadable += 1
            if isinstance(error, OtherModel) or self.unreadable >= UNREADABLE_IN_A_ROW:
                self.reason = self.reason or str(error)


class RemoteAdapter(MeteredAdapter):
    """A vendor's interface. It says how it is asked and how its answer is read; everything else is here.

    Attributes:
        address: Of the interface.
        key_names: The environment variables that hold the keys.
        lengths: Of the texts that it takes.
        limit: How often it may be asked.
        score_rule: How the score is made, in words.
        extra_facts: Facts for ``detection.scorer`` that the options decide.
    """

    media_types: ClassVar[frozenset[MediaType]] = frozenset({"text"})
    Options: ClassVar[type[msgspec.Struct]] = RemoteOptions
    options: RemoteOptions
    address: ClassVar[str]
    key_names: ClassVar[tuple[str, ...]]
    lengths: ClassVar[Lengths]
    limit: ClassVar[RateLimit]

    def __init__(self, options: Any = None, *, clock: Timekeeper = SYSTEM) -> None:
        super().__init__(options)
        self.batch_size = self.options.concurrency * WAVES_OF_CALLS
        self.clock = clock
        self.discretion = Discretion()
        self.credentials: Mapping[str, Credential] = {}
        self._brake = _Brake()
        self._wire: Wire | None = None
        self._delivery: Delivery | None = None

    @property
    @abstractmethod
    def requested_model(self) -> str | None:
        """The model or version that the vendor is asked to answer with; ``None`` where the vendor decides."""

    @property
    @abstractmethod
    def score_rule(self) -> str:
        """Say in words how the score is made of the answer."""

    @property
    def extra_facts(self) -> dict[str, Any]:
        """What ``detection.scorer`` says besides what every vendor's answer has."""
        return {}

    @abstractmethod
    def query(self, sample: Sample, text: str) -> Query:
        """Make the question about a text."""

    @abstractmethod
    def read(self, document: dict[str, Any]) -> Reading:
        """Read a successful answer.

        Raises:
            UnreadableAnswer: It has not the documented shape.
            OtherModel: Another model answered than ``requested_model``.
        """

    @property
    def plan_tier(self) -> str:
        """The plan that the user named."""
        return self.options.plan

    @property
    def concurrency(self) -> int:
        """How many calls may be under way at a time."""
        return self.options.concurrency

    @property
    def base_url(self) -> str:
        """Where the interface is, without a slash at the end."""
        return (self.options.base_url or self.address).rstrip("/")

    @property
    def leaves_machine(self) -> bool:
        """Whether the interface is anywhere but on this machine; a name that would be looked up is taken for elsewhere."""
        return not is_loopback(urlsplit(self.base_url).hostname or "")

    def rate_limit(self) -> RateLimit:
        """Give the documented limit."""
        return self.limit

    def missing_key(self) -> str | None:
        """Name the environment variable that is not set and has to be."""
        return missing_variable(self.key_names)

    def load(self) -> None:
        """Read the keys and get ready; nothing is sent.

        Raises:
            AdapterUnavailable: A key or a package is missing.
        """
        self.credentials = read_credentials(self.key_names)
        for credential in self.credentials.values():
            self.discretion.keep(credential)
        options = self.options
        self._wire = Wire(
            timeout=options.timeout,
            connections=options.concurrency,
            ca_file=options.ca_file,
            clock=self.clock,
            discretion=self.discretion,
        )
        gate = self.clock.gate(f"{self.vendor} {self.base_url}", self.limit)
        self._delivery = Delivery(self.vendor, self._wire, gate, self.clock, options.retries, self.discretion)
        self._wire.open()

    def close(self) -> None:
        """Wait for the calls that are under way and for their answers to be kept, and end the connections."""
        delivery, self._delivery = self._delivery, None
        if delivery is not None:
            delivery.close()
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()
        self.finish_calls(LONGEST_KEEPING)

    def describe(self) -> AdapterDescription:
        """Vendor, version of the interface, plan and requested model; how the score is made."""
        options = self.options
        model = self.requested_model or "the vendor's choice"
        elsewhere = "" if options.base_url is None else "; asked at another address than the vendor's"
        return AdapterDescription(
            f"{self.vendor} API {self.api_version}, plan {self.plan_tier}, model {model}",
            f"score = {self.score_rule}; AI from 50 on{elsewhere}",  # who answers elsewhere is another detector
        )

    @property
    def delivery(self) -> Delivery:
        """What brings questions to the vendor.

        Raises:
            RuntimeError: ``load`` comes first.
        """
        if self._delivery is None:
            raise RuntimeError("load() comes first")
        return self._delivery

    def refusal(self, text: str) -> Detection | None:
        """Answer for the vendor about a text of a length that it does not take; nothing is sent or paid."""
        if (refused := self.lengths.refusal(text)) is None:
            return None
        status, reason = refused
        return Detection(status, reason=f"{self.vendor}: {reason}", scorer=self._identity())

    def ask(self, sample: Sample) -> dict[str, Any]:
        """Ask about one text and take what is kept of the answer.

        Raises:
            BudgetExceeded: The meter does not let the call be made.
            RemoteError: There is no usable answer.
        """
        if not isinstance(sample.decoded, Text):
            raise RemoteError(f"{self.vendor} is asked about text, not about {sample.media_type}")
        text = sample.decoded.text
        usage = self.usage(text)
        self._brake.check()
        trip = Trip()
        try:
            reply = self.put(sample, text, usage, trip)
            reading = self._read_reply(reply, text)
            raw = self.discretion.unquoted(reading.raw, text)
            told = self.discretion.unquoted({"model": reading.model, "scanId": reading.scan_id}, text)
        except (RemoteError, BudgetExceeded, AdapterUnavailable):
            raise
        except Exception as error:  # of a library: its message may hold anything
            raise RemoteError(f"{type(error).__name__}: {self.discretion.repeated(str(error), text)}") from None
        return {"status": "scored", "score": reading.score, "scorer": self._facts(reading, told, raw, reply, usage, trip)}

    def put(self, sample: Sample, text: str, usage: Usage, trip: Trip) -> Reply:
        """Put the question about a text, and count it as billed unless it surely is not.

        Raises:
            BudgetExceeded: The meter does not let the call be made.
            RemoteError: There is no answer.
        """
        return self.deliver_metered(lambda: self.query(sample, text), usage, trip, text)

    def deliver_metered(
        self, make: Callable[[], Query], usage: Usage, trip: Trip, text: str, renew: Callable[[Query], None] | None = None
    ) -> Reply:
        """Deliver a question that the meter lets pass; see ``Delivery.send``.

        Raises:
            BudgetExceeded: The meter does not let the call be made.
            RemoteError: There is no answer.
        """
        self.meter.reserve(usage)
        try:
            return self.delivery.send(make, trip, text=text, renew=renew, retried=self.meter.retried)
        except BaseException:
            if not trip.may_be_billed:
                self.meter.refund(usage)
            raise

    def account(self, sample: Sample, answer: dict[str, Any]) -> None:
        """Count what the vendor billed beyond what was reserved; what it billed less stays counted, to be safe."""
        if not isinstance(sample.decoded, Text) or (reserved := self.usage(sample.decoded.text).credits) is None:
            return
        if (billed := answer["scorer"].get("credits", 0)) > reserved:
            self.meter.billed_beyond(billed - reserved)

    def detection(self, answer: dict[str, Any]) -> Detection:
        """Read what ``ask`` gave, now or in an earlier session."""
        return msgspec.convert(answer, Detection)

    def _read_reply(self, reply: Reply, text: str) -> Reading:
        try:
            document = parse(reply, self.discretion, text)
            try:
                reading = self.read(document)
            except UnreadableAnswer as error:
                raise UnreadableAnswer(f"{error}; {keys_seen(document, self.discretion, text)}") from None
        except (UnreadableAnswer, OtherModel) as error:
            error.args = (f"{self.vendor}: {error}",)
            self._brake.failed(error)
            raise
        self._brake.passed()
        return reading

    def _identity(self) -> dict[str, Any]:
        facts = {
            "vendor": self.vendor,
            "plan": self.plan_tier,
            "apiVersion": self.api_version,
            "requestedModel": self.requested_model,
            **self.extra_facts,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def _facts(
        self, reading: Reading, told: Mapping[str, Any], raw: Mapping[str, Any], reply: Reply, usage: Usage, trip: Trip
    ) -> dict[str, Any]:
        facts = {
            **self._identity(),
            "model": reading.model if reading.model == self.requested_model else told.get("model"),  # texts may name models
            "raw": raw,
            "words": usage.words,
            "credits": usage.credits if reading.credits is None else reading.credits,
            "latencyMs": reply.latency_ms,
            "waitedMs": trip.waited * 1e3,
            "requests": trip.requests,
            "scanId": told.get("scanId"),
        }
        return self.discretion.masked({name: value for name, value in facts.items() if value is not None})
