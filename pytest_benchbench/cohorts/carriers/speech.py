"""Speech as carriers: three voices of eSpeak NG, rendered without a network, and shown to be three.

The library with its voices comes as a wheel (``espeakng-loader``, pinned by the extra ``speech``). eSpeak NG is licensed
under the GPL, version 3 or later; it is loaded by a process of its own only.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.carriers import espeak_process
from pytest_benchbench.cohorts.sounds import SAMPLE_RATE, Samples, to_pcm16

INSTALL = "pip install 'pytest-benchbench[speech]'"
"""What brings the voices."""

RENDERING_TIMEOUT = 60.0
"""Seconds that rendering one text may take; it takes a fifth of a second."""

WORDS_PER_MINUTE = 175
VOLUME = 60
"""Per cent of eSpeak NG's usual loudness, at which some voices reach full scale and would leave a mark no room."""

SEED = 0
"""What eSpeak NG's generator is given; it is consulted by voices with breath."""

DISTRIBUTIONS = ("espeakng-loader", "soxr")
"""What shapes the samples."""

PROBE = "0 1 2 3 4 5 6 7 8 9"
"""What every voice has to say before it is believed to be a voice of its own: digits are spoken in every language."""

_LONGEST_SECONDS = 60
_SHORTEST_SECONDS = 1.0
_PROCESS = Path(espeak_process.__file__)


@dataclass(frozen=True, slots=True)
class Voice:
    """Who says what.

    Attributes:
        name: Its part of a case id.
        revision: Counts the changes of voice or text.
        voice: eSpeak NG's name of it: a language, and behind ``+`` a variant.
        language: Of the text, as a BCP 47 tag.
        text: What is said; written for this package.
    """

    name: str
    revision: int
    voice: str
    language: str
    text: str


VOICES: tuple[Voice, ...] = (
    Voice(
        name="speech-us",
        revision=1,
        voice="en-us+f1",
        language="en-US",
        text=(
            "A benchmark is worth little when nobody can repeat it, so every case names its file, its seed, and the answer"
            " that is expected."
        ),
    ),
    Voice(
        name="speech-gb",
        revision=1,
        voice="en-gb-x-rp",
        language="en-GB",
        text=(
            "The morning ferry was late again, and seven passengers waited on the pier while the gulls quarrelled over a"
            " piece of dry bread."
        ),
    ),
    Voice(
        name="speech-ru",
        revision=1,
        voice="ru+f4",
        language="ru",
        text=(
            "Утренний поезд пришёл вовремя, и на перроне стало тихо: люди читали, пили чай и ждали, когда откроются двери"
            " вокзала."
        ),
    ),
)
"""The sources of the speech rows: a woman's, a man's and another woman's voice, in two languages."""


@dataclass(frozen=True, slots=True, eq=False)
class SpeechCarrier:
    """Rendered speech that carries no mark.

    Attributes:
        voice: Who says what.
        samples: (n,) float32 mono at 16 kHz, each a multiple of 1/32768; read-only.
        rendering: How it came about; JSON values.
    """

    voice: Voice
    samples: Samples
    rendering: dict[str, Any]

    @property
    def name(self) -> str:
        """Its part of a case id."""
        return self.voice.name

    @property
    def revision(self) -> int:
        """Counts the changes of voice or text."""
        return self.voice.revision

    @property
    def seed(self) -> int:
        """What eSpeak NG's generator was given."""
        return SEED

    def draw(self) -> Samples:
        """Give the samples: (n,) float32 mono at 16 kHz, read-only; how long is up to the voice."""
        return self.samples

    def record(self) -> dict[str, Any]:
        """Say in a case row who said what, and by which tool."""
        return {"name": self.name, "revision": self.revision, "seed": self.seed, **self.rendering}


@dataclass(frozen=True, slots=True)
class _Library:
    """Where eSpeak NG lies, and which one it is."""

    path: str
    data: str
    wheel: str
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class _Rendering:
    """What eSpeak NG made of a text: (n,) int16 samples at ``rate``, with its own version and name of the voice."""

    samples: NDArray[np.int16]
    rate: int
    version: str
    identifier: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.samples.astype("<i2").tobytes()).hexdigest()


def speech_carriers(voices: Sequence[Voice] = VOICES, *, timeout: float = RENDERING_TIMEOUT) -> tuple[SpeechCarrier, ...]:
    """Render every voice's text, and verify that the voices differ.

    A name is no identity: eSpeak NG passes over a variant that it does not know. So a voice with a variant must report it,
    and all voices must say one and the same text (``PROBE``) in different bytes.

    Args:
        voices: Who says what.
        timeout: Seconds that each rendering may take.

    Raises:
        CohortError: The extra ``speech`` is not installed, a voice is unknown, two voices are one, or eSpeak NG fails,
            hangs or stays silent; one line.
    """
    library = _library()
    try:
        import soxr
    except ImportError:
        raise CohortError(f"speech cannot be resampled without soxr: {INSTALL}") from None
    probes = [_rendered(voice, PROBE, library, timeout) for voice in voices]
    _check_identities(voices, probes)
    carriers = []
    for voice, probe in zip(voices, probes, strict=True):
        spoken = _rendered(voice, voice.text, library, timeout)
        resampled = soxr.resample(spoken.samples.astype(np.float32) / 32768, spoken.rate, SAMPLE_RATE, quality="HQ")
        samples = (to_pcm16(resampled) / 32768).astype(np.float32)
        samples.flags.writeable = False
        rendering = {
            "tool": "eSpeak NG",
            "tool_version": spoken.version,
            "wheel": library.wheel,
            "library_sha256": library.sha256,
            "voice": voice.voice,
            "voice_identifier": spoken.identifier,
            "probe_sha256": probe.sha256,
            "language": voice.language,
            "text": voice.text,
            "text_sha256": hashlib.sha256(voice.text.encode()).hexdigest(),
            "words_per_minute": WORDS_PER_MINUTE,
            "volume": VOLUME,
            "rendered": {"rate": spoken.rate, "samples": len(spoken.samples), "pcm16_sha256": spoken.sha256},
            "resampling": f"soxr HQ, {spoken.rate} Hz to {SAMPLE_RATE} Hz, rounded to 16 bits",
            "rate": SAMPLE_RATE,
            "samples": len(samples),
        }
        carriers.append(SpeechCarrier(voice, samples, rendering))
    return tuple(carriers)


def _library() -> _Library:
    try:
        loader = importlib.import_module("espeakng_loader")
        wheel = f"espeakng-loader {metadata.version('espeakng-loader')}"
    except ImportError:
        raise CohortError(f"speech is rendered by eSpeak NG, which is not installed: {INSTALL}") from None
    path = loader.get_library_path()
    try:
        return _Library(path, loader.get_data_path(), wheel, hashlib.sha256(Path(path).read_bytes()).hexdigest())
    except (OSError, RuntimeError) as error:
        raise CohortError(f"{wheel} is damaged: {error}: {INSTALL} --force-reinstall") from None


def _rendered(voice: Voice, text: str, library: _Library, timeout: float) -> _Rendering:
    """Let a fresh process render a text.

    Raises:
        CohortError: It fails, hangs, answers something else, or renders next to nothing.
    """
    request = {
        "library": library.path,
        "data": library.data,
        "voice": voice.voice,
        "text": text,
        "seed": SEED,
        "words_per_minute": WORDS_PER_MINUTE,
        "volume": VOLUME,
        "max_seconds": _LONGEST_SECONDS,
    }
    place = f"voice {voice.voice!r} ({voice.name})"
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter and a script of this package
            [sys.executable, "-I", "-S", str(_PROCESS)],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise CohortError(f"{place}: eSpeak NG did not finish within {timeout:g} s: {library.wheel}") from None
    except OSError as error:
        raise CohortError(f"{place}: eSpeak NG cannot be started: {error}") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").split("\n")
        reason = next((line.strip() for line in reversed(said) if line.strip()), "no reason given")
        how = f"exit code {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise CohortError(f"{place}: {reason if done.returncode == 1 else f'eSpeak NG died: {how}'}: {library.wheel}")
    return _answer(done.stdout, place)


def _answer(data: bytes, place: str) -> _Rendering:
    head, _, body = data.partition(b"\n")
    try:
        header = json.loads(head)
        samples = np.frombuffer(body, dtype="<i2").astype(np.int16)
        rendering = _Rendering(samples, int(header["rate"]), str(header["version"]), str(header["identifier"]))
        complete = len(samples) == header["samples"]
    except (ValueError, KeyError, TypeError):
        complete = False
    if not complete:
        raise CohortError(f"{place}: eSpeak NG's process answered {len(data)} bytes that are not its samples")
    if len(samples) < _SHORTEST_SECONDS * rendering.rate or not samples.any():
        raise CohortError(f"{place}: eSpeak NG rendered {len(samples)} samples of silence or next to nothing")
    return rendering


def _check_identities(voices: Sequence[Voice], probes: Sequence[_Rendering]) -> None:
    first: dict[str, Voice] = {}
    for voice, probe in zip(voices, probes, strict=True):
        _, plus, variant = voice.voice.partition("+")
        if plus and not probe.identifier.endswith(f"+{variant}"):
            raise CohortError(
                f"voice {voice.voice!r} ({voice.name}): eSpeak NG has no variant {variant!r} and speaks as"
                f" {probe.identifier!r}"
            )
        if probe.sha256 in first:
            raise CohortError(
                f"voice {voice.voice!r} ({voice.name}) renders the same bytes as {first[probe.sha256].voice!r}: they are one"
                " voice under two names"
            )
        first[probe.sha256] = voice
