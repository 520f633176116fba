"""How many times faster than it plays a sound is decoded, by format, on the processor.

    python benchmarks/performance/sound_decoding.py [--seconds 60] [--repetitions 7]

The sound is the carrier ``pinkish-noise``, 16 kHz mono, written by the encoders of the attacks, and once more as WAV at
44.1 kHz in two channels, which has to be averaged and resampled. Every file is decoded in turns with the others; what
counts is the median. Prints JSON: the largest figure is best. Needs the extra ``audio``.
"""

from __future__ import annotations

import argparse
import io
import statistics
import time

import numpy as np
import soundfile
from measuring import print_figures

from pytest_benchbench.artifacts.audio import decode_audio
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.cohorts.carriers.audio import CARRIERS
from pytest_benchbench.cohorts.sounds import encode_wav

LOSSY = ("mp3-128", "aac-128", "opus-64", "vorbis-0.8")


def files(seconds: float) -> dict[str, bytes]:
    """Write the sound in every format."""
    sound = next(carrier for carrier in CARRIERS if carrier.name == "pinkish-noise").draw(seconds)
    flac, stereo = io.BytesIO(), io.BytesIO()
    soundfile.write(flac, sound, 16_000, format="FLAC")
    wide = np.resize(sound, (round(44_100 * seconds), 2))
    soundfile.write(stereo, wide, 44_100, format="WAV", subtype="PCM_16")
    lossy = {attack.name: attack.apply(sound).data for attack in find_attacks("audio", LOSSY)}
    return {"wav": encode_wav(sound), "flac": flac.getvalue(), "wav 44.1 kHz stereo": stereo.getvalue(), **lossy}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repetitions", type=int, default=7)
    options = parser.parse_args()
    written = files(options.seconds)
    costs: dict[str, list[float]] = {name: [] for name in written}
    for _ in range(options.repetitions):
        for name, data in written.items():
            begin = time.perf_counter()
            decode_audio(data)
            costs[name].append(time.perf_counter() - begin)
    faster = {f"{name} times_faster": options.seconds / statistics.median(times) for name, times in costs.items()}
    print_figures("sound_decoding", vars(options), faster, {}, costs)


if __name__ == "__main__":
    main()
