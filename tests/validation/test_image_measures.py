import functools
import hashlib
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from pytest_benchbench.artifacts.image import image_traits
from pytest_benchbench.validation import image_measures
from pytest_benchbench.validation.image_measures import (
    HASH_BYTES,
    ImageMeasure,
    ImagesUnmeasuredError,
    Undecodable,
    measure_images,
    perceptual_hash,
)


def bits_between(one, other):
    return int(np.bitwise_count(np.frombuffer(one, np.uint8) ^ np.frombuffer(other, np.uint8)).sum())


def measured(manifest, **how):
    return measure_images([manifest], roots=[], **how)


def test_the_same_picture_in_another_file_has_nearly_the_same_hash(dataset, pictures):
    rows = [
        pictures.row("a", 1, size=(800, 600)),
        pictures.row("b", 1, size=(800, 600), make="JPEG", save={"quality": 50}),
        pictures.row("c", 1, size=(400, 300), make="WEBP"),
        pictures.row("d", 2, size=(800, 600)),
    ]
    found = measured(dataset.manifest(*rows))
    a, b, c, d = (found[row["sha256"]].hash for row in rows)
    assert len(a) == HASH_BYTES
    assert bits_between(a, b) <= 12
    assert bits_between(a, c) <= 12
    assert bits_between(a, d) > 64


def test_the_hash_is_that_of_the_library(pictures):
    import imagehash

    picture = pictures.pixels(3, (200, 100))
    expected = imagehash.phash(picture, hash_size=16).hash
    assert np.array_equal(np.unpackbits(np.frombuffer(perceptual_hash(np.asarray(picture)), np.uint8)), expected.ravel())


def test_a_plain_picture_has_no_hash():
    assert perceptual_hash(np.full((64, 64, 3), 90, np.uint8)) is None


def test_every_content_is_read_once_and_told_once(dataset, pictures):
    row = pictures.row("a", 1)
    again = {**row, "id": "b", "baseId": "b"}
    told = []
    found = measured(dataset.manifest(row, again, pictures.row("c", 2), dataset.row("d")), progress=told.append)
    assert (len(found), sum(told)) == (2, 2)


def test_workers_change_nothing(dataset, pictures, monkeypatch):
    monkeypatch.setattr(image_measures, "_FEW_IMAGES", 2)
    monkeypatch.setattr(image_measures, "_IMAGES_OF_A_TASK", 2)
    manifest = dataset.manifest(*(pictures.row(str(seed), seed) for seed in range(7)))
    told = []
    assert measured(manifest, workers=2, progress=told.append) == measured(manifest, workers=1)
    assert sum(told) == 7


def test_a_worker_that_dies_ends_it_in_one_line(dataset, pictures, monkeypatch):
    monkeypatch.setattr(image_measures, "_FEW_IMAGES", 2)
    monkeypatch.setattr(image_measures, "partial", lambda *_, **__: _die)
    manifest = dataset.manifest(*(pictures.row(str(seed), seed) for seed in range(3)))
    with pytest.raises(ImagesUnmeasuredError, match="a process that read images died"):
        measured(manifest, workers=1 + 1)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_workers_do_not_hear_the_interrupt_of_a_terminal():
    blocks = functools.partial(signal.pthread_sigmask, signal.SIG_BLOCK)  # gives what was blocked before
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        [blocked] = image_measures._in_order(pool, blocks, iter([signal.SIGUSR1]), 1)
    assert signal.SIGINT in blocked
    assert signal.SIGINT not in blocks([])


@pytest.fixture
def interruptible():
    """An interrupt is heard as Python does it, whatever this process has imported."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_an_interrupt_amid_the_start_of_a_process_is_put_off(interruptible):
    done = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted(lambda: done.append("whole"))
    assert done == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _interrupted(then):
    amid = threading.Event()

    def send():
        amid.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # a terminal's signal may reach any thread

    sender = threading.Thread(target=send)
    sender.start()
    with image_measures._interrupts_put_off():
        amid.set()
        sender.join()
        then()


def test_an_interrupt_ends_the_workers(dataset, pictures, monkeypatch):
    monkeypatch.setattr(image_measures, "_FEW_IMAGES", 2)
    monkeypatch.setattr(image_measures, "_IMAGES_OF_A_TASK", 1)
    before = multiprocessing.active_children()
    started = []

    def interrupt(_):
        started.extend(multiprocessing.active_children())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(dataset.manifest(*(pictures.row(str(seed), seed) for seed in range(3))), workers=2, progress=interrupt)
    assert {process.exitcode for process in started if process not in before} == {-signal.SIGTERM}


def _die(tasks):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_file_that_cannot_be_decoded_is_told_apart_from_one_that_is_not_there(dataset):
    (dataset.folder / "text.png").write_bytes(b"no picture")
    rows = [
        dataset.row("a", path="text.png", sha256=hashlib.sha256(b"no picture").hexdigest()),
        dataset.row("b", path="missing.png"),
        dataset.row("c", path="text.png"),
    ]
    found = measured(dataset.manifest(*rows))
    assert isinstance(found[rows[0]["sha256"]], Undecodable)
    assert found[rows[0]["sha256"]].reason.startswith("not an image in an accepted format")
    assert (found[rows[1]["sha256"]], found[rows[2]["sha256"]]) == (None, None)


def test_without_hashes_no_pixel_is_decoded(dataset, pictures, monkeypatch):
    row = pictures.row("a", 1)
    monkeypatch.setattr(image_measures, "decode_with_traits", None)
    found = measured(dataset.manifest(row), hashes=False)
    traits = image_traits((dataset.folder / row["path"]).read_bytes())
    assert found == {row["sha256"]: ImageMeasure(traits, None)}


def test_an_image_beyond_the_limit_of_pixels_is_not_decoded(dataset, pictures):
    row = pictures.row("a", 1)
    assert "more than the limit" in measured(dataset.manifest(row), max_pixels=95 * 80)[row["sha256"]].reason


def test_a_missing_library_is_told_with_the_command_that_installs_it(dataset, pictures, monkeypatch):
    monkeypatch.setattr(image_measures, "find_spec", lambda name: None)
    manifest = dataset.manifest(pictures.row("a", 1))
    with pytest.raises(ImagesUnmeasuredError, match=r"pip install 'pytest-benchbench\[dataset\]'"):
        measured(manifest)
    assert len(measured(manifest, hashes=False)) == 1
