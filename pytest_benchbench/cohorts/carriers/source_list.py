"""The list of images from which a real-image cohort is built: a strict YAML file.

.. code-block:: yaml

    images:
      - path: kitchen-a.png          # below the list's own folder
        sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
        width: 1024                  # of the decoded image
        height: 1024
        license: CC0-1.0             # or reuse_basis, or both
        provider: example-one        # optional; with it model and content_stratum, and the other half of the pair
        model: example-one-v3
        content_stratum: kitchen
        prompt_hash: null
        name: kitchen-a              # part of case ids; the file's stem if absent
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NoReturn

import msgspec

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.manifests.faults import shown_text
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.yaml_documents import YamlError, parse_yaml

MAX_LIST_BYTES = 4 * 1024 * 1024
MAX_IMAGES = 10_000
MAX_SIDE = 1_000_000

_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
_Side = Annotated[int, msgspec.Meta(ge=1, le=MAX_SIDE)]
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_License = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9][A-Za-z0-9.+-]{0,99}$")]
_Name = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]

_FIELD_OF_ERROR = re.compile(r"^(?P<what>.*) - at `\$\.(?P<field>[^`]+)`$")


class SourceImage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One image of the list.

    Attributes:
        path: Relative to the list's folder.
        sha256: Digest of the file.
        width: Of the decoded image, in pixels.
        height: Of the decoded image, in pixels.
        name: Its part of case ids; the file's stem if absent.
        license: SPDX-like identifier of a licence.
        reuse_basis: Why it may be reused, in words. One of the two is demanded.
        provider: Who made the image.
        model: With what.
        content_stratum: What it shows; pairs of providers share it.
        prompt_hash: Digest of the prompt; absent for photographs.
    """

    path: _Text
    sha256: _Digest
    width: _Side
    height: _Side
    name: _Name | None = None
    license: _License | None = None
    reuse_basis: _Text | None = None
    provider: _Text | None = None
    model: _Text | None = None
    content_stratum: _Text | None = None
    prompt_hash: _Text | None = None

    @property
    def identity(self) -> str:
        """The name in case ids."""
        return self.name or PurePosixPath(self.path).stem


@dataclass(frozen=True, slots=True)
class SourceList:
    """A list that holds what a list alone can hold; the images themselves are looked at when a cohort is built.

    Attributes:
        display: The list's file as the user named it.
        base: Folder from which the images' paths resolve.
        sha256: Digest of the list's bytes.
        images: In the list's order, at least one.
    """

    display: str
    base: Path
    sha256: str
    images: tuple[SourceImage, ...]

    def entry(self, position: int) -> str:
        """Say where an image stands: file, position and name."""
        return f"{self.display}: images[{position}] ({self.images[position].identity})"


def read_source_list(path: Path, *, display: str | None = None, base: Path | None = None) -> SourceList:
    """Read and check a list of images.

    Args:
        path: The YAML file.
        display: How messages call it; ``path`` if absent.
        base: Folder from which the images' paths resolve; the list's own if absent.

    Raises:
        CohortError: The list cannot be read, is no such list, lacks a reuse basis, repeats a name, or declares providers
            without complete pairs; one line with file, entry and field.
    """
    shown = str(path) if display is None else display
    try:
        with open_regular(path) as file:
            data = file.read(MAX_LIST_BYTES + 1)
    except OSError as error:
        raise CohortError(f"{shown}: {error.strerror or error}") from None
    if len(data) > MAX_LIST_BYTES:
        raise CohortError(f"{shown}: the list is longer than {MAX_LIST_BYTES} bytes")
    try:
        entries = _entries(parse_yaml(data, name=shown), shown)
    except YamlError as error:
        raise CohortError(str(error)) from None
    images = tuple(_image(entry, f"{shown}: images[{position}]") for position, entry in enumerate(entries))
    sources = SourceList(shown, path.parent if base is None else base, hashlib.sha256(data).hexdigest(), images)
    _check_names(sources)
    _check_reuse(sources)
    _check_providers(sources)
    return sources


def _entries(document: Any, shown: str) -> list[Any]:
    if not isinstance(document, dict) or set(document) != {"images"} or not isinstance(document["images"], list):
        raise CohortError(f"{shown}: expected a mapping with the one key 'images', a list")
    entries: list[Any] = document["images"]
    if not entries:
        raise CohortError(f"{shown}: images: the list is empty")
    if len(entries) > MAX_IMAGES:
        raise CohortError(f"{shown}: images: {len(entries)} images are more than {MAX_IMAGES}")
    return entries


def _image(entry: Any, place: str) -> SourceImage:
    try:
        image = msgspec.convert(entry, SourceImage)
    except msgspec.ValidationError as error:
        found = _FIELD_OF_ERROR.match(str(error))
        said = f"{found['field']}: {found['what']}" if found else str(error)
        raise CohortError(f"{place}: {shown_text(said)}") from None
    if image.name is None:
        try:
            msgspec.convert(image.identity, _Name)
        except msgspec.ValidationError:
            raise CohortError(
                f"{place}: path: the stem {image.identity!r} cannot be part of a case id: give the entry a name of"
                " letters, digits, '.', '_' and '-'"
            ) from None
    return image


def _refuse(sources: SourceList, position: int, field: str, what: str) -> NoReturn:
    raise CohortError(f"{sources.entry(position)}: {field}: {what}")


def _check_names(sources: SourceList) -> None:
    first: dict[str, int] = {}
    for position, image in enumerate(sources.images):
        name = image.identity.casefold()  # names become file names, and some file systems ignore case
        if name in first:
            _refuse(sources, position, "name", f"images[{first[name]}] has this name already")
        first[name] = position


def _check_reuse(sources: SourceList) -> None:
    for position, image in enumerate(sources.images):
        if not (image.license or (image.reuse_basis or "").strip()):
            _refuse(sources, position, "reuse_basis", "missing: say why the image may be reused, or name its license")


def _check_providers(sources: SourceList) -> None:
    """Where one image names its provider, all do, and every stratum has one image of every provider."""
    if all(image.provider is None for image in sources.images):
        return
    first: dict[tuple[str | None, str | None], int] = {}
    for position, image in enumerate(sources.images):
        for field in ("provider", "model", "content_stratum"):
            if getattr(image, field) is None:
                _refuse(sources, position, field, "missing, and other images of this list declare their provider")
        pair = (image.provider, image.content_stratum)
        if pair in first:
            _refuse(sources, position, "content_stratum", f"images[{first[pair]}] has this provider and stratum already")
        first[pair] = position
    providers = _in_order(image.provider for image in sources.images)
    if len(providers) < 2:
        _refuse(sources, 0, "provider", f"{providers[0]!r} is the only provider: pairs need at least two")
    for position, image in enumerate(sources.images):
        for provider in providers:
            if (provider, image.content_stratum) not in first:
                _refuse(
                    sources, position, "content_stratum", f"{image.content_stratum!r} has no image of provider {provider!r}"
                )


def _in_order(values: Iterable[str | None]) -> list[str | None]:
    return list(dict.fromkeys(values))
