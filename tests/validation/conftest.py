"""A dataset of a few rows and a golden set of a few samples that break no rule, and what reads them."""

import hashlib
import json

import numpy as np
import pytest
from PIL import Image

from pytest_benchbench.manifests.golden_set_reading import parse_golden_set
from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.validation.columns import read_columns
from pytest_benchbench.validation.golden_set import GoldenSettings, examine_golden_set
from pytest_benchbench.validation.placed_samples import place_samples


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


class GoldenSets:
    """Makes golden sets of a test's own and looks at them."""

    @staticmethod
    def text(name, words=60):
        """A text of so many words that no other name has."""
        digest = hashlib.shake_256(name.encode()).digest(words * 2)
        return " ".join(
            "".join(chr(ord("a") + half) for byte in pair for half in divmod(byte, 16)) for pair in _pairs(digest)
        )

    def sample(self, name, *, split="tune", label="human", **changes):
        """A sample with a text of its own."""
        told = {"source": "s", "author": "A. Author", "date": "1850", "license": "CC0-1.0", "termsChecked": "2026-04-01"}
        if label == "ai":
            told = {"model": "model-1", "date": "2026-04-02", "prompt": "Write about bees."}
        return {
            "id": name,
            "split": split,
            "category": "essay",
            "label": label,
            "text": self.text(name),
            "provenance": {"kind": label, **told, **changes.pop("provenance", {})},
            "labelOwner": "Olga Owner",
            "labelSource": "provenance",
            "borderline": False,
            "reviewers": ["Rita Reviewer"],
            **changes,
        }

    def samples(self):
        """Four samples: one of each label in each split."""
        return [
            self.sample(f"{split}-{label}", split=split, label=label)
            for split in ("tune", "holdout")
            for label in ("human", "ai")
        ]

    def document(self, *samples, **head):
        """The four samples and further ones; the targets are what is there unless the head says otherwise."""
        together = [*self.samples(), *samples]
        counts = {}
        for sample in together:
            counts.setdefault(sample["category"], {"tune": 0, "holdout": 0})[sample["split"]] += 1
        return {
            "schema_version": 1,
            "name": "mine",
            "version": "v1",
            "status": "final",
            "licenses": ["CC0-1.0"],
            "balance": counts,
            "samples": together,
        } | head

    def located(self, *samples, **head):
        return parse_golden_set(json.dumps(self.document(*samples, **head)).encode(), "golden.json")

    def placed(self, *samples):
        return place_samples(self.located(*samples), "golden.json")

    def examine(self, *samples, settings=None, **head):
        return examine_golden_set(self.located(*samples, **head), "golden.json", settings or GoldenSettings())

    def found(self, *samples, settings=None, **head):
        """What the rules found besides what is found in four sound samples, which is nothing: rule, ids and message."""
        return [
            (one.rule, [row.id for row in one.rows], one.message)
            for one in self.examine(*samples, settings=settings, **head).findings()
        ]


def _pairs(data):
    return (data[place : place + 2] for place in range(0, len(data), 2))


@pytest.fixture(scope="session")
def golden_sets():
    return GoldenSets()
