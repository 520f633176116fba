import random

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.manifests.golden_set import GoldenSample, HumanProvenance
from pytest_benchbench.validation import contamination_audit, contamination_search
from pytest_benchbench.validation.contamination import THRESHOLD, FileScanner
from pytest_benchbench.validation.contamination_audit import audit, corpus


def sample(name, text, split="holdout") -> GoldenSample:
    provenance = HumanProvenance(source="s", date="1851", license="CC0-1.0", termsChecked="2026-01-01")
    return GoldenSample(
        id=name, split=split, category="x", label="human", text=text, provenance=provenance, labelOwner="A",
        labelSource="provenance", borderline=False, reviewers=["B"],
    )  # fmt: skip


def prose(seed, count):
    rng = random.Random(seed)
    return " ".join("".join(rng.choices("abcdefghi\u00e9", k=rng.randint(3, 9))) for _ in range(count))


SAMPLES = [sample(f"s-{count}", prose(count, count)) for count in (1, 7, 8, 11, 12, 13, 24, 100)]


def test_all_that_can_be_planted_is_found():
    outcome = audit([*SAMPLES, sample("tune", prose(0, 50), "tune")])
    assert outcome.is_passed
    assert outcome.planted == outcome.caught == {"ids.yaml": 8, "texts.jsonl": 8, "texts.txt.gz": 8, "edited.txt": 4}
    assert (outcome.missed, outcome.false_alarms) == ((), 0)


@settings(max_examples=25)
@given(st.lists(st.text(max_size=80).filter(str.strip), min_size=1, max_size=5, unique=True), st.integers(0, 99))
def test_it_passes_whatever_the_texts_are(texts, seed):
    samples = [sample(f"id {number}\u00e9", f"{text}\n{prose(seed, 9)}") for number, text in enumerate(texts)]
    outcome = audit(samples)
    assert outcome.is_passed, outcome


@pytest.mark.parametrize("blind", ["id", "text", "shingles"])
def test_a_search_that_is_blind_to_one_kind_fails(blind, monkeypatch):
    class Blind(FileScanner):
        def finish(self):
            return [overlap for overlap in super().finish() if overlap.kind != blind]

    monkeypatch.setattr(contamination_search, "FileScanner", Blind)
    outcome = audit(SAMPLES)
    assert not outcome.is_passed
    assert {name for name, _ in outcome.missed} == {
        "id": {"ids.yaml"},
        "text": {"texts.jsonl", "texts.txt.gz"},
        "shingles": {"edited.txt"},
    }[blind]


def test_a_search_that_finds_what_is_not_there_fails(monkeypatch):
    monkeypatch.setattr(contamination_audit, "_filling", lambda number: f"{SAMPLES[-1].id} {number}")
    outcome = audit(SAMPLES)
    assert outcome.false_alarms
    assert not outcome.is_passed


def test_a_threshold_above_what_is_planted_misses_it_and_says_so():
    assert audit(SAMPLES, threshold=THRESHOLD).is_passed
    assert {name for name, _ in audit(SAMPLES, threshold=0.95).missed} == {"edited.txt"}


def test_nothing_planted_is_no_pass():
    assert not audit([sample("tune", prose(0, 50), "tune")]).is_passed


def test_the_planted_texts_are_other_bytes_than_the_samples():
    made = corpus(SAMPLES)
    for planted in made.values():
        assert SAMPLES[-1].text.encode() not in planted.data
