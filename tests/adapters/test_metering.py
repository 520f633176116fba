"""A paid detector asks about each distinct text once, and stops where the budget ends."""

import hashlib
import signal
import threading

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, DetectionError, Sample
from pytest_benchbench.adapters.metering import (
    BudgetExceeded,
    MemoryJournal,
    MeteredAdapter,
    NotAsked,
    UnlimitedMeter,
    Usage,
)
from pytest_benchbench.adapters.secrets import Secret
from pytest_benchbench.evidence.response_journal import ResponseJournal


class VendorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    plan: str = "starter"
    model: str = "one"
    concurrency: int = 1
    timeout: float = 60.0
    api_key: Secret = ""


class Vendor(MeteredAdapter):
    """Scores a text by its length, and keeps what it was asked."""

    name = "vendor"
    vendor = "Vendor"
    api_version = "v1"
    media_types = frozenset({"text"})
    batch_size = 8
    Options = VendorOptions

    def __init__(self, options=None):
        super().__init__(options)
        self.asked = []
        self.together = threading.Barrier(2, timeout=30)

    @property
    def plan_tier(self):
        return self.options.plan

    @property
    def concurrency(self):
        return self.options.concurrency

    def usage(self, text):
        return Usage(len(text.split()))

    def rate_limit(self):
        return None

    def refusal(self, text):
        return Detection("too-small", reason="no words") if not text.strip() else None

    def ask(self, sample):
        text = sample.data.decode()
        self.meter.reserve(self.usage(text))
        self.asked.append(text)
        if text == "raise":
            raise RuntimeError("the vendor broke")
        if text == "locked":
            raise AdapterUnavailable("the key is refused")
        if text.startswith("meet"):
            self.together.wait()
        return {"length": len(text)}

    def detection(self, answer):
        return Detection("scored", score=answer["length"], scorer={"words": 1})

    def describe(self):
        return AdapterDescription("1", "length")


class Room(UnlimitedMeter):
    """Lets so many words pass."""

    def __init__(self, words):
        self.words = words

    def reserve(self, usage):
        if usage.words > self.words:
            raise BudgetExceeded(f"{usage.words} of {self.words} words left")
        self.words -= usage.words


def sample(text):
    data = text.encode()
    return Sample("text", hashlib.sha256(data).hexdigest(), data)


def ask(adapter, *texts):
    return adapter.detect_batch([sample(text) for text in texts])


def told(answers):
    return [
        answer.type if isinstance(answer, DetectionError) else (answer.score, (answer.scorer or {}).get("recorded", False))
        for answer in answers
    ]


def test_equal_texts_are_asked_about_once_and_every_row_is_answered():
    vendor = Vendor()
    assert told(ask(vendor, "a", "bb", "a")) == [(1.0, False), (2.0, False), (1.0, True)]
    assert told(ask(vendor, "bb", "ccc")) == [(2.0, True), (3.0, False)]
    assert vendor.asked == ["a", "bb", "ccc"]


@given(st.lists(st.lists(st.sampled_from(["a", "b b", "raise", "", "c"]), max_size=6), max_size=4), st.integers(1, 3))
def test_what_is_asked_is_each_distinct_answerable_text_once(batches, concurrency):
    vendor = Vendor(VendorOptions(concurrency=concurrency))
    for batch in batches:
        answers = ask(vendor, *batch)
        assert len(answers) == len(batch)
        for text, answer in zip(batch, answers, strict=True):
            if text == "raise":
                assert answer == DetectionError("RuntimeError", "the vendor broke")
            elif text:
                assert answer.score == len(text)
            else:
                assert answer.status == "too-small"
    answerable = {text for batch in batches for text in batch} - {"", "raise"}
    assert sorted(text for text in vendor.asked if text != "raise") == sorted(answerable)
    assert vendor.asked.count("raise") == sum("raise" in batch for batch in batches)  # nothing was paid for: asked again


def test_once_the_budget_ends_no_shorter_text_is_asked_about_in_the_batch():
    vendor = Vendor()
    vendor.meter = Room(3)
    answers = ask(vendor, "two words", "two more", "one", "two words")
    assert told(answers) == [(9.0, False), "BudgetExceeded", "BudgetExceeded", (9.0, True)]
    assert [answer for answer in answers if isinstance(answer, NotAsked)] == answers[1:3]
    assert answers[1].message == "2 of 1 words left"
    assert vendor.asked == ["two words"]


def test_a_refused_key_makes_the_row_unavailable_and_leaves_the_others():
    locked, other = ask(Vendor(), "locked", "a")
    assert (locked.status, locked.reason, other.status) == ("unavailable", "the key is refused", "scored")


def test_several_calls_are_under_way_at_a_time():
    vendor = Vendor(VendorOptions(concurrency=2))
    assert told(ask(vendor, "meet 1", "meet 2")) == [(6.0, False), (6.0, False)]


@pytest.mark.parametrize(
    ("changed", "is_same"),
    [
        ({"concurrency": 4}, True),
        ({"timeout": 1.0}, True),
        ({"api_key": "sesame"}, True),
        ({"plan": "pro"}, False),
        ({"model": "two"}, False),
    ],
)
def test_the_key_of_an_answer_is_about_what_may_change_it(changed, is_same):
    key = Vendor().response_key(sample("a"))
    assert len(key) == 64
    assert (Vendor(VendorOptions(**changed)).response_key(sample("a")) == key) is is_same
    assert Vendor().response_key(sample("b")) != key


@pytest.mark.parametrize(("attribute", "value"), [("name", "other"), ("vendor", "Other"), ("api_version", "v2")])
def test_another_vendor_or_version_has_other_answers(attribute, value):
    other = type("Other", (Vendor,), {attribute: value})
    assert other().response_key(sample("a")) != Vendor().response_key(sample("a"))


def test_an_answer_that_cannot_be_kept_is_no_answer():
    class Full(MemoryJournal):
        def record(self, key, answer):
            raise OSError("the disk is full")

    vendor = Vendor()
    vendor.journal = Full()
    assert ask(vendor, "a") == [DetectionError("OSError", "the disk is full")]


def test_the_answer_to_a_call_that_was_under_way_when_the_run_was_interrupted_is_kept():
    class Interrupted(Vendor):
        def ask(self, sample):
            answer = super().ask(sample)
            if not self.interrupted:
                self.interrupted = True
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                self.answering.wait(30)
            return answer

    vendor = Interrupted()
    vendor.interrupted, vendor.answering = False, threading.Event()
    with pytest.raises(KeyboardInterrupt):
        ask(vendor, "a")
    vendor.answering.set()
    assert told(ask(vendor, "a")) == [(1.0, True)]
    assert vendor.asked == ["a"]


def test_two_processes_that_want_the_same_answer_at_a_time_pay_for_one(tmp_path):
    looked = threading.Event()

    class Looking(ResponseJournal):
        def find(self, key):
            found = super().find(key)
            looked.set()
            return found

    class Waiting(Vendor):
        def ask(self, sample):
            second.start()
            assert looked.wait(30)  # the other one has seen that there is no answer yet
            return super().ask(sample)

    path = tmp_path / "responses" / "vendor.jsonl"
    first, other, answers = Waiting(), Vendor(), []
    first.journal, other.journal = ResponseJournal(path, lambda value: value), Looking(path, lambda value: value)
    second = threading.Thread(target=lambda: answers.extend(told(ask(other, "a"))))
    assert told(ask(first, "a")) == [(1.0, False)]
    second.join()
    assert answers == [(1.0, True)]
    assert (first.asked, other.asked) == (["a"], [])
    assert [file.name for file in path.parent.iterdir()] == ["vendor.jsonl"]
