"""What became of rows, and the statistics of it, against counting by pandas and tests of scipy."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from scipy.stats import binomtest

from pytest_benchbench.reports.facets import Series
from pytest_benchbench.reports.paired_lines import CHANGES, change_of
from pytest_benchbench.reports.paired_rows import RowKind
from pytest_benchbench.statistics.paired import paired_difference

few = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
answers = st.sampled_from(["detected", "not_detected"])
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), answers, answers), min_size=1, max_size=40)

SERIES = Series("suite.py::test", None, "x")


def kind(standing, judged=None):
    return RowKind(SERIES, standing, judged, "marked", "positive", None)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (kind("detected", "right"), kind("detected", "right"), "still_right"),
        (kind("detected", "right"), kind("not_detected", "wrong"), "newly_wrong"),
        (kind("detected", "right"), kind("unstable", "wrong"), "newly_wrong"),
        (kind("detected", "wrong"), kind("not_detected", "right"), "newly_right"),
        (kind("unstable", "wrong"), kind("detected", "wrong"), "still_wrong"),
        (kind("detected"), kind("detected"), "kept"),
        (kind("detected"), kind("not_detected"), "lost"),
        (kind("not_detected"), kind("detected"), "gained"),
        (kind("not_detected"), kind("not_detected"), "absent"),
        (kind("detected", "right"), kind("error"), "verdict_lost"),
        (kind("not_detected"), kind("unavailable"), "verdict_lost"),
        (kind("not_detected"), kind("unstable"), "verdict_lost"),
        (kind("scored"), kind("not_run"), "verdict_lost"),
        (kind("error"), kind("detected", "wrong"), "verdict_new"),
        (kind("unstable"), kind("detected"), "verdict_new"),
        (kind("error"), kind("unavailable"), "no_verdict"),
        (kind("unstable"), kind("error"), "no_verdict"),
        (kind("scored"), kind("detected"), "scored"),
        (kind("scored"), kind("scored"), "scored"),
        (kind("detected", "right"), kind("not_detected"), "lost"),  # an answer was expected on one side only
    ],
)
def test_what_became_of_a_row(old, new, change):
    assert change_of(old, new) == change


@few
@given(pairs)
def test_lines_agree_with_pandas_and_scipy(row, compared, drawn):
    sides = [
        [
            row(f"c{place}", status=verdicts[side], expected="detected", pair_id=f"b{base}", artifact=f"{base}-{artifact}")
            for place, (base, artifact, *verdicts) in enumerate(drawn)
        ]
        for side in (0, 1)
    ]
    (line,) = compared(*sides).document()["lines"]
    frame = pd.DataFrame(
        [(base, f"{base}-{artifact}", old == "detected", new == "detected") for base, artifact, old, new in drawn],
        columns=["base", "artifact", "old", "new"],
    )
    assert list(line["rows"].values()) == [
        int((frame.old & frame.new).sum()),
        int((frame.old & ~frame.new).sum()),
        int((~frame.old & frame.new).sum()),
        int((~frame.old & ~frame.new).sum()),
    ]
    for name, column in (("artifacts", "artifact"), ("bases", "base")):
        unit, grouped = line[name], frame.groupby(column)
        every, total = grouped[["old", "new"]].all(), grouped[["old", "new"]].sum()
        counts = [int((first & second).sum()) for first in (every.old, ~every.old) for second in (every.new, ~every.new)]
        assert [unit["both"], unit["only_old"], unit["only_new"], unit["neither"]] == counts
        assert (unit["n"], unit["old"]["k"], unit["new"]["k"]) == (len(every), every.old.sum(), every.new.sum())
        assert unit["better"] == (total.new > total.old).sum()
        assert unit["worse"] == (total.new < total.old).sum()
        expected = paired_difference(counts[0], counts[2], counts[1], counts[3])
        assert unit["change"] == pytest.approx(expected._asdict())
        for p, one, other in (("sign_p", "better", "worse"), ("mcnemar_p", "only_new", "only_old")):
            differing = unit[one] + unit[other]
            assert unit[p] == (pytest.approx(binomtest(unit[one], differing).pvalue) if differing else None)
    assert line["tested"] == "bases"


def test_rows_that_expect_nothing_are_apart_by_state_and_arm(row, compared):
    rows = [
        row("a", expected="detected"),
        row("b", state="attacked"),
        row("c", state="attacked", arm="wrong_key"),
        row("d", state="removed"),
    ]
    lines = compared(rows, rows).document()["lines"]
    assert [(line["quantity"], line["state"], line["arm"]) for line in lines] == [
        ("as_expected", None, None),
        ("detected", "attacked", "positive"),
        ("detected", "attacked", "wrong_key"),
        ("detected", "removed", "positive"),
    ]


def test_suites_parameters_and_adapters_are_never_pooled(row, compared):
    rows = [row("a"), row("a", params="p"), row("a", suite="other.py::test"), row("b", adapter="y")]
    assert len(compared(rows, rows).document()["lines"]) == 4


def test_rows_without_a_base_are_tested_by_artifact(row, compared):
    rows = [row("a"), row("b")]
    del rows[0]["case"]["pair_id"]
    (line,) = compared(rows, rows).document()["lines"]
    assert (line["rows_without_base"], line["bases"]["n"], line["artifacts"]["n"], line["tested"]) == (1, 1, 2, "artifacts")


def test_where_no_row_names_a_base_there_is_none(row, compared):
    bare = row("a")
    del bare["case"]["pair_id"]
    (line,) = compared([bare], [bare]).document()["lines"]
    assert line["bases"] is None


def test_a_copy_of_a_file_proves_nothing_more(row, compared):
    """Five rows of one file that flipped are one file that flipped."""
    old = [row(f"c{place}", artifact="one", pair_id=f"b{place}") for place in range(5)]
    new = [row(f"c{place}", artifact="one", pair_id=f"b{place}", status="not_detected") for place in range(5)]
    (line,) = compared(old, new).document()["lines"]
    assert (line["rows"]["lost"], line["artifacts"]["worse"]) == (5, 1)


def test_counts_are_of_every_change(row, compared):
    old = [row("a"), row("b"), row("c", status="error", outcome="error")]
    new = [row("a"), row("b", status="not_detected"), row("c")]
    counts = compared(old, new).document()["changes"]["counts"]
    assert list(counts) == list(CHANGES)
    assert {name: count for name, count in counts.items() if count} == {"kept": 1, "lost": 1, "verdict_new": 1}
