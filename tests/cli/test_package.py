import hashlib
import json
import subprocess
import zipfile

import msgspec
import pytest
from click.testing import CliRunner

from pytest_benchbench.adapters.calibrator import Calibrator, Counts
from pytest_benchbench.cli import main
from pytest_benchbench.gates.policy import load_policy

MODEL = b"the weights"
MODEL_SHA256 = hashlib.sha256(MODEL).hexdigest()

OWN = """
name: own
rules:
  - {id: ai_recall, metric: ai_recall, op: ">=", value: 0.998}
"""
"""Bears one miss of 500, and says of the evidence nothing at all."""


@pytest.fixture
def dist(tmp_path):
    folder = tmp_path / "dist"
    (folder / "models").mkdir(parents=True)
    (folder / "manifest.json").write_text('{"manifest_version": 3}')
    (folder / "models" / "visual.onnx").write_bytes(MODEL)
    return folder


@pytest.fixture
def build(tmp_path, dist, score_files, monkeypatch):
    return Build(tmp_path, dist, score_files, monkeypatch)


class Build:
    """A build, evidence about it that the policy ``release`` passes, and the policy ``own``."""

    def __init__(self, base, dist, score_files, monkeypatch):
        monkeypatch.chdir(base)
        self.base, self.dist, self.files = base, dist, score_files
        (base / "own.yaml").write_text(OWN)

    def rows(self, bases=500, **fields):
        """Give the rows of so many AI bases, which come first, and as many real ones: each at both sizes, all right."""
        fields = {"modelSha256": MODEL_SHA256, **fields}
        kinds = (("ai", 1, 0.9, "generatorFamily", "family"), ("real", 0, 0.1, "source", "camera"))
        return [
            self.files.row(
                f"{kind}-{i}~{size}", label, score, **{origin: f"{name}-{i % 5}", "resolutionGroup": size, **fields}
            )
            for kind, label, score, origin, name in kinds
            for i in range(bases)
            for size in ("full-res", "thumbnail")
        ]

    def scores(self, misses=0, bases=500, **fields):
        """Write them; the first AI bases are missed."""
        rows = self.rows(bases, **fields)
        for row in rows[: 2 * misses]:
            row["score"] = 0.1
        return self.files.write(rows)

    def package(self, *arguments, output="x.zip", policy="own.yaml", evidence=True, trusting=True):
        given = ["dist", "--output", output, "--policy", policy, *(["--evidence", "scores.jsonl"] if evidence else [])]
        given += ["--held-out-unverified"] if evidence and trusting else []
        return CliRunner().invoke(main, ["package", *given, *map(str, arguments)])

    def is_clean(self):
        return sorted(path.name for path in self.base.iterdir()) == ["dist", "own.yaml", "scores.jsonl"]

    def read(self, name, archive="x.zip"):
        with zipfile.ZipFile(self.base / archive) as packed:
            return packed.read(name)


def test_a_pass_packs_build_decision_report_and_digests(build):
    build.scores(misses=1)
    result = build.package()
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[:2] == ["gate own: pass", "gate release: pass"]
    with zipfile.ZipFile("x.zip") as packed:
        assert packed.namelist() == [
            "manifest.json",
            "models/visual.onnx",
            "benchbench-release/gate-release.json",
            "benchbench-release/gate.json",
            "benchbench-release/release.json",
            "benchbench-release/report.json",
            "benchbench-release/report.md",
            "benchbench-release/SHA256SUMS",
        ]
    for name, policy in (("gate.json", "own"), ("gate-release.json", "release")):
        decided = json.loads(build.read(f"benchbench-release/{name}"))
        assert (decided["decision"], decided["policy"]["name"]) == ("pass", policy)
    document = json.loads(build.read("benchbench-release/release.json"))
    assert (document["type"], document["decision"], document["policy"]["name"]) == ("release", "pass", "own")
    release = load_policy("release").sha256
    assert document["policy"]["is_built_in_release"] is False
    assert document["release_policy"] == {"sha256": release, "decision": "pass"}
    assert document["model"] == {"sha256": MODEL_SHA256, "files": ["models/visual.onnx"]}
    report = json.loads(build.read("benchbench-release/report.json"))
    scores = hashlib.sha256((build.base / "scores.jsonl").read_bytes()).hexdigest()
    assert report["inputs"]["scores"]["sha256"] == scores
    assert [digest["sha256"] for digest in document["evidence"]["digests"]["evidence"]] == [scores]
    assert build.read("benchbench-release/report.md").startswith(b"# Evaluation of scores.jsonl")


def test_every_file_can_be_checked_by_its_digest(build):
    build.scores()
    build.package()
    with zipfile.ZipFile("x.zip") as packed:
        packed.extractall("out")
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "benchbench-release/SHA256SUMS"], cwd="out", capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
    assert len(checked.stdout.splitlines()) == 7


def test_the_same_build_and_evidence_give_the_same_bytes(build):
    build.scores()
    build.package(output="a.zip")
    (build.dist / "manifest.json").touch()
    build.package(output="b.zip")
    assert (build.base / "a.zip").read_bytes() == (build.base / "b.zip").read_bytes()


def test_one_base_more_refuses_and_writes_nothing(build):
    build.scores(misses=2)
    result = build.package()
    assert result.exit_code == 20
    assert "gate own: refused" in result.output
    assert "  ai_recall: 0.996, required >= 0.998" in result.output
    assert "gate release: pass" in result.output
    assert build.is_clean()


def test_a_pass_by_a_policy_of_ones_own_is_no_release(build):
    build.scores(bases=4)
    result = build.package()
    assert result.exit_code == 20
    lines = result.output.splitlines()
    assert lines[:2] == ["gate own: pass", "gate release: refused"]
    assert "  real_bases: 4, required >= 500" in result.output
    assert (
        lines[-1]
        == "refused: whatever another policy says, a release must pass the built-in policy release too; or give --review"
    )
    assert build.is_clean()
    assert build.package("--review", output="x-review.zip").exit_code == 0


def time_out(rows):
    for row in rows:
        for name in ("score", "modelSha256", "preprocessingVersion", "evaluationMode"):
            del row[name]
        row["status"] = "timeout"


@pytest.mark.parametrize(("bases", "exit_code"), [(3, 0), (4, 20)])
def test_a_base_that_has_no_score_fails_and_need_not_name_the_model(build, bases, exit_code):
    rows = build.rows()
    time_out([row for row in rows if row["label"] == 0][: 2 * bases : 2])
    build.files.write(rows)
    result = build.package(policy="release")
    assert result.exit_code == exit_code, result.output


def test_rows_of_the_manifest_that_are_missing_make_it_incomplete(build):
    build.scores()
    rows = [json.loads(line) for line in (build.base / "scores.jsonl").read_text().splitlines()]
    build.files.manifest([*rows, build.files.row("ai-500", 1)])
    result = build.package("--manifest", "dataset.jsonl")
    assert result.exit_code == 21
    assert not (build.base / "x.zip").exists()


def test_another_model_is_refused(build):
    build.scores(modelSha256="b" * 64)
    result = build.package()
    assert result.exit_code == 20
    assert f"refused: modelSha256: no file of the build is the model of the evidence (SHA-256 {'b' * 64})" in result.output
    assert build.is_clean()


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"evaluationMode": "synthetic"}, "requires.evaluationMode"),
        ({"evaluationMode": None}, "requires.evaluationMode"),
        ({"split": "calibration"}, "requires.split"),
        ({"modelSha256": None}, "carries.modelSha256"),
    ],
)
def test_evidence_that_cannot_authorise_a_release_is_refused_whatever_the_policy(build, fields, rule):
    build.scores(**fields)
    result = build.package()
    assert result.exit_code == 20
    assert "gate own: pass" in result.output
    assert f"  {rule}: " in result.output
    assert build.is_clean()


def test_evidence_about_two_models_is_refused(build):
    rows = build.rows()
    rows[0]["modelSha256"] = "b" * 64
    build.files.write(rows)
    result = build.package()
    assert result.exit_code == 20
    assert "  unmixed.modelSha256: 2, required <= 1" in result.output
    assert build.is_clean()


def test_the_policy_release_alone_packs_what_passes_it(build):
    build.scores()
    refused = build.package(policy="release", trusting=False)
    assert refused.exit_code == 20
    assert "  held_out: unverified" in refused.output
    result = build.package(policy="release")
    assert result.exit_code == 0, result.output
    assert result.output.count("gate release: pass") == 1
    assert "taken on trust (--held-out-unverified)" in result.stderr
    document = json.loads(build.read("benchbench-release/release.json"))
    assert document["policy"]["is_built_in_release"] is True
    assert document["release_policy"]["sha256"] == document["policy"]["sha256"]
    assert document["evidence"]["held_out"] == "unverified"
    with zipfile.ZipFile("x.zip") as packed:
        assert "benchbench-release/gate-release.json" not in packed.namelist()


@pytest.mark.parametrize("misses", [0, 4])
def test_a_review_build_is_made_whatever_is_decided(build, misses):
    build.scores(misses, bases=4)
    result = build.package("--review", output="x-review.zip")
    assert result.exit_code == 0, result.output
    assert "(review build, no release; 2 files" in result.output
    with zipfile.ZipFile("x-review.zip") as packed:
        assert packed.namelist() == [
            "manifest.json",
            "models/visual.onnx",
            "REVIEW-BUILD-NOT-A-RELEASE.txt",
            "benchbench-review/gate.json",
            "benchbench-review/report.json",
            "benchbench-review/report.md",
            "benchbench-review/review.json",
            "benchbench-review/SHA256SUMS",
        ]
    assert "note: decided by the policy own, which is not the built-in policy release" in result.output
    decision = "refused" if misses else "pass"
    document = json.loads(build.read("benchbench-review/review.json", "x-review.zip"))
    assert (document["type"], document["decision"]) == ("review", decision)
    marker = build.read("REVIEW-BUILD-NOT-A-RELEASE.txt", "x-review.zip").decode()
    assert "It is not a release" in marker
    assert f"The gate own decided about its evidence: {decision}." in marker


def test_a_review_build_needs_no_evidence(build):
    result = build.package("--review", output="x-review.zip", evidence=False)
    assert result.exit_code == 0, result.output
    assert json.loads(build.read("benchbench-review/review.json", "x-review.zip"))["decision"] is None
    assert b"No gate has decided about it." in build.read("REVIEW-BUILD-NOT-A-RELEASE.txt", "x-review.zip")


def test_a_review_build_with_another_model_says_so(build):
    build.scores(bases=4, modelSha256="b" * 64)
    result = build.package("--review", output="x-review.zip")
    assert result.exit_code == 0
    assert "note: no file of the build is the model of the evidence" in result.output
    document = json.loads(build.read("benchbench-review/review.json", "x-review.zip"))
    assert document["model"] == {"sha256": "b" * 64, "files": []}


@pytest.mark.parametrize("marker", ["REVIEW-BUILD-NOT-A-RELEASE.txt", "benchbench-release", "Benchbench-Review"])
def test_an_unpacked_package_is_not_packed_again(build, marker):
    build.scores()
    (build.dist / marker).mkdir()
    result = build.package()
    assert result.exit_code == 1
    assert f"dist/{marker}: belongs to a package that was unpacked here" in result.output
    assert not (build.base / "x.zip").exists()


def test_the_calibrator_is_found(build):
    calibrator = build.dist / "calibrator.json"
    calibrator.write_text("{}")
    build.scores(calibratorSha256=hashlib.sha256(b"{}").hexdigest())
    assert build.package().exit_code == 0
    assert json.loads(build.read("benchbench-release/release.json"))["calibrator"]["files"] == ["calibrator.json"]


def calibrator_of(build, method="temperature", slope=0.5, **fields):
    """Put a calibrator into the build, and let the evidence be scored with it."""
    data = Calibrator(method=method, slope=slope, intercept=0.0, **fields).encoded()
    (build.dist / "calibrator.json").write_bytes(data)
    build.scores(calibratorSha256=hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("lacks", [("99 unique AI bases, at least 100 needed",), ()])
def test_a_release_has_no_calibrator_that_is_not_deployable(build, lacks):
    calibrator_of(build, missing=lacks)
    refused = build.package()
    told = "; ".join(lacks) or "nobody says what it was fitted on"
    assert refused.exit_code == 20
    (line,) = [line for line in refused.stderr.splitlines() if not line.startswith("note: ")]
    assert line == f"refused: calibrator.json: a calibrator that is not deployable: {told}; or give --review"
    assert build.is_clean()
    assert build.package("--review", output="x-review.zip").exit_code == 0


def test_a_deployable_calibrator_is_packed(build):
    groups = {"a": 50, "b": 25, "c": 25}
    counts = Counts(unit="base", rows=200, real_bases=100, ai_bases=100, real_sources=groups, generator_families=groups)
    counts = msgspec.structs.replace(counts, real_without_source=0, ai_without_family=0)
    calibrator_of(build, deployable=True, modelSha256=MODEL_SHA256, preprocessingVersion="1", counts=counts)
    result = build.package()
    assert (result.exit_code, "deployable" in result.stderr) == (0, False)


def test_the_identity_changes_no_score_and_is_packed(build):
    calibrator_of(build, method="identity", slope=1.0, missing=("2 real sources, at least 3 needed",))
    result = build.package()
    assert result.exit_code == 0
    assert "note: calibrator.json: a calibrator that is not deployable: 2 real sources" in result.stderr


def test_calibrator_and_fusion_are_found_together(build):
    digests = []
    for name in ("calibrator", "fusion"):
        (build.dist / f"{name}.json").write_text(f'{{"{name}": 1}}')
        digests.append(hashlib.sha256(f'{{"{name}": 1}}'.encode()).hexdigest())
    both = hashlib.sha256(f"calibrator {digests[0]}\nfusion {digests[1]}\n".encode()).hexdigest()
    build.scores(calibratorSha256=both)
    assert build.package().exit_code == 0
    found = json.loads(build.read("benchbench-release/release.json"))["calibrator"]
    assert found == {"sha256": both, "files": ["calibrator.json", "fusion.json"]}


def test_a_calibrator_that_is_no_file_is_told(build):
    build.scores(calibratorSha256="c" * 64)
    result = build.package()
    assert result.exit_code == 0
    assert "note: no file of the build is the calibrator of the evidence" in result.output


def test_unreadable_evidence_is_exit_1(build):
    (build.base / "scores.jsonl").write_text("{\n")
    result = build.package()
    assert result.exit_code == 1
    assert "scores.jsonl:1:" in result.output
    assert build.is_clean()


def test_a_link_in_the_build_is_exit_1(build):
    build.scores()
    (build.dist / "link").symlink_to("manifest.json")
    result = build.package()
    assert result.exit_code == 1
    assert "dist/link: is a symbolic link" in result.output
    assert build.is_clean()


def test_an_empty_build_is_exit_1(build):
    build.scores()
    for path in sorted(build.dist.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    result = build.package()
    assert (result.exit_code, build.is_clean()) == (1, True)
    assert "dist: has no file" in result.output


def test_json_says_what_was_packed(build):
    build.scores()
    result = build.package("--json")
    document = json.loads(result.stdout)
    assert document["output"] == "x.zip"
    assert document["sha256"] == hashlib.sha256((build.base / "x.zip").read_bytes()).hexdigest()
    assert document["type"] == "release"


@pytest.mark.parametrize(
    ("arguments", "output", "said"),
    [
        ([], "x.tar", "ends in .zip"),
        (["--review"], "x.zip", "such as x-review.zip"),
        (["--review"], "preview.zip", "has the word review in it"),
        ([], "x-review.zip", "a release is not called review"),
        (["--policy", "off"], "x.zip", "nothing to decide by"),
        (["--policy", "none"], "x.zip", "no such policy"),
    ],
)
def test_wrong_use(build, arguments, output, said):
    build.scores(bases=4)
    result = build.package(*arguments, output=output)
    assert result.exit_code == 2
    assert said in result.output
    assert build.is_clean()


def test_a_release_needs_evidence(build):
    result = build.package(evidence=False)
    assert result.exit_code == 2
    assert "a release needs --evidence" in result.output


def test_an_existing_package_stays(build):
    build.scores()
    (build.base / "x.zip").write_bytes(b"old")
    result = build.package()
    assert (result.exit_code, (build.base / "x.zip").read_bytes()) == (1, b"old")


def test_a_package_is_not_put_into_the_build(build):
    build.scores()
    result = build.package(output="dist/x.zip")
    assert result.exit_code == 1
    assert "dist/x.zip: lies inside dist" in result.output
    assert build.is_clean()
