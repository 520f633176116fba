import hashlib
import math
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError

import pytest

from pytest_benchbench import AdapterUnavailable, Sample
from pytest_benchbench.adapters.lmscan import INSTALL, MAXIMUM_CHARACTERS, Lmscan
from pytest_benchbench.artifacts.text import decode_text


def shown(text) -> Sample:
    data = text.encode()
    return Sample("text", hashlib.sha256(data).hexdigest(), data, decode_text(data))


@pytest.fixture(scope="module")
def adapter():
    pytest.importorskip("lmscan")
    adapter = Lmscan()
    adapter.load()
    return adapter


def test_known_texts_are_scored_as_expected_by_these_very_files(adapter, human_text, ai_text):
    ai, human = adapter.detect(shown(ai_text)), adapter.detect(shown(human_text))
    assert ai.score == pytest.approx(82.07, abs=0.05)
    assert human.score == pytest.approx(23.80, abs=0.05)
    assert ai.scorer["raw"] == {"ai_probability": ai.score / 100, "verdict": "Likely AI", "confidence": "medium"}
    assert human.scorer["words"] == 145
    assert {file.sha256 for file in adapter.describe().weights} == Lmscan.verified_weights


def test_a_number_is_that_of_the_package_itself(adapter, human_text, ai_text):
    import lmscan

    for text in (human_text * 2, ai_text + human_text, ai_text.upper()):
        assert adapter.detect(shown(text)).score == 100 * lmscan.scan(text).ai_probability


def test_nothing_of_the_text_is_recorded(adapter, human_text):
    answer = adapter.detect(shown(human_text))
    assert not {word.strip(".,;").lower() for word in human_text.split() if len(word) > 6} & set(str(answer).lower().split())


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "too-small"),
        ("Hello world.", "too-small"),
        ("... !!! " * 60, "too-small"),
        ("слово " * 60, "unsupported"),
        ("a " * (MAXIMUM_CHARACTERS // 2 + 1), "unsupported"),
        ("word " * 60 + "\n \t" * 150, "unsupported"),
    ],
)
def test_a_text_that_it_cannot_judge_has_no_score(adapter, text, status):
    import lmscan

    assert lmscan.scan("").ai_probability > 0.5  # what is refused here would be called AI
    answer = adapter.detect(shown(text))
    assert (answer.status, answer.score) == (status, None)
    assert answer.reason


def test_it_reaches_nothing(adapter, human_text, monkeypatch):
    def refuse(*args, **more):
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    fresh = type(adapter)()
    fresh.load()
    assert fresh.detect(shown(human_text)) == adapter.detect(shown(human_text))


def test_threads_give_what_one_call_after_the_other_gives(adapter, human_text, ai_text):
    samples = [shown(human_text), shown(ai_text), shown(human_text + ai_text)]
    alone = [adapter.detect(sample) for sample in samples]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(adapter.detect, samples * 3)) == alone * 3


def test_a_missing_package_is_unavailable_with_the_command(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    with pytest.raises(AdapterUnavailable) as refusal:
        Lmscan().load()
    assert str(refusal.value) == f"lmscan is not installed (remedy: {INSTALL})"


def test_a_package_without_what_is_asked_is_unavailable(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: "9")
    monkeypatch.setitem(sys.modules, "lmscan", math)
    with pytest.raises(AdapterUnavailable, match="lmscan 9 cannot be used: "):
        Lmscan().load()
