"""What looking for holdout samples costs: the text of a corpus per second, and as a multiple of hashing the same bytes.

A golden set of texts that are made for it is looked for in a corpus of one file, by id, text and shingles, in one process:
once in a plain one, once in one of JSON lines with escapes, each of which is looked at twice. ``hashlib.sha256`` reads the
same files in the same process. Prints one JSON object.

    python benchmarks/performance/contamination.py --megabytes 64
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import time
from pathlib import Path

from measuring import print_figures

from pytest_benchbench.manifests.golden_set import GoldenSample, HumanProvenance
from pytest_benchbench.validation.contamination import Holdout
from pytest_benchbench.validation.contamination_search import scan_file


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--directory", type=Path, help="Where to work; by default a temporary folder.")
    options = parser.parse_args()
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(30_000)]
    holdout = Holdout([_sample(number, " ".join(rng.choices(words, k=300))) for number in range(options.samples)])
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        files = {"plain": Path(folder, "plain.txt"), "JSON lines": Path(folder, "lines.jsonl")}
        _write(files["plain"], options.megabytes, rng, words, lambda line: line)
        _write(files["JSON lines"], options.megabytes, rng, words, lambda line: json.dumps({"text": f'"{line}"\n'}))
        for _ in range(options.repetitions):
            for name, path in files.items():
                seconds.setdefault(f"hashing {name}", []).append(_timed(lambda path=path: _hash(path)))
                seconds.setdefault(f"looking through {name}", []).append(_timed(lambda path=path: _look(holdout, path)))
        sizes = {name: path.stat().st_size / 1e6 for name, path in files.items()}
    figures = {}
    for name, size in sizes.items():
        looking, hashing = min(seconds[f"looking through {name}"]), min(seconds[f"hashing {name}"])
        figures[f"{name}: MB a second"] = round(size / looking, 1)
        figures[f"{name}: times hashlib.sha256"] = round(looking / hashing, 1)
    print_figures(
        "contamination",
        {"megabytes": options.megabytes, "samples": options.samples, "repetitions": options.repetitions},
        figures,
        {},
        seconds,
    )


def _sample(number: int, text: str) -> GoldenSample:
    provenance = HumanProvenance(source="made", date="2026", license="CC0-1.0", termsChecked="2026-01-01")
    return GoldenSample(
        id=f"sample-{number:04}",
        split="holdout",
        category="made",
        label="human",
        text=text,
        provenance=provenance,
        labelOwner="nobody",
        labelSource="provenance",
        borderline=False,
        reviewers=["nobody"],
    )


def _write(path: Path, megabytes: int, rng: random.Random, words: list[str], spelt) -> None:
    left = megabytes * 1_000_000
    with path.open("w", encoding="utf-8") as file:
        while left > 0:
            left -= file.write(spelt(" ".join(rng.choices(words, k=16)).capitalize() + ".") + "\n")


def _hash(path: Path) -> None:
    with path.open("rb") as file:
        hashlib.file_digest(file, "sha256")


def _look(holdout: Holdout, path: Path) -> None:
    if scan_file(holdout, path).overlaps:
        raise RuntimeError("an overlap where none was made")


def _timed(work) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
