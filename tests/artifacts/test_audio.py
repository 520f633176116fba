import io

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings, strategies
from hypothesis.extra.numpy import arrays

from pytest_benchbench.artifacts.audio import Audio, decode_audio
from pytest_benchbench.artifacts.audio_fidelity import audio_fidelity
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.cohorts.carriers.audio import CARRIERS
from pytest_benchbench.cohorts.sounds import encode_wav

LOSSY = ("mp3-128", "aac-128", "opus-64", "vorbis-0.8")


def written(samples, rate=16_000, **how):
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, **how)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def sound():
    return next(carrier for carrier in CARRIERS if carrier.name == "pinkish-noise").draw(2.0)


@pytest.fixture(scope="module")
def files(sound):
    attacks = {attack.name: attack.apply(sound).data for attack in find_attacks("audio", LOSSY)}
    return {"wav": encode_wav(sound), "flac": written(sound, format="FLAC"), **attacks}


@settings(max_examples=50)
@given(arrays(np.int16, strategies.integers(1, 400)))
def test_16_bit_mono_at_16_khz_passes_through_untouched(integers):
    samples = integers.astype(np.float32) / np.float32(32768)
    for data in (encode_wav(samples), written(integers, format="FLAC", subtype="PCM_16")):
        audio = decode_audio(data)
        assert np.array_equal(audio.samples, samples)
        assert (audio.decoding["resampler"], audio.decoding["downmix"]) == (None, None)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_every_width_of_wav_is_read_at_full_scale(sound, subtype):
    audio = decode_audio(written(sound, format="WAV", subtype=subtype))
    assert np.abs(audio.samples - sound).max() <= (1 / 128 if subtype == "PCM_U8" else 1e-6)


def test_channels_are_averaged_and_the_evidence_says_so(sound):
    audio = decode_audio(written(np.stack([sound, np.zeros_like(sound)], axis=1), format="WAV", subtype="FLOAT"))
    assert np.allclose(audio.samples, sound / 2, atol=1e-7)
    assert audio.decoding["channels"] == 2
    assert audio.decoding["downmix"] == "mean of channels"


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000])
def test_other_rates_are_resampled_and_the_evidence_says_by_what(rate):
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    audio = decode_audio(written(tone, rate, format="WAV", subtype="FLOAT"))
    assert len(audio.samples) == 16_000
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    assert np.abs(audio.samples - expected)[500:-500].max() < 1e-3
    assert audio.decoding["resampler"].startswith("soxr ")


@pytest.mark.parametrize("codec", LOSSY)
def test_lossy_codecs_keep_length_and_place(files, sound, codec):
    decoded = decode_audio(files[codec]).samples
    assert len(decoded) == len(sound)
    lags = range(-40, 41)
    middle = sound[2000:-2000]
    scores = [float(np.dot(middle, decoded[2000 + lag : len(sound) - 2000 + lag])) for lag in lags]
    assert lags[int(np.argmax(scores))] == 0


def test_the_samples_cannot_be_changed(files):
    assert not decode_audio(files["wav"]).samples.flags.writeable


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_samples_that_are_no_numbers_are_an_error(sound, value):
    broken = sound.copy()
    broken[7] = value
    with pytest.raises(UndecodableArtifactError):
        decode_audio(written(broken, format="WAV", subtype="FLOAT"))


@pytest.mark.parametrize(
    "data", [b"", b"RIFF", b"\x00" * 100, b"#EXTM3U\nfile:///etc/passwd\n", b"ffconcat version 1.0\nfile x\n"]
)
def test_what_is_no_sound_is_an_error_of_one_line(data):
    with pytest.raises(UndecodableArtifactError) as caught:
        decode_audio(data)
    assert len(str(caught.value).splitlines()) == 1


def test_no_samples_is_an_error():
    with pytest.raises(UndecodableArtifactError):
        decode_audio(written(np.zeros(0), format="WAV", subtype="PCM_16"))


def test_a_longer_sound_than_is_accepted_is_an_error(files):
    with pytest.raises(UndecodableArtifactError):
        decode_audio(files["wav"], max_seconds=1.0)


@pytest.mark.parametrize("name", ["wav", "flac", *LOSSY])
def test_a_truncated_file_is_never_a_shorter_sound(files, name):
    for share in (0.3, 0.6, 0.9, 0.99):
        with pytest.raises(UndecodableArtifactError):
            decode_audio(files[name][: int(share * len(files[name]))])


@pytest.mark.parametrize("name", ["wav", "flac", *LOSSY])
def test_damaged_files_end_as_sound_or_error(files, name):
    random = np.random.default_rng(5)
    for _ in range(30):
        damaged = bytearray(files[name])
        for position in random.integers(0, len(damaged), random.integers(1, 9)):
            damaged[position] ^= 1 << int(random.integers(8))
        try:
            audio = decode_audio(bytes(damaged))
        except UndecodableArtifactError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017 - either outcome is right, but each in its form
        else:
            assert np.isfinite(audio.samples).all()


def heard(samples):
    return Audio(np.asarray(samples, dtype=np.float32), {}, None)


def test_snr_is_power_over_the_power_of_the_difference():
    measured = audio_fidelity(heard([1.0, 0.5, -0.5]), heard([1.0, 0.5, -1.0]))
    assert measured.snr_db == pytest.approx(10 * np.log10(2.25 / 0.25))
    assert (measured.status, measured.snr_status) == ("measured", "finite")


def test_identical_sounds_have_no_bound_and_silence_no_power():
    assert audio_fidelity(heard([0.25]), heard([0.25])).snr_status == "unbounded_identical"
    silent = audio_fidelity(heard([0.25]), heard([0.0]))
    assert (silent.snr_db, silent.snr_status) == (None, "zero_reference_power")


def test_sounds_of_different_length_are_incomparable():
    measured = audio_fidelity(heard([0.25, 0.5]), heard([0.25]))
    assert (measured.status, measured.snr_db) == ("incomparable", None)
    assert "2" in measured.reason


@settings(max_examples=50)
@given(arrays(np.float32, 64, elements=strategies.floats(-1, 1, width=32)), strategies.integers(-6, 6))
def test_snr_does_not_depend_on_loudness(samples, exponent):
    reference = samples + np.float32(0.5)
    scale = np.float32(2.0**exponent)
    one = audio_fidelity(heard(samples), heard(reference))
    other = audio_fidelity(heard(samples * scale), heard(reference * scale))
    assert one.snr_status == other.snr_status
    assert one.snr_db == pytest.approx(other.snr_db, abs=1e-3)
