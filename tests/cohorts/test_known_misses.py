"""``benchmarks/expectations.yaml`` and the default cohorts say the same."""

from pathlib import Path

import pytest

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.adapters.dwt_dct import DwtDct
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts.defaults import DEFAULT_COHORTS
from pytest_benchbench.cohorts.pictures import encode_png
from pytest_benchbench.manifests.yaml_documents import parse_yaml

EXPECTATIONS = Path(__file__).parents[2] / "benchmarks" / "expectations.yaml"


def missed_marks(part):
    adapter = DwtDct()
    (scheme,) = (scheme for scheme in part.schemes if scheme.adapter == "dwt-dct")
    for carrier in part.open_carriers():
        pixels = carrier.draw()
        for mark in scheme.open().marks:
            data = encode_png(mark.embed(pixels))
            if adapter.detect(Sample("image", "", data, decode_image(data))).status == "not_detected":
                yield f"{part.prefix}-{carrier.name}-{mark.name}-marked"


@pytest.mark.parametrize("name", ["synthetic-image", "real-image"])
def test_every_lossless_miss_of_a_default_cohort_is_listed_and_nothing_else(name):
    if name == "real-image":
        pytest.importorskip("skimage")
    (part,) = DEFAULT_COHORTS[name]().parts
    listed = [
        entry["id"]
        for entry in parse_yaml(EXPECTATIONS.read_bytes(), name="expectations.yaml")
        if entry["id"].startswith(f"{part.prefix}-") and entry["adapter"] == "dwt-dct"
    ]
    assert sorted(listed) == sorted(missed_marks(part))


def test_an_entry_names_the_adapter_the_right_verdict_and_a_reason():
    for entry in parse_yaml(EXPECTATIONS.read_bytes(), name="expectations.yaml"):
        assert set(entry) == {"id", "adapter", "expected", "reason"}
        assert entry["adapter"] in ("dwt-dct", "perth")
        assert entry["expected"] == "detected"
