"""Whether an adapter finds its own marks here: embed, save, ask, once on each synthetic carrier of its medium."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_benchbench.adapters.base import AdapterDescription, Detection
from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.adapters.registry import AdapterRegistry
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.audio import synthetic_sounds
from pytest_benchbench.cohorts.gallery import Gallery
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.recipe import Carrier
from pytest_benchbench.cohorts.schemes import SCHEMES, schemes_of
from pytest_benchbench.cohorts.synthetic_image import DEFAULT_SIDE, synthetic_pictures
from pytest_benchbench.cohorts.video import synthetic_clips


@dataclass(frozen=True, slots=True)
class CheckedCarrier:
    """What the adapter answered about one carrier before and after marking.

    Attributes:
        name: The carrier, and the mark where the scheme has several.
        clean: About the unmarked carrier.
        marked: About the marked one.
    """

    name: str
    clean: Detection
    marked: Detection


@dataclass(frozen=True, slots=True)
class AdapterCheck:
    """The outcome of a check.

    Attributes:
        adapter: The adapter's name.
        description: What stood behind its answers.
        carriers: One entry for each carrier and mark.
    """

    adapter: str
    description: AdapterDescription
    carriers: tuple[CheckedCarrier, ...]

    @property
    def is_verified(self) -> bool:
        """Whether a mark was found in at least one marked carrier, and none in an unmarked one."""
        clean = all(carrier.clean.status == "not_detected" for carrier in self.carriers)
        return clean and any(carrier.marked.status == "detected" for carrier in self.carriers)


def check_adapter(choice: AdapterChoice, registry: AdapterRegistry) -> AdapterCheck:
    """Let an adapter look for its own marks.

    Args:
        choice: The adapter and its options.
        registry: Where it is registered.

    Raises:
        AdapterUnavailable: A package or weights are missing, or the adapter brings no embedder.
        CohortError: There is no such adapter, its options are refused, or it fails.
    """
    media = {SCHEMES[choice.name].media_type} if choice.name in SCHEMES else registry.media_types().get(choice.name, set())
    markable = sorted(set(media) & set(_CARRIERS))
    if not markable:
        raise CohortError(f"{choice.name}: no carrier is known for what it can be asked about")
    (scheme,) = schemes_of(markable[0], [choice], registry)
    opened = scheme.open(registry)
    medium = MEDIA[scheme.media_type]
    checked = []
    with tempfile.TemporaryDirectory(prefix="benchbench-check-") as folder:
        gallery = Gallery(Path(folder))
        for carrier in _CARRIERS[scheme.media_type]():
            clean = gallery.save(medium, "clean", f"{carrier.name}{medium.extension}", medium.encode(carrier.draw()))
            for mark in opened.marks:
                name = carrier.name if len(opened.marks) == 1 else f"{carrier.name}, {mark.name}"
                try:
                    content = medium.encode(mark.embed(clean.content()))
                    marked = gallery.save(medium, "marked", f"{carrier.name}-{mark.name}{medium.extension}", content)
                    checked.append(CheckedCarrier(name, opened.detect(clean), opened.detect(marked)))
                except CohortError:
                    raise
                except Exception as error:  # an adapter may raise anything
                    raise CohortError(f"{choice.name} fails on {name}: {type(error).__name__}: {error}") from error
    return AdapterCheck(choice.name, opened.description, tuple(checked))


def _pictures() -> tuple[Carrier, ...]:
    return synthetic_pictures(DEFAULT_SIDE)


_CARRIERS: dict[str, Callable[[], tuple[Carrier, ...]]] = {
    "image": _pictures,
    "audio": synthetic_sounds,
    "video": synthetic_clips,
}
