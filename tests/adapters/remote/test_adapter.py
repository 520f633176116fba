"""What holds for every vendor: documented answers are scored, whatever else comes is an error that says why."""

import json

import pytest

from pytest_benchbench import AdapterUnavailable, Detection, DetectionError
from pytest_benchbench.adapters.metering import BudgetExceeded, NotAsked, Usage

VENDORS = ["gptzero", "originality", "copyleaks"]

TEXT_PIECES = ("Seven quiet herons", "along the river")


class Purse:
    """A meter that has room for some calls, and counts."""

    def __init__(self, calls):
        self.room = calls
        self.reserved = []
        self.refunded = []
        self.tries = 0
        self.beyond = []

    def reserve(self, usage):
        if len(self.reserved) - len(self.refunded) >= self.room:
            raise BudgetExceeded("no room")
        self.reserved.append(usage)

    def refund(self, usage):
        self.refunded.append(usage)

    def retried(self):
        self.tries += 1

    def billed_beyond(self, count):
        self.beyond.append(count)


@pytest.fixture
def error_of(ask, texts, vendors):
    """Let a vendor play some acts for one question, and give the error that this makes."""

    def play(vendor, *acts, **options):
        vendors.play(acts)
        (answer,) = ask(vendor, **options).detect_batch(texts(1))
        assert isinstance(answer, DetectionError), answer
        said = f"{answer.type}: {answer.message}"
        assert "\n" not in said
        assert len(said) < 500
        assert not any(piece in said for piece in TEXT_PIECES)
        return said

    return play


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_documented_answer_is_scored_from_0_to_100_and_keeps_no_text(ask, texts, vendors, vendor):
    (answer,) = ask(vendor, plan="starter").detect_batch(texts(1))
    assert isinstance(answer, Detection), answer
    assert answer.status == "scored"
    assert 0.0 <= answer.score <= 100.0
    scorer = answer.scorer
    assert (scorer["vendor"], scorer["plan"], scorer["requests"], scorer["waitedMs"]) == (vendor, "starter", 1, 0.0)
    assert {"apiVersion", "model", "raw", "words", "latencyMs", "scanId"} <= scorer.keys()
    assert not any(piece in json.dumps(scorer) for piece in TEXT_PIECES)
    assert vendors.asked[-1].headers["user-agent"].startswith("pytest-benchbench/")


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_batch_has_one_answer_for_each_sample_in_their_order(ask, texts, vendors, vendor):
    samples = texts(7)
    answers = ask(vendor, concurrency=3).detect_batch(samples)
    alone = [ask(vendor).detect(sample).score for sample in samples]
    assert [answer.score for answer in answers] == alone


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_answer_is_paid_once(ask, texts, vendors, vendor):
    adapter = ask(vendor)
    (first,) = adapter.detect_batch(texts(1))
    asked = len(vendors.asked)
    again, equal = adapter.detect_batch([*texts(1), *texts(1)])
    assert len(vendors.asked) == asked
    assert (again.score, again.scorer["recorded"], equal.score) == (first.score, True, first.score)
    assert "recorded" not in first.scorer


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (302, "302 Found: no: redirects are not followed"),
        (400, "400 Bad Request: no"),
        (401, "401 Unauthorized: no: the key was not accepted"),
        (402, "402 Payment Required: no: the account has no credits"),
        (404, "404 Not Found: no: there is nothing at this address"),
        (451, "451 Unavailable For Legal Reasons: no"),
    ],
)
def test_a_refusal_is_an_error_that_is_not_billed_and_not_tried_again(
    ask, texts, vendors, player, clock, vendor, status, said
):
    vendors.play([player.refusal(status, "no", Location="/elsewhere")] * 2)
    adapter = ask(vendor)
    adapter.meter = purse = Purse(9)
    (answer,) = adapter.detect_batch(texts(1))
    assert answer.type == "VendorRefusal"
    assert answer.message.startswith(f"{vendor} answered {status}")
    assert said in answer.message
    assert (purse.reserved, purse.tries, clock.waits) == (purse.refunded, 0, [])


def test_what_guards_a_vendor_answers_with_a_page(error_of, player):
    said = error_of("gptzero", player.guard_refusal())
    assert said == (
        "VendorRefusal: gptzero answered 403 Forbidden: (text/html): the key may not do this, or the call was stopped "
        "before it reached the vendor"
    )


@pytest.mark.parametrize("status", [500, 502, 504, 524, 599])
def test_a_vendor_that_broke_may_have_billed_the_call_and_is_not_paid_again(ask, texts, vendors, player, clock, status):
    vendors.play([player.refusal(status, "no")] * 2)
    adapter = ask("gptzero")
    adapter.meter = purse = Purse(9)
    (answer,) = adapter.detect_batch(texts(1))
    assert answer.type == "VendorRefusal"
    assert answer.message.startswith(f"gptzero answered {status}")
    assert answer.message.endswith("no: the question was sent and may have been billed")
    assert (len(purse.reserved), purse.refunded, purse.tries, clock.waits) == (1, [], 0, [])


@pytest.mark.parametrize("status", [502, 504])
def test_a_gateway_that_lost_an_answer_is_asked_again_where_the_vendor_knows_the_question(
    ask, texts, vendors, player, clock, status
):
    vendors.play([player.refusal(status, "no"), player.refusal(429, "later"), player.refusal(400, "no")])
    adapter = ask("copyleaks")
    adapter.meter = purse = Purse(9)
    (answer,) = adapter.detect_batch(texts(1))
    assert answer.message.startswith("copyleaks answered 400")
    assert len({asked.path for asked in vendors.asked if "login" not in asked.path}) == 1
    assert (len(purse.reserved), purse.refunded, clock.waits) == (1, [], [1.0, 2.0])  # the first one may be billed


@pytest.mark.parametrize("status", [429, 503])
def test_a_vendor_that_cannot_now_is_asked_again_ever_later(ask, texts, vendors, player, clock, status):
    vendors.play([player.refusal(status, "later")] * 3)
    adapter = ask("gptzero")
    adapter.meter = purse = Purse(9)
    (answer,) = adapter.detect_batch(texts(1))
    assert answer.status == "scored"
    assert clock.waits == [1.0, 2.0, 4.0]
    assert (answer.scorer["requests"], answer.scorer["waitedMs"], answer.scorer["latencyMs"]) == (4, 7000.0, 0.0)
    assert (len(purse.reserved), purse.refunded, purse.tries) == (1, [], 3)


@pytest.mark.parametrize("status", [429, 503])
def test_a_vendor_that_cannot_now_and_never_could_bills_nothing(ask, texts, vendors, player, status):
    vendors.play([player.refusal(status, "later"), player.refusal(429, "slow down")])
    adapter = ask("gptzero", retries=1)
    adapter.meter = purse = Purse(9)
    (answer,) = adapter.detect_batch(texts(1))
    assert answer.type == "VendorRefusal"
    assert (len(purse.reserved), len(purse.refunded)) == (1, 1)


def test_it_is_not_asked_for_ever(error_of, player, clock):
    said = error_of("gptzero", *[player.refusal(503, "maintenance")] * 3, retries=2)
    assert said == "VendorRefusal: gptzero answered 503 Service Unavailable: maintenance (call 3 of this question)"
    assert clock.waits == [1.0, 2.0]


def test_the_wait_that_a_vendor_asks_for_is_kept(ask, texts, vendors, player, clock):
    date = {"Date": "Tue, 01 Dec 2026 10:00:00 GMT", "Retry-After": "Tue, 01 Dec 2026 10:01:30 GMT"}
    vendors.play([player.refusal(429, "slow down", **{"Retry-After": "7"}), player.refusal(503, "maintenance", **date)])
    (answer,) = ask("gptzero").detect_batch(texts(1))
    assert answer.status == "scored"
    assert clock.waits == [7.0 + 1.0, 90.0 + 1.0]  # a second at most is left to chance


def test_a_wait_that_is_too_long_is_not_waited(error_of, player, clock):
    said = error_of("gptzero", player.refusal(503, "maintenance", **{"Retry-After": "3600"}))
    assert said.endswith("maintenance: it asks to wait 3600 s, longer than is waited")
    assert clock.waits == []


def test_a_budget_keeps_the_answers_that_it_paid_for(ask, texts, vendors):
    adapter = ask("gptzero", concurrency=1)
    adapter.meter = Purse(2)
    answers = adapter.detect_batch(texts(4))
    assert [type(answer) for answer in answers] == [Detection, Detection, NotAsked, NotAsked]
    assert len(vendors.asked) == 2
    adapter.meter = Purse(9)
    answers = adapter.detect_batch(texts(4))
    assert [answer.scorer.get("recorded", False) for answer in answers] == [True, True, False, False]
    assert len(vendors.asked) == 4


def test_one_failing_sample_leaves_the_others_alone(ask, texts, vendors, player):
    vendors.play([player.refusal(400, "this text is not for us")])
    answers = ask("gptzero", concurrency=1).detect_batch(texts(3))
    assert [type(answer) for answer in answers] == [DetectionError, Detection, Detection]


@pytest.mark.parametrize("vendor", VENDORS)
def test_without_a_key_it_is_unavailable_and_the_variable_is_named(ask, monkeypatch, vendor):
    adapter = ask(vendor)
    for name in adapter.key_names:
        with monkeypatch.context() as patched:
            patched.setenv(name, " ")
            assert adapter.missing_key() == name
            with pytest.raises(AdapterUnavailable, match=f"{name} is not set"):
                ask(vendor)
    assert adapter.missing_key() is None


@pytest.mark.parametrize("value", ["two\nlines-of-it", "schlüssel-1234", "short"])
def test_what_cannot_be_a_key_is_not_sent_and_not_shown(ask, monkeypatch, value):
    monkeypatch.setenv("GPTZERO_API_KEY", value)
    with pytest.raises(AdapterUnavailable, match="GPTZERO_API_KEY holds") as caught:
        ask("gptzero")
    assert value not in str(caught.value)


@pytest.mark.parametrize("vendor", VENDORS)
def test_usage_and_limits_are_known_without_key_and_network(vendor, ask, monkeypatch, texts):
    adapter = type(ask(vendor))(ask(vendor).options)
    monkeypatch.delenv(adapter.key_names[0])
    usage = adapter.usage(" ".join(["word"] * 301))
    assert usage == Usage(301, 1, {"gptzero": None, "originality": 4, "copyleaks": 2}[vendor])
    assert (adapter.rate_limit().calls, adapter.rate_limit().seconds) == {
        "gptzero": (30_000, 3600.0),
        "originality": (500, 60.0),
        "copyleaks": (10, 1.0),
    }[vendor]


@pytest.mark.parametrize(
    ("vendor", "text", "status", "reason"),
    [
        ("gptzero", " \n", "too-small", "gptzero: 0 words, and 1 are needed"),
        ("gptzero", "a" * 50_001, "unsupported", "gptzero: 50001 characters, and 50000 are the most"),
        ("originality", "word " * 49, "too-small", "originality: 49 words, and 50 are needed"),
        ("copyleaks", "a" * 254, "too-small", "copyleaks: 254 characters, and 255 are needed"),
        ("copyleaks", "a" * 100_001, "unsupported", "copyleaks: 100001 characters, and 100000 are the most"),
    ],
)
def test_a_length_that_is_not_taken_is_neither_sent_nor_paid(ask, sample_of, vendors, vendor, text, status, reason):
    adapter = ask(vendor)
    adapter.meter = purse = Purse(0)
    (answer,) = adapter.detect_batch([sample_of(text)])
    assert (answer.status, answer.score, answer.reason) == (status, None, reason)
    assert (vendors.asked, purse.reserved) == ([], [])


def test_lengths_at_the_limits_are_asked_about(ask, sample_of):
    for vendor, text in (("gptzero", "a"), ("originality", "word " * 50), ("copyleaks", "a" * 255)):
        (answer,) = ask(vendor).detect_batch([sample_of(text)])
        assert answer.status == "scored", answer


def test_nothing_but_text_is_asked_about(ask):
    from pytest_benchbench import Sample

    (answer,) = ask("gptzero").detect_batch([Sample("image", "0" * 64, b"GIF89a")])
    assert (answer.type, answer.message) == ("RemoteError", "gptzero is asked about text, not about image")


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_adapter_says_who_answers(ask, vendor):
    description = ask(vendor, plan="pro").describe()
    assert description.version.startswith(f"{vendor} API v")
    assert "plan pro" in description.version
    assert description.rule.endswith("; asked at another address than the vendor's")
    assert "AI from 50 on" in description.rule
