"""Fails first, and by name, when a part of pytest-xdist that the scheduler uses has moved."""

import inspect

import pytest
from xdist import newhooks
from xdist.dsession import DSession, get_default_max_worker_restart
from xdist.scheduler import Scheduling
from xdist.workermanage import WorkerController, parse_tx_spec_config

from pytest_benchbench.session.distribution import Distribution
from pytest_benchbench.session.scheduling import AffinityScheduling


def test_the_scheduler_has_all_that_pytest_xdist_asks_of_one():
    asked = {name for name in vars(Scheduling) if not name.startswith("_")}
    assert asked <= set(dir(AffinityScheduling))


@pytest.mark.parametrize("name", sorted(n for n in vars(Distribution) if n.startswith("pytest_")))
def test_a_hook_has_the_arguments_that_are_taken(name):
    offered = inspect.signature(getattr(newhooks, name)).parameters
    taken = inspect.signature(getattr(Distribution, name)).parameters
    assert set(taken) - {"self"} <= set(offered)


@pytest.mark.parametrize("name", ["send_runtest_some", "shutdown", "shutting_down"])
def test_a_worker_has_what_the_scheduler_uses(name):
    assert hasattr(WorkerController, name)


def test_options_are_read_by_these_functions():
    assert callable(parse_tx_spec_config)
    assert callable(get_default_max_worker_restart)


def test_a_dead_worker_is_told_before_its_row_and_its_row_before_its_replacement():
    source = inspect.getsource(DSession.worker_errordown)
    steps = ["pytest_testnodedown", "remove_node", "handle_crashitem", "_clone_node"]
    assert sorted(steps, key=source.index) == steps
    assert '"keyboard-interrupt"' in inspect.getsource(DSession.worker_workerfinished)
