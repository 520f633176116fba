"""Hooks that a conftest or another plugin may implement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_benchbench.adapters.registry import AdapterRegistry


@pytest.hookspec(historic=True)
def pytest_benchbench_adapters(registry: AdapterRegistry) -> None:
    """Register adapters of one's own.

    Must stand in the root conftest (or a plugin) to be known to the built-in suites and to manifest validation::

        def pytest_benchbench_adapters(registry):
            registry.register(MyDetector)
    """


@pytest.hookspec
def pytest_benchbench_manifests(config: pytest.Config) -> list[Path] | None:
    """Give manifests to run when ``--manifest`` is not given, building them first if need be.

    Asked once, in the process that the user started, never in a worker::

        def pytest_benchbench_manifests(config):
            return [build_my_cohort(config.rootpath / ".benchbench") / "cases.jsonl"]
    """
