import json
import random

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.manifests.golden_set_reading import parse_golden_set
from pytest_benchbench.validation.golden_set import GoldenSettings, SplitCounts, examine_golden_set


def messy(golden_sets):
    """A set that breaks many rules."""
    same = golden_sets.text("same", 80)
    return golden_sets.document(
        golden_sets.sample("a", text=same, labelSource="GPTZero"),
        golden_sets.sample("b", text=same.upper(), split="holdout", reviewers=[]),
        golden_sets.sample("c", text=f"{same} and a few more", split="holdout", borderline=True),
        golden_sets.sample("d", text="Write to jane@corp.co or call 212-736-5000.", provenance={"license": "?"}),
        golden_sets.sample("e", label="ai", text=same, provenance={"date": "2999-01-01"}),
        golden_sets.sample("f", label="ai", category="poem"),
        balance={"essay": {"tune": 1, "holdout": 1}},
    )


def told(document):
    """Findings without the lines, which the order of samples does change."""
    examination = examine_golden_set(parse_golden_set(json.dumps(document).encode(), "g.json"), "g.json", GoldenSettings())
    findings = [
        (one.rule, one.severity, [row.id for row in one.rows], one.message, one.row_count, one.place)
        for one in examination.findings()
    ]
    return findings, [(one.rule, one.total) for one in examination.outcomes]


def test_a_sound_set_has_no_finding(golden_sets):
    examination = golden_sets.examine()
    assert (examination.findings(), examination.is_valid) == ([], True)


def test_every_rule_is_named_once_whether_or_not_it_found_something(golden_sets):
    rules = [one.rule for one in golden_sets.examine().outcomes]
    assert len(set(rules)) == len(rules)
    assert set(rules) >= {"balance", "labels", "reviewers", "license", "dates", "duplicates", "near-duplicates", "pii"}


@given(seed=st.integers(0, 10**6))
@settings(max_examples=12, deadline=None)
def test_the_order_of_samples_changes_nothing_that_is_found(golden_sets, seed):
    document = messy(golden_sets)
    expected = told(document)
    random.Random(seed).shuffle(document["samples"])
    assert told(document) == expected
    assert len(expected[0]) > 8


def test_what_a_split_holds_is_counted(golden_sets):
    variant = golden_sets.sample("v", label="ai", pairOf="tune-ai", category="poem", borderline=True, reviewers=["A", "B"])
    assert golden_sets.examine(variant).counts == [
        SplitCounts("tune", 3, 1, 2, 1, 1, {"essay": 2, "poem": 1}),
        SplitCounts("holdout", 2, 1, 1, 0, 0, {"essay": 2}),
    ]


@given(
    name=st.from_regex(r"[a-z]{6,12}\.[a-z]{6,12}", fullmatch=True),
    host=st.from_regex(r"[a-z]{8,12}\.(?:com|org|co\.uk)", fullmatch=True),
    before=st.text(max_size=30),
)
@settings(max_examples=40, deadline=None)
def test_what_personal_data_says_is_told_nowhere(golden_sets, name, host, before):
    value = f"{name}@{host}"
    sample = golden_sets.sample("private", text=f"{before} {value} {golden_sets.text('t')}")
    examination = golden_sets.examine(sample)
    found = [one.place for one in examination.findings() if one.rule == "pii"]
    assert (len(before) + 1, "email") in [(place.offset, place.kind) for place in found]
    assert name not in repr(examination)
    assert name not in "".join(map(str, examination.findings()))


@pytest.mark.parametrize("status", ["final", "example"])
def test_the_status_of_the_set_is_told(golden_sets, status):
    assert golden_sets.examine(status=status).status == status
