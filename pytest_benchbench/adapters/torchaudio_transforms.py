"""The three transforms that Perth takes from torchaudio, for machines on which torchaudio cannot be imported.

Written from the documentation of ``torchaudio.transforms``, with its names, defaults and buffers, as far as Perth uses
them: a checkpoint of Perth carries the buffers, so their names and shapes count. Imported only where torch is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch


class Spectrogram(torch.nn.Module):  # type: ignore[misc]  # torch is untyped where it is not installed
    """Short-time Fourier transform of a signal, centred, with reflected edges.

    Args:
        n_fft: Length of one transform in samples.
        win_length: Length of the window in samples, ``n_fft`` at most.
        hop_length: Samples from one frame to the next.
        window_fn: Makes the window from its length.
        power: Only ``None``: the values stay complex.
        normalized: Only ``False``.

    Raises:
        ValueError: Another ``power`` or ``normalized``, which Perth does not ask for.
    """

    window: Any

    def __init__(
        self,
        n_fft: int,
        win_length: int,
        hop_length: int,
        window_fn: Callable[[int], Any],
        power: float | None = None,
        normalized: bool = False,
    ) -> None:
        super().__init__()
        if power is not None or normalized:
            raise ValueError("only the complex spectrogram without normalisation is supplied here")
        self.n_fft, self.win_length, self.hop_length = n_fft, win_length, hop_length
        self.register_buffer("window", window_fn(win_length))

    def forward(self, waveform: Any) -> Any:
        """Transform a signal (..., n) float into (..., n_fft // 2 + 1, 1 + n // hop_length) complex."""
        frames = torch.stft(
            waveform.reshape(-1, waveform.shape[-1]),
            self.n_fft,
            self.hop_length,
            self.win_length,
            self.window,
            center=True,
            pad_mode="reflect",
            normalized=False,
            onesided=True,
            return_complex=True,
        )
        return frames.reshape(waveform.shape[:-1] + frames.shape[-2:])


class InverseSpectrogram(torch.nn.Module):  # type: ignore[misc]
    """The way back from a complex spectrogram to a signal, by overlapping and adding.

    Args:
        n_fft: Length of one transform in samples.
        win_length: Length of the window in samples, ``n_fft`` at most.
        hop_length: Samples from one frame to the next.
        window_fn: Makes the window from its length.
        normalized: Only ``False``.

    Raises:
        ValueError: Another ``normalized``, which Perth does not ask for.
    """

    window: Any

    def __init__(
        self, n_fft: int, win_length: int, hop_length: int, window_fn: Callable[[int], Any], normalized: bool = False
    ) -> None:
        super().__init__()
        if normalized:
            raise ValueError("only the spectrogram without normalisation is supplied here")
        self.n_fft, self.win_length, self.hop_length = n_fft, win_length, hop_length
        self.register_buffer("window", window_fn(win_length))

    def forward(self, spectrogram: Any) -> Any:
        """Transform (..., n_fft // 2 + 1, frames) complex into a signal (..., hop_length * (frames - 1)) float."""
        signal = torch.istft(
            spectrogram.reshape((-1, *spectrogram.shape[-2:])),
            self.n_fft,
            self.hop_length,
            self.win_length,
            self.window,
            center=True,
            normalized=False,
            onesided=True,
            return_complex=False,
        )
        return signal.reshape(spectrogram.shape[:-2] + signal.shape[-1:])


class TimeStretch(torch.nn.Module):  # type: ignore[misc]
    """The table of a phase vocoder. Perth makes one, saves its table with every checkpoint, and never calls it.

    Args:
        hop_length: Samples from one frame to the next.
        n_freq: Number of frequencies, ``n_fft // 2 + 1``.
    """

    phase_advance: Any

    def __init__(self, hop_length: int, n_freq: int) -> None:
        super().__init__()
        self.register_buffer("phase_advance", torch.linspace(0, math.pi * hop_length, n_freq)[..., None])
