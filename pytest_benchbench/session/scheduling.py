"""Which worker of pytest-xdist runs which row: rows of one adapter together, in linear time, balanced to the last rows.

Implements ``xdist.scheduler.Scheduling``. Two facts about workers shape it: a worker begins a row only once it knows the one
after it (so each has two rows, or was told to end), and what a worker was told to end never takes another row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from pytest_benchbench.session.affinity import Workload, heaviest

AHEAD_SECONDS = 1.0
"""Work that a worker is given ahead, so that it never waits for the controller; less of it when the end is near."""

PROBE_ROWS = 4
"""Rows that a worker is given ahead while it is not known how long they take."""

MAX_ROWS_AHEAD = 1000

IDLE_CHECK_ROWS = 16
"""After how many rows workers that have nothing to do look again whether it pays to load something."""


class Node(Protocol):
    """What is used of ``xdist.workermanage.WorkerController``."""

    gateway: Any

    @property
    def shutting_down(self) -> bool:
        """Whether it was told to end, or has ended."""

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        """Give it more rows."""

    def shutdown(self) -> None:
        """Tell it to end after the rows that it was given."""


@dataclass(slots=True, eq=False)
class _Worker:
    """What the scheduler knows of a worker.

    Attributes:
        node: The worker.
        born: When it was started, in births and deaths of workers.
        usable: Whether it has collected what the others have and was not told to end.
        sent: Rows that it was given and has not ended, in its order.
        counts: How many of those there are of each workload.
        current: What it works at.
        loaded: Workloads of which it was given rows.
        timed: Workloads of which it has ended a row.
    """

    node: Node
    born: int = 0
    usable: bool = False
    sent: deque[int] = field(default_factory=deque)
    counts: dict[Workload, int] = field(default_factory=dict)
    current: Workload | None = None
    loaded: set[Workload] = field(default_factory=set)
    timed: set[Workload] = field(default_factory=set)

    @property
    def takes_rows(self) -> bool:
        return self.usable and not self.node.shutting_down


class AffinityScheduling:
    """Keeps the rows of an adapter on as few workers as pays, and those of an exclusive adapter on one.

    Args:
        config: The session's configuration, which other plugins look for in a scheduler.
        adapter_of: Names the adapter of a node id; ``None`` for a test that has none.
        exclusive: Adapters whose rows one worker has to run, in the order of the collection.
        workers: How many workers take part in the first collection.
        complain: Is called with one line when workers collected different tests.
        max_rows_sent: How many rows a worker is given at once at most (``--maxschedchunk``).
    """

    def __init__(
        self,
        config: Any = None,
        *,
        adapter_of: Callable[[str], str | None],
        exclusive: Iterable[str] = (),
        workers: int,
        complain: Callable[[str], None],
        max_rows_sent: int | None = None,
    ) -> None:
        self.config = config
        self._adapter_of = adapter_of
        self._exclusive = frozenset(exclusive)
        self._expected = workers
        self._complain = complain
        self._max_rows_sent = max_rows_sent
        self._workers: dict[Any, _Worker] = {}
        self._coming: dict[Any, int] = {}
        self._clock = 0
        self._collection: Sequence[str] | None = None
        self._differing = False
        self._started = False
        self._workloads: list[Workload] = []
        self._workload_of: list[Workload] = []
        self._positions: dict[str, int] = {}
        self._waiting = 0
        self._finished = 0
        self._taking = 0
        self._refused = False

    # what pytest-xdist asks

    @property
    def nodes(self) -> list[Any]:
        """The workers that take part."""
        return list(self._workers)

    @property
    def collection_is_completed(self) -> bool:
        """Whether rows may be given out: all first workers have collected, or did once."""
        return self._started or sum(worker.usable for worker in self._workers.values()) >= self._expected

    @property
    def tests_finished(self) -> bool:
        """Whether no row waits that any worker could still take, and no worker has more than its last row."""
        if self._differing:
            return True
        if not self._started:
            return False
        if self._waiting and (self._coming or any(not worker.node.shutting_down for worker in self._workers.values())):
            return False
        return all(len(worker.sent) < 2 for worker in self._workers.values())

    @property
    def has_pending(self) -> bool:
        """Whether rows wait or run."""
        return bool(self._waiting) or any(worker.sent for worker in self._workers.values())

    # workers come and go

    def expect(self, node: Any) -> None:
        """Know that a worker is being started, which replaces one that died."""
        self._clock += 1
        self._coming[node] = self._clock

    def give_up(self, node: Any) -> None:
        """Know that a worker has ended, whether or not it ever took part."""
        self._coming.pop(node, None)

    def add_node(self, node: Any) -> None:
        """Take a worker in; it is given rows once it has collected."""
        self._workers[node] = _Worker(node, born=self._coming.get(node, 0))

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Take what a worker collected; one that differs from the others is never given a row."""
        self._coming.pop(node, None)
        if self._collection is None:
            self._collection = list(collection)
        elif self._collection != list(collection):
            self._refused = True
            self._differing = not self._started
            self._complain(_difference(self._collection, collection))
            node.shutdown()
            return
        self._workers[node].usable = True
        self._taking += 1

    def remove_node(self, node: Any) -> str | None:
        """Forget a worker that ended or died; what it had not begun waits again, in its old place.

        Returns:
            The row that it was running, if it was running one.

        Raises:
            KeyError: It took no part.
        """
        worker = self._workers.pop(node)
        self._coming.pop(node, None)
        self._end(worker)
        if not worker.sent:
            return None
        assert self._collection is not None
        self._clock += 1
        for workload in worker.loaded:
            if workload.exclusive:
                workload.crashed_at = self._clock
        crashed = worker.sent.popleft()
        self._waiting += len(worker.sent)
        for index in reversed(worker.sent):
            self._workload_of[index].waiting.appendleft(index)
        self._fill_all()
        return self._collection[crashed]

    # rows

    def schedule(self) -> None:
        """Give out rows for the first time, or to a worker that has come later."""
        if self._differing:
            return
        if not self._started:
            self._start()
        idle = [worker for worker in self._workers.values() if worker.takes_rows and not worker.sent]
        for number, worker in enumerate(idle):  # no worker takes what leaves another one without any
            if (workload := self._choose(worker)) is not None:
                share = -(-len(workload.waiting) // (len(idle) - number))
                self._send(worker, workload, max(1, min(share, self._room(worker, workload))))
        self._fill_all()

    def _start(self) -> None:
        assert self._collection is not None
        self._started = True
        by_adapter: dict[str | None, Workload] = {}
        for index, nodeid in enumerate(self._collection):
            adapter = self._adapter_of(nodeid)
            if (workload := by_adapter.get(adapter)) is None:
                workload = by_adapter[adapter] = Workload(adapter, exclusive=adapter in self._exclusive)
            workload.waiting.append(index)
            self._workload_of.append(workload)
        self._workloads = list(by_adapter.values())
        self._waiting = len(self._collection)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Know that a row has ended, learn from its duration, and give the worker more if it needs more."""
        worker = self._workers[node]
        if worker.sent[0] == item_index:
            worker.sent.popleft()
        else:
            worker.sent.remove(item_index)
        workload = self._workload_of[item_index]
        worker.counts[workload] -= 1
        if not worker.counts[workload]:
            del worker.counts[workload]
        workload.time_row(duration, first=workload not in worker.timed)
        worker.timed.add(workload)
        self._finished += 1
        self._fill(worker)
        if self._waiting and self._finished % IDLE_CHECK_ROWS == 0:
            for other in self._workers.values():
                if not other.sent:
                    self._fill(other)

    def mark_test_pending(self, item: str) -> None:
        """Let a row run again, before the others of its adapter."""
        assert self._collection is not None
        if not self._positions:
            self._positions = {nodeid: index for index, nodeid in reversed(list(enumerate(self._collection)))}
        index = self._positions[item]
        self._workload_of[index].waiting.appendleft(index)
        self._waiting += 1
        self._fill_all()

    def remove_pending_tests_from_node(self, node: Any, indices: Sequence[int]) -> None:
        """Answer to a theft of rows, which this scheduler never asks for.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError

    # who gets what

    def _fill_all(self) -> None:
        for worker in self._workers.values():
            self._fill(worker)

    def _fill(self, worker: _Worker) -> None:
        """Give a worker what it needs; tell it to end where nothing is left for it and its last row waits for that."""
        if not worker.takes_rows:
            return
        while self._waiting and worker.usable and self._needs_more(worker):
            workload = worker.current
            if workload is None or not workload.waiting:
                workload = self._choose(worker)
            if workload is None or (room := self._room(worker, workload)) <= 0:
                break
            self._send(worker, workload, room)
        if worker.usable and len(worker.sent) == 1:
            self._end(worker)
            worker.node.shutdown()

    def _end(self, worker: _Worker) -> None:
        self._taking -= worker.usable
        worker.usable = False

    def _needs_more(self, worker: _Worker) -> bool:
        if len(worker.sent) < 2:
            return True
        if worker.current is not None and worker.current.waiting:
            return self._room(worker, worker.current) > 0
        ahead = self._seconds_ahead(worker)
        return ahead is not None and ahead < AHEAD_SECONDS / 2

    def _choose(self, worker: _Worker) -> Workload | None:
        """Choose what a worker turns to; the laws stand at the top of ``affinity.py``."""
        left = [workload for workload in self._workloads if workload.waiting and self._is_open_to(worker, workload)]
        typical = self._typical_row_seconds()
        if own := [workload for workload in left if workload.adapter is not None and workload in worker.loaded]:
            return heaviest(own, typical)
        others = {workload: self._count_loaded(workload) for workload in left}
        if fresh := [workload for workload in left if workload.adapter is not None and not others[workload]]:
            return heaviest(fresh, typical)
        if spread := [workload for workload in left if workload.adapter is None]:
            return spread[0]
        return heaviest([workload for workload in left if workload.pays_to_join(others[workload])], typical)

    def _is_open_to(self, worker: _Worker, workload: Workload) -> bool:
        """Say whether a worker may take rows of a workload.

        An exclusive one belongs to the worker that began it. If that died, it goes on in a worker that was started since and
        so was told which row killed it; in any other only if such a worker came and cannot be used.
        """
        if not workload.exclusive or workload in worker.loaded:
            return True
        workers = self._workers.values()
        if any(workload in other.counts or (workload in other.loaded and other.takes_rows) for other in workers):
            return False
        if worker.born > workload.crashed_at:
            return True
        replacements = [*(other.born for other in workers if other.takes_rows), *self._coming.values()]
        return self._refused and max(replacements) <= workload.crashed_at

    def _count_loaded(self, workload: Workload) -> int:
        return sum(workload in worker.loaded and worker.takes_rows for worker in self._workers.values())

    def _typical_row_seconds(self) -> float | None:
        rows = sum(workload.rows_timed for workload in self._workloads)
        return sum(workload.row_seconds_total for workload in self._workloads) / rows if rows else None

    def _seconds_ahead(self, worker: _Worker) -> float | None:
        """Estimate the work that a worker was given already; ``None`` while it is not known how long its rows take."""
        ahead = 0.0
        for workload, count in worker.counts.items():
            if (seconds := workload.row_seconds) is None:
                return None
            ahead += count * seconds
        return ahead

    def _room(self, worker: _Worker, workload: Workload) -> int:
        """Say how many more rows of a workload a worker should be given."""
        sent, seconds, ahead = len(worker.sent), workload.row_seconds, self._seconds_ahead(worker)
        if seconds is None or ahead is None:
            room = (PROBE_ROWS if worker.counts.keys() <= {workload} else 2) - sent
        else:
            wanted = AHEAD_SECONDS
            if not workload.exclusive:  # near the end less, so that all workers end together
                wanted = min(wanted, len(workload.waiting) * seconds / (2 * self._taking))
            if sent >= 2 and ahead >= wanted / 2:
                return 0
            room = max(2 - sent, min(MAX_ROWS_AHEAD, int((wanted - ahead) / max(seconds, 1e-6))))
        return room if self._max_rows_sent is None else min(room, max(2 - sent, self._max_rows_sent))

    def _send(self, worker: _Worker, workload: Workload, rows: int) -> None:
        """Give a worker the next rows. One that has died without anybody having told yet gets none: they go on waiting."""
        indices = list(islice(workload.waiting, rows))
        try:
            worker.node.send_runtest_some(indices)
        except OSError:
            self._end(worker)
            return
        for _ in indices:
            workload.waiting.popleft()
        self._waiting -= len(indices)
        worker.sent.extend(indices)
        worker.counts[workload] = worker.counts.get(workload, 0) + len(indices)
        worker.current = workload
        worker.loaded.add(workload)


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Say in one line how two collections differ."""
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if one != other:
            return f"workers collected different tests: number {number} is {one} in one and {other} in another"
    return f"workers collected different tests: one {len(ours)}, another {len(theirs)}"
