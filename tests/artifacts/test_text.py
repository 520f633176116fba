"""Texts are strict UTF-8, and nothing about them is changed."""

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.text import decode_text


@given(st.text())
def test_a_text_comes_back_as_it_was(text):
    decoded = decode_text(text.encode())
    assert decoded.text == text
    assert decoded.decoding == {"rule": "utf-8", "characters": len(text)}


@pytest.mark.parametrize(("data", "position"), [(b"\xff", 0), (b"ab\xc3", 2), (b"a\xed\xa0\x80", 1), (b"abc\xc0\x80", 3)])
def test_what_is_not_utf_8_is_refused_with_its_place(data, position):
    with pytest.raises(UndecodableArtifactError, match=f"^not valid UTF-8 at byte {position}$"):
        decode_text(data)


@given(st.binary())
def test_any_bytes_end_as_a_text_or_an_undecodable_artifact(data):
    try:
        assert decode_text(data).text.encode() == data
    except UndecodableArtifactError:
        with pytest.raises(UnicodeDecodeError):
            data.decode()
