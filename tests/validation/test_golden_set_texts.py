import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.validation import golden_set_texts
from pytest_benchbench.validation.golden_set_texts import text_facts
from pytest_benchbench.validation.near_texts import NearTexts, near_texts


def rules(found):
    return [(rule, ids) for rule, ids, _ in found]


@given(
    place=st.integers(0, 19),
    retyped=st.sampled_from([str.upper, str.title, lambda text: text.replace(" ", "\n"), lambda text: f"«{text}!»"]),
)
@settings(max_examples=30, deadline=None)
def test_a_text_planted_in_the_other_split_is_always_found(golden_sets, place, retyped):
    samples = [golden_sets.sample(f"t{number:02}") for number in range(20)]
    planted = golden_sets.sample("planted", split="holdout", text=retyped(samples[place]["text"]))
    found = golden_sets.found(*samples, planted)
    assert found == [("duplicates", ["planted", f"t{place:02}"], "the same text stands in tune and in holdout")]


@given(place=st.integers(0, 19), words=st.sets(st.integers(0, 59), max_size=4))
@settings(max_examples=30, deadline=None)
def test_a_text_planted_with_a_few_other_words_is_always_found(golden_sets, place, words):
    samples = [golden_sets.sample(f"t{number:02}") for number in range(20)]
    text = ["other" if number in words else word for number, word in enumerate(samples[place]["text"].split())]
    found = golden_sets.found(*samples, golden_sets.sample("planted", split="holdout", text=" ".join(text)))
    assert rules(found) == [("near-duplicates" if words else "duplicates", ["planted", f"t{place:02}"])]


def test_a_text_that_counts_twice_in_a_split_is_a_warning(golden_sets):
    twin = golden_sets.sample("twin", text=golden_sets.text("tune-human"))
    examination = golden_sets.examine(twin)
    assert examination.is_valid
    assert [one.rule for one in examination.findings()] == ["duplicates-within-split"]


def test_a_text_with_two_labels_is_an_error_wherever_it_stands(golden_sets):
    twin = golden_sets.sample("twin", label="ai", text=golden_sets.text("tune-human"))
    assert rules(golden_sets.found(twin)) == [
        ("label-conflict", ["tune-human", "twin"]),
        ("duplicates-within-split", ["tune-human", "twin"]),
    ]


def test_texts_without_words_are_the_same_only_if_their_characters_are():
    assert text_facts("?!").key != text_facts("!?").key
    assert text_facts(" ?! ").key == text_facts("?!").key
    assert text_facts("?!").key != text_facts("").key


def test_a_text_that_no_detector_takes_is_an_error_and_compared_as_far_as_said(golden_sets):
    beginning = "word " * 200_000
    long = [golden_sets.sample(f"s{end}", text=f"{beginning}{end}") for end in (1, 2)]
    fits = golden_sets.sample("t", text=beginning)
    message = "more than 1,000,000 characters, which no detector takes; what follows them was not compared"
    assert golden_sets.found(*long, fits) == [
        ("long-text", ["s1", "s2"], message),
        ("duplicates-within-split", ["s1", "s2", "t"], "the same text counts several times in one split"),
    ]


def changed(text, every=13):
    return " ".join("other" if number % every == 0 else word for number, word in enumerate(text.split()))


def test_nearly_the_same_text_of_one_split_is_a_warning(golden_sets):
    near = golden_sets.sample("near", text=changed(golden_sets.text("tune-human")))
    examination = golden_sets.examine(near)
    assert examination.is_valid
    (finding,) = examination.findings()
    assert (finding.rule, [row.id for row in finding.rows]) == ("near-duplicates-within-split", ["near", "tune-human"])
    assert finding.message == "texts of one split share 40% or more of their runs of 5 words, and pairOf does not join them"


def test_humanized_variants_are_no_finding(golden_sets):
    text = golden_sets.text("tune-ai")
    variants = [
        golden_sets.sample(f"v{every}", label="ai", pairOf="tune-ai", text=changed(text, every)) for every in (12, 13)
    ]
    assert golden_sets.found(*variants) == []


def test_a_humanized_variant_near_a_text_of_the_other_split_is_an_error(golden_sets):
    variant = golden_sets.sample("v", label="ai", pairOf="tune-ai", text=golden_sets.text("v"))
    leaked = golden_sets.sample("w", split="holdout", text=changed(golden_sets.text("v")))
    assert rules(golden_sets.found(variant, leaked)) == [("near-duplicates", ["v", "w"])]


def test_a_variant_of_one_original_near_another_original_is_a_warning(golden_sets):
    variant = golden_sets.sample("v", label="ai", pairOf="tune-ai", text=changed(golden_sets.text("tune-human")))
    assert rules(golden_sets.found(variant)) == [("near-duplicates-within-split", ["tune-human", "v"])]


def test_texts_that_could_not_be_compared_are_an_error(golden_sets, monkeypatch):
    def tired(texts) -> NearTexts:
        return near_texts(texts, most_work=0)

    monkeypatch.setattr(golden_set_texts, "near_texts", tired)
    leaked = golden_sets.sample("w", split="holdout", text=changed(golden_sets.text("tune-human")))
    examination = golden_sets.examine(leaked)
    assert not examination.is_valid
    assert [one.rule for one in examination.findings()] == ["near-duplicates-unfinished"]


@pytest.mark.parametrize("groups", [250])
def test_of_many_findings_the_first_are_kept_and_all_counted(golden_sets, groups):
    twins = [
        golden_sets.sample(f"{number:03}-{split}", split=split, text=golden_sets.text(f"twin {number}"))
        for number in range(groups)
        for split in ("tune", "holdout")
    ]
    outcome = next(one for one in golden_sets.examine(*twins).outcomes if one.rule == "duplicates")
    assert (outcome.total, len(outcome.kept)) == (groups, 100)
    assert [row.id for row in outcome.kept[99].rows] == ["099-holdout", "099-tune"]
