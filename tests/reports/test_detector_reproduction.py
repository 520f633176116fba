import math

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from pytest_benchbench.reports.detector_reproduction import CannotReproduceError, reproduction
from pytest_benchbench.reports.detector_reproduction_lines import reproduction_lines

few = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])

IDS = [f"{kind}{number:02}" for kind, count in (("a", 40), ("h", 40), ("z", 20)) for number in range(count)]


def held(text_benchmarks, published, mine, tolerance=3.0):
    return reproduction(text_benchmarks.benchmark(1, **published), text_benchmarks.benchmark(2, **mine), tolerance)


def accuracy(document):
    return document["detectors"][0]["metrics"]["accuracy"]


def test_three_points_are_within_three_points(text_benchmarks):
    exact = held(text_benchmarks, {"zippy": []}, {"zippy": ["a00", "a01", "a02"]})
    assert accuracy(exact)["within"] is True
    assert accuracy(exact)["points"] == -3
    assert accuracy(held(text_benchmarks, {"zippy": []}, {"zippy": ["a00", "a01", "a02"]}, 2.99))["within"] is False


def test_a_decimal_tolerance_is_the_number_as_it_is_written(text_benchmarks):
    samples = text_benchmarks.samples()[:40] + text_benchmarks.samples()[40:80]
    unscored = frozenset(f"h{number:02}" for number in range(10, 40))  # 50 samples are left: 7 of them are 14 %
    told = [{"zippy": {"wrong": wrong, "unscored": unscored}, "samples": samples} for wrong in ((), tuple(IDS[:7]))]
    assert accuracy(held(text_benchmarks, *told, 14.0))["within"] is True
    assert accuracy(held(text_benchmarks, *told, 13.9))["within"] is False


@few
@given(st.sets(st.sampled_from(IDS)), st.sets(st.sampled_from(IDS)))
def test_laws_of_a_reproduction(text_benchmarks, published, mine):
    there, back = (
        held(text_benchmarks, {"zippy": one}, {"zippy": other}) for one, other in ((published, mine), (mine, published))
    )
    for metric, figures in there["detectors"][0]["metrics"].items():
        turned = back["detectors"][0]["metrics"][metric]
        assert figures["points"] == -turned["points"]
        assert figures["within"] == turned["within"] == (abs(figures["points"]) <= 3 + 1e-9)
        assert (figures["p"], figures["byChance"]) == (turned["p"], turned["byChance"])
        pairs = figures["pairs"]
        assert figures["points"] == pytest.approx(100 * (figures["mine"]["value"] - figures["published"]["value"]))
        if figures["p"] is not None:
            table = [[pairs["kept"], pairs["lost"]], [pairs["gained"], pairs["absent"]]]
            assert figures["p"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    assert held(text_benchmarks, {"zippy": mine}, {"zippy": mine})["outside"] == []


def test_chance_is_said_beside_each_difference(text_benchmarks):
    few_wrong = held(text_benchmarks, {"zippy": IDS[:20]}, {"zippy": IDS[:24]})
    assert accuracy(few_wrong)["byChance"] == pytest.approx(0.54, abs=0.02)  # more than 3 of 100 at a rate of .78
    assert accuracy(few_wrong)["chance"] is True
    many = held(text_benchmarks, {"zippy": IDS[:20]}, {"zippy": IDS[:35]})
    assert accuracy(many)["chance"] is False
    assert "more than chance" in "".join(reproduction_lines(many))


def test_the_same_detector_is_found_by_what_it_is_whatever_it_is_called(text_benchmarks):
    document = held(text_benchmarks, {"zippy": []}, {"mine": {"wrong": [], "name": "zippy"}})
    assert (document["detectors"][0]["published"], document["detectors"][0]["mine"]) == ("zippy", "mine")


@pytest.mark.parametrize(
    ("published", "mine", "told"),
    [
        ({"plan": "starter"}, {"plan": "enterprise"}, "plan starter -> enterprise"),
        ({"apiVersion": "v2"}, {"apiVersion": "v3"}, "API version v2 -> v3"),
        ({"requestedModel": "lite"}, {"requestedModel": "turbo"}, "requested model lite -> turbo"),
        ({"mixed": "ai"}, {"mixed": "half"}, "mixed counted as ai -> half"),
        ({"vendor": "one"}, {"vendor": "other"}, "vendor one -> other"),
    ],
)
def test_another_tier_version_or_model_is_said_and_not_compared(text_benchmarks, published, mine, told):
    same = {"zippy": []}
    document = held(text_benchmarks, {**same, "gptzero": published}, {**same, "gptzero": mine})
    assert [line["published"] for line in document["detectors"]] == ["zippy"]
    assert [each["side"] for each in document["notCompared"]] == ["published", "mine"]
    assert all(told in each["reason"] for each in document["notCompared"])
    assert document["outside"] == []
    with pytest.raises(CannotReproduceError, match=f"no detector is in both runs.*{told}"):
        held(text_benchmarks, {"gptzero": published}, {"gptzero": mine})


def test_what_a_vendor_changed_unasked_is_compared_and_said(text_benchmarks):
    document = held(text_benchmarks, {"copyleaks": {"model": "v5"}}, {"copyleaks": {"model": "v7.1"}})
    assert document["detectors"][0]["changes"] == ["model v5 -> v7.1"]
    assert any("model v5 -> v7.1" in note for note in document["notes"])


def test_two_of_one_kind_are_told_apart_by_their_names(text_benchmarks):
    twice = {"one": {"name": "zippy", "wrong": []}, "two": {"name": "zippy", "wrong": IDS[:9]}}
    document = held(text_benchmarks, twice, twice)
    assert [(line["published"], line["mine"]) for line in document["detectors"]] == [("one", "one"), ("two", "two")]
    document = held(text_benchmarks, twice, {**twice, "three": {"name": "zippy"}})
    assert [each["alias"] for each in document["notCompared"]] == ["three"]


def test_detectors_without_scores_and_of_several_kinds_are_not_compared(text_benchmarks):
    silent = {"unscored": frozenset(IDS)}
    mixed = {"varying": {"plan": ["free", "paid"]}}
    document = held(text_benchmarks, {"zippy": [], "b": silent, "c": []}, {"zippy": [], "b": [], "c": mixed})
    assert {each["alias"]: each["reason"] for each in document["notCompared"] if each["side"] == "published"} == {
        "b": "b (published): it scored nothing: 100 samples",
        "c": "c (published): the other run has no such detector",
    }
    assert any("several detectors under one name: plan free and paid" in each["reason"] for each in document["notCompared"])


def test_samples_that_one_side_did_not_score_are_in_no_pair_and_told(text_benchmarks):
    document = held(text_benchmarks, {"zippy": {"unscored": IDS[:10]}}, {"zippy": IDS[:10]})
    assert accuracy(document)["pairs"]["n"] == 90
    assert accuracy(document)["points"] == 0
    assert any("zippy (published) has no score for 10 of 100 samples" in note for note in document["notes"])


def test_a_metric_without_samples_is_no_agreement(text_benchmarks):
    unscored = [sample for sample in IDS if sample.startswith("z")]
    document = held(text_benchmarks, {"zippy": {"unscored": unscored}}, {"zippy": []})
    assert document["detectors"][0]["metrics"]["humanizerBypass"]["within"] is None
    assert "humanizerBypass: - -> 0 of 20 = 0.000; no such sample was scored by both" in "\n".join(
        reproduction_lines(document)
    )


@pytest.mark.parametrize("change", ["text", "label", "gone"])
def test_other_samples_are_refused(text_benchmarks, change):
    samples = text_benchmarks.samples()
    match change:
        case "text":
            samples[0]["sha256"] = "0" * 64
        case "label":
            samples[0]["label"] = "human"
        case "gone":
            del samples[0]
    with pytest.raises(CannotReproduceError, match="the samples differ: 1 of the published 100 are not yours"):
        held(text_benchmarks, {"zippy": []}, {"zippy": [], "samples": samples})


def test_an_incomplete_run_and_the_banner_are_told(text_benchmarks):
    document = held(text_benchmarks, {"zippy": []}, {"zippy": [], "complete": False, "banner": "example set: no claim"})
    assert "your run is not complete: 2 rows were lost" in document["notes"]
    assert reproduction_lines(document)[0] == "example set: no claim"


def test_lines_obey_no_foreign_text(text_benchmarks):
    document = held(text_benchmarks, {"zippy": {"plan": "a\x1b[31mb\nc"}}, {"zippy": {"plan": "a\x1b[31mb\nc"}})
    assert all(line.isprintable() for line in reproduction_lines(document))
    assert all(math.isfinite(figures["byChance"]) for figures in document["detectors"][0]["metrics"].values())
