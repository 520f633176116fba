import numpy as np
import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.audio_time import cut, sped, stretched
from pytest_benchbench.cohorts.attacks.registry import attacks_of


def tone(hertz, length=16_000):
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(length) / 16_000)).astype(np.float32)


def pitch(samples):
    middle = samples[1000:-1000] * np.hanning(samples.size - 2000)
    return np.abs(np.fft.rfft(middle, 1 << 18)).argmax() * 16_000 / (1 << 18)


@pytest.mark.parametrize("speed", [0.5, 0.9, 1.25, 1.5])
def test_speed_moves_the_pitch(speed):
    attacked, _ = sped(speed)(tone(440))
    assert attacked.size == round(16_000 / speed)
    assert pitch(attacked) == pytest.approx(440 * speed, rel=0.001)


@pytest.mark.parametrize("speed", [0.7, 0.9, 1.1, 1.5])
def test_a_stretch_keeps_pitch_and_level(speed):
    attacked, _ = stretched(speed)(tone(440))
    assert attacked.size == round(16_000 / speed)
    assert pitch(attacked) == pytest.approx(440, rel=0.002)
    assert np.std(attacked[1000:-1000]) == pytest.approx(np.std(tone(440)), rel=0.12)  # its frames cancel a little


def test_a_stretch_by_one_changes_nothing():
    sound = (0.1 * np.random.default_rng(0).standard_normal(8000)).astype(np.float32)
    assert np.abs(stretched(1)(sound)[0] - sound).max() < 1e-6


def test_a_stretch_moves_events_in_time():
    sound = np.concatenate([np.zeros(8000, np.float32), tone(440, 8000)])
    attacked, _ = stretched(0.8)(sound)
    loud = np.abs(attacked) > 0.2
    assert np.flatnonzero(loud)[0] == pytest.approx(10_000, abs=400)


def test_a_sound_shorter_than_a_window_is_refused():
    with pytest.raises(CohortError, match=r"^time stretch: the sound is shorter than a window"):
        stretched(1.1)(tone(440, 511))


def test_a_crop_cuts_both_ends():
    attacked, record = cut(10)(np.arange(100, dtype=np.float32))
    assert record["kept"] == [10, 90]
    assert attacked.tolist() == list(range(10, 90))


def test_what_moves_in_time_is_never_compared():
    moved = {attack.family for attack in attacks_of("audio").values() if not attack.keeps_positions}
    assert moved == {"speed-fast", "speed-slow", "stretch-fast", "stretch-slow", "crop"}
