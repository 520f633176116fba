import hashlib
from itertools import combinations

import numpy as np
import pytest
from scipy.signal import welch

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.carriers.audio import CARRIERS, HARD_NEGATIVE, _sine
from pytest_benchbench.cohorts.sounds import encode_wav, to_pcm16

EVERY = (*CARRIERS, HARD_NEGATIVE)
BY_NAME = {carrier.name: carrier for carrier in EVERY}
each = pytest.mark.parametrize("carrier", EVERY, ids=lambda carrier: carrier.name)

FROZEN = {
    ("tone-stack", 1): "ce7aa4083a771c965d004db08e4ed27ff5e73339947e4f615548800b085f1826",
    ("pinkish-noise", 1): "3d59072347f0c6b6e0bb55a5a7f5223f2fe1de48d90b680cb886f65b440ff7ba",
    ("white-noise", 1): "09053cdb1c8541be533cb9394d3689a0e7eddd4b6c51fac53a872e2187e53480",
    ("other-white-noise", 1): "36a8294ce50b5854644d0aabd6f0d10e3f4059e1d5e6b56fe4832e8659ffd99e",
}


@each
def test_a_formula_gives_the_frozen_samples(carrier):
    samples = carrier.draw()
    assert (samples.shape, samples.dtype) == ((128_000,), np.float32)
    assert hashlib.sha256(to_pcm16(samples).astype("<i2").tobytes()).hexdigest() == FROZEN[carrier.name, carrier.revision]


@each
def test_every_sample_is_a_16_bit_integer_and_none_is_clipped(carrier):
    integers = carrier.draw().astype(np.float64) * 32768
    assert np.array_equal(integers, np.rint(integers))
    assert np.abs(integers).max() < 32767


@each
def test_a_shorter_draw_begins_the_longer_one(carrier):
    assert np.array_equal(carrier.draw(0.5), carrier.draw(2.0)[:8000])


@each
def test_the_recorded_seed_is_the_one_that_the_generator_got(carrier):
    if carrier.seed is None:
        assert np.array_equal(carrier.drawing(500, 99), carrier.drawing(500, None))
    else:
        assert not np.array_equal(carrier.drawing(500, carrier.seed + 1), carrier.drawing(500, carrier.seed))


def test_no_two_carriers_sound_alike():
    for one, other in combinations(EVERY, 2):
        assert abs(np.corrcoef(one.draw(), other.draw())[0, 1]) < 0.02


def test_the_hard_negative_is_of_the_kind_of_a_marked_carrier():
    white = BY_NAME["white-noise"]
    assert (HARD_NEGATIVE.drawing, HARD_NEGATIVE.formula) == (white.drawing, white.formula)
    assert HARD_NEGATIVE.seed != white.seed


def test_no_sine_lies_where_a_last_bit_could_round_it_otherwise():
    exact = 2**20 * np.sin(2 * np.pi * np.arange(16_000) / 16_000)
    assert np.abs(exact - np.floor(exact) - 0.5).min() > 1e-4
    assert np.abs(_sine() - exact).max() < 0.5


def test_the_tones_are_the_harmonics_of_220_hz_with_side_bands_of_3_hz():
    spectrum = np.abs(np.fft.rfft(BY_NAME["tone-stack"].draw(1.0)))
    loud = np.flatnonzero(spectrum > spectrum.max() / 100)
    assert loud.tolist() == [220 * n + side for n in range(1, 9) for side in (-3, 0, 3)]
    assert spectrum[220] / spectrum[1760] == pytest.approx(8, rel=0.01)


@pytest.mark.parametrize(("name", "slope"), [("pinkish-noise", -1), ("white-noise", 0), ("other-white-noise", 0)])
def test_the_power_of_noise_falls_as_said(name, slope):
    frequencies, power = welch(BY_NAME[name].draw(), fs=16_000, nperseg=4096)
    octaves = [power[(frequencies >= low) & (frequencies < 2 * low)].mean() for low in 31.25 * 2.0 ** np.arange(8)]
    expected = octaves[0] * 2.0 ** (slope * np.arange(8))
    assert np.abs(10 * np.log10(octaves / expected)).max() < 4
    assert np.polyfit(np.arange(8), np.log2(octaves), 1)[0] == pytest.approx(slope, abs=0.1)


def test_a_file_holds_the_carrier_exactly():
    samples = CARRIERS[1].draw(0.25)
    read = np.frombuffer(encode_wav(samples)[44:], dtype="<i2")
    assert np.array_equal(read.astype(np.float32) / 32768, samples)


def test_the_record_names_what_was_drawn():
    assert BY_NAME["pinkish-noise"].record() == {"name": "pinkish-noise", "revision": 1, "seed": 0}
    assert BY_NAME["tone-stack"].record()["seed"] is None


@pytest.mark.parametrize("seconds", [0, -1, 1e-6, 60.1, float("nan"), float("inf")])
def test_a_length_that_cannot_be_drawn_is_refused(seconds):
    with pytest.raises(CohortError, match=r"^tone-stack: .* expected more than 0 and at most 60 s$"):
        CARRIERS[0].draw(seconds)
