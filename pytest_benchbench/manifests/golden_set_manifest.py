"""A golden set as a manifest: what stays in memory is where each sample stands, never its text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path

import msgspec

from pytest_benchbench.manifests.faults import FaultLog, ManifestError, shown, shown_text
from pytest_benchbench.manifests.golden_set import GOLDEN_SET, MAX_GOLDEN_SET_BYTES, GoldenSample
from pytest_benchbench.manifests.golden_set_reading import SAMPLES, LocatedSet, parse_golden_set
from pytest_benchbench.manifests.manifest import CaseRef, Manifest, ManifestRow, NamedArtifact, changed, stamp_of
from pytest_benchbench.manifests.sharding import Shard


class GoldenManifest(Manifest):
    """A validated golden set.

    Args:
        path: The file.
        display: The file as the user named it.
        file: The open file.
        stamp: What ``stamp_of`` said before it was validated.
        located: What it holds.
        shard: The part of the samples that is looked at; ``None`` for all.
        split: The split whose samples are kept; ``None`` for all.
    """

    def __init__(
        self,
        path: Path,
        display: str,
        file: BufferedReader,
        stamp: tuple[int, int],
        located: LocatedSet,
        *,
        shard: Shard | None,
        split: str | None,
    ) -> None:
        samples = located.golden_set.samples
        mine = [
            (sample, CaseRef(sample.id, place.line, place.begin, display, f"/{SAMPLES}/{index}"))
            for index, (sample, place) in enumerate(zip(samples, located.places, strict=True))
            if shard is None or shard.takes(sample.id)
        ]
        super().__init__(
            path,
            display,
            GOLDEN_SET,
            file,
            stamp=stamp,
            sha256=located.sha256,
            total_rows=len(samples),
            adapters={None: [ref for sample, ref in mine if split in (None, sample.split)]},
            rows=len(mine),
        )
        told = located.golden_set
        self.about = {"name": told.name, "version": told.version, "status": told.status}
        self.shard_refs: Sequence[CaseRef] = [ref for _, ref in mine]
        """Where the samples of the shard stand, of whatever split."""
        self._sizes = {place.begin: place.end - place.begin for place in located.places}
        self._splits = [sample.split for sample in samples]
        self._decode = msgspec.json.Decoder(GoldenSample).decode

    def read(self, ref: CaseRef) -> ManifestRow:
        """Read a sample again, as ``Manifest.read``; its digest is that of the JSON object as it stands in the file."""
        self._check_unchanged()
        self._file.seek(ref.offset)
        written = self._file.read(self._sizes[ref.offset])
        try:
            sample = self._decode(written)
        except msgspec.DecodeError:
            self._changed(ref.line)
        if sample.id != ref.case_id:
            self._changed(ref.line)
        return ManifestRow(sample, hashlib.sha256(written).hexdigest())

    def artifacts(self) -> Iterator[NamedArtifact]:
        """Yield nothing: the texts stand in the file itself."""
        return iter(())

    def row_splits(self) -> Iterator[str]:
        """Yield the split of each sample, as ``Manifest.row_splits``."""
        return iter(self._splits)


def read_golden_manifest(
    path: Path,
    display: str,
    file: BufferedReader,
    *,
    seen: dict[str, CaseRef],
    shard: Shard | None,
    split: str | None,
) -> GoldenManifest:
    """Validate a golden set. All of it is validated, whichever part is run.

    Args:
        path: The file.
        display: What to call it in messages.
        file: The open file at its beginning; it stays open with the manifest.
        seen: Case ids of the manifests read before, to which those of this one are added.
        shard: The part of the samples that is looked at.
        split: The split whose samples are kept.

    Raises:
        ManifestError: Something is wrong with it.
        OSError: It cannot be read.
    """
    stamp = stamp_of(file)
    located = parse_golden_set(file.read(MAX_GOLDEN_SET_BYTES + 1), display)
    manifest = GoldenManifest(path.absolute(), display, file, stamp, located, shard=shard, split=split)
    log = FaultLog(display)
    for ref in manifest.shard_refs:
        if (first := seen.setdefault(ref.case_id, ref)) is not ref:
            message = f"{shown(ref.case_id)} stands already in {first}"
            log.add(ref.line, GOLDEN_SET.id_field, message, case=shown_text(ref.case_id))
    log.check()
    return manifest


def index_golden_manifest(
    path: Path, display: str, *, sha256: str, shard: Shard | None, split: str | None
) -> GoldenManifest:
    """Find the samples of a golden set that another process has validated; see ``index_manifest``.

    Raises:
        ManifestChangedError: The bytes are not those.
    """
    try:
        file = path.open("rb")
    except OSError:
        raise changed(display) from None
    try:
        stamp = stamp_of(file)
        located = parse_golden_set(file.read(MAX_GOLDEN_SET_BYTES + 1), display)
        if located.sha256 != sha256:
            raise changed(display)
        return GoldenManifest(path.absolute(), display, file, stamp, located, shard=shard, split=split)
    except (ManifestError, OSError):
        file.close()
        raise changed(display) from None
    except BaseException:
        file.close()
        raise
