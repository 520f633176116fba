"""Sounds: what a waveform and a spectrogram show is where the sound has it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.reports.html import audio_figures as module
from pytest_benchbench.reports.html.audio_figures import HEIGHT, WIDTH, audio_figures, spectrogram, waveform

ROOM = 100_000


def tone(hertz, seconds=2.0, level=0.5):
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(16_000 * seconds)) / 16_000)).astype(np.float32)


def drawn(media, samples, room=ROOM, **how):
    file = media.wav(samples, **how)
    return audio_figures((media.folder / file.name).read_bytes(), file.name, room)


def test_a_sound_is_a_waveform_and_a_spectrogram(media, pixels_of):
    wave, spectrum = drawn(media, tone(1000))
    assert wave.alt == "Waveform of voice.wav"
    assert wave.caption == "voice.wav: waveform, 2 s from left to right, from -0.5 to 0.5 of full scale."
    assert pixels_of(wave).shape == (HEIGHT, WIDTH, 4)
    assert spectrum.alt == "Spectrogram of voice.wav"
    assert "2 s from left to right, 0 to 8 kHz upwards" in spectrum.caption
    assert pixels_of(spectrum).shape == (128, WIDTH, 4)


@pytest.mark.parametrize("hertz", [100, 1000, 4000, 7900])
def test_a_tone_is_a_line_at_its_frequency(hertz):
    power = spectrogram(tone(hertz)).astype(int)
    assert power.max() == 255
    loudest_row = power.mean(axis=1).argmax()
    assert abs((127.5 - loudest_row) * 62.5 - hertz) <= 62.5


def test_time_runs_from_left_to_right():
    silence_then_tone = np.concatenate([np.zeros(16_000, np.float32), tone(1000, 1)])
    power = spectrogram(silence_then_tone)
    half = power.shape[1] // 2
    assert power[:, : half - 2].max() == 0
    assert power[:, half + 2 :].max(axis=0).min() > 200
    ink = waveform(silence_then_tone, 0.5)
    middle = HEIGHT // 2
    assert not ink[: middle - 5, : WIDTH // 2 - 2].any()
    assert ink[:10, WIDTH // 2 + 2 :].any()


def test_silence_has_a_flat_waveform_and_no_spectrogram(media, pixels_of):
    (wave,) = drawn(media, np.zeros(8000, np.float32))
    assert wave.caption.endswith("silent.")
    rows = np.flatnonzero(pixels_of(wave)[..., 3].any(axis=1))
    assert len(rows) == 2
    assert abs(rows.mean() - HEIGHT / 2) <= 1


def test_what_is_louder_than_full_scale_is_said(media):
    wave = drawn(media, 40 * tone(500), subtype="FLOAT")[0]
    assert "from -20 to 20 of full scale" in wave.caption


@pytest.mark.parametrize("samples", [1, 2, 255, 256, 511, 512, 513, 769])
def test_sounds_shorter_than_a_window_are_drawn(media, samples):
    assert len(drawn(media, np.full(samples, 0.5, np.float32))) == 2


def test_pictures_fit_their_room(media):
    noise = np.random.default_rng(0).uniform(-1, 1, 64_000).astype(np.float32)
    assert len(drawn(media, noise, 15_000)) == 2
    for room in (15_000, 4_000, 500, 10):
        assert sum(len(figure.data_uri) for figure in drawn(media, noise, room)) <= room


def test_a_sound_beyond_the_bound_is_not_decoded(media, monkeypatch):
    monkeypatch.setattr(module, "MAX_SECONDS", 1.0)
    with pytest.raises(UndecodableArtifactError, match="longer than the limit"):
        drawn(media, tone(100))


@settings(max_examples=50)
@given(arrays.arrays(np.float32, st.integers(1, 3000), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_any_finite_samples_have_pictures(samples):
    peak = float(np.abs(samples).max())
    assert waveform(samples, peak).any(axis=0).all()
    if peak:
        assert spectrogram(samples).shape[0] == 128
