"""The published messages and the rule that recognises them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from pytest_benchbench.adapters.patterns import FLUX2, PATTERNS, SD1, SDXL, Pattern, bits_of, recognise, rule_in_words

RULE = tuple(PATTERNS.values())


def wrong(pattern: Pattern, count: int) -> np.ndarray:
    """The pattern with its first bits turned over."""
    bits = np.array(pattern.bits, dtype=bool)
    bits[:count] ^= True
    return bits


def payloads(*, short: np.ndarray | None = None, long: np.ndarray | None = None) -> dict[int, np.ndarray]:
    return {
        48: np.zeros(48, dtype=bool) if short is None else short,
        136: np.zeros(136, dtype=bool) if long is None else long,
    }


def test_the_patterns_are_the_published_ones():
    assert "".join(map(str, SDXL.bits)) == "101100111110110010010000011110111011000110011110"
    assert "".join(map(str, FLUX2.bits)) == "001010101111111010000111100111001111010100101110"
    assert np.packbits(SD1.bits).tobytes() == b"StableDiffusionV1"
    assert list(PATTERNS) == ["sdxl", "flux2", "sd1"]


@given(st.binary(max_size=20))
def test_bits_of_spells_most_significant_first(message):
    assert list(bits_of(message)) == np.unpackbits(np.frombuffer(message, dtype=np.uint8)).tolist()


@pytest.mark.parametrize(
    ("pattern", "forgiven"), [(SDXL, 4), (FLUX2, 4), (SD1, 10)], ids=lambda value: getattr(value, "name", value)
)
def test_the_rule_ends_at_its_threshold(pattern, forgiven):
    slot = "long" if pattern is SD1 else "short"
    length = len(pattern.bits)

    found = recognise(payloads(**{slot: wrong(pattern, forgiven)}), RULE)
    assert (found.status, found.label) == ("detected", pattern.name)
    assert found.reason == f"{length - forgiven}/{length} bits of {pattern.name}"
    assert found.message_bit_accuracy == (length - forgiven) / length

    missed = recognise(payloads(**{slot: wrong(pattern, forgiven + 1)}), RULE)
    assert (missed.status, missed.label) == ("not_detected", None)
    assert missed.reason == f"{length - forgiven - 1}/{length} bits of {pattern.name}"
    assert missed.message_bit_accuracy == (length - forgiven - 1) / length


def test_the_thresholds_are_44_of_48_and_126_of_136():
    assert [(pattern.threshold, len(pattern.bits)) for pattern in RULE] == [(44, 48), (44, 48), (126, 136)]


def test_the_first_pattern_in_the_order_answers():
    both = payloads(short=wrong(SDXL, 4), long=wrong(SD1, 0))
    assert recognise(both, RULE).label == "sdxl"
    assert recognise(both, RULE).reason == "44/48 bits of sdxl"


def test_without_a_mark_the_largest_share_is_told_and_the_earlier_of_equals():
    nothing = payloads()
    assert recognise(nothing, (SDXL, FLUX2)).reason == "21/48 bits of sdxl"
    assert recognise(nothing, RULE).reason == "68/136 bits of sd1"
    twins = tuple(Pattern(name, (1, 0), threshold=2, source="made up") for name in ("first", "second"))
    assert recognise({2: np.zeros(2, dtype=bool)}, twins).reason == "1/2 bits of first"


def test_no_two_patterns_of_one_length_can_both_be_read():
    for one, other in itertools.combinations((SDXL, FLUX2), 2):
        distance = sum(a != b for a, b in zip(one.bits, other.bits, strict=True))
        assert distance > (48 - one.threshold) + (48 - other.threshold)


@given(length=st.integers(1, 140), data=st.data())
def test_chance_is_the_binomial_tail(length, data):
    threshold = data.draw(st.integers(0, length))
    pattern = Pattern("drawn", (0,) * length, threshold, source="drawn")
    assert pattern.chance == pytest.approx(binom.sf(threshold - 1, length, 0.5), rel=1e-9)


def test_the_rule_in_words_names_thresholds_and_chances():
    assert rule_in_words(RULE) == (
        "sdxl at 44 or more of 48 equal bits (chance 7.6e-10), else flux2 at 44 or more of 48 equal bits (chance 7.6e-10), "
        "else sd1 at 126 or more of 136 equal bits (chance 5.3e-27)"
    )
