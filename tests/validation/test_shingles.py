import hashlib
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation.shingles import (
    SHINGLE_WORDS,
    containment,
    jaccard,
    normalised,
    shingle_sequence,
    shingles,
    shingles_of,
    spelling,
    text_sha256,
    word_hashes,
    words,
)

ODD = st.sampled_from("aAbB \n\t.'\u017f\u00df\u0130\u01f0\u0390\ufb03\u03a3\u03c2\u0345\u0301\u00ad\u200b\u4e2d\u306e")
TEXTS = st.text(st.characters(codec="utf-8") | ODD, max_size=60)
SENTENCE = "The quick brown fox jumps over the lazy dog while nobody looks"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Don't stop", "don\u2019t   STOP"),
        ("the o\ufb03ce", "The Office"),
        ("co\u00adop\u200beration", "cooperation"),
        ("\uff26\uff35\uff2c\uff2c\u3000\uff37ide", "full wide"),
        ("caf\u0065\u0301", "CAFÉ"),
        ("Straße", "STRASSE"),
        ("one\r\ntwo\tthree", "one two three"),
        ('"Yes," he said.', "yes he said"),
        ("well-known -- fact", "well known: fact"),
    ],
)
def test_typesetting_makes_no_difference(one, other):
    assert normalised(one) == normalised(other)
    assert text_sha256(one) == text_sha256(other)


@pytest.mark.parametrize(
    ("one", "other"), [("one two", "onetwo"), ("one two", "two one"), ("x1", "x2"), ("resume", "résumé")]
)
def test_other_words_are_another_text(one, other):
    assert text_sha256(one) != text_sha256(other)


def test_every_character_is_a_word_where_a_script_has_no_spaces():
    assert words("日本語 text のABC") == ["日", "本", "語", "text", "の", "abc"]


def test_a_vowel_sign_does_not_cut_a_word():
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


@given(TEXTS)
def test_normalising_twice_changes_nothing(text):
    assert normalised(normalised(text)) == normalised(text)


@given(TEXTS)
def test_the_spelling_of_unicode_makes_no_difference(text):
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert words(unicodedata.normalize(form, text)) == words(text)


@given(TEXTS, TEXTS)
def test_the_words_of_a_text_are_those_of_its_lines(one, other):
    assert words(f"{one}\n{other}") == words(one) + words(other)


MIXED = st.lists(
    st.sampled_from(["a", "B9_", "\u00e9", "e\u0301", "\ufb01n", "\u1e9e", "\u4e2d", "\u200b", "\u0301"])
    | st.sampled_from([" ", "\n", "\xa0", "\x85", "\0", "plain words ", "\ud800", "\u0130"]),
    max_size=40,
).map("".join)


@given(st.one_of(MIXED, MIXED.map(lambda text: text + " plain" * 100), TEXTS))
def test_the_spelling_is_that_of_the_whole_text_where_only_parts_of_it_are_folded(text):
    whole = spelling(text + "\u4e2d" * 1000)  # so many that all is folded at once
    assert spelling(text + " \n" + "plain " * 2000).split() == [
        *spelling(text).split(),
        *[b"plain"] * 2000,
    ]
    assert whole.replace("\u4e2d".encode(), b"").split() == spelling(text).replace("\u4e2d".encode(), b"").split()
    assert spelling(text).count(b"\n") == text.count("\n")
    assert spelling(text).decode("utf-8", "surrogatepass").split() == words(text)


def test_a_text_of_few_words_that_need_folding_is_spelt_in_linear_time():
    """In quadratic time this would take minutes, and be ended."""
    text = "x" * 2_000_000 + "\u00e9"
    assert spelling(text).decode() == text
    assert spelling("word " * 500_000 + "\u00e9 ").count(b"word") == 500_000
    assert len(words("ascii ascii ascii ascii \u00e9 " * 50_000)) == 250_000


def test_the_digest_is_that_of_the_normalised_text():
    assert text_sha256("Ünder, way!") == hashlib.sha256("ünder way".encode()).hexdigest()


def test_shingles_are_the_same_numbers_in_every_process():
    program = f"from pytest_benchbench.validation.shingles import shingles; print(shingles({SENTENCE!r}).tolist())"
    found = set()
    for seed in ("0", "1"):
        command = [sys.executable, "-c", program]
        answer = subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=60)
        found.add(answer.stdout.decode())
    assert found == {f"{shingles(SENTENCE).tolist()}\n"}
    assert shingles("one two", 2).tolist() == [1553905538903757768]


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=20), st.integers(1, 6))
def test_shingles_stand_for_the_distinct_runs_of_words(found, size):
    runs = {tuple(found[i : i + size]) for i in range(len(found) - size + 1)} or ({tuple(found)} if found else set())
    hashed = shingles_of(found, size)
    assert hashed.dtype == np.uint64
    assert len(hashed) == len(runs)
    assert sorted(set(hashed.tolist())) == hashed.tolist()
    assert hashed.tolist() == sorted(int(shingles_of(list(run), len(run))[0]) for run in runs)


def test_the_order_of_words_counts():
    assert not set(shingles("a b c d e").tolist()) & set(shingles("e d c b a").tolist())


def test_a_sequence_shorter_than_a_shingle_has_none():
    assert len(shingle_sequence(word_hashes(["a", "b"]), 3)) == 0
    assert len(shingles("")) == len(shingles("... !!")) == 0


@given(TEXTS, TEXTS)
def test_resemblance_and_containment_agree_with_sets(one, other):
    first, second = shingles(one, 2), shingles(other, 2)
    a, b = set(first.tolist()), set(second.tolist())
    assert jaccard(first, second) == jaccard(second, first) == (len(a & b) / len(a | b) if a | b else 0.0)
    assert containment(first, second) == (len(a & b) / len(a) if a else 0.0)


def test_a_text_inside_another_is_contained_in_it():
    longer = f"Before that. {SENTENCE}! And after that."
    assert containment(shingles(SENTENCE), shingles(longer)) == 1.0
    assert jaccard(shingles(SENTENCE), shingles(longer)) < 1.0


def test_one_changed_word_breaks_no_more_shingles_than_it_stands_in():
    changed = SENTENCE.replace("over", "across")
    count = len(words(SENTENCE)) - SHINGLE_WORDS + 1
    assert containment(shingles(SENTENCE), shingles(changed)) == (count - SHINGLE_WORDS) / count


def test_a_shingle_has_a_word():
    with pytest.raises(ValueError, match="at least one word: 0"):
        shingles("a", 0)
