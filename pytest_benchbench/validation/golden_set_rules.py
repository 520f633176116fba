"""What a golden set must hold as a whole, and who answers for it: balance, labels, owner, label source, reviewers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.golden_set import SPLITS, BalanceTargets
from pytest_benchbench.validation.finding import Finding, RuleOutcome, warned
from pytest_benchbench.validation.placed_samples import PlacedSample, about, outcome
from pytest_benchbench.validation.shingles import words

REVIEWED_TWICE_FROM: Final = 1000
"""Samples from which on every one needs two reviewers."""

SHORT_WORDS: Final = 50
"""A text of fewer words says little about who wrote it: its author should have thought about ``borderline``."""

VENDORS: Final = (
    "AI text classifier",
    "Binoculars detector",
    "Copyleaks",
    "Crossplag",
    "DetectGPT",
    "Fast-DetectGPT",
    "Ghostbuster",
    "GLTR",
    "GPTZero",
    "is-it-slop",
    "lmscan",
    "OpenAI classifier",
    "Originality",
    "Originality.ai",
    "Pangram",
    "Sapling AI",
    "Scribbr",
    "Turnitin",
    "Winston AI",
    "ZeroGPT",
    "ZipPy",
)
"""Detectors that are known by name, whether or not an adapter asks them."""

_DETECTING = frozenset(
    {
        "classifier",
        "classifiers",
        "detected",
        "detection",
        "detector",
        "detectors",
        "predicted",
        "prediction",
        "predictions",
        "predictor",
    }
)
"""Words after which a label was inferred, whatever inferred it."""

_NOBODY = frozenset(
    {
        "anonymous",
        "crowd",
        "crowdsourced",
        "mechanicalturk",
        "mturk",
        "na",
        "nobody",
        "none",
        "somebody",
        "tbd",
        "team",
        "todo",
        "unknown",
        "various",
    }
)
"""What is written where nobody is named, without spaces and punctuation; signs alone name nobody either."""

_MOST_PARTS = 4

_VERSION = re.compile(r"(?<=[^\W\d])v?\d+\Z")
"""What may stand behind a detector's name in one word with it."""


def balance(file: str, targets: dict[str, BalanceTargets] | None, placed: Sequence[PlacedSample]) -> list[RuleOutcome]:
    """Compare how many samples each category has in each split with the targets that the file declares.

    Rule ``balance``, an error for every split of a category that has another number, and for categories without targets;
    ``balance-undeclared``, a warning where the file has no targets at all.
    """
    if targets is None:
        message = "no targets are declared: say under balance how many samples are meant"
        return [warned("balance-undeclared", file, [message])]
    counts: Counter[tuple[str, str]] = Counter((one.sample.category, one.sample.split) for one in placed)
    categories = sorted({*targets, *(category for category, _ in counts)})

    def findings() -> Iterator[Finding]:
        for category in categories:
            for split in SPLITS:
                found = counts[category, split]
                wanted = getattr(targets[category], split) if category in targets else None
                if wanted is None and found:
                    message = f"category {shown(category)} has {found} in {split} and no target: declare it under balance"
                elif wanted is not None and wanted != found:
                    message = f"category {shown(category)} has {found} in {split}, its target is {wanted}"
                else:
                    continue
                yield Finding("balance", "error", (), message, found, file)

    return [outcome("balance", "error", findings())]


def both_labels(file: str, placed: Sequence[PlacedSample]) -> RuleOutcome:
    """Find splits without samples of one label, for which half of the figures cannot be computed: rule ``labels``."""
    present = {(one.sample.split, one.sample.label) for one in placed}
    missing = [(split, label) for split in SPLITS for label in ("ai", "human") if (split, label) not in present]
    messages = (f"{split} has no sample labelled {label}" for split, label in missing)
    return outcome("labels", "error", (Finding("labels", "error", (), message, 0, file) for message in messages))


def label_owner(placed: Sequence[PlacedSample]) -> RuleOutcome:
    """Find owners who are nobody: rule ``label-owner``. That it is the same one everywhere, the reader makes sure."""
    nobody = [one for one in placed if not _person(one.sample.labelOwner)]
    findings = []
    if nobody:
        message = f"{shown(nobody[0].sample.labelOwner)} is nobody: name the one person who answers for the labels"
        findings.append(about("label-owner", "error", nobody, message))
    return outcome("label-owner", "error", findings)


def label_source(placed: Sequence[PlacedSample], adapters: Iterable[str]) -> RuleOutcome:
    """Find labels that rest on what a detector said: rule ``label-source``.

    Args:
        placed: The samples.
        adapters: Names of the detectors that can be asked here; vendors known by name are added.
    """
    spelled = {name: words(name) for name in (*adapters, *VENDORS)}
    names = {"".join(of_name): name for name, of_name in spelled.items() if of_name}
    # a name can be cut into more words than it has itself: "G.P.T. Zero"
    longest = max(_MOST_PARTS, *map(len, spelled.values()))
    by_source: dict[str, list[PlacedSample]] = defaultdict(list)
    for one in placed:
        by_source[one.sample.labelSource].append(one)

    def findings() -> Iterator[Finding]:
        for source in sorted(by_source):
            if (named := _named_in(source, names, longest)) is not None:
                message = f"{shown(source)} names {named}: a label is given when a sample is made, never by a detector"
                yield about("label-source", "error", by_source[source], message)

    return outcome("label-source", "error", findings())


def reviewers(placed: Sequence[PlacedSample]) -> RuleOutcome:
    """Find samples that too few people have read: rule ``reviewers``.

    One reviewer by name for every sample, two different ones for what is borderline, and two for all from
    ``REVIEWED_TWICE_FROM`` samples on. Who is spelled alike but for case, spaces and punctuation is one person.
    """
    large = len(placed) >= REVIEWED_TWICE_FROM

    def findings() -> Iterator[Finding]:
        for one in placed:
            named = {_person(name) for name in one.sample.reviewers} - {""}
            needed = 2 if large or one.sample.borderline else 1
            if len(named) >= needed:
                continue
            if one.sample.borderline:
                why = "borderline samples need two different ones"
            elif large:
                why = f"a set of {REVIEWED_TWICE_FROM} samples or more needs two different ones for each"
            else:
                why = "every sample needs one"
            yield about("reviewers", "error", [one], f"{len(named)} named {_plural('reviewer', len(named))}: {why}")

    return outcome("reviewers", "error", findings())


def short_texts(placed: Sequence[PlacedSample], word_counts: Sequence[int]) -> RuleOutcome:
    """Warn of short texts that nobody called borderline: rule ``short-text``. Whether they are, their author decides.

    Args:
        placed: The samples.
        word_counts: The words of each one's text.
    """
    counted = zip(placed, word_counts, strict=True)
    short = [one for one, count in counted if count < SHORT_WORDS and not one.sample.borderline]
    message = f"fewer than {SHORT_WORDS} words and not borderline: detectors can say little about them, is that so?"
    return outcome("short-text", "warning", [about("short-text", "warning", short, message)] if short else [])


def _named_in(source: str, names: dict[str, str], longest: int) -> str | None:
    """Give what a label source names: a detector, or a word that means one; ``None`` where it does not."""
    found = words(source)
    for begin in range(len(found)):
        for end in range(begin + 1, min(begin + longest, len(found)) + 1):
            part = "".join(found[begin:end])
            if (name := names.get(part) or names.get(_VERSION.sub("", part))) is not None:
                return f"the detector {name}"
    return next((f"a {word}" for word in found if word in _DETECTING), None)


def _person(name: str) -> str:
    """Give what all spellings of a person's name have in common; nothing where nobody is named."""
    letters = "".join(words(name))
    return "" if letters in _NOBODY else letters


def _plural(what: str, number: int) -> str:
    return what if number == 1 else f"{what}s"
