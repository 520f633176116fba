"""What a suite may ask for: ``case``, ``artifact``, ``reference``, ``adapter``, ``cold_adapter``, ``observe``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.session.collection import CaseItem
from pytest_benchbench.session.pytest_internals import skip_at_item

if TYPE_CHECKING:
    from pytest_benchbench.adapters.base import Adapter
    from pytest_benchbench.adapters.pool import PooledAdapter
    from pytest_benchbench.evidence.observing import Observation
    from pytest_benchbench.manifests.dataset import DatasetCase
    from pytest_benchbench.manifests.golden_set import GoldenSample
    from pytest_benchbench.manifests.watermark import WatermarkCase


@pytest.fixture
def case(request: pytest.FixtureRequest) -> WatermarkCase | DatasetCase | GoldenSample:
    """The manifest's row."""
    row: WatermarkCase | DatasetCase | GoldenSample = _item(request).read().case
    return row


@pytest.fixture
def artifact(request: pytest.FixtureRequest) -> Any:
    """The row's artifact, verified and decoded."""
    return _decoded(_item(request), reference=False)


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> Any:
    """The row's reference, verified and decoded; ``None`` for a row without one."""
    return _decoded(_item(request), reference=True)


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """The row's adapter, loaded: one instance in each process, shared by all its rows."""
    item = _item(request)
    return _loaded(item, item.plan.pool.warm(item.group.name))


@pytest.fixture
def cold_adapter(request: pytest.FixtureRequest) -> Iterator[Adapter]:
    """A fresh instance of the row's adapter, loaded; ``observe`` asks this one when a suite requests it."""
    item = _item(request)
    item.cold = item.plan.pool.fresh(item.group.name)
    try:
        yield _loaded(item, item.cold)
    finally:
        item.plan.pool.release(item.group.name, item.cold)
        item.cold = None


@pytest.fixture
def observe(request: pytest.FixtureRequest) -> Callable[[], Observation]:
    """Ask the row's adapter about the artifact, once: returns the observation, whose ``check()`` asserts the expectation.

    An adapter that is unavailable skips the row; a bad artifact or a failing adapter fails it.
    """
    item = _item(request)

    def observe() -> Observation:
        __tracebackhide__ = True
        if item.observation is not None:
            pytest.fail(item.line("observe() is called once for each row"), pytrace=False)
        return _observe(item, item.cold or item.plan.pool.warm(item.group.name))

    return observe


def _item(request: pytest.FixtureRequest) -> CaseItem:
    if not isinstance(request.node, CaseItem):
        pytest.fail(f"the fixture {request.fixturename!r} needs @pytest.mark.cases(kind=...)", pytrace=False)
    return request.node


def _loaded(item: CaseItem, pooled: PooledAdapter) -> Adapter:
    from pytest_benchbench.session.asking import load

    with suppress(Exception):
        load(item, pooled)
        return pooled.adapter
    _observe(item, pooled)  # which says why, in the evidence and on the terminal
    raise RuntimeError(f"adapter {item.group.name} cannot be loaded")


def _observe(item: CaseItem, pooled: PooledAdapter) -> Observation:
    __tracebackhide__ = True
    from pytest_benchbench.evidence.observing import ObservationError
    from pytest_benchbench.session.asking import ask

    observation = ask(item, pooled)
    item.observation = observation
    if observation.outcome == "unavailable":
        reason = observation.detection.reason or "unavailable"
        if item.plan.settings.require_available:
            pytest.fail(item.line(f"{item.group.name} is unavailable: {reason}"), pytrace=False)
        skip_at_item(f"{item.group.name} is unavailable: {reason}")
    if observation.outcome == "not_run":
        skip_at_item(f"{item.group.name} was not asked: {observation.error.message if observation.error else 'no budget'}")
    if observation.outcome == "error":
        if observation.traceback:
            item.add_report_section("call", "adapter", observation.traceback)
        raise ObservationError(observation)
    return observation


def _decoded(item: CaseItem, *, reference: bool) -> Any:
    from pytest_benchbench.artifacts.text import decode_text
    from pytest_benchbench.artifacts.verification import resolve_artifact
    from pytest_benchbench.evidence.observing import PinnedText

    question = item.question()
    file = question.reference if reference else question.artifact
    if file is None:
        return None
    if isinstance(file, PinnedText):
        return decode_text(file.text.encode())
    path = resolve_artifact(file.path, base=question.base, roots=question.roots)
    return item.plan.artifacts.load(path, file.sha256, question.media_type, decode=True).decoded
