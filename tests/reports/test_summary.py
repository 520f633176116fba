"""The document as a whole: what it depends on, what it lists, what it refuses."""

import hashlib
import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.evidence.observation import SETTLED, judge
from pytest_benchbench.evidence.reading import EvidenceError, settled_rows
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.reports.summary import Summary, build_report

FIDELITY = [
    {"status": "no_reference"},
    {"status": "incomparable", "reason": "16-bit samples"},
    {"status": "measured", "mae": 0.0, "changed_fraction": 0.0, "psnr_db": None, "psnr_status": "unbounded_identical"},
    {"status": "measured", "mae": 1.5, "changed_fraction": 0.25, "psnr_db": 41.5},
]

PARAMETERS = [
    None,
    {"attack": {"family": "jpeg", "strength": 75, "seed": None}, "source": {"provider": "p1", "content_stratum": "night"}},
    {"attack": {"family": "jpeg", "strength": 75.0, "seed": None}, "source": {"provider": None, "content_stratum": "night"}},
    {"attack": {"family": "jpeg", "strength": True}},
    {"attack": {"family": "jpeg", "strength": 1}, "source": {"provider": ["p1"]}},
    {"attack": {"family": "shift", "strength": 0.0}},
    {"attack": {"family": "shift", "strength": -0.0}, "source": "none"},
]

BY = ("media_type", "transform.parameters.attack.strength", "transform.parameters.source.provider", "transform.parameters")

manifest = st.lists(
    st.fixed_dictionaries(
        {
            "state": st.sampled_from(["marked", "attacked", "removed"]),
            "arm": st.sampled_from(["positive", "hard_negative"]),
            "transform": st.sampled_from(["jpeg", "crop"]),
            "artifact": st.sampled_from("xyz"),
            "expected": st.sampled_from(["detected", "not_detected", "unresolved"]),
            "known": st.booleans(),
            "fidelity": st.sampled_from(FIDELITY),
            "pair_id": st.sampled_from(["p", "q", None]),
            "parameters": st.sampled_from(PARAMETERS),
        }
    ),
    min_size=1,
    max_size=6,
)
series = st.lists(
    st.tuples(st.sampled_from(["a.py::test", "b.py::test"]), st.sampled_from([None, "q75"]), st.sampled_from(["x", "y"])),
    unique=True,
    min_size=1,
    max_size=3,
)
answers = st.one_of(
    st.fixed_dictionaries(
        {
            "status": st.sampled_from(["detected", "not_detected"]),
            "message_bit_accuracy": st.sampled_from([0.5, 0.75, 1.0]),
            "reason": st.sampled_from(["24/48 bits", "48/48 bits"]),
        }
    ),
    st.fixed_dictionaries({"status": st.just("scored"), "score": st.sampled_from([-1.0, 0.25])}),
)
failures = st.sampled_from(
    [
        {"status": "error", "error": {"type": "ValueError", "message": "bad header"}},
        {"status": "unavailable", "reason": "no weights"},
        {"status": "error", "outcome": "not_run"},
    ]
)
noise = st.fixed_dictionaries(
    {
        "worker": st.sampled_from(["main", "gw0", "gw1", None]),
        "run_id": st.sampled_from(["run-1", "run-2"]),
        "elapsed": st.floats(0, 1e4),
        "call": st.sampled_from(["cold", "warm"]),
    }
)


@st.composite
def one_plan_told_twice(draw):
    """Draw observations, and two ways in which runs may have recorded them."""
    cases, told = draw(manifest), ([], [])
    for suite, params, adapter in draw(series):
        for index, case in enumerate(cases):
            fixed = {"case_id": f"c{index}", "line": index + 1, "suite": suite, "params": params, "adapter": adapter, **case}
            observation = draw(st.one_of(answers, failures))
            for lines in told:
                attempts = [*draw(st.lists(failures, max_size=2)), observation]
                settled = judge(observation["status"], case["expected"]) in SETTLED and "outcome" not in observation
                if settled and draw(st.booleans()):
                    attempts.append({**observation, **draw(st.one_of(failures, st.just({})))})
                lines += [{**fixed, **one, "attempt": i + 1, **draw(noise)} for i, one in enumerate(attempts)]
    return draw(st.permutations(told[0])), draw(st.permutations(told[1]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(told=one_plan_told_twice())
def test_results_depend_on_the_observations_alone(row, report, told):
    first, second = (encode_document(report([row(**one) for one in lines], by=BY)["results"]) for lines in told)
    assert first == second


def test_results_see_a_changed_verdict(row, report):
    first, second = (report([row("a", status=status)])["results"] for status in ("detected", "not_detected"))
    assert first != second


def test_results_tell_nothing_of_time_machine_worker_or_messages(row, report):
    error = {"type": "OSError", "message": "/home/me/secret.bin is gone"}
    rows = [
        row("a", status="error", error=error, worker="gw7", run_id="run-77", elapsed=1234.5),
        row("b", status="unavailable", reason="no file /home/me/weights.onnx"),
    ]
    document = report(rows, {"machine": {"system": "Plan 9"}})
    text = json.dumps(document["results"])
    for fact in ("secret", "weights", "gw7", "run-77", "1234.5", "Plan 9"):
        assert fact not in text
    assert document["results"]["errors"]["listed"][0]["error_type"] == "OSError"
    assert {entry["message"] for entry in document["attempts"]["messages"]["listed"]} == {
        "/home/me/secret.bin is gone",
        "no file /home/me/weights.onnx",
    }
    assert document["environment"] == {"machine": {"system": "Plan 9"}}


def test_keys_of_results_are_sorted(row, report):
    def keys_sorted(value):
        if isinstance(value, dict):
            return list(value) == sorted(value) and all(map(keys_sorted, value.values()))
        return all(map(keys_sorted, value)) if isinstance(value, list) else True

    assert keys_sorted(report([row("a", expected="not_detected", fidelity=FIDELITY[3])])["results"])


def test_outcomes_are_counted(row, report):
    rows = [
        row("a", expected="detected"),
        row("b", expected="not_detected"),
        row("c", expected="not_detected"),
        row("d", expected="not_detected", known=True),
        row("e"),
        row("f", status="error"),
        row("g", status="unavailable"),
        row("h", status="error", outcome="not_run"),
    ]
    results = report(rows)["results"]
    assert results["rows"] == 8
    assert results["outcomes"] == {
        "match": 1,
        "mismatch": 2,
        "known_mismatch": 1,
        "measured": 1,
        "error": 1,
        "unavailable": 1,
        "not_run": 1,
    }
    for name, cases in {
        "mismatches": ["b", "c"],
        "known_mismatches": ["d"],
        "errors": ["f"],
        "unavailable": ["g"],
        "not_run": ["h"],
        "unstable": [],
    }.items():
        assert results[name]["count"] == len(cases)
        assert [entry["case_id"] for entry in results[name]["listed"]] == cases


def test_a_mismatch_says_everything(row, report):
    rows = [row("a", params="q75", expected="detected", status="not_detected", reason="24/48 bits", line=12)]
    assert report(rows)["results"]["mismatches"]["listed"] == [
        {
            "adapter": "dwt-dct",
            "case_id": "a",
            "expected": "detected",
            "line": 12,
            "manifest": "cases.jsonl",
            "observed": "not_detected",
            "params": "q75",
            "pointer": None,
            "reason": "24/48 bits",
            "suite": "suite.py::test_detection",
            "unstable": False,
        }
    ]


def test_an_unstable_row_is_a_mismatch_and_listed_as_unstable(row, report):
    rows = [row("a", expected="detected", attempt=1), row("a", expected="detected", attempt=2, status="not_detected")]
    results = report(rows)["results"]
    assert results["outcomes"]["mismatch"] == results["mismatches"]["count"] == results["unstable"]["count"] == 1
    assert results["mismatches"]["listed"][0]["unstable"] is True


def test_rows_are_listed_in_the_order_of_the_manifest_up_to_a_limit(row, report):
    rows = [row(f"c{1100 - line}", line=line, expected="not_detected") for line in range(1100, 0, -1)]
    mismatches = report(rows)["results"]["mismatches"]
    assert mismatches["count"] == 1100
    assert [entry["line"] for entry in mismatches["listed"]] == list(range(1, 1001))


@pytest.mark.parametrize(
    ("status", "counted"),
    [("not_detected", "rows_no_signal"), ("detected", "rows_signal_remained"), ("error", "rows_unknown")],
)
def test_removed_artifacts_are_observed_and_certify_nothing(row, report, status, counted):
    (line,) = report([row("a", state="removed", status=status), row("b")])["results"]["removal"]
    assert line[counted] == line["rows_no_signal"] + line["rows_signal_remained"] + line["rows_unknown"] == 1
    assert line["certifies_erasure"] is False


def test_a_removed_row_that_a_dying_worker_left_is_unknown(row, report):
    lost = row("a", state="removed", status="error")
    lost["removal"] = None
    (line,) = report([lost])["results"]["removal"]
    assert line["rows_unknown"] == 1


def test_an_unstable_removed_row_is_unknown(row, report):
    rows = [row("a", state="removed", attempt=1), row("a", state="removed", attempt=2, status="not_detected")]
    (line,) = report(rows)["results"]["removal"]
    assert (line["rows_unknown"], line["rows_signal_remained"]) == (1, 0)


def test_attempts_are_counted_outside_the_results(row, report):
    rows = [row("a", attempt=1, status="error"), row("a", attempt=3), row("b")]
    attempts = report(rows)["attempts"]
    assert (attempts["rows"], attempts["attempts"], attempts["rows_with_several_attempts"]) == (2, 3, 1)


def test_inputs_bind_the_report_to_its_evidence(row, write):
    path = write([row("a"), row("b", run_id="run-2"), row("c", adapter="rivagan")])
    inputs = build_report(path, {})["inputs"]
    assert inputs["evidence"] == {"name": "evidence.jsonl", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert inputs["manifests"] == [{"name": "cases.jsonl", "sha256": "a" * 64, "rows": 3}]
    assert inputs["run_ids"] == ["run-1", "run-2"]
    assert [(entry["alias"], entry["rows"]) for entry in inputs["adapters"]] == [("dwt-dct", 2), ("rivagan", 1)]
    assert inputs["adapters"][0]["weights"] == [{"name": "w.onnx", "sha256": "e" * 64}]
    assert inputs["code"] == [{"project_commit": None, "dirty": None, "kernel_sha256": "c" * 64, "rows": 3}]


def test_one_case_about_two_things_is_refused(row, report):
    with pytest.raises(EvidenceError, match="c1: rows of this case come from different manifest lines"):
        report([row("c1"), row("c1", adapter="rivagan", transform="other")])


def test_a_digest_that_is_none_is_refused(row, report):
    bad = row("c1")
    bad["artifact"]["sha256"] = "nothing"
    with pytest.raises(EvidenceError, match=r"c1: artifact\.sha256"):
        report([bad])


def test_no_evidence_is_an_empty_report(report):
    document = report([])
    assert document["results"]["rows"] == 0
    assert set(document) == {"schema_version", "results", "timing", "environment", "attempts", "inputs"}


def test_memory_grows_by_counters_only(row, write):
    def peak(count):
        reason = "x" * 5000
        path = write([row(f"case-{i}", reason=reason, line=i + 1) for i in range(count)])
        tracemalloc.start()
        build_report(path, {})
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(1500) - peak(500) < 1000 * 2500


def test_rows_can_come_after_a_report_was_given(row, write):
    rows = [row("a"), row("b", status="not_detected", message_bit_accuracy=0.5), row("c", artifact="a")]
    taken = list(settled_rows(write(rows)))
    summary = Summary()
    for count, settled in enumerate(taken, 1):
        summary.add(settled)
        assert summary.report("e", "0" * 64, {})["results"]["rows"] == count
    whole = Summary()
    for settled in taken:
        whole.add(settled)
    assert summary.report("e", "0" * 64, {}) == whole.report("e", "0" * 64, {})
