"""Keys show themselves nowhere, and what a vendor says is repeated without keys and without the text."""

import json
import traceback
from urllib.parse import quote

import pytest

from pytest_benchbench.adapters.remote.discretion import MAX_SAID, Credential, Discretion, read_credentials

KEY = "sk-canary+0123/456789=abcdef"


@pytest.fixture
def discretion():
    made = Discretion()
    made.keep(Credential(KEY))
    made.keep(Credential("second-canary-98765"))
    return made


def test_a_credential_shows_itself_to_nobody():
    credential = Credential(KEY)
    try:
        raise ValueError(credential)
    except ValueError as error:
        told = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    for said in (repr(credential), str(credential), f"{[credential]}", told):
        assert "canary" not in said
    assert credential.reveal() == KEY


@pytest.mark.parametrize(
    "write", [str, lambda key: quote(key, safe=""), json.dumps, lambda key: f"Bearer {key}!", lambda key: key[:20]]
)
def test_a_key_is_cut_out_however_it_is_written(discretion, write):
    said = discretion.repeated(f"no such key: {write(KEY)} or second-canary-98765")
    assert "canary" not in said
    assert said.startswith("no such key: ")


@pytest.mark.parametrize("shift", range(MAX_SAID - 40, MAX_SAID + 2))
def test_a_key_that_is_cut_off_is_cut_out(discretion, shift):
    assert "canary" not in discretion.repeated("x" * shift + KEY)


def test_foreign_words_are_one_short_line(discretion):
    said = discretion.repeated("two\nlines\x1b[31m\t and a tail " + "y" * 500)
    assert said.startswith("two lines?[31m and a tail yyy")
    assert len(said) == MAX_SAID
    assert said.isprintable()


TEXT = "Seven quiet herons walked along the river, and nobody saw them."


@pytest.mark.parametrize(
    "said",
    [
        f"invalid document: {TEXT}",
        "invalid: 'herons WALKED along'",
        json.dumps(TEXT),
        "herons_walked_along_the_river",
    ],
)
def test_what_repeats_the_text_is_left_out(discretion, said):
    assert discretion.repeated(said, TEXT) == "(words of the text, left out)"


@pytest.mark.parametrize("said", ["the text is too short", "herons walked", ""])
def test_what_does_not_is_kept(discretion, said):
    assert discretion.repeated(said, TEXT) == said


def test_a_short_text_is_recognised_whole(discretion):
    assert discretion.repeated("bad: Seven herons", "Seven herons!") == "(words of the text, left out)"
    assert discretion.repeated("bad: seven", "Seven herons!") == "bad: seven"


def test_what_is_kept_of_an_answer_has_no_key(discretion):
    assert discretion.masked({"model": KEY, "raw": {KEY: [1, KEY]}}) == {"model": "***", "raw": {"***": [1, "***"]}}


def test_keys_are_read_without_the_space_around_them():
    assert read_credentials(["A_KEY"], {"A_KEY": f" {KEY}\n"})["A_KEY"].reveal() == KEY


def test_what_is_kept_holds_no_words_of_the_text_as_names(discretion):
    facts = {
        "subclass": {"Seven": 1.0, "quiet": 1.0, "herons": 1.0, "walked": 1.0},
        "predicted_class": "Seven-quiet-herons-walked",
        "class_probabilities": {"ai": 0.5, "human": 0.5},
    }
    assert discretion.unquoted(facts, TEXT) == {"class_probabilities": {"ai": 0.5, "human": 0.5}}


@pytest.mark.parametrize("shown", [KEY[5:], KEY[-14:], KEY[6:21], KEY[4:].upper()])
def test_a_key_that_a_vendor_shows_without_its_beginning_is_cut_out(discretion, shown):
    assert discretion.repeated(f"the key {shown} is bad") == "the key *** is bad"


def test_the_last_characters_that_vendors_show_of_a_key_are_cut_out(discretion):
    assert discretion.repeated("no such key: ...cdef, sk-c*****cdef") == "no such key: ...***, ***********"
