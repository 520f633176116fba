"""The default cohorts: built once, kept in a cache, found again by what they were made by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_benchbench.cohorts import CohortError, audio, real_image, synthetic_image, video
from pytest_benchbench.cohorts.building import build_cohort, build_digest, read_left_out
from pytest_benchbench.cohorts.gallery import MANIFEST
from pytest_benchbench.cohorts.recipe import Recipe, open_schemes

DEFAULT_COHORTS: dict[str, Callable[[], Recipe]] = {
    synthetic_image.NAME: synthetic_image.synthetic_image,
    real_image.NAME: real_image.real_image,
    audio.NAME: audio.audio,
    video.NAME: video.video,
}
"""The recipes that need no argument, by name."""


@dataclass(frozen=True, slots=True)
class DefaultCohort:
    """A default cohort in the cache.

    Attributes:
        manifest: Path of the manifest; ``None`` where no adapter of the cohort is available.
        left_out: By adapter, why its planned rows are not in the manifest.
    """

    manifest: Path | None
    left_out: dict[str, str]


def default_cohort(name: str, cache_dir: Path) -> DefaultCohort:
    """Give a default cohort, which is built if it is not in the cache; adapters that are unavailable are left out.

    Whether packages are installed is looked up without importing them, so that a cohort that is there is found quickly.

    Args:
        name: One of ``DEFAULT_COHORTS``.
        cache_dir: Is made if need be. The cohort's folder in it carries the first 16 digits of a digest over the recipe's
            sources, its parameters, the available adapters and the versions of its dependencies, so that a stale one is
            never found.

    Returns:
        The cohort. Several processes may ask at once: each builds aside, and the first to finish is kept.

    Raises:
        CohortError: There is no such cohort, or it cannot be built here.
    """
    if name not in DEFAULT_COHORTS:
        raise CohortError(f"unknown cohort {name!r}; known: {', '.join(DEFAULT_COHORTS)}")
    recipe = DEFAULT_COHORTS[name]()
    absent = {
        adapter: f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        for adapter, scheme in recipe.schemes().items()
        if (missing := scheme.missing_packages())
    }
    if len(absent) == len(recipe.schemes()):
        return DefaultCohort(None, absent)
    installed = [adapter for adapter in recipe.schemes() if adapter not in absent]
    folder = _folder(recipe, cache_dir, installed)
    if _is_whole(folder):
        return DefaultCohort(folder / MANIFEST, read_left_out(folder))
    opened = open_schemes(recipe)  # weights may be missing although packages are there
    if not opened.by_adapter:
        return DefaultCohort(None, opened.left_out)
    folder = _folder(recipe, cache_dir, opened.by_adapter)
    if not _is_whole(folder):
        try:
            build_cohort(recipe, folder, opened=opened, leave_out_unavailable=True)
        except CohortError:
            if not _is_whole(folder):  # else another process was first, with the same bytes
                raise
    return DefaultCohort(folder / MANIFEST, opened.left_out)


def _folder(recipe: Recipe, cache_dir: Path, adapters: Iterable[str]) -> Path:
    return cache_dir / f"{recipe.name}-{build_digest(recipe, adapters)[:16]}"


def _is_whole(folder: Path) -> bool:
    return (folder / MANIFEST).exists()
