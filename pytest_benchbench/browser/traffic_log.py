"""The log of a running browser's whole network, read while it is written: through a pipe, so nothing of it fills a disk."""

from __future__ import annotations

import os
import select
from collections.abc import Collection
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from threading import Condition, Thread

from pytest_benchbench.browser.netlog import NetLogError, NetLogReader, Sighting

_LOOK_MS = 200
"""How long nothing may come of a browser that has ended until it is certain that nothing more comes, milliseconds."""

_PIECE_BYTES = 1 << 16

_COMMA_TOO_MANY = b",\n],\n"
"""How the list of events ends where a browser cannot go back in its file for the last comma, as in a pipe."""

_NAME = "the log of the browser's network"


class TrafficLog:
    """Reads what a browser writes down of its network, as it writes it; a thread of its own does.

    A browser writes its log by a dozen events at a time: what it did last is in the log once a little more has happened, see
    ``reaches``, or once it has ended.

    Args:
        pipe: A new path, which ``--log-net-log`` names. A pipe is made there, and a browser that opens it is read.
        copy: A new file that gets all of the log; ``None`` keeps what it says, and none of its text.

    Attributes:
        copy: The same.

    Raises:
        OSError: The pipe cannot be made, or the copy not be opened.
    """

    def __init__(self, pipe: Path, copy: Path | None) -> None:
        self.copy = copy
        self._changed = Condition()
        self._reader = NetLogReader(_NAME)
        self._asked: str | None = None
        self._fault: NetLogError | None = None
        self._has_ended = False
        self._kept_back = b""
        with ExitStack() as opening:
            self._copied = None if copy is None else opening.enter_context(FileIO(copy, "xb"))
            os.mkfifo(pipe, 0o600)
            self._source = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            opening.callback(os.close, self._source)
            held = os.open(pipe, os.O_WRONLY)  # without it the pipe would end before the browser opens it
            self._held = ExitStack()
            self._held.callback(os.close, held)
            self._open = opening.pop_all()
        self._thread = Thread(target=self._read, name="traffic log", daemon=True)
        self._thread.start()

    def outside(self, allowed: Collection[str]) -> list[Sighting]:
        """List what led elsewhere than to allowed origins up to now (see ``Sighting.is_outside``).

        Args:
            allowed: Origins as ``origins.origin_of`` writes them.

        Raises:
            NetLogError: The log cannot be read, or its copy not be written.
        """
        with self._changed:
            self._require()
            return [seen for seen in self._reader.sightings() if seen.is_outside(allowed)]

    def reaches(self, url: str, timeout: float) -> bool:
        """Wait until the request of a URL is in the log: what was done before is in it too, then.

        Args:
            url: Of a request that is made once or, until it is in the log, again.
            timeout: Seconds.

        Raises:
            NetLogError: As ``outside``.
        """
        with self._changed:
            if self._asked != url:
                self._asked = self._reader.awaited = url
            self._changed.wait_for(lambda: self._fault is not None or self._reader.awaited is None, timeout)
            self._require()
            return self._reader.awaited is None

    def wait_for_end(self, timeout: float) -> None:
        """Wait until a browser that ends has written all; a process of its own does, which may outlive its main process.

        Args:
            timeout: Seconds.
        """
        self._held.close()
        self._thread.join(timeout)

    def close(self) -> None:
        """Read the rest, of a browser that has ended. Twice does no harm."""
        self._has_ended = True
        self._held.close()
        self._thread.join()
        if self._copied is not None and not self._copied.closed and self._fault is None:
            try:
                self._copied.write(self._kept_back)
            except OSError as error:
                self._fault = self._not_copied(error)
        self._open.close()

    def _require(self) -> None:
        if self._fault is not None:
            raise NetLogError(str(self._fault))

    def _read(self) -> None:
        """Take what comes, until the pipe ends or, where somebody else holds it, nothing more comes of an ended browser."""
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        while True:
            if not poll.poll(_LOOK_MS):
                if self._has_ended:
                    return
                continue
            data = os.read(self._source, _PIECE_BYTES)
            if not data:
                return
            self._take(data)

    def _take(self, data: bytes) -> None:
        with self._changed:
            if self._fault is not None:
                return  # taken all the same: a browser whose log nobody takes would wait
            try:
                if self._copied is not None:
                    self._copy_on(self._copied, data)
                self._reader.feed(data)
            except OSError as error:
                self._fault = self._not_copied(error)
            except NetLogError as error:
                self._fault = error
            self._changed.notify_all()

    def _not_copied(self, error: OSError) -> NetLogError:
        return NetLogError(f"{self.copy}: cannot be written: {error.strerror or error}")

    def _copy_on(self, copied: FileIO, data: bytes) -> None:
        """Write on in the copy, as the browser itself would write a file; what may be the end of its list waits."""
        text = (self._kept_back + data).replace(_COMMA_TOO_MANY, b"],\n")  # first: its own end looks like a beginning of it
        lengths = range(len(_COMMA_TOO_MANY) - 1, 0, -1)
        kept = next((length for length in lengths if text.endswith(_COMMA_TOO_MANY[:length])), 0)
        self._kept_back = text[len(text) - kept :]
        rest = memoryview(text[: len(text) - kept])
        while rest:
            rest = rest[copied.write(rest) :]
