import json

import pytest
from hypothesis import given, strategies as st

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
