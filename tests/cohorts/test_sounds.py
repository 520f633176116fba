import io
import wave

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.sounds import decode_sound, encode_wav


def sound(*values):
    return np.array(values, dtype=np.float32)


def test_a_wav_is_mono_16_bit_at_16_khz():
    with wave.open(io.BytesIO(encode_wav(sound(0, 0.5)))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate(), file.getnframes()) == (1, 2, 16_000, 2)


@given(st.lists(st.integers(-32768, 32767), min_size=1, max_size=50))
def test_what_16_bits_hold_comes_back_exactly(integers):
    samples = np.array(integers, dtype=np.float32) / np.float32(32768)
    assert np.array_equal(decode_sound(encode_wav(samples)), samples)


def test_values_are_rounded_half_to_even_and_clipped():
    values = sound(0.5 / 32768, 1.5 / 32768, -0.5 / 32768, 1.0, 3.0, -1.0, -3.0)
    assert (decode_sound(encode_wav(values)) * 32768).tolist() == [0, 2, 0, 32767, 32767, -32768, -32768]


@pytest.mark.parametrize("samples", [sound(), sound(0, np.nan), sound(np.inf), np.zeros((2, 8), np.float32)])
def test_what_is_no_mono_sound_is_refused_in_one_line(samples):
    with pytest.raises(CohortError, match=r"^a sound [^\n]*$"):
        encode_wav(samples)


def test_bytes_that_are_no_sound_are_refused():
    with pytest.raises(UndecodableArtifactError):
        decode_sound(b"no sound")
