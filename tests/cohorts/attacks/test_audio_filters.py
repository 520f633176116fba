import numpy as np
import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.audio_filters import (
    echoed,
    filtered,
    fitted,
    quantised,
    resampled,
    scaled,
    with_noise,
)


def tone(hertz, seconds=1.0, amplitude=0.5):
    return (amplitude * np.sin(2 * np.pi * hertz * np.arange(round(16_000 * seconds)) / 16_000)).astype(np.float32)


def level(samples):
    """Give the level of the middle in dB: filters settle at the ends."""
    return 10 * np.log10(np.mean(samples[2000:-2000].astype(float) ** 2))


@pytest.mark.parametrize("decibels", [30, 20, 10])
def test_noise_lies_as_far_below_the_sound_as_it_says(decibels):
    sound = tone(440)
    noise = with_noise(decibels, seed=0)(sound)[0].astype(float) - sound
    assert 10 * np.log10(np.sum(sound.astype(float) ** 2) / np.sum(noise**2)) == pytest.approx(decibels, abs=1e-4)
    spectrum = np.abs(np.fft.rfft(noise)) ** 2
    assert spectrum[:4000].sum() == pytest.approx(spectrum[4000:].sum(), rel=0.1)


def test_silence_cannot_be_made_noisy_by_a_ratio():
    with pytest.raises(CohortError, match=r"^silence has no signal-to-noise ratio$"):
        with_noise(10, seed=0)(np.zeros(100, np.float32))


def test_another_seed_draws_other_noise():
    assert not np.array_equal(with_noise(10, seed=0)(tone(440))[0], with_noise(10, seed=1)(tone(440))[0])


def test_resampling_removes_what_the_lower_rate_cannot_hold():
    low, high = tone(1000), tone(6000)
    attacked, _ = resampled(8000)(low + high)
    assert attacked.size == low.size
    assert level(attacked - low) < -50
    assert level(resampled(22_050)(low)[0] - low) < -60


@pytest.mark.parametrize(
    ("kind", "edges", "passes", "stops"),
    [
        ("lowpass", (2000,), 500, 6000),
        ("highpass", (2000,), 6000, 500),
        ("bandpass", (500, 5000), 1500, 60),
        ("bandpass", (500, 2000), 1000, 6000),
    ],
)
def test_a_filter_passes_its_band_without_delay(kind, edges, passes, stops):
    filtering = filtered(kind, *edges)
    assert level(filtering(tone(passes))[0] - tone(passes)) < level(tone(passes)) - 20
    assert level(filtering(tone(stops))[0]) < level(tone(stops)) - 40


def test_a_filter_is_6_db_down_at_its_edge():
    assert level(filtered("lowpass", 2000)(tone(2000))[0]) - level(tone(2000)) == pytest.approx(-6.02, abs=0.1)


def test_a_gain_scales():
    assert level(scaled(-6)(tone(440))[0]) - level(tone(440)) == pytest.approx(-6, abs=0.01)
    assert scaled(20)(tone(440))[0].max() == pytest.approx(5, rel=1e-3)  # clipping is left to the writer


def test_an_echo_comes_a_tenth_of_a_second_later():
    click = np.zeros(4000, np.float32)
    click[100] = 0.5
    attacked, _ = echoed(0.3)(click)
    assert np.flatnonzero(attacked).tolist() == [100, 1700]
    assert attacked[1700] == pytest.approx(0.15)


def test_a_sound_shorter_than_the_echo_is_refused():
    with pytest.raises(CohortError, match=r"^echo: the sound ends before the echo begins"):
        echoed(0.3)(np.ones(1600, np.float32))


def test_quantising_leaves_that_many_levels():
    ramp = np.linspace(-1, 1, 5001, dtype=np.float32)
    attacked, _ = quantised(4)(ramp)
    assert len(np.unique(attacked)) == 16
    assert np.abs(attacked - ramp)[ramp < 0.9].max() <= 1 / 16 + 1e-6
    assert 0 in attacked


def test_fitting_cuts_or_pads_at_the_end():
    assert fitted(np.array([1.0, 2, 3]), 2).tolist() == [1, 2]
    assert fitted(np.array([1.0, 2, 3]), 5).tolist() == [1, 2, 3, 0, 0]
