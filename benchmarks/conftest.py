"""Builds the default cohorts once into a cache, when no manifest is named on the command line."""

from pathlib import Path

import pytest


def pytest_benchbench_manifests(config: pytest.Config) -> list[Path]:
    """Give the manifests of the default cohorts; the first run builds them."""
    from pytest_benchbench.cohorts import CohortError
    from pytest_benchbench.cohorts.defaults import DEFAULT_COHORTS, default_cohort

    try:
        cohorts = [default_cohort(name, _cache(config)) for name in DEFAULT_COHORTS]
    except (CohortError, OSError) as error:
        raise pytest.UsageError(f"the default cohorts cannot be built: {error}") from None
    return [cohort.manifest for cohort in cohorts if cohort.manifest is not None]


@pytest.fixture(scope="session")
def left_out(pytestconfig: pytest.Config) -> dict[str, str]:
    """By adapter, why its planned rows are not in the default cohorts; they are not built where the command names others."""
    if pytestconfig.getoption("manifest"):
        pytest.skip("the command names manifests of its own")
    from pytest_benchbench.cohorts.defaults import DEFAULT_COHORTS, default_cohort

    cohorts = [default_cohort(name, _cache(pytestconfig)) for name in DEFAULT_COHORTS]
    return {adapter: reason for cohort in cohorts for adapter, reason in cohort.left_out.items()}


def _cache(config: pytest.Config) -> Path:
    from pytest_benchbench.session.run_directory import state_directory

    return state_directory(config.rootpath) / "cohorts"
