"""The rules of docs/decoding.md for sounds, one by one."""

import io
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings, strategies
from hypothesis.extra.numpy import arrays

from pytest_benchbench.artifacts.audio import MAX_VALUES, decode_audio
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.cohorts.attacks.audio_compression import opus_writer
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


def lag(reference, decoded):
    """Samples by which ``decoded`` is late, by the peak of the cross-correlation."""
    length = 1 << (len(reference) + len(decoded)).bit_length()
    peaks = np.fft.irfft(np.fft.rfft(decoded, length) * np.conj(np.fft.rfft(reference, length)), length)
    late = int(np.argmax(peaks))
    return late if late < length // 2 else late - length


ENCODERS = {
    "mp3": ("ffmpeg", "libmp3lame", "mp3"),
    "m4a": ("ffmpeg", "aac", "ipod"),
    "mp4": ("ffmpeg", "aac", "mp4"),
    "alac": ("ffmpeg", "alac", "ipod"),
    "opus": ("ffmpeg", "libopus", "ogg"),
    "mp3-libsndfile": ("libsndfile", "MP3", None),
    "vorbis": ("libsndfile", "OGG", "VORBIS"),
    "opus-libsndfile": ("libsndfile", "OGG", "OPUS"),
    "flac": ("libsndfile", "FLAC", None),
}


@pytest.fixture
def encode(encode_with_ffmpeg, encode_with_libsndfile):
    def run(encoder, samples, rate):
        library, *how = ENCODERS[encoder]
        return (encode_with_ffmpeg if library == "ffmpeg" else encode_with_libsndfile)(samples, rate, *how)

    return run


@pytest.mark.parametrize("samples", [128_000, 100_003, 16_001, 1_025, 500])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_coded_sound_has_its_samples_where_they_were(tone, encode, encoder, samples):
    original = tone(samples, 16_000)
    decoded = decode_audio(encode(encoder, original, 16_000)).samples
    assert len(decoded) == samples
    assert lag(original[:, 0], decoded) == 0


@pytest.mark.parametrize(
    ("encoder", "rate"),
    [
        (encoder, rate)
        for encoder in ENCODERS
        for rate in (8_000, 22_050, 44_100, 48_000)
        if "opus" not in encoder or rate in (8_000, 48_000)  # Opus knows no others
    ],
)
def test_a_coded_sound_of_another_rate_is_as_long_as_its_source(tone, encode, encode_with_libsndfile, encoder, rate):
    original = tone(2 * rate + 1, rate, 2)
    source = decode_audio(encode_with_libsndfile(original, rate, "WAV", "FLOAT")).samples
    decoded = decode_audio(encode(encoder, original, rate)).samples
    assert len(decoded) == len(source) == round((2 * rate + 1) * 16_000 / rate)
    assert lag(source, decoded) == 0


@pytest.mark.parametrize("kilobits", [6, 8])
@pytest.mark.parametrize("samples", [37, 161, 1_174, 5_652, 10_448])
def test_opus_of_few_bits_keeps_its_length(sound, kilobits, samples):
    """FFmpeg's own decoder loses up to eight samples at these lengths, in the mode for speech at low rates."""
    assert decode_audio(opus_writer(kilobits).encode(sound[:samples])).samples.size == samples


@pytest.mark.parametrize("kilobits", [6, 8])
def test_opus_of_few_bits_is_not_late(kilobits):
    """FFmpeg's own decoder is late by one or two samples in that mode, and a detector would be shown a shifted sound."""
    tones = next(carrier for carrier in CARRIERS if carrier.name == "tone-stack").draw(2.0)
    assert lag(tones, decode_audio(opus_writer(kilobits).encode(tones)).samples) in (-1, 0)


def test_raw_aac_keeps_the_delay_of_its_encoder_and_says_so(tone, encode_with_ffmpeg):
    original = tone(128_000, 16_000)
    audio = decode_audio(encode_with_ffmpeg(original, 16_000, "aac", "adts"))
    assert lag(original[:, 0], audio.samples) == 1024
    assert len(audio.samples) == 129_024
    assert audio.decoding["gapless"] == "none: encoder delay and padding stay"


def test_an_mp3_without_its_tag_keeps_delay_and_padding_and_says_so(tone, encode_with_ffmpeg):
    original = tone(16_000, 16_000)
    audio = decode_audio(encode_with_ffmpeg(original, 16_000, "libmp3lame", "mp3", options={"write_xing": "0"}))
    assert audio.decoding["gapless"] == "none: encoder delay and padding stay"
    assert len(audio.samples) % 576 == 0
    assert lag(original[:, 0], audio.samples) == 576 + 529  # the encoder's delay and the decoder's


@pytest.mark.parametrize("bits", [16, 24])
@pytest.mark.parametrize("encoder", ["alac", "flac"])
def test_lossless_codecs_give_back_the_integers(tone, encode_with_ffmpeg, encode_with_libsndfile, encoder, bits):
    integers = np.round(tone(9_999, 16_000) * 2 ** (bits - 1))
    samples = (integers / 2 ** (bits - 1)).astype(np.float32)
    if encoder == "alac":
        data = encode_with_ffmpeg(samples, 16_000, "alac", "ipod", bits)
    else:
        data = encode_with_libsndfile(samples, 16_000, "FLAC", f"PCM_{bits}")
    np.testing.assert_array_equal(decode_audio(data).samples, samples[:, 0])


@settings(max_examples=60)
@given(arrays(np.uint8, strategies.integers(1, 100).map(lambda n: 4 * n)), strategies.sampled_from([8, 16, 24, 32]))
def test_stored_integers_are_divided_by_full_scale(stored, bits):
    width = bits // 8
    stored = stored[: len(stored) // width * width].tobytes()
    layout = struct.pack("<HHIIHH", 1, 1, 16_000, 16_000 * width, width, bits)
    data = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0" + layout + b"data" + struct.pack("<I", len(stored)) + stored
    values = [
        stored[at] - 128 if bits == 8 else int.from_bytes(stored[at : at + width], "little", signed=True)
        for at in range(0, len(stored), width)
    ]
    np.testing.assert_array_equal(decode_audio(data).samples, np.float32(np.array(values) / 2 ** (bits - 1)))


@settings(max_examples=30)
@given(arrays(np.float32, (50, 3), elements=strategies.floats(-1, 1, width=32)))
def test_channels_are_summed_in_their_order(samples):
    exact = samples.astype(np.float64)
    expected = np.float32((exact[:, 0] + exact[:, 1] + exact[:, 2]) / 3)
    np.testing.assert_array_equal(decode_audio(written(samples, format="WAV", subtype="FLOAT")).samples, expected)


def test_a_long_file_is_resampled_as_in_one_piece(tone):
    import soxr

    samples = tone(300_000, 44_100)[:, 0]
    expected = soxr.resample(samples.astype(np.float64), 44_100, 16_000, quality="HQ").astype(np.float32)
    np.testing.assert_array_equal(decode_audio(written(samples, 44_100, format="WAV", subtype="FLOAT")).samples, expected)


def test_samples_beyond_full_scale_stay():
    assert list(decode_audio(written(np.array([2.5, -3.0]), format="WAV", subtype="FLOAT")).samples) == [2.5, -3.0]


def test_a_value_that_32_bits_cannot_hold_is_an_error():
    with pytest.raises(UndecodableArtifactError, match="beyond what 32-bit floats can represent"):
        decode_audio(written(np.array([1e300]), format="WAV", subtype="DOUBLE"))


def test_of_two_sounds_the_first_is_decoded_and_not_compared(tone):
    import av

    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as out:
        streams = [out.add_stream("aac", rate=16_000, layout="mono") for _ in range(2)]
        for level, stream in zip((1.0, 0.0), streams, strict=True):
            frame = av.AudioFrame.from_ndarray(level * tone(16_000, 16_000).T.copy(), format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 16_000, 0
            for packet in [*stream.encode(frame), *stream.encode(None)]:
                out.mux(packet)
    audio = decode_audio(file.getvalue())
    assert np.abs(audio.samples).max() > 0.1
    assert audio.decoding["streams"] == "first of 2"
    assert audio.incomparable == "only the first of 2 audio streams was decoded"


def test_the_sound_of_a_film_is_a_sound(tone):
    import av

    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as out:
        film, sound = out.add_stream("mpeg4", rate=25), out.add_stream("aac", rate=16_000, layout="mono")
        film.width = film.height = 32
        frame = av.AudioFrame.from_ndarray(tone(16_000, 16_000).T.copy(), format="fltp", layout="mono")
        frame.sample_rate = 16_000
        picture = av.VideoFrame(32, 32, "yuv420p")
        frame.pts = picture.pts = 0
        for stream, one in ((film, picture), (sound, frame)):
            for packet in [*stream.encode(one), *stream.encode(None)]:
                out.mux(packet)
    audio = decode_audio(file.getvalue())
    assert len(audio.samples) == 16_000
    assert audio.incomparable is None


@pytest.mark.parametrize(
    ("rate", "channels", "why"),
    [(999, 1, "a sample rate of 999 Hz"), (768_001, 1, "a sample rate of 768001 Hz"), (16_000, 65, "65 channels")],
)
def test_odd_rates_and_many_channels_are_refused(rate, channels, why):
    with pytest.raises(UndecodableArtifactError, match=why):
        decode_audio(written(np.zeros((4, channels)), rate, format="WAV", subtype="PCM_16"))


def test_a_small_file_that_unfolds_without_end_is_refused_by_its_header(sounds):
    data = bytearray(sounds["flac"])
    data[18:26] = (96_000 << 44 | 7 << 41 | 15 << 36 | (MAX_VALUES // 8 + 1)).to_bytes(8, "big")
    with pytest.raises(UndecodableArtifactError, match=r"over all channels|differently"):
        decode_audio(bytes(data))


def test_a_longer_sound_than_its_header_admits_is_refused_while_it_is_decoded(tone, encode_with_ffmpeg):
    data = encode_with_ffmpeg(tone(48_000, 16_000), 16_000, "aac", "adts")
    assert decode_audio(data, max_seconds=4).samples.size > 48_000
    with pytest.raises(UndecodableArtifactError, match=r"^the sound is longer than the limit of 2 s$"):
        decode_audio(data, max_seconds=2)


@pytest.mark.parametrize(("name", "package"), [("wav", "soundfile"), ("mp3", "av"), ("wav-float-stereo", "soxr")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(sounds, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        UndecodableArtifactError, match=rf"needs the package {package}.*pip install 'pytest-benchbench\[audio\]'"
    ):
        decode_audio(sounds[name])


def test_only_decoding_imports_the_decoders():
    code = "import sys, pytest_benchbench.artifacts.audio, pytest_benchbench.artifacts.audio_fidelity; " + (
        "print({'av', 'soundfile', 'soxr'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_threads_decode_alike(sounds):
    expected = {name: decode_audio(data).samples.tobytes() for name, data in sounds.items()}
    with ThreadPoolExecutor(4) as pool:
        jobs = [(name, pool.submit(decode_audio, sounds[name])) for name in list(sounds) * 3]
        assert all(job.result().samples.tobytes() == expected[name] for name, job in jobs)


def test_a_title_in_another_encoding_than_utf_8_is_no_hindrance(tone, encode_with_ffmpeg):
    tagged = bytearray(encode_with_ffmpeg(tone(8_000, 16_000), 16_000, "alac", "ipod"))
    at = tagged.index(b"Lavf")
    tagged[at] = 0xFC
    assert decode_audio(bytes(tagged)).samples.size == 8_000
