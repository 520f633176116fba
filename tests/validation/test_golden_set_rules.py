import pytest

from pytest_benchbench.validation.golden_set import GoldenSettings
from pytest_benchbench.validation.golden_set_rules import REVIEWED_TWICE_FROM, label_source, reviewers


def test_another_number_than_the_target_is_an_error_for_that_split(golden_sets):
    assert golden_sets.found(balance={"essay": {"tune": 3, "holdout": 2}}) == [
        ("balance", [], "category 'essay' has 2 in tune, its target is 3")
    ]


def test_more_than_the_target_is_an_error_too(golden_sets):
    assert golden_sets.found(balance={"essay": {"tune": 2, "holdout": 1}}) == [
        ("balance", [], "category 'essay' has 2 in holdout, its target is 1")
    ]


def test_a_category_without_a_target_is_named(golden_sets):
    found = golden_sets.found(golden_sets.sample("p", category="poem"), balance={"essay": {"tune": 2, "holdout": 2}})
    assert found == [("balance", [], "category 'poem' has 1 in tune and no target: declare it under balance")]


def test_a_target_without_samples_is_missed(golden_sets):
    targets = {"essay": {"tune": 2, "holdout": 2}, "poem": {"tune": 0, "holdout": 1}}
    assert golden_sets.found(balance=targets) == [("balance", [], "category 'poem' has 0 in holdout, its target is 1")]


def test_a_set_without_targets_is_valid_with_a_warning(golden_sets):
    examination = golden_sets.examine(balance=None)
    assert [(one.rule, one.severity) for one in examination.findings()] == [("balance-undeclared", "warning")]
    assert examination.is_valid


def test_a_split_needs_both_labels(golden_sets):
    samples = golden_sets.samples()[:3]
    found = golden_sets.found(samples=samples, balance={"essay": {"tune": 2, "holdout": 1}})
    assert found == [("labels", [], "holdout has no sample labelled ai")]


@pytest.mark.parametrize("owner", ["unknown", " N/A", "Crowdsourced", "team"])
def test_nobody_owns_no_labels(golden_sets, owner):
    samples = [sample | {"labelOwner": owner} for sample in golden_sets.samples()]
    ((rule, ids, message),) = golden_sets.found(samples=samples)
    assert (rule, len(ids)) == ("label-owner", 4)
    assert message == f"{owner!r} is nobody: name the one person who answers for the labels"


@pytest.mark.parametrize(
    "source",
    [
        "GPTZero",
        "gptzero 2.0",
        "score of ORIGINALITY.AI",
        "Originality ai",
        "copyleaks",
        "Zero-Detect",
        "zero_detect",
        "detector",
        "an AI text classifier",
        "Predicted by RoBERTa",
        "Detected by hand",
        "\uff27PTZero",
        "Fast DetectGPT",
    ],
)
def test_a_label_never_rests_on_a_detector(golden_sets, source):
    found = golden_sets.found(
        golden_sets.sample("s", labelSource=source), settings=GoldenSettings(adapters=["zero-detect", "dwt-dct"])
    )
    assert [(rule, ids) for rule, ids, _ in found] == [("label-source", ["s"])]


@pytest.mark.parametrize("source", ["provenance", "author's statement", "archive of the magazine", "original publication"])
def test_other_sources_of_labels_are_fine(golden_sets, source):
    settings = GoldenSettings(adapters=["zero-detect"])
    assert golden_sets.found(golden_sets.sample("s", labelSource=source), settings=settings) == []


@pytest.mark.parametrize(
    ("named", "borderline", "sound"),
    [
        ([], False, False),
        (["unknown"], False, False),
        (["Rita"], False, True),
        (["Rita"], True, False),
        (["Rita", " RITA "], True, False),
        (["Rita", "nobody"], True, False),
        (["Rita", "R\u200bita"], True, False),
        (["R. Ito", "R Ito"], True, False),
        (["Rita Ito", "rita-ito"], True, False),
        (["B\u00f6", "Bo\u0308"], True, False),
        (["un\u200bknown"], False, False),
        (["Rita", "?"], True, False),
        (["Rita", "???"], True, False),
        (["Rita", "--"], True, False),
        (["Rita", "N. A."], True, False),
        (["t.b.d."], False, False),
        (["Rita", "Mechanical-Turk"], True, False),
        (["\u674e\u96f7", "\u97e9\u6885"], True, True),
        (["R. Ito", "R. Eto"], True, True),
        (["Rita", "Rob"], True, True),
    ],
)
def test_every_sample_is_read_by_one_and_what_is_borderline_by_two(golden_sets, named, borderline, sound):
    found = golden_sets.found(golden_sets.sample("s", reviewers=named, borderline=borderline))
    assert [(rule, ids) for rule, ids, _ in found] == ([] if sound else [("reviewers", ["s"])])


def test_from_a_thousand_samples_on_everybody_is_read_by_two(golden_sets):
    one = golden_sets.placed()[0]
    assert reviewers([one] * (REVIEWED_TWICE_FROM - 1)).total == 0
    assert reviewers([one] * REVIEWED_TWICE_FROM).total == REVIEWED_TWICE_FROM == 1000


def test_short_texts_are_a_warning_unless_their_author_called_them_borderline(golden_sets):
    short = golden_sets.text("short", 49)
    called = golden_sets.sample("c", text=golden_sets.text("called", 49), borderline=True, reviewers=["A", "B"])
    examination = golden_sets.examine(golden_sets.sample("s", text=short), called)
    assert examination.is_valid
    (finding,) = examination.findings()
    assert (finding.rule, [row.id for row in finding.rows]) == ("short-text", ["s"])
    assert golden_sets.found(golden_sets.sample("s", text=golden_sets.text("long", 50))) == []


@pytest.mark.parametrize("source", ["one-two-three-four-five", "One Two Three Four Five says", "onetwothreefourfive"])
def test_a_detector_with_a_name_of_many_words_is_recognised(golden_sets, source):
    one = golden_sets.placed(golden_sets.sample("s", labelSource=source))
    assert label_source(one, ["one-two-three-four-five"]).total == 1


@pytest.mark.parametrize("source", ["GPTZerov2", "gptzero3", "CopyleaksV2", "my-detect2", "zippy 1.0"])
def test_the_version_of_a_detector_does_not_hide_it(golden_sets, source):
    one = golden_sets.placed(golden_sets.sample("s", labelSource=source))
    assert label_source(one, ["my-detect"]).total == 1


@pytest.mark.parametrize("source", ["provenance v2", "2026", "author 1", "v2"])
def test_what_has_a_number_is_no_detector(golden_sets, source):
    one = golden_sets.placed(golden_sets.sample("s", labelSource=source))
    assert label_source(one, ["my-detect", "2"]).total == 0
