"""How fast images are scored by an extension in a browser, and how much of that is not the extension's own time.

The fixture extension of ``benchmarks/extension`` (WebAssembly, graphics off) scores drawn pictures of 512x512. First one
wave in a fresh profile, the network not yet loaded, and the same wave again, answered from the extension's cache; then many
pictures by a whole run of pytest. A wave's own time is the longest ``pipelineMs`` in it: what the extension says passed from
taking the first job to answering the last. What a wave takes beyond that is the price of being shown by a driven browser:
the tab, its page, the images' transfer to it, looking for answers, and the watch over the network. Needs Chromium and npm.
Prints one JSON object.

    python benchmarks/performance/deployed.py --rows 500
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import io
import itertools
import json
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from measuring import print_figures, python

from pytest_benchbench.adapters.base import Detection, Sample
from pytest_benchbench.browser.chrome import Chrome, ChromeOptions

BENCHMARKS = Path(__file__).resolve().parents[1]


def script(path: str) -> ModuleType:
    """Load another script of this repository."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, BENCHMARKS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pictures(count: int) -> list[Sample]:
    """Draw pictures of 512x512 as JPEG, each another one; every second one has what the fixture looks for."""
    draw = script("reference_model.py").draw_picture
    samples = []
    for seed in range(count):
        encoded = io.BytesIO()
        draw(seed, lattice=seed % 2 == 0).save(encoded, "JPEG", quality=90)
        samples.append(Sample("image", hashlib.sha256(encoded.getvalue()).hexdigest(), encoded.getvalue()))
    return samples


def one_wave(chrome: Chrome, samples: Sequence[Sample], cached: bool) -> dict[str, Any]:
    """Show one wave, and give what it took."""
    begun = time.perf_counter()
    answers = chrome.detect_batch(samples)
    took = time.perf_counter() - begun
    scorers = [answer.scorer or {} for answer in answers if isinstance(answer, Detection) and answer.status == "scored"]
    assert len(scorers) == len(samples), "what is measured are answers"
    assert {scorer["cacheStatus"] for scorer in scorers} == {"hit" if cached else "miss"}
    return {"seconds": took, **pipelines(scorers)}


def pipelines(scorers: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Give the extension's own time of a wave in seconds, and the longest inference."""
    scorers = list(scorers)
    return {
        "pipeline": max(scorer["pipelineMs"] for scorer in scorers) / 1e3,
        "longest inference": max(scorer.get("inferenceMs", 0.0) for scorer in scorers) / 1e3,
    }


def cold_and_cached(extension: Path, samples: Sequence[Sample]) -> dict[str, Any]:
    """Start a browser and show one wave twice."""
    chrome = Chrome(ChromeOptions(launch="chromium", extension=extension, expect_runtime="wasm", wave=len(samples)))
    begun = time.perf_counter()
    chrome.load()
    try:
        loading = time.perf_counter() - begun
        return {
            "loading": loading,
            "cold": one_wave(chrome, samples, cached=False),
            "cached": one_wave(chrome, samples, cached=True),
        }
    finally:
        chrome.close()


def whole_run(extension: Path, samples: Sequence[Sample], wave: int, directory: Path) -> dict[str, Any]:
    """Score many pictures by a run of pytest, and give what it and its waves took."""
    with (directory / "dataset.jsonl").open("w", encoding="utf-8") as manifest:
        for number, sample in enumerate(samples):
            name = f"{number:04}.jpg"
            (directory / name).write_bytes(sample.data)
            row = {"id": name, "baseId": name, "sha256": sample.sha256, "label": number % 2, "split": "test", "path": name}
            row |= {"source": "drawn", "generatorFamily": "drawn", "contentGroup": "digital-art", "transform": "none"}
            manifest.write(json.dumps({**row, "license": "CC0-1.0"}) + "\n")
    adapter = f"chrome:launch=chromium,extension={extension},expect_runtime=wasm,wave={wave}"
    options = ["-q", "dataset.jsonl", "--bench-split=test", "--bench-run-dir=run", f"--bench-adapter={adapter}"]
    plugins = ["-p", "no:cacheprovider", "-p", "pytest_benchbench.plugin"]
    cost = python(["-m", "pytest", *plugins, *options], directory)
    rows = [json.loads(line) for line in (directory / "run" / "evidence.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["detection"]["status"] for row in rows] == ["scored"] * len(samples)
    waves = []
    for (_, elapsed), shown in itertools.groupby(rows, key=lambda row: (row["batch"]["size"], row["batch"]["elapsed_ms"])):
        scorers = [row["detection"]["scorer"] for row in shown]
        waves.append({"rows": len(scorers), "seconds": elapsed / 1e3, **pipelines(scorers)})
    assert [each["rows"] for each in waves[:-1]] == [wave] * (len(waves) - 1)
    return {"wall": cost.wall, "waves": waves}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--wave", type=int, default=48)
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        extension = script("extension/build.py").build_extension(directory / "dist")
        samples = pictures(options.rows)
        twice = cold_and_cached(extension, samples[: options.wave])
        run = whole_run(extension, samples, options.wave, directory)
    in_waves = sum(each["seconds"] for each in run["waves"])
    own = sum(each["pipeline"] for each in run["waves"])
    print_figures(
        "deployed",
        {"rows": options.rows, "wave": options.wave},
        {
            "seconds until a fresh browser is ready": round(twice["loading"], 2),
            "seconds of a wave, cold": round(twice["cold"]["seconds"], 2),
            "seconds of a wave, cached": round(twice["cached"]["seconds"], 2),
            "rows a second in waves": round(options.rows / in_waves, 2),
            "rows a second of the whole run": round(options.rows / run["wall"], 2),
            "times the extension's own time": round(in_waves / own, 3),
            "milliseconds a row over the extension's own time": round(1e3 * (in_waves - own) / options.rows, 1),
        },
        {},
        {"one wave twice": twice, "run": run},
    )


if __name__ == "__main__":
    main()
