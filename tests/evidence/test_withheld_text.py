"""Whatever quotes a text, in whatever spelling, comes out without it, and everything else as it was."""

import json
import unicodedata

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.observation import DetectionRecord
from pytest_benchbench.evidence.withheld_text import QUOTED, WITHHELD, WithheldTexts

TEXT = "The harbour lay quiet,\nÜber dem Wasser hing Nebel.\n\t港は静かだった霧が水の上にかかっていた"


@pytest.mark.parametrize("write", [str, repr, ascii, json.dumps, lambda text: repr(text.encode()), str.upper, str.lower])
def test_however_a_text_is_written_nothing_of_it_is_left(write):
    hidden = WithheldTexts([TEXT]).hide(f"cannot score {write(TEXT)}!")
    assert hidden.startswith("cannot score ")
    assert hidden.endswith("!")
    assert len(hidden) < len("cannot score !") + 3 * len(WITHHELD)
    for word in ("harbour", "Wasser", "Nebel", "静かだった", "\\u9759"):
        assert word.lower() not in hidden.lower()


def test_on_one_line():
    assert WithheldTexts([TEXT]).hide(" ".join(TEXT.split())) == WITHHELD


@given(
    st.text(min_size=QUOTED, max_size=40).map(str.strip).filter(lambda text: len(text) >= QUOTED),
    st.text(max_size=20),
    st.text(max_size=20),
    st.data(),
)
def test_no_quotation_of_that_length_is_left(text, before, after, data):
    begin = data.draw(st.integers(0, len(text) - QUOTED))
    hidden = WithheldTexts([text]).hide(before + text[begin:] + after)
    parts = {text[at : at + QUOTED] for at in range(len(text) - QUOTED + 1)}
    assert not any(part in left for left in hidden.split(WITHHELD) for part in parts)


@pytest.mark.parametrize("foreign", ["", "HTTP 429", "the answer has another shape: keys score, model"])
def test_what_quotes_nothing_is_the_same_text(foreign):
    assert WithheldTexts([TEXT]).hide(foreign) is foreign


def test_a_short_text_is_hidden_as_a_whole():
    withheld = WithheldTexts([" Ahoy! "])
    assert withheld.hide("says Ahoy! loudly") == f"says {WITHHELD} loudly"
    assert withheld.hide("says Ahoy") == f"says {WITHHELD}"
    assert withheld.hide("says Aho") == "says Aho"


def test_of_several_texts_none_is_quoted():
    withheld = WithheldTexts(["Ahoy!", TEXT])
    assert withheld.hide(f"{TEXT[:20]} and Ahoy!") == f"{WITHHELD} and {WITHHELD}"


def test_an_answer_loses_what_quotes_and_keeps_what_names_the_detector():
    scorer = {"model": "The harbour lay quiet", "raw": {"The harbour lay": ["harbour lay quiet,", 0.5]}, "words": 3}
    answer = DetectionRecord("scored", 1.0, "warm", score=50.0, reason="The harbour lay", scorer=scorer)
    hidden = WithheldTexts([TEXT]).hide_in_answer(answer)
    assert (hidden.status, hidden.score, hidden.reason) == ("scored", 50.0, WITHHELD)
    assert hidden.scorer == {"model": "The harbour lay quiet", "raw": {WITHHELD: [WITHHELD, 0.5]}, "words": 3}


@pytest.mark.parametrize(
    "scorer",
    [
        {"words": {"The": 0.1, "harbour": 0.2, "lay": 0.3, "quiet": 0.4}},
        {"words": ["The", "harbour", "lay", "quiet"]},
        {"first": "The", "second": "harbour", "third": "lay", "fourth": "quiet"},
        {"The": "verb", "harbour": "noun", "lay": "verb", "quiet": "noun"},
        {"tokens": [{"token": "The"}, {"token": "harbour"}, {"token": "lay"}, {"token": "quiet"}]},
    ],
)
def test_words_that_stand_one_by_one_are_hidden(scorer):
    answer = DetectionRecord("scored", 1.0, "warm", score=50.0, scorer={"model": "m-1", **scorer, "class": "human"})
    hidden = WithheldTexts([TEXT]).hide_in_answer(answer).scorer
    assert not any(word in str(hidden) for word in ("The", "harbour", "lay'", "quiet"))
    assert (hidden["model"], hidden["class"]) == ("m-1", "human")


def test_a_word_alone_is_kept():
    scorer = {"class": "quiet", "raw": {"harbour": 0.5, "lay": [1]}}
    answer = DetectionRecord("scored", 1.0, "warm", score=50.0, scorer=scorer)
    assert WithheldTexts([TEXT]).hide_in_answer(answer).scorer == scorer


def test_a_name_that_is_no_name_is_hidden():
    answer = DetectionRecord("scored", 1.0, "warm", scorer={"model": TEXT * 2})
    assert "harbour" not in str(WithheldTexts([TEXT]).hide_in_answer(answer).scorer)


def test_an_answer_that_tells_nothing_is_the_same():
    answer = DetectionRecord("scored", 1.0, "warm", score=50.0)
    assert WithheldTexts([TEXT]).hide_in_answer(answer) is answer


@pytest.mark.parametrize("written", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("kept", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "text",
    [
        "Ti\u1ebfng Vi\u1ec7t kh\u00f4ng d\u1ec5 \u0111\u1ecdc",
        "\ud55c\uad6d\uc5b4\ub294 \uc5b4\ub835\uc2b5\ub2c8\ub2e4 \uc815\ub9d0",
        "na\u00efve \ufb01gures flow",
    ],
)
def test_composed_letters_make_no_difference(text, kept, written):
    hidden = WithheldTexts([unicodedata.normalize(kept, text)]).hide(f"said: {unicodedata.normalize(written, text)}!")
    assert hidden == f"said: {WITHHELD}!"


def test_a_short_text_that_is_shorter_when_composed():
    text = unicodedata.normalize("NFD", "\u1ec7\u1ec5\u1ed9\u1edd")
    assert WithheldTexts([text]).hide(unicodedata.normalize("NFC", text)) == WITHHELD
