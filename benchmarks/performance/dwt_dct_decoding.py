"""Decoding the DWT-DCT mark: this package beside the reference implementation, in one run.

    python benchmarks/performance/dwt_dct_decoding.py [--repetitions 41]

For each size both decode the same picture to 48 bits in turns, so that whatever else the machine does falls on both. Ours
reads the 136-bit payload in the same time, for which the reference would need a second call. Prints JSON: medians in
milliseconds of wall and of processor time, their ratios, and the largest amount of memory that each had allocated at once.

Needs numpy, opencv-python-headless, PyWavelets, and invisible-watermark==0.2.0 installed with ``--no-deps``.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
import tracemalloc
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from measuring import print_figures

from pytest_benchbench.adapters.dwt_dct import read_blocks
from pytest_benchbench.adapters.haar_frame import payload_bits

SIZES = ((512, 512), (1024, 1024), (2160, 3840))
"""Height and width."""


def load_reference() -> type:
    """Load the reference decoder without its package, which would import torch."""
    path = Path(str(distribution("invisible-watermark").locate_file("imwatermark/maxDct.py")))
    spec = importlib.util.spec_from_file_location("reference_dwt_dct", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EmbedMaxDct


def picture(height: int, width: int) -> np.ndarray:
    """Draw coarse colours under fine noise, (H, W, 3) uint8 RGB."""
    generator = np.random.default_rng(20)
    coarse = generator.integers(40, 200, (-(-height // 32), -(-width // 32), 3)).repeat(32, axis=0).repeat(32, axis=1)
    return (coarse[:height, :width] + generator.integers(-20, 21, (height, width, 3))).astype(np.uint8)


def decode(pixels: np.ndarray) -> np.ndarray:
    """Decode as the adapter does: one scan, both payloads."""
    blocks = read_blocks(pixels)
    payload_bits(blocks, 136)
    return payload_bits(blocks, 48)


def peak_mib(call) -> float:
    """Run once and give the most that NumPy and Python had allocated at a time, in MiB."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak / 2**20, 2)


def compare(height: int, width: int, repetitions: int) -> dict[str, dict[str, float]]:
    """Time both on one picture, in turns."""
    pixels = picture(height, width)
    bgr = np.ascontiguousarray(pixels[..., ::-1])
    reference = load_reference()(wmLen=48)
    calls = {"reference": lambda: reference.decode(bgr), "ours": lambda: decode(pixels)}
    np.testing.assert_array_equal(calls["ours"](), calls["reference"]())
    clocks = {"wall": time.perf_counter, "processor": time.thread_time}
    seconds: dict[tuple[str, str], list[float]] = {(clock, name): [] for clock in clocks for name in calls}
    for _ in range(repetitions):
        for name, call in calls.items():
            begin = {clock: read() for clock, read in clocks.items()}
            call()
            for clock, read in clocks.items():
                seconds[clock, name].append(read() - begin[clock])
    result: dict[str, dict[str, float]] = {}
    for clock in clocks:
        reference_ms, ours_ms = (statistics.median(seconds[clock, name]) * 1e3 for name in calls)
        result[clock] = {
            "reference_ms": round(reference_ms, 3),
            "ours_ms": round(ours_ms, 3),
            "ratio": round(reference_ms / ours_ms, 1),
        }
    return result | {"peak_mib": {name: peak_mib(call) for name, call in calls.items()}}


def main() -> None:
    """Compare at every size and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=41, help="calls of each decoder; a quarter as many at 3840x2160")
    repetitions = parser.parse_args().repetitions
    sizes = {
        f"{width}x{height}": compare(height, width, max(repetitions // (1 if height < 2000 else 4), 1))
        for height, width in SIZES
    }
    print_figures(
        "dwt_dct_decoding",
        {"repetitions": repetitions},
        {f"{size} times_faster": found["wall"]["ratio"] for size, found in sizes.items()},
        {"512x512 times_faster": ">= 15"},
        sizes,
    )


if __name__ == "__main__":
    main()
