"""Runs a command that must not outlive whoever wants it: ``python -m ... COMMAND...`` with a pipe as standard input.

When the other end of the pipe closes, because its owner lets go of it or dies in whatever way, the command and all that it
started is ended: interrupted, as at a terminal, and killed if that does not help. A dead worker's pytest would otherwise go
on writing evidence beside the one that takes its place. What the command prints is passed on; to its last line it finds
somebody who reads it, so that it can put its run in order.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

GRACE_SECONDS = 5.0
"""How long a command may take to end by itself once it is asked to."""

_BLOCK_BYTES = 64 * 1024

KILLED_BY_SIGNAL = 128
"""Is added to the number of the signal that ended the command, as shells do."""


def main(command: list[str]) -> int:
    """Run a command until it ends or standard input does.

    Returns:
        Its exit code, or 128 and the number of the signal that ended it.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # workers may ignore it, and what they start would with them
    process = subprocess.Popen(  # noqa: S603 - no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    ending = threading.Event()
    watching = threading.Thread(target=_end_with_owner, args=(process, ending), daemon=True)
    passing_on = threading.Thread(target=_pass_on, args=(process,), daemon=True)
    watching.start()
    passing_on.start()
    code = process.wait()
    if ending.is_set():  # whatever it started is ended before this process is
        watching.join()
    passing_on.join(GRACE_SECONDS)  # what was left running may hold the pipe open for ever
    return code if code >= 0 else KILLED_BY_SIGNAL - code


def _pass_on(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    while block := os.read(process.stdout.fileno(), _BLOCK_BYTES):
        with contextlib.suppress(OSError):  # the owner is dead
            while block:
                block = block[os.write(sys.stdout.fileno(), block) :]


def _end_with_owner(process: subprocess.Popen[bytes], ending: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    ending.set()
    _signal(process, signal.SIGINT)  # pytest ends its run then, and the row that it is at is not taken for a deadly one
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # whoever of the group is left


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(OSError):  # nobody is left
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
