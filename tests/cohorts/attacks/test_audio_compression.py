import io

import av
import numpy as np
import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.audio_compression import AAC_LARGEST_RATE, opus_writer
from pytest_benchbench.cohorts.attacks.registry import attacks_of
from pytest_benchbench.cohorts.sounds import decode_sound


@pytest.mark.parametrize(
    ("name", "demuxer", "codec"),
    [("mp3-128", "mp3", "mp3float"), ("aac-128", "mov", "aac"), ("opus-32", "ogg", "opus"), ("vorbis-0.5", "ogg", "vorbis")],
)
def test_a_file_is_of_the_kind_that_it_is_named_for(name, demuxer, codec, media):
    with av.open(io.BytesIO(attacks_of("audio")[name].apply(media["audio"]).data), format=demuxer) as file:
        assert file.streams.audio[0].codec_context.name == codec
        assert file.streams.audio[0].codec_context.channels == 1


@pytest.mark.parametrize("name", ["mp3-64", "aac-32", "opus-32"])
def test_the_bit_rate_is_about_that_of_the_name(name, media):
    sound = np.tile(media["audio"], 4)
    bits = 8 * len(attacks_of("audio")[name].apply(sound).data) / (sound.size / 16_000)
    assert bits == pytest.approx(1000 * attacks_of("audio")[name].strength, rel=0.2)


def test_aac_is_held_to_what_a_frame_can_hold(media):
    assert AAC_LARGEST_RATE == 96_000
    attacked = attacks_of("audio")["aac-128"].apply(media["audio"])
    assert attacked.parameters["encoder"]["bit_rate_used"] == 96_000
    assert 8 * len(attacked.data) / 2 <= 96_000
    assert attacks_of("audio")["aac-64"].apply(media["audio"]).parameters["encoder"]["bit_rate_used"] == 64_000


@pytest.mark.parametrize("name", ["mp3-128", "aac-128", "opus-128", "vorbis-1"])
def test_nothing_is_delayed(name, media):
    """A shift by one sample already would leave the difference louder than this."""
    sound = media["audio"]
    decoded = decode_sound(attacks_of("audio")[name].apply(sound).data)
    lags = {lag: float(np.dot(decoded[100:-100], sound[100 + lag : sound.size - 100 + lag])) for lag in range(-40, 41)}
    assert max(lags, key=lags.get) == 0


def test_mp3_lengths_that_ffmpeg_writes_too_long_are_the_documented_ones():
    random = np.random.default_rng(0)
    mp3 = attacks_of("audio")["mp3-64"]
    for length in (4032, 4033, 4034, 4078, 4079, 4080):
        sound = (0.1 * random.standard_normal(length)).astype(np.float32)
        missing = -(length + 1105) % 576  # samples to a whole number of frames, after LAME's delay
        assert decode_sound(mp3.apply(sound).data).size == length + (missing if missing <= 46 else 0)


def test_a_rate_that_an_encoder_refuses_ends_in_one_line(media):
    with pytest.raises(CohortError, match=r"^libopus: cannot encode 32000 samples: [^\n]*$"):
        opus_writer(4000).encode(media["audio"])


@pytest.mark.parametrize("name", ["mp3-128", "vorbis-0.5"])
def test_what_is_no_sound_is_refused(name):
    with pytest.raises(CohortError, match=r"^a sound with samples that are not finite numbers$"):
        attacks_of("audio")[name].apply(np.full(8000, np.nan, np.float32))


def test_minutes_of_sound_can_be_written_as_vorbis():
    """In one call libsndfile's encoder would end the process."""
    sound = (0.3 * np.sin(np.arange(300 * 16_000) / 9)).astype(np.float32)
    assert decode_sound(attacks_of("audio")["vorbis-0.5"].apply(sound).data).size == sound.size
