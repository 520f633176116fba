"""The kinds of manifest, told by a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import msgspec

from pytest_benchbench.manifests.dataset import DATASET, dataset_schema
from pytest_benchbench.manifests.golden_set import GOLDEN_SET, golden_set_schema
from pytest_benchbench.manifests.rows import Kind, ManifestKind, RowKind
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object
from pytest_benchbench.manifests.watermark import WATERMARK, watermark_schema

ROW_KINDS: Mapping[str, RowKind] = MappingProxyType({"watermark": WATERMARK, "dataset": DATASET})
"""The kinds whose manifests are JSON Lines."""

KINDS: Mapping[str, Kind] = MappingProxyType({**ROW_KINDS, GOLDEN_SET.name: GOLDEN_SET})
"""All kinds."""

SCHEMAS = MappingProxyType({"watermark": watermark_schema, "dataset": dataset_schema, "golden-set": golden_set_schema})
"""The JSON Schema of a row, or of a whole golden set, by kind."""

SHAPES = (
    "a watermark row has schema_version and case_id, a dataset row has baseId and label, "
    "a golden set is a JSON object with samples"
)

_LINES_LOOKED_AT = 100


def kind_of_members(names: Collection[str]) -> ManifestKind | None:
    """Tell the kind of a JSON object by the names of its members; ``None`` when they do not tell."""
    if "schema_version" in names and "case_id" in names:
        return "watermark"
    if "baseId" in names and "label" in names:
        return "dataset"
    return "golden-set" if "samples" in names else None


def kind_of_lines(lines: Iterable[tuple[int, int, bytes]]) -> ManifestKind | None:
    """Tell the kind of a manifest by its first row.

    A first row that does not tell is at fault itself; the next ones are asked, so that it is refused for what it lacks and
    not for being unknown.

    Args:
        lines: ``(number, offset, line)`` from the beginning.
    """
    for number, _, line in lines:
        if number > _LINES_LOOKED_AT:
            break
        try:
            members, _ = parse_object(line)  # exact, so that a row with a fault inside still tells
        except MalformedJsonError:
            continue
        if (kind := kind_of_members(members)) is not None:
            return kind
    return None


def is_golden_set(document: bytes) -> bool:
    """Say whether a whole file is one JSON object with samples, which may be written over many lines.

    One that is broken and names samples was meant to be: it is refused for what is broken, and not for being unknown.
    """
    try:
        members = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return document.lstrip(b" \t\r\n").startswith(b"{") and b'"samples"' in document
    return kind_of_members(members) == "golden-set"
