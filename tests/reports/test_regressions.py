"""The rule: each of its reasons with what it lets pass and what not."""

import pytest

from pytest_benchbench.reports.regressions import RegressionRule, regressions


@pytest.fixture
def judged(compared):
    def judge(old, new, *, is_incomplete=False, **rule):
        found = regressions(compared(old, new).document(), RegressionRule(**rule), is_incomplete=is_incomplete)
        return [reason["rule"] for reason in found]

    return judge


@pytest.fixture
def flipped(row):
    """Give two sides of 30 rows of which the first ``count`` flipped."""

    def make(count, *, before="detected", after="not_detected", **more):
        more = {"expected": "detected", **more}
        old = [row(f"c{place}", status=before if place < count else "detected", **more) for place in range(30)]
        new = [row(f"c{place}", status=after if place < count else "detected", **more) for place in range(30)]
        return old, new

    return make


def test_a_run_compared_with_itself_is_no_regression(row, judged):
    rows = [
        *(row(f"a{place}", expected="detected", status="not_detected") for place in range(5)),
        *(row(f"b{place}", state="attacked") for place in range(5)),
        *(row(f"d{place}", status="error", outcome="error") for place in range(5)),
        row("e", status="unavailable"),
    ]
    assert judged(rows, rows, measured="lost", max_slowdown=1.0001, is_incomplete=True) == []


def test_newly_wrong_rows_are_one_unless_they_are_allowed(flipped, judged):
    assert judged(*flipped(2)) == ["newly_wrong"]
    assert judged(*flipped(2), allow_flips=1) == ["newly_wrong"]
    assert judged(*flipped(2), allow_flips=2) == []


def test_newly_right_rows_are_none(flipped, judged):
    old, new = flipped(20)
    assert judged(new, old) == []


def test_a_wrong_answer_that_is_known_is_newly_wrong_all_the_same(row, judged):
    old = [row("a", expected="detected")]
    assert judged(old, [row("a", expected="detected", status="not_detected", known=True)]) == ["newly_wrong"]


def test_a_net_loss_that_is_more_than_chance_is_one_whatever_is_allowed(flipped, judged):
    assert judged(*flipped(5), allow_flips=99) == []  # p = .0625
    assert judged(*flipped(6), allow_flips=99) == ["significant_loss"]  # p = .03125
    assert judged(*flipped(6), allow_flips=99, alpha=0.01) == []


def test_alpha_is_shared_by_the_lines_that_are_tested(row, flipped, judged):
    old, new = flipped(6)
    more = [row("other", expected="detected", adapter="y")]
    assert judged(old + more, new + more, allow_flips=99) == []  # .03125 is not below .05 / 2
    old, new = flipped(7)
    assert judged(old + more, new + more, allow_flips=99) == ["significant_loss"]


def test_rows_of_one_base_are_one_piece_of_evidence(flipped, judged):
    old, new = flipped(6, pair_id="one")
    assert judged(old, new, allow_flips=99) == []


@pytest.mark.parametrize("status", ["error", "unavailable", "not_run"])
def test_lost_verdicts_are_one_unless_they_are_allowed(flipped, judged, status):
    old, new = flipped(2)
    new[:2] = [{**one, "outcome": status, "detection": {**one["detection"], "status": status}} for one in new[:2]]
    assert judged(old, new) == ["verdict_lost"]
    assert judged(old, new, allow_lost=2) == []
    assert judged(new, old) == []
    assert judged(new, new) == []


def test_rows_that_a_run_lost_are_lost_verdicts(row, judged):
    old, new = [row("a"), row("b")], [row("a")]
    assert judged(old, new) == []
    assert judged(old, new, is_incomplete=True) == ["rows_lost"]
    assert judged(old, new, is_incomplete=True, allow_lost=1) == []


@pytest.mark.parametrize(("measured", "reasons"), [("shown", []), ("lost", ["lost_detections"]), ("gained", [])])
def test_where_nothing_is_expected_one_says_which_change_is_bad(flipped, judged, measured, reasons):
    assert judged(*flipped(6, expected="unresolved"), measured=measured) == reasons


def test_gained_detections_are_bad_for_a_remover(flipped, judged):
    lost, gained = flipped(6, expected="unresolved", state="removed")
    assert judged(gained, lost, measured="gained") == ["gained_detections"]
    assert judged(gained, lost, measured="lost") == []


def test_negative_arms_that_expect_nothing_are_only_shown(flipped, judged):
    assert judged(*flipped(6, expected="unresolved", arm="wrong_key"), measured="lost") == []


def test_times_decide_only_when_asked_and_beyond_the_noise(row, judged):
    old = [row(f"c{place}", elapsed=10.0 + place) for place in range(30)]
    slow = [row(f"c{place}", elapsed=1.4 * (10.0 + place)) for place in range(30)]
    assert judged(old, slow) == []
    assert judged(old, slow, max_slowdown=1.3) == ["slower"]
    assert judged(old, slow, max_slowdown=1.5) == []
    assert judged(slow, old, max_slowdown=1.3) == []
    scattered = [row(f"c{place}", elapsed=(0.5 if place < 14 else 3) * (10.0 + place)) for place in range(30)]
    assert judged(old, scattered, max_slowdown=1.3) == []
    assert judged(old[:5], slow[:5], max_slowdown=1.3) == []


def test_a_reason_says_what_was_seen_and_what_is_allowed(flipped, compared):
    (reason,) = regressions(compared(*flipped(2)).document(), RegressionRule(allow_flips=1), is_incomplete=False)
    assert reason == {
        "rule": "newly_wrong",
        "adapter": None,
        "observed": 2,
        "allowed": 1,
        "text": "2 rows newly wrong, at most 1 allowed",
    }
