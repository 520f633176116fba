"""pytest in a process of its own that ends with whoever wants it, with what it printed last."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from pytest_benchbench.engines.shard_process import COST, KILLED_BY_SIGNAL

LOG_BYTES = 64 * 1024
"""As much is kept of the end of what pytest printed."""

_MEANINGS = {
    2: "interrupted, or a suite that cannot be collected",
    3: "an internal error",
    4: "wrong use",
    5: "no tests",
}
"""Exit codes of pytest with which it did not run to its end."""

_CONFIGURATIONS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")

_NOT_HANDED_ON = (
    *("PYTEST_XDIST_", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"),  # it would believe that it runs inside another pytest
    "GITHUB_STEP_SUMMARY",  # whoever wants the run tells of the whole
)
"""Beginnings of variables."""


def run_pytest(
    arguments: Sequence[str],
    directory: str | Path,
    *,
    known_to: Callable[[subprocess.Popen[bytes]], AbstractContextManager[object]] = nullcontext,
    cost: Path | None = None,
) -> tuple[int, str]:
    """Run pytest until it ends; it is ended with this process, in whatever way that dies.

    Args:
        arguments: Of pytest.
        directory: In which it is called.
        known_to: Is entered with the process while that runs; whoever knows it may ``let_go``.
        cost: Where to write what it cost, see ``shard_process``; relative to ``directory``.

    Returns:
        Its exit code, 128 and the signal's number if one ended it, and the end of what it printed.
    """
    measured = [] if cost is None else [f"{COST}{cost}"]
    process = subprocess.Popen(  # noqa: S603 - no shell; the arguments are the user's own
        [
            *(sys.executable, "-m", "pytest_benchbench.engines.shard_process", *measured),
            *(sys.executable, "-m", "pytest", *arguments),
        ],
        cwd=directory,
        env={name: value for name, value in os.environ.items() if not name.startswith(_NOT_HANDED_ON)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt at the terminal is for whoever wants the run, not for its parts
    )
    assert process.stdout is not None
    tail = _Tail(process.stdout)
    reading = threading.Thread(target=tail.read, daemon=True)
    reading.start()
    with process.stdout:
        try:
            with known_to(process):
                process.wait()
        finally:  # interrupted, too: pytest is given time to put its run in order
            let_go(process)
            reading.join()
            code = process.wait()
    return code, tail.text


def let_go(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe by which a process knows that somebody wants it."""
    assert process.stdin is not None
    with nullcontext() if process.stdin.closed else process.stdin:
        pass


def exit_text(code: int) -> str:
    """Say how a pytest ended that did not run to its end: ``ended by SIGKILL``, ``exited 4 (wrong use)``."""
    if code <= KILLED_BY_SIGNAL:
        return f"exited {code} ({_MEANINGS.get(code, 'which is none of its own codes')})"
    try:
        return f"ended by {signal.Signals(code - KILLED_BY_SIGNAL).name}"
    except ValueError:
        return f"ended by signal {code - KILLED_BY_SIGNAL}"


def last_line(log: str) -> str:
    """Give the line of what pytest printed that says what was wrong."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors[:1] or lines[-1:] or ["it printed nothing"])[0].removeprefix("ERROR: ")


@contextmanager
def own_cache(arguments: Sequence[str], project: str | Path) -> Iterator[Sequence[str]]:
    """Give the arguments by which pytest has a new cache of its own, and leaves the project's alone.

    Where the cache is switched off there is nothing to be said about it; pytest may even refuse to be told.

    Args:
        arguments: What pytest is called with.
        project: Where its configuration lies.
    """
    given = [*arguments, os.environ.get("PYTEST_ADDOPTS", "")]
    for name in _CONFIGURATIONS:
        with suppress(OSError):
            given.append((Path(project) / name).read_text(encoding="utf-8", errors="replace"))
    if any("no:cacheprovider" in text for text in given):
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="benchbench-cache-", ignore_cleanup_errors=True) as folder:
        yield [f"--override-ini=cache_dir={folder}"]


class _Tail:
    """The end of what a process prints."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = bytearray()

    def read(self) -> None:
        """Read until the stream ends, and keep the last ``LOG_BYTES``."""
        while block := os.read(self._stream.fileno(), LOG_BYTES):
            self._kept += block
            del self._kept[:-LOG_BYTES]

    @property
    def text(self) -> str:
        """What was kept."""
        return bytes(self._kept).decode("utf-8", "replace")
