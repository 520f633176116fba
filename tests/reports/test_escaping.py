"""Whatever a text contains, a Markdown reader shows the text and nothing else."""

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt

from pytest_benchbench.reports.escaping import cell, plain

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

markup = st.text(alphabet=st.sampled_from("|\\`*_[]()<>&~$#!-+=:{}'\" \t\n\r\x1b\u202eäx1."), max_size=30)


def shown_in_a_cell(text):
    """Give the inline tokens of the one cell, and the raw HTML of the page."""
    tokens = PARSER.parse(f"| a | b |\n| --- | --- |\n| {cell(text)} | after |\n")
    inlines = [token for token in tokens if token.type == "inline"]
    assert [token.content for token in (inlines[0], inlines[1], inlines[3])] == ["a", "b", "after"]
    assert len(inlines) == 4
    return inlines[2].children


@example("a|b")
@example("`code` **bold** _emphasis_ ~~gone~~")
@example("<script>alert(1)</script> &lt; [x](javascript:1) ![i](y)")
@example(" leading and trailing ")
@example("\\")
@example("| --- |\n# heading\n\n- item")
@given(st.one_of(markup, st.text(max_size=30)))
def test_a_reader_sees_exactly_the_text(text):
    children = shown_in_a_cell(text)
    assert all(child.type in {"text", "text_special"} for child in children)
    assert "".join(child.content for child in children) == plain(text)


@given(st.text())
def test_plain_text_is_one_printable_line(text):
    assert plain(text).isprintable()


@pytest.mark.parametrize(
    ("text", "expected"), [("a\nb", "a\\nb"), ("\x1b[2J", "\\x1b[2J"), ("\u202e", "\\u202e"), ("Äpfel 苹果", "Äpfel 苹果")]
)
def test_plain_text_keeps_letters_and_writes_controls_out(text, expected):
    assert plain(text) == expected


@pytest.mark.parametrize("text", ["dwt-dct", "not_detected", "cases.jsonl:12", "43/48 bits (0.9)"])
def test_ordinary_words_are_written_as_they_are(text):
    assert cell(text) == text


@pytest.mark.parametrize(
    ("text", "escaped"), [("see https://example.org", "see https\\://example.org"), ("www.example.org", "www\\.example.org")]
)
def test_addresses_are_broken_for_readers_that_make_links_of_them(text, escaped):
    assert cell(text) == escaped
