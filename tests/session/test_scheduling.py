"""Laws of the scheduler, over simulated workers: nothing lost, nothing twice, few loads, balanced, linear."""

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.session.affinity import Workload
from pytest_benchbench.session.scheduling import AHEAD_SECONDS, AffinityScheduling


@dataclass(eq=False)
class FakeNode:
    """A worker: it begins a row once it knows the one after it or that there is none."""

    name: str
    queue: list = field(default_factory=list)
    shutting_down: bool = False
    busy: bool = False
    dead: bool = False
    loaded: set = field(default_factory=set)

    @property
    def gateway(self):
        return SimpleNamespace(id=self.name)

    def send_runtest_some(self, indices):
        assert not self.shutting_down, "a worker that was told to end never runs what it is given"
        self.queue += indices

    def shutdown(self):
        self.shutting_down = True


class Simulation:
    """Runs a collection to its end, as ``DSession`` would.

    Args:
        adapters: The adapter of each row.
        workers: How many workers there are.
        exclusive: Adapters that one worker has to run.
        seconds: What a row costs, by its index.
        load: What loading costs, by adapter.
        kills: How often a row kills its worker, by its index.
        retries: How often such a row runs again.
        restarts: How many dead workers are replaced.
    """

    def __init__(
        self, adapters, workers, *, exclusive=(), seconds=None, load=None, kills=None, retries=0, restarts=None, chunk=None
    ):
        self.adapters = adapters
        self.ids = [f"suite::{adapter}::{number}" for number, adapter in enumerate(adapters)]
        self.exclusive = frozenset(exclusive)
        self.seconds = seconds or (lambda _: 1.0)
        self.load = load or (lambda _: 0.0)
        self.kills = Counter(kills or {})
        self.retries = retries
        self.restarts = restarts
        self.finished = Counter()
        self.crashed = Counter()
        self.loads = Counter()
        self.order = []
        self.holders = Counter()
        self.now = 0.0
        self.deaths = 0
        self.shutting_down = False
        self._events = []
        self._serial = 0
        self.complaints = []
        self.scheduling = AffinityScheduling(
            adapter_of=lambda nodeid: None if "::None::" in nodeid else nodeid.split("::")[1],
            exclusive=self.exclusive,
            workers=workers,
            complain=self.complaints.append,
            max_rows_sent=chunk,
        )
        self.nodes = []
        for _ in range(workers):
            self._add()

    def _add(self):
        node = FakeNode(f"gw{len(self.nodes)}")
        self.nodes.append(node)
        self.scheduling.add_node(node)
        return node

    def run(self):
        for node in list(self.nodes):
            self._collected(node)
        self._advance()
        while self._events:
            self.now, _, node, index = heapq.heappop(self._events)
            self._end_row(node, index)
            self._advance()
        return self

    def _collected(self, node):
        self.scheduling.add_node_collection(node, self.ids)
        if self.scheduling.collection_is_completed:
            self.scheduling.schedule()

    def _advance(self):
        if not self.shutting_down and self.scheduling.tests_finished:
            self._shut_down()
        for node in self.nodes:
            if node.busy or node.dead or not node.queue or (len(node.queue) == 1 and not node.shutting_down):
                continue
            node.busy = True
            index = node.queue[0]
            adapter = self.adapters[index]
            cost = self.seconds(index)
            if adapter not in node.loaded and adapter is not None:
                node.loaded.add(adapter)
                self.loads[adapter] += 1
                cost += self.load(adapter)
            self._serial += 1
            heapq.heappush(self._events, (self.now + cost, self._serial, node, (index, cost)))
        for adapter in self.exclusive:
            holders = [n for n in self.nodes if not n.dead and any(self.adapters[i] == adapter for i in n.queue)]
            self.holders[adapter] = max(self.holders[adapter], len(holders))

    def _shut_down(self):
        self.shutting_down = True
        for node in self.scheduling.nodes:
            node.shutdown()

    def _end_row(self, node, begun):
        index, cost = begun
        node.busy = False
        if self.kills[index]:
            self.kills[index] -= 1
            self._kill(node, index)
        else:
            node.queue.remove(index)
            self.finished[index] += 1
            self.order.append(index)
            self.scheduling.mark_test_complete(node, index, cost)

    def _kill(self, node, index):
        node.dead = node.shutting_down = True
        self.deaths += 1
        self.scheduling.give_up(node)
        assert self.scheduling.remove_node(node) == self.ids[index]
        self.crashed[index] += 1
        is_replaced = self.restarts is None or self.deaths <= self.restarts
        if is_replaced and self.crashed[index] <= self.retries:
            self.scheduling.mark_test_pending(self.ids[index])
        if not is_replaced:
            self._shut_down()
            return
        self.shutting_down = False
        node = FakeNode(f"gw{len(self.nodes)}")
        self.scheduling.expect(node)
        self.nodes.append(node)
        self.scheduling.add_node(node)
        self._collected(node)


ADAPTERS = st.sampled_from(["a", "b", "c", None])
SECONDS = st.sampled_from([0.0, 0.001, 0.02, 1.0, 30.0])


@st.composite
def simulations(draw, *, kills=False):
    adapters = draw(st.lists(ADAPTERS, min_size=1, max_size=60))
    durations = [draw(SECONDS) for _ in adapters]
    loads = {name: draw(SECONDS) for name in "abc"}
    killers = st.dictionaries(st.integers(0, len(adapters) - 1), st.integers(1, 3), max_size=4)
    return Simulation(
        adapters,
        draw(st.integers(1, 5)),
        exclusive=draw(st.sets(st.sampled_from("abc"))),
        seconds=durations.__getitem__,
        load=loads.__getitem__,
        kills=draw(killers) if kills else None,
        retries=draw(st.integers(0, 2)),
        chunk=draw(st.none() | st.integers(1, 5)),
    )


@settings(deadline=None, max_examples=300)
@given(simulations())
def test_every_row_runs_exactly_once(simulation):
    simulation.run()
    assert simulation.finished == Counter(range(len(simulation.adapters)))
    assert simulation.scheduling.tests_finished
    assert not simulation.scheduling.has_pending


@settings(deadline=None, max_examples=300)
@given(simulations(kills=True))
def test_nothing_is_lost_when_workers_die_and_a_crash_is_told_once(simulation):
    kills = dict(simulation.kills)
    simulation.run()
    for index in range(len(simulation.adapters)):
        deadly, tries = kills.get(index, 0), simulation.retries + 1
        assert simulation.crashed[index] == min(deadly, tries)
        assert simulation.finished[index] == (deadly < tries)


@settings(deadline=None, max_examples=300)
@given(simulations(kills=True))
def test_an_exclusive_adapter_is_on_one_worker_and_in_order(simulation):
    simulation.run()
    for adapter in simulation.exclusive:
        rows = [index for index in simulation.order if simulation.adapters[index] == adapter]
        assert rows == sorted(rows)
        assert simulation.holders[adapter] <= 1
        assert simulation.loads[adapter] <= 1 + simulation.deaths


@settings(deadline=None)
@given(simulations(kills=True), st.integers(0, 3))
def test_a_session_that_replaces_no_more_workers_ends(simulation, restarts):
    simulation.restarts = restarts
    simulation.run()
    assert all(not node.busy for node in simulation.nodes)
    assert all(count == 1 for count in simulation.finished.values())
    assert simulation.scheduling.tests_finished


@pytest.mark.parametrize("order", ["in turns", "one after the other", "reversed"])
@pytest.mark.parametrize("load", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("sizes", [(100, 100, 100), (280, 10, 10), (10, 145, 145), (1, 1, 298)])
def test_three_adapters_on_two_workers_take_at_most_four_loads(order, load, sizes):
    rows = [name for name, size in zip("abc", sizes, strict=True) for _ in range(size)]
    if order == "in turns":
        rows = [
            name for turn in itertools.zip_longest(*([n] * s for n, s in zip("abc", sizes, strict=True))) for name in turn
        ]
        rows = [name for name in rows if name]
    elif order == "reversed":
        rows.reverse()
    simulation = Simulation(rows, 2, seconds=lambda _: 0.02, load=lambda _: load).run()
    assert sum(simulation.loads.values()) <= 4


def test_a_load_that_does_not_pay_is_not_made():
    simulation = Simulation(["a"] * 100 + ["b"] * 20, 2, seconds=lambda _: 0.02, load=lambda _: 30.0).run()
    assert simulation.loads == {"a": 1, "b": 1}


def test_a_load_that_pays_is_made():
    simulation = Simulation(["a"] * 3000 + ["b"] * 20, 2, seconds=lambda _: 0.02, load=lambda _: 1.0).run()
    assert simulation.loads == {"a": 2, "b": 1}


@pytest.mark.parametrize("seconds", [0.0005, 0.02, 0.3, 5.0])
@pytest.mark.parametrize("workers", [2, 4])
def test_workers_end_within_three_rows_of_each_other(seconds, workers):
    simulation = Simulation(["a"] * 500, workers, seconds=lambda _: seconds).run()
    assert simulation.now <= (500 / workers + 3) * seconds


def test_rows_of_different_cost_are_balanced_too():
    costs = [0.01 if number % 7 else 0.2 for number in range(700)]
    simulation = Simulation(["a"] * 700, 2, seconds=costs.__getitem__).run()
    assert simulation.now <= sum(costs) / 2 + 0.4


def test_a_worker_has_work_ahead_without_asking_for_each_row():
    sent = []

    class Counting(FakeNode):
        def send_runtest_some(self, indices):
            sent.append(len(indices))
            super().send_runtest_some(indices)

    simulation = Simulation(["a"] * 3000, 2, seconds=lambda _: 0.02)
    for node in simulation.nodes:
        node.__class__ = Counting
    simulation.run()
    assert len(sent) < 3000 / 8
    assert max(sent) <= AHEAD_SECONDS / 0.02


def test_fewer_rows_than_workers_run_side_by_side():
    assert Simulation(["a", "a", "b"], 4, seconds=lambda _: 1.0).run().now == 1.0


def test_the_heaviest_adapter_is_begun_first_and_one_that_cannot_be_shared_before_it():
    rows = ["a"] * 5 + ["b"] * 50 + ["c"] * 20
    simulation = Simulation(rows, 2, exclusive="c").run()
    assert {simulation.adapters[index] for index in simulation.order[:4]} == {"b", "c"}


def test_tests_without_an_adapter_fill_the_gap_at_the_end():
    simulation = Simulation(["a"] * 50 + [None] * 50, 2, seconds=lambda _: 0.1, load=lambda _: 2.0).run()
    assert simulation.loads == {"a": 1}
    assert simulation.now <= 7.4


def test_a_worker_that_collected_something_else_gets_no_row():
    simulation = Simulation(["a"] * 4, 2)
    one, other = simulation.nodes
    simulation.scheduling.add_node_collection(one, simulation.ids)
    simulation.scheduling.add_node_collection(other, simulation.ids[:3])
    assert simulation.complaints == ["workers collected different tests: one 4, another 3"]
    assert simulation.scheduling.tests_finished
    assert other.shutting_down


def test_an_exclusive_adapter_goes_on_in_another_worker_if_the_replacement_cannot_be_used():
    simulation = Simulation(["a"] * 3 + ["b"] * 9, 2, exclusive="a")
    for node in simulation.nodes:
        simulation.scheduling.add_node_collection(node, simulation.ids)
    scheduling, (first, second) = simulation.scheduling, simulation.nodes
    scheduling.schedule()
    scheduling.give_up(first)
    assert scheduling.remove_node(first) == simulation.ids[0]
    clone = FakeNode("gw2")
    scheduling.expect(clone)
    scheduling.add_node(clone)
    assert not any(simulation.adapters[index] == "a" for index in second.queue)
    scheduling.add_node_collection(clone, simulation.ids[:5])
    scheduling.schedule()
    ran = []
    while second.queue:
        ran.append(second.queue.pop(0))
        scheduling.mark_test_complete(second, ran[-1], 1.0)
    assert sorted(ran) == list(range(1, 12))
    assert scheduling.tests_finished


@pytest.mark.parametrize(("workers", "pays"), [(1, True), (3, True), (4, False)])
def test_joining_pays_while_the_work_left_for_each_takes_longer_than_loading(workers, pays):
    workload = Workload("a")
    workload.waiting.extend(range(10))
    workload.time_row(4.0, first=True)
    workload.time_row(1.0, first=False)
    assert workload.load_seconds == 3.0
    assert workload.pays_to_join(workers) is pays


@pytest.mark.parametrize("others", [0, 1])
def test_a_worker_that_died_unseen_is_given_nothing_and_blamed_for_nothing_it_never_got(others):
    class Broken(FakeNode):
        def send_runtest_some(self, indices):
            if self.dead:
                raise OSError("cannot send (already closed?)")
            super().send_runtest_some(indices)

    ids = [f"suite::toy::{number}" for number in range(20)]
    scheduling = AffinityScheduling(adapter_of=lambda nodeid: "toy", workers=1 + others, complain=print)
    nodes = [Broken("dying"), *(FakeNode("other") for _ in range(others))]
    for node in nodes:
        scheduling.add_node(node)
        scheduling.add_node_collection(node, ids)
    scheduling.schedule()
    dying = nodes[0]
    given, dying.dead = list(dying.queue), True
    for index in given:
        scheduling.mark_test_complete(dying, index, 0.02)
    assert dying.queue == given
    assert not scheduling.tests_finished
    assert scheduling.remove_node(dying) is None
    late = FakeNode("late")
    scheduling.expect(late)
    scheduling.add_node(late)
    scheduling.add_node_collection(late, ids)
    scheduling.schedule()
    done = list(given)
    while not scheduling.tests_finished:
        for node in (*nodes[1:], late):
            if len(node.queue) > 1 or (node.queue and node.shutting_down):
                done.append(node.queue.pop(0))
                scheduling.mark_test_complete(node, done[-1], 0.02)
    done += [index for node in (*nodes[1:], late) for index in node.queue]
    assert sorted(done) == list(range(20))
