"""Messages of bits: what is one, how two compare, and how likely a chance agreement is."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench import Image, Sample
from pytest_benchbench.adapters.bit_messages import BitEmbedder, chance_of, equal_bits, image_of, require_bits

bits = st.lists(st.integers(0, 1), min_size=1, max_size=300)


@given(bits)
def test_a_message_agrees_with_itself_and_nowhere_with_its_complement(message):
    assert equal_bits(message, tuple(message)) == len(message)
    assert equal_bits(np.array(message, dtype=bool), tuple(1 - bit for bit in message)) == 0


def test_messages_of_different_lengths_are_not_compared():
    with pytest.raises(ValueError, match="1 bits cannot be compared with 2"):
        equal_bits([1], (1, 0))


@pytest.mark.parametrize("message", [(), (0,) * 60, (0,) * 62, (0,) * 60 + (2,), "0" * 61])
def test_what_is_no_message_of_61_bits(message):
    with pytest.raises(ValueError, match="expected a message of 61 bits, each 0 or 1"):
        require_bits(message, 61)


def test_a_message_of_the_right_length():
    require_bits((0, 1) * 30 + (1,), 61)


def test_the_chance_of_an_agreement():
    assert chance_of(0, 8) == 1.0
    assert chance_of(8, 8) == 2**-8
    assert chance_of(7, 8) == (comb(8, 7) + 1) / 2**8


class Inverting(BitEmbedder):
    message = (1, 0)
    weights = ()

    def embed_pixels(self, pixels, message):
        return pixels + np.uint8(sum(message))


def test_an_embedder_writes_its_own_message_unless_told_otherwise():
    sample = Sample("image", "0" * 64, b"", Image(np.zeros((2, 3, 3), np.uint8), {}, None))
    assert Inverting().embed(sample).pixels.max() == 1
    marked = Inverting().embed(sample, (1, 1))
    assert marked.pixels.min() == 2
    assert not marked.pixels.flags.writeable
    assert marked.decoding == {"rule": "embedded", "size": [3, 2], "bit_depth": 8}


def test_an_image_says_how_it_came_about():
    assert image_of(np.zeros((1, 1, 3), np.uint8), "mark removed").decoding["rule"] == "mark removed"
