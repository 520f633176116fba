"""Whether the search for holdout samples still finds them: overlaps of every kind, planted into a corpus made for it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_benchbench.manifests.golden_set import HOLDOUT, GoldenSample
from pytest_benchbench.validation.contamination import FEWEST_SHINGLES, SHORT_WORDS, THRESHOLD, Holdout, Kind
from pytest_benchbench.validation.contamination_files import files_under
from pytest_benchbench.validation.contamination_search import scan_file
from pytest_benchbench.validation.shingles import shingles_of, words

CHANGED_WORD = 12
"""One word in so many of a planted text is another one, which leaves it more than half of its shingles."""

CLEAN = "clean.txt"
"""The file into which nothing is planted."""

_MISSED_TOLD = 10


@dataclass(frozen=True, slots=True)
class Planted:
    """A file of the made corpus.

    Attributes:
        kind: What is planted into it.
        samples: Ids of the samples of which something is planted.
        data: Its bytes.
    """

    kind: Kind
    samples: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Audit:
    """What came out.

    Attributes:
        planted: By file, how many overlaps were planted.
        caught: By file, how many of these were found, as what they were planted.
        missed: The first ones that were not found, as file and sample's id.
        false_alarms: Overlaps found in the file that holds none.
    """

    planted: Mapping[str, int]
    caught: Mapping[str, int]
    missed: tuple[tuple[str, str], ...]
    false_alarms: int

    @property
    def is_passed(self) -> bool:
        """Whether something was planted by id and by text, all of it was found, and nothing where nothing is."""
        complete = bool(self.planted["ids.yaml"]) and bool(self.planted["texts.jsonl"])
        return complete and self.planted == self.caught and not self.false_alarms


def audit(samples: Sequence[GoldenSample], *, threshold: float = THRESHOLD) -> Audit:
    """Plant every holdout sample, in every way, into a temporary corpus, and look for it as a search does.

    Args:
        samples: Of a golden set.
        threshold: As the search has it; one above ``THRESHOLD`` misses what is planted in part.

    Raises:
        OSError: The temporary folder cannot be written.
    """
    looked_for = Holdout(samples, threshold=threshold)
    made = corpus([sample for sample in samples if sample.split == HOLDOUT])
    with TemporaryDirectory(prefix="benchbench-audit-") as folder:
        for name, planted in made.items():
            Path(folder, name).write_bytes(planted.data)
        Path(folder, CLEAN).write_text("".join(f"{_filling(number)}\n" for number in range(1000)), encoding="utf-8")
        found = {
            path.name: {(overlap.sample, overlap.kind) for overlap in scan_file(looked_for, path).overlaps}
            for path in files_under([Path(folder)])
            if isinstance(path, Path)
        }
    missed = [
        (name, sample)
        for name, planted in made.items()
        for sample in planted.samples
        if (sample, planted.kind) not in found.get(name, set())
    ]
    counts = {name: len(planted.samples) for name, planted in made.items()}
    caught = {name: count - sum(place == name for place, _ in missed) for name, count in counts.items()}
    return Audit(counts, caught, tuple(missed[:_MISSED_TOLD]), len(found.get(CLEAN, ())))


def corpus(samples: Sequence[GoldenSample]) -> dict[str, Planted]:
    """Make the files into which samples are planted, by name: in every one those of which it can hold something.

    ``ids.yaml`` has their ids; ``texts.jsonl`` their texts with the escapes of JSON, in capitals, among other fields;
    ``texts.txt.gz`` their texts with other line breaks and spaces; ``edited.txt`` their texts with one word in
    ``CHANGED_WORD`` replaced, where they are long enough to be known by the rest.
    """
    found = [(sample, words(sample.text)) for sample in samples]
    with_text = [sample for sample, of_text in found if of_text]
    long = [(sample.id, of_text) for sample, of_text in found if len(shingles_of(of_text)) >= FEWEST_SHINGLES]
    ids = [f"  - id: {json.dumps(sample.id, ensure_ascii=False)}" for sample in samples]
    rows = [json.dumps({"prompt": _filling(i), "completion": s.text.upper(), "weight": 1}) for i, s in enumerate(with_text)]
    wrapped = [_wrapped(sample.text) for sample in with_text]
    edited = [" ".join(_edited(of_text)) for _, of_text in long]
    return {
        "ids.yaml": Planted("id", tuple(sample.id for sample in samples), _lines("train:", *ids)),
        "texts.jsonl": Planted("text", tuple(sample.id for sample in with_text), _lines(*rows)),
        "texts.txt.gz": Planted("text", tuple(sample.id for sample in with_text), gzip.compress(_lines(*wrapped), mtime=0)),
        "edited.txt": Planted("shingles", tuple(name for name, _ in long), _lines(*edited)),
    }


def _filling(number: int) -> str:
    return f"A line of a corpus that holds no sample, with the number {number} in words that nobody measures."


def _wrapped(text: str) -> str:
    """Put other white space between the words of a text; one that is looked for in one line stays in one."""
    parts = text.replace("\0", " ").split()  # with that in it, a file is no text
    if len(words(text)) < SHORT_WORDS:
        return "  ".join(parts)
    return "\r\n".join(" \t".join(parts[at : at + 7]) for at in range(0, len(parts), 7))


def _edited(of_text: Sequence[str]) -> list[str]:
    return ["another" if place % CHANGED_WORD == CHANGED_WORD - 1 else word for place, word in enumerate(of_text)]


def _lines(*lines: str) -> bytes:
    """Put lines of no sample between others, as UTF-8."""
    parts = [part for number, line in enumerate(lines) for part in (line, f"# {_filling(number)}")]
    return "".join(f"{part}\n" for part in parts).encode("utf-8", "surrogatepass")
