"""The whole run of a manifest: this plugin, alone and with two workers, against a plain loop over the same rows.

Prints JSON. Each variant is a fresh process; the ratio is of the medians of their wall times. The plain loop reads the
manifest and observes every row with the same code, and writes no evidence and no report. Two plain loops over half of
the rows each, side by side, show what two processes can gain on this machine at all: processors that share a core, or a
busy machine, give less than half.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from measuring import Cost, interleaved, median, print_figures, python
from PIL import Image

PLAIN_LOOP = """
import sys
from pathlib import Path
from pytest_benchbench.adapters.pool import AdapterPool
from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.evidence.observing import PinnedFile, Question, observe
from pytest_benchbench.manifests.reading import read_manifest

path = Path(sys.argv[1]).resolve()
registry = installed_registry()
pool, artifacts = AdapterPool(registry, {}, path.parent), ArtifactLoader()
manifest = read_manifest(path, media_types=registry.media_types())
for adapter, refs in manifest.adapters.items():
    for ref in refs:
        case = manifest.read(ref).case
        reference = PinnedFile(case.reference_path, case.reference_sha256)
        artifact = PinnedFile(case.path, case.sha256)
        question = Question(case.media_type, artifact, reference, path.parent, expected=case.expected)
        assert observe(question, pool.warm(adapter), artifacts).outcome == "measured"
"""


def build(directory: Path, rows: int, side: int) -> Path:
    """Write ``rows`` different images, twenty references and their manifest."""
    random = np.random.default_rng(7)
    coarse = random.integers(0, 256, (20, side // 16, side // 16, 3), dtype=np.uint8)
    references = []
    for number, blocks in enumerate(coarse):
        smooth = Image.fromarray(blocks).resize((side, side), Image.Resampling.BICUBIC)
        references.append((np.asarray(smooth), save(directory, f"reference-{number}.png", smooth)))
    lines = []
    for number in range(rows):
        pixels, (reference_path, reference_sha256) = references[number % len(references)]
        noisy = np.clip(pixels.astype(np.int16) + random.integers(-3, 4, pixels.shape, dtype=np.int16), 0, 255)
        path, sha256 = save(directory, f"case-{number}.png", Image.fromarray(noisy.astype(np.uint8)))
        lines.append(
            json.dumps(
                {
                    "schema_version": 1,
                    "case_id": f"case-{number:04}",
                    "pair_id": f"pair-{number % len(references)}",
                    "media_type": "image",
                    "adapter": "dwt-dct",
                    "arm": "hard_negative",
                    "state": "attacked",
                    "path": path,
                    "sha256": sha256,
                    "reference_path": reference_path,
                    "reference_sha256": reference_sha256,
                    "source_revision": "performance@1",
                    "transform": {"name": "noise", "revision": "1", "parameters": {"amplitude": 3}},
                    "seed": 7,
                    "expected": "unresolved",
                }
            )
        )
    manifest = directory / "cases.jsonl"
    manifest.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for half in (0, 1):
        (directory / f"half-{half}.jsonl").write_text("\n".join(lines[half::2]) + "\n", encoding="utf-8")
    (directory / "plain_loop.py").write_text(PLAIN_LOOP, encoding="utf-8")
    return manifest


def two_loops(directory: Path) -> Cost:
    """Run a plain loop over each half, side by side: wall time of both together."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(2) as threads:
        costs = list(threads.map(lambda half: python(["plain_loop.py", f"half-{half}.jsonl"], directory), (0, 1)))
    wall = time.perf_counter() - begin
    return Cost(wall, sum(cost.cpu for cost in costs), max(cost.peak_mib for cost in costs))


def save(directory: Path, name: str, image: Image.Image) -> tuple[str, str]:
    """Write a PNG and give its name and digest."""
    image.save(directory / name, compress_level=4)
    return name, hashlib.sha256((directory / name).read_bytes()).hexdigest()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what else happens to be installed is not measured
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        build(directory, options.rows, options.side)

        def pytest_run(*arguments: str) -> Cost:
            plugins = ["-p", "pytest_benchbench.plugin", "-p", "no:cacheprovider"]
            cost = python(["-m", "pytest", "-q", *plugins, *arguments, "cases.jsonl"], directory)
            shutil.rmtree(directory / ".benchbench")
            return cost

        costs = interleaved(
            {
                "plain_loop": lambda: python(["plain_loop.py", "cases.jsonl"], directory),
                "two_plain_loops": lambda: two_loops(directory),
                "pytest": lambda: pytest_run(),
                "pytest_n2": lambda: pytest_run("-p", "xdist", "-n", "2"),
            },
            options.repetitions,
        )
    seconds = {name: median(found, "wall") for name, found in costs.items()}
    print_figures(
        "whole_run",
        vars(options),
        {f"{name} ratio": seconds[name] / seconds["plain_loop"] for name in ("two_plain_loops", "pytest", "pytest_n2")},
        {"pytest ratio": "<= 1.25", "pytest_n2 ratio": "< 0.8"},
        {name: [cost.wall for cost in found] for name, found in costs.items()},
    )


if __name__ == "__main__":
    main()
