"""Scores against what was expected of their rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.reliability import reliability_bins

scored = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


@settings(deadline=None)
@given(drawn=scored, data=st.data())
def test_bins_agree_with_pandas_and_not_with_the_order(drawn, data):
    frame = pd.DataFrame(drawn, columns=["score", "expected"])
    edges = [edge / 10 for edge in range(11)]
    bins = pd.cut(frame.score, edges, right=False, labels=False).fillna(9).astype(int)  # 1 itself belongs to the last
    found = reliability_bins(frame.score.to_numpy(), frame.expected.to_numpy())
    assert [one["n"] for one in found] == [int((bins == place).sum()) for place in range(10)]
    for place, one in enumerate(found):
        assert (one["low"], one["high"]) == (edges[place], edges[place + 1])
        inside = frame[bins == place]
        assert one["detected_expected"] == inside.expected.sum()
        assert one["mean_score"] == (pytest.approx(inside.score.mean(), rel=1e-12) if len(inside) else None)
    other = data.draw(st.permutations(drawn))
    again = reliability_bins(np.array([score for score, _ in other]), np.array([expected for _, expected in other]))
    assert encode_document(again) == encode_document(found)


@pytest.mark.parametrize("scores", [[], [0.5, 1.1], [-0.1], [float("1e300")]])
def test_no_probabilities_have_no_bins(scores):
    assert reliability_bins(np.array(scores), np.ones(len(scores), dtype=bool)) is None


def test_only_rows_with_a_verdict_that_was_asserted_count(row, report):
    rows = [
        row("a", expected="detected", score=0.95),
        row("b", expected="not_detected", score=0.91),  # a mismatch
        row("c", expected="not_detected", status="not_detected", score=0.05),
        row("d", score=0.5),
        row("e", expected="detected", status="scored", score=0.5),  # an error: no verdict
        row("f", expected="detected", adapter="logits", score=4.0),
        row("g", expected="detected", adapter="logits", score=0.5),
        row("h", adapter="measured", score=0.5),
    ]
    (line,) = report(rows)["results"]["reliability"]
    assert line["adapter"] == "dwt-dct"
    assert {place: (one["n"], one["detected_expected"]) for place, one in enumerate(line["bins"]) if one["n"]} == {
        0: (1, 0),
        9: (2, 1),
    }
    assert line["bins"][9]["mean_score"] == pytest.approx(0.93)
