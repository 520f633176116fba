"""Damaged sounds of every format end as a sound or as an UndecodableArtifactError, and nothing else."""

import resource
import struct

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.artifacts.audio import Audio, decode_audio
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.sound_structure import _ogg_checksum


def attempt(data):
    """Decode with a small limit, which keeps crafted lengths quick; a sound has to be what it promises."""
    try:
        audio = decode_audio(data, max_seconds=60)
    except UndecodableArtifactError as error:
        return str(error) if str(error) and str(error).isprintable() else "not one line"
    samples = audio.samples
    assert samples.dtype == np.float32
    assert samples.size == audio.decoding["size"][0] > 0
    assert np.isfinite(samples).all()
    assert not samples.flags.writeable
    return audio


def damaged_by(seed, data, reach):
    random = np.random.default_rng(seed)
    damaged = bytearray(data)
    for position in random.integers(0, min(reach, len(damaged)), random.integers(1, 9)):
        damaged[position] ^= 1 << random.integers(8)
    return bytes(damaged)


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bits(whole_sound, seed):
    reach = 700 if seed % 2 else len(whole_sound)  # headers are small and decide much
    assert attempt(damaged_by(seed, whole_sound, reach)) != "not one line"


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bits_in_an_index_at_the_end(whole_sound, seed):
    turned = whole_sound[::-1]
    assert attempt(damaged_by(seed, turned, 900)[::-1]) != "not one line"


@pytest.mark.parametrize("seed", range(6))
def test_overwritten_bytes(whole_sound, seed):
    random = np.random.default_rng(100 + seed)
    start = int(random.integers(0, len(whole_sound)))
    patch = random.integers(0, 256, int(random.integers(1, 64)), dtype=np.uint8).tobytes()
    assert attempt(whole_sound[:start] + patch + whole_sound[start + len(patch) :]) != "not one line"


@pytest.mark.parametrize("seed", range(6))
def test_grafted_files(whole_sound, sounds, seed):
    random = np.random.default_rng(200 + seed)
    other = sounds[sorted(sounds)[random.integers(len(sounds))]]
    cut, tail = random.integers(0, len(whole_sound)), random.integers(0, len(other))
    assert attempt(whole_sound[:cut] + other[tail:]) != "not one line"


@pytest.mark.parametrize("name", ["wav", "wav-float-stereo", "flac", "flac-24", "mp3", "mp3-stereo"])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.77, 0.999])
def test_a_truncated_file_is_never_a_shorter_sound(sounds, name, share):
    assert isinstance(attempt(sounds[name][: int(share * len(sounds[name]))]), str)


@pytest.mark.parametrize("name", ["vorbis", "opus", "opus-stereo"])
@pytest.mark.parametrize("seed", range(25))
def test_packets_damaged_under_a_right_checksum(sounds, name, seed):
    damaged, position = b"", 0
    data = damaged_by(seed, sounds[name], len(sounds[name]))
    while position < len(data):
        # The table of the undamaged file, so that the pages stay where they are.
        segments = sounds[name][position + 26]
        end = position + 27 + segments + sum(sounds[name][position + 27 : position + 27 + segments])
        page = sounds[name][position : position + 27 + segments] + data[position + 27 + segments : end]
        damaged += page[:22] + struct.pack("<I", _ogg_checksum(page[:22] + bytes(4) + page[26:])) + page[26:]
        position = end
    assert attempt(damaged) != "not one line"


@pytest.mark.parametrize(
    "head",
    [
        b"RIFF\xff\xff\xff\x7fWAVE",
        b"fLaC\0\0\0\x22",
        b"OggS\0\x02",
        b"\0\0\0\x18ftypM4A \0\0\0\0",
        b"ID3\x04\0\0\0\0\0\0\xff\xfb\x90\x64",
        b"\xff\xf1\x50\x80",
    ],
)
@settings(deadline=None, max_examples=60)
@given(tail=st.binary(max_size=200))
def test_bytes_after_a_signature(head, tail):
    assert attempt(head + tail) != "not one line"


@pytest.mark.parametrize(
    "data",
    [
        b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80>\0\0\0}\0\0\x02\0\x10\0data\xff\xff\xff\xff",
        b"fLaC\0\0\0\x22\xff\xff\xff\xff"
        + bytes(6)
        + (16_000 << 44 | 15 << 36 | (1 << 36) - 1).to_bytes(8, "big")
        + bytes(16),
        b"\0\0\0\x01mdat\0\0\0\xff\xff\xff\xff\xff" + bytes(24),
    ],
)
def test_a_short_file_that_declares_gigabytes_costs_no_memory(data):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert isinstance(attempt(data), str)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kibibytes


def test_nothing_of_it_reaches_the_terminal(sounds, capfd):
    for seed in range(40):
        for data in sounds.values():
            attempt(damaged_by(seed, data, len(data)))
    assert capfd.readouterr() == ("", "")


def test_whole_files_are_sounds(whole_sound):
    assert isinstance(attempt(whole_sound), Audio)
