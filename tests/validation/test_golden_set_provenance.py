from datetime import date

import pytest

from pytest_benchbench.validation.golden_set import GoldenSettings


def test_a_licence_that_the_set_does_not_allow_is_an_error(golden_sets):
    assert golden_sets.found(golden_sets.sample("s", provenance={"license": "All rights reserved"})) == [
        (
            "license",
            ["s"],
            "'All rights reserved' is not one of the set's licenses, and no consent of the author is referred to",
        )
    ]


def test_the_authors_consent_stands_in_for_a_licence(golden_sets):
    assert golden_sets.found(golden_sets.sample("s", provenance={"license": "none", "consent": "letter-17"})) == []


def test_how_a_licence_is_spelled_does_not_count(golden_sets):
    assert golden_sets.found(golden_sets.sample("s", provenance={"license": "cc0-1.0 "})) == []


def test_a_generated_text_needs_no_licence_but_may_not_have_another_one(golden_sets):
    found = golden_sets.found(golden_sets.sample("s", label="ai", provenance={"license": "GPL-3.0"}))
    assert found == [("license", ["s"], "'GPL-3.0' is not one of the set's licenses")]


@pytest.mark.parametrize(
    ("published", "sound"), [("2026-04-01", True), ("2026-04", True), ("2026", True), ("2026-04-02", False)]
)
def test_terms_are_checked_after_a_text_is_published(golden_sets, published, sound):
    found = golden_sets.found(golden_sets.sample("s", provenance={"date": published}))
    expected = f"provenance.date: {published} is after the terms were checked, 2026-04-01"
    assert found == ([] if sound else [("dates", ["s"], expected)])


@pytest.mark.parametrize(("generated", "sound"), [("2027-04-02", True), ("2027-04-03", False), ("9999-12-31", False)])
def test_a_text_is_generated_within_a_year_of_the_last_check_of_terms(golden_sets, generated, sound):
    found = golden_sets.found(golden_sets.sample("s", label="ai", provenance={"date": generated}))
    assert [rule for rule, _, _ in found] == ([] if sound else ["dates"])


def test_no_date_is_after_the_day_that_is_given(golden_sets):
    day = GoldenSettings(as_of=date(2026, 4, 1))
    assert golden_sets.found(settings=day) == [
        ("dates", [name], "provenance.date: 2026-04-02 is after 2026-04-01, the day on which the set is looked at")
        for name in ("holdout-ai", "tune-ai")
    ]
    assert golden_sets.found(settings=GoldenSettings(as_of=date(2026, 4, 2))) == []


def test_terms_that_were_checked_in_the_future_are_found_by_the_day_that_is_given(golden_sets):
    sample = golden_sets.sample("s", provenance={"termsChecked": "2031-01-01"})
    found = golden_sets.found(sample, settings=GoldenSettings(as_of=date(2026, 5, 1)))
    assert [ids for rule, ids, message in found if message.startswith("provenance.termsChecked: 2031-01-01")] == [["s"]]


def test_a_set_of_generated_texts_alone_is_compared_with_no_check_of_terms(golden_sets):
    samples = [sample for sample in golden_sets.samples() if sample["label"] == "ai"]
    found = golden_sets.found(samples=samples, balance={"essay": {"tune": 1, "holdout": 1}})
    assert {rule for rule, _, _ in found} == {"labels"}
