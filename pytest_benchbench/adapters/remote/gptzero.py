"""``gptzero``: GPTZero's interface v2 as public on 2026-11-29, never seen live; see ``docs/remote-detectors.md``."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.adapters.metering import RateLimit, Usage
from pytest_benchbench.adapters.remote.adapter import Reading, RemoteAdapter
from pytest_benchbench.adapters.remote.answers import canonical, fraction, inner, kept, name, optional_name
from pytest_benchbench.adapters.remote.delivery import Query
from pytest_benchbench.adapters.remote.errors import OtherModel, UnreadableAnswer
from pytest_benchbench.adapters.remote.lengths import Lengths, count_words
from pytest_benchbench.adapters.remote.options import RemoteOptions, ShortName

KEPT = (
    "class_probabilities",
    "predicted_class",
    "completely_generated_prob",
    "average_generated_prob",
    "confidence_category",
    "confidence_score",
    "confidence_scores_raw",
    "confidence_thresholds_raw",
    "document_classification",
    "subclass",
    "overall_burstiness",
)
"""What is kept of a document: probabilities and classes. Sentences and paragraphs hold the text, and are not."""

SHARES = {"ai": 1.0, "half": 0.5, "human": 0.0}
"""How much of ``mixed`` counts as AI, by the name of the policy."""


class GptZeroOptions(RemoteOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How GPTZero is asked.

    Attributes:
        version: The model version to pin, as ``GET /v2/model-versions/ai-scan`` lists it; the vendor's choice without.
        multilingual: Whether to ask for the multilingual model.
        mixed: What the class ``mixed`` counts as: AI, half of it, or human.
    """

    version: ShortName | None = None
    multilingual: bool | None = None
    mixed: Literal["ai", "half", "human"] = "ai"


class GptZero(RemoteAdapter):
    """Asks for the probabilities of three classes and makes one score of them."""

    name: ClassVar[str] = "gptzero"
    vendor: ClassVar[str] = "gptzero"
    api_version: ClassVar[str] = "v2"
    Options: ClassVar[type[msgspec.Struct]] = GptZeroOptions
    options: GptZeroOptions
    address: ClassVar[str] = "https://api.gptzero.me"
    key_names: ClassVar[tuple[str, ...]] = ("GPTZERO_API_KEY",)
    lengths: ClassVar[Lengths] = Lengths(most_characters=50_000)
    limit: ClassVar[RateLimit] = RateLimit(30_000, 3600.0)

    @property
    def requested_model(self) -> str | None:
        """The pinned version."""
        return self.options.version

    @property
    def score_rule(self) -> str:
        """The classes that are added up."""
        mixed = {"ai": " + mixed", "half": " + mixed / 2", "human": ""}[self.options.mixed]
        language = {None: "", True: ", multilingual", False: ", not multilingual"}[self.options.multilingual]
        return f"100 x (ai{mixed}) of class_probabilities{language}"

    @property
    def extra_facts(self) -> dict[str, Any]:
        """The policy for mixed texts."""
        return {"mixed": self.options.mixed}

    def usage(self, text: str) -> Usage:
        """Count words; GPTZero bills by them."""
        return Usage(words=count_words(text))

    def query(self, sample: Sample, text: str) -> Query:
        """Ask about one document."""
        document: dict[str, Any] = {"document": text}
        if self.options.version is not None:
            document["version"] = self.options.version
        if self.options.multilingual is not None:
            document["multilingual"] = self.options.multilingual
        return Query(f"{self.base_url}/v2/predict/text", {"x-api-key": self.credentials["GPTZERO_API_KEY"]}, document)

    def read(self, document: dict[str, Any]) -> Reading:
        """Read ``documents[0].class_probabilities``.

        ``completely_generated_prob`` is another number and is not used: it leaves mixed texts out. The three classes are
        each a probability of their own; that they add up to 1 is not documented and not assumed.

        Raises:
            UnreadableAnswer: There is not one document with three probabilities, or no version where one was asked for.
            OtherModel: Another version answered than the one that was asked for.
        """
        version = document.get("version")
        if (wanted := self.options.version) is not None and name(version, "version") != wanted:
            raise OtherModel(f"version {version} answered, and {wanted} was asked for")
        documents = document.get("documents")
        if not isinstance(documents, list) or len(documents) != 1:
            count = len(documents) if isinstance(documents, list) else "no list of them"
            raise UnreadableAnswer(f"documents: expected one, got {count}")
        place = "documents[0].class_probabilities"
        probabilities = inner(documents[0], "class_probabilities")
        ai, mixed, _ = (fraction(inner(probabilities, key), f"{place}.{key}") for key in ("ai", "mixed", "human"))
        return Reading(
            score=canonical(ai + SHARES[self.options.mixed] * mixed, f"{place}: ai + mixed"),
            raw=kept(documents[0], KEPT),
            model=optional_name(version),
            scan_id=optional_name(document.get("scanId")),
        )
