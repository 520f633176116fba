"""How long the strict reading of a manifest takes, against decoding the same lines into dicts that nobody checks.

Strict reading includes reading the file and its SHA-256, decoding does not. Both run in one process, in turn, several times;
the ratio is that of the medians of processor time. Prints one JSON object.

    python benchmarks/performance/manifest_reading.py --rows 1000000
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from measuring import print_figures

from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Give rows such as the requirement document shows, with as many different ids and digests."""
    for number in range(count):
        yield {
            "schema_version": 1,
            "case_id": f"sample-{number:07}-removed",
            "pair_id": f"sample-{number:07}",
            "media_type": "image",
            "adapter": "dwt-dct",
            "arm": "positive",
            "state": "removed",
            "path": f"removed/{number:07}.png",
            "sha256": f"{number:064x}",
            "reference_path": f"clean/{number:07}.png",
            "reference_sha256": f"{number + count:064x}",
            "source_revision": "local-corpus@2026-09-05",
            "transform": {"name": "remove", "revision": "remover@abc123", "parameters": {"method": "auto"}},
            "seed": number,
            "expected": "not_detected",
        }


def main() -> None:
    """Measure both ways of writing rows, compact and with the spaces of ``json.dumps``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    ways: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name, write in {"compact": lambda row: json.dumps(row, separators=(",", ":")), "json_dumps": json.dumps}.items():
            path = Path(directory) / f"{name}.jsonl"
            with path.open("w", encoding="utf-8") as file:
                file.writelines(f"{write(row)}\n" for row in rows(options.rows))
            ways[name] = _compare(path, options.repetitions)
            path.unlink()
    print_figures(
        "manifest_reading",
        {"rows": options.rows, "repetitions": options.repetitions},
        {f"{name} ratio": way["ratio"] for name, way in ways.items()},
        {f"{name} ratio": "<= 4" for name in ways},
        ways,
    )


def _compare(path: Path, repetitions: int) -> dict[str, float]:
    strict, plain = [], []
    for _ in range(repetitions):
        plain.append(_decoding_seconds(path))
        begin = time.process_time()
        read_manifest(path, media_types=KERNEL_MEDIA_TYPES).close()
        strict.append(time.process_time() - begin)
    return {
        "decode_into_dicts_seconds": round(median(plain), 3),
        "read_manifest_seconds": round(median(strict), 3),
        "ratio": round(median(strict) / median(plain), 2),
    }


def _decoding_seconds(path: Path) -> float:
    """Time the decoding alone: the lines are in memory already, some at a time."""
    decode, seconds = msgspec.json.decode, 0.0
    with path.open("rb") as file:
        while lines := file.readlines(64 * 1024 * 1024):
            begin = time.process_time()
            for line in lines:
                decode(line)
            seconds += time.process_time() - begin
    return seconds


if __name__ == "__main__":
    main()
