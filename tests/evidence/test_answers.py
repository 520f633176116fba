"""Whatever a detector answers becomes a plain statement within bounds, or an error."""

import json

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.base import Detection
from pytest_benchbench.evidence import answers
from pytest_benchbench.evidence.answers import PROBABILITY, check_score, plain_answer
from pytest_benchbench.manifests.strict_json import MAX_DEPTH

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def nested(levels, make=lambda inner: {"a": inner}):
    value = 0
    for _ in range(levels):
        value = make(value)
    return value


@given(scorer=st.none() | st.dictionaries(st.text(), JSON), label=st.none() | st.text(), reason=st.none() | st.text())
def test_a_plain_answer_reads_back_the_same_or_is_refused(scorer, label, reason):
    try:
        plain = plain_answer(Detection("detected", scorer=scorer, label=label, reason=reason))
    except ValueError:
        return  # half of a surrogate pair, a number beyond what JSON's readers take
    assert msgspec.json.decode(msgspec.json.encode(plain), type=Detection) == plain
    assert plain.scorer == scorer
    assert all(text is None or text.isprintable() for text in (plain.label, plain.reason))
    assert plain_answer(plain) == plain


@pytest.mark.parametrize("field", ["temporal", "scorer"])
@pytest.mark.parametrize("make", [lambda inner: {"a": inner}, lambda inner: {"a": [inner]}, lambda inner: {"a": (inner,)}])
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 900, 100_000])
def test_an_answer_nested_too_deeply_is_refused(field, make, levels):
    with pytest.raises(ValueError, match=f"{field} is nested deeper than {MAX_DEPTH} levels"):
        plain_answer(Detection("detected", **{field: nested(levels, make)}))


def test_the_deepest_answer_is_kept():
    deepest = nested(MAX_DEPTH)
    assert plain_answer(Detection("detected", scorer=deepest)).scorer == deepest


def test_an_answer_that_holds_itself_is_refused():
    endless = {}
    endless["a"] = endless
    with pytest.raises(ValueError, match="Circular reference"):
        plain_answer(Detection("detected", scorer=endless))


@pytest.mark.parametrize("value", [{"a": "x" * 200}, {"x" * 200: 0}, {"a": [1.5] * 100}])
def test_a_giant_answer_is_refused(monkeypatch, value):
    monkeypatch.setattr(answers, "MAX_SERIES_BYTES", 100)
    for field in ("temporal", "scorer"):
        with pytest.raises(ValueError, match=f"{field} has {len(json.dumps(value))} bytes as JSON, more than 100"):
            plain_answer(Detection("detected", **{field: value}))


class Booby(Detection):
    def __getattribute__(self, name):
        if name == "scorer":
            raise LookupError("looked at")
        return super().__getattribute__(name)


def test_whatever_a_foreign_object_raises_comes_out_of_here_only():
    with pytest.raises(LookupError):
        plain_answer(Booby("detected"))


@pytest.mark.parametrize("score", [0, 0.0, -0.0, 0.5, 1])
def test_a_probability(score):
    check_score(Detection("scored", score=score), PROBABILITY)


@pytest.mark.parametrize("score", [-1e-300, 1 + 1e-15, 2.5])
def test_a_score_that_is_no_probability(score):
    with pytest.raises(ValueError, match="score lies outside"):
        check_score(Detection("detected", score=score), PROBABILITY)


@pytest.mark.parametrize("status", ["detected", "not_detected", "too-small", "unavailable"])
def test_answers_that_need_no_score(status):
    check_score(Detection(status), PROBABILITY)


def test_a_scored_answer_needs_a_score():
    with pytest.raises(ValueError, match="has no score"):
        check_score(Detection("scored"), PROBABILITY)
