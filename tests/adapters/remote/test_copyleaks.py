"""Copyleaks: a fraction and no percentage, no score of another product, few logins, and one scan id for one question."""

import pytest

from pytest_benchbench import DetectionError
from pytest_benchbench.adapters.metering import MemoryJournal
from pytest_benchbench.adapters.remote.copyleaks import TOKEN_SECONDS

LOGIN = "/v3/account/login/api"
SOON = 0.4


@pytest.fixture
def answered(ask, texts, vendors):
    """Let Copyleaks give a documented answer with members changed."""

    def play(options=(), **changes):
        def act(documented):
            documented.body.update(changes)
            documented.body = {name: value for name, value in documented.body.items() if value is not None}
            return documented

        vendors.play([act])
        (answer,) = ask("copyleaks", **dict(options)).detect_batch(texts(1))
        return answer

    return play


def scans(vendors):
    return [asked.path.split("/")[3] for asked in vendors.asked if asked.path != LOGIN]


def logins(vendors):
    return [asked.path for asked in vendors.asked].count(LOGIN)


def test_the_summary_is_a_fraction(answered):
    answer = answered(summary={"human": 0.125, "ai": 0.875})
    assert answer.score == 87.5  # taken for a percentage it would be 0.875
    assert answer.scorer["raw"]["summary"] == {"human": 0.125, "ai": 0.875}


def test_a_percentage_is_no_fraction(answered):
    answer = answered(summary={"human": 13, "ai": 87})
    assert answer.type == "UnreadableAnswer"
    assert "summary.ai: expected a number in [0, 1], got 87" in answer.message


def test_shares_need_not_add_up(answered):
    assert answered(summary={"human": 0.5, "ai": 0.25}).score == 25.0


def test_the_aggregated_score_of_the_plagiarism_product_is_not_read(answered):
    plagiarism = {"score": {"identicalWords": 40, "aggregatedScore": 72.0}}
    answer = answered(summary=None, results=plagiarism)
    assert answer.type == "UnreadableAnswer"
    assert "its aggregatedScore says nothing about AI; keys seen: " in answer.message
    assert answered(summary={"human": 0.75, "ai": 0.25}, results=plagiarism).score == 25.0  # preferred, it would be 72


@pytest.mark.parametrize(
    "summary", [None, {}, {"ai": 0.5}, {"ai": "0.5", "human": 0.5}, {"ai": None, "human": 1}, [0.5, 0.5]]
)
def test_another_summary_is_an_error(answered, summary):
    assert "summary." in answered(summary=summary).message


def test_sections_and_words_are_kept_as_numbers(answered):
    sections = [{"classification": 2, "probability": 0.9, "matches": [{"text": {"chars": {"starts": [0]}}}]}] * 70
    raw = answered(results=sections).scorer["raw"]
    assert raw["sections"] == 70
    assert raw["results"] == [{"classification": 2, "probability": 0.9}] * 64
    assert raw["actualCredits"] == 1


def test_the_model_that_answered_is_recorded(answered):
    answer = answered(modelVersion="v7.1")
    assert answer.scorer["model"] == "v7.1"
    assert "requestedModel" not in answer.scorer


def test_a_token_is_taken_once_for_all_threads_and_is_not_shown(ask, texts, vendors, keys):
    adapter = ask("copyleaks", concurrency=4)
    adapter.detect_batch(texts(8))
    assert logins(vendors) == 1
    assert vendors.asked[0].document == {"email": keys["COPYLEAKS_EMAIL"], "key": keys["COPYLEAKS_API_KEY"]}
    assert vendors.asked[1].headers["authorization"] == f"Bearer {next(iter(vendors.tokens))}"


def test_a_token_is_renewed_before_it_ends(ask, texts, vendors, clock):
    adapter = ask("copyleaks")
    adapter.detect_batch(texts(1))
    clock.now += TOKEN_SECONDS - 301
    adapter.detect_batch(texts(2))
    assert logins(vendors) == 1
    clock.now += 2
    adapter.detect_batch(texts(3))
    assert logins(vendors) == 2


def test_a_token_that_is_refused_is_renewed_once_for_all_threads(ask, texts, vendors):
    adapter = ask("copyleaks", concurrency=4)
    adapter.detect_batch(texts(1))
    vendors.tokens.clear()
    answers = adapter.detect_batch(texts(9)[1:])
    assert [answer.status for answer in answers] == ["scored"] * 8
    assert logins(vendors) == 2


def test_a_token_that_is_refused_twice_is_an_error(ask, texts, vendors, player):
    vendors.play([player.refusal(401, "no")] * 2)
    (answer,) = ask("copyleaks").detect_batch(texts(1))
    assert answer.type == "VendorRefusal"
    assert (logins(vendors), len(scans(vendors))) == (2, 2)


def test_a_login_that_is_refused_is_not_tried_for_each_sample(ask, texts, vendors, monkeypatch, player):
    monkeypatch.setattr(vendors, "_log_in", lambda asked: player.refusal(401, f"wrong key {asked.document['key']}"))
    answers = ask("copyleaks", concurrency=1).detect_batch(texts(3))
    assert {answer.type for answer in answers} == {"LoginFailed"}
    said = "copyleaks login: copyleaks answered 401 Unauthorized: wrong key ***: the key was not accepted"
    assert {answer.message for answer in answers} == {said}
    assert logins(vendors) == 1


@pytest.mark.parametrize("token", [None, "", 7, "short", "with space in it", ["played-token"]])
def test_a_login_without_a_token_is_an_error(ask, texts, vendors, monkeypatch, player, token):
    monkeypatch.setattr(vendors, "_log_in", lambda asked: player.Act(body={"access_token": token}))
    (answer,) = ask("copyleaks").detect_batch(texts(1))
    assert (answer.type, answer.message) == ("LoginFailed", "copyleaks login: the answer has no access_token")


def test_there_are_no_more_logins_than_the_vendor_takes(ask, texts, vendors, clock):
    adapters = [ask("copyleaks", retries=0) for _ in range(13)]
    answers = [adapter.detect_batch(texts(1))[0] for adapter in adapters]
    assert [getattr(answer, "type", "scored") for answer in answers] == ["scored"] * 12 + ["LoginFailed"]
    assert "there may be 12 logins in 900 s, and the next one in 8" in answers[-1].message
    assert logins(vendors) == 12


def test_the_id_of_a_scan_is_one_that_the_vendor_takes_and_says_back(ask, texts, vendors):
    answers = ask("copyleaks").detect_batch(texts(3))
    assert sorted(scans(vendors)) == sorted(answer.scorer["scanId"] for answer in answers)
    assert len(set(scans(vendors))) == 3
    assert all(3 <= len(scan) <= 36 and scan.isascii() and scan.isalnum() for scan in scans(vendors))


def test_after_a_lost_answer_the_same_question_has_the_same_id(ask, texts, vendors, player):
    vendors.play([player.Act(manner="cut", body={"summary": {}})])
    (answer,) = ask("copyleaks", retries=1).detect_batch(texts(1))
    first, second, third = scans(vendors)
    assert first == second  # which the vendor had taken, so that it refuses the id, and the next question has another
    assert third not in (first, second)
    assert (answer.status, answer.scorer["requests"]) == ("scored", 3)


def test_a_vendor_that_knows_every_id_is_not_asked_for_ever(ask, texts, vendors, player):
    vendors.play([player.refusal(409, "known")] * 9)
    (answer,) = ask("copyleaks").detect_batch(texts(1))
    assert isinstance(answer, DetectionError)
    assert "409 Conflict: known" in answer.message
    assert len(scans(vendors)) == 2


def test_a_resumed_run_has_the_same_ids_and_another_run_has_not(ask, texts, vendors):
    class Lost(MemoryJournal):
        """A run that ended before an answer was kept."""

        def record(self, key, answer):
            if "score" not in answer:
                super().record(key, answer)

    run = Lost()
    for journal in (run, run, MemoryJournal()):
        adapter = ask("copyleaks")
        adapter.journal = journal
        adapter.detect_batch(texts(1))
        vendors.scans.clear()
    first, resumed, other = scans(vendors)
    assert first == resumed
    assert other != first


def test_only_what_is_asked_for_is_sent(ask, texts, vendors):
    (sample,) = texts(1)
    ask("copyleaks").detect_batch([sample])
    assert vendors.asked[-1].document == {"text": sample.decoded.text, "sandbox": False}
    ask("copyleaks", language="en", sensitivity=3).detect_batch([sample])
    assert vendors.asked[-1].document == {"text": sample.decoded.text, "sandbox": False, "language": "en", "sensitivity": 3}


def test_mock_results_are_named_so_and_free(ask, texts, vendors):
    adapter = ask("copyleaks", sandbox=True)
    (answer,) = adapter.detect_batch(texts(1))
    assert vendors.asked[-1].document["sandbox"] is True
    assert answer.scorer["sandbox"] is True
    assert "SANDBOX: mock results, no claim" in adapter.describe().rule
    assert adapter.usage("word " * 300).credits == 0
    assert ask("copyleaks").response_key(texts(1)[0]) != adapter.response_key(texts(1)[0])
