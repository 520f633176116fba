"""How the tests of this package draw their examples, and run directories made by hand."""

import copy
import hashlib
import json
import os
import signal

import pytest
from hypothesis import settings

# inner runs must not write into the job that runs these tests
for _name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(_name, None)

# a busy machine is slow, not wrong: no example has a deadline
settings.register_profile("benchbench", deadline=None)
settings.load_profile("benchbench")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # whoever runs the tests in the background may ignore interrupts, and then the processes that tests interrupt do too
    signal.signal(signal.SIGINT, signal.default_int_handler)


class RunDirectories:
    """Writes run directories as runs leave them, from rows given as dicts."""

    def __init__(self, base):
        self.base = base

    @staticmethod
    def row(
        case_id, status="detected", *, attempt=1, outcome=None, adapter="dwt-dct", suite="suite.py::test_detection", **more
    ):
        """Give a row of evidence; ``more`` replaces its parts."""
        outcome = outcome or {"detected": "match", "not_detected": "mismatch"}.get(status, status)
        return {
            "schema_version": 1,
            "run_id": "",
            "kind": "watermark",
            "key": {"suite": suite, "adapter": adapter, "case_id": case_id, "params": None, "attempt": attempt},
            "manifest": {"name": "cases.jsonl", "sha256": "a" * 64, "line": 1},
            "case": {"case_id": case_id, "state": "marked", "arm": "positive", "pair_id": case_id, "expected": "detected"},
            "row_sha256": hashlib.sha256(case_id.encode()).hexdigest(),
            "artifact": {"sha256": hashlib.sha256(case_id.encode()).hexdigest(), "decoding": None},
            "adapter": {
                "name": adapter,
                "version": "1",
                "rule": "bits",
                "options": {},
                "source_sha256": "b" * 64,
                "weights": [],
            },
            "code": {"project_commit": "abc", "dirty": False, "kernel_sha256": "c" * 64},
            "detection": {"status": status, "adapter_elapsed_ms": 1.5, "call": "warm"},
            "removal": None,
            "fidelity": {"status": "no_reference"},
            "outcome": outcome,
            "worker": None,
            **more,
        }

    def write(self, name, rows, *, shard=None, left_out=0, lost=0, options=(), **changes):
        """Write the directory of a run; ``changes`` replace parts of ``run.json``, and ``None`` takes one out."""
        path = self.base / name
        path.mkdir(parents=True)
        run_id = f"20261130T000000Z-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        rows = [{**row, "run_id": run_id} for row in rows]
        ended = len({tuple(map(str, list(row["key"].values())[:4])) for row in rows if row["outcome"] != "not_run"})
        planned = ended + left_out + lost
        document = {
            "schema_version": 1,
            "run_id": run_id,
            "package": {"name": "pytest-benchbench", "version": "1.0", "kernel_sha256": "c" * 64},
            "project": {"commit": "abc", "dirty": False},
            "manifests": [
                {"path": "cases.jsonl", "name": "cases.jsonl", "kind": "watermark", "sha256": "a" * 64, "rows": 1000}
            ],
            "options": {
                "arguments": ["cases.jsonl", f"--bench-shard={shard}"],
                "adapters": {},
                "select": [],
                "shard": shard,
                "verify": "preflight",
                "network": "loopback",
                "expectations": None,
                "require_available": False,
                "crash_retries": 1,
                "row_timeout": None,
                "max_pixels": 1000,
                "gate": None,
                "artifact_roots": [],
                "measured": "measured",
                **dict(options),
            },
            "versions": {"python": "3.11.7", "numpy": "2.4.6"},
            "machine": {"system": "Linux", "processors": 2},
            "started": "2026-11-30T00:00:00.000+00:00",
            "planned": {"rows": planned, "selected": planned - left_out, "left_out": left_out, "lost": lost},
            "decoding": {"hits": 1, "misses": 2},
            "interrupted": False,
            "finished": "2026-11-30T00:01:00.000+00:00",
            "exit_status": 0,
        }
        document["manifests"][0]["shard_rows"] = planned
        document = copy.deepcopy({key: value for key, value in (document | changes).items() if value is not None})
        (path / "run.json").write_text(json.dumps(document))
        (path / "evidence.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.report(path)
        return path

    @staticmethod
    def report(path):
        """Let the report of a run be one of its evidence as it is."""
        sha256 = hashlib.sha256((path / "evidence.jsonl").read_bytes()).hexdigest()
        (path / "report.json").write_text(json.dumps({"inputs": {"evidence": {"sha256": sha256}}}))


@pytest.fixture
def directories(tmp_path):
    """Write run directories into the test's own folder."""
    return RunDirectories(tmp_path)


class ScoreFiles:
    """Writes scores of images, as plain rows and as evidence."""

    def __init__(self, base):
        self.base = base

    @staticmethod
    def row(row_id, label=1, score=0.9, **more):
        """Give a plain row that has every name which evidence asks for; ``None`` in ``more`` takes one out."""
        row = {
            "id": row_id,
            "baseId": row_id.split("~")[0],
            "label": label,
            "split": "test",
            "score": score,
            "source": "camera" if label == 0 else "collection",
            "generatorFamily": "diffusion" if label else None,
            "contentGroup": "photo",
            "transform": row_id.partition("~")[2] or "none",
            "resolutionGroup": "full-res",
            "evaluationMode": "deployed",
            "modelSha256": "a" * 64,
            "preprocessingVersion": "1",
            "provider": "wasm",
            **more,
        }
        return {name: value for name, value in row.items() if value is not None}

    @staticmethod
    def manifest_row(row):
        """Give the row of a dataset manifest about the image of a plain row."""
        names = ("id", "baseId", "label", "split", "source", "generatorFamily", "generatorModel", "contentGroup")
        told = {name: row[name] for name in (*names, "transform", "resolutionGroup") if name in row}
        return {**told, "sha256": hashlib.sha256(row["id"].encode()).hexdigest(), "license": "CC0-1.0"}

    def evidence_row(self, row, *, adapter="onnx", outcome=None, **more):
        """Give the row of evidence that says the same as a plain row."""
        case = self.manifest_row(row)
        of_scorer = ("rawScore", "pixelScore", "evaluationMode", "modelSha256", "calibratorSha256")
        scorer = {name: row[name] for name in (*of_scorer, "preprocessingVersion", "provider") if name in row}
        status = row.get("status", "scored")
        detection = {"status": status, "adapter_elapsed_ms": 1.5, "call": "warm"}
        if status == "scored":
            detection |= {"scorer": scorer, **({"score": row["score"]} if "score" in row else {})}
        outcome = outcome or {"scored": "measured", "unavailable": "unavailable", "not_run": "not_run"}.get(status, "error")
        suite = "benchmarks/test_ai_images.py::test_detection"
        row = RunDirectories.row(row["id"], status, outcome=outcome, adapter=adapter, suite=suite)
        return {**row, "kind": "dataset", "case": case, "detection": detection, **more}

    def write(self, rows, name="scores.jsonl"):
        """Write rows, dicts or lines as they are, one a line."""
        path = self.base / name
        path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
        return path

    def manifest(self, rows, name="dataset.jsonl"):
        """Write the manifest of plain rows."""
        return self.write([self.manifest_row(row) for row in rows], name)

    def evidence(self, rows, name="evidence.jsonl", **more):
        """Write the evidence of plain rows."""
        return self.write([self.evidence_row(row, **more) for row in rows], name)


@pytest.fixture
def score_files(tmp_path):
    """Write scores into the test's own folder."""
    return ScoreFiles(tmp_path)


class TextRuns:
    """Writes runs of text detectors: which samples each got wrong is given, scores and rows follow."""

    HUMAN = tuple(f"h{number:02}" for number in range(40))
    PLAIN = tuple(f"a{number:02}" for number in range(40))
    HUMANIZED = tuple(f"z{number:02}" for number in range(20))

    def __init__(self, directories):
        self._directories = directories

    @classmethod
    def samples(cls):
        """Give the samples of a split: 40 human ones, 40 by AI, and humanized variants of 20 of these."""
        return [
            {
                "id": name,
                "label": "human" if name in cls.HUMAN else "ai",
                "category": "essay",
                "sha256": hashlib.sha256(f"text {name}".encode()).hexdigest(),
                **({"pairOf": f"a{name[1:]}"} if name in cls.HUMANIZED else {}),
            }
            for name in (*cls.PLAIN, *cls.HUMAN, *cls.HUMANIZED)
        ]

    @staticmethod
    def started(run):
        """Give when the run of that number began: a day later than the one before."""
        return f"2026-{1 + run // 28:02}-{1 + run % 28:02}T06:00:00+00:00"

    @staticmethod
    def scores(samples, wrong=(), unscored=()):
        """Give what a detector answers that is wrong about some samples and has no score for others."""
        asked = [each for each in samples if each["id"] not in unscored]
        return {each["id"]: 90.0 if (each["label"] == "ai") != (each["id"] in wrong) else 10.0 for each in asked}

    def directory(
        self, run=1, /, *, split="holdout", sha256="5" * 64, name="essays", status="final", of_run=(), **detectors
    ):
        """Write the directory of a run. Detectors are given by alias; ``of_run`` goes to ``RunDirectories.write``."""
        rows = []
        for alias, told in detectors.items():
            identity = dict(told) if isinstance(told, dict) else {"wrong": told}
            scores = self.scores(self.samples(), identity.pop("wrong", ()), identity.pop("unscored", ()))
            for each in self.samples():
                score = scores.get(each["id"])
                row = GoldenEvidence.row(each["id"], each["label"], score, adapter=alias, split=split, scorer=identity)
                if score is None:
                    row |= {"detection": {"status": "error", "adapter_elapsed_ms": 1.5, "call": "warm"}, "outcome": "error"}
                row["case"] |= {"pairOf": each["pairOf"]} if "pairOf" in each else {}
                row["manifest"] |= {"sha256": sha256}
                rows.append({**row, "artifact": {"sha256": each["sha256"], "decoding": None}})
        manifest = {**GoldenEvidence.manifests(name=name, status=status)[0], "sha256": sha256}
        more = {"manifests": [manifest], "started": self.started(run), **dict(of_run)}
        return self._directories.write(f"run-{run}", rows, **more)


@pytest.fixture
def text_runs(directories):
    """Write runs of text detectors into the test's own folder."""
    return TextRuns(directories)


@pytest.fixture(params=["a folder", "a file", "a dangling link"])
def occupy(request):
    """``occupy(path)``: put something there that must be left alone."""
    return {
        "a folder": lambda path: path.mkdir(),
        "a file": lambda path: path.write_text("mine"),
        "a dangling link": lambda path: path.symlink_to("nowhere"),
    }[request.param]


@pytest.fixture(scope="session")
def write_originals():
    """``write_originals(folder, sizes, *changes)``: write pictures of (width, height) and ``base.jsonl``, their manifest.

    Formats go round JPEG, PNG and WebP, labels round real and AI. ``changes`` replace fields of the rows in turn; ``None``
    takes one out.
    """
    import numpy as np
    from PIL import Image

    def write(folder, sizes, *changes):
        lines = []
        for number, (width, height) in enumerate(sizes):
            low = np.random.default_rng(number).integers(0, 256, (9, 12, 3), dtype=np.uint8)
            kind = ("jpg", "png", "webp")[number % 3]
            path = folder / f"original-{number}.{kind}"
            exif = Image.Exif()
            exif[0x010F], exif[0x0112] = "A maker", 1 + number % 8
            Image.fromarray(low).resize((width, height)).save(path, exif=exif)
            row = {
                "id": f"image-{number}",
                "baseId": f"base-{number}",
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                "label": number % 2,
                "split": "test",
                "source": f"camera-{number % 3}",
                "generatorFamily": "family" if number % 2 else None,
                "contentGroup": "photo",
                "transform": "none",
                "license": "CC0-1.0",
                "path": path.name,
                **(changes[number] if number < len(changes) else {}),
            }
            lines.append(json.dumps({field: value for field, value in row.items() if value is not None}) + "\n")
        (folder / "base.jsonl").write_text("".join(lines))
        return folder / "base.jsonl"

    return write


class GoldenEvidence:
    """Writes rows of evidence about the samples of a golden set, as ``pytest golden.json`` leaves them."""

    SET = "d" * 64
    ABOUT = {"name": "Texts", "version": "v1", "status": "final"}

    @classmethod
    def row(
        cls,
        sample="s1",
        label="ai",
        score=80.0,
        *,
        adapter="zippy",
        category="essay",
        split="holdout",
        pair_of=None,
        status="scored",
        outcome=None,
        scorer=None,
        golden_set=SET,
        elapsed=1.5,
        call="warm",
        **more,
    ):
        """Give a row; ``more`` replaces its parts."""
        outcome = outcome or {"scored": "measured", "unavailable": "unavailable"}.get(status, "error")
        case = {
            "id": sample,
            "split": split,
            "category": category,
            "label": label,
            "borderline": False,
            "labelSource": "made",
        }
        asked = outcome not in ("unavailable", "not_run")
        detection = {"status": status, "adapter_elapsed_ms": elapsed if asked else None, "call": call if asked else None}
        if status == "scored":
            detection["score"] = score
        if scorer is not None:
            detection["scorer"] = scorer
        return {
            "schema_version": 1,
            "run_id": "",
            "kind": "golden-set",
            "key": {
                "suite": "golden.json::test_detection",
                "adapter": adapter,
                "case_id": sample,
                "params": None,
                "attempt": 1,
            },
            "manifest": {"name": "golden.json", "sha256": golden_set, "pointer": f"/samples/{sample}"},
            "case": case if pair_of is None else {**case, "pairOf": pair_of},
            "row_sha256": hashlib.sha256(sample.encode()).hexdigest(),
            "artifact": {"sha256": hashlib.sha256(f"text of {sample}".encode()).hexdigest(), "decoding": None},
            "adapter": {
                "name": adapter,
                "version": "1.0",
                "rule": "score >= 50",
                "options": {},
                "source_sha256": "b" * 64,
                "weights": [],
            },
            "code": {"project_commit": "abc", "dirty": False, "kernel_sha256": "c" * 64},
            "detection": detection,
            "removal": None,
            "fidelity": {"status": "no_reference"},
            "outcome": outcome,
            "worker": None,
            **more,
        }

    @classmethod
    def manifests(cls, **about):
        """Give what ``run.json`` says of the set."""
        return [
            {
                "path": "golden.json",
                "name": "golden.json",
                "kind": "golden-set",
                "sha256": cls.SET,
                "rows": 200,
                "about": {**cls.ABOUT, **about},
            }
        ]


@pytest.fixture(scope="session")
def golden():
    """Makes evidence about golden sets."""
    return GoldenEvidence
