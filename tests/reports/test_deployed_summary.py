"""What deployed scorers took: the first case apart, later ones by cache, metadata rows apart, terminal ones counted."""

import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.evidence.reading import index_evidence
from pytest_benchbench.reports.deployed_schema import deployed_summary_schema
from pytest_benchbench.reports.deployed_summary import DeployedSummary

NONE = {"rows": 0, "wall_ms": None, "pipeline_ms": None, "inference_ms": None}

METADATA = {"provider": "metadata", "decidedBy": "metadata", "cacheStatus": None, "inferenceMs": None}


@pytest.fixture(scope="session")
def deployed(row):
    """``deployed(case_id, **scorer)``: a row as the adapter ``chrome`` leaves it; ``None`` takes a name out."""

    def of(case_id, status="scored", *, adapter="chrome", attempt=1, params=None, **scorer):
        told = {"evaluationMode": "deployed", "provider": "wasm", "decidedBy": "pixels", "profile": "fresh"}
        scorer = {**told, "cacheStatus": "miss", "wallMs": 90.0, "pipelineMs": 30.0, "inferenceMs": 3.0, **scorer}
        scorer = {name: value for name, value in scorer.items() if value is not None}
        score = {"score": 0.25} if status == "scored" else {}
        told = {"adapter": adapter, "attempt": attempt, "params": params, "kind": "dataset", "case": {"id": case_id}}
        return row(case_id, status=status, **told, **score, scorer=scorer)

    return of


@pytest.fixture(scope="session")
def summary(write):
    """Sum up rows, each list of them a run, and hold what comes of it against the schema."""
    validator = jsonschema.Draft202012Validator(deployed_summary_schema())

    def of(*runs):
        taker, files = DeployedSummary(), []
        for number, rows in enumerate(runs, 1):
            indexed = index_evidence(write(rows))
            taker.begin_run(number)
            indexed.feed(taker.add)
            files.append((indexed.path.name, indexed.sha256))
        document = taker.document(*files)
        if document is not None:
            validator.validate(document)
        return document

    return of


@pytest.fixture(scope="session")
def line(summary):
    """Give the only line of the summary of rows."""

    def of(*rows):
        (series,) = summary(rows)["results"]["series"]
        return series

    return of


def test_the_first_case_is_apart_from_later_uncached_ones(deployed, line):
    found = line(
        deployed("a", first=True, wallMs=4000.0, pipelineMs=1500.5, inferenceMs=900),
        *(deployed(f"b{n}", first=False, wallMs=100.0 + n, pipelineMs=10.0 + n, inferenceMs=1.0 + n) for n in range(4)),
        deployed("c", cacheStatus="hit", wallMs=5.0, pipelineMs=0.0, inferenceMs=None),
    )
    assert found["first"] == {
        "count": 1,
        "listed": [
            {
                "case_id": "a",
                "manifest": "cases.jsonl",
                "line": 1,
                "pointer": None,
                "profile": "fresh",
                "cache_status": "miss",
                "model_cold": True,
                "wall_ms": 4000.0,
                "pipeline_ms": 1500.5,
                "inference_ms": 900.0,
            }
        ],
    }
    assert found["later"] == {
        "uncached": {
            "rows": 4,
            "wall_ms": {"n": 4, "p50_ms": 101.0, "p95_ms": 103.0, "max_ms": 103.0},
            "pipeline_ms": {"n": 4, "p50_ms": 11.0, "p95_ms": 13.0, "max_ms": 13.0},
            "inference_ms": {"n": 4, "p50_ms": 2.0, "p95_ms": 4.0, "max_ms": 4.0},
        },
        "cached": {
            "rows": 1,
            "wall_ms": {"n": 1, "p50_ms": 5.0, "p95_ms": 5.0, "max_ms": 5.0},
            "pipeline_ms": {"n": 1, "p50_ms": 0.0, "p95_ms": 0.0, "max_ms": 0.0},
            "inference_ms": None,
        },
        "cache_unknown": NONE,
        "metadata": NONE,
    }


@settings(max_examples=30)
@given(times=st.lists(st.floats(0, 1e6), min_size=1, max_size=45))
def test_percentiles_are_nearest_ranks(deployed, line, times):
    found = line(*(deployed(f"c{n}", pipelineMs=time) for n, time in enumerate(times)))["later"]["uncached"]["pipeline_ms"]
    p50, p95 = np.percentile(times, [50, 95], method="inverted_cdf")
    assert found == {"n": len(times), "p50_ms": p50, "p95_ms": p95, "max_ms": max(times)}


@pytest.mark.parametrize(
    ("profile", "cache", "cold"),
    [
        ("fresh", "miss", True),
        ("fresh", None, True),
        ("fresh", "hit", False),
        ("warm", "miss", False),
        (None, "miss", False),
    ],
)
def test_the_first_case_is_cold_only_in_a_fresh_profile(deployed, line, profile, cache, cold):
    (first,) = line(deployed("a", first=True, profile=profile, cacheStatus=cache))["first"]["listed"]
    assert (first["profile"], first["cache_status"], first["model_cold"]) == (profile, cache, cold)


def test_each_browser_process_has_a_first_case_in_the_order_of_the_manifest(deployed, line):
    rows = [deployed("b", first=True), deployed("a", first=True, profile="warm"), deployed("c")]
    first = line(*rows)["first"]
    assert [entry["case_id"] for entry in first["listed"]] == ["a", "b"]
    assert first["count"] == 2


def test_rows_decided_by_metadata_are_in_no_other_number(deployed, line):
    rows = [deployed("m", first=True, wallMs=1.0, pipelineMs=None, **METADATA), deployed("a", first=True), deployed("b")]
    found = line(*rows)
    one = {"n": 1, "p50_ms": 1.0, "p95_ms": 1.0, "max_ms": 1.0}
    assert found["later"]["metadata"] == {"rows": 1, "wall_ms": one, "pipeline_ms": None, "inference_ms": None}
    assert found["later"]["uncached"]["rows"] == 1
    assert [entry["case_id"] for entry in found["first"]["listed"]] == ["a"]


def test_a_cache_that_nobody_tells_of_is_no_missed_one(deployed, line):
    found = line(deployed("a", cacheStatus=None), deployed("b"))["later"]
    assert (found["cache_unknown"]["rows"], found["uncached"]["rows"], found["cached"]["rows"]) == (1, 1, 0)


def test_what_a_scorer_does_not_expose_is_null_and_never_zero(deployed, line):
    silent = {"wallMs": None, "pipelineMs": None, "inferenceMs": None}
    found = line(deployed("a", first=True, **silent), deployed("b", **silent))
    assert found["later"]["uncached"] == {**NONE, "rows": 1}
    assert [found["first"]["listed"][0][name] for name in ("wall_ms", "pipeline_ms", "inference_ms")] == [None] * 3


def test_every_row_is_counted_by_how_it_ended_and_only_scored_ones_have_times(deployed, row, line):
    ended = ["too-small", "disabled", "unsupported", "inference-error", "timeout", "error", "unavailable"]
    lost = row("lost", adapter="chrome", kind="dataset", case={"id": "lost"}, status="error", outcome="not_run")
    found = line(deployed("a"), *(deployed(status, status, wallMs=9e9) for status in ended), lost)
    assert found["rows"] == 9
    assert found["statuses"] == {"scored": 1, "not_run": 1, **dict.fromkeys(ended, 1)}
    assert found["later"]["uncached"]["wall_ms"] == {"n": 1, "p50_ms": 90.0, "p95_ms": 90.0, "max_ms": 90.0}
    assert found["providers"][0]["rows"] == 1


def test_the_attempt_that_counts_is_summed_up(deployed, line):
    found = line(deployed("a", "timeout"), deployed("a", attempt=2, wallMs=7.0))
    assert found["statuses"] == {"scored": 1}
    assert found["later"]["uncached"]["wall_ms"]["max_ms"] == 7.0


def test_a_run_in_which_nothing_was_scored_has_its_rows_counted(deployed, line):
    found = line(deployed("a", "too-small"), deployed("b", "timeout"))
    assert found["statuses"] == {"timeout": 1, "too-small": 1}
    assert (found["first"], found["later"]["uncached"], found["providers"]) == ({"count": 0, "listed": []}, NONE, [])


def test_on_what_it_was_computed_is_told_with_the_software_adapter(deployed, line):
    software = {"vendor": "google", "architecture": "swiftshader", "isFallbackAdapter": True}
    gpu = {"provider": "webgpu", "providerDetail": software}
    found = line(deployed("a", **gpu), deployed("b", **gpu), deployed("c"), deployed("m", **METADATA))
    silent = {"vendor": None, "architecture": None, "is_fallback_adapter": None, "rows": 1}
    assert found["providers"] == [
        {"provider": "metadata", **silent},
        {"provider": "wasm", **silent},
        {
            "provider": "webgpu",
            "vendor": "google",
            "architecture": "swiftshader",
            "is_fallback_adapter": True,
            "rows": 2,
        },
    ]


def test_aliases_and_parameters_are_not_pooled(deployed, summary):
    rows = [deployed("a", adapter="wasm"), deployed("a", adapter="gpu"), deployed("a", adapter="gpu", params="x")]
    series = summary(rows)["results"]["series"]
    assert [(line["adapter"], line["params"], line["rows"]) for line in series] == [
        ("gpu", None, 1),
        ("wasm", None, 1),
        ("gpu", "x", 1),
    ]


def test_there_is_no_summary_without_a_deployed_row(deployed, row, summary):
    assert summary([row("a"), deployed("b", evaluationMode="reference"), deployed("c", evaluationMode=None)]) is None
    assert summary([row("a", scorer={})]) is None


def test_an_adapter_that_is_not_deployed_has_no_line(deployed, row, summary):
    found = summary([row("w"), deployed("a"), deployed("a", adapter="onnx", evaluationMode="reference")])
    assert [line["adapter"] for line in found["results"]["series"]] == ["chrome"]


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"wallMs": "90"}, "detection.scorer.wallMs: expected float | null, got str"),
        ({"pipelineMs": -1}, "detection.scorer.pipelineMs: expected float >= 0.0"),
        ({"first": 1}, "detection.scorer.first: expected bool | null, got int"),
        ({"profile": "new"}, "detection.scorer.profile: invalid enum value 'new'"),
        ({"cacheStatus": "maybe"}, "detection.scorer.cacheStatus: invalid enum value 'maybe'"),
        ({"providerDetail": "gpu"}, "detection.scorer.providerDetail: expected object | null, got str"),
        ({"evaluationMode": "reference"}, "detection.scorer.evaluationMode: invalid enum value 'reference'"),
        ({"evaluationMode": None}, "detection.scorer: object missing required field evaluationMode"),
        ({"inferenceMs": 10**400}, "detection.scorer.inferenceMs: "),
    ],
)
def test_a_row_that_no_deployed_scorer_writes_leaves_its_series_without_figures(deployed, line, wrong, fault):
    found = line(deployed("a"), deployed("c", **wrong), deployed("b", **wrong))
    told = "2 rows are not as a deployed scorer reports, such as row 'b' ("
    assert found["refused"].startswith(f"{told}{fault}")
    assert found["statuses"] == {"scored": 3}
    assert (found["first"], found["later"], found["providers"]) == ({"count": 0, "listed": []}, {}, [])


def test_a_terminal_row_may_say_what_it_likes(deployed, line):
    assert line(deployed("a"), deployed("b", "timeout", wallMs="long"))["refused"] is None


@settings(max_examples=20)
@given(data=st.data())
def test_the_order_of_evidence_changes_no_byte_of_the_results(deployed, summary, data):
    scorers = st.fixed_dictionaries(
        {},
        optional={
            "first": st.booleans(),
            "cacheStatus": st.sampled_from(["hit", "miss", None]),
            "provider": st.sampled_from(["wasm", "webgpu", None]),
            "wallMs": st.sampled_from([1, 2.5, None]),
            "decidedBy": st.sampled_from(["pixels", "metadata"]),
            "profile": st.sampled_from(["fresh", "neither"]),
        },
    )
    statuses = st.sampled_from(["scored", "scored", "timeout"])
    drawn = data.draw(st.lists(st.tuples(statuses, st.sampled_from(["x", "y"]), scorers), min_size=1, max_size=8))
    rows = [deployed(f"c{n}", status, adapter=adapter, **more) for n, (status, adapter, more) in enumerate(drawn)]
    again = data.draw(st.permutations(rows))
    assert json.dumps(summary(rows)["results"]) == json.dumps(summary(again)["results"])


def test_several_runs_are_told_apart_and_one_alone_is_as_if_nobody_counted(deployed, summary):
    one, other = [deployed("a", first=True)], [deployed("a", first=True, profile="warm")]
    document = summary(one, other)
    assert [(line["run"], line["first"]["count"]) for line in document["results"]["series"]] == [(1, 1), (2, 1)]
    assert len(document["inputs"]["evidence"]) == 2
    assert "run" not in summary(one)["results"]["series"][0]
    assert summary(one)["inputs"]["evidence"]["name"] == "evidence.jsonl"
