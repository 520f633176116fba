"""The rows of a cohort, and the artifacts that they point to.

Attacked rows are compared with the unmarked carrier, as marked, removed and forged rows are, so that the fidelity numbers of
a pair share one scale. An attack that moves pixels or samples leaves nothing to compare with: its rows carry no reference.

``seed`` of a row is the one that the last random step was given: an attack's own, else the carrier's, else null. All of them
stand in ``transform.parameters``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import Attack
from pytest_benchbench.cohorts.gallery import Gallery, SavedArtifact
from pytest_benchbench.cohorts.recipe import Carrier, Part, Recipe
from pytest_benchbench.cohorts.schemes import Embed, Mark, OpenedScheme, Scheme
from pytest_benchbench.manifests.watermark import Arm, Expectation, Transform, WatermarkCase

State = Literal["clean", "marked", "attacked", "removed", "forged"]


def cohort_rows(
    recipe: Recipe, opened: Mapping[str, OpenedScheme], gallery: Gallery, note: Callable[[str], None]
) -> Iterator[WatermarkCase]:
    """Save every artifact of a recipe and give every row of its manifest.

    Args:
        recipe: What to build.
        opened: The schemes that are available, by adapter.
        gallery: Where the artifacts go.
        note: Is told, in one line, where a planned removed row is left out because nothing was destroyed.

    Raises:
        CohortError: A source is refused, or an adapter gives no verdict about an artifact of its own.
    """
    for part in recipe.parts:
        available = [scheme for scheme in part.schemes if scheme.adapter in opened]
        if not available:
            continue
        for carrier in part.open_carriers():
            clean = _save_carrier(part, carrier, gallery)
            for scheme in available:
                for mark in opened[scheme.adapter].marks:
                    pair = _Pair(part, carrier, scheme, mark.name, gallery)
                    yield from pair.rows(clean, mark, opened[scheme.adapter], note)
        for carrier in part.hard_negatives:
            never_marked = _save_carrier(part, carrier, gallery)
            for scheme in available:
                yield _Pair(part, carrier, scheme, scheme.adapter, gallery).clean_row(never_marked, "hard_negative")


def _save_carrier(part: Part, carrier: Carrier, gallery: Gallery) -> SavedArtifact:
    medium = part.medium
    return gallery.save(medium, "clean", f"{carrier.name}{medium.extension}", medium.encode(carrier.draw()))


@dataclass(frozen=True, slots=True)
class _Pair:
    """The rows that one adapter is asked about one carrier under one name."""

    part: Part
    carrier: Carrier
    scheme: Scheme
    name: str
    gallery: Gallery

    def rows(
        self, clean: SavedArtifact, mark: Mark, opened: OpenedScheme, note: Callable[[str], None]
    ) -> Iterator[WatermarkCase]:
        """Mark the carrier, attack what was saved, and give the rows."""
        yield self.clean_row(clean, "matched_negative")
        marked = self._save("marked", "", mark.embed(clean.content()))
        yield self._row(
            marked,
            "marked",
            self._transform("embed", 1, {"embed": mark.record, "encoder": self._encoder()}),
            reference=clean,
            expected=self.part.expected_marked,
        )
        for attack in self.part.attacks:
            yield from self._attacked(clean, marked, mark, attack, opened, note)
        if opened.remove is not None:
            parameters = {"embed": mark.record, "remover": opened.remover_record, "encoder": self._encoder()}
            yield self._row(
                self._save("removed", "", opened.remove(marked.content())),
                "removed",
                self._transform("remove", 1, parameters),
                reference=clean,
            )
        if self.scheme.foreign is not None and mark.embed_foreign is not None:
            yield from self._forged(clean, marked, mark, mark.embed_foreign)

    def clean_row(self, saved: SavedArtifact, arm: Arm) -> WatermarkCase:
        """Give the row of an unmarked artifact."""
        transform = self._transform("none", 1, {"encoder": self._encoder()})
        return self._row(saved, "clean", transform, arm=arm, expected="not_detected")

    def _attacked(
        self,
        clean: SavedArtifact,
        marked: SavedArtifact,
        mark: Mark,
        attack: Attack[Any],
        opened: OpenedScheme,
        note: Callable[[str], None],
    ) -> Iterator[WatermarkCase]:
        attacked = attack.apply(marked.content())
        name = f"{self.carrier.name}-{self.name}-{attack.name}{attacked.extension}"
        saved = self.gallery.save(self.part.medium, "attacked", name, attacked.data)
        record = {"family": attack.family, "strength": attack.strength, "seed": attack.seed, **attacked.parameters}
        transform = self._transform(attack.name, attack.revision, {"embed": mark.record, "attack": record})
        reference = clean if attack.keeps_positions else None
        yield self._row(saved, "attacked", transform, reference=reference, seed=attack.seed)
        if (self.carrier.name, attack.name) not in self.part.removals:
            return
        before, after = self._verdict(marked, opened), self._verdict(saved, opened)
        if (before, after) == ("detected", "not_detected"):
            yield self._row(saved, "removed", transform, reference=reference, seed=attack.seed, expected="not_detected")
        else:
            note(f"no removed row for {self._pair_id()}: {before} before {attack.name}, {after} after it")

    def _verdict(self, saved: SavedArtifact, opened: OpenedScheme) -> str:
        try:
            status = opened.detect(saved).status
        except Exception as error:  # an adapter may raise anything
            raise CohortError(f"{saved.path}: {self.scheme.adapter} fails: {type(error).__name__}: {error}") from error
        if status not in ("detected", "not_detected"):
            raise CohortError(f"{saved.path}: {self.scheme.adapter} gives no verdict but {status}")
        return status

    def _forged(
        self, clean: SavedArtifact, marked: SavedArtifact, mark: Mark, embed_foreign: Embed
    ) -> Iterator[WatermarkCase]:
        """Embed somebody else's message: into the carrier, and over the mark."""
        if self.part.forged:
            transform = self._transform("embed", 1, {"embed": mark.foreign_record, "encoder": self._encoder()})
            saved = self._save("forged", "", embed_foreign(clean.content()))
            yield self._row(
                saved, "forged", transform, arm="wrong_key", reference=clean, expected=self.scheme.foreign or "unresolved"
            )
        if self.part.double_embedded:
            parameters = {"embed": mark.record, "embed_over": mark.foreign_record, "encoder": self._encoder()}
            yield self._row(
                self._save("forged", "-double", embed_foreign(marked.content())),
                "forged",
                self._transform("double-embed", 1, parameters),
                suffix="double-embedded",
                arm="wrong_key",
                reference=clean,
            )

    def _save(self, state: State, suffix: str, content: Any) -> SavedArtifact:
        medium = self.part.medium
        name = f"{self.carrier.name}-{self.name}{suffix}{medium.extension}"
        return self.gallery.save(medium, state, name, medium.encode(content))

    def _encoder(self) -> dict[str, Any]:
        return dict(self.part.medium.encoder)

    def _transform(self, name: str, revision: int, parameters: Mapping[str, Any]) -> Transform:
        return Transform(
            name=name,
            revision=f"pytest-benchbench/{name}@{revision}",
            parameters={**self.part.parameters, **self.carrier.record, **parameters},
        )

    def _pair_id(self) -> str:
        return f"{self.part.prefix}-{self.carrier.name}-{self.name}"

    def _row(
        self,
        saved: SavedArtifact,
        state: State,
        transform: Transform,
        *,
        suffix: str | None = None,
        arm: Arm = "positive",
        reference: SavedArtifact | None = None,
        seed: int | None = None,
        expected: Expectation = "unresolved",
    ) -> WatermarkCase:
        pair_id = self._pair_id()
        return WatermarkCase(
            schema_version=1,
            case_id=f"{pair_id}-{suffix or (transform.name if state == 'attacked' else state)}",
            pair_id=pair_id,
            media_type=self.part.medium.media_type,
            adapter=self.scheme.adapter,
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
