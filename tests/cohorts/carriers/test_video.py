import hashlib
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from pytest_benchbench.cohorts.carriers import synthetic
from pytest_benchbench.cohorts.carriers.video import CARRIERS, HARD_NEGATIVE

EVERY = (*CARRIERS, HARD_NEGATIVE)
each = pytest.mark.parametrize("carrier", EVERY, ids=lambda carrier: carrier.name)

FROZEN = {
    ("moving-gradient", 1): "3e267fa2989a7734a4676206d79affc68f53eb78a38dced806702357a25add80",
    ("moving-texture", 1): "459d74104c7e809574e1bbfc765adea9bdebae0c9c7ff578ecce3831f913cf9a",
    ("moving-high-frequency", 1): "f595f856e7efab0d9a5d4efecf1862a9e653195fbc79c727fccf98362aa38be9",
}


@cache
def frames_of(carrier):
    return carrier.draw().frames


@each
def test_a_formula_gives_the_frozen_frames(carrier):
    clip = carrier.draw()
    assert (clip.frames.shape, clip.frames.dtype, clip.rate) == ((64, 256, 256, 3), np.uint8, Fraction(24))
    assert hashlib.sha256(clip.frames.tobytes()).hexdigest() == FROZEN[carrier.name, carrier.revision]


@each
def test_the_recorded_seed_is_the_one_that_the_generator_got(carrier):
    drawn = frames_of(carrier)
    if carrier.seed is None:
        assert np.array_equal(carrier.drawing(99), drawn)
    else:
        assert not np.array_equal(carrier.drawing(carrier.seed + 1), drawn)


@each
def test_no_frame_is_shown_twice(carrier):
    frames = frames_of(carrier)
    assert len({frame.tobytes() for frame in frames}) == 64


@pytest.mark.parametrize("carrier", [CARRIERS[1], HARD_NEGATIVE], ids=lambda carrier: carrier.name)
def test_a_moving_picture_moves_2_right_and_1_down_and_joins_its_edges(carrier):
    frames = frames_of(carrier)
    for before, after in pairwise(frames):
        assert np.array_equal(after[1:, 2:], before[:-1, :-2])
        assert np.array_equal(after[0, :2], before[-1, -2:])


def test_the_gradient_moves_without_an_edge():
    frames = frames_of(CARRIERS[0]).astype(np.int64)
    assert np.array_equal(frames[1:, :-1, :-2], frames[:-1, 1:, 2:])
    assert max(np.abs(np.diff(frames, axis=axis)).max() for axis in (1, 2)) == 1
    assert (frames[..., 2] == 128).all()


def test_the_first_frames_are_pictures_of_the_synthetic_cohort_with_other_seeds():
    pictures = {carrier.name: carrier for carrier in (*synthetic.CARRIERS, synthetic.HIGH_FREQUENCY)}
    for name, carrier in (("texture", CARRIERS[1]), ("high-frequency", HARD_NEGATIVE)):
        assert np.array_equal(frames_of(carrier)[0], pictures[name].drawing(256, carrier.seed))
        assert carrier.seed != pictures[name].seed


def test_the_record_names_what_was_drawn():
    assert HARD_NEGATIVE.record() == {"name": "moving-high-frequency", "revision": 1, "seed": 4}
    assert CARRIERS[0].record()["seed"] is None
