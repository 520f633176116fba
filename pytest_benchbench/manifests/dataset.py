"""The row of a dataset manifest: one original image or one deterministic derivative of it, with its label.

Field names are those of the release contract, as they stand in the file.
"""
# ruff: noqa: N815 - the names are the contract's

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, get_args

import msgspec

from pytest_benchbench.manifests.field_types import (
    Digest,
    FilePath,
    Identifier,
    Text,
    all_say_something,
    choice_field,
    described,
    digest_field,
    identifier_field,
    is_hex,
    path_field,
    path_problem,
    schema_document,
    surely_allowed,
    text_field,
)
from pytest_benchbench.manifests.rows import PinnedFile, RowContext, RowKind
from pytest_benchbench.manifests.strict_json import Problem

Split = Literal["train", "calibration", "test"]

TEST_SPLIT: Final = "test"
"""The split of the one final measurement: opening it is written into the ledger."""

MEDIA_TYPE: Final = "image"
"""What the rows of every dataset manifest are about."""

ResolutionGroup = Literal["full-res", "thumbnail"]


class DatasetCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One labelled image of a dataset with immutable splits."""

    id: Annotated[Identifier, identifier_field("Identity of the row, unique over a run.")]
    baseId: Annotated[Text, text_field("The original that this image is or derives from: the independent unit.")]
    sha256: Annotated[Digest, digest_field("SHA-256 of the image's bytes.")]
    label: Annotated[Literal[0, 1], described("1 for AI, 0 for real.", "the integer 0 (real) or 1 (AI)")]
    split: Annotated[Split, choice_field("The role of the row, never to be changed.", Split)]
    source: Annotated[Text, text_field("Collection; the held-out acquisition domain of real images.")]
    generatorFamily: Annotated[
        Text | None, text_field("Family of the generator; required where label is 1.", nullable=True)
    ] = None
    generatorModel: Annotated[Text | None, text_field("Exact model of the generator.", nullable=True)] = None
    contentGroup: Annotated[Text, text_field("What the image shows or is, such as `photo`.")]
    transform: Annotated[Text, text_field("What was done to the original, such as `none` or `jpeg-75`.")]
    license: Annotated[Text, text_field("Licence or other reuse basis.")]
    path: Annotated[
        FilePath | None,
        path_field(
            "The image, relative to the manifest's directory; a row without a path joins, but cannot be run.",
            nullable=True,
        ),
    ] = None
    splitGroup: Annotated[
        Text | None, text_field("A stronger grouping key: prompt siblings, a batch, near-duplicates.", nullable=True)
    ] = None
    resolutionGroup: Annotated[
        ResolutionGroup | None, choice_field("The size at which the image is shown.", ResolutionGroup, nullable=True)
    ] = None
    prompt: Annotated[Text | None, text_field("The prompt of a generated image.", nullable=True)] = None


def dataset_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of one row of a dataset manifest.

    Everything that the reader accepts is valid under it; the reader refuses more, as with ``watermark_schema``.
    """
    document = schema_document(DatasetCase, "Row of a dataset manifest")
    document["allOf"] = [
        {
            "if": {"properties": {"label": {"const": 1}}},
            "then": {"required": ["generatorFamily"], "properties": {"generatorFamily": {"type": "string"}}},
        }
    ]
    return document


_texts_of = attrgetter(
    *(
        "baseId",
        "source",
        "generatorFamily",
        "generatorModel",
        "contentGroup",
        "transform",
        "license",
        "splitGroup",
        "prompt",
    )
)

_REQUIRED = sum(field.required for field in msgspec.structs.fields(DatasetCase))


def _sound_members(case: DatasetCase, context: RowContext) -> int:
    if not (
        is_hex(case.sha256)
        and case.id.isprintable()
        and (case.path is None or surely_allowed(case.path, context.outside_allowed))
        and (case.label == 0 or case.generatorFamily is not None)
        and all_say_something(_texts_of(case))
    ):
        return 0
    optional = (case.generatorFamily, case.generatorModel, case.path, case.splitGroup, case.resolutionGroup, case.prompt)
    return _REQUIRED + len(optional) - optional.count(None)


def _problems(row: Mapping[str, Any], context: RowContext) -> Iterator[Problem]:
    if row.get("label") == 1 and "generatorFamily" in row and row["generatorFamily"] is None:
        yield "generatorFamily", "must be given where label is 1 (AI)"
    path = row.get("path")
    if path is not None and (why := path_problem(path, outside_allowed=context.outside_allowed)):
        yield "path", why


DATASET = RowKind(
    name="dataset",
    row=DatasetCase,
    id_field="id",
    adapter_field=None,
    media_type=MEDIA_TYPE,
    files=(PinnedFile("path", "sha256"),),
    sound_members=_sound_members,
    problems=_problems,
    split_field="split",
    splits=get_args(Split),
    private=frozenset({"path"}),
)
