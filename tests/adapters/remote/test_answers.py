"""Answers of odd shapes are errors that show names and hide contents."""

import pytest

from pytest_benchbench.adapters.remote.answers import fraction, kept, keys_seen
from pytest_benchbench.adapters.remote.discretion import Discretion
from pytest_benchbench.adapters.remote.errors import UnreadableAnswer

SECRET_TEXT = "Seven quiet herons walked along the river."


@pytest.fixture
def said(ask, texts, vendors, player):
    """Give the error of a body that GPTZero answers with."""

    def play(body, **more):
        vendors.play([player.Act(body=body, **more)])
        (answer,) = ask("gptzero").detect_batch(texts(1))
        assert answer.type == "UnreadableAnswer"
        assert "herons" not in answer.message
        return answer.message

    return play


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "blank line"),
        (b"<html>", "not JSON at column 1"),
        (b"[1]", "expected a JSON object"),
        (b'{"a": 1, "a": 2}', "this key stands twice, at a"),
        (b'{"a": NaN}', "NaN is no JSON number, at a"),
        (b'{"a": 1e999}', "1e999 is beyond the range of numbers, at a"),
        (b'{"a": ' + b"[" * 70 + b"]" * 70 + b"}", "nested deeper than 64 levels"),
        (b'{"a": ' + b"[" * 100_000, "nested deeper than 64 levels"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_an_answer_is_strict_json(said, body, message):
    assert message in said(body)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("text/html; charset=utf-8", "the answer is text/html, not application/json"),
        ("", "the answer is of no type, not application/json"),
    ],
)
def test_an_answer_of_another_type_is_not_read(said, kind, message):
    assert message in said({"documents": []}, content_type=kind)


def test_a_compressed_answer_is_not_unpacked(said):
    assert "compressed" in said(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})


def test_an_unknown_shape_shows_the_names_that_it_has(said):
    body = {"version": "x", "docs": [{"probability": 0.5, "sentence": SECRET_TEXT}], "more": {"a b c": 1, "score": 2}}
    assert said(body) == (
        "gptzero: documents: expected one, got no list of them; "
        "keys seen: docs, more, version, docs.probability, docs.sentence, more.(no plain name), more.score"
    )


def test_names_that_are_the_text_are_not_shown(said):
    body = {"Seven_quiet_herons_walked_along_the": 1, SECRET_TEXT: 2}
    assert said(body).endswith("keys seen: (words of the text, left out)")


def test_many_names_are_counted():
    names = {f"k{number:02}": number for number in range(40)}
    assert keys_seen(names, Discretion(), "").endswith("k11 and 28 more")
    assert keys_seen([], Discretion(), "") == "keys seen: none"


@pytest.mark.parametrize("value", ["0.5", None, True, [0.5], {"p": 0.5}, -0.01, 1.01, 87, 10**400])
def test_only_a_number_from_0_to_1_is_a_probability(value):
    with pytest.raises(UnreadableAnswer, match=r"^here: expected a number in \[0, 1\], got "):
        fraction(value, "here")


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, 0.25])
def test_a_number_from_0_to_1_is_kept_as_it_is(value):
    assert fraction(value, "here") == value
    assert type(fraction(value, "here")) is float


def test_numbers_and_classes_are_kept_and_texts_are_not():
    answer = {
        "score": 0.5,
        "class": "ai",
        "sentence": SECRET_TEXT,
        "long": "a" * 33,
        "list": [1, 2],
        "giant": 10**400,
        "nested": {"ai": 0.1, "text": SECRET_TEXT, SECRET_TEXT: 1, "deep": {"er": {"est": {"far": 1}}}},
        "other": 1,
    }
    found = kept(answer, [name for name in answer if name != "other"])
    assert found == {"score": 0.5, "class": "ai", "nested": {"ai": 0.1}}
    assert kept(None, ["score"]) == {}


def test_nothing_is_paid_for_ever_for_nothing(ask, texts, vendors, player):
    vendors.play([player.Act(body={})] * 2 + [lambda act: act] + [player.Act(body={})] * 9)
    answers = ask("gptzero", concurrency=1).detect_batch(texts(8))
    kinds = [getattr(answer, "type", "scored") for answer in answers]
    assert kinds == [*["UnreadableAnswer"] * 2, "scored", *["UnreadableAnswer"] * 3, *["NoFurtherCalls"] * 2]
    assert "it would be paid for nothing: gptzero: documents: expected one" in answers[-1].message
    assert len(vendors.asked) == 6


def test_names_that_are_words_of_the_text_are_not_shown():
    text = "Seven quiet herons walked along the river."
    words = dict.fromkeys(text.rstrip(".").split(), 1.0)
    assert keys_seen({"results": words}, Discretion(), text) == "keys seen: results, (7 words of the text)"
    assert keys_seen({"river": 1, "error": 2}, Discretion(), text) == "keys seen: error, river"


def test_a_vendor_that_names_its_answer_or_its_model_by_words_of_the_text_is_not_repeated(ask, texts, vendors, player):
    def renamed(act):
        return player.Act(
            body={**act.body, "version": "Seven-quiet-herons-walked", "scanId": "herons.walked.along.the.river"}
        )

    vendors.play([renamed])
    (answer,) = ask("gptzero").detect_batch(texts(1))
    assert answer.status == "scored"
    assert answer.scorer.keys().isdisjoint({"model", "scanId"})
    assert "herons" not in str(answer)
