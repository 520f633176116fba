"""Which part of an MP4 file's track is its sound, by what the file itself says."""

import struct
from fractions import Fraction

import numpy as np
import pytest

from pytest_benchbench.artifacts.audio import decode_audio
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.mp4_structure import first_audio_track


@pytest.fixture(scope="module")
def m4a(sounds):
    """Half a second, 8000 samples after an encoder delay of 1024; the movie's clock counts milliseconds."""
    return sounds["m4a"]


def patched(data, after, offset, value):
    """Overwrite bytes at an offset behind a box's name."""
    at = data.index(after) + 4 + offset
    return data[:at] + value + data[at + len(value) :]


def with_edits(data, *edits):
    """Write another edit list over the one there, whose place has room for one edit; further ones shift the file."""
    box = b"elst" + struct.pack(">BxxxI", 0, len(edits)) + b"".join(struct.pack(">IiHH", *edit) for edit in edits)
    grown = 12 * (len(edits) - 1)
    at = data.index(b"elst") - 4
    data = data[:at] + struct.pack(">I", len(box) + 4) + box + data[at + 28 :]
    for name in (b"edts", b"trak", b"moov"):
        at = data.index(name) - 4
        (size,) = struct.unpack_from(">I", data, at)
        data = data[:at] + struct.pack(">I", size + grown) + data[at + 4 :]
    return data


def test_the_edit_list_tells_delay_and_length(m4a):
    track = first_audio_track(m4a)
    assert (track.start, track.end) == (Fraction(1024, 16_000), Fraction(9024, 16_000))
    assert (track.gapless, track.others, track.packets) == ("edit list", 0, 9)


def test_an_edit_shorter_than_the_track_by_more_than_the_movies_clock_is_obeyed(m4a):
    audio = decode_audio(with_edits(m4a, (300, 2048, 1, 0)))
    np.testing.assert_array_equal(audio.samples, decode_audio(m4a).samples[1024 : 1024 + 4800])


@pytest.mark.parametrize("milliseconds", [500, 0])
def test_the_movies_coarse_clock_costs_no_sample(m4a, milliseconds):
    assert decode_audio(with_edits(m4a, (milliseconds, 1024, 1, 0))).samples.size == 8000


def test_an_empty_edit_before_the_sound_is_passed_over(m4a):
    audio = decode_audio(with_edits(m4a, (250, -1, 1, 0), (500, 1024, 1, 0)))
    np.testing.assert_array_equal(audio.samples, decode_audio(m4a).samples)


@pytest.mark.parametrize(
    "edits",
    [
        [(100, 1024, 1, 0), (100, 4096, 1, 0)],
        [(500, 1024, 1, 0), (100, -1, 1, 0)],
        [(500, 1024, 2, 0)],
        [(500, -2, 1, 0)],
    ],
)
def test_edits_that_play_anything_else_are_refused(m4a, edits):
    with pytest.raises(UndecodableArtifactError, match="plays several pieces"):
        decode_audio(with_edits(m4a, *edits))


@pytest.mark.parametrize("edit", [(700, 1024, 1, 0), (500, 9024, 1, 0), (500, 1 << 30, 1, 0)])
def test_an_edit_beyond_the_track_is_an_error(m4a, edit):
    with pytest.raises(UndecodableArtifactError, match="edit list of the MP4 file reaches beyond its 9024 samples"):
        decode_audio(with_edits(m4a, edit))


def test_without_an_edit_list_the_delay_stays_and_the_evidence_says_so(m4a):
    audio = decode_audio(m4a.replace(b"edts", b"free"))
    assert audio.samples.size == 9024
    assert audio.decoding["gapless"] == "none: encoder delay stays"


def test_itunes_tells_delay_and_length_where_no_edit_list_does(m4a):
    numbers = f" 00000000 {1024:08X} {192:08X} {7000:016X} 00000000".encode()
    text = struct.pack(">I4sII", 16 + len(numbers), b"data", 1, 0) + numbers
    tag = b"\0\0\0\x14name\0\0\0\0iTunSMPB" + text
    tag = struct.pack(">I4s", 8 + len(tag), b"----") + tag
    at = m4a.index(b"moov") - 4
    (size,) = struct.unpack_from(">I", m4a, at)
    assert at + size == len(m4a)
    tagged = m4a[:at] + struct.pack(">I", size + len(tag)) + m4a[at + 4 :].replace(b"edts", b"free") + tag
    audio = decode_audio(tagged)
    assert audio.decoding["gapless"] == "iTunSMPB"
    np.testing.assert_array_equal(audio.samples, decode_audio(m4a).samples[:7000])


@pytest.mark.parametrize("name", ["m4a", "m4a-stereo", "m4a-alac"])
def test_a_file_cut_anywhere_is_an_error(sounds, name):
    data = sounds[name]
    for end in range(0, len(data), 97):
        with pytest.raises(UndecodableArtifactError):
            decode_audio(data[:end])


def test_a_fragmented_file_is_refused(tone, encode_with_ffmpeg):
    fragments = encode_with_ffmpeg(
        tone(16_000, 16_000), 16_000, "aac", "mp4", options={"movflags": "frag_keyframe+empty_moov"}
    )
    with pytest.raises(UndecodableArtifactError, match="is fragmented"):
        decode_audio(fragments)


def test_a_file_with_its_index_in_front_is_the_same_sound(m4a):
    index, media = m4a.index(b"moov") - 4, m4a.index(b"mdat") - 4
    moov = m4a[index:]
    at = moov.index(b"stco") + 12
    (first,) = struct.unpack_from(">I", moov, at)
    moov = moov[:at] + struct.pack(">I", first + len(moov)) + moov[at + 4 :]
    front = m4a[:media] + moov + m4a[media:index]
    np.testing.assert_array_equal(decode_audio(front).samples, decode_audio(m4a).samples)
    with pytest.raises(UndecodableArtifactError, match="truncated"):
        decode_audio(front[:-50])


@pytest.mark.parametrize(
    ("box", "offset", "value", "why"),
    [
        (b"stsz", 4, struct.pack(">II", 1, 0xFFFFFFFF), "more than the file can hold"),
        (b"stsz", 4, struct.pack(">II", 0xFFFFFFFF, 9), "more than the file can hold"),
        (b"stsz", 8, struct.pack(">I", 999_999), "box of the MP4 file is too short"),
        (b"stsz", 12, struct.pack(">I", 0x7FFFFFFF), "more than the file can hold"),
        (b"stts", 4, struct.pack(">I", 0xFFFFFFFF), "time table"),
        (b"stts", 8, struct.pack(">I", 0xFFFFFFFF), "contradict each other"),
        (b"elst", 4, struct.pack(">I", 0xFFFFFFFF), "edit list of the MP4 file is too long"),
        (b"mdhd", 12, struct.pack(">I", 0), "stands still"),
        (b"mvhd", 12, struct.pack(">I", 0), "stands still"),
        (b"hdlr", 8, b"vide", "no audio track"),
        (b"moov", -4, b"free", "no moov"),
        (b"minf", -4, b"free", "no minf box"),
    ],
)
def test_tables_that_lie_are_refused_before_anything_is_allocated(m4a, box, offset, value, why):
    with pytest.raises(UndecodableArtifactError, match=why):
        decode_audio(patched(m4a, box, offset, value))


def test_no_codec_but_aac_and_alac_is_decoded(tone, encode_with_ffmpeg):
    data = encode_with_ffmpeg(tone(8000, 16_000), 16_000, "libmp3lame", "mp4")
    with pytest.raises(UndecodableArtifactError, match=r"^mp3 in a m4a file is not decoded \(only aac and alac\)"):
        decode_audio(data)
