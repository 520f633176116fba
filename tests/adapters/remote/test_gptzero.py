"""GPTZero: three classes make one score, the other probabilities are not it, and the pinned version has to answer."""

import pytest

from pytest_benchbench import Detection

CLASSES = {"ai": 0.25, "mixed": 0.5, "human": 0.25}


@pytest.fixture
def answered(ask, texts, vendors, player):
    """Let GPTZero answer with some class probabilities, or with other changes of a documented answer."""

    def play(probabilities=None, *, changes=None, document=None, options=()):
        def act(documented):
            (first,) = documented.body["documents"]
            if probabilities is not None:
                first["class_probabilities"] = probabilities
            first.update(document or {})
            documented.body.update(changes or {})
            return documented

        vendors.play([act])
        (answer,) = ask("gptzero", **dict(options)).detect_batch(texts(1))
        return answer

    return play


@pytest.mark.parametrize(("mixed", "score"), [(None, 75.0), ("ai", 75.0), ("half", 50.0), ("human", 25.0)])
def test_mixed_is_a_class_of_its_own_that_counts_by_the_policy(answered, mixed, score):
    answer = answered(CLASSES, options={} if mixed is None else {"mixed": mixed})
    assert answer.score == score  # read as if `ai` included the mixed texts, all four would be 25
    assert answer.scorer["mixed"] == (mixed or "ai")
    assert answer.scorer["raw"]["class_probabilities"] == CLASSES


def test_other_probabilities_of_the_answer_are_kept_and_are_not_the_score(answered):
    others = {"completely_generated_prob": 0.01, "average_generated_prob": 0.02, "confidence_score": 0.03}
    answer = answered(CLASSES, document=others)
    assert answer.score == 75.0
    assert others.items() <= answer.scorer["raw"].items()


def test_classes_need_not_add_up_to_one(answered):
    assert answered({"ai": 0.25, "mixed": 0.25, "human": 0.9}).score == 50.0
    assert answered({"ai": 0.7, "mixed": 0.3 + 1e-9, "human": 0.0}).score == 100.0


@pytest.mark.parametrize(
    ("probabilities", "said"),
    [
        ({"ai": 0.25, "human": 0.75}, "class_probabilities.mixed: expected a number in [0, 1], got nothing"),
        ({"ai": 0.25, "mixed": 0.75}, "class_probabilities.human: expected a number in [0, 1], got nothing"),
        ({**CLASSES, "ai": "0.25"}, "class_probabilities.ai: expected a number in [0, 1], got text"),
        ({**CLASSES, "ai": None}, "class_probabilities.ai: expected a number in [0, 1], got nothing"),
        ({**CLASSES, "ai": 25}, "class_probabilities.ai: expected a number in [0, 1], got 25"),
        ({"ai": 0.9, "mixed": 0.9, "human": 0.0}, "class_probabilities: ai + mixed: 1.8 is more than 1"),
        ([0.1, 0.2, 0.7], "class_probabilities.ai: expected a number in [0, 1], got nothing"),
        ("ai", "class_probabilities.ai: expected a number in [0, 1], got nothing"),
    ],
)
def test_another_shape_is_an_error(answered, probabilities, said):
    answer = answered(probabilities)
    assert answer.type == "UnreadableAnswer"
    assert f"documents[0].{said}" in answer.message
    assert "keys seen: documents, scanId, version, documents." in answer.message


@pytest.mark.parametrize("documents", [[], None, {}, "text"])
def test_one_document_is_answered_about(answered, documents):
    assert "documents: expected one, got " in answered(changes={"documents": documents}).message


def test_two_documents_are_not_one(answered):
    assert "expected one, got 2" in answered(changes={"documents": [{}, {}]}).message


def test_the_version_that_is_asked_for_is_sent_and_has_to_answer(answered, vendors):
    answer = answered(options={"version": "2025-10-30-base"})
    assert vendors.asked[-1].document["version"] == "2025-10-30-base"
    assert answer.scorer["requestedModel"] == answer.scorer["model"] == "2025-10-30-base"


@pytest.mark.parametrize("echoed", ["2026-01-01-base", "2025-10-30-multilingual"])
def test_another_version_is_an_error_and_ends_the_paying(ask, texts, vendors, echoed):
    def act(documented):
        documented.body["version"] = echoed
        return documented

    vendors.play([act])
    answers = ask("gptzero", version="2025-10-30-base", concurrency=1).detect_batch(texts(3))
    assert [answer.type for answer in answers] == ["OtherModel", "NoFurtherCalls", "NoFurtherCalls"]
    assert answers[0].message == f"gptzero: version {echoed} answered, and 2025-10-30-base was asked for"
    assert len(vendors.asked) == 1


@pytest.mark.parametrize("echoed", [None, "", 3, "two words"])
def test_a_pinned_version_has_to_be_confirmed(answered, echoed):
    answer = answered(changes={"version": echoed}, options={"version": "2025-10-30-base"})
    assert answer.message.startswith("gptzero: version: expected a short name, got ")


def test_without_a_pin_the_version_is_recorded(answered):
    answer = answered(changes={"version": "2026-01-01-base"})
    assert answer.scorer["model"] == "2026-01-01-base"
    assert "requestedModel" not in answer.scorer


def test_what_is_more_in_an_answer_does_no_harm(answered):
    odd = {"subclass": {"ai": {"predicted_class": "pure_ai", "confidence_score": 0.5}}, "new": 1, "overall_burstiness": None}
    answer = answered(CLASSES, document=odd)
    assert isinstance(answer, Detection)
    assert answer.scorer["raw"]["subclass"] == odd["subclass"]
    assert not {"new", "overall_burstiness", "sentences", "paragraphs"} & answer.scorer["raw"].keys()


def test_only_what_is_asked_for_is_sent(ask, texts, vendors):
    (sample,) = texts(1)
    ask("gptzero").detect_batch([sample])
    assert vendors.asked[-1].document == {"document": sample.decoded.text}
    ask("gptzero", multilingual=False, version="v").detect_batch([sample])
    assert vendors.asked[-1].document == {"document": sample.decoded.text, "version": "v", "multilingual": False}


def test_whether_another_language_model_was_asked_for_is_part_of_the_rule(ask):
    """A series tells detectors apart by their rules: refused, asked for and left to the vendor are three of them."""
    rules = {ask("gptzero", multilingual=asked).describe().rule for asked in (None, True, False)}
    assert len(rules) == 3
