"""The rows of an image cohort, and the artifacts that they point to.

Attacked rows are compared with the unmarked carrier, as marked and removed rows are, so that the fidelity numbers of a pair
share one scale. An attack that moves pixels leaves nothing to compare with: its rows carry no reference.

``seed`` of a row is the one that the last random step was given: an attack's own, else the carrier's, else null. All of them
stand in ``transform.parameters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_benchbench.cohorts.gallery import Gallery, SavedPicture
from pytest_benchbench.cohorts.pictures import PNG_ENCODER, encode_png
from pytest_benchbench.cohorts.recipe import Carrier, ImageRecipe
from pytest_benchbench.cohorts.schemes import Mark
from pytest_benchbench.manifests.watermark import Transform, WatermarkCase

State = Literal["clean", "marked", "attacked"]
Arm = Literal["positive", "matched_negative", "hard_negative"]
Expected = Literal["detected", "not_detected", "unresolved"]


def cohort_rows(recipe: ImageRecipe, marks: Mapping[str, tuple[Mark, ...]], gallery: Gallery) -> Iterator[WatermarkCase]:
    """Save every artifact of a recipe and give every row of its manifest.

    Args:
        recipe: What to build.
        marks: Marks by adapter, of the adapters that are available.
        gallery: Where the artifacts go.

    Raises:
        CohortError: A source is refused.
    """
    for carrier in recipe.open_carriers():
        clean = _save_carrier(recipe, carrier, gallery)
        for adapter, of_adapter in marks.items():
            for mark in of_adapter:
                yield from _Pair(recipe, carrier, adapter, mark.name).rows(clean, mark, gallery)
    for carrier in recipe.hard_negatives:
        never_marked = _save_carrier(recipe, carrier, gallery)
        for adapter in marks:
            yield _Pair(recipe, carrier, adapter, adapter).clean_row(never_marked, "hard_negative")


def _save_carrier(recipe: ImageRecipe, carrier: Carrier, gallery: Gallery) -> SavedPicture:
    return gallery.save("clean", f"{carrier.name}.png", encode_png(carrier.draw(recipe.side)))


@dataclass(frozen=True, slots=True)
class _Pair:
    """The rows that one adapter is asked about one carrier under one name."""

    recipe: ImageRecipe
    carrier: Carrier
    adapter: str
    name: str

    def rows(self, clean: SavedPicture, mark: Mark, gallery: Gallery) -> Iterator[WatermarkCase]:
        """Mark the carrier, attack what was saved, and give the rows."""
        yield self.clean_row(clean, "matched_negative")
        stem = f"{self.carrier.name}-{mark.name}"
        marked = gallery.save("marked", f"{stem}.png", encode_png(mark.embed(clean.pixels())))
        yield self._row(
            marked,
            state="marked",
            transform=self._transform("embed", 1, {"embed": mark.record, "encoder": PNG_ENCODER}),
            reference=clean,
            expected="detected",
        )
        pixels = marked.pixels()
        for attack in self.recipe.attacks:
            attacked = attack.apply(pixels)
            yield self._row(
                gallery.save("attacked", f"{stem}-{attack.name}{attacked.extension}", attacked.data),
                state="attacked",
                transform=self._transform(
                    attack.name,
                    attack.revision,
                    {"embed": mark.record, "attack": {"seed": attack.seed, **attacked.parameters}},
                ),
                reference=clean if attack.keeps_positions else None,
                seed=attack.seed,
            )

    def clean_row(self, saved: SavedPicture, arm: Arm) -> WatermarkCase:
        """Give the row of an unmarked picture."""
        transform = self._transform("none", 1, {"encoder": PNG_ENCODER})
        return self._row(saved, state="clean", transform=transform, arm=arm, expected="not_detected")

    def _transform(self, name: str, revision: int, parameters: Mapping[str, Any]) -> Transform:
        return Transform(
            name=name,
            revision=f"pytest-benchbench/{name}@{revision}",
            parameters={"size": self.recipe.side, **self.carrier.record, **parameters},
        )

    def _row(
        self,
        saved: SavedPicture,
        *,
        state: State,
        transform: Transform,
        arm: Arm = "positive",
        reference: SavedPicture | None = None,
        seed: int | None = None,
        expected: Expected = "unresolved",
    ) -> WatermarkCase:
        pair_id = f"{self.recipe.prefix}-{self.recipe.side}-{self.carrier.name}-{self.name}"
        return WatermarkCase(
            schema_version=1,
            case_id=f"{pair_id}-{transform.name if state == 'attacked' else state}",
            pair_id=pair_id,
            media_type="image",
            adapter=self.adapter,
            arm=arm,
            state=state,
            path=saved.path,
            sha256=saved.sha256,
            reference_path=reference.path if reference else None,
            reference_sha256=reference.sha256 if reference else None,
            source_revision=self.carrier.source_revision,
            transform=transform,
            seed=self.carrier.seed if seed is None else seed,
            expected=expected,
        )
