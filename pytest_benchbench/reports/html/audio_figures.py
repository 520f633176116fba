"""A sound as a waveform and a spectrogram."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pytest_benchbench.artifacts.audio import AUDIO_RATE, decode_audio
from pytest_benchbench.reports.html.figure import Figure
from pytest_benchbench.reports.html.raster import columns_of, extremes, line_drawing, photograph

MAX_SECONDS = 900.0
"""Longest sound that is decoded to draw it."""

WIDTH, HEIGHT = 384, 96

WINDOW = 512
"""Samples of a spectrogram's window, 32 ms."""

HOP = 256

RANGE_DB = 80.0
"""From the loudest part of a spectrogram down to black."""

_WINDOWS_AT_ONCE = 4096


def audio_figures(data: bytes, name: str, room: int) -> list[Figure]:
    """Draw the waveform and the spectrogram of a sound as it is decoded: mono, 16 kHz.

    Args:
        data: The sound's file.
        name: What to call it.
        room: Bytes of data URIs.

    Returns:
        The waveform and, unless the sound is silent, the spectrogram; without those for which there is no room.

    Raises:
        UndecodableArtifactError: The sound cannot be decoded, or is too long.
    """
    samples = decode_audio(data, max_seconds=MAX_SECONDS).samples
    seconds = f"{len(samples) / AUDIO_RATE:.4g} s"
    peak = float(np.abs(samples).max())
    figures = []
    if (uri := line_drawing(waveform(samples, peak), room // 2)) is not None:
        scale = f"from -{peak:.4g} to {peak:.4g} of full scale" if peak else "silent"
        caption = f"{name}: waveform, {seconds} from left to right, {scale}."
        figures.append(Figure(uri, f"Waveform of {name}", caption))
    if peak:
        room -= sum(len(figure.data_uri) for figure in figures)
        drawn = Image.fromarray(spectrogram(samples))
        picture = drawn.resize((WIDTH, drawn.height), Image.Resampling.NEAREST)
        if (uri := photograph(picture, room)) is not None:
            caption = (
                f"{name}: spectrogram, {seconds} from left to right, 0 to {AUDIO_RATE // 2000} kHz upwards; white is the "
                f"loudest, black {RANGE_DB:g} dB below it or less."
            )
            figures.append(Figure(uri, f"Spectrogram of {name}", caption))
    return figures


def waveform(samples: NDArray[np.float32], peak: float) -> NDArray[np.bool_]:
    """Draw the least and the greatest sample of each column.

    Args:
        samples: Shape (n,), n > 0, finite.
        peak: The greatest absolute value, which reaches the edge.

    Returns:
        Shape (``HEIGHT``, ``WIDTH``), row 0 on top, true where there is ink.
    """
    lows, highs = extremes(samples, WIDTH)
    if peak:
        lows, highs = lows / peak, highs / peak
    return columns_of((lows + 1) / 2, (highs + 1) / 2, HEIGHT)


def spectrogram(samples: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Draw the mean power in each column and band: Hann windows of 512 samples every 256.

    Args:
        samples: Shape (n,), n > 0, finite, not silent.

    Returns:
        Shape (128, columns) with at most ``WIDTH`` columns, row 0 is the highest band; 255 is the loudest, 0 is
        ``RANGE_DB`` below it or less. Each row is the louder of two bands of 31.25 Hz.
    """
    # What is loud beyond all measure must not overflow when it is squared.
    scaled = samples.astype(np.float64) / float(np.abs(samples).max())
    missing = WINDOW - len(scaled) if len(scaled) < WINDOW else -(len(scaled) - WINDOW) % HOP
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(scaled, (0, missing)), WINDOW)[::HOP]
    columns = min(WIDTH, len(windows))
    column_of = np.arange(len(windows)) * columns // len(windows)
    power = np.zeros((columns, WINDOW // 2))
    hann = np.hanning(WINDOW)
    for start in range(0, len(windows), _WINDOWS_AT_ONCE):
        block = windows[start : start + _WINDOWS_AT_ONCE] * hann
        np.add.at(power, column_of[start : start + _WINDOWS_AT_ONCE], np.abs(np.fft.rfft(block)[:, 1:]) ** 2)
    power /= np.bincount(column_of)[:, None]
    bands = power.reshape(columns, -1, 2).max(axis=2).T[::-1]
    loudest = float(bands.max())
    decibels = (
        10 * np.log10(np.maximum(bands / loudest, 10 ** (-RANGE_DB / 10))) if loudest else np.full_like(bands, -RANGE_DB)
    )
    drawn: NDArray[np.uint8] = np.rint((decibels / RANGE_DB + 1) * 255).astype(np.uint8)
    return drawn
