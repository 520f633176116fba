"""Robustness curves: what is on which point, in which order, and the numbers against pandas."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from statsmodels.stats.proportion import proportion_confint

from pytest_benchbench.cohorts.attacks.registry import families_of
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.statistics.intervals import clustered_interval

SERIES = ["suite", "params", "adapter"]
GRIDS = [
    pytest.param(medium, family, [attack.strength for attack in grid], id=f"{medium}-{family}")
    for medium in ("image", "audio", "video")
    for family, grid in families_of(medium).items()
]


def attacked(row, case_id, strength, *, family="jpeg", medium="image", seed=None, **more):
    attack = {"family": family, "strength": strength, "seed": seed}
    one = row(
        case_id, **{"state": "attacked", "transform": f"{family}-{strength}", "parameters": {"attack": attack}, **more}
    )
    one["case"]["media_type"] = medium
    return one


def marked(row, case_id, *, medium="image", **more):
    one = row(case_id, state="marked", **more)
    one["case"]["media_type"] = medium
    return one


def only_curve(report, rows):
    (curve,) = report(rows)["results"]["robustness"]
    return curve


def strengths(curve):
    return [point["strength"] for point in curve["points"]]


@pytest.mark.parametrize(("medium", "family", "grid"), GRIDS)
def test_points_of_every_family_stand_as_in_its_grid(row, report, medium, family, grid):
    rows = [
        attacked(row, f"c{strength}", strength, family=family, medium=medium, pair_id="p")
        for strength in sorted(grid, key=str)
    ]
    rows.append(marked(row, "m", medium=medium, pair_id="p"))
    curve = only_curve(report, rows)
    assert strengths(curve) == [None, *grid]
    assert (curve["family"], curve["media_type"], curve["strength_order"]) == (family, medium, "weak_to_strong")


def test_strengths_between_those_of_the_grid_keep_its_direction(row, report):
    curve = only_curve(report, [attacked(row, f"c{q}", q, pair_id="p") for q in (33, 1, 97.5)])
    assert strengths(curve) == [97.5, 33, 1]


@pytest.mark.parametrize(("family", "medium"), [("my-own", "image"), ("jpeg", "text"), ("jpeg", "audio")])
def test_other_families_are_in_the_order_of_their_numbers(row, report, family, medium):
    rows = [attacked(row, f"c{q}", q, family=family, medium=medium, pair_id="p") for q in (10, 9, 100)]
    curve = only_curve(report, rows)
    assert (strengths(curve), curve["strength_order"]) == ([9, 10, 100], "by_number")


def test_a_point_says_everything(row, report):
    rows = [
        marked(row, "m", pair_id="p", message_bit_accuracy=1.0),
        attacked(
            row,
            "a",
            90,
            pair_id="p",
            message_bit_accuracy=0.75,
            fidelity={"status": "measured", "mae": 1.5, "changed_fraction": 0.5, "psnr_db": 40.5},
        ),
        attacked(row, "b", 90, pair_id="q", status="not_detected", message_bit_accuracy=0.5),
        attacked(row, "c", 90, pair_id="r", status="error"),
    ]
    curve = only_curve(report, rows)
    start, point = curve.pop("points")
    assert curve == {
        "suite": "suite.py::test_detection",
        "params": None,
        "adapter": "dwt-dct",
        "media_type": "image",
        "family": "jpeg",
        "strength_order": "weak_to_strong",
        "carriers": 3,
    }
    low, high = proportion_confint(1, 2, method="wilson")
    rate = {"k": 1, "n": 2, "rate": 0.5, "wilson95_low": pytest.approx(low), "wilson95_high": pytest.approx(high)}
    assert point == {
        "attack": "jpeg-90",
        "strength": 90.0,
        "rows": 3,
        "rows_without_verdict": 1,
        "detected_rate_of_artifacts": rate,
        "clustered95": None,
        "bases": {"count": 2, "detected_in_all": rate, "detected_in_any": rate},
        "message_bit_accuracy": {"n": 2, "min": 0.5, "median": 0.5, "max": 0.75},
        "mae": {"n": 1, "min": 1.5, "median": 1.5, "max": 1.5},
        "changed_fraction": {"n": 1, "min": 0.5, "median": 0.5, "max": 0.5},
        "psnr_db": {"n": 1, "min": 40.5, "median": 40.5, "max": 40.5},
    }
    assert (start["attack"], start["strength"], start["rows"]) == (None, None, 1)
    assert start["message_bit_accuracy"] == {"n": 1, "min": 1.0, "median": 1.0, "max": 1.0}


def test_a_curve_starts_with_the_marked_artifacts_of_its_own_bases(row, report):
    rows = [
        marked(row, "m1", pair_id="p", message_bit_accuracy=0.5),
        marked(row, "m2", pair_id="q", status="not_detected", message_bit_accuracy=1.0),
        attacked(row, "a", 90, pair_id="p"),
        attacked(row, "b", 5, family="rotate", pair_id="q"),
    ]
    jpeg, rotate = report(rows)["results"]["robustness"]
    for curve, detected, bits in ((jpeg, 1, 0.5), (rotate, 0, 1.0)):
        start = curve["points"][0]
        assert (start["rows"], start["detected_rate_of_artifacts"]["k"], curve["carriers"]) == (1, detected, 1)
        assert start["message_bit_accuracy"]["max"] == bits


def test_a_curve_without_marked_artifacts_starts_with_its_weakest_point(row, report):
    curve = only_curve(report, [marked(row, "m", pair_id="other"), attacked(row, "a", 90, pair_id="p")])
    assert strengths(curve) == [90]


def test_rows_without_a_base_are_on_points_and_in_no_start(row, report):
    rows = [marked(row, "m"), attacked(row, "a", 90)]
    for one in rows:
        del one["case"]["pair_id"]
    curve = only_curve(report, rows)
    assert (strengths(curve), curve["carriers"]) == ([90], 0)
    assert curve["points"][0]["detected_rate_of_artifacts"]["n"] == 1


def test_media_and_adapters_have_curves_of_their_own(row, report):
    rows = [
        attacked(row, "a", 10, family="noise", medium="image", pair_id="p"),
        attacked(row, "b", 40, family="noise", medium="image", pair_id="p"),
        attacked(row, "c", 10, family="noise", medium="audio", pair_id="p"),
        attacked(row, "d", 40, family="noise", medium="audio", pair_id="p"),
        attacked(row, "e", 10, family="noise", medium="audio", pair_id="p", adapter="perth"),
    ]
    curves = report(rows)["results"]["robustness"]
    assert [(curve["adapter"], curve["media_type"], strengths(curve)) for curve in curves] == [
        ("dwt-dct", "audio", [40, 10]),
        ("dwt-dct", "image", [10, 40]),
        ("perth", "audio", [10]),
    ]


@pytest.mark.parametrize("strength", [None, "90", True, [90], 10**400])
def test_what_is_no_strength_is_on_no_curve(row, report, strength):
    rows = [attacked(row, "b", strength, pair_id="p", transform="jpeg"), attacked(row, "a", 1, pair_id="p")]
    assert strengths(only_curve(report, rows)) == [1]


def test_removed_rows_are_on_no_curve(row, report):
    rows = [attacked(row, "a", 90, pair_id="p"), attacked(row, "b", 90, pair_id="p", state="removed", artifact="a")]
    (point,) = only_curve(report, rows)["points"]
    assert (point["rows"], point["detected_rate_of_artifacts"]["n"]) == (1, 1)


def test_several_seeds_widen_the_interval_by_base(row, report):
    rows = [
        attacked(row, f"{base}-{seed}", 20, family="noise", seed=seed, pair_id=base, status=status)
        for base, status in (("p", "detected"), ("q", "not_detected"), ("r", "detected"))
        for seed in range(4)
    ]
    (point,) = only_curve(report, rows)["points"]
    rate, clustered = point["detected_rate_of_artifacts"], point["clustered95"]
    expected = clustered_interval([4, 0, 4], [4, 4, 4])
    assert (rate["k"], rate["n"]) == (8, 12)
    assert (clustered["low"], clustered["high"]) == (expected.low, expected.high)
    assert clustered["low"] < rate["wilson95_low"] < rate["wilson95_high"] < clustered["high"]
    assert (point["bases"]["count"], point["bases"]["detected_in_all"]["k"]) == (3, 2)


def test_an_artifact_with_two_verdicts_is_in_no_rate(row, report):
    rows = [
        attacked(row, "a", 90, pair_id="p", artifact="same"),
        row("b", state="removed", pair_id="p", artifact="same", status="not_detected"),
    ]
    (point,) = only_curve(report, rows)["points"]
    assert (point["rows"], point["rows_without_verdict"], point["detected_rate_of_artifacts"]["n"]) == (1, 0, 0)


cases = st.lists(
    st.fixed_dictionaries(
        {
            "suite": st.sampled_from(["a.py::test", "b.py::test"]),
            "params": st.just("q75"),
            "adapter": st.sampled_from(["dwt-dct", "rivagan"]),
            "state": st.sampled_from(["marked", "attacked", "attacked", "removed"]),
            "pair_id": st.sampled_from(["p1", "p2", "p3"]),
            "artifact": st.integers(0, 20).map(str),
            "family": st.sampled_from(["jpeg", "rotate"]),
            "strength": st.sampled_from([10, 20.5, 90]),
            "status": st.sampled_from(["detected", "detected", "not_detected", "scored", "error", "unavailable"]),
            "bits": st.sampled_from([None, 0.5, 0.75, 1.0]),
        }
    ),
    max_size=40,
)


def counted_by_pandas(drawn):
    """Give {(series, family, strength): (rows, k, n, bits)} with the start of a curve as the strength ``None``."""
    frame = pd.DataFrame(drawn, columns=[*SERIES, "state", "pair_id", "artifact", "family", "strength", "status", "bits"])
    has_verdict = frame.status.isin(["detected", "not_detected", "scored"])
    said = frame[has_verdict].groupby([*SERIES, "artifact"]).status.agg(lambda each: "/".join(sorted(set(each))))
    found = {}
    for key, curve in frame[frame.state == "attacked"].groupby([*SERIES, "family"]):
        same_series = (frame[SERIES] == list(key[:3])).all(axis=1)
        start = frame[same_series & (frame.state == "marked") & frame.pair_id.isin(set(curve.pair_id))]
        for strength, point in [(None, start), *curve.groupby("strength")]:
            verdicts = [said.get((*key[:3], artifact)) for artifact in set(point[has_verdict.loc[point.index]].artifact)]
            bits = point[has_verdict.loc[point.index]].bits.dropna()
            if len(point):
                numbers = (len(bits), bits.min(), bits.max()) if len(bits) else None
                decided = (verdicts.count("detected"), verdicts.count("detected") + verdicts.count("not_detected"))
                found[*key, strength] = (len(point), *decided, numbers)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=cases, data=st.data())
def test_points_agree_with_pandas_and_not_with_the_order_of_rows(row, report, drawn, data):
    rows = []
    for number, one in enumerate(drawn):
        told = {name: value for name, value in one.items() if name not in ("family", "strength", "bits")}
        attack = {"family": one["family"], "strength": one["strength"]} if one["state"] != "marked" else None
        rows.append(
            row(f"c{number}", parameters={"attack": attack}, transform="t", message_bit_accuracy=one["bits"], **told)
        )
    curves = report(rows)["results"]["robustness"]
    found = {}
    for curve in curves:
        for point in curve["points"]:
            rate, bits = point["detected_rate_of_artifacts"], point["message_bit_accuracy"]
            numbers = None if bits is None else (bits["n"], bits["min"], bits["max"])
            key = (*(curve[name] for name in SERIES), curve["family"], point["strength"])
            found[key] = (point["rows"], rate["k"], rate["n"], numbers)
    assert found == counted_by_pandas(drawn)
    shuffled = report(data.draw(st.permutations(rows)))["results"]["robustness"]
    assert encode_document(shuffled) == encode_document(curves)


def test_three_marks_on_one_carrier_are_one_carrier_and_start_with_what_is_attacked(row, report):
    rows = []
    for mark in "abc":
        pair = {"pair_id": f"cat-{mark}"}
        rows += [row(f"clean-{mark}", state="clean", status="not_detected", artifact="cat", **pair)]
        rows += [row(f"marked-{mark}", state="marked", **pair)]
        if mark != "c":
            rows += [attacked(row, f"jpeg-{mark}", 50, **pair)]
    (curve,) = report(rows)["results"]["robustness"]
    assert curve["carriers"] == 1
    assert [(point["rows"], point["bases"]["count"]) for point in curve["points"]] == [(2, 1), (2, 1)]
    assert all(point["clustered95"]["effective_n"] == 1 for point in curve["points"])
