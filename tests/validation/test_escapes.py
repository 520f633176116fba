import json

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation import escapes
from pytest_benchbench.validation.escapes import without_escapes


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        (r"a\nb\tc", "a b\tc"),
        (r"\u00e9\x41\U0001F600", "\u00e9A\U0001f600"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d alone", "\ufffd alone"),
        (r"C:\Dir \d+ \\n", r"C:\Dir \d+ \n"),
        (r"\u12 \UFFFFFFFF \u000a", r"\u12   " + " "),
        ("end\\", "end\\"),
        ("line\\\nline", "line\\\nline"),
    ],
)
def test_escapes_become_what_they_mean(escaped, plain):
    assert without_escapes(escaped) == plain


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_a_json_string_is_read_back(text):
    assert without_escapes(json.dumps(text)[1:-1]) == text


@given(st.text('ab\\\n"nu0041'))
def test_a_line_stays_a_line(text):
    assert without_escapes(text).count("\n") == text.count("\n")


@given(st.text('\\\\\\n"0u1x4dU\u00e9 \0', max_size=60))
def test_what_is_done_by_whole_arrays_is_what_the_pattern_does(text):
    assert escapes._ESCAPE.sub(escapes._meaning, text).encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le", "replace"
    ) == without_escapes(text)


@pytest.mark.parametrize("unit", ["\\", "\\n", "\\\\n", "\\u0041", "\\q", "\\ud83d"])
def test_many_escapes_take_no_more_than_their_length(unit):
    """In quadratic time this would take hours, and be ended."""
    assert "n" not in without_escapes(unit * 200_000) or unit == "\\\\n"
