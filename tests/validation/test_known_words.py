"""Words are known exactly: whatever the text, the same ones as by looking at word after word."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation import known_words
from pytest_benchbench.validation.known_words import KnownWords, in_utf8

STEMS = ["", "abcdefgh", "abcdefgX", "abcdefghijklmnop", "abcdefghijklmnoX", "é", "日本語日本語"]
WORDS = st.builds(str.__add__, st.sampled_from(STEMS), st.text("abé本", max_size=9)).filter(bool)


def plain(known, text):
    return [known.index(word) if word in known else len(known) for word in text.split()]


@given(st.lists(WORDS, unique=True, max_size=30), st.lists(st.one_of(WORDS, st.sampled_from("\n ")), max_size=40), st.data())
def test_the_words_found_are_those_that_are_known(known, others, data):
    mixed = others + (data.draw(st.lists(st.sampled_from(known), max_size=20)) if known else [])
    text = " ".join(data.draw(st.permutations(mixed)))
    found = KnownWords(in_utf8(known)).find(text.encode())
    assert found.numbers.tolist() == plain(known, text)
    assert len(found) == len(text.split())
    lines = [number for number, line in enumerate(text.split("\n")) for _ in line.split()]
    assert found.lines(np.arange(len(found))).tolist() == lines


@pytest.mark.parametrize("spread", [0, 1, 1 << 46])
def test_words_whose_places_in_the_table_are_the_same_are_told_apart(monkeypatch, spread):
    monkeypatch.setattr(known_words, "_SPREAD", np.uint64(spread))
    known = [f"w{number}" for number in range(50)] + [f"abcdefghijk{number}" for number in range(50)]
    text = " ".join([*known, "w50", "abcdefghijk50", "abcdefgh", "abcdefghijklmnopqrst"])
    assert KnownWords(in_utf8(known)).find(text.encode()).numbers.tolist() == plain(known, text)


def test_a_long_word_is_told_from_one_that_begins_alike():
    known = ["x" * 40, "x" * 17]
    text = f"{'x' * 40} {'x' * 39}y {'x' * 17} {'x' * 16} {'x' * 18}"
    assert KnownWords(in_utf8(known)).find(text.encode()).numbers.tolist() == [0, 2, 1, 2, 2]


@pytest.mark.parametrize("text", [b"", b"\n", b" ", b"a"])
def test_nothing_is_known_of_nothing(text):
    assert KnownWords([]).find(text).numbers.tolist() == [0] * len(text.split())
