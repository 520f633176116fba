"""Detectors that are paid by the call: what a call uses, who lets it be made, and where its answer is kept for good."""

from __future__ import annotations

import hashlib
import threading
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Protocol

import msgspec

from pytest_benchbench.adapters.base import AdapterUnavailable, BatchAdapter, Detection, DetectionError, Sample
from pytest_benchbench.adapters.secrets import secret_options

TRANSPORT_OPTIONS = frozenset({"timeout", "concurrency", "retries", "ca_file"})
"""Options of a remote detector that say how it is reached and do not change what it answers."""


class Usage(msgspec.Struct, frozen=True):
    """What asking about one text uses, told without asking.

    Attributes:
        words: Words of the text, as the vendor counts them as far as that is known.
        calls: Calls that are made.
        credits: Credits that are billed; ``None`` for a vendor that does not bill by credits.
    """

    words: int
    calls: int = 1
    credits: int | None = None


class RateLimit(msgspec.Struct, frozen=True):
    """The most calls that a vendor takes.

    Attributes:
        calls: So many, 1 or more.
        seconds: In any span of so many seconds, more than 0.
    """

    calls: int
    seconds: float


class BudgetExceeded(Exception):  # noqa: N818 - the user's decision, not a fault
    """The next call would pass the budget: it is not made. No answer about the sample, and no fault of the detector."""


class NotAsked(DetectionError, frozen=True):  # noqa: N818 - not asked is not failed
    """One sample of a batch that was not asked about because of the budget: its row is ``not_run``."""


class Journal(Protocol):
    """Keeps the answers that were paid for."""

    def find(self, key: str) -> dict[str, Any] | None:
        """Give the answer that was recorded under a key; ``None`` if none was."""

    def claimed(self, key: str) -> AbstractContextManager[None]:
        """Keep all others from asking for the answer under a key meanwhile; waits for one who does."""

    def record(self, key: str, answer: dict[str, Any]) -> None:
        """Keep an answer; when this returns, neither a crash nor a power failure loses it.

        Args:
            key: A digest, see ``MeteredAdapter.response_key``.
            answer: Plain JSON: numbers, short names of classes and versions. Never text of the sample, never a key.

        Raises:
            OSError: It cannot be written.
        """


class Meter(Protocol):
    """Lets calls be made as long as the budget has room for them. Used from several threads at once."""

    def reserve(self, usage: Usage) -> None:
        """Count a call before it is made: every call that may be billed, one that may time out too.

        Another try after an answer that is surely not billed (429, 503) is the same call.

        Raises:
            BudgetExceeded: It would pass the budget, or an earlier one would have.
        """

    def refund(self, usage: Usage) -> None:
        """Take back a call that was surely not billed: it was refused, or never reached the vendor."""

    def retried(self) -> None:
        """Count another try of a call that is reserved: one after an answer that is surely not billed (429, 503)."""

    def billed_beyond(self, count: int) -> None:
        """Count credits that the vendor says it billed for a call beyond those that were reserved for it."""


class MemoryJournal:
    """A journal of one process; what an adapter has that no session runs."""

    def __init__(self) -> None:
        self._answers: dict[str, dict[str, Any]] = {}
        self._claims: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def find(self, key: str) -> dict[str, Any] | None:
        """Give the answer that was recorded under a key; ``None`` if none was."""
        return self._answers.get(key)

    @contextmanager
    def claimed(self, key: str) -> Iterator[None]:
        """Keep the other threads from asking for an answer meanwhile."""
        with self._claims[key]:
            yield

    def record(self, key: str, answer: dict[str, Any]) -> None:
        """Keep an answer as long as the process lives."""
        self._answers.setdefault(key, answer)


class UnlimitedMeter:
    """A meter without a budget."""

    def reserve(self, usage: Usage) -> None:
        """Let the call be made."""

    def refund(self, usage: Usage) -> None:
        """Nothing was counted."""

    def retried(self) -> None:
        """Nothing is counted."""

    def billed_beyond(self, count: int) -> None:
        """Nothing is counted."""


class _Answer(msgspec.Struct, frozen=True):
    told: dict[str, Any]
    is_recorded: bool = False


class MeteredAdapter(BatchAdapter):
    """A detector behind a paid interface: each distinct text is asked about once, and its answer is kept.

    A vendor's adapter says how one text is asked about (``ask``) and how a kept answer is read (``detection``); the journal,
    equal texts and samples that the budget leaves out are dealt with here. The session puts its own ``journal`` and
    ``meter`` in place right after the instance is made.

    Attributes:
        vendor: Who answers, such as ``gptzero``.
        api_version: Of the vendor's interface; part of the detector's identity.
        journal: Where answers are kept.
        meter: Is asked before every call that may be billed.
    """

    network: ClassVar[bool] = True
    vendor: ClassVar[str]
    api_version: ClassVar[str]
    journal: Journal
    meter: Meter

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self.journal = MemoryJournal()
        self.meter = UnlimitedMeter()
        self._under_way: set[Future[Any]] = set()

    @property
    @abstractmethod
    def plan_tier(self) -> str:
        """The plan of the account, such as ``starter``: prices and answers may depend on it."""

    @property
    def concurrency(self) -> int:
        """How many calls may be under way at a time, each in a thread of its own."""
        return 1

    @abstractmethod
    def usage(self, text: str) -> Usage:
        """Say what asking about a text uses. Works without a key, without a network and before ``load``."""

    @abstractmethod
    def rate_limit(self) -> RateLimit | None:
        """Say how fast the vendor may be asked; ``None`` where nothing is known. Works before ``load``."""

    def refusal(self, text: str) -> Detection | None:
        """Answer about a text that the vendor does not take, such as one that is too short; it is not asked about.

        Works without a key, without a network and before ``load``; ``None`` for a text that is sent.
        """
        return None

    def missing_key(self) -> str | None:
        """Name the environment variable that is not set and has to be; ``None`` if nothing is missing. For the plan."""
        return None

    @abstractmethod
    def ask(self, sample: Sample) -> dict[str, Any]:
        """Ask the vendor about one sample: ``self.meter.reserve`` before each call that may be billed.

        Called in a thread of its own: a run that is interrupted does not interrupt a call that is paid for.

        Returns:
            What is kept of the answer, and all that ``detection`` needs: plain JSON of numbers and short names.

        Raises:
            BudgetExceeded: The meter does not let the call be made.
            AdapterUnavailable: Nothing can be answered here, such as with a refused key.
            Exception: There is no usable answer; the row becomes an ``error``, and nothing is kept.
        """

    def account(self, sample: Sample, answer: dict[str, Any]) -> None:
        """Tell the meter what the vendor says of its bill; called once an answer is kept, and for each kept answer once."""

    @abstractmethod
    def detection(self, answer: dict[str, Any]) -> Detection:
        """Read an answer that ``ask`` gave, now or in an earlier session."""

    def response_key(self, sample: Sample) -> str:
        """Give the key under which the answer about a sample is kept.

        It is the SHA-256 of the sample's digest and of all that tells this detector from another: vendor, name, plan,
        version of the interface, and the options (a requested model among them) but secrets and how it is reached.

        Returns:
            64 lower-case hex digits.
        """
        left_out = TRANSPORT_OPTIONS | secret_options(self.Options)
        fields = [field for field in msgspec.structs.fields(self.options) if field.encode_name not in left_out]
        known = {
            "adapter": self.name,
            "apiVersion": self.api_version,
            "options": {field.encode_name: getattr(self.options, field.name) for field in fields},
            "plan": self.plan_tier,
            "sample": sample.sha256,
            "vendor": self.vendor,
        }
        return hashlib.sha256(msgspec.json.encode(known, enc_hook=str, order="deterministic")).hexdigest()

    def detect_batch(self, samples: Sequence[Sample]) -> list[Detection | DetectionError]:
        """Answer about every sample, from the journal where it can.

        Once the budget has no room for a call, no later sample of the batch is asked about: what is measured is then no
        choice of short texts.

        Returns:
            One answer for each sample, in their order; ``NotAsked`` for those that the budget leaves out.
        """
        keys = [self.response_key(sample) for sample in samples]
        kept: dict[str, dict[str, Any]] = {}
        wanted: dict[str, Sample] = {}
        for key, sample in zip(keys, samples, strict=True):
            if key in kept or key in wanted:
                continue
            if (answer := self.journal.find(key)) is not None:
                kept[key] = answer
            else:
                wanted[key] = sample
        refused = {key: refusal for key, sample in wanted.items() if (refusal := self._refusal(sample)) is not None}
        sent = [(key, sample) for key, sample in wanted.items() if key not in refused]
        asked = {**refused, **dict(zip((key for key, _ in sent), self._ask_all(sent), strict=True))}
        answers: list[Detection | DetectionError] = []
        for key in keys:
            answer_or_fault = asked.get(key)
            if key in kept:
                answers.append(self._read(kept[key], recorded=True))
            elif isinstance(answer_or_fault, _Answer):
                answers.append(self._read(answer_or_fault.told, recorded=answer_or_fault.is_recorded))
                kept[key] = answer_or_fault.told  # a later row with the same text has it from the journal
            else:
                assert answer_or_fault is not None
                answers.append(answer_or_fault)
        return answers

    def finish_calls(self, seconds: float) -> None:
        """Wait for the calls that an interrupted batch left under way, so that their answers are kept.

        Args:
            seconds: The longest wait.
        """
        wait(set(self._under_way), timeout=seconds)

    def _refusal(self, sample: Sample) -> Detection | None:
        return self.refusal(sample.data.decode("utf-8")) if sample.media_type == "text" else None

    def _ask_all(self, wanted: Sequence[tuple[str, Sample]]) -> list[_Answer | Detection | DetectionError]:
        stopped = threading.Event()
        message = "the run was interrupted"

        def ask(key: str, sample: Sample) -> _Answer | Detection | DetectionError:
            nonlocal message
            if stopped.is_set():
                return NotAsked(BudgetExceeded.__name__, message)
            try:
                with self.journal.claimed(key):
                    if (recorded := self.journal.find(key)) is not None:  # somebody else asked for it meanwhile
                        return _Answer(recorded, is_recorded=True)
                    if stopped.is_set():
                        return NotAsked(BudgetExceeded.__name__, message)
                    answer = self.ask(sample)
                    self.journal.record(key, answer)
                self.account(sample, answer)
            except BudgetExceeded as error:
                message = str(error)
                stopped.set()
                return NotAsked(type(error).__name__, message)
            except AdapterUnavailable as error:
                return Detection("unavailable", reason=str(error))
            except Exception as error:
                return DetectionError(type(error).__name__, str(error))
            return _Answer(answer)

        if not wanted:
            return []
        # also a single call: what interrupts this thread must not lose an answer that is paid for
        threads = ThreadPoolExecutor(min(self.concurrency, len(wanted)), thread_name_prefix=f"benchbench-{self.name}")
        try:
            calls = [threads.submit(ask, key, sample) for key, sample in wanted]
            for call in calls:
                self._under_way.add(call)
                call.add_done_callback(self._under_way.discard)
            return [call.result() for call in calls]
        finally:  # an interrupted row does not wait for the calls that are under way: their answers are kept all the same
            stopped.set()
            threads.shutdown(wait=False, cancel_futures=True)

    def _read(self, answer: dict[str, Any], *, recorded: bool = False) -> Detection | DetectionError:
        try:
            detection = self.detection(answer)
        except Exception as error:
            return DetectionError(type(error).__name__, str(error))
        if not recorded:
            return detection
        return msgspec.structs.replace(detection, scorer={**(detection.scorer or {}), "recorded": True})
