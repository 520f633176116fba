"""What a comparison names, and what it refuses."""

import pytest

from pytest_benchbench.reports.comparison import CannotCompareError


def names(listing):
    return [entry["case_id"] for entry in listing["listed"]]


def test_rows_that_changed_are_named_in_the_order_of_the_manifest(row, compared):
    old = [row(f"c{line}", line=line, expected="detected") for line in range(1, 6)]
    new = [
        row(f"c{line}", line=line, expected="detected", status="not_detected", reason=f"{line} bits") for line in (5, 2, 4)
    ]
    changes = compared(old, [*new, old[0], old[2]]).document()["changes"]
    assert names(changes["newly_wrong"]) == ["c2", "c4", "c5"]
    assert changes["newly_wrong"]["listed"][0] == {
        "suite": "suite.py::test_detection",
        "params": None,
        "adapter": "dwt-dct",
        "case_id": "c2",
        "manifest": "cases.jsonl",
        "line": 2,
        "pointer": None,
        "artifact_sha256": new[1]["artifact"]["sha256"],
        "expected": "detected",
        "old": "detected",
        "new": "not_detected",
        "reason": "2 bits",
    }
    assert changes["newly_right"] == {"count": 0, "listed": []}


def test_every_kind_of_change_has_its_list(row, compared):
    old = [
        row("right", expected="detected", status="not_detected"),
        row("lost"),
        row("gained", status="not_detected"),
        row("gone"),
        row("back", status="error", outcome="error", error={"type": "OSError", "message": "no"}),
    ]
    new = [
        row("right", expected="detected"),
        row("lost", status="not_detected"),
        row("gained"),
        row("gone", status="error", outcome="error", error={"type": "OSError", "message": "disk"}),
        row("back"),
    ]
    changes = compared(old, new).document()["changes"]
    assert {name: names(changes[name]) for name in ("newly_right", "lost", "gained", "verdict_lost", "verdict_new")} == {
        "newly_right": ["right"],
        "lost": ["lost"],
        "gained": ["gained"],
        "verdict_lost": ["gone"],
        "verdict_new": ["back"],
    }
    assert changes["verdict_lost"]["listed"][0]["reason"] == "disk"
    assert changes["verdict_lost"]["listed"][0]["new"] == "error"


def test_rows_of_one_side_only_are_named(row, compared):
    old, new = [row("a"), row("b"), row("c", status="error", outcome="error")], [row("d", status="not_detected"), row("b")]
    rows = compared(old, new).document()["rows"]
    assert rows["paired"] == 1
    assert [(entry["case_id"], entry["answer"]) for entry in rows["only_in_old"]["listed"]] == [
        ("a", "detected"),
        ("c", "error"),
    ]
    assert [(entry["case_id"], entry["answer"]) for entry in rows["only_in_new"]["listed"]] == [("d", "not_detected")]


def test_the_attempt_that_counts_is_compared_and_named(row, compared):
    old = [row("a", status="error", outcome="error"), row("b"), row("a", attempt=2, expected="unresolved")]
    new = [row("a", reason="first"), row("b", status="error", outcome="error"), row("b", attempt=2, status="not_detected")]
    document = compared(old, new).document()
    assert document["changes"]["counts"]["kept"] == 1
    assert names(document["changes"]["lost"]) == ["b"]
    assert document["changes"]["lost"]["listed"][0]["new"] == "not_detected"


def test_an_unstable_row_is_newly_wrong(row, compared):
    old = [row("a", expected="detected")]
    new = [*old, row("a", expected="detected", status="not_detected", attempt=2)]
    assert compared(old, new).document()["changes"]["newly_wrong"]["listed"][0]["new"] == "unstable"


def test_more_changes_than_are_listed_are_counted(row, compared):
    count = 1100
    old = [row(f"c{line}", line=line) for line in range(count)]
    listing = compared(old, [row(f"c{line}", line=line, status="not_detected") for line in range(count)]).document()[
        "changes"
    ]["lost"]
    assert (listing["count"], len(listing["listed"]), listing["listed"][-1]["line"]) == (count, 1000, 999)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"artifact": "other"}, "artifact (2e7d2c03a950 then, d9298a10d1b0 now) differ"),
        ({"state": "attacked"}, "state differ"),
        ({"expected": "not_detected", "arm": "hard_negative"}, "expected, arm differ"),
    ],
)
def test_another_case_of_the_same_name_is_refused(row, compared, changed, told):
    old = [row("a"), row("c"), row("d")]
    comparison = compared(old, [row("d"), row("a"), row("c", **changed)])
    with pytest.raises(CannotCompareError) as refused:
        comparison.check()
    assert str(refused.value) == f"c is not the same case on both sides: {told}"


def test_of_several_other_cases_the_first_is_named(row, compared):
    comparison = compared([row("a"), row("b")], [row("b", state="clean"), row("a", state="clean")])
    with pytest.raises(
        CannotCompareError, match=r"^a is not the same case on both sides: state differ; and 1 more cases so$"
    ):
        comparison.check()


def test_nothing_in_common_is_refused(row, compared):
    comparison = compared([row("a")], [row("b")])
    with pytest.raises(CannotCompareError, match="no row is on both sides: their manifests or splits have other rows"):
        comparison.check()


def test_runs_of_other_detectors_have_nothing_in_common(row, compared):
    other = row("a")
    other["key"] = {**other["key"], "adapter": "oracle"}
    comparison = compared([row("a")], [other])
    with pytest.raises(CannotCompareError, match="no row is on both sides: dwt-dct answered then, oracle now"):
        comparison.check()


def test_detectors_and_what_changed_of_them(row, compared):
    new = row("a")
    new["adapter"] = {**new["adapter"], "version": "2"}
    (detector,) = compared([row("a")], [new]).document()["detectors"]
    assert (detector["adapter"], detector["changed"]) == ("dwt-dct", ["version"])
    assert (detector["old"][0]["version"], detector["new"][0]["version"]) == ("1", "2")


def test_the_document_depends_on_neither_order(row, compared):
    old = [row(f"c{place}", line=place, elapsed=1 + place) for place in range(8)]
    new = [
        row(f"c{place}", line=place, status="not_detected" if place % 3 else "detected", elapsed=2.0) for place in range(8)
    ]
    assert compared(old, new).document() == compared(old[::-1], new[::-1]).document()


def test_an_old_run_without_an_answer_is_refused_as_nothing_could_get_worse(row, compared):
    old = [row("a", status="error", outcome="error"), row("b", status="unavailable")]
    with pytest.raises(CannotCompareError, match="no row was answered on the first side"):
        compared(old, [row("a"), row("b", status="error", outcome="error")]).check()
    compared([*old, row("c")], [row("a"), row("c", status="unavailable")]).check()
