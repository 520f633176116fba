"""Texts of a golden set that are the same or nearly the same: leaks between the splits, and what counts twice within one."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_benchbench.manifests.golden_set import SPLITS
from pytest_benchbench.validation.finding import Finding, RuleOutcome, Severity
from pytest_benchbench.validation.near_texts import NEAR, NearTexts, near_texts
from pytest_benchbench.validation.placed_samples import PlacedSample, about, first_groups, outcome
from pytest_benchbench.validation.shingles import SHINGLE_WORDS, Shingles, shingles_of, words, words_sha256

MOST_CHARACTERS: Final = 1_000_000
"""Characters of a text that are compared: ten times of what detectors take."""


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What comparing needs of a text.

    Attributes:
        word_count: Its words.
        key: The same for texts that are the same but for typesetting.
        shingles: Its runs of words.
    """

    word_count: int
    key: str
    shingles: Shingles


def text_facts(text: str) -> TextFacts:
    """Take the facts of a text's first ``MOST_CHARACTERS``; texts without words are the same if their characters are."""
    text = text[:MOST_CHARACTERS]
    found = words(text)
    key = words_sha256(found) if found else f"raw {hashlib.sha256(text.strip().encode()).hexdigest()}"
    return TextFacts(len(found), key, shingles_of(found))


def long_texts(placed: Sequence[PlacedSample]) -> RuleOutcome:
    """Find texts that nothing can be measured on: rule ``long-text``, an error, because not all of them was compared."""
    long = [one for one in placed if len(one.sample.text) > MOST_CHARACTERS]
    message = f"more than {MOST_CHARACTERS:,} characters, which no detector takes; what follows them was not compared"
    return outcome("long-text", "error", [about("long-text", "error", long, message)] if long else [])


def same_texts(placed: Sequence[PlacedSample], facts: Sequence[TextFacts]) -> list[RuleOutcome]:
    """Find texts that are the same but for typesetting.

    Rules ``label-conflict``, an error: with two labels; ``duplicates``, an error: in two splits;
    ``duplicates-within-split``, a warning: twice in one split, where it counts twice.
    """
    by_key: dict[str, list[PlacedSample]] = defaultdict(list)
    for one, of_text in zip(placed, facts, strict=True):
        by_key[of_text.key].append(one)
    repeated = [group for group in by_key.values() if len(group) > 1]
    conflicting = [group for group in repeated if len({one.sample.label for one in group}) > 1]
    within: list[list[PlacedSample]] = []
    for group in repeated:
        of_split = (_of_split(group, split) for split in SPLITS)
        within.extend(part for part in of_split if len(part) > 1)
    across = [group for group in repeated if _splits(group) > 1]
    return [
        _outcome("label-conflict", "error", conflicting, "the same text is labelled both ai and human"),
        _outcome("duplicates", "error", across, "the same text stands in tune and in holdout"),
        _outcome("duplicates-within-split", "warning", within, "the same text counts several times in one split"),
    ]


def alike_texts(file: str, placed: Sequence[PlacedSample], facts: Sequence[TextFacts]) -> list[RuleOutcome]:
    """Find texts that are nearly the same, directly or through others, as ``near_texts`` says.

    Rules ``near-duplicates``, an error: they stand in two splits; ``near-duplicates-within-split``, a warning: in one split,
    where none is the humanized variant of the other; ``near-duplicates-unfinished``, an error: so many texts share passages
    that not all could be compared. Texts that are the same are no finding here.
    """
    texts = _Distinct(placed, facts)
    found = near_texts(texts.shingles)
    near = f"share {NEAR:.0%} or more of their runs of {SHINGLE_WORDS} words"
    across: list[list[PlacedSample]] = []
    within: list[list[PlacedSample]] = []
    for group in texts.grouped(found):
        for split in SPLITS:
            if texts.count(part := _of_split(group, split)) > 1 and not texts.is_family(part):
                within.append(part)
        if _splits(group) > 1:
            across.append(group)
    outcomes = [
        _outcome("near-duplicates", "error", across, f"texts in tune and in holdout {near}, directly or through others"),
        _outcome(
            "near-duplicates-within-split", "warning", within, f"texts of one split {near}, and pairOf does not join them"
        ),
    ]
    if not found.finished:
        message = "so many texts share passages that not all could be compared: shorten what they share, or split the set"
        unfinished = Finding("near-duplicates-unfinished", "error", (), message, len(placed), file)
        outcomes.append(outcome("near-duplicates-unfinished", "error", [unfinished]))
    return outcomes


class _Distinct:
    """The texts of samples, each once."""

    def __init__(self, placed: Sequence[PlacedSample], facts: Sequence[TextFacts]) -> None:
        self._placed = placed
        numbers: dict[str, int] = {}
        self.shingles: list[Shingles] = []
        for of_text in facts:
            if of_text.key not in numbers:
                numbers[of_text.key] = len(numbers)
                self.shingles.append(of_text.shingles)
        self._number = {one.sample.id: numbers[of_text.key] for one, of_text in zip(placed, facts, strict=True)}

    def grouped(self, found: NearTexts) -> Iterator[list[PlacedSample]]:
        """Yield samples whose texts are in one group, those of more than one text."""
        groups: dict[int, list[PlacedSample]] = defaultdict(list)
        for one in self._placed:
            groups[int(found.groups[self._number[one.sample.id]])].append(one)
        yield from (group for group in groups.values() if self.count(group) > 1)

    def count(self, group: Iterable[PlacedSample]) -> int:
        """Count the texts of samples."""
        return len({self._number[one.sample.id] for one in group})

    def is_family(self, group: Iterable[PlacedSample]) -> bool:
        """Say whether samples are one original and its humanized variants."""
        return len({one.sample.pairOf or one.sample.id for one in group}) == 1


def _outcome(rule: str, severity: Severity, groups: list[list[PlacedSample]], message: str) -> RuleOutcome:
    kept = tuple(about(rule, severity, group, message) for group in first_groups(groups))
    return RuleOutcome(rule, severity, kept, len(groups))


def _of_split(group: Iterable[PlacedSample], split: str) -> list[PlacedSample]:
    return [one for one in group if one.sample.split == split]


def _splits(group: Iterable[PlacedSample]) -> int:
    return len({one.sample.split for one in group})
