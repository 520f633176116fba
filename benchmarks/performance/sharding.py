"""What one shard of a large manifest costs before its first row runs, over the start of a manifest with one row.

    python benchmarks/performance/sharding.py [--rows 1000000] [--shard 3/64] [--repetitions 3]

Processor time (user and system) and peak memory of whole processes, medians, each less those of the same command over a
manifest of one row: ``pytest --collect-only -q``, and runs that end as soon as all items exist, once with lazy verification
and once with every file of the shard hashed (the files of a shard are as many as its rows, and tiny). Prints JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from collection import CONFTEST
from measuring import Cost, interleaved, median, print_figures, python

from pytest_benchbench.manifests.sharding import Shard

UNTIL_ITEMS_EXIST = """
import os

@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    if not session.config.option.collectonly:
        assert session.items
        os._exit(0)
"""

FILES = ".files"
"""pytest looks into no folder whose name begins with a dot; walking over the files is not what is measured."""

KINDS = {
    "collect_only": ("--collect-only",),
    "start_lazy": ("--bench-verify=lazy",),
    "start_preflight": ("--bench-verify=preflight",),
}


def build(directory: Path, rows: int, shard: Shard) -> int:
    """Write a manifest of compact rows, one of a single row, and the files of the shard; give the size of the first."""
    (directory / "conftest.py").write_text(CONFTEST + UNTIL_ITEMS_EXIST, encoding="utf-8")
    (directory / FILES).mkdir()
    digest = hashlib.sha256(b"a tiny file").hexdigest()
    with (directory / "big.jsonl").open("w", encoding="utf-8") as big:
        for number in range(rows):
            case_id = f"sample-{number:07}"
            line = json.dumps(row(case_id, f"{FILES}/{number:07}.png", digest), separators=(",", ":")) + "\n"
            big.write(line)
            if shard.takes(case_id):
                (directory / FILES / f"{number:07}.png").write_bytes(b"a tiny file")
    only = next(number for number in range(rows) if shard.takes(f"sample-{number:07}"))
    line = json.dumps(row(f"sample-{only:07}", f"{FILES}/{only:07}.png", digest), separators=(",", ":"))
    (directory / "one.jsonl").write_text(line + "\n", encoding="utf-8")
    return (directory / "big.jsonl").stat().st_size


def row(case_id: str, path: str, digest: str) -> dict[str, object]:
    """Give a row as ``benchbench manifest`` orders its members."""
    return {
        "schema_version": 1,
        "case_id": case_id,
        "pair_id": case_id,
        "media_type": "image",
        "adapter": "toy",
        "arm": "positive",
        "state": "removed",
        "path": path,
        "sha256": digest,
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "c@1",
        "transform": {"name": "none", "revision": "1", "parameters": {}},
        "seed": None,
        "expected": "detected",
    }


def variants(directory: Path, shard: Shard) -> dict[str, Callable[[], Cost]]:
    """Name the commands: each kind over one row and over the shard."""
    plain = ["-m", "pytest", "-q", "-p", "pytest_benchbench.plugin", "-p", "no:cacheprovider", f"--bench-shard={shard}"]
    found: dict[str, Callable[[], Cost]] = {}
    for kind, arguments in KINDS.items():
        for size in ("one", "big"):
            command = [*plain, *arguments, f"--manifest={size}.jsonl"]
            found[f"{kind} {size}"] = lambda command=command: python(command, directory)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--shard", type=Shard.parse, default=Shard(3, 64), metavar="I/N")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what else happens to be installed is not measured
    with tempfile.TemporaryDirectory() as folder:
        size = build(Path(folder), options.rows, options.shard)
        costs = interleaved(variants(Path(folder), options.shard), options.repetitions)
    figures: dict[str, float] = {}
    for kind in KINDS:
        for name, quantity in (("processor_seconds", "cpu"), ("memory_mib", "peak_mib")):
            figures[f"{name} {kind}"] = median(costs[f"{kind} big"], quantity) - median(costs[f"{kind} one"], quantity)
    wanted = {f"processor_seconds {kind}": "<= 3" for kind in ("collect_only", "start_lazy")}
    wanted |= {f"memory_mib {kind}": "<= 114" for kind in ("collect_only", "start_lazy")}  # 120 MB
    parameters = {"rows": options.rows, "shard": str(options.shard), "repetitions": options.repetitions, "bytes": size}
    samples = {
        name: [{"wall": cost.wall, "processor": cost.cpu, "peak_mib": cost.peak_mib} for cost in found]
        for name, found in costs.items()
    }
    print_figures("sharding", parameters, figures, wanted, samples)


if __name__ == "__main__":
    main()
