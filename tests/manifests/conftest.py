"""Rows as a user would write them."""

import json
from pathlib import Path

import pytest

from pytest_benchbench.manifests.reading import Manifest, ManifestError, read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES


def watermark_row(**changes):
    return {
        "schema_version": 1,
        "case_id": "cat-01",
        "pair_id": "cat",
        "media_type": "image",
        "adapter": "dwt-dct",
        "arm": "positive",
        "state": "marked",
        "path": "cat.png",
        "sha256": "0123456789abcdef" * 4,
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "photos@2026-09-05",
        "transform": {"name": "none", "revision": "1", "parameters": {}},
        "seed": None,
        "expected": "detected",
    } | changes


def dataset_row(**changes):
    return {
        "id": "cat-01",
        "baseId": "cat",
        "sha256": "0123456789abcdef" * 4,
        "label": 1,
        "split": "test",
        "source": "collection",
        "generatorFamily": "diffusion",
        "generatorModel": "diffusion-2",
        "contentGroup": "photo",
        "transform": "jpeg-75",
        "license": "CC0-1.0",
    } | changes


def golden_sample(**changes):
    """A generated sample, or a human one where ``label`` says so; a field that is ``None`` is left out."""
    label = changes.get("label", "ai")
    origins = {
        "ai": {"kind": "ai", "model": "template-1", "date": "2026-04-16", "prompt": "Describe a harbour."},
        "human": {
            "kind": "human",
            "source": "https://example.org/book",
            "date": "1813",
            "license": "CC0-1.0",
            "termsChecked": "2026-04-16",
        },
    }
    sample = {
        "id": f"{label}-01",
        "split": "holdout",
        "category": "essay",
        "label": label,
        "text": f"The harbour lay quiet in the morning, said {changes.get('id', 'one')}.",
        "provenance": origins.get(label, origins["ai"]),
        "labelOwner": "A. Owner",
        "labelSource": "provenance",
        "borderline": False,
        "reviewers": ["A. Reader"],
    } | changes
    return {name: value for name, value in sample.items() if value is not None}


def golden_document(*samples, **changes):
    document = {
        "schema_version": 1,
        "name": "harbours",
        "version": "v1",
        "status": "example",
        "licenses": ["CC0-1.0"],
        "samples": list(samples),
    } | changes
    return {name: value for name, value in document.items() if value is not None}


class Desk:
    """Writes manifests into a directory and reads them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._opened: list[Manifest] = []

    def write(self, *rows, name="cases.jsonl") -> Path:
        """Write rows: a dict as JSON, text and bytes as they are, each with a line end."""
        return self.write_bytes(b"".join(self.line(row) + b"\n" for row in rows), name=name)

    def write_bytes(self, data: bytes, name="cases.jsonl") -> Path:
        path = self.directory / name
        path.write_bytes(data)
        return path

    @staticmethod
    def line(row) -> bytes:
        if isinstance(row, dict):
            row = json.dumps(row)
        return row.encode() if isinstance(row, str) else row

    def read(self, path: Path, **options) -> Manifest:
        manifest = read_manifest(path, display=path.name, **{"media_types": KERNEL_MEDIA_TYPES} | options)
        self._opened.append(manifest)
        return manifest

    def read_rows(self, *rows, **options) -> Manifest:
        return self.read(self.write(*rows), **options)

    def faults(self, *rows, **options) -> list[str]:
        """The lines that a user sees."""
        return self.faults_of(self.write(*rows), **options)

    def faults_of(self, path: Path, **options) -> list[str]:
        with pytest.raises(ManifestError) as caught:
            self.read(path, **options)
        return str(caught.value).split("\n")

    def close(self) -> None:
        for manifest in self._opened:
            manifest.close()


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.close()


@pytest.fixture(scope="session")
def row():
    return watermark_row


@pytest.fixture(scope="session")
def image():
    return dataset_row


@pytest.fixture(scope="session")
def sample():
    return golden_sample


@pytest.fixture(scope="session")
def golden():
    return golden_document
