import hashlib
import math
import multiprocessing.pool
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench import AdapterUnavailable, Sample
from pytest_benchbench.adapters.zippy import INSTALL, MAXIMUM_CHARACTERS, Zippy, ZippyOptions, canonical_score, chunked
from pytest_benchbench.artifacts.text import decode_text

ENGINES = ["lzma", "zlib", "brotli"]


def shown(text) -> Sample:
    data = text.encode()
    return Sample("text", hashlib.sha256(data).hexdigest(), data, decode_text(data))


def loaded(**options) -> Zippy:
    pytest.importorskip("zippy.zippy")
    adapter = Zippy(ZippyOptions(**options))
    adapter.load()
    return adapter


@pytest.fixture(scope="module")
def adapter():
    return loaded()


@pytest.fixture(scope="module")
def prelude(adapter):
    """What the package takes for AI text."""
    return sys.modules["zippy.zippy"].PRELUDE_STR


def test_known_texts_are_scored_as_expected_by_these_very_files(adapter, prelude, human_text):
    ai, human = adapter.detect(shown(prelude[:3000])), adapter.detect(shown(human_text))
    assert (ai.status, ai.scorer["raw"]["label"], human.scorer["raw"]["label"]) == ("scored", "AI", "Human")
    assert ai.score > 80
    assert human.score < 40
    assert human.scorer["raw"]["score"] == pytest.approx(0.04717460612766455, rel=0.2)  # of one liblzma, rounded wide
    assert {file.sha256 for file in adapter.describe().weights} == Zippy.verified_weights


@pytest.mark.parametrize("engine", ENGINES)
def test_a_number_is_that_of_the_package_itself(engine, prelude, human_text, ai_text, monkeypatch):
    adapter, package = loaded(engine=engine), sys.modules["zippy.zippy"]
    reference = package.Zippy(package.CompressionEngine[engine.upper()])
    monkeypatch.setattr(package, "Pool", multiprocessing.pool.ThreadPool)
    for text in (human_text, ai_text, ai_text * 3, (human_text + ai_text) * 4, human_text.replace(".", "\n\n é")):
        label, score = reference.run_on_text_chunked(text)
        answer = adapter.detect(shown(text))
        assert answer.scorer["raw"]["label"] == label
        assert answer.scorer["raw"]["score"] == pytest.approx(score, rel=1e-12)
        assert (answer.score >= 50) == (label == "AI")


def test_a_text_without_spaces_is_not_counted_twice(adapter):
    package = sys.modules["zippy.zippy"]
    text = f"{'word ' * 60}{'abc' * 600}"
    assert "".join(chunked(text)).replace(" ", "") == text.replace(" ", "")
    cleaned = package.clean_text("x" * 1600)
    twice = package.Zippy().run_on_text_chunked("x" * 1600)
    once = math.fsum(adapter.opened.detector.score_text(part)[1] * len(part) / 1600 for part in chunked(cleaned))
    assert twice[1] != pytest.approx(once, rel=0.1)


@given(st.text("ab \n", max_size=8000))
def test_pieces_make_up_the_text_and_none_is_longer_than_the_packages(text):
    pieces = list(chunked(text))
    assert max(len(piece) for piece in pieces) <= 1500
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert len(text) - sum(len(piece) for piece in pieces) <= len(pieces) - 1


@given(*[st.floats(allow_nan=False, allow_infinity=False)] * 2)
def test_the_score_keeps_the_order_of_the_packages_numbers_and_its_border_is_50(one, other):
    first, second = canonical_score(one), canonical_score(other)
    assert 0 <= first <= 100
    assert (first >= 50) == (one > 0)
    if one < other:
        assert first <= second


@pytest.mark.parametrize("signed", [0.0, -0.0, -5e-324])
def test_the_package_says_human_at_nothing_and_so_does_the_score(signed):
    assert canonical_score(signed) == math.nextafter(50, 0)
    assert canonical_score(5e-324) == 50


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("", "too-small", "50 words or more are needed, it has 0"),
        ("one two. " * 24, "too-small", "50 words or more are needed, it has 48"),
        ("... !!! -- " * 50, "too-small", "50 words or more are needed, it has 0"),
        ("слово " * 60, "unsupported", "0 of 300 letters are ASCII, and the detector sees no others"),
        ("a " * (MAXIMUM_CHARACTERS // 2 + 1), "unsupported", "up to 200,000 characters are looked at, it has 200,002"),
        ("word " * 60 + "\n" * 400, "unsupported", "401 characters of white space in one run, more than 300"),
    ],
)
def test_a_text_that_it_cannot_judge_has_no_score(adapter, text, status, reason):
    answer = adapter.detect(shown(text))
    assert (answer.status, answer.score, answer.reason) == (status, None, reason)


def test_fifty_words_are_enough_and_the_user_can_ask_for_fewer(adapter):
    assert adapter.detect(shown("one two. " * 25)).status == "scored"
    assert loaded(minimum_words=1).detect(shown("Hello world.")).status == "scored"
    assert "fewer than 1 word are too-small" in loaded(minimum_words=1).describe().rule


def test_it_reaches_nothing(adapter, human_text, monkeypatch):
    def refuse(*args, **more):
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    fresh = type(adapter)()
    fresh.load()
    assert fresh.detect(shown(human_text)) == adapter.detect(shown(human_text))


def test_threads_give_what_one_call_after_the_other_gives(adapter, human_text, ai_text):
    samples = [shown(text * times) for text in (human_text, ai_text) for times in (1, 2, 3)]
    alone = [adapter.detect(sample) for sample in samples]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(adapter.detect, samples * 2)) == alone * 2


def test_a_missing_package_is_unavailable_with_the_command(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", _missing)
    with pytest.raises(AdapterUnavailable) as refusal:
        Zippy().load()
    assert str(refusal.value) == f"thinkst-zippy is not installed (remedy: {INSTALL})"
    assert INSTALL == "pip install 'pytest-benchbench[zippy]'"


def test_another_package_of_that_name_is_unavailable(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.1.3")
    monkeypatch.setitem(sys.modules, "zippy.zippy", math)
    with pytest.raises(AdapterUnavailable, match=r"thinkst-zippy 0\.1\.3 cannot be used: "):
        Zippy().load()


def _missing(name):
    from importlib.metadata import PackageNotFoundError

    raise PackageNotFoundError(name)
