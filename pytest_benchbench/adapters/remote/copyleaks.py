"""``copyleaks``: its writer detector v2 as public on 2026-11-29, never seen live; see ``docs/remote-detectors.md``."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import threading
from typing import Annotated, Any, ClassVar

import msgspec

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.adapters.metering import RateLimit, Usage
from pytest_benchbench.adapters.remote.adapter import Reading, RemoteAdapter
from pytest_benchbench.adapters.remote.answers import billed_credits, canonical, fraction, inner, kept, optional_name, parse
from pytest_benchbench.adapters.remote.delivery import LOST_ON_THE_WAY, TRIED_AGAIN, Query, Trip
from pytest_benchbench.adapters.remote.discretion import Credential
from pytest_benchbench.adapters.remote.errors import RemoteError, UnreadableAnswer, VendorRefusal
from pytest_benchbench.adapters.remote.lengths import Lengths, count_words
from pytest_benchbench.adapters.remote.options import RemoteOptions
from pytest_benchbench.adapters.remote.wire import Reply

LOGIN_ADDRESS = "https://id.copyleaks.com"

LOGINS = RateLimit(12, 900.0)
"""How often a token may be taken."""

TOKEN_SECONDS = 48 * 3600.0
"""How long a token is valid."""

RENEWED_EARLIER = 300.0
"""Seconds before its end at which a token is no longer used."""

WORDS_OF_A_CREDIT = 250

MAX_SECTIONS_KEPT = 64

_RUN = hashlib.sha256(b"copyleaks scan ids of a run").hexdigest()
"""Under this key the journal has what makes the scan ids of a run its own."""


_TOKEN = re.compile(r"[\x21-\x7e]{8,16384}")


class LoginFailed(RemoteError):  # noqa: N818 - its name is what people read in a row
    """There is no token to ask with; nothing was asked about the text."""


class CopyleaksOptions(RemoteOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How Copyleaks is asked.

    Attributes:
        sensitivity: From 1 to 3; the vendor's default without.
        language: A language code such as ``en``; recognised by the vendor without.
        sandbox: Whether to ask for the free mock results, which say nothing about a text.
    """

    sensitivity: Annotated[int, msgspec.Meta(ge=1, le=3)] | None = None
    language: Annotated[str, msgspec.Meta(pattern=r"\A[a-z]{2,3}(-[A-Za-z]{2,4})?\Z")] | None = None
    sandbox: bool = False


class Copyleaks(RemoteAdapter):
    """Logs in, and asks for the share of a text that is AI's."""

    name: ClassVar[str] = "copyleaks"
    vendor: ClassVar[str] = "copyleaks"
    api_version: ClassVar[str] = "v2"
    Options: ClassVar[type[msgspec.Struct]] = CopyleaksOptions
    options: CopyleaksOptions
    address: ClassVar[str] = "https://api.copyleaks.com"
    key_names: ClassVar[tuple[str, ...]] = ("COPYLEAKS_EMAIL", "COPYLEAKS_API_KEY")
    lengths: ClassVar[Lengths] = Lengths(characters=255, most_characters=100_000)
    limit: ClassVar[RateLimit] = RateLimit(10, 1.0)

    def __init__(self, options: Any = None, **more: Any) -> None:
        super().__init__(options, **more)
        self._token: Credential | None = None
        self._refused: str | None = None
        self._token_ends = 0.0
        self._login_lock = threading.Lock()
        self._run_lock = threading.Lock()

    @property
    def requested_model(self) -> str | None:
        """None: the interface takes no model."""
        return None

    @property
    def score_rule(self) -> str:
        """The share that is taken."""
        options = self.options
        given = {"sensitivity": options.sensitivity, "language": options.language}
        said = "".join(f", {name} {value}" for name, value in given.items() if value is not None)
        return f"100 x summary.ai{said}{', SANDBOX: mock results, no claim' if options.sandbox else ''}"

    @property
    def extra_facts(self) -> dict[str, Any]:
        """Whether the answers are mock results."""
        return {"sandbox": True} if self.options.sandbox else {}

    def usage(self, text: str) -> Usage:
        """Count words and credits: one for each 250 words that are begun; the sandbox is free."""
        words = count_words(text)
        return Usage(words=words, credits=0 if self.options.sandbox else -(-words // WORDS_OF_A_CREDIT))

    def query(self, sample: Sample, text: str) -> Query:
        """Ask under the first scan id of this text in this run."""
        return self._query(text, self._scan_id(sample, 0))

    def put(self, sample: Sample, text: str, usage: Usage, trip: Trip) -> Reply:
        """Ask; an id that the vendor knows already is followed by one other, which is another call to pay.

        Raises:
            BudgetExceeded: The meter does not let the call be made.
            RemoteError: There is no answer.
        """
        try:
            return self.deliver_metered(lambda: self.query(sample, text), usage, trip, text, self._renew)
        except VendorRefusal as error:
            if error.status != 409:
                raise
        scan_id = self._scan_id(sample, 1)
        return self.deliver_metered(lambda: self._query(text, scan_id), usage, trip, text, self._renew)

    def read(self, document: dict[str, Any]) -> Reading:
        """Read ``summary.ai``, a fraction.

        ``aggregatedScore``, which is written about for this vendor too, is the share of similar words that the plagiarism
        product reports: an answer of that product is refused, not read.

        Raises:
            UnreadableAnswer: There is no such fraction.
        """
        summary = document.get("summary")
        if summary is None and inner(document, "results", "score", "aggregatedScore") is not None:
            raise UnreadableAnswer("this is an answer of the plagiarism product: its aggregatedScore says nothing about AI")
        score = fraction(inner(summary, "ai"), "summary.ai")
        fraction(inner(summary, "human"), "summary.human")
        raw = kept(document, ("summary",))
        if isinstance(sections := document.get("results"), list):
            raw["sections"] = len(sections)
            raw["results"] = [kept(section, ("classification", "probability")) for section in sections[:MAX_SECTIONS_KEPT]]
        scanned = document.get("scannedDocument")
        raw |= kept(scanned, ("totalWords", "totalExcluded", "actualCredits", "expectedCredits"))
        billed = raw.get("actualCredits")
        return Reading(
            score=canonical(score, "summary.ai"),
            raw=raw,
            model=optional_name(document.get("modelVersion")),
            credits=billed_credits(billed),
            scan_id=optional_name(inner(scanned, "scanId")),
        )

    def _query(self, text: str, scan_id: str) -> Query:
        options = self.options
        given = {"language": options.language, "sensitivity": options.sensitivity}
        document = {"text": text, "sandbox": options.sandbox, **{n: v for n, v in given.items() if v is not None}}
        where = f"{self.base_url}/v2/writer-detector/{scan_id}/check"
        return Query(where, {"authorization": self._bearer()}, document, repeatable=True)

    def _scan_id(self, sample: Sample, generation: int) -> str:
        """Name a scan: the same id for the same question in a run and in its resumes, another one in any other run.

        After a network fault the same id is given again, so that the vendor can see that it is the same question. Another
        run asks anew, whatever the vendor keeps under an id.

        Args:
            sample: The sample.
            generation: 0, and 1 after the vendor refused the first one as known.

        Returns:
            34 characters out of ``a``-``z`` and ``2``-``7``.
        """
        told = f"{self._run_mark()} {self.response_key(sample)} {generation}"
        digest = hashlib.sha256(told.encode()).digest()[:20]
        return f"bb{base64.b32encode(digest).decode().lower()}"

    def _run_mark(self) -> str:
        with self._run_lock:
            if self.journal.find(_RUN) is None:
                self.journal.record(_RUN, {"scans": secrets.token_hex(16)})
            kept_mark = self.journal.find(_RUN)
        return str((kept_mark or {})["scans"])

    def _bearer(self) -> Credential:
        """Give the token as it is sent, taken at the first call and before it ends.

        Raises:
            LoginFailed: There is none. One that was refused is not tried again: logins are few.
        """
        with self._login_lock:
            if self._token is None or self.clock.wall() >= self._token_ends:
                if self._refused is not None:
                    raise LoginFailed(self._refused)
                self._token = self._log_in()
                self._token_ends = self.clock.wall() + TOKEN_SECONDS - RENEWED_EARLIER
            return self._token

    def _renew(self, refused: Query) -> None:
        """Forget a token that was refused, unless another thread has taken a new one meanwhile."""
        with self._login_lock:
            if refused.headers["authorization"] is self._token:
                self._token = None

    def _log_in(self) -> Credential:
        where = self.options.base_url.rstrip("/") if self.options.base_url else LOGIN_ADDRESS
        gate = self.clock.gate(f"copyleaks logins {where}", LOGINS)

        def make() -> Query:
            if (wait := gate.reserve_at_once(self.clock.monotonic())) is not None:
                told = f"there may be {LOGINS.calls} logins in {LOGINS.seconds:.0f} s, and the next one in {wait:.0f} s"
                raise VendorRefusal(told, 429, wait)
            document = {"email": self.credentials["COPYLEAKS_EMAIL"], "key": self.credentials["COPYLEAKS_API_KEY"]}
            return Query(f"{where}/v3/account/login/api", {}, document, repeatable=True)

        try:
            document = parse(self.delivery.send(make, Trip()), self.discretion, "")
        except RemoteError as error:
            message = f"copyleaks login: {error}"
            if isinstance(error, VendorRefusal) and error.status not in TRIED_AGAIN | LOST_ON_THE_WAY:
                self._refused = message
            raise LoginFailed(message) from None
        token = document.get("access_token")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise LoginFailed("copyleaks login: the answer has no access_token")
        self.discretion.keep(Credential(token))
        return Credential(f"Bearer {token}")
