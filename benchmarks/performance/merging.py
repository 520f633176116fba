"""What merging the evidence of a large run costs: processor time and memory of ``benchbench merge`` with a gate.

A small run of this machine gives real rows and a real ``run.json``. Their copies, with other ids, digests and numbers, are
written as shards; one row in a hundred has a second attempt. The gate counts rows, artifacts and bases. Memory is held
against an empty start: ``benchbench merge --help``. Prints one JSON object.

    python benchmarks/performance/merging.py --rows 1000000
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from measuring import print_figures, process_figures, python
from PIL import Image

SCRIPT = ["-c", "from pytest_benchbench.cli import main; main()", "merge"]

POLICY = """
name: large
rules:
  - {id: no_mismatch, metric: mismatch_count, op: "<=", value: 0}
  - {id: no_error, metric: error_count, op: "<=", value: 0}
  - {id: seldom_detected, metric: detection_rate, op: "<=", value: 0.02, bound: wilson_upper}
  - {id: bases_seldom_detected, metric: detection_rate, op: "<=", value: 0.02, unit: base}
"""

ERRORS = (0, 20)
"""The merged run passes, or its gate does not: both are a whole merge."""


def real_run(directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a manifest of one row and give its ``run.json`` and its evidence."""
    image = directory / "case.png"
    noise = random.Random(7)
    Image.frombytes("RGB", (320, 320), noise.randbytes(3 * 320 * 320)).save(image)
    sha256 = hashlib.sha256(image.read_bytes()).hexdigest()
    row = {
        "schema_version": 1,
        "case_id": "case-0000000",
        "pair_id": "pair-0000000",
        "media_type": "image",
        "adapter": "dwt-dct",
        "arm": "hard_negative",
        "state": "attacked",
        "path": image.name,
        "sha256": sha256,
        "reference_path": image.name,
        "reference_sha256": sha256,
        "source_revision": "performance@1",
        "transform": {"name": "noise", "revision": "1", "parameters": {"amplitude": 3}},
        "seed": 7,
        "expected": "unresolved",
    }
    (directory / "cases.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    plugins = ["-p", "pytest_benchbench.plugin", "-p", "no:cacheprovider", "--bench-run-dir=real"]
    python(["-m", "pytest", "-q", *plugins, "cases.jsonl"], directory)
    run = json.loads((directory / "real" / "run.json").read_bytes())
    return run, json.loads((directory / "real" / "evidence.jsonl").read_bytes())


def write_shards(
    directory: Path, run: dict[str, Any], row: dict[str, Any], rows: int, shards: int, seed: int = 11
) -> list[str]:
    """Write run directories that together have ``rows`` planned rows."""
    drawn = random.Random(seed)
    encode = msgspec.json.Encoder().encode
    names = []
    for index in range(shards):
        begin, end = rows * index // shards, rows * (index + 1) // shards
        name = f"shard-{index + 1}"
        (directory / name).mkdir()
        shard: dict[str, Any] = json.loads(json.dumps(run))
        shard["run_id"] = row["run_id"] = f"20261130T000000Z-{index:08x}"
        shard["options"]["shard"] = f"{index + 1}/{shards}"
        shard["planned"] = {"rows": end - begin, "selected": end - begin, "left_out": 0, "lost": 0}
        (directory / name / "run.json").write_text(json.dumps(shard), encoding="utf-8")
        with (directory / name / "evidence.jsonl").open("wb") as file:
            for number in range(begin, end):
                vary(row, number, drawn)
                if number % 100 == 0:
                    file.write(encode({**row, "outcome": "error", "error": {"type": "OSError", "message": "once"}}) + b"\n")
                    row["key"]["attempt"] = 2
                file.write(encode(row) + b"\n")
        with (directory / name / "evidence.jsonl").open("rb") as written:
            inputs = {"evidence": {"name": "evidence.jsonl", "sha256": hashlib.file_digest(written, "sha256").hexdigest()}}
        (directory / name / "report.json").write_text(json.dumps({"inputs": inputs}), encoding="utf-8")
        names.append(name)
    return names


def vary(row: dict[str, Any], number: int, drawn: random.Random) -> None:
    """Make a row another one."""
    row["key"]["case_id"] = row["case"]["case_id"] = f"case-{number:07}"
    row["key"]["attempt"] = 1
    row["case"]["pair_id"] = f"pair-{number // 4:07}"
    row["manifest"]["line"] = number + 1
    row["row_sha256"] = hashlib.sha256(b"row %d" % number).hexdigest()
    row["artifact"]["sha256"] = row["case"]["sha256"] = hashlib.sha256(b"artifact %d" % number).hexdigest()
    row["detection"]["status"] = "detected" if drawn.random() < 0.001 else "not_detected"
    row["detection"]["adapter_elapsed_ms"] = drawn.uniform(1, 20)
    row["detection"]["message_bit_accuracy"] = drawn.randrange(49) / 48
    row["fidelity"] = {
        "status": "measured",
        "mae": drawn.random(),
        "changed_fraction": drawn.random(),
        "psnr_db": drawn.uniform(30, 50),
        "psnr_status": "finite",
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--directory", type=Path, help="Where to work; by default a temporary folder.")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        directory = Path(folder)
        run, row = real_run(directory)
        names = write_shards(directory, run, row, options.rows, options.shards)
        (directory / "policy.yaml").write_text(POLICY, encoding="utf-8")
        size = sum((directory / name / "evidence.jsonl").stat().st_size for name in names)
        start = python([*SCRIPT, "--help"], directory)
        arguments = [*SCRIPT, *reversed(names), "--output-dir", "merged", "--gate", "policy.yaml"]
        merge = python(arguments, directory, expect=frozenset(ERRORS))
        report = json.loads((directory / "merged" / "report.json").read_bytes())
        assert report["results"]["rows"] == options.rows, "every planned row counts once"
        assert report["attempts"]["rows_with_several_attempts"] == -(-options.rows // 100)
        shutil.rmtree(directory / "merged")
    print_figures(
        "merging",
        {"rows": options.rows, "shards": options.shards, "evidence_bytes": size},
        process_figures(merge, start, options.rows, "row"),
        {"processor seconds": "<= 60 for 1,000,000 rows", "peak MB": "<= 500 for 1,000,000 rows"},
        {"start": {"cpu": start.cpu, "peak_mib": start.peak_mib}, "merge": {"cpu": merge.cpu, "wall": merge.wall}},
    )


if __name__ == "__main__":
    main()
