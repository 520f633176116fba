"""The pytest hooks of the plugin, each a line or two. A project without manifest and suite pays for nothing else."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_benchbench.session import collection, completing, lifecycle, options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks for conftests."""
    lifecycle.declare_hooks(pluginmanager)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, the fixtures, and ask for adapters."""
    lifecycle.configure(config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Read and validate every manifest, before workers are started."""
    lifecycle.start(session)


def pytest_collect_file(file_path: Any, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a manifest that is named as an argument."""
    return lifecycle.collect_manifest(file_path, parent)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> Generator[None, Any, Any]:
    """Expand a marked test over the rows of its manifests."""
    return collection.make_suites(collector, name, obj, (yield), lifecycle.plan_of(collector.config))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    """Collect without the cyclic garbage collector, which would walk a growing heap again and again."""
    with lifecycle.collector_paused(session.config):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> Generator[None, Any, Any]:
    """Use every manifest before anything is deselected; refuse what is wrong after that, so that it is not deselected."""
    faults = lifecycle.complete_collection(session, items)
    yield
    completing.refuse(session, items, faults)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Attach the evidence of a row to its report."""
    return lifecycle.made_report(item, call, (yield))


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any) -> tuple[str, str, Any] | None:
    """Show measurements in a category of their own."""
    return lifecycle.shown_status(report)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close files."""
    lifecycle.stop(config)
