"""The rule of PixelSeal and VideoSeal at its boundary."""

import hashlib
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.messages import foreign_message
from pytest_benchbench.adapters.seal_rule import BITS, MESSAGE, NEEDED, RULE, accuracy, message_logits, recognise

OWN = np.array(MESSAGE, dtype=bool)


def wrong(count: int) -> np.ndarray:
    """The message with its first bits turned over."""
    return OWN ^ (np.arange(BITS) < count)


def test_231_of_256_bits_are_the_fewest_that_reach_nine_tenths():
    assert NEEDED == 231
    assert (NEEDED - 1) / BITS < 0.9 <= NEEDED / BITS


@pytest.mark.parametrize(
    ("count", "status"), [(0, "detected"), (25, "detected"), (26, "not_detected"), (256, "not_detected")]
)
def test_the_boundary(count, status):
    detection = recognise(wrong(count))
    assert (detection.status, detection.message_bit_accuracy) == (status, (BITS - count) / BITS)
    assert detection.reason == f"{BITS - count}/256 bits of the benchmark's message"


def test_the_label_spells_what_was_read():
    assert recognise(OWN).label == hashlib.sha256(b"pytest-benchbench").hexdigest()


def test_a_foreign_message_is_read_and_not_detected():
    detection = recognise(np.array(foreign_message(BITS), dtype=bool))
    assert (detection.status, detection.label) == ("not_detected", hashlib.sha256(b"pytest-benchbench/foreign").hexdigest())
    assert 0.4 < detection.message_bit_accuracy < 0.6


@given(st.integers(0, BITS))
def test_detected_means_an_accuracy_of_nine_tenths_or_more(count):
    assert (recognise(wrong(count)).status == "detected") == (accuracy(wrong(count)) >= 0.9)


def test_the_rule_in_words_has_the_thresholds_and_the_chance():
    chance = sum(comb(256, equal) for equal in range(231, 257)) / 2**256
    assert f"231 or more of 256 equal bits (chance {chance:.1e})" in RULE
    assert "0.9 or more" in RULE


def test_the_detection_logit_is_left_out():
    logits = np.arange(2 * 257, dtype=np.float32).reshape(2, 257)
    logits[0, 0] = np.nan
    assert message_logits(logits).tolist() == logits[:, 1:].tolist()


@pytest.mark.parametrize("shape", [(0, 257), (1, 256), (1, 258), (257,), (1, 257, 1, 1)])
def test_logits_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match="the network gave an array of shape"):
        message_logits(np.zeros(shape, np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_logit_that_is_not_finite_is_no_bit(value):
    logits = np.zeros((3, 257), np.float32)
    logits[2, 256] = value
    with pytest.raises(ValueError, match="not finite"):
        message_logits(logits)
