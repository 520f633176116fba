"""Runs a command that must not outlive whoever wants it: ``python -m ... COMMAND...`` with a pipe as standard input.

When the other end of the pipe closes, because its owner lets go of it or dies in whatever way, the command and all that it
started is ended: interrupted, as at a terminal, and killed if that does not help. A dead worker's pytest would otherwise go
on writing evidence beside the one that takes its place. What the command prints is passed on; to its last line it finds
somebody who reads it, so that it can put its run in order.

``python -m ... --cost=FILE COMMAND...`` also writes down what the command cost. This process is small on purpose: Linux
counts what the starting process occupies as the least that the started one has occupied.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

GRACE_SECONDS = 5.0
"""How long a command may take to end by itself once it is asked to."""

_BLOCK_BYTES = 64 * 1024

KILLED_BY_SIGNAL = 128
"""Is added to the number of the signal that ended the command, as shells do."""


TELLS_COST = hasattr(os, "wait4")
"""Whether the system says what one of its processes cost."""

COST = "--cost="


def main(arguments: list[str]) -> int:
    """Run a command until it ends or standard input does.

    Args:
        arguments: The command, perhaps with ``--cost=FILE`` before it. The file gets a JSON object with ``wall_s`` (from
            just before the command is started to its end), ``user_s``, ``system_s`` and ``peak_bytes``, the largest resident
            set. Time and peak are those of the command and of those of its children that it waited for: times summed, the
            peak that of the largest one.

    Returns:
        The command's exit code, or 128 and the number of the signal that ended it.
    """
    cost_file, command = None, arguments
    if arguments and arguments[0].startswith(COST):
        cost_file, command = arguments[0].removeprefix(COST), arguments[1:]
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # workers may ignore it, and what they start would with them
    began = time.monotonic()
    process = subprocess.Popen(  # noqa: S603 - no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    ending, ended = threading.Event(), threading.Event()
    watching = threading.Thread(target=_end_with_owner, args=(process, ending, ended), daemon=True)
    passing_on = threading.Thread(target=_pass_on, args=(process,), daemon=True)
    watching.start()
    passing_on.start()
    cost = _wait(process, began)
    ended.set()
    if ending.is_set():  # whatever it started is ended before this process is
        watching.join()
    passing_on.join(GRACE_SECONDS)  # what was left running may hold the pipe open for ever
    if cost_file is not None:
        with open(cost_file, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would make this process larger
            json.dump(cost, file)
    code: int = process.returncode
    return code if code >= 0 else KILLED_BY_SIGNAL - code


def _wait(process: subprocess.Popen[bytes], began: float) -> dict[str, Any]:
    """Wait for the end of a process, and say what it cost as far as the system tells."""
    if not TELLS_COST:
        process.wait()
        return {"wall_s": time.monotonic() - began}
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "wall_s": wall,
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),  # macOS counts bytes, Linux KiB
    }


def _pass_on(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    while block := os.read(process.stdout.fileno(), _BLOCK_BYTES):
        with contextlib.suppress(OSError):  # the owner is dead
            while block:
                block = block[os.write(sys.stdout.fileno(), block) :]


def _end_with_owner(process: subprocess.Popen[bytes], ending: threading.Event, ended: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    ending.set()
    _signal(process, signal.SIGINT)  # pytest ends its run then, and the row that it is at is not taken for a deadly one
    ended.wait(GRACE_SECONDS)
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # whoever of the group is left


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(OSError):  # nobody is left
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
