import pytest

from pytest_benchbench.adapters.weights import NOT_PINNED
from pytest_benchbench.reports.detector_benchmark import decode_benchmark
from pytest_benchbench.reports.detector_figures import Identity, WeightsFile
from pytest_benchbench.reports.detector_outcomes import (
    KIND,
    MAY_CHANGE,
    changes,
    identity_text,
    kind_of,
    other_kind,
    outcomes,
    rate_of,
    sample_id,
    several_in_one,
)
from pytest_benchbench.statistics.regression import HIGHER_IS_BETTER


def identity(**more):
    return Identity(**{"name": "gptzero", "version": "1", "rule": "score >= 50", **more})


def test_every_member_of_an_identity_makes_the_detector_or_may_change():
    assert {*KIND, *MAY_CHANGE, "varying"} == set(Identity.__struct_fields__)


@pytest.mark.parametrize("name", KIND)
def test_another_vendor_tier_or_api_version_is_another_detector(name):
    old, new = identity(**{name: "one"}), identity(**{name: "other"})
    assert kind_of(old) != kind_of(new)
    (told,) = other_kind(old, new)
    assert told.endswith("one -> other")
    assert not list(changes(old, new))


@pytest.mark.parametrize("name", ["version", "model"])
def test_what_changes_unasked_stays_the_same_detector(name):
    old, new = identity(**{name: "one"}), identity(**{name: "other"})
    assert kind_of(old) == kind_of(new)
    assert other_kind(old, new) == []
    assert list(changes(old, new)) == [f"{name} one -> other"]


def test_other_weights_and_whether_they_were_pinned_are_no_other_detector():
    files = [(WeightsFile(name="model.onnx", sha256=digit * 64),) for digit in "ab"]
    old, new = (identity(weights=each) for each in files)
    assert kind_of(old) == kind_of(new)
    assert list(changes(old, new)) == ["other weights"]
    assert kind_of(identity()) == kind_of(identity(rule=f"score >= 50; {NOT_PINNED}"))


def test_rows_of_several_detectors_under_one_name_are_told():
    assert several_in_one(identity()) is None
    assert several_in_one(identity(varying={"version": ("1", "2"), "model": ("a", "b")})) is None
    assert several_in_one(identity(varying={"apiVersion": ("v2", "v3")})) == "API version v2 and v3"


def test_an_identity_in_words_names_what_is_known_and_obeys_nothing():
    told = identity_text(identity(vendor="GPTZero", plan="starter", apiVersion="v2", model="x\ny", varying={}))
    assert told == "gptzero, of GPTZero, version 1, plan starter, API version v2, model x y"
    assert "model a and b" in identity_text(identity(varying={"model": ("a", "b")}))


def test_what_the_version_says_of_plan_and_interface_is_told_once():
    known = {"plan": "starter", "apiVersion": "v2", "requestedModel": "m-1"}
    version = "gptzero API v2, plan starter, model m-1"
    assert identity_text(identity(version=version, **known)) == f"gptzero, version {version}"
    assert (
        identity_text(identity(version=version, model="m-1", **known)) == f"gptzero, version {version}, model m-1"
    )  # echoed
    assert "plan pro, " in identity_text(identity(version="API v2, plan professional", **known | {"plan": "pro"}))
    told = identity_text(identity(version="2 of May", **known))
    assert told == "gptzero, version 2 of May, plan starter, API version v2, requested model m-1"


def test_outcomes_of_the_metrics(text_benchmarks):
    benchmark = text_benchmarks.benchmark(1, zippy={"wrong": ["a01", "h01", "z01"], "unscored": ["a02", "h02", "z02"]})
    (detector,) = benchmark.detectors
    told = {metric: outcomes(benchmark, detector, metric) for metric in HIGHER_IS_BETTER}
    assert {metric: (sum(each.values()), len(each)) for metric, each in told.items()} == {
        "accuracy": (94, 97),
        "tpr": (56, 58),
        "fpr": (1, 39),
        "humanizerBypass": (1, 19),
    }
    assert [sample_id(name) for name, did in told["humanizerBypass"].items() if did] == ["z01"]
    assert [sample_id(name) for name, did in told["fpr"].items() if did] == ["h01"]
    for metric, each in told.items():
        rate = rate_of(detector, metric)
        assert (rate.k, rate.n) == (sum(each.values()), len(each))


def test_a_score_of_50_is_called_ai(text_benchmarks):
    document = text_benchmarks.document(1, zippy=[])
    document["detectors"][0]["scores"] |= {"a01": 50.0, "z01": 50.0, "h01": 50.0}
    benchmark = decode_benchmark(document)
    (detector,) = benchmark.detectors
    ids = {
        metric: {sample_id(name) for name, did in outcomes(benchmark, detector, metric).items() if did}
        for metric in ("fpr", "tpr", "humanizerBypass")
    }
    assert ids["fpr"] == {"h01"}
    assert {"a01", "z01"} <= ids["tpr"]
    assert ids["humanizerBypass"] == set()


def test_another_text_or_label_is_another_sample(text_benchmarks):
    samples = text_benchmarks.samples()
    before = text_benchmarks.benchmark(1, zippy=[])
    samples[0]["sha256"] = "0" * 64
    samples[1]["label"] = "human"
    after = text_benchmarks.benchmark(2, zippy=[], samples=samples)
    names = [set(outcomes(each, each.detectors[0], "accuracy")) for each in (before, after)]
    assert len(names[0] & names[1]) == 98


def test_ids_with_spaces_come_back(text_benchmarks):
    samples = [{**each, "id": f"{each['id']} of  many"} for each in text_benchmarks.samples()]
    benchmark = text_benchmarks.benchmark(1, zippy=[], samples=samples)
    assert "a00 of  many" in {sample_id(name) for name in outcomes(benchmark, benchmark.detectors[0], "accuracy")}
