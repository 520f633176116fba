"""Small cohorts that several tests look at; nothing changes them."""

import hashlib

import numpy as np
import PIL.Image
import pytest
import yaml

from pytest_benchbench.cohorts.building import build_cohort
from pytest_benchbench.cohorts.real_image import real_image
from pytest_benchbench.cohorts.synthetic_image import synthetic_image


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory):
    return build_cohort(synthetic_image(256, adapters=["dwt-dct"]), tmp_path_factory.mktemp("synthetic") / "cohort")


@pytest.fixture(scope="session")
def source_list(tmp_path_factory):
    """Two small images of one provider pair."""
    folder = tmp_path_factory.mktemp("sources")
    entries = []
    for seed, (provider, size) in enumerate([("one", (320, 256)), ("two", (256, 256))]):
        pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        path = folder / f"cat-{provider}.png"
        PIL.Image.fromarray(pixels).save(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        entries.append(
            {"path": path.name, "sha256": digest, "width": size[0], "height": size[1], "provider": provider,
             "model": f"{provider}-1", "content_stratum": "cat", "reuse_basis": "made for this test", "prompt_hash": None}
        )  # fmt: skip
    path = folder / "images.yaml"
    path.write_text(yaml.safe_dump({"images": entries}), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def real(tmp_path_factory, source_list):
    recipe = real_image(256, source=source_list, adapters=["dwt-dct"])
    return build_cohort(recipe, tmp_path_factory.mktemp("real") / "cohort")
