"""Two runs of a golden set, side by side."""

import pytest

from pytest_benchbench.evidence.same_detector import other_detectors
from pytest_benchbench.reports.comparison import CannotCompareError
from pytest_benchbench.reports.comparison_lines import comparison_lines

SERVICE = {"vendor": "v", "plan": "starter", "apiVersion": "v2", "model": "m1", "latencyMs": 10.0}


@pytest.fixture
def rows(golden):
    def of_scores(*scores, label="ai", **more):
        return [golden.row(f"s{place}", label, score, **more) for place, score in enumerate(scores)]

    return of_scores


def shown(document):
    sides = {side: {"name": side} for side in ("old", "new")}
    more = {"compared": "runs", "notes": [], "memory": None, "rule": None, "regressions": None}
    return comparison_lines({**document, **sides, **more})


def test_rows_are_held_against_their_labels_at_50(compared, rows):
    document = compared(rows(50.0, 49.0, 80.0), rows(49.9, 50.0, 81.0)).document()
    assert document["thresholds"] == {"golden-set": 50.0}
    (wrong,) = document["changes"]["newly_wrong"]["listed"]
    (right,) = document["changes"]["newly_right"]["listed"]
    assert (wrong["case_id"], wrong["expected"], wrong["old"], wrong["new"]) == ("s0", "AI", "AI", "human")
    assert (right["case_id"], right["old"], right["new"]) == ("s1", "human", "AI")
    assert "labelled rows: a score of at least 50 calls a text AI" in shown(document)


def test_a_human_sample_below_50_is_right(compared, rows):
    document = compared(rows(49.9, label="human"), rows(50.0, label="human")).document()
    (wrong,) = document["changes"]["newly_wrong"]["listed"]
    assert (wrong["expected"], wrong["old"], wrong["new"]) == ("human", "human", "AI")


def test_the_scores_that_moved_are_named_the_largest_first(compared, rows):
    document = compared(rows(10.0, 20.0, 30.0, 40.0), rows(11.0, 20.0, 5.0, 41.0)).document()
    (line,) = document["scores"]["lines"]
    assert (line["adapter"], line["n"], line["moved"], line["largest_change"]) == ("zippy", 4, 3, -25.0)
    assert line["mean_change"] == -23 / 4
    assert [(entry["case_id"], entry["old"], entry["new"]) for entry in document["scores"]["largest"]] == [
        ("s2", 30.0, 5.0),
        ("s0", 10.0, 11.0),
        ("s3", 40.0, 41.0),
    ]
    assert "scores of zippy: 3 of 4 moved, on average -5.75, at most -25" in shown(document)


def test_what_has_no_score_on_one_side_moved_nowhere(compared, rows, golden):
    new = [golden.row("s0", status="unavailable"), golden.row("s1", score=20.0)]
    document = compared(rows(10.0, 20.0), new).document()
    assert (document["scores"]["moved"], document["scores"]["lines"][0]["n"]) == (0, 1)
    assert document["changes"]["counts"]["verdict_lost"] == 1
    assert not any(line.startswith("scores of") for line in shown(document))


@pytest.mark.parametrize(("name", "value"), [("vendor", "w"), ("plan", "enterprise"), ("apiVersion", "v3")])
def test_another_vendor_plan_or_api_version_is_another_detector(compared, rows, name, value):
    comparison = compared(rows(10.0, scorer=SERVICE), rows(10.0, scorer={**SERVICE, name: value}))
    old, new = (side.detectors for side in comparison._sides)
    (told,) = other_detectors(old, new, frozenset({name}))
    assert told == f'zippy is not the same detector: {name} was "{SERVICE[name]}" and is "{value}"'


def test_another_model_of_the_answers_is_told_and_not_refused(compared, rows):
    comparison = compared(rows(10.0, scorer=SERVICE), rows(10.0, scorer={**SERVICE, "model": "m2", "latencyMs": 99.0}))
    old, new = (side.detectors for side in comparison._sides)
    assert list(other_detectors(old, new)) == []
    assert comparison.document()["detectors"][0]["changed"] == ["model"]
    assert "zippy: other model" in shown(comparison.document())


def test_how_often_a_service_is_asked_again_makes_no_other_detector(compared, rows):
    def run(options):
        return [{**row, "adapter": {**row["adapter"], "options": options}} for row in rows(10.0)]

    same = compared(run({"timeout": 1, "retries": 2, "concurrency": 3}), run({"timeout": 9}))
    assert list(other_detectors(*(side.detectors for side in same._sides))) == []
    other = compared(run({"mixed": "ai"}), run({"mixed": "half"}))
    assert len(list(other_detectors(*(side.detectors for side in other._sides)))) == 1


def test_another_text_under_the_same_id_is_refused(compared, rows):
    changed = [{**row, "artifact": {**row["artifact"], "sha256": "f" * 64}} for row in rows(10.0)]
    with pytest.raises(CannotCompareError, match="s0 is not the same case on both sides: artifact"):
        compared(rows(10.0), changed).check()
