"""Builds the default cohorts once into a cache, when no manifest is named on the command line."""

from pathlib import Path

import pytest


def pytest_benchbench_manifests(config: pytest.Config) -> list[Path]:
    """Give the manifests of the default cohorts; the first run builds them."""
    from pytest_benchbench.cohorts import CohortError
    from pytest_benchbench.cohorts.defaults import DEFAULT_COHORTS, default_cohort
    from pytest_benchbench.session.run_directory import state_directory

    try:
        cache = state_directory(config.rootpath) / "cohorts"
        return [default_cohort(name, cache) for name in DEFAULT_COHORTS]
    except (CohortError, OSError) as error:
        raise pytest.UsageError(f"the default cohorts cannot be built: {error}") from None
