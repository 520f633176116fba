"""Builds the example golden set, the same bytes everywhere, and its digest beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.golden_set_example.rewriting import REWRITER, plainer
from pytest_benchbench.cohorts.golden_set_example.template_texts import GENERATOR, template_text
from pytest_benchbench.manifests.golden_set import (
    AiProvenance,
    BalanceTargets,
    GoldenSample,
    GoldenSet,
    HumanProvenance,
    Split,
)
from pytest_benchbench.manifests.golden_set_hash import digest_line, digest_path
from pytest_benchbench.manifests.golden_set_reading import parse_golden_set
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder

NAME: Final = "golden-set-example"
VERSION: Final = "v1"
FILE: Final = f"{NAME}-{VERSION}.json"

CATEGORIES: Final = ("novel", "law", "definition")
PER_CATEGORY: Final = 6
"""Human texts of a category in a split, and as many generated ones."""

HUMANIZED: Final = 3
"""Of how many generated texts of a category in a split there is a plainer wording."""

PUBLIC_DOMAIN: Final = "Public domain"
OWN_LICENSE: Final = "MIT"

_WRITTEN = "2026-11-30"
"""When the templates were written, and when the terms of the sources were checked."""

_OWNER = "Example Owner"
_REVIEWERS = ("Example Reviewer", "Second Example Reviewer")
_BORDERLINE_WORDS = 90
_FIRST_SEED: Final[dict[Split, int]] = {"tune": 1, "holdout": 101}


class _Passage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passage of a work in the public domain: white space, emphasis and quotation marks made plain, no word changed."""

    split: Split
    category: str
    title: str
    author: str
    date: str
    edition: str
    text: str


@dataclass(frozen=True, slots=True)
class BuiltExample:
    """An example golden set on disk.

    Attributes:
        golden_set: The file.
        samples: How many it has.
    """

    golden_set: Path
    samples: int


def example_set() -> GoldenSet:
    """Make the example: owner and reviewers are nobody, and no claim can rest on it."""
    samples = [*_human(), *_generated()]
    samples.sort(key=lambda sample: sample.id)
    counts: Counter[tuple[str, str]] = Counter((sample.category, sample.split) for sample in samples)
    return GoldenSet(
        schema_version=1,
        name=NAME,
        version=VERSION,
        status="example",
        licenses=[PUBLIC_DOMAIN, OWN_LICENSE],
        balance={name: BalanceTargets(counts[name, "tune"], counts[name, "holdout"]) for name in CATEGORIES},
        samples=samples,
    )


def example_bytes() -> bytes:
    """Give the file's bytes: JSON in ASCII, indented, in the order of ids."""
    return msgspec.json.format(msgspec.json.encode(example_set()), indent=1) + b"\n"


def build_golden_set_example(folder: Path) -> BuiltExample:
    """Write the example and its digest into a new folder, both or nothing.

    Args:
        folder: Must not exist; its parents are made.

    Raises:
        CohortError: The folder exists, or cannot be written.
    """
    data = example_bytes()
    located = parse_golden_set(data, FILE)
    try:
        with new_folder(folder) as beside:
            (beside / FILE).write_bytes(data)
            digest_path(beside / FILE).write_bytes(digest_line(beside / FILE, located.sha256))
    except FolderExistsError:
        raise CohortError(f"{folder}: exists already; name a new folder") from None
    except OSError as error:
        raise CohortError(f"{folder}: cannot be built: {error.strerror or error}") from error
    return BuiltExample(folder / FILE, len(located.golden_set.samples))


def _human() -> Iterator[GoldenSample]:
    passages = msgspec.json.decode(resources.files(__package__).joinpath("human.json").read_bytes(), type=list[_Passage])
    numbers: Counter[tuple[Split, str]] = Counter()
    for passage in passages:
        numbers[passage.split, passage.category] += 1
        borderline = len(passage.text.split()) < _BORDERLINE_WORDS
        yield GoldenSample(
            id=f"{passage.split}-{passage.category}-human-{numbers[passage.split, passage.category]}",
            split=passage.split,
            category=passage.category,
            label="human",
            text=passage.text,
            provenance=HumanProvenance(
                source=f"{passage.title} ({passage.edition})",
                author=passage.author,
                date=passage.date,
                license=PUBLIC_DOMAIN,
                termsChecked=_WRITTEN,
            ),
            labelOwner=_OWNER,
            labelSource="provenance",
            borderline=borderline,
            reviewers=list(_REVIEWERS if borderline else _REVIEWERS[:1]),
        )


def _generated() -> Iterator[GoldenSample]:
    for split, first in _FIRST_SEED.items():
        for category in CATEGORIES:
            for number in range(1, PER_CATEGORY + 1):
                seed = first + number - 1
                text = template_text(category, seed)
                prompt = f"category={category} seed={seed}"
                original = f"{split}-{category}-ai-{number}"
                yield _ai(original, split, category, text, GENERATOR, prompt)
                if number <= HUMANIZED:
                    model = f"{GENERATOR}, then {REWRITER}"
                    yield _ai(
                        f"{split}-{category}-humanized-{number}", split, category, plainer(text), model, prompt, original
                    )


def _ai(
    sample_id: str, split: Split, category: str, text: str, model: str, prompt: str, original: str | None = None
) -> GoldenSample:
    return GoldenSample(
        id=sample_id,
        split=split,
        category=category,
        label="ai",
        text=text,
        pairOf=original,
        provenance=AiProvenance(model=model, date=_WRITTEN, prompt=prompt, license=OWN_LICENSE),
        labelOwner=_OWNER,
        labelSource="provenance",
        borderline=False,
        reviewers=[_REVIEWERS[0]],
    )
