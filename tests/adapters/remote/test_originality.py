"""Originality.ai: the named model has to answer, both known shapes are read, and nothing is stored or bought besides."""

import pytest

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.adapters.metering import UnlimitedMeter
from pytest_benchbench.adapters.remote.originality import Originality


@pytest.fixture
def answered(ask, texts, vendors):
    """Let Originality.ai give a documented answer with ``results`` changed, or another body."""

    def play(body=None, *, ai=None, results=None, options=()):
        def act(documented):
            documented.body["results"]["ai"].update(ai or {})
            documented.body["results"].update(results or {})
            if body is not None:
                documented.body = body
            return documented

        vendors.play([act])
        (answer,) = ask("originality", **dict(options)).detect_batch(texts(1))
        return answer

    return play


def test_the_confidence_about_ai_is_the_score_whatever_the_other_is(answered):
    answer = answered(ai={"confidence": {"AI": 0.625, "Original": 0.125}})
    assert answer.score == 62.5  # 1 - Original would be 87.5
    assert answer.scorer["raw"]["confidence"] == {"AI": 0.625, "Original": 0.125}


def test_the_classification_is_not_the_score(answered):
    answer = answered(ai={"confidence": {"AI": 0.25, "Original": 0.75}, "classification": {"AI": 1, "Original": 0}})
    assert answer.score == 25.0
    assert answer.scorer["raw"]["classification"] == {"AI": 1, "Original": 0}


@pytest.mark.parametrize(
    "body",
    [
        {"score": {"ai": 0.5, "original": 0.25, "mixed": 0.25}, "credits_used": 3},
        {"results": {"score": {"ai": 0.5, "original": 0.25, "mixed": 0.25}, "credits": {"used": 3}}},
        {"results": {"ai": {"aiModel": "lite-102", "score": {"ai": 0.5, "original": 0.25, "mixed": 0.25}}}},
    ],
)
def test_the_older_shape_is_read_whose_numbers_need_not_add_up(answered, body):
    answer = answered(body)
    assert answer.score == 50.0
    assert answer.scorer["raw"] == {"score": {"ai": 0.5, "original": 0.25, "mixed": 0.25}}
    assert answer.scorer["credits"] == (1 if "aiModel" in str(body) else 3)  # what is not said is counted here


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "neither results.ai.confidence nor score is there; keys seen: none"),
        (
            {"results": {"ai": {"aiModel": "lite-102"}}},
            "neither results.ai.confidence nor score is there; keys seen: results",
        ),
        ({"score": 0.5}, "score.ai: expected a number in [0, 1], got nothing"),
        ({"score": {"ai": 50, "original": 50}}, "score.ai: expected a number in [0, 1], got 50"),
        ({"score": {"ai": 0.5}}, "score.original: expected a number in [0, 1], got nothing"),
        (
            {"results": {"ai": {"aiModel": "lite-102", "confidence": {"AI": "0.5", "Original": 0.5}}}},
            "results.ai.confidence.AI: expected a number in [0, 1], got text",
        ),
        (
            {"results": {"ai": {"aiModel": "lite-102", "confidence": {"AI": 0.5}}}},
            "results.ai.confidence.Original: expected a number in [0, 1], got nothing",
        ),
        (
            {"results": {"ai": {"confidence": {"AI": 0.5, "Original": 0.5}}}},
            "results.ai.aiModel: expected a short name, got nothing",
        ),
    ],
)
def test_anything_else_is_an_error_that_shows_the_names(answered, body, said):
    answer = answered(body)
    assert answer.type == "UnreadableAnswer"
    assert said in answer.message


def test_a_model_that_the_vendor_does_not_know_falls_back_silently_and_is_found_out(ask, texts, vendors):
    answers = ask("originality", model="3.0.1", concurrency=1).detect_batch(texts(3))
    assert [answer.type for answer in answers] == ["OtherModel", "NoFurtherCalls", "NoFurtherCalls"]
    assert answers[0].message == (
        "originality: model lite-102 answered, and 3.0.1 was asked for: unknown names are not refused there"
    )
    assert [asked.document["aiModelVersion"] for asked in vendors.asked] == ["3.0.1"]


@pytest.mark.parametrize("echoed", ["turbo", "Lite-102", 102, None])
def test_only_the_very_name_is_the_same_model(answered, echoed):
    assert answered(ai={"aiModel": echoed}).type in ("OtherModel", "UnreadableAnswer")


def test_there_is_no_default_model(keys):
    adapter = Originality()  # with every key, and no option: a documented or recommended name must not step in
    assert adapter.requested_model is None
    with pytest.raises(AdapterUnavailable, match="no model is named"):
        adapter.load()


def test_nothing_is_stored_and_nothing_else_is_bought(ask, texts, vendors):
    (sample,) = texts(1)
    ask("originality", model="turbo").detect_batch([sample])
    assert vendors.asked[-1].document == {
        "title": "benchmark",
        "content": sample.decoded.text,
        "check_ai": True,
        "check_plagiarism": False,
        "check_facts": False,
        "check_readability": False,
        "check_grammar": False,
        "check_contentQuality": False,
        "check_ai_allowance": False,
        "storeScan": False,
        "aiModelVersion": "turbo",
    }


@pytest.mark.parametrize(("used", "billed"), [(7, 7), (None, 1), ("7", 1), (True, 1), (-1, 1), (1.5, 1)])
def test_the_credits_are_those_that_the_vendor_says(answered, used, billed):
    assert answered(results={"credits": {"used": used}}).scorer["credits"] == billed


@pytest.mark.parametrize(("used", "beyond"), [(7, [6]), (1, []), (0, []), (None, []), (1_000_001, [])])
def test_credits_beyond_the_estimate_are_counted_once_the_answer_is_kept(ask, texts, vendors, used, beyond):
    def act(documented):
        documented.body["results"]["credits"] = {"used": used}
        return documented

    class Purse(UnlimitedMeter):
        counted = []

        def billed_beyond(self, count):
            assert adapter.journal.find(adapter.response_key(sample)) is not None
            self.counted.append(count)

    vendors.play([act])
    adapter, (sample,) = ask("originality"), texts(1)
    adapter.meter = Purse()
    (first,) = adapter.detect_batch([sample])
    (again,) = adapter.detect_batch([sample])
    assert (first.status, again.scorer["recorded"]) == ("scored", True)
    assert adapter.meter.counted == beyond


@pytest.mark.parametrize(("words", "billed"), [(50, 1), (100, 1), (101, 2), (300, 3)])
def test_each_hundred_words_that_are_begun_are_a_credit(ask, words, billed):
    assert ask("originality").usage("word " * words).credits == billed
