"""The row of a watermark manifest, schema version 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec

from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.field_types import (
    Digest,
    FilePath,
    Identifier,
    Integer64,
    Text,
    choice_field,
    described,
    digest_field,
    identifier_field,
    is_hex,
    path_field,
    path_problem,
    says_something,
    schema_document,
    surely_allowed,
    text_field,
)
from pytest_benchbench.manifests.rows import PinnedFile, RowContext, RowKind
from pytest_benchbench.manifests.strict_json import MAX_DEPTH, Problem, too_deep

KERNEL_MEDIA_TYPES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "audioseal": frozenset({"audio"}),
        "dwt-dct": frozenset({"image"}),
        "perth": frozenset({"audio"}),
        "pixelseal": frozenset({"image"}),
        "trustmark": frozenset({"image"}),
        "videoseal": frozenset({"video"}),
    }
)
"""The adapters of the watermark kernel. Their names are known whether or not they can run here."""

UNKNOWN_ADAPTER = "unknown adapter"
"""How the message begins about a row that names an adapter which is not registered."""

_PARAMETER_LEVELS = MAX_DEPTH - 2

_CONTAINERS = frozenset({dict, list})


class Transform(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What was done to the artifact, exactly enough to do it again."""

    name: Annotated[Text, text_field("Name of the transform, `none` where nothing was done.")]
    revision: Annotated[Text, text_field("Revision of the code that did it.")]
    parameters: Annotated[dict[str, Any], described("Every parameter, as JSON values.", "an object")]


Medium = Literal["image", "audio", "video"]

Arm = Literal["positive", "matched_negative", "wrong_key", "hard_negative"]

State = Literal["clean", "marked", "attacked", "removed", "forged"]

Expectation = Literal["detected", "not_detected", "unresolved"]


class WatermarkCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One case: an artifact, the adapter that is asked about it, and the answer that is expected."""

    schema_version: Annotated[Literal[1], described("Version of this format.", "the integer 1")]
    case_id: Annotated[Identifier, identifier_field("Identity of the case, unique over a run.")]
    pair_id: Annotated[Text, text_field("Groups the clean, marked, attacked and removed cases of one carrier.")]
    media_type: Annotated[Medium, choice_field("What kind of medium the artifact is.", Medium)]
    adapter: Annotated[Text, text_field("Name of the detector that is asked.")]
    arm: Annotated[Arm, choice_field("The case's part in the evaluation.", Arm)]
    state: Annotated[
        State,
        choice_field("State of the artifact; `forged` carries a watermark with another message than the adapter's.", State),
    ]
    path: Annotated[FilePath, path_field("The artifact, relative to the manifest's directory, which it may not leave.")]
    sha256: Annotated[Digest, digest_field("SHA-256 of the artifact's bytes.")]
    reference_path: Annotated[
        FilePath | None, path_field("What fidelity is measured against; null together with its digest.", nullable=True)
    ]
    reference_sha256: Annotated[Digest | None, digest_field("SHA-256 of the reference's bytes.", nullable=True)]
    source_revision: Annotated[Text, text_field("Revision of the corpus, generator or acquisition.")]
    transform: Annotated[Transform, described("What was done to the artifact.", "an object")]
    seed: Annotated[
        Integer64 | None,
        described("Seed of what was random; null where nothing was.", "an integer of 64 bits or null"),
    ]
    expected: Annotated[Expectation, choice_field("The right answer; `unresolved` where none is asserted.", Expectation)]


def watermark_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of one row of a watermark manifest.

    Everything that the reader accepts is valid under it, except paths elsewhere that artifact roots allow. The reader
    refuses more: repeated keys, integers written with a fraction, paths that leave the directory on the way, adapters that
    are not registered.
    """
    document = schema_document(WatermarkCase, "Row of a watermark manifest")
    paths, digests = {"reference_path": {"type": "null"}}, {"reference_sha256": {"type": "null"}}
    document["allOf"] = [
        {"if": {"properties": paths}, "then": {"properties": digests}, "else": {"not": {"properties": digests}}},
        *(
            {
                "if": {"properties": {"adapter": {"const": adapter}}},
                "then": {"properties": {"media_type": {"enum": sorted(media)}}},
            }
            for adapter, media in KERNEL_MEDIA_TYPES.items()
        ),
    ]
    return document


_MEMBERS = len(msgspec.structs.fields(WatermarkCase)) + len(msgspec.structs.fields(Transform))


def _sound_members(case: WatermarkCase, context: RowContext) -> int:
    parameters, path, digests = case.transform.parameters, case.path, case.sha256
    reference = case.reference_path
    if reference is not None and case.reference_sha256 is not None:
        digests += case.reference_sha256
        if not surely_allowed(reference, context.outside_allowed):
            return 0
    elif reference is not case.reference_sha256:
        return 0
    if not (
        context.matching[case.adapter, case.media_type]
        and case.case_id.isprintable()
        and is_hex(digests)
        and says_something(case.pair_id)
        and says_something(case.source_revision)
        and says_something(case.transform.name)
        and says_something(case.transform.revision)
        and surely_allowed(path, context.outside_allowed)
    ):
        return 0
    for value in parameters.values():  # a generator would cost a tenth of the whole look
        if value.__class__ in _CONTAINERS and too_deep(value, _PARAMETER_LEVELS - 1):
            return 0
    return _MEMBERS + len(parameters)


def _problems(row: Mapping[str, Any], context: RowContext) -> Iterator[Problem]:
    if (adapter := row.get("adapter")) is not None:
        media_types = context.media_types.get(adapter)
        if media_types is None:
            yield "adapter", f"{UNKNOWN_ADAPTER} {shown(adapter)}; known: {', '.join(sorted(context.media_types))}"
        elif (media_type := row.get("media_type")) is not None and media_type not in media_types:
            yield "media_type", f"{adapter} is asked about {' or '.join(sorted(media_types))}, not {media_type}"
    for name in ("path", "reference_path"):
        path = row.get(name)
        if path is not None and (why := path_problem(path, outside_allowed=context.outside_allowed)):
            yield name, why
    if "reference_path" in row and "reference_sha256" in row:
        given = {name: row[name] is not None for name in ("reference_path", "reference_sha256")}
        if given["reference_path"] != given["reference_sha256"]:
            half = "reference_path" if given["reference_path"] else "reference_sha256"
            yield half, "reference_path and reference_sha256 must both be given or both be null"


WATERMARK = RowKind(
    name="watermark",
    row=WatermarkCase,
    id_field="case_id",
    adapter_field="adapter",
    files=(PinnedFile("path", "sha256"), PinnedFile("reference_path", "reference_sha256")),
    sound_members=_sound_members,
    problems=_problems,
)
