import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.reports.detector_history import history_document
from pytest_benchbench.reports.detector_history_lines import history_lines
from pytest_benchbench.reports.detector_series import Series, entry_of

few = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])

WRONG = [f"a{number:02}" for number in range(12)]
BYPASSED = [f"z{number:02}" for number in range(18)]


@pytest.fixture
def judge(text_benchmarks):
    """``judge({...}, {...})``: judge a series of runs, each given as ``TextBenchmarks.document`` takes it."""

    def judge(*runs, new_baseline=None):
        entries = tuple(
            entry_of(text_benchmarks.benchmark(number, **told), (new_baseline or {}).get(number, {}))
            for number, told in enumerate(runs, 1)
        )
        return history_document(Series("essays", entries, "e" * 64))

    return judge


def verdicts(document, alias="zippy", metric="accuracy"):
    (detector,) = [each for each in document["detectors"] if each["alias"] == alias]
    return [line["verdict"] for line in detector["metrics"][metric]]


def test_alpha_is_shared_by_the_detectors_that_scored(judge):
    told = {
        "zippy": WRONG[:7],
        "b": [],
        "c": [],
        "silent": {"unscored": frozenset(f"{k}{n:02}" for k in "ahz" for n in range(40))},
    }
    document = judge({**told, "zippy": []}, told)
    (line,) = [each for each in document["detectors"] if each["alias"] == "zippy"]
    assert line["metrics"]["accuracy"][1]["alpha"] == pytest.approx(0.05 / 3)
    assert line["metrics"]["accuracy"][1]["p"] == 0.015625
    assert verdicts(document) == ["ok", "watch"]
    four = {**told, "d": []}
    assert verdicts(judge({**four, "zippy": []}, four)) == ["ok", "ok"]  # 7 flips, and .0125 takes 8


def test_one_bad_run_is_watched_two_alert_and_a_good_one_ends_it(judge):
    good, bad = {"zippy": []}, {"zippy": WRONG}
    document = judge(good, bad, bad, good)
    assert verdicts(document) == ["ok", "watch", "alert", "ok"]
    assert document["alerts"] == document["watches"] == []
    assert [each["metric"] for each in judge(good, bad, bad)["alerts"]] == ["accuracy", "tpr"]
    assert [each["metric"] for each in judge(good, bad)["watches"]] == ["accuracy", "tpr"]


def test_humanizer_bypass_is_a_metric_of_its_own_whose_fall_alerts(judge):
    """More humanized texts are caught: the detector's accuracy rises while the humanizer's rate falls."""
    before, after = {"zippy": BYPASSED}, {"zippy": []}
    document = judge(before, after, after)
    assert verdicts(document, metric="humanizerBypass") == ["ok", "watch", "alert"]
    assert verdicts(document) == ["ok", "watch", "ok"]
    (alert,) = document["alerts"]
    assert (alert["metric"], alert["direction"], alert["points"]) == ("humanizerBypass", "worse", -90.0)


def test_a_rising_false_positive_rate_is_the_regression(judge):
    called = [f"h{number:02}" for number in range(12)]
    document = judge({"zippy": []}, {"zippy": called}, {"zippy": called})
    assert verdicts(document, metric="fpr") == ["ok", "watch", "alert"]
    assert verdicts(document, metric="tpr") == ["ok", "ok", "ok"]
    assert {each["metric"]: each["direction"] for each in document["alerts"]} == {"accuracy": "worse", "fpr": "worse"}


def test_another_tier_begins_anew_and_another_echoed_model_does_not(judge):
    good, bad = {"wrong": [], "plan": "starter", "model": "1"}, {"wrong": WRONG, "plan": "starter", "model": "2"}
    assert verdicts(judge({"gptzero": good}, {"gptzero": bad}, {"gptzero": bad}), "gptzero") == ["ok", "watch", "alert"]
    paid = {**bad, "plan": "enterprise"}
    document = judge({"gptzero": good}, {"gptzero": paid}, {"gptzero": paid})
    assert [(line["identity"]["plan"], line["runs"]) for line in document["detectors"]] == [
        ("starter", [1]),
        ("enterprise", [2, 3]),
    ]
    assert document["alerts"] == document["watches"] == []
    assert any("run 2: gptzero (gptzero, version 1.0, plan enterprise" in note for note in document["notes"])
    assert any("gptzero scored nothing after run 1" in note for note in document["notes"])


def test_a_detector_is_the_same_under_another_name_unless_a_run_has_it_twice(judge):
    renamed = {"mine": {"name": "zippy", "wrong": WRONG}}
    document = judge({"zippy": []}, renamed, renamed)
    assert [(line["alias"], line["runs"]) for line in document["detectors"]] == [("mine", [1, 2, 3])]
    assert [each["alias"] for each in document["alerts"]] == ["mine", "mine"]
    twice = {"one": {"name": "zippy", "wrong": []}, "two": {"name": "zippy", "wrong": WRONG}}
    assert [line["runs"] for line in judge(twice, twice)["detectors"]] == [[1, 2], [1, 2]]


def test_a_detector_that_a_run_lacks_is_passed_over(judge):
    both, alone = {"zippy": [], "b": []}, {"b": []}
    bad = {"zippy": WRONG, "b": []}
    document = judge(both, bad, alone, bad)
    assert verdicts(document) == ["ok", "watch", "alert"]
    stale = judge(both, bad, bad, alone)
    assert stale["alerts"] == []
    assert any(
        "zippy scored nothing after run 3: nothing is said of it; then: accuracy alert" in note for note in stale["notes"]
    )


def test_only_samples_that_stayed_the_same_are_paired_across_a_changed_set(judge, text_benchmarks):
    samples = text_benchmarks.samples()
    for sample in samples[:12]:
        sample["sha256"] = "0" * 63 + f"{samples.index(sample):x}"[:1]
    document = judge({"zippy": []}, {"zippy": WRONG, "samples": samples, "sha256": "6" * 64})
    (line,) = document["detectors"]
    assert line["metrics"]["accuracy"][1]["pairs"]["n"] == 88
    assert line["metrics"]["accuracy"][1]["unpaired"] == {"before": 12, "now": 12}
    assert verdicts(document) == ["ok", "ok"]
    assert any("88 samples are the same, 12 are gone or changed, 12 are new" in note for note in document["notes"])


def test_three_that_fall_together_are_one_finding(judge):
    names = ("a", "b", "c", "d")
    document = judge({name: [] for name in names}, {name: WRONG if name != "d" else [] for name in names})
    (shift,) = [each for each in document["shifts"] if each["metric"] == "accuracy"]
    assert shift["run"] == 2
    assert shift["reading"] == "common"
    assert shift["sharedSamples"]["count"] == 12
    text = "\n".join(history_lines(document))
    assert "accuracy: 3 of 4 down by 5 points or more (a -12.0, b -12.0, c -12.0): at least so many would by chance" in text
    assert "they read the same texts: look for a common cause: the set, the harness, the pipeline" in text


def test_nothing_scored_is_untested_and_no_verdict(judge):
    unscored = frozenset(BYPASSED) | {"z18", "z19"}
    document = judge({"zippy": []}, {"zippy": {"unscored": unscored}})
    assert verdicts(document, metric="humanizerBypass") == ["ok", "untested"]
    assert any("zippy scored 80 of 100 samples; 20 are in no pair" in note for note in document["notes"])
    assert "untested (no such sample was scored)" in "\n".join(history_lines(document))


def test_an_outage_is_untested_and_the_next_fall_is_measured_from_before_it(judge):
    outage = {"zippy": {"unscored": frozenset(f"{kind}{number:02}" for kind in "ah" for number in range(35))}}
    document = judge({"zippy": []}, outage, {"zippy": WRONG}, {"zippy": WRONG})
    assert verdicts(document) == ["ok", "untested", "watch", "alert"]
    assert [line["against"] for line in document["detectors"][0]["metrics"]["accuracy"]] == [None, 1, 1, 1]
    assert "untested (too few samples were scored)" in "\n".join(history_lines(judge({"zippy": []}, outage)))


def test_an_accepted_run_is_the_baseline_and_its_reason_is_shown(judge):
    good, bad = {"zippy": []}, {"zippy": WRONG}
    document = judge(good, bad, bad, bad, new_baseline={3: {"zippy": "another model, announced"}})
    assert verdicts(document) == ["ok", "watch", "ok", "ok"]
    assert "; new baseline: another model, announced" in "\n".join(history_lines(document))


def test_lines_show_history_and_judgement(judge):
    gptzero = {"vendor": "GPTZero", "plan": "starter", "apiVersion": "v2"}
    document = judge(*[{"gptzero": gptzero, "banner": "example set: no claim"}] * 2)
    lines = history_lines(document)
    assert lines[0] == "example set: no claim"
    assert "run 1: 2026-01-02T06:00:00+00:00, run-1, commit abcdef012345, set v1 555555555555" in lines
    assert "  gptzero: gptzero, of GPTZero, version 1.0, plan starter, API version v2; 100 scored" in lines
    assert lines[-2].startswith("a true fall of the accuracy by 10 points is flagged in one run with probability 0.")
    assert lines[-1] == "no alert"
    assert sum("run 1" in line and "ok (same: no sample changed)" in line for line in lines) == 4


def test_long_series_show_the_last_runs(judge):
    lines = history_lines(judge(*[{"zippy": []}] * 23))
    assert "  ... 3 earlier" in lines
    assert sum(line.startswith("run ") for line in lines) == 20


def test_what_a_file_says_cannot_forge_lines(judge):
    hostile = {"wrong": [], "name": "zip\nalert: all\x1b[2J", "plan": "\u202e"}
    assert all(line.isprintable() for line in history_lines(judge({"zippy": hostile}, {"zippy": hostile})))


wrong = st.sets(st.sampled_from([f"{kind}{number:02}" for kind in "ahz" for number in range(20)]), max_size=30)
series = st.lists(st.tuples(wrong, wrong, wrong), min_size=1, max_size=4)


@few
@given(series, st.permutations("abc"))
def test_which_detector_is_called_what_changes_no_verdict(judge, told, names):
    ours = judge(*({**{n: {"name": n, "wrong": w} for n, w in zip("abc", run, strict=True)}} for run in told))
    theirs = judge(
        *({**{names["abc".index(n)]: {"name": n, "wrong": w} for n, w in zip("abc", run, strict=True)}} for run in told)
    )
    by_name = [{line["identity"]["name"]: line["metrics"] for line in document["detectors"]} for document in (ours, theirs)]
    assert by_name[0] == by_name[1]


@few
@given(series)
def test_one_run_more_of_the_last_good_kind_alerts_nothing_and_changes_no_earlier_verdict(judge, told):
    runs = [dict(zip("abc", run, strict=True)) for run in told]
    before, after = judge(*runs), judge(*runs, runs[-1])
    for line, longer in zip(before["detectors"], after["detectors"], strict=True):
        for metric, judged in line["metrics"].items():
            assert longer["metrics"][metric][:-1] == judged
            if judged[-1]["verdict"] == "ok" and not judged[-1].get("sustained"):
                assert longer["metrics"][metric][-1]["verdict"] == "ok"
    assert judge(runs[0])["alerts"] == []
