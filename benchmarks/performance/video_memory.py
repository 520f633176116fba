"""Peak memory of streaming a long clip to an adapter: 60 seconds of 1280x720 at 30 frames per second, in H.264.

    python benchmarks/performance/video_memory.py [--seconds 60]

Each variant is a fresh process, and what counts is its largest resident set less that of a Python that does nothing:
``imports`` only loads what the others need, ``fidelity`` streams the clip and compares it with a reference of the same size.
The clips are written first, in processes of their own. Prints JSON.

Needs Linux, since a process reads its largest resident set from ``/proc`` (what ``wait4`` reports includes its parent), and
the extra ``video``.
"""

import argparse
import dataclasses
import tempfile
from pathlib import Path

from measuring import Cost, interleaved, median, print_figures, python

WIDTH, HEIGHT, RATE = 1280, 720, 30

PEAK = """
with open("/proc/self/status") as status, open("peak", "w") as peak:
    peak.write(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
"""

WRITING = f"""
import hashlib
import sys
from pathlib import Path

import av
import numpy as np

seconds, seed, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
noise = np.random.default_rng(seed).integers(0, 256, ({HEIGHT}, {WIDTH}, 3), dtype=np.uint8)
still = noise // 8 + np.linspace(0, 200, {WIDTH}, dtype=np.uint8)[:, None]
with av.open(path, "w") as file:
    stream = file.add_stream("libx264", rate={RATE}, options={{"preset": "ultrafast", "threads": "1"}})
    stream.width, stream.height, stream.pix_fmt = {WIDTH}, {HEIGHT}, "yuv420p"
    for index in range(seconds * {RATE}):
        frame = av.VideoFrame.from_ndarray(np.roll(still, 3 * index, 1), "rgb24")
        frame.pts = index
        file.mux(stream.encode(frame))
    file.mux(stream.encode(None))
Path(path + ".sha256").write_text(hashlib.sha256(Path(path).read_bytes()).hexdigest())
"""

OBSERVING = """
import sys
from pathlib import Path
import av
from pytest_benchbench import Adapter, AdapterDescription, Detection
from pytest_benchbench.adapters.pool import AdapterChoice, PooledAdapter
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.evidence.observing import PinnedFile, Question, observe


class Brightness(Adapter):
    name = "brightness"
    media_types = frozenset({"video"})
    needs = "frames"

    def detect(self, sample):
        return Detection("scored", score=sum(float(frame.mean()) for frame in sample.decoded.frames()))

    def describe(self):
        return AdapterDescription("1", "the sum of the frames' brightness")


files = [PinnedFile(*pinned.split(":")) for pinned in sys.argv[1:]]
if files:
    question = Question("video", files[0], files[1] if len(files) > 1 else None, Path.cwd())
    observation = observe(question, PooledAdapter(AdapterChoice("brightness", "brightness"), Brightness), ArtifactLoader())
    assert observation.outcome == "measured", observation.error
    assert observation.fidelity.status == ("measured" if len(files) > 1 else "no_reference")
"""


def run(directory: Path, *arguments: str) -> Cost:
    """Run Python and take its peak from what it wrote down at its end."""
    cost = python(arguments, directory)
    return dataclasses.replace(cost, peak_mib=int((directory / "peak").read_text()) / 1024)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="length of the clip")
    parser.add_argument("--repetitions", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        (directory / "writing.py").write_text(WRITING, encoding="utf-8")
        (directory / "observing.py").write_text(OBSERVING + PEAK, encoding="utf-8")
        pinned = []
        for seed, name in enumerate(("clip.mp4", "reference.mp4")):
            python(["writing.py", str(options.seconds), str(seed), name], directory)
            pinned.append(f"{name}:{(directory / f'{name}.sha256').read_text()}")
        file_mib = (directory / "clip.mp4").stat().st_size / 2**20
        costs = interleaved(
            {
                "empty": lambda: run(directory, "-c", PEAK),
                "imports": lambda: run(directory, "observing.py"),
                "frames": lambda: run(directory, "observing.py", pinned[0]),
                "fidelity": lambda: run(directory, "observing.py", *pinned),
            },
            options.repetitions,
        )
    peaks = {name: median(found, "peak_mib") for name, found in costs.items()}
    frames = options.seconds * RATE
    print_figures(
        "video_memory",
        {"frames": frames, "width": WIDTH, "height": HEIGHT, "repetitions": options.repetitions},
        {
            "file_mib": file_mib,
            "whole_clip_as_float32_mib": frames * WIDTH * HEIGHT * 12 / 2**20,
            **{f"{name} mib_over_empty": peaks[name] - peaks["empty"] for name in ("imports", "frames", "fidelity")},
        },
        {"frames mib_over_empty": "<= 160, the file itself included"},
        {name: [{"wall": cost.wall, "peak_mib": cost.peak_mib} for cost in found] for name, found in costs.items()},
    )


if __name__ == "__main__":
    main()
