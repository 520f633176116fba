"""Damaged videos of every container and codec end as a video or as an UndecodableArtifactError, and nothing else."""

import numpy as np
import pytest

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.video import Video, decode_video


def attempt(data):
    """Decode with small limits, which keep crafted sizes quick; a video has to give all its frames again."""
    try:
        video = decode_video(data, max_pixels=100_000, max_frames=100)
    except UndecodableArtifactError as error:
        assert str(error)  # noqa: PT017 - either outcome is right, but each in its form
        assert str(error).isprintable()  # noqa: PT017 - either outcome is right, but each in its form
        return None
    assert sum(1 for _ in video.frames()) == video.shape[0] == video.decoding["frames"]
    return video


@pytest.mark.parametrize("seed", range(16))
def test_flipped_bits(whole_video, seed):
    random = np.random.default_rng(seed)
    damaged = bytearray(whole_video)
    reach = min(1500, len(damaged)) if seed % 2 else len(damaged)  # headers are small and decide much
    for position in random.integers(0, reach, random.integers(1, 9)):
        damaged[position] ^= 1 << random.integers(8)
    attempt(bytes(damaged))


@pytest.mark.parametrize("seed", range(4))
def test_overwritten_bytes(whole_video, seed):
    random = np.random.default_rng(100 + seed)
    start = int(random.integers(0, len(whole_video)))
    patch = random.integers(0, 256, 64, dtype=np.uint8).tobytes()
    attempt(whole_video[:start] + patch + whole_video[start + 64 :])


@pytest.mark.parametrize("seed", range(6))
def test_truncated_files_are_errors(videos, seed):
    for number, (name, data) in enumerate(videos.items()):
        cut = int(np.random.default_rng(1000 * seed + number).integers(0, len(data)))
        if name == "h264-mpegts" and cut % 188 == 0:
            cut += 1  # a transport stream does not say where it ends
        assert attempt(data[:cut]) is None, name


def test_grafted_files(videos):
    random = np.random.default_rng(7)
    names = sorted(videos)
    for _ in range(20):
        head, tail = (videos[name] for name in random.choice(names, 2))
        attempt(head[: random.integers(len(head))] + tail[random.integers(len(tail)) :])


def test_undamaged_files_pass(whole_video):
    assert isinstance(attempt(whole_video), Video)


@pytest.mark.parametrize("head", [b"\0\0\0\x14ftypisom", b"\x1a\x45\xdf\xa3", b"RIFF\xff\0\0\0AVI ", b"G" + b"\xff" * 187])
def test_bytes_after_a_signature(head):
    random = np.random.default_rng(9)
    for length in (0, 1, 30, 2000):
        assert attempt(head + random.integers(0, 256, length, dtype=np.uint8).tobytes()) is None
