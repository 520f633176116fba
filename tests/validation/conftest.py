"""A dataset of a few rows that breaks no rule, and what reads rows into columns."""

import hashlib
import json

import numpy as np
import pytest
from PIL import Image

from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.validation.columns import read_columns


class Dataset:
    """Writes rows into a manifest of the test's own and reads them."""

    def __init__(self, folder):
        self.folder = folder
        self._opened = []

    @staticmethod
    def row(name, *, label=0, split="test", **changes):
        """A real or AI row with bytes, base and domain of its own, in a domain of its split."""
        generated = {"generatorFamily": f"family-{split}", "generatorModel": "model"} if label else {}
        return {
            "id": name,
            "baseId": name,
            "sha256": hashlib.sha256(name.encode()).hexdigest(),
            "label": label,
            "split": split,
            "source": "web" if label else f"camera-{split}",
            **generated,
            "contentGroup": "photo",
            "transform": "none",
            "license": "CC0-1.0",
            **changes,
        }

    def manifest(self, *rows, name="set.jsonl"):
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        manifest = read_manifest(path, display=name, media_types={})
        self._opened.append(manifest)
        return manifest

    def columns(self, *rows):
        manifest = self.manifest(*rows)
        columns = read_columns([manifest])
        manifest.close()
        return columns

    def close(self):
        for manifest in self._opened:
            manifest.close()


@pytest.fixture
def dataset(tmp_path):
    dataset = Dataset(tmp_path)
    yield dataset
    dataset.close()


@pytest.fixture(scope="session")
def wide_dataset(tmp_path_factory):
    """For Hypothesis, whose examples may share a folder."""
    dataset = Dataset(tmp_path_factory.mktemp("dataset"))
    yield dataset
    dataset.close()


@pytest.fixture(scope="session")
def told():
    """``told(outcomes)``: the findings as what does not depend on where rows stand."""

    def tell(outcomes):
        return [
            (finding.rule, finding.severity, tuple(row.id for row in finding.rows), finding.row_count, finding.message)
            for outcome in outcomes
            for finding in outcome.kept
        ]

    return tell


class Pictures:
    """Pictures by seed, each unlike the others, as files of several makes in the folder of a dataset."""

    def __init__(self, dataset):
        self._dataset = dataset

    @staticmethod
    def pixels(seed, size=(96, 80)):
        rough = np.random.default_rng(seed).integers(0, 256, (16, 16, 3), dtype=np.uint8)
        return Image.fromarray(rough).resize(size, Image.Resampling.BICUBIC)

    def row(self, name, seed, *, make="PNG", size=(96, 80), save=None, **changes):
        """Save the picture and give its row."""
        path = self._dataset.folder / f"{name}.{make.lower()}"
        picture = self.pixels(seed, size) if isinstance(seed, int) else seed
        picture.save(path, make, **(save or {}))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return self._dataset.row(name, sha256=digest, path=path.name, **changes)


@pytest.fixture
def pictures(dataset):
    return Pictures(dataset)
