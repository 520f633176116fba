"""The script of the documentation for Slurm, by the real dask-jobqueue; what submits a job starts a process here."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

heard = signal.getsignal(signal.SIGINT)
pytest.importorskip("dask_jobqueue", reason="pip install dask-jobqueue")
signal.signal(signal.SIGINT, heard)  # importing it makes an interrupt end the process, for all tests that come later

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"

SBATCH = """#!/bin/sh
cp "$1" job-$$.sh
setsid sh ./job-$$.sh > /dev/null 2>&1 < /dev/null &
echo $! >> jobs
echo "Submitted batch job $!"
"""


@pytest.fixture
def address(project, tmp_path, monkeypatch):
    """Run the script in a home that has what it names; give the address that it prints."""
    home, bin_ = tmp_path / "home", tmp_path / "bin"
    (home / "project" / "venv" / "bin").mkdir(parents=True)
    (home / "project" / "venv" / "bin" / "activate").write_text("touch activated\n")
    bin_.mkdir()
    for name, content in (("sbatch", SBATCH), ("scancel", "#!/bin/sh\n")):
        (bin_ / name).write_text(content)
        (bin_ / name).chmod(0o755)
    script = re.search(r"<!-- slurm -->\n```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[
        1
    ]
    (tmp_path / "cluster.py").write_text(script.replace("source ", ". "))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment = kept | {
        "HOME": str(home),
        "PATH": f"{bin_}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "PYTEST_ADDOPTS": "-p no:randomly",
        "DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS": "{'host': '127.0.0.1', 'dashboard_address': None}",
    }
    command = [sys.executable, "cluster.py"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            jobs = tmp_path / "jobs"
            for job in jobs.read_text().split() if jobs.exists() else ():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(int(job), signal.SIGKILL)


@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid here")
def test_shards_run_in_jobs(project, address, tmp_path):
    project.cases(4)
    project.write()
    benchbench = Path(sysconfig.get_path("scripts")) / "benchbench"
    command = [benchbench, "run", "--engine", "dask", "--scheduler", address, "--shards", "2", "--output-dir", "out"]
    done = subprocess.run(
        [sys.executable, *command, "--", "--manifest=cases.jsonl"],
        cwd=project.path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert project.results_of(project.path / "out" / "merged") == project.results()
    job = next(tmp_path.glob("job-*.sh")).read_text().splitlines()
    assert {"#SBATCH -p normal", "#SBATCH --cpus-per-task=4", "#SBATCH -t 04:00:00"} <= set(job)
    assert (tmp_path / "home" / "project" / "activated").exists()
