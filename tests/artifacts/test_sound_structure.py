"""A file that is not whole is told before it is decoded."""

import struct

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.artifacts.audio import decode_audio
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.sound_structure import (
    _ogg_checksum,
    adts_frames,
    flac_layout,
    mp3_frames,
    ogg_sound,
    wav_layout,
)

PCM_GUID = bytes.fromhex("0100000000001000800000aa00389b71")


def wav(content, tag=1, channels=1, rate=16_000, bits=16, *, declared=None, frame_bytes=None, extra=b"", before=b""):
    frame_bytes = channels * bits // 8 if frame_bytes is None else frame_bytes
    layout = struct.pack("<HHIIHH", tag, channels, rate, rate * frame_bytes, frame_bytes, bits) + extra
    size = len(content) if declared is None else declared
    chunks = b"fmt " + struct.pack("<I", len(layout)) + layout + before + b"data" + struct.pack("<I", size) + content
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def pages(data):
    """The pages of an Ogg file."""
    starts, position = [], 0
    while position < len(data):
        starts.append(position)
        segments = data[position + 26]
        position += 27 + segments + sum(data[position + 27 : position + 27 + segments])
    return [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]


def sealed(page):
    """A page with the checksum that it has to have."""
    return page[:22] + struct.pack("<I", _ogg_checksum(page[:22] + b"\0\0\0\0" + page[26:])) + page[26:]


# WAV


@pytest.mark.parametrize("declared", [102, 0xFFFFFFFF, 0x7FFFFFFF])
def test_a_wav_that_declares_more_than_it_has_is_an_error(declared):
    with pytest.raises(UndecodableArtifactError, match=f"declares {declared} bytes of samples and has 100"):
        decode_audio(wav(b"\0" * 100, declared=declared))


def test_chunks_before_the_samples_are_passed_over_with_their_padding():
    layout = wav_layout(wav(b"\0" * 10, before=b"LIST\x03\0\0\0abc\0"))
    assert (layout.frames, layout.bits, layout.kind) == (5, 16, "int")


def test_an_extensible_wav_names_its_format_further_on():
    extra = struct.pack("<HHI", 22, 24, 4) + PCM_GUID
    data = wav(b"\0\0\x40" * 7, tag=0xFFFE, bits=24, extra=extra)
    assert wav_layout(data).bits == 24
    assert decode_audio(data).samples.tolist() == [0.5] * 7


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (wav(b"\0" * 8, tag=2, bits=4, frame_bytes=1), "format 0x0002 with 4 bits"),
        (wav(b"\0" * 8, tag=7, bits=8), "format 0x0007 with 8 bits"),
        (wav(b"\0" * 8, tag=1, bits=12, frame_bytes=2), "with 12 bits"),
        (wav(b"\0" * 8, tag=3, bits=16), "format 0x0003 with 16 bits"),
        (wav(b"\0" * 8, tag=0xFFFE, extra=b"\x16\0" + b"\0" * 22), "format 0xfffe"),
        (wav(b"\0" * 9), "ends inside a sample"),
        (wav(b"\0" * 8, channels=0, frame_bytes=2), "contradicts itself"),
        (wav(b"\0" * 8, frame_bytes=4), "contradicts itself"),
        (wav(b""), "^the file holds no samples$"),
        (wav(b"\0" * 8)[:12] + b"data\x08\0\0\0" + b"\0" * 8, "no format before its samples"),
        (wav(b"\0" * 8)[:36], "ends before its samples"),
        (b"RIFF\0\0\0\0WAVEfmt \x04\0\0\0" + b"\0" * 12, "too short"),
    ],
)
def test_a_wav_that_is_not_understood_says_why(data, why):
    with pytest.raises(UndecodableArtifactError, match=why):
        decode_audio(data)


# FLAC


def test_a_flac_declares_what_it_has(sounds):
    layout = flac_layout(sounds["flac"])
    assert (layout.frames, layout.rate, layout.channels, layout.bits) == (8000, 16_000, 1, 16)
    assert layout.md5 is not None


@pytest.mark.parametrize("frames", [7999, 8001, 1 << 35])
def test_a_flac_of_another_length_than_declared_is_an_error(sounds, frames):
    data = bytearray(sounds["flac"])
    data[18:26] = (16_000 << 44 | 0 << 41 | 15 << 36 | frames).to_bytes(8, "big")
    with pytest.raises(UndecodableArtifactError):
        decode_audio(bytes(data))


def test_a_flac_of_no_declared_length_is_an_error(sounds):
    data = sounds["flac"]
    streamed = data[:18] + (16_000 << 44 | 15 << 36).to_bytes(8, "big") + data[26:]
    with pytest.raises(UndecodableArtifactError, match="does not say how many samples"):
        decode_audio(streamed)


def test_the_samples_of_a_flac_are_held_against_its_digest(sounds):
    data = bytearray(sounds["flac"])
    data[30] ^= 1
    with pytest.raises(UndecodableArtifactError, match="do not match the digest"):
        decode_audio(bytes(data))
    data[26:42] = bytes(16)  # no digest is allowed
    assert decode_audio(bytes(data)).samples.size == 8000


def test_a_flac_without_its_first_block_is_an_error():
    with pytest.raises(UndecodableArtifactError, match="no STREAMINFO"):
        decode_audio(b"fLaC\x84\0\0\x22" + b"\0" * 60)


# MP3


def test_the_frames_of_an_mp3_are_counted(sounds):
    run = mp3_frames(sounds["mp3"])
    assert (run.rate, run.samples, run.gapless) == (16_000, 8000, True)
    assert sounds["mp3"][run.end :] == b""


TAGS = [
    b"TAG" + b"x" * 125,
    b"x" * 40 + b"APETAGEX" + struct.pack("<IIII", 2000, 72, 1, 0) + b"\0" * 8,
    b"APETAGEX" + b"\0" * 24 + b"x" * 40 + b"APETAGEX" + struct.pack("<IIII", 2000, 72, 1, 1 << 31) + b"\0" * 8,
    b"LYRICSBEGIN" + b"x" * 9 + b"000020LYRICS200",
]


@pytest.mark.parametrize("name", ["mp3", "adts"])
@given(tags=st.lists(st.sampled_from(TAGS), max_size=3))
@settings(max_examples=15)
def test_tags_behind_the_last_frame_are_no_sound(sounds, name, tags):
    walk = mp3_frames if name == "mp3" else adts_frames
    plain = walk(sounds[name])
    assert walk(sounds[name] + b"".join(tags)) == plain


@pytest.mark.parametrize("name", ["mp3", "adts"])
@pytest.mark.parametrize("junk", [b"\0" * 4, b"TAG", b"TAG" + b"x" * 126, b"\xff" * 500, b"\0" * 5000])
def test_anything_else_behind_the_last_frame_is_an_error(sounds, name, junk):
    with pytest.raises(UndecodableArtifactError, match=r"at byte|truncated"):
        decode_audio(sounds[name] + junk)


def test_an_mp3_that_lost_a_frame_is_an_error(sounds):
    data, run = sounds["mp3"], mp3_frames(sounds["mp3"])
    size = 576
    middle = run.start + 5 * size
    with pytest.raises(UndecodableArtifactError, match=f"declares {run.packets} frames and has {run.packets - 1}"):
        decode_audio(data[:middle] + data[middle + size :])
    with pytest.raises(UndecodableArtifactError, match=f"declares {run.packets} frames and has {run.packets + 1}"):
        decode_audio(data[: middle + size] + data[middle:])


def test_two_mp3_files_one_after_another_are_an_error(sounds):
    with pytest.raises(UndecodableArtifactError):
        decode_audio(sounds["mp3"] + sounds["mp3"])
    with pytest.raises(UndecodableArtifactError):
        decode_audio(sounds["mp3"] + TAGS[0] + sounds["mp3"])


def test_the_rate_may_not_change_inside_an_mp3(sounds):
    joined = sounds["mp3"] + sounds["mp3-stereo"]
    with pytest.raises(UndecodableArtifactError, match=r"rate changes at byte|at byte"):
        mp3_frames(joined)


def test_a_fraunhofer_header_declares_frames_too(sounds):
    data, run = sounds["mp3"], mp3_frames(sounds["mp3"])
    frame = data[run.start : run.start + 576]
    vbri = frame[:4] + b"\0" * 32 + b"VBRI" + struct.pack(">HHHII", 1, 0, 50, 576 * 9, 9) + b"\0" * 522
    assert len(vbri) == 576
    sound = data[run.start + 576 : run.start + 10 * 576]
    assert mp3_frames(vbri + sound).packets == 9
    with pytest.raises(UndecodableArtifactError, match="declares 9 frames and has 8"):
        mp3_frames(vbri + sound[576:])


@pytest.mark.parametrize("name", ["mp3", "adts"])
@pytest.mark.parametrize("cut", [1, 5, 100])
def test_a_file_that_ends_inside_a_frame_is_an_error(sounds, name, cut):
    with pytest.raises(UndecodableArtifactError, match=r"truncated inside"):
        decode_audio(sounds[name][:-cut])


# Ogg


def test_the_end_of_an_ogg_file_is_what_its_last_page_says(sounds):
    assert ogg_sound(sounds["vorbis"]) == ("vorbis", 8000)
    assert ogg_sound(sounds["opus"]) == ("opus", 24_000)


@pytest.mark.parametrize("name", ["vorbis", "opus"])
def test_an_earlier_end_is_obeyed_and_a_later_one_is_an_error(sounds, name):
    *others, last = pages(sounds[name])
    (granule,) = struct.unpack_from("<q", last, 6)
    earlier = decode_audio(b"".join([*others, sealed(last[:6] + struct.pack("<q", granule - 300) + last[14:])]))
    assert earlier.samples.size == 8000 - (300 if name == "vorbis" else 100)
    with pytest.raises(UndecodableArtifactError):
        decode_audio(b"".join([*others, sealed(last[:6] + struct.pack("<q", granule + 48_000) + last[14:])]))


@pytest.mark.parametrize("name", ["vorbis", "opus", "opus-stereo"])
def test_every_missing_page_is_noticed(sounds, name):
    whole = pages(sounds[name])
    for missing in range(len(whole)):
        with pytest.raises(UndecodableArtifactError):
            decode_audio(b"".join(whole[:missing] + whole[missing + 1 :]))


@pytest.mark.parametrize("name", ["vorbis", "opus"])
def test_every_flipped_bit_is_noticed(sounds, name):
    data = sounds[name]
    for position in range(0, len(data), 61):
        damaged = bytearray(data)
        damaged[position] ^= 1 << position % 8
        with pytest.raises(UndecodableArtifactError):
            ogg_sound(bytes(damaged))


def test_streams_one_after_another_or_side_by_side_are_refused(sounds):
    with pytest.raises(UndecodableArtifactError, match="one after another"):
        decode_audio(sounds["vorbis"] + sounds["vorbis"])
    vorbis, opus = pages(sounds["vorbis"]), pages(sounds["opus"])
    with pytest.raises(UndecodableArtifactError, match="several streams"):
        decode_audio(b"".join([vorbis[0], opus[0], *vorbis[1:], *opus[1:]]))


def test_another_codec_in_ogg_is_refused(sounds):
    first, *others = pages(sounds["opus"])
    with pytest.raises(UndecodableArtifactError, match="neither Vorbis nor Opus"):
        decode_audio(sealed(first.replace(b"OpusHead", b"Speex   ")) + b"".join(others))


def of_source_rate(opus, rate):
    first, *others = pages(opus)
    at = first.index(b"OpusHead") + 12
    return b"".join([sealed(first[:at] + struct.pack("<I", rate) + first[at + 4 :]), *others])


@pytest.mark.parametrize(("rate", "read_at"), [(8_000, 8_000), (22_050, 24_000), (44_100, 48_000), (192_000, 48_000)])
def test_opus_is_read_at_the_lowest_of_its_rates_that_holds_the_source(sounds, rate, read_at):
    audio = decode_audio(of_source_rate(sounds["opus"], rate))
    assert (audio.decoding["rate"], audio.samples.size) == (read_at, 8_000)


@pytest.mark.parametrize("rate", [0, 7_999, 192_001, 2**31])
def test_opus_that_does_not_say_what_its_source_held_is_refused(sounds, rate):
    """libsndfile would read some of them at 8 kHz and leave out what lies above 4."""
    with pytest.raises(
        UndecodableArtifactError, match=rf"^the Opus file gives {rate} Hz as the rate of its source; convert"
    ):
        decode_audio(of_source_rate(sounds["opus"], rate))
