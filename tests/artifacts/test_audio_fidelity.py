"""The signal-to-noise ratio against exact arithmetic, and its own laws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from pytest_benchbench.artifacts.audio import Audio, decode_audio
from pytest_benchbench.artifacts.audio_fidelity import _LANES, AudioFidelity, audio_fidelity

FLOATS = st.floats(-2, 2, width=32, allow_nan=False)


def audio(samples, incomparable=None):
    return Audio(np.asarray(samples, np.float32), {}, incomparable)


@st.composite
def pairs(draw):
    """Two sounds of one length; half the time near each other, as a marked one and its carrier are."""
    length = draw(st.integers(1, 40))
    first = draw(arrays.arrays(np.float32, length, elements=FLOATS))
    second = draw(arrays.arrays(np.float32, length, elements=FLOATS) | st.just(first))
    if draw(st.booleans()):
        second = np.where(draw(arrays.arrays(np.bool_, length)), second, first)
    return first, second


def exact(a, r):
    """Signal and noise power as fractions."""
    a, r = ([Fraction(float(value)) for value in samples] for samples in (a, r))
    return sum(value**2 for value in r), sum((x - y) ** 2 for x, y in zip(a, r, strict=True))


@given(pairs())
def test_the_ratio_is_that_of_exact_arithmetic(pair):
    fidelity = audio_fidelity(audio(pair[0]), audio(pair[1]))
    signal, noise = exact(*pair)
    assert fidelity.status == "measured"
    if noise == 0:
        assert fidelity == AudioFidelity("measured", snr_db=None, snr_status="unbounded_identical")
    elif signal == 0:
        assert fidelity == AudioFidelity("measured", snr_db=None, snr_status="zero_reference_power")
    else:
        assert fidelity.snr_status == "finite"
        expected = 10 * (math.log10(signal.numerator) - math.log10(signal.denominator))
        expected -= 10 * (math.log10(noise.numerator) - math.log10(noise.denominator))
        assert fidelity.snr_db == pytest.approx(expected, abs=1e-9)


@given(pairs(), st.integers(-8, 8))
def test_it_does_not_depend_on_the_common_level(pair, octaves):
    scaled = [np.ldexp(samples, octaves) for samples in pair]
    if all(np.array_equal(np.ldexp(more, -octaves), samples) for more, samples in zip(scaled, pair, strict=True)):
        first, second = audio_fidelity(audio(pair[0]), audio(pair[1])), audio_fidelity(audio(scaled[0]), audio(scaled[1]))
        assert first.snr_status == second.snr_status
        assert first.snr_db == pytest.approx(second.snr_db, abs=1e-9)


@pytest.mark.parametrize("db", [10, 20, 30])
def test_noise_of_a_known_power_has_that_ratio(db):
    random = np.random.default_rng(0)
    reference = random.choice([-0.5, 0.5], 50_000).astype(np.float32)
    noise = random.choice([-0.5, 0.5], 50_000) * 10 ** (-db / 20)
    assert audio_fidelity(audio(reference + noise), audio(reference)).snr_db == pytest.approx(db, abs=1e-4)


def test_it_is_the_references_power_that_counts():
    loud, quiet = audio([1.0, 1.0]), audio([0.5, 0.5])
    assert audio_fidelity(quiet, loud).snr_db == pytest.approx(10 * math.log10(4))
    assert audio_fidelity(loud, quiet).snr_db == 0.0


def test_silence_is_identical_to_silence():
    assert audio_fidelity(audio([0.0, 0.0]), audio([0.0, -0.0])).snr_status == "unbounded_identical"


def test_the_smallest_difference_is_not_identical():
    smallest = np.float32(1e-45)
    fidelity = audio_fidelity(audio([smallest, 1.0]), audio([0.0, 1.0]))
    assert fidelity.snr_status == "finite"
    assert 890 < fidelity.snr_db < 905


def test_the_order_inside_a_lane_is_the_only_one_that_counts():
    random = np.random.default_rng(1)
    a, r = random.standard_normal((2, 3 * _LANES + 7)).astype(np.float32)
    order = random.permutation(_LANES)
    swapped = [np.concatenate([x[: 3 * _LANES].reshape(3, -1)[:, order].ravel(), x[3 * _LANES :]]) for x in (a, r)]
    plain = [x[: 3 * _LANES] for x in (a, r)]
    assert audio_fidelity(audio(plain[0]), audio(plain[1])) == audio_fidelity(*(audio(x[: 3 * _LANES]) for x in swapped))


@pytest.mark.parametrize("where", [0, _LANES - 1, _LANES, 2 * _LANES + 4])
def test_one_sample_anywhere_counts(where):
    reference = np.ones(2 * _LANES + 5, np.float32)
    changed = reference.copy()
    changed[where] = 2
    assert audio_fidelity(audio(changed), audio(reference)).snr_db == pytest.approx(10 * math.log10(reference.size))


@pytest.mark.parametrize(("artifact", "reference"), [(3, 2), (2, 3), (1, 5)])
def test_lengths_are_neither_cut_nor_broadcast(artifact, reference):
    fidelity = audio_fidelity(audio(np.ones(artifact)), audio(np.ones(reference)))
    assert fidelity == AudioFidelity("incomparable", f"length: artifact {artifact} samples, reference {reference}")


def test_a_sound_that_is_not_all_there_is_not_compared():
    plain, partial = audio([1.0]), audio([1.0], "only the first of 2 audio streams was decoded")
    assert audio_fidelity(partial, plain) == AudioFidelity("incomparable", f"artifact: {partial.incomparable}")
    assert audio_fidelity(plain, partial) == AudioFidelity("incomparable", f"reference: {partial.incomparable}")


def test_a_lossy_file_is_compared_with_its_source(sounds):
    fidelity = audio_fidelity(decode_audio(sounds["mp3"]), decode_audio(sounds["wav"]))
    assert fidelity.snr_status == "finite"
    assert 15 < fidelity.snr_db < 60
