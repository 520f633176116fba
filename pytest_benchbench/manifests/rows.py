"""What a kind of row is, and how one row is examined field by field.

A field's type says what msgspec can check. ``Meta(extra=...)`` adds the rest: ``expected`` is the text for people, ``holds``
a further condition on the value, ``bare`` leaves out what was found instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from pytest_benchbench.manifests.faults import MAX_FAULTS_KEPT, MAX_SHOWN, shown, shown_key
from pytest_benchbench.manifests.strict_json import Problem

ManifestKind = Literal["watermark", "dataset", "golden-set"]


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file that a row names.

    Attributes:
        path_field: The field with its path.
        digest_field: The field with its digest.
    """

    path_field: str
    digest_field: str


class _Matching(dict[tuple[str, str], bool]):
    """Looks each pair up once: behind the mapping modules may be imported, and every row asks."""

    def __init__(self, media_types: Mapping[str, frozenset[str]]) -> None:
        super().__init__()
        self._media_types = media_types

    def __missing__(self, pair: tuple[str, str]) -> bool:
        adapter, media_type = pair
        self[pair] = media_type in self._media_types.get(adapter, frozenset())
        return self[pair]


@dataclass(slots=True)
class RowContext:
    """What the rules of a row need to know from outside the row.

    Attributes:
        media_types: Media types by adapter name.
        outside_allowed: Whether paths may be absolute or leave the manifest's directory, because other roots are allowed.
        matching: Whether an adapter is known and asked about a media type, by ``(adapter, media type)``.
    """

    media_types: Mapping[str, frozenset[str]]
    outside_allowed: bool = False
    matching: _Matching = field(init=False)

    def __post_init__(self) -> None:
        self.matching = _Matching(self.media_types)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of manifest, as those need to know it who run its rows.

    Attributes:
        name: As ruled.
        row: The type of a row.
        id_field: The field that must be unique.
        adapter_field: The field that names the adapter, if rows name one.
        media_type: What the artifact of every row is, where rows do not say it.
        split_field: The field that names the row's split, if rows have splits.
        splits: The splits there are.
        private: Fields that evidence leaves out: where a machine keeps its files is nobody else's business, and the texts
            of a golden set stay in it.
        text_field: The private field that holds the artifact itself, if rows hold a text.
        unselectable: Fields by whose values no rows are chosen, because what chooses is recorded.
    """

    name: ManifestKind
    row: type[msgspec.Struct]
    id_field: str
    adapter_field: str | None
    media_type: str | None = None
    split_field: str | None = None
    splits: tuple[str, ...] = ()
    private: frozenset[str] = frozenset()
    text_field: str | None = None
    unselectable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind(Kind):
    """A kind of manifest that has a row on each line.

    Attributes:
        files: The files that a row names.
        sound_members: A quick look at a decoded row. 0 means that somebody must look closer; another number means that
            ``problems`` and the field checks would find nothing, and that the line has at least so many members, those of
            nested objects included.
        problems: The rules over several fields, given the fields that are sound by themselves; an optional field that is
            absent is null.
    """

    files: tuple[PinnedFile, ...]
    sound_members: Callable[[Any, RowContext], int]
    problems: Callable[[Mapping[str, Any], RowContext], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    type: Any
    required: bool
    nested: type[msgspec.Struct] | None
    expected: str
    holds: Callable[[Any], bool] | None
    bare: bool


def examine(
    value: dict[str, Any], kind: RowKind, context: RowContext, *, spoiled: frozenset[str] = frozenset()
) -> list[Problem]:
    """Find everything that is wrong with one row.

    Args:
        value: The row as plain JSON values.
        kind: What it should be.
        context: What its rules need.
        spoiled: Fields that are known to be wrong already.

    Returns:
        Fields in the order of the row's type, then unknown fields, then rules over several fields.
    """
    problems: list[Problem] = []
    sound = check_fields(value, kind.row, "", spoiled, problems)
    problems.extend(kind.problems(sound, context))
    return problems


def check_fields(
    value: dict[str, Any], row: type[msgspec.Struct], prefix: str, spoiled: frozenset[str], problems: list[Problem]
) -> dict[str, Any]:
    """Check every field by itself and return those that are sound.

    Args:
        value: An object as plain JSON values.
        row: What it should be.
        prefix: What stands before the names of its fields in problems.
        spoiled: Fields that are known to be wrong already.
        problems: Takes what is wrong.
    """
    sound: dict[str, Any] = {}
    known = _fields(row)
    for name, rules in known.items():
        if name in spoiled:
            continue
        if name not in value:
            if rules.required:
                problems.append((f"{prefix}{name}", "missing"))
            else:
                sound[name] = None
            continue
        found = value[name]
        if rules.nested is not None and isinstance(found, dict):
            before = len(problems)
            check_fields(found, rules.nested, f"{prefix}{name}.", frozenset(), problems)
            if len(problems) == before:
                sound[name] = found
        elif _is_of(found, rules.type) and (rules.holds is None or found is None or rules.holds(found)):
            sound[name] = found
        else:
            message = f"expected {rules.expected}"
            problems.append((f"{prefix}{name}", message if rules.bare else f"{message}, got {shown(found)}"))
    missing = [name for name in known if name not in value]
    for name in value:
        if name not in known:
            near = get_close_matches(name, missing, n=1) if len(problems) < MAX_FAULTS_KEPT and len(name) < MAX_SHOWN else []
            hint = f" (is {near[0]} meant?)" if near else ""
            problems.append((f"{prefix}{shown_key(name)}", f"unknown field{hint}"))
    return sound


def _is_of(value: Any, of: Any) -> bool:
    try:
        msgspec.convert(value, of)
    except msgspec.ValidationError:
        return False
    return True


@lru_cache(maxsize=16)
def _fields(row: type[msgspec.Struct]) -> dict[str, _Field]:
    return {info.encode_name: _field(info) for info in msgspec.structs.fields(row)}


def _field(info: msgspec.structs.FieldInfo) -> _Field:
    plain = get_args(info.type)[0] if get_origin(info.type) is Annotated else info.type
    metas = getattr(info.type, "__metadata__", ())
    extra: dict[str, Any] = {}
    for meta in metas:
        extra.update(meta.extra or {})
    return _Field(
        name=info.encode_name,
        type=info.type,
        required=info.required,
        nested=plain if isinstance(plain, type) and issubclass(plain, msgspec.Struct) else None,
        expected=extra.get("expected", ""),
        holds=extra.get("holds"),
        bare=extra.get("bare", False),
    )
