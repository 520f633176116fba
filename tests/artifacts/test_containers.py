"""Containers are told by their first bytes."""

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.artifacts.containers import (
    AUDIO_CONTAINERS,
    DEMUXERS,
    VIDEO_CONTAINERS,
    id3_bytes,
    identify_audio,
    identify_video,
)
from pytest_benchbench.artifacts.media import UndecodableArtifactError

ID3 = b"ID3\x04\0\0\0\0\x01\x05" + b"\0" * 133


def test_every_sound_is_told_by_its_bytes(sounds):
    told = {name: identify_audio(data) for name, data in sounds.items()}
    assert told == {name: {"vorbis": "ogg", "opus": "ogg"}.get(name.split("-")[0], name.split("-")[0]) for name in sounds}


@pytest.mark.parametrize("name", ["mp3", "adts", "flac"])
def test_an_id3_tag_in_front_is_passed_over(sounds, name):
    own = id3_bytes(sounds[name])
    assert id3_bytes(ID3 + ID3 + sounds[name]) == 2 * len(ID3) + own
    assert identify_audio(ID3 + ID3 + sounds[name]) == name


def test_a_tag_with_a_footer_is_longer():
    assert id3_bytes(b"ID3\x04\0\x10\0\0\0\x05" + b"\0" * 15) == 25


@pytest.mark.parametrize("name", ["wav", "m4a", "vorbis"])
def test_where_no_tag_belongs_it_is_no_sound(sounds, name):
    with pytest.raises(UndecodableArtifactError, match=r"^not audio in an accepted container"):
        identify_audio(ID3 + sounds[name])


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\0\0\0\x18ftypisom", "mp4"),
        (b"\0\0\0\x14ftypqt  ", "mp4"),
        (b"\0\0\x08\0moov", "mp4"),
        (b"\x1a\x45\xdf\xa3", "matroska"),
        (b"RIFF\0\0\0\0AVI ", "avi"),
        ((b"G" + b"\0" * 187) * 3, "mpegts"),
    ],
)
def test_films(head, name):
    assert identify_video(head + b"\0" * 20) == name


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"ID3",
        b"\xff\xf1",
        b"RIFF\0\0\0\0WEBP",
        b"\0\0\0\x18ftypavif",
        b"\0\0\0\x18ftypheic",
        b"\xff\xd8\xff\xe0JFIF",
        b"#EXTM3U\n/etc/passwd",
        b"ffconcat version 1.0\nfile /etc/passwd",
        b"G" + b"\0" * 186,
    ],
)
def test_nothing_else_is_opened(data):
    for identify in (identify_audio, identify_video):
        with pytest.raises(UndecodableArtifactError, match=r"in an accepted container|is empty"):
            identify(data)


@given(st.binary(max_size=600))
def test_any_bytes_have_a_name_or_an_error(data):
    for identify, names in ((identify_audio, AUDIO_CONTAINERS), (identify_video, VIDEO_CONTAINERS)):
        try:
            name = identify(data)
        except UndecodableArtifactError:
            continue
        assert name in names


def test_ffmpeg_knows_every_demuxer_that_is_named():
    av = pytest.importorskip("av")
    assert {av.format.ContainerFormat(name).is_input for name in DEMUXERS.values()} == {True}
