"""A failing case as a page shows it."""

import msgspec
import pytest

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.html.case_cards import case_cards
from pytest_benchbench.reports.html.failing import FailingCase
from pytest_benchbench.reports.html.figure import CasePictures, Figure


@pytest.fixture
def card(row):
    def make(pictures=None, *, unstable=False, attempts=1, runs=None, **said):
        read = msgspec.convert(row("cat 01", line=12, **said), EvidenceRow)
        one = FailingCase(SettledRow(read, read.outcome, unstable, attempts, b""))
        (made,) = case_cards([one], {one.key: pictures} if pictures else {}, runs)
        return made

    return make


def test_it_says_what_was_expected_and_observed(card):
    made = card(expected="detected", status="not_detected", reason="24/48 bits")
    assert (made.title, made.outcome) == ("cat 01", "mismatch")
    assert made.line == "dwt-dct: expected detected, observed not_detected: 24/48 bits"
    assert made.node == "suite.py::test_detection::dwt-dct::cat+2001"


def test_among_several_runs_it_says_which_one_it_is_of(card):
    said = {"expected": "detected", "status": "not_detected"}
    run_id = dict(card(**said).facts)["run"]
    assert card(**said, runs={"another": 1, run_id: 2}).line.startswith("dwt-dct in run 2: expected detected")


def test_an_error_says_why_there_is_no_verdict(card):
    made = card(status="error", error={"type": "OSError", "message": "gone"})
    assert made.line == "dwt-dct: no verdict: OSError: gone"
    assert ("error", "OSError: gone") in made.facts


def test_the_node_id_has_the_parameters(card):
    assert card(params="75-a", status="error").node.endswith("::cat+2001[75-a]")


def test_the_evidence_is_told_and_what_is_absent_is_not(card):
    facts = dict(card(expected="detected", status="not_detected", score=0.25, elapsed=12.34, attempts=2).facts)
    assert facts["score"] == "0.25"
    assert facts["adapter time"] == "12.34 ms (warm)"
    assert facts["attempts"] == "2"
    assert facts["manifest"] == "cases.jsonl:12"
    assert len(facts["artifact SHA-256"]) == 64
    assert not {"label", "seed", "message bit accuracy", "after removal"} & facts.keys()


def test_attempts_that_disagree_are_told(card):
    made = card(expected="detected", status="not_detected", unstable=True, attempts=2)
    assert (made.outcome, dict(made.facts)["attempts"]) == ("unstable", "2, verdicts differ")


def test_pictures_and_their_notes_stand_with_their_case(card):
    figure = Figure("data:image/png;base64,AA==", "a cat", "64 x 64 pixels")
    made = card(CasePictures((figure,), "no reference"), status="error")
    assert (made.figures, made.note) == ((figure,), "no reference")
