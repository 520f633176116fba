"""Loading: verified, decoded once, kept while it fits."""

import hashlib
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.artifacts import decoding, opening, video
from pytest_benchbench.artifacts.image import Image
from pytest_benchbench.artifacts.loading import Artifact, ArtifactLoader
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.text import Text
from pytest_benchbench.artifacts.verification import ArtifactMismatchError, ArtifactUnreadableError
from pytest_benchbench.artifacts.video import Video


@pytest.fixture
def cat(save, encode, noise):
    return save("cat.png", encode(noise(8, 8), "PNG"))


def test_an_image_arrives_verified_decoded_and_read_only(cat, noise):
    path, digest = cat
    artifact = ArtifactLoader().load(path, digest, "image", decode=True)
    assert (artifact.media_type, artifact.sha256, artifact.data) == ("image", digest, path.read_bytes())
    assert isinstance(artifact.decoded, Image)
    np.testing.assert_array_equal(artifact.decoded.pixels, noise(8, 8))
    with pytest.raises(ValueError, match="read-only"):
        artifact.decoded.pixels[0, 0] = 0


def test_a_text_arrives_as_text(save):
    artifact = ArtifactLoader().load(*save("cat.txt", b"Katze\r\n"), "text", decode=True)
    assert isinstance(artifact.decoded, Text)
    assert artifact.decoded.text == "Katze\r\n"


def test_an_artifact_is_decoded_once(cat):
    loader = ArtifactLoader()
    first, second = (loader.load(*cat, "image", decode=True) for _ in range(2))
    assert first.decoded is second.decoded
    assert (loader.hits, loader.misses) == (1, 1)


def test_the_media_type_is_part_of_what_is_kept(save):
    loader = ArtifactLoader()
    cat = save("cat", b"cat")
    loader.load(*cat, "text", decode=True)
    with pytest.raises(UndecodableArtifactError):
        loader.load(*cat, "image", decode=True)
    assert (loader.hits, loader.misses) == (0, 2)


def test_bytes_alone_are_neither_decoded_nor_kept(save):
    loader = ArtifactLoader()
    path, digest = save("cat.png", b"no image at all")
    assert loader.load(path, digest, "image", decode=False) == Artifact("image", digest, b"no image at all", None)
    assert (loader.hits, loader.misses) == (0, 0)


@pytest.fixture
def film(save, videos):
    return save("film.mp4", videos["h264-mp4"])


WHOLE = 4 * 12 * 80 * 112 * 3
"""Bytes of all frames of ``film``."""


def test_a_video_is_streamed_unless_it_is_wanted_whole(film):
    loader = ArtifactLoader()
    streamed = loader.load(*film, "video", decode=True).decoded
    assert isinstance(streamed, Video)
    assert streamed.nbytes < 1000
    whole = loader.load(*film, "video", decode=True, whole=True).decoded
    assert whole.nbytes - streamed.nbytes == WHOLE
    assert whole.array() is whole.array()
    assert (loader.hits, loader.misses) == (1, 1)


def test_a_whole_video_is_kept_for_whoever_asks_next(film):
    loader = ArtifactLoader()
    whole = loader.load(*film, "video", decode=True, whole=True).decoded
    assert loader.load(*film, "video", decode=True, whole=True).decoded is whole
    assert loader.load(*film, "video", decode=True).decoded is whole


def test_a_whole_video_counts_what_it_takes(film, save):
    text = save("text", b"x" * 1000)
    size = film[0].stat().st_size + 12 * 8 + WHOLE
    for room, hits in ((size + 5000, 1), (size + 4999, 0)):
        loader = ArtifactLoader(max_bytes=room)
        loader.load(*text, "text", decode=True)
        loader.load(*film, "video", decode=True, whole=True)
        loader.load(*text, "text", decode=True)
        assert loader.hits == hits


def test_a_video_too_large_to_be_kept_whole_is_kept_as_a_stream(film):
    loader = ArtifactLoader(max_bytes=WHOLE)
    for _ in range(2):
        assert loader.load(*film, "video", decode=True, whole=True).decoded.nbytes > WHOLE
    assert loader.load(*film, "video", decode=True).decoded.nbytes < 1000
    assert (loader.hits, loader.misses) == (2, 1)


def test_a_video_beyond_the_bound_can_still_be_streamed(film, monkeypatch):
    monkeypatch.setattr(video, "MAX_ARRAY_BYTES", WHOLE - 1)
    loader = ArtifactLoader()
    for _ in range(2):
        with pytest.raises(UndecodableArtifactError, match="more than the limit"):
            loader.load(*film, "video", decode=True, whole=True)
    assert loader.load(*film, "video", decode=True).decoded.shape[0] == 12
    assert (loader.hits, loader.misses) == (2, 1)


def test_the_pixel_limit_holds_for_frames(film):
    with pytest.raises(UndecodableArtifactError, match="--bench-max-pixels"):
        ArtifactLoader(max_pixels=100).load(*film, "video", decode=True)


def test_a_mismatch_is_no_decode_and_nothing_is_kept(cat):
    loader = ArtifactLoader()
    path, _ = cat
    for _ in range(2):
        with pytest.raises(ArtifactMismatchError):
            loader.load(path, "0" * 64, "image", decode=True)


def test_a_second_path_of_the_same_digest_is_verified_too(cat, tmp_path):
    path, digest = cat
    loader = ArtifactLoader()
    loader.load(path, digest, "image", decode=True)
    with pytest.raises(ArtifactUnreadableError):
        loader.load(tmp_path / "missing.png", digest, "image", decode=True)
    (tmp_path / "other.png").write_bytes(b"other")
    with pytest.raises(ArtifactMismatchError):
        loader.load(tmp_path / "other.png", digest, "image", decode=True)
    (tmp_path / "same.png").write_bytes(path.read_bytes())
    loader.load(tmp_path / "same.png", digest, "image", decode=True)
    assert (loader.hits, loader.misses) == (1, 1)


def test_an_artifact_larger_than_the_cache_is_served_and_not_kept(cat):
    loader = ArtifactLoader(max_bytes=8 * 8 * 3)
    for _ in range(2):
        assert loader.load(*cat, "image", decode=True).decoded is not None
    assert (loader.hits, loader.misses) == (0, 2)


def test_a_failed_decode_is_remembered_like_any_other(save, monkeypatch):
    loader = ArtifactLoader()
    broken = save("broken.png", b"broken")
    decodes = []
    decode = decoding.decode
    monkeypatch.setattr(decoding, "decode", lambda *asked, **limits: (decodes.append(1), decode(*asked, **limits))[1])
    errors = []
    for _ in range(3):
        with pytest.raises(UndecodableArtifactError) as caught:
            loader.load(*broken, "image", decode=True)
        errors.append(caught.value)
    assert len(decodes) == 1
    assert len({str(error) for error in errors}) == 1
    assert len({id(error) for error in errors}) == 3


def test_a_lack_of_memory_is_not_remembered(cat, monkeypatch):
    def exhausted(_):
        raise MemoryError

    loader = ArtifactLoader()
    with monkeypatch.context() as patch:
        patch.setattr(opening.PngImagePlugin, "PngImageFile", exhausted)
        with pytest.raises(UndecodableArtifactError, match="MemoryError"):
            loader.load(*cat, "image", decode=True)
    assert loader.load(*cat, "image", decode=True).decoded is not None


def test_failures_are_forgotten_when_room_is_needed(save):
    loader = ArtifactLoader(max_bytes=3 * 1024)
    for number in (0, 1, 2, 3, 0):
        with pytest.raises(UndecodableArtifactError):
            loader.load(*save(f"{number}.png", b"%d" % number), "image", decode=True)
    assert (loader.hits, loader.misses) == (0, 5)


def test_the_pixel_limit_is_the_loaders(cat):
    with pytest.raises(UndecodableArtifactError, match="are more than the limit of 63 "):
        ArtifactLoader(max_pixels=63).load(*cat, "image", decode=True)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.lists(st.integers(0, 5), max_size=40), room=st.integers(0, 8000))
def test_the_least_recently_used_makes_room(tmp_path, asked, room):
    loader = ArtifactLoader(max_bytes=room)
    model: OrderedDict[int, int] = OrderedDict()
    hits = 0
    for number in asked:
        path = tmp_path / f"{number}.txt"
        path.write_bytes(b"x" * (100 * 2**number))
        loader.load(path, hashlib.sha256(path.read_bytes()).hexdigest(), "text", decode=True)
        size = 5 * 100 * 2**number  # the bytes, and four for each character
        if number in model:
            hits += 1
            model.move_to_end(number)
        elif size <= room:
            model[number] = size
            while sum(model.values()) > room:
                model.popitem(last=False)
    assert (loader.hits, loader.misses) == (hits, len(asked) - hits)
