"""The workflow of the documentation, carried out: every ``run:`` by a shell, what actions do by copying folders."""

import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")

WORKFLOW = yaml.safe_load(re.search(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1])

INSTALL = "python -m pip install pytest-benchbench"
"""The only command that is not carried out: what it installs is what is tested."""

CONFTEST = """
from pytest_benchbench import Adapter, AdapterDescription, Detection

class Toy(Adapter):
    name = "toy"
    media_types = frozenset({"image"})
    needs = "bytes"

    def detect(self, sample):
        return Detection(sample.data.decode().split()[0])

    def describe(self):
        return AdapterDescription("1", "what the file says")

def pytest_benchbench_adapters(registry):
    registry.register(Toy)
"""


def write_project(folder, wrong):
    """Write a project of eight cases, some of which do not meet their expectation."""
    folder.mkdir()
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    rows = []
    for number in range(8):
        data = f"{'not_detected' if number < wrong else 'detected'} {number}".encode()
        (folder / f"{number}.bin").write_bytes(data)
        row = {"schema_version": 1, "case_id": f"case-{number}", "pair_id": "p", "media_type": "image", "adapter": "toy"}
        row |= {"arm": "positive", "state": "marked", "path": f"{number}.bin", "sha256": hashlib.sha256(data).hexdigest()}
        row |= {"reference_path": None, "reference_sha256": None, "source_revision": "toy@1", "seed": None}
        row |= {"transform": {"name": "none", "revision": "1", "parameters": {}}, "expected": "detected"}
        rows.append(json.dumps(row) + "\n")
    (folder / "cases.jsonl").write_text("".join(rows))


class Runner:
    """Carries out the jobs of the workflow as the service does, with two shards."""

    def __init__(self, folder, project):
        self.folder = folder
        self.project = project
        self.kept = folder / "kept"
        self.kept.mkdir()
        self.summaries = {}
        self.printed = {}
        scripts = sysconfig.get_path("scripts")
        (folder / "bin").mkdir()
        (folder / "bin" / "python").symlink_to(sys.executable)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        path = os.pathsep.join([scripts, str(folder / "bin"), inherited.get("PATH", os.defpath)])
        self.environment = inherited | {"PATH": path, "GITHUB_ACTIONS": "true"}

    def job(self, name, lost=False, **context):
        """Run a job, unless its machine is lost; give the exit code of its last step that failed, else 0."""
        if lost:
            return None
        workspace = self.folder / f"{name}-{context.get('matrix.shard', '')}"
        workspace.mkdir()
        self.summaries[workspace] = self.folder / f"{workspace.name}-summary.md"
        code = 0
        for step in WORKFLOW["jobs"][name]["steps"]:
            if code and "if" not in step:
                continue
            assert step.get("if", "${{ !cancelled() }}") == "${{ !cancelled() }}"
            code = self.step(step, workspace, context) or code
        return code

    def step(self, step, workspace, context):
        given = {name: self.fill(value, context) for name, value in step.get("with", {}).items()}
        match step.get("uses", "").split("@")[0]:
            case "":
                return self.shell(self.fill(step["run"], context), workspace)
            case "actions/checkout":
                shutil.copytree(self.project, workspace, dirs_exist_ok=True)
            case "actions/setup-python":
                assert given["python-version"] in ("3.11", "3.12", "3.13")
            case "actions/upload-artifact":
                if not (workspace / given["path"]).is_dir():
                    return 1
                shutil.copytree(workspace / given["path"], self.kept / given["name"])
            case "actions/download-artifact":
                for kept in self.kept.iterdir():
                    if fnmatch.fnmatch(kept.name, given["pattern"]):
                        shutil.copytree(kept, workspace / given["path"] / kept.name)
            case other:
                pytest.fail(f"an action that this test does not know: {other}")
        return 0

    def fill(self, text, context):
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: str(context[found[1]]), text)

    def shell(self, command, workspace):
        if command == INSTALL:
            return 0
        script = workspace / ".step.sh"
        script.write_text(command)
        own = {"GITHUB_WORKSPACE": str(workspace), "GITHUB_STEP_SUMMARY": str(self.summaries[workspace])}
        done = subprocess.run(
            ["bash", "-e", script],
            cwd=workspace,
            env=self.environment | own,
            timeout=180,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.printed[workspace.name] = self.printed.get(workspace.name, "") + done.stdout
        return done.returncode


def carry_out(tmp_path, *, wrong=0, lost=()):
    """Carry the workflow out; give the exit codes of the shards and of the last job, and the runner."""
    write_project(tmp_path / "project", wrong)
    runner = Runner(tmp_path, tmp_path / "project")
    shards = [runner.job("shard", shard in lost, **{"matrix.shard": shard, "strategy.job-total": 2}) for shard in (1, 2)]
    return shards, runner.job("merge"), runner


def summary_of(runner, job):
    return (runner.folder / f"{job}-summary.md").read_text()


def rows_of(runner):
    return json.loads((runner.kept / "merged" / "report.json").read_text())["results"]["rows"]


def test_all_shards_pass_and_so_does_the_whole(tmp_path):
    shards, merged, runner = carry_out(tmp_path)
    assert (shards, merged) == ([0, 0], 0)
    assert rows_of(runner) == 8
    assert json.loads((runner.kept / "merged" / "gate.json").read_text())["decision"] == "pass"
    assert summary_of(runner, "merge-").startswith("## Benchmark cases.jsonl\n\n**Gate strict: pass**\n")
    assert summary_of(runner, "shard-1").startswith("## Benchmark cases.jsonl, shard 1/2\n")
    assert not any("::error" in printed for printed in runner.printed.values())


def test_a_shard_with_failures_is_kept_and_the_gate_decides(tmp_path):
    shards, merged, runner = carry_out(tmp_path, wrong=1)
    assert sorted(shards) == [0, 1]
    assert merged == 20
    assert rows_of(runner) == 8
    assert "| cases.jsonl:1 | case-0 |" in summary_of(runner, "merge-")
    assert "::error file=cases.jsonl,line=1,title=toy%3A mismatch::" in runner.printed["merge-"]


def test_a_lost_job_makes_the_whole_incomplete(tmp_path):
    _, merged, runner = carry_out(tmp_path, lost=[2])
    assert merged == 21
    assert "missing: shard 2/2" in summary_of(runner, "merge-")


def test_the_matrix_counts_from_one_without_gaps():
    shards = WORKFLOW["jobs"]["shard"]["strategy"]["matrix"]["shard"]
    assert shards == list(range(1, len(shards) + 1))


def test_the_last_job_runs_whatever_became_of_the_shards():
    merge = WORKFLOW["jobs"]["merge"]
    assert merge["needs"] == "shard"
    assert merge["if"] == "${{ !cancelled() }}"
    assert WORKFLOW["jobs"]["shard"]["strategy"]["fail-fast"] is False
