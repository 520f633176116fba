import subprocess
import sys

import pytest

from pytest_benchbench import Sample
from pytest_benchbench.adapters.text_limits import count_words, limits_in_words, not_asked, text_of


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), ("one", 1), ("it's well-known: 3 -- ... !", 3), ("\u4e2d\u6587 \u00e9\n\tx", 3)]
)
def test_words_have_a_letter_or_a_digit(text, words):
    assert count_words(text) == words


def test_a_text_is_refused_at_the_first_word_too_few_and_the_first_character_too_many():
    limits = {"minimum_words": 2, "maximum_characters": 6}
    assert not_asked("a b", **limits) is None
    assert not_asked("a .", **limits).status == "too-small"
    assert not_asked("a bcde", **limits) is None
    assert not_asked("a bcdef", **limits).status == "unsupported"


def test_four_fifths_of_the_letters_in_ascii_are_enough():
    limits = {"minimum_words": 1, "maximum_characters": 100}
    assert not_asked("a b c d \u00e9", **limits) is None
    assert not_asked("a b c d \u00e9 1 2 3 \u00e9", **limits).status == "unsupported"
    assert not_asked("\u00e9", ascii_only=False, **limits) is None
    assert not_asked("1 2 3", **limits) is None


def test_a_long_run_of_white_space_is_refused_wherever_it_stands():
    limits = {"minimum_words": 1, "maximum_characters": 10_000}
    for text in ("a" + "\n \t" * 100, " " * 300 + "a", "a" + " " * 300 + "b"):
        assert not_asked(text, **limits) is None
        assert not_asked(text.replace(" ", "  ", 1), **limits).status == "unsupported"


def test_a_reason_quotes_nothing():
    for text in ("secret", "\u0441\u0435\u043a\u0440\u0435\u0442 " * 3, "secret " * 100):
        answer = not_asked(text, minimum_words=2, maximum_characters=200)
        assert text.split()[0] not in answer.reason


def test_the_limits_in_words():
    assert limits_in_words(minimum_words=50, maximum_characters=1000) == (
        "fewer than 50 words are too-small; more than 1,000 characters, or fewer than 80% of the letters in ASCII, "
        "are unsupported"
    )


def test_a_sample_without_a_decoded_text_is_a_fault_of_the_caller():
    with pytest.raises(TypeError, match="expected a decoded text, not NoneType"):
        text_of(Sample("text", "0" * 64, b"a"))


def test_importing_an_adapter_imports_none_of_its_packages():
    heavy = ("zippy", "lmscan", "onnxruntime", "tokenizers", "brotli")
    program = (
        "import sys, pytest_benchbench.adapters.zippy, pytest_benchbench.adapters.lmscan, "
        "pytest_benchbench.adapters.text_onnx\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
