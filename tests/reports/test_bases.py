"""Mismatches, bases and clusters of every table against pandas, scipy and statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from statsmodels.stats.proportion import proportion_confint

DIMENSIONS = {
    "adapter": [],
    "adapter_arm": ["arm"],
    "adapter_state_transform": ["state", "transform"],
    "adapter_provider": ["provider"],
}

SERIES = ["suite", "params", "adapter"]

cases = st.lists(
    st.fixed_dictionaries(
        {
            "suite": st.sampled_from(["a.py::test", "b.py::test"]),
            "params": st.just("q75"),
            "adapter": st.sampled_from(["dwt-dct", "rivagan"]),
            "artifact": st.integers(0, 30).map(str),
            "pair_id": st.integers(0, 5).map(str),
            "state": st.sampled_from(["clean", "attacked"]),
            "arm": st.sampled_from(["positive", "matched_negative", "wrong_key"]),
            "transform": st.sampled_from(["jpeg", "crop"]),
            "provider": st.sampled_from(["p1", "p2"]),
            "status": st.sampled_from(["detected", "not_detected", "not_detected", "scored", "error"]),
            "expected": st.sampled_from(["detected", "unresolved"]),
            "known": st.booleans(),
            "again": st.sampled_from([None, None, None, "detected"]),
        }
    ),
    min_size=10,
    max_size=50,
)


def lines_of(row, number, provider, again, **one):
    """Write a row of evidence, and the second attempt at it if there is one."""
    one = {"case_id": f"c{number}", "parameters": {"source": {"provider": provider}}, **one}
    return [row(**one), *([] if again is None else [row(**{**one, "status": again, "attempt": 2})])]


def frame_of(drawn):
    """Give the rows as a report counts them, with the verdict of each artifact and the cluster of each base."""
    frame = pd.DataFrame(drawn)
    answers = ["detected", "not_detected", "scored"]
    answered = frame["status"].isin(answers) & ~((frame["status"] == "scored") & (frame["expected"] == "detected"))
    unstable = answered & frame["again"].notna() & (frame["again"] != frame["status"])
    frame["standing"] = frame["status"].where(answered, "error").mask(unstable, "unstable")
    frame.loc[~answered & frame["again"].notna(), "standing"] = frame["again"]  # the later attempt counts
    wrong = (frame["standing"] == "not_detected") & (frame["expected"] == "detected")
    frame["mismatch"] = (wrong & ~frame["known"]) | (frame["standing"] == "unstable")
    frame["known_mismatch"] = wrong & frame["known"]
    shown = frame[frame["standing"] != "error"].copy()
    shown["verdict"] = shown.groupby([*SERIES, "artifact"])["standing"].transform(
        lambda said: said.iloc[0] if said.nunique() == 1 else "conflicting"
    )
    links = shown.merge(shown, on=[*SERIES, "artifact"])[["pair_id_x", "pair_id_y"]].astype(int).to_numpy()
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(6, 6))
    shown["cluster"] = connected_components(graph)[1][shown["pair_id"].astype(int)]
    return frame, shown


def clustered_by_statsmodels(decided):
    """Give the interval of artifacts in clusters, or ``None`` where each is alone."""
    sizes = decided["cluster"].value_counts()
    if sizes.empty or sizes.max() == 1:
        return None
    outcomes = (decided["verdict"] == "detected").to_numpy(float)
    n, rate, clusters = len(outcomes), outcomes.mean(), len(sizes)
    effective = float(clusters)
    if 0 < rate < 1 and clusters > 1:
        kwds = {"groups": decided["cluster"].to_numpy(), "use_correction": False, "df_correction": False}
        fit = sm.OLS(outcomes, np.ones_like(outcomes)).fit(cov_type="cluster", cov_kwds=kwds)
        variance = fit.bse[0] ** 2 * clusters / (clusters - 1)
        effective = n / max(variance / (rate * (1 - rate) / n), 1)
    low, high = proportion_confint(rate * effective, effective, 0.05, "wilson")
    return {"low": low, "high": high, "effective_n": effective, "design_effect": n / effective}


def rate(k, n):
    if n == 0:
        return {"k": 0, "n": 0, "rate": None, "wilson95_low": None, "wilson95_high": None}
    low, high = proportion_confint(k, n, 0.05, "wilson")
    return {"k": k, "n": n, "rate": k / n, "wilson95_low": low, "wilson95_high": high}


@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(drawn=cases)
def test_every_table_agrees_with_pandas_and_statsmodels(row, report, drawn):
    tables = report([line for i, one in enumerate(drawn) for line in lines_of(row, i, **one)])["results"]["tables"]
    frame, shown = frame_of(drawn)
    for name, dimensions in DIMENSIONS.items():
        keys = [*SERIES, *dimensions]
        by_key = frame.groupby(keys)
        assert [tuple(line[key] for key in keys) for line in tables[name]] == sorted(by_key.groups)
        for line in tables[name]:
            here = by_key.get_group(tuple(line[key] for key in keys))
            artifacts = shown.loc[shown.index.isin(here.index)]
            decided = artifacts[artifacts["verdict"].isin(["detected", "not_detected"])]
            assert (line["rows_mismatch"], line["rows_known_mismatch"]) == (
                here["mismatch"].sum(),
                here["known_mismatch"].sum(),
            )
            detected = (decided["verdict"] == "detected").groupby(decided["cluster"])
            expected = {
                "count": detected.ngroups,
                "detected_in_all": rate(int(detected.all().sum()), detected.ngroups),
                "detected_in_any": rate(int(detected.any().sum()), detected.ngroups),
            }
            assert flat(line["bases"]) == pytest.approx(flat(expected), abs=1e-12)
            expected = clustered_by_statsmodels(decided.drop_duplicates("artifact"))
            assert line["clustered95"] == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9))
            n = decided["artifact"].nunique()
            resolvable = rate(0, n)["wilson95_high"] if line.get("arm") == "matched_negative" else None
            assert line["resolvable_false_positive_rate"] == pytest.approx(resolvable, abs=1e-12)


def flat(bases):
    return {
        "count": bases["count"],
        **{f"{name}.{key}": value for name in ("detected_in_all", "detected_in_any") for key, value in bases[name].items()},
    }


def line_of(document, table="adapter"):
    (line,) = document["results"]["tables"][table]
    return line


def test_forty_bases_of_five_files_each_are_not_two_hundred(row, report):
    failing = [*[0] * 34, 5, 5, 4, 2, 1, 1]
    rows = [
        row(f"c{base}-{i}", pair_id=f"p{base}", status="detected" if i < failing[base] else "not_detected")
        for base in range(40)
        for i in range(5)
    ]
    line = line_of(report(rows))
    rates = (line["detected_rate_of_artifacts"], line["bases"]["detected_in_any"])
    assert [(rate["k"], rate["n"]) for rate in rates] == [(18, 200), (6, 40)]
    assert (rates[0]["wilson95_low"], rates[0]["wilson95_high"]) == pytest.approx((0.0576874, 0.1377657), abs=5e-8)
    assert (rates[1]["wilson95_low"], rates[1]["wilson95_high"]) == pytest.approx((0.0706119, 0.2907232), abs=5e-8)
    assert line["bases"]["detected_in_all"]["k"] == 2
    clustered = line["clustered95"]
    assert (clustered["low"], clustered["high"]) == pytest.approx((0.0374002, 0.2011201), abs=5e-8)
    assert clustered["effective_n"] == pytest.approx(49.985915, abs=1e-6)


def test_rows_that_name_no_base_have_none(row, report):
    line = line_of(report([row(f"c{i}", case={"id": f"c{i}", "label": 1}) for i in range(3)]))
    assert (line["bases"], line["clustered95"]) == (None, None)


def test_a_base_id_comes_before_a_pair(row, report):
    cases = [{"id": f"c{i}", "baseId": "one", "pair_id": f"p{i}"} for i in range(3)]
    assert line_of(report([row(case["id"], case=case) for case in cases]))["bases"]["count"] == 1


def test_an_artifact_without_a_base_is_a_cluster_of_its_own(row, report):
    def interval(rest):
        based = [row(f"a{i}", pair_id="p", status="detected" if i else "not_detected") for i in range(4)]
        return line_of(report([*based, *rest]))["clustered95"]

    nameless = interval([row(f"b{i}", case={"id": f"b{i}"}, status="not_detected") for i in range(6)])
    alone = interval([row(f"b{i}", pair_id=f"q{i}", status="not_detected") for i in range(6)])
    assert nameless == alone


def test_bases_without_a_decision_are_named_and_count_none(row, report):
    bases = line_of(report([row("a", status="error"), row("b", status="scored", score=1.0)]))["bases"]
    assert (bases["count"], bases["detected_in_any"]["rate"], bases["detected_in_any"]["n"]) == (0, None, 0)


@pytest.mark.parametrize(("arm", "expected"), [("hard_negative", 0.036993498207), ("wrong_key", None), ("positive", None)])
def test_negatives_say_which_rate_they_could_tell_from_none(row, report, arm, expected):
    line = line_of(report([row(f"c{i}", arm=arm, status="not_detected") for i in range(100)]), "adapter_arm")
    assert line["resolvable_false_positive_rate"] == pytest.approx(expected, abs=1e-12)


def test_without_a_decided_negative_no_rate_is_told_from_none(row, report):
    line = line_of(report([row("a", arm="hard_negative", status="error")]), "adapter_arm")
    assert line["resolvable_false_positive_rate"] is None
