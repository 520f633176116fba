"""``originality``: Originality.ai v3 as public on 2026-11-29, never seen live; see ``docs/remote-detectors.md``."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from pytest_benchbench.adapters.base import AdapterUnavailable, Sample
from pytest_benchbench.adapters.metering import RateLimit, Usage
from pytest_benchbench.adapters.remote.adapter import Reading, RemoteAdapter
from pytest_benchbench.adapters.remote.answers import billed_credits, canonical, fraction, inner, kept, name, optional_name
from pytest_benchbench.adapters.remote.delivery import Query
from pytest_benchbench.adapters.remote.errors import OtherModel, UnreadableAnswer
from pytest_benchbench.adapters.remote.lengths import Lengths, count_words
from pytest_benchbench.adapters.remote.options import RemoteOptions, ShortName

WORDS_OF_A_CREDIT = 100

OTHER_CHECKS = (
    "check_plagiarism",
    "check_facts",
    "check_readability",
    "check_grammar",
    "check_contentQuality",
    "check_ai_allowance",
)
"""What the same call could do too, each for credits of its own: never asked for."""


class OriginalityOptions(RemoteOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How Originality.ai is asked.

    Attributes:
        model: ``aiModelVersion``, such as ``lite-102``. There is no default, because an unknown value is not refused by
            the vendor: another model answers then.
    """

    model: ShortName | None = None


class Originality(RemoteAdapter):
    """Asks one named model how confident it is that a text is AI's."""

    name: ClassVar[str] = "originality"
    vendor: ClassVar[str] = "originality"
    api_version: ClassVar[str] = "v3"
    Options: ClassVar[type[msgspec.Struct]] = OriginalityOptions
    options: OriginalityOptions
    address: ClassVar[str] = "https://api.originality.ai"
    key_names: ClassVar[tuple[str, ...]] = ("ORIGINALITY_API_KEY",)
    lengths: ClassVar[Lengths] = Lengths(words=50)
    limit: ClassVar[RateLimit] = RateLimit(500, 60.0)

    @property
    def requested_model(self) -> str | None:
        """The named model."""
        return self.options.model

    @property
    def score_rule(self) -> str:
        """The confidence that is taken."""
        return "100 x results.ai.confidence.AI, or 100 x score.ai in answers of the older shape"

    def load(self) -> None:
        """Get ready, if a model is named.

        Raises:
            AdapterUnavailable: None is, or a key or a package is missing.
        """
        if self.options.model is None:
            raise AdapterUnavailable("no model is named", "give --bench-adapter=originality:model=NAME, such as lite-102")
        super().load()

    def usage(self, text: str) -> Usage:
        """Count words and credits: one for each 100 words that are begun."""
        words = count_words(text)
        return Usage(words=words, credits=-(-words // WORDS_OF_A_CREDIT))

    def query(self, sample: Sample, text: str) -> Query:
        """Ask for the AI check alone, and that the text is not stored."""
        document: dict[str, Any] = {
            "title": "benchmark",
            "content": text,
            "check_ai": True,
            **dict.fromkeys(OTHER_CHECKS, False),
            "storeScan": False,
            "aiModelVersion": self.options.model,
        }
        headers = {"X-OAI-API-KEY": self.credentials["ORIGINALITY_API_KEY"]}
        return Query(f"{self.base_url}/api/v3/scan", headers, document)

    def read(self, document: dict[str, Any]) -> Reading:
        """Read ``results.ai.confidence``, or ``score`` as older answers have it.

        The two numbers of either shape need not add up to 1: the one about AI is taken as it is.

        Raises:
            UnreadableAnswer: It is neither shape, or no model is named in one of the present shape.
            OtherModel: Another model answered than the one that was asked for.
        """
        results = inner(document, "results", "ai")
        model = inner(results, "aiModel")
        confidence = inner(results, "confidence")
        if confidence is not None:
            name(model, "results.ai.aiModel")  # of the present shape it is a part; older answers do not say it
            score = fraction(inner(confidence, "AI"), "results.ai.confidence.AI")
            fraction(inner(confidence, "Original"), "results.ai.confidence.Original")
            raw = kept(results, ("confidence", "classification"))
        else:
            place, older = _older_shape(document)
            score = fraction(inner(older, "ai"), f"{place}.ai")
            fraction(inner(older, "original"), f"{place}.original")
            raw = {"score": kept(older, ("ai", "original", "mixed"))}
        if model is not None and name(model, "results.ai.aiModel") != self.options.model:
            raise OtherModel(
                f"model {model} answered, and {self.options.model} was asked for: unknown names are not refused there"
            )
        billed = inner(document, "results", "credits", "used")
        billed = document.get("credits_used") if billed is None else billed
        return Reading(
            score=canonical(score, "AI"),
            raw=raw,
            model=optional_name(model),
            credits=billed_credits(billed),
            scan_id=_scan_id(inner(document, "results", "properties", "id")),
        )


def _older_shape(document: dict[str, Any]) -> tuple[str, Any]:
    """Find ``score`` where answers of older versions, and what some clients read, have it.

    Raises:
        UnreadableAnswer: It is not there.
    """
    for path in (("score",), ("results", "score"), ("results", "ai", "score")):
        if (older := inner(document, *path)) is not None:
            return ".".join(path), older
    raise UnreadableAnswer("neither results.ai.confidence nor score is there")


def _scan_id(value: Any) -> str | None:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else optional_name(value)
