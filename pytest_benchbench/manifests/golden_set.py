"""The golden set: one frozen JSON document of labelled texts, human and generated, on which text detectors are compared.

Field names are those of the file.
"""
# ruff: noqa: N815 - the names are those of the file

from __future__ import annotations

import hashlib
import re
from datetime import date
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta

from pytest_benchbench.manifests.field_types import (
    Identifier,
    Text,
    all_say_something,
    choice_field,
    described,
    identifier_field,
    says_something,
    schema_document,
    text_field,
)
from pytest_benchbench.manifests.rows import Kind, ManifestKind

KIND: Final[ManifestKind] = "golden-set"

MEDIA_TYPE: Final = "text"
"""What the samples of every golden set are."""

MAX_GOLDEN_SET_BYTES = 64 * 1024 * 1024
"""The largest golden set, as a file."""

Split = Literal["tune", "holdout"]

HOLDOUT: Final = "holdout"
"""The split whose figures may be published."""

SPLITS: tuple[str, ...] = get_args(Split)

Label = Literal["ai", "human"]

Status = Literal["final", "example"]

PRIVATE: frozenset[str] = frozenset({"text", "provenance", "reviewers", "labelOwner"})
"""Fields of a sample that stay in the golden set: evidence and reports have none of them."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_YEAR_OR_DAY = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")

Day = Annotated[str, Meta(extra_json_schema={"pattern": f"^{_DAY.pattern}$", "examples": ["2026-04-16"]})]
"""An ISO date."""

Published = Annotated[str, Meta(extra_json_schema={"pattern": f"^{_YEAR_OR_DAY.pattern}$", "examples": ["1813"]})]
"""An ISO date, or the year or the month alone."""

_DATE = "a date as YYYY-MM-DD"

_TEXTS = "an array of texts that are not blank"

Count = Annotated[int, Meta(ge=0, le=1_000_000)]


def is_day(text: str) -> bool:
    """Say whether a text is a date of the calendar, as YYYY-MM-DD."""
    return _DAY.fullmatch(text) is not None and _is_in_calendar(text)


def is_year_or_day(text: str) -> bool:
    """Say whether a text is a date of the calendar, as YYYY-MM-DD, YYYY-MM or YYYY."""
    return _YEAR_OR_DAY.fullmatch(text) is not None and _is_in_calendar((text + "-01-01")[:10])


def _is_in_calendar(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


class HumanProvenance(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="human"
):
    """Where a text comes from that a person wrote, and why it may be used."""

    source: Annotated[Text, text_field("Where it was published: a URL or a reference.")]
    author: Annotated[Text | None, text_field("Who wrote it, where that is known.", nullable=True)] = None
    date: Annotated[
        Published,
        described(
            "When it was published; the year or the month alone is enough.",
            "a date as YYYY-MM-DD, YYYY-MM or YYYY",
            holds=is_year_or_day,
        ),
    ]
    license: Annotated[Text, text_field("Licence or other basis on which it is used.")]
    consent: Annotated[
        Text | None, text_field("Reference to the author's written consent, where that is the basis.", nullable=True)
    ] = None
    termsChecked: Annotated[
        Day,
        described(
            "When somebody last checked that the source's terms allow this use.", "a date as YYYY-MM-DD", holds=is_day
        ),
    ]


class AiProvenance(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="ai"
):
    """How a text was generated."""

    model: Annotated[Text, text_field("The exact model.")]
    date: Annotated[Day, described("When it was generated.", _DATE, holds=is_day)]
    prompt: Annotated[Text, text_field("What the model was asked.")]
    license: Annotated[Text | None, text_field("Licence, where one is needed.", nullable=True)] = None


PROVENANCES: dict[str, type[msgspec.Struct]] = {"human": HumanProvenance, "ai": AiProvenance}
"""What is known of a text's origin, by ``kind``, which is the sample's label too."""


class GoldenSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One labelled text. Whatever shows a sample leaves its text out."""

    id: Annotated[Identifier, identifier_field("Identity of the sample, unique over a run.")]
    split: Annotated[Split, choice_field("The role of the sample, never to be changed.", Split)]
    category: Annotated[Text, text_field("What kind of text it is; figures are given for each.")]
    label: Annotated[Label, choice_field("The ground truth, given when the sample was made.", Label)]
    text: Annotated[
        Text,
        described(
            "The text, exactly as detectors are shown it.", "a text that is not blank", holds=says_something, bare=True
        ),
    ]
    pairOf: Annotated[
        Identifier | None,
        identifier_field("The generated sample of the same split of which this is the humanized variant."),
    ] = None
    provenance: Annotated[HumanProvenance | AiProvenance, described("Where the text comes from.", "an object")]
    labelOwner: Annotated[
        Text, text_field("The one person who answers for the labels; the same for every sample of the set.")
    ]
    labelSource: Annotated[Text, text_field("What the label rests on, such as `provenance`; never a detector.")]
    borderline: Annotated[
        bool, described("Whether the reviewer was in doubt, so that a second one looked.", "true or false")
    ]
    reviewers: Annotated[list[Text], described("Who read the sample.", _TEXTS, holds=all_say_something)]

    @property
    def data(self) -> bytes:
        """What detectors are shown: the text in UTF-8."""
        return self.text.encode()

    @property
    def sha256(self) -> str:
        """SHA-256 of the text in UTF-8, in lower-case hex: all that evidence has of it."""
        return hashlib.sha256(self.data).hexdigest()

    def __repr__(self) -> str:
        return f"GoldenSample(id={self.id!r}, split={self.split!r}, category={self.category!r}, label={self.label!r})"


class BalanceTargets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many samples a category should have."""

    tune: Annotated[Count, described("In the split `tune`.", "an integer from 0 on")]
    holdout: Annotated[Count, described("In the split `holdout`.", "an integer from 0 on")]


class GoldenSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A whole golden set."""

    schema_version: Annotated[Literal[1], described("Version of this format.", "the integer 1")]
    name: Annotated[Text, text_field("What the set is called.")]
    version: Annotated[Text, text_field("Its version; another content is another version.")]
    status: Annotated[Status, choice_field("Whether figures on it claim anything: an `example` is for trying.", Status)]
    licenses: Annotated[list[Text], described("Licences that samples may have.", _TEXTS, holds=all_say_something)]
    balance: Annotated[
        dict[str, BalanceTargets] | None,
        described("Targets by category: how many samples each split should have.", "an object or null"),
    ] = None
    samples: Annotated[list[GoldenSample], Meta(min_length=1), described("The samples.", "an array that is not empty")]


GOLDEN_SET = Kind(
    name=KIND,
    row=GoldenSample,
    id_field="id",
    adapter_field=None,
    media_type=MEDIA_TYPE,
    split_field="split",
    splits=SPLITS,
    private=PRIVATE,
    text_field="text",
    unselectable=PRIVATE,
)


def golden_set_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of a golden set.

    Everything that the reader accepts is valid under it. The reader refuses more: repeated keys, integers written with a
    fraction, dates that no calendar has, ids that stand twice, pairs that are none, labels of several owners.
    """
    document = schema_document(GoldenSet, "Golden set")
    sample = document["$defs"][GoldenSample.__name__]
    sample["allOf"] = [
        {
            "if": {"properties": {"label": {"const": label}}},
            "then": {"properties": {"provenance": {"properties": {"kind": {"const": label}}}}},
        }
        for label in get_args(Label)
    ]
    return document
