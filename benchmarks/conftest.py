"""Builds the default cohorts once into a cache, when no manifest is named on the command line."""

from pathlib import Path

import pytest


def pytest_benchbench_manifests(config: pytest.Config) -> list[Path]:
    """Give the manifests of the default cohorts; the first run builds them."""
    from pytest_benchbench.cohorts import CohortError
    from pytest_benchbench.cohorts.defaults import DEFAULT_COHORTS, default_cohort

    cache = config.rootpath / ".benchbench" / "cohorts"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        (cache / ".gitignore").write_text("*\n", encoding="utf-8")
        return [default_cohort(name, cache) for name in DEFAULT_COHORTS]
    except (CohortError, OSError) as error:
        raise pytest.UsageError(f"the default cohorts cannot be built: {error}") from None
