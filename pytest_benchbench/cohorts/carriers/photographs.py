"""Photographs as carriers: verified, cropped only where they must be, resized, and with their provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_benchbench.artifacts.image import Image, decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.verification import (
    ArtifactMismatchError,
    ArtifactPathError,
    ArtifactUnreadableError,
    read_verified,
    resolve_artifact,
)
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.carriers.source_list import SourceImage, SourceList
from pytest_benchbench.cohorts.pictures import Pixels, resize

BUNDLED_LIST = Path(__file__).with_name("photographs.yaml")
"""The list of the photographs that scikit-image carries in its wheel, below ``bundled_folder()``."""


@dataclass(frozen=True, slots=True)
class Photograph:
    """A verified image of a source list.

    Attributes:
        image: Its entry.
        path: Its file.
        place: File, position and name of the entry, for messages.
        list_sha256: Digest of the list.
        pixels_sha256: Digest of the decoded (H, W, 3) uint8 RGB pixels at native size.
        decoding: The rule by which it was decoded.
    """

    image: SourceImage
    path: Path
    place: str
    list_sha256: str
    pixels_sha256: str
    decoding: dict[str, Any]

    def draw(self, side: int) -> Pixels:
        """Crop the centre square if the image is not square, and resize it to ``side`` with LANCZOS.

        Returns:
            (side, side, 3) uint8 RGB.

        Raises:
            CohortError: The file changed since it was verified.
        """
        left, top, right, bottom = self._box()
        return resize(_decoded(self.path, self.image, self.place).pixels[top:bottom, left:right], (side, side))

    def record(self, side: int) -> dict[str, Any]:
        """Say in a case row where the picture comes from and how it was brought to ``side``."""
        image = self.image
        return {
            "name": image.identity,
            "provider": image.provider,
            "model": image.model,
            "content_stratum": image.content_stratum,
            "license": image.license,
            "reuse_basis": image.reuse_basis,
            "prompt_hash": image.prompt_hash,
            "source_manifest_sha256": self.list_sha256,
            "file_sha256": image.sha256,
            "pixels_sha256": self.pixels_sha256,
            "native_size": [image.width, image.height],
            "standardisation": {
                "decoding": self.decoding.get("rule"),
                "crop_box": list(self._box()),
                "filter": "lanczos",
                "size": [side, side],
                "mode": "RGB",
            },
        }

    def _box(self) -> tuple[int, int, int, int]:
        width, height = self.image.width, self.image.height
        square = min(width, height)
        left, top = (width - square) // 2, (height - square) // 2
        return left, top, left + square, top + square


def bundled_folder() -> Path:
    """Find the data folder of scikit-image; the package is found, not imported.

    Raises:
        CohortError: scikit-image is not installed.
    """
    found = find_spec("skimage")
    if found is None or not found.submodule_search_locations:
        raise CohortError(
            "the default photographs are those of scikit-image, which is not installed:"
            " pip install 'pytest-benchbench[cohorts]', or name a list of your own with --source"
        )
    return Path(found.submodule_search_locations[0]).resolve() / "data"


def verified_photographs(sources: SourceList) -> Iterator[Photograph]:
    """Look at every image of a list, in its order.

    Raises:
        CohortError: A file is missing, lies outside the list's folder, has another digest or other dimensions, cannot be
            decoded, or shows the very pixels of another one; one line with file, entry and field.
    """
    first: dict[tuple[int, str], int] = {}
    for position, image in enumerate(sources.images):
        place = sources.entry(position)
        try:
            path = Path(resolve_artifact(image.path, base=sources.base, roots=()))
        except ArtifactPathError:
            raise CohortError(f"{place}: path: {image.path!r} leaves the folder of the list") from None
        decoded = _decoded(path, image, place)
        pixels_sha256 = hashlib.sha256(decoded.pixels.tobytes()).hexdigest()
        shown = (image.width, pixels_sha256)
        if shown in first:
            raise CohortError(f"{place}: path: shows the same pixels as images[{first[shown]}]")
        first[shown] = position
        yield Photograph(image, path, place, sources.sha256, pixels_sha256, decoded.decoding)


def _decoded(path: Path, image: SourceImage, place: str) -> Image:
    try:
        decoded = decode_image(read_verified(path, image.sha256))
    except ArtifactMismatchError as error:
        raise CohortError(f"{place}: sha256: {error}") from None
    except (ArtifactUnreadableError, UndecodableArtifactError) as error:
        raise CohortError(f"{place}: path: {error}") from None
    height, width = decoded.pixels.shape[:2]
    for field, listed, actual in (("width", image.width, width), ("height", image.height, height)):
        if listed != actual:
            raise CohortError(f"{place}: {field}: the list says {listed}, the image has {actual} pixels")
    return decoded
