"""A process that draws pictures, one request at a time: it reads lines of JSON and answers each by one.

Decoders are native code. What they do with a hostile file cannot be undone in the process that calls them, so that process
is one that may die: it is ended when a picture takes too long, and started again for the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from types import TracebackType

import msgspec

from pytest_benchbench.reports.html.figure import CasePictures, PictureRequest

START_SECONDS = 30.0
"""How long the process may take until it is ready: it imports what decodes images, on a machine that may be busy."""

MAX_MEMORY = 4 * 1024**3
"""Address space of the process, 4 GiB: libraries reserve a part of it that they never use."""

_READY = b"ready\n"

_PROGRAM = """
import importlib, json, sys
sys.path[:] = json.loads(sys.argv[2])
importlib.import_module(sys.argv[1]).main()
"""
"""Finds every module where the process that starts it finds it, wherever that was told to look."""


class PictureProcess:
    """Draws pictures elsewhere. The process is started when the first one is wanted, and ended with the context."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None

    def __enter__(self) -> PictureProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def draw(self, request: PictureRequest, seconds: float) -> CasePictures:
        """Draw the pictures of one case.

        Args:
            request: What to draw.
            seconds: How long it may take, above 0; the start of a process is not counted.

        Returns:
            The pictures. A note in their place where the process died, could not be started or took too long.
        """
        if self._process is None and (fault := self._start()) is not None:
            return CasePictures(note=fault)
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
            answer = self._lines.get(timeout=seconds)
        except queue.Empty:
            self._end()
            return CasePictures(note=f"no picture: drawing it took longer than {seconds:.3g} s")
        except OSError:  # it died before it was asked
            answer = b""
        try:
            return msgspec.json.decode(answer, type=CasePictures)
        except msgspec.DecodeError:  # nothing, or the half of an answer
            self._end()
            return CasePictures(note="no picture: the process that decoded the file died over it")

    def _start(self) -> str | None:
        """Start the process; a text says why that cannot be done."""
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell
                [sys.executable, "-P", "-c", _PROGRAM, __name__, json.dumps([os.fspath(entry) for entry in sys.path])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            return f"no picture: no process could be started to draw it ({error.strerror})"
        self._process, self._lines = process, queue.SimpleQueue()
        self._reader = threading.Thread(target=_pass_on, args=(process, self._lines), daemon=True)
        self._reader.start()
        try:
            ready = self._lines.get(timeout=START_SECONDS)
        except queue.Empty:
            ready = b""
        if ready == _READY:
            return None
        self._end()
        return "no picture: the process that draws pictures did not start"

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.wait()
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # a request that it never read
            process.stdin.close()
        if self._reader is not None:
            self._reader.join()


def _pass_on(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Put every line of a process into a queue, and an empty one when there will be no more."""
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put(b"")


def _bound_memory() -> None:
    """Let a file that unfolds to more than there is fail in this process, where the system can bound it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    bound = MAX_MEMORY if most == resource.RLIM_INFINITY else min(MAX_MEMORY, most)
    with contextlib.suppress(OSError, ValueError):  # a system that has the name and not the thing
        resource.setrlimit(resource.RLIMIT_AS, (bound, most))


def main() -> None:
    """Answer requests until standard input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    _bound_memory()
    from pytest_benchbench.reports.html.case_pictures import draw_case

    answers.write(_READY)
    answers.flush()
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(draw_case(msgspec.json.decode(line, type=PictureRequest))) + b"\n")
        answers.flush()
