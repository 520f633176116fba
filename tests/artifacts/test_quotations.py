"""A piece of a text is found whatever stands between its letters and however they are escaped, and nothing else is."""

import base64
import hashlib
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.artifacts.quotations import QUOTED_LETTERS, Quotations

TEXT = "The harbour lay quiet; Über dem Wasser hing Nebel, 港は静かだった霧が水の上にかかっていた"


def left(foreign, text=TEXT):
    """Give what is left of a foreign text once the pieces are taken out."""
    keep = [True] * len(foreign)
    for begin, end in Quotations([text]).spans(foreign):
        keep[begin:end] = [False] * (end - begin)
    return "".join(character for character, kept in zip(foreign, keep, strict=True) if kept)


WRITINGS = {
    "as it is": str,
    "upper case": str.upper,
    "a word a line": lambda text: "\n".join(text.split()),
    "dots": lambda text: "...".join(text.split()),
    "letter by letter": lambda text: " ".join(text),
    "URL": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "URL twice": lambda text: quote(quote(text, safe=""), safe=""),
    "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "Python": ascii,
    "bytes": lambda text: repr(text.encode())[1:],
    "HTML": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "HTML in hex": lambda text: "".join(f"&#x{ord(character):x};" for character in text),
    "HTML by name": lambda text: html.escape(text).replace("Ü", "&Uuml;"),
}


@pytest.mark.parametrize("write", WRITINGS.values(), ids=WRITINGS)
def test_a_piece_is_found_however_it_is_written(write):
    told = left(f"cannot score <{write(TEXT)}>!")
    assert told.startswith("cannot score <")
    assert not any(letter.isalnum() for letter in told.removeprefix("cannot score "))


@pytest.mark.parametrize(
    "foreign", ["", "HTTP 429: 100%", "expected a number in [0, 1]", "lay quiet harbour", "%zz &nope; \\U00ffffff"]
)
def test_what_repeats_nothing_is_left(foreign):
    assert left(foreign) == foreign


@pytest.mark.parametrize("before", ["", "x", "xy"])
def test_a_piece_is_found_in_base64_and_in_hex(before):
    data = f"{before}{TEXT}".encode()
    for written in (
        base64.b64encode(data),
        base64.urlsafe_b64encode(data),
        data.hex().encode(),
        data.hex().upper().encode(),
    ):
        assert left(f"bad: {written.decode()} !").rstrip("= !") == "bad:"
    digest = hashlib.sha256(data).hexdigest()
    assert left(digest) == digest


def test_of_a_short_text_the_whole_is_a_piece():
    assert left("says a-hoy!", "Ahoy") == "says !"
    assert left("says aho", "Ahoy") == "says aho"


@given(
    st.text(st.characters(categories=["L", "N"]), min_size=QUOTED_LETTERS, max_size=60),
    st.text(max_size=12),
    st.text(max_size=12),
    st.sampled_from(sorted(set(WRITINGS) - {"upper case"})),  # a letter may have the capital of another
    st.data(),
)
def test_every_piece_of_that_length_is_found(text, before, after, writing, data):
    begin = data.draw(st.integers(0, len(text) - QUOTED_LETTERS))
    piece = WRITINGS[writing](text[begin : begin + QUOTED_LETTERS])
    foreign = f"{before} {piece} {after}"
    spans = Quotations([text]).spans(foreign)
    assert any(start >= len(before) and end <= len(foreign) - len(after) for start, end in spans)
    assert all(0 <= start < end <= len(foreign) for start, end in spans)
