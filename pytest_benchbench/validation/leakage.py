"""Leaks between splits, and bases that contradict themselves, told by the rows alone.

Most rules are one question: rows are grouped by a key (their bytes, base, source, generator family or split group), and no
group may differ in something (split, label, source, family). ``docs/dataset.md`` lists the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.spelling import spelled_alike
from pytest_benchbench.validation.columns import SPLITS, DatasetColumns
from pytest_benchbench.validation.finding import MAX_KEPT_OF_RULE, Finding, RuleOutcome, Severity

_LABELS = ("real", "AI")

_VALUES_SHOWN = 3

_NAMES = ("source", "generatorFamily")
"""Fields that are not held out by another spelling."""

_Codes = NDArray[Any]

_Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Question:
    """Whether the rows of one group differ.

    Attributes:
        rule: Its name.
        keys: For each row the group, -1 for none.
        aspects: For each row what must not differ, at least 0.
        rows: The rows that the rule is about.
        key_text: The text of a group, by its code; groups are named in the order of these texts.
        aspect_text: The text of an aspect, by its code.
        message: Where ``{key}`` and ``{aspects}`` stand for the texts.
    """

    rule: str
    keys: _Codes
    aspects: _Codes
    rows: _Rows
    key_text: Callable[[int], str]
    aspect_text: Callable[[int], str]
    message: str


def leakage(columns: DatasetColumns) -> list[RuleOutcome]:
    """Apply every rule that rows alone can break; which findings there are does not depend on the order of rows.

    Returns:
        One outcome for each rule, in a fixed order; those without findings too.
    """
    content, digest_of = columns.contents()
    every = np.ones(len(columns), np.bool_)
    bases = columns.values("baseId")
    base = columns.codes("baseId")

    def of_base(rule: str, aspects: _Codes, rows: _Rows, aspect_text: Callable[[int], str], message: str) -> RuleOutcome:
        return _answer(columns, _Question(rule, base, aspects, rows, bases.__getitem__, aspect_text, message))

    def of_bytes(rule: str, aspects: _Codes, aspect_text: Callable[[int], str], message: str) -> RuleOutcome:
        return _answer(columns, _Question(rule, content, aspects, every, digest_of, aspect_text, message))

    return [
        of_bytes("bytes-split", columns.splits, SPLITS.__getitem__, "the same bytes are in {aspects}"),
        _repeated_bytes(columns, content, digest_of),
        of_bytes("bytes-label", columns.labels, _LABELS.__getitem__, "the same bytes are labelled {aspects}"),
        _between_splits(columns, "base-split", "baseId", "base {key} is in {aspects}", every),
        _between_splits(columns, "source-split", "source", "real source {key} is in {aspects}", columns.labels == 0),
        _between_splits(
            columns, "family-split", "generatorFamily", "generator family {key} is in {aspects}", columns.labels == 1
        ),
        _between_splits(columns, "group-split", "splitGroup", "split group {key} is in {aspects}", every),
        of_base("base-label", columns.labels, every, _LABELS.__getitem__, "base {key} is labelled {aspects}"),
        of_base(
            "base-source", columns.codes("source"), every, _shown(columns, "source"), "base {key} has the sources {aspects}"
        ),
        of_base(
            "base-family",
            columns.codes("generatorFamily"),
            columns.labels == 1,
            _shown(columns, "generatorFamily"),
            "base {key} has the generator families {aspects}",
        ),
        *_chained_bases(columns),
        _real_with_generator(columns),
    ]


def same_bytes_of_a_base(columns: DatasetColumns) -> int:
    """Count the rows whose bytes another row of their base has too, such as a transform that had nothing to change."""
    content, _ = columns.contents()
    pairs = content.astype(np.int64) * (len(columns.values("baseId")) + 1) + columns.codes("baseId")
    _, counts = np.unique(pairs, return_counts=True)
    return int((counts - 1).sum())


def _between_splits(columns: DatasetColumns, rule: str, field: str, message: str, rows: _Rows) -> RuleOutcome:
    values = columns.values(field)
    keys: _Codes = columns.codes(field)
    if field in _NAMES:  # all spellings have the code of the first of them, whichever row comes first
        codes: dict[str, int] = {}
        of_codes = np.full(len(values) + 1, -1, np.int64)
        for code in sorted(range(len(values)), key=values.__getitem__):
            of_codes[code] = codes.setdefault(spelled_alike(values[code]), code)
        keys = of_codes[keys]
    return _answer(columns, _Question(rule, keys, columns.splits, rows, values.__getitem__, SPLITS.__getitem__, message))


def _answer(columns: DatasetColumns, question: _Question) -> RuleOutcome:
    """Find the groups that differ, by the least and the greatest aspect in each."""
    keys, aspects = question.keys, question.aspects
    asked = np.flatnonzero(question.rows & (keys >= 0))
    size = int(keys.max(initial=-1)) + 1
    least, greatest = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(least, keys[asked], aspects[asked])
    np.maximum.at(greatest, keys[asked], aspects[asked])
    differing = greatest > least

    def describe(code: int) -> Finding:
        rows = asked[keys[asked] == code]
        texts = sorted((question.aspect_text(int(aspect)) for aspect in np.unique(aspects[rows])), key=_place_of)
        message = question.message.format(key=shown(question.key_text(code)), aspects=_listed(texts))
        return _finding(columns, question.rule, "error", rows, message, aspects)

    return _outcome(question.rule, "error", np.flatnonzero(differing).tolist(), question.key_text, describe)


def _repeated_bytes(columns: DatasetColumns, content: _Codes, digest_of: Callable[[int], str]) -> RuleOutcome:
    """Find bytes that stand under several ids of one split.

    Bytes in several splits are a finding of another rule. A derivative may have the bytes of another row of its base: the
    transform had nothing to change, or one file is shown at two sizes. Then transform or resolution group differ.
    """
    counts = np.bincount(content, minlength=1)
    rows = np.flatnonzero(counts[content] > 1)
    variants = [columns.codes(field)[rows] for field in ("baseId", "transform", "resolutionGroup")]
    keys = [content[rows], columns.splits[rows].astype(np.int64), *variants]
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    same_content = ordered[0][1:] == ordered[0][:-1]
    other_base = ordered[2][1:] != ordered[2][:-1]
    same_row = np.all([key[1:] == key[:-1] for key in ordered], axis=0)
    bad = np.zeros(len(counts), np.bool_)
    bad[ordered[0][1:][same_content & (other_base | same_row)]] = True
    bad[ordered[0][1:][same_content & (ordered[1][1:] != ordered[1][:-1])]] = False  # the other rule's

    def describe(code: int) -> Finding:
        group = rows[content[rows] == code]
        return _finding(columns, "duplicate-bytes", "error", group, "the same bytes stand under several ids", None)

    return _outcome("duplicate-bytes", "error", np.flatnonzero(bad).tolist(), digest_of, describe)


def _chained_bases(columns: DatasetColumns) -> list[RuleOutcome]:
    """Find bases that are themselves derivatives: the row whose id the base is names another base."""
    base, splits, values = columns.codes("baseId"), columns.splits, columns.values("baseId")
    row_of = np.full(len(values), -1)
    for row, ref in enumerate(columns.refs):
        if (code := columns.code_of("baseId", ref.case_id)) is not None:
            row_of[code] = row
    originals = row_of[base] if len(columns) else np.empty(0, np.intp)
    chained = (originals >= 0) & (base[originals] != base)
    apart = chained & (splits[originals] != splits)
    between = set(base[apart].tolist())
    within = set(base[chained].tolist()) - between

    def describe(rule: str, severity: Severity) -> Callable[[int], Finding]:
        def of(code: int) -> Finding:
            original = int(row_of[code])
            rows = np.append(np.flatnonzero(base == code), original)
            own = shown(values[base[original]])
            message = f"base {shown(values[code])} is a row with another base, {own}; name the original, {own}, in every row"
            return _finding(columns, rule, severity, rows, message, splits)

        return of

    return [
        _outcome("base-chain-split", "error", between, values.__getitem__, describe("base-chain-split", "error")),
        _outcome("base-chain", "warning", within, values.__getitem__, describe("base-chain", "warning")),
    ]


def _real_with_generator(columns: DatasetColumns) -> RuleOutcome:
    """Find rows that are said to be real and to come out of a generator."""
    made = (columns.codes("generatorFamily") >= 0) | (columns.codes("generatorModel") >= 0)
    rows = np.flatnonzero((columns.labels == 0) & made)

    def describe(_: int) -> Finding:
        message = "rows are labelled real and name a generator"
        return _finding(columns, "real-generator", "warning", rows, message, None)

    return _outcome("real-generator", "warning", [0] if len(rows) else [], lambda _: "", describe)


def _outcome(
    rule: str,
    severity: Severity,
    codes: Iterable[int],
    key_text: Callable[[int], str],
    describe: Callable[[int], Finding],
) -> RuleOutcome:
    codes = list(codes)
    kept = nsmallest(MAX_KEPT_OF_RULE, codes, key=key_text)
    return RuleOutcome(rule, severity, tuple(describe(code) for code in kept), len(codes))


def _finding(
    columns: DatasetColumns, rule: str, severity: Severity, rows: NDArray[np.intp], message: str, aspects: _Codes | None
) -> Finding:
    return Finding(rule, severity, columns.named(rows, aspects), message, len(rows))


def _shown(columns: DatasetColumns, field: str) -> Callable[[int], str]:
    values = columns.values(field)
    return lambda code: shown(values[code])


def _place_of(text: str) -> tuple[int, str]:
    """Sort splits and labels as they follow each other, everything else as text."""
    fixed = (*SPLITS, *_LABELS)
    return (fixed.index(text), "") if text in fixed else (len(fixed), text)


def _listed(texts: list[str]) -> str:
    shown_texts = texts[:_VALUES_SHOWN]
    if len(texts) > _VALUES_SHOWN:
        return f"{', '.join(shown_texts)} and {len(texts) - _VALUES_SHOWN} more"
    return ", ".join(shown_texts[:-1]) + f" and {shown_texts[-1]}"
