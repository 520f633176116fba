"""On what and by which code a run was made."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest_benchbench
from pytest_benchbench.evidence.observation import CodeRecord

GIT_SECONDS = 20.0

PACKAGES = (
    *("pytest", "pytest-xdist", "numpy", "Pillow", "msgspec", "onnxruntime", "invisible-watermark"),
    *("av", "soundfile", "soxr", "c2pa-python", "torch", "resemble-perth", "audioseal", "trustmark", "videoseal"),
    *("lmscan", "thinkst-zippy", "tokenizers"),
)


@cache
def kernel_sha256() -> str:
    """Digest of this package's Python sources: every path and content, in sorted order."""
    root = Path(pytest_benchbench.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(root).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def code_record(project: Path) -> CodeRecord:
    """Say which commit of the project runs and whether its tracked files were changed; null outside a repository.

    Args:
        project: A directory inside the project.
    """
    commit = _git(project, "rev-parse", "HEAD")
    status = None if commit is None else _git(project, "status", "--porcelain", "--untracked-files=no")
    return CodeRecord(
        project_commit=commit.strip() if commit else None,
        dirty=None if status is None else bool(status.strip()),
        kernel_sha256=kernel_sha256(),
    )


def versions() -> dict[str, str | None]:
    """Versions of Python and of the packages that can change an observation; null for one that is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def machine() -> dict[str, Any]:
    """Operating system, architecture and number of processors; no host name, no user."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
    }


def peak_bytes() -> int | None:
    """Largest resident set that this process had so far; ``None`` where the system does not say.

    Linux counts it from the start of the program (``VmHWM``); ``getrusage`` there would count the process that started it.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _git(directory: Path, *arguments: str) -> str | None:
    """Ask git; ``None`` when there is no git, no repository or no answer in time."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", *arguments],  # noqa: S607 - the user's own git
            cwd=directory,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=GIT_SECONDS,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
