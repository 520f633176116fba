"""Evidence made by hand: one dict a row, as ``evidence.jsonl`` keeps it."""

import hashlib
import json

import jsonschema
import pytest

from pytest_benchbench.evidence.observation import RemovalRecord, judge
from pytest_benchbench.reports.detector_benchmark import decode_benchmark
from pytest_benchbench.statistics.intervals import wilson_interval


def evidence_row(
    case_id="c1",
    *,
    suite="suite.py::test_detection",
    params=None,
    adapter="dwt-dct",
    attempt=1,
    status="detected",
    expected="unresolved",
    known=False,
    outcome=None,
    state="marked",
    arm="positive",
    transform="none",
    parameters=None,
    pair_id=None,
    artifact=None,
    line=1,
    fidelity=None,
    worker="main",
    run_id="run-1",
    elapsed=1.0,
    call="warm",
    error=None,
    kind="watermark",
    case=None,
    **detection,
):
    case = case or {
        "case_id": case_id,
        "arm": arm,
        "state": state,
        "media_type": "image",
        "pair_id": pair_id or f"pair-{case_id}",
        "transform": {"name": transform, "revision": "1", "parameters": parameters or {}},
        "expected": expected,
    }
    asked = status not in {"unavailable"} and outcome != "not_run"
    row = {
        "schema_version": 1,
        "run_id": run_id,
        "kind": kind,
        "key": {"suite": suite, "adapter": adapter, "case_id": case_id, "params": params, "attempt": attempt},
        "manifest": {"name": "cases.jsonl", "sha256": "a" * 64, "line": line},
        "case": case,
        "row_sha256": hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest(),
        "artifact": {"sha256": hashlib.sha256((artifact or case_id).encode()).hexdigest(), "decoding": None},
        "adapter": {
            "name": adapter,
            "version": "1",
            "rule": "bits",
            "options": {},
            "source_sha256": "b" * 64,
            "weights": [{"name": "w.onnx", "sha256": "e" * 64}],
        },
        "code": {"project_commit": None, "dirty": None, "kernel_sha256": "c" * 64},
        "detection": {
            "status": status,
            "adapter_elapsed_ms": elapsed if asked else None,
            "call": call if asked else None,
            **detection,
        },
        "removal": {"outcome": RemovalRecord.of(status).outcome, "certifies_erasure": False} if state == "removed" else None,
        "fidelity": fidelity or {"status": "no_reference"},
        "outcome": outcome or judge(status, expected, known_mismatch=known),
        "worker": worker,
    }
    if error is not None:
        row["error"] = error
    return row


@pytest.fixture(scope="session")
def row():
    return evidence_row


@pytest.fixture(scope="session")
def write(tmp_path_factory):
    """Write rows, in the given order, to the one file of evidence, in place of what it had."""
    path = tmp_path_factory.mktemp("run") / "evidence.jsonl"

    def write_rows(rows):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write_rows


@pytest.fixture(scope="session")
def valid():
    """Hold a report against the published schema, and give it back."""
    from pytest_benchbench.reports.report_schema import report_schema

    validator = jsonschema.Draft202012Validator(report_schema())

    def held(document):
        validator.validate(document)
        return document

    return held


@pytest.fixture(scope="session")
def valid_evaluation():
    """Hold figures of scores against the published schema, and give them back."""
    from pytest_benchbench.reports.evaluation_schema import evaluation_schema

    jsonschema.Draft202012Validator.check_schema(evaluation_schema())
    validator = jsonschema.Draft202012Validator(evaluation_schema())

    def held(document):
        validator.validate(document)
        return document

    return held


@pytest.fixture(scope="session")
def report(write, valid):
    from pytest_benchbench.reports.summary import build_report

    return lambda rows, run=None, by=(): valid(build_report(write(rows), run or {}, by=by))


@pytest.fixture
def compared(tmp_path):
    """Compare two lists of rows."""
    from pytest_benchbench.evidence.reading import index_evidence
    from pytest_benchbench.reports.comparison import ComparedSide, RowComparison
    from pytest_benchbench.reports.paired_rows import by_case

    def compare_rows(old, new):
        sides = []
        for side, rows in enumerate((old, new)):
            path = tmp_path / f"{side}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            sides.append(ComparedSide(index_evidence(path), by_case(side)))
        return RowComparison(*sides)

    return compare_rows


class TextBenchmarks:
    """Makes benchmarks of text detectors as ``benchmark.json`` keeps them; which samples each got wrong is given."""

    def __init__(self, runs):
        self._runs = runs
        self.samples = runs.samples

    def document(
        self,
        run=1,
        /,
        *,
        samples=None,
        split="holdout",
        complete=True,
        sha256="5" * 64,
        name="essays",
        banner=None,
        **detectors,
    ):
        """Give the content of ``benchmark.json`` of a run of that number.

        Detectors are given by alias: the ids that each got wrong, or ``{"wrong": ids, "unscored": ids, **identity}``.
        """
        samples = self.samples() if samples is None else samples
        of_run = {"commit": "abcdef0123456789", "dirty": False}
        evidence, date = hashlib.sha256(f"evidence {run}".encode()).hexdigest(), self._runs.started(run)
        figures = [self._detector(samples, alias, **_given(told)) for alias, told in sorted(detectors.items())]
        entry = {"date": date, "runId": f"run-{run}", **of_run, "split": split, "evidenceSha256": evidence}
        entry["detectors"] = [each["identity"] for each in figures if each["scored"]]
        status = "final" if banner is None else "example"
        return {
            "schema_version": 1,
            "type": "detector-benchmark",
            "goldenSet": {"name": name, "version": "v1", "status": status, "sha256": sha256},
            "split": split,
            "run": {
                "id": f"run-{run}",
                "started": date,
                **of_run,
                "packageVersion": "0.1.0",
                "evidenceSha256": evidence,
                "complete": complete,
                "gaps": [] if complete else ["2 rows were lost"],
            },
            "threshold": 50,
            "samples": samples,
            "detectors": figures,
            "commonSubset": {"n": 0, "excluded": [], "silent": [], "detectors": []},
            "pairs": [],
            "versionHistory": [entry] if complete and split == "holdout" else [],
            **({} if banner is None else {"banner": banner}),
        }

    def benchmark(self, run=1, /, **told):
        """Give it as it is read."""
        return decode_benchmark(self.document(run, **told))

    def _detector(self, samples, alias, *, wrong=(), unscored=(), **identity):
        scores = self._runs.scores(samples, wrong, unscored)
        called = [(each["label"] == "ai", scores[each["id"]] >= 50) for each in samples if each["id"] in scores]
        tp, fp, tn, fn = (called.count(cell) for cell in ((True, True), (False, True), (False, False), (True, False)))
        humanized = [scores[each["id"]] for each in samples if "pairOf" in each and each["id"] in scores]
        passed = sum(score < 50 for score in humanized)
        missing = len(samples) - len(scores)
        return {
            "alias": alias,
            "identity": {"name": alias, "version": "1.0", "rule": "score >= 50", **identity},
            "planned": len(samples),
            "scored": len(scores),
            "errors": missing,
            "unavailable": 0,
            "notRun": 0,
            "statuses": {"error": missing} if missing else {},
            "confusion": {"tp": tp, "fp": fp, "tn": tn, "fn": fn},
            "precision": _rate(tp, tp + fp),
            "recall": _rate(tp, tp + fn),
            "f1": {"value": None},
            "accuracy": _rate(tp + tn, len(scores)),
            "fpr": _rate(fp, fp + tn),
            "humanizerBypass": {**_rate(passed, len(humanized)), "higherIsBetter": True},
            "latencyMs": {"n": 0, "recorded": 0, "p50": None, "p95": None, "cold": [], "unknown": len(scores)},
            "histogram": [0, fn + tn, *[0] * 7, tp + fp],
            "byCategory": {},
            "scores": dict(sorted(scores.items())),
        }


def _given(told):
    return told if isinstance(told, dict) else {"wrong": frozenset(told)}


def _rate(k, n):
    interval = wilson_interval(k, n) or (None, None)
    return {"value": k / n if n else None, "k": k, "n": n, "lower": interval[0], "upper": interval[1]}


@pytest.fixture
def text_benchmarks(text_runs):
    """Make benchmarks of text detectors."""
    return TextBenchmarks(text_runs)
