"""Putting a manifest where it belongs: whole, valid, and never over something that exists."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from pytest_benchbench.manifests.gathering import BuildingError, readable
from pytest_benchbench.manifests.new_files import put_new
from pytest_benchbench.manifests.reading import Manifest, read_manifest


class Place:
    """Where a manifest will stand, and how it names files.

    Args:
        output: The manifest to be.
        outside_allowed: Whether it may name files outside its directory; a run then needs ``--bench-artifact-root``.

    Raises:
        BuildingError: The directory does not exist.
    """

    def __init__(self, output: Path, *, outside_allowed: bool = False) -> None:
        self.display = str(output)
        self.path = Path(os.path.realpath(output))
        self.outside_allowed = outside_allowed
        if not self.path.parent.is_dir():
            raise BuildingError(f"{output}: there is no folder {readable(self.path.parent)}; make it first")

    def relative(self, file: Path) -> str:
        """Give the path that a row of this manifest writes for a file.

        Raises:
            BuildingError: The file, or what it links to, lies outside the manifest's directory, or its name is not Unicode.
        """
        directory = self.path.parent
        path = Path(os.path.realpath(file.parent)) / file.name
        inside = path.is_relative_to(directory) and Path(os.path.realpath(path)).is_relative_to(directory)
        if not inside and not self.outside_allowed:
            raise BuildingError(
                f"{readable(file)}: lies outside {readable(directory)}, the manifest's directory; put the manifest beside "
                "or above its files, or allow it by --allow-outside and run with --bench-artifact-root"
            )
        relative = Path(os.path.relpath(path, directory)).as_posix()
        try:
            relative.encode()
        except UnicodeEncodeError:
            raise BuildingError(f"{readable(file)}: the name is not Unicode; rename the file") from None
        return relative

    def write(
        self,
        rows: Iterable[msgspec.Struct],
        *,
        onto: Manifest | None,
        media_types: Mapping[str, frozenset[str]],
    ) -> int:
        """Write the manifest beside its place, validate it as a run would, and put it into place in one step.

        Args:
            rows: The new rows.
            onto: The manifest that stands there now, whose bytes come first; ``None`` where nothing may stand.
            media_types: Media types by adapter name.

        Returns:
            How many rows the manifest has.

        Raises:
            BuildingError: Something stands there, or what stood there was changed meanwhile.
            ManifestError: The rows are not valid.
        """
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.partial")
        try:
            self._write_to(beside, rows, onto)
            manifest = read_manifest(
                beside, display=self.display, media_types=media_types, outside_allowed=self.outside_allowed
            )
            manifest.close()
            self._put(beside, onto)
        except OSError as error:
            raise BuildingError(f"{self.display}: cannot be written: {error.strerror or error}") from None
        finally:
            beside.unlink(missing_ok=True)
        return manifest.rows

    def _write_to(self, beside: Path, rows: Iterable[msgspec.Struct], onto: Manifest | None) -> None:
        encoder = msgspec.json.Encoder()
        with beside.open("xb") as file:
            if onto is not None:
                self._copy_existing(file)
            file.writelines(encoder.encode(row) + b"\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())

    def _copy_existing(self, file: BinaryIO) -> None:
        """Copy what stands there byte for byte, and end its last line if need be."""
        with self.path.open("rb") as existing:
            shutil.copyfileobj(existing, file)
            existing.seek(-1, os.SEEK_END)
            if existing.read() != b"\n":
                file.write(b"\n")

    def _put(self, beside: Path, onto: Manifest | None) -> None:
        if onto is None:
            try:
                put_new(beside, self.path)
            except FileExistsError:
                raise BuildingError(exists(self.display)) from None
        else:
            with self.path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != onto.sha256:
                    raise BuildingError(f"{self.display}: was changed while rows were made for it; try again")
            shutil.copymode(self.path, beside)
            beside.replace(self.path)


def exists(display: str) -> str:
    """Say that a manifest is there already."""
    return f"{display}: exists already; add to it by --append, or name a new file"


def ids_besides(onto: Manifest | None, adapter: str | None, paths: set[str]) -> set[str]:
    """Give the ids of a manifest to which rows are added.

    Args:
        onto: The manifest, if there is one.
        adapter: Whose rows are added.
        paths: The artifacts of the new rows.

    Raises:
        BuildingError: An artifact has a row of this adapter already.
    """
    if onto is None:
        return set()
    for ref in onto.adapters.get(adapter, []):
        if (path := onto.read(ref).case.path) in paths:
            of = "" if adapter is None else f" of {adapter}"
            raise BuildingError(f"{path}: has a row{of} already, at {onto.display}:{ref.line}")
    return {ref.case_id for refs in onto.adapters.values() for ref in refs}
