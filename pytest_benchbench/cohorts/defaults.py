"""The default cohorts: built once, kept in a cache, found again by what they were made by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_benchbench.cohorts import CohortError, real_image, synthetic_image
from pytest_benchbench.cohorts.building import MANIFEST, build_cohort, build_digest
from pytest_benchbench.cohorts.recipe import ImageRecipe

DEFAULT_COHORTS: Mapping[str, Callable[[], ImageRecipe]] = {
    synthetic_image.NAME: synthetic_image.synthetic_image,
    real_image.NAME: real_image.real_image,
}
"""The recipes that need no argument, by name."""


def default_cohort(name: str, cache_dir: Path) -> Path:
    """Give the manifest of a default cohort, which is built if it is not in the cache.

    Args:
        name: ``synthetic-image`` or ``real-image``.
        cache_dir: Is made if need be. The cohort's folder in it carries the first 16 digits of a digest over the recipe's
            sources, its parameters and the versions of its dependencies, so that a stale one is never found.

    Returns:
        Path of the manifest. Several processes may ask at once: each builds aside, and the first to finish is kept.

    Raises:
        CohortError: There is no such cohort, or it cannot be built here.
    """
    if name not in DEFAULT_COHORTS:
        raise CohortError(f"unknown cohort {name!r}; known: {', '.join(DEFAULT_COHORTS)}")
    recipe = DEFAULT_COHORTS[name]()
    folder = cache_dir / f"{name}-{build_digest(recipe)[:16]}"
    if not (folder / MANIFEST).exists():
        try:
            build_cohort(recipe, folder)
        except CohortError:
            if not (folder / MANIFEST).exists():  # else another process was first, with the same bytes
                raise
    return folder / MANIFEST
