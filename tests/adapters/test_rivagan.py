"""``rivagan``: the round trip where its weights are installed, and every way in which it can be unavailable."""

import hashlib
import importlib.util
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from math import comb
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from pytest_benchbench import AdapterUnavailable, Image, Sample
from pytest_benchbench.adapters import rivagan
from pytest_benchbench.adapters.patterns import SDXL, Pattern
from pytest_benchbench.adapters.rivagan import DECODER, ENCODER, MESSAGE, PINS, RivaGan, RivaGanEmbedder, RivaGanOptions


def weights_directory() -> Path | None:
    try:
        directory = Path(str(distribution("invisible-watermark").locate_file("imwatermark")))
    except PackageNotFoundError:
        return None
    return directory if (directory / DECODER).is_file() else None


needs_weights = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None or weights_directory() is None,
    reason="onnxruntime or invisible-watermark is not installed",
)


def sample(pixels: np.ndarray) -> Sample:
    return Sample("image", "0" * 64, b"", Image(pixels, {}, None))


@pytest.fixture(scope="module")
def carrier() -> np.ndarray:
    photograph = pytest.importorskip("skimage.data").astronaut()
    return np.asarray(PillowImage.fromarray(photograph).resize((256, 256)))


@pytest.fixture(scope="module")
def adapter():
    adapter = RivaGan()
    adapter.load()
    yield adapter
    adapter.close()


@pytest.fixture(scope="module")
def embedder() -> RivaGanEmbedder:
    return RivaGanEmbedder()


def load(**options) -> RivaGan:
    adapter = RivaGan(RivaGanOptions(**options))
    adapter.load()
    return adapter


@needs_weights
def test_a_marked_picture_is_detected(adapter, embedder, carrier):
    marked = embedder.embed_pixels(carrier)
    assert marked.shape == carrier.shape
    assert marked.dtype == np.uint8
    detection = adapter.detect(sample(marked))
    assert (detection.status, detection.label, detection.reason) == (
        "detected",
        "benchbench-32",
        "32/32 bits of benchbench-32",
    )
    assert detection.message_bit_accuracy == 1.0


@needs_weights
def test_an_unmarked_picture_of_odd_sides_is_not_detected(adapter):
    pixels = np.random.default_rng(0).integers(0, 256, (257, 259, 3)).astype(np.uint8)
    detection = adapter.detect(sample(pixels))
    assert (detection.status, detection.label) == ("not_detected", None)
    assert detection.reason.endswith("/32 bits of benchbench-32")


@needs_weights
def test_another_message_is_not_detected(adapter, embedder, carrier):
    other = Pattern("other", tuple(1 - bit for bit in MESSAGE.bits), threshold=29, source="the complement")
    assert adapter.detect(sample(embedder.embed_pixels(carrier, other))).reason == "0/32 bits of benchbench-32"


@needs_weights
def test_answers_that_are_no_verdict(adapter, carrier, monkeypatch):
    small = adapter.detect(sample(carrier[:255]))
    assert (small.status, small.reason) == ("too-small", "65,536 pixels are needed, the image is 256x255")
    monkeypatch.setattr(rivagan, "MAXIMUM_PIXELS", 65_535)
    large = adapter.detect(sample(carrier))
    assert (large.status, large.reason) == ("unsupported", "65,535 pixels are read at most, the image is 256x256")


@needs_weights
def test_what_cannot_be_marked_is_refused(embedder, carrier, monkeypatch):
    with pytest.raises(ValueError, match="rivagan carries 32 bits, not the 48 of sdxl"):
        embedder.embed_pixels(carrier, SDXL)
    with pytest.raises(ValueError, match="the image is 256x255"):
        embedder.embed_pixels(carrier[:255])
    with pytest.raises(ValueError, match="uint8"):
        embedder.embed_pixels(carrier.astype(float))
    monkeypatch.setattr(rivagan, "MAXIMUM_PIXELS", 65_535)
    with pytest.raises(ValueError, match="65,535 pixels are marked at most"):
        embedder.embed_pixels(carrier)


@needs_weights
def test_the_description_names_the_weights_and_versions(adapter):
    description = adapter.describe()
    assert [(weights.name, weights.sha256) for weights in description.weights] == [(DECODER, PINS[DECODER])]
    assert description.version.startswith("invisible-watermark 0.2.0, onnxruntime ")
    assert "29 or more of 32 equal bits (chance 1.3e-06)" in description.rule
    assert "pinned" not in description.rule


@needs_weights
def test_torch_and_the_package_are_never_imported():
    code = (
        "import sys\n"
        "from pytest_benchbench.adapters.rivagan import RivaGan\n"
        "assert 'onnxruntime' not in sys.modules\n"
        "RivaGan().load()\n"
        "assert not {'torch', 'imwatermark', 'cv2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@needs_weights
def test_weights_may_come_from_a_directory(tmp_path, adapter):
    (tmp_path / DECODER).write_bytes((weights_directory() / DECODER).read_bytes())
    description = load(weights=tmp_path).describe()
    assert description.weights == adapter.describe().weights
    assert description.version.startswith("weights by option, onnxruntime ")


@needs_weights
@pytest.mark.parametrize(("name", "make"), [(DECODER, load), (ENCODER, lambda **o: RivaGanEmbedder(RivaGanOptions(**o)))])
def test_other_bytes_are_refused_before_they_are_loaded(tmp_path, name, make):
    (tmp_path / name).write_bytes(b"no network at all")
    with pytest.raises(AdapterUnavailable) as refusal:
        make(weights=tmp_path)
    digest = hashlib.sha256(b"no network at all").hexdigest()
    assert refusal.value.reason == f"{name} has SHA-256 {digest}, not the pinned {PINS[name]}"
    assert "allow_unpinned=true" in refusal.value.install


@needs_weights
def test_other_weights_are_taken_on_request_and_named(tmp_path):
    # an ONNX file is a protobuf message: a field repeated at its end changes the bytes and leaves the network as it was
    (tmp_path / DECODER).write_bytes((weights_directory() / DECODER).read_bytes() + b"\x12\x05other")
    with pytest.raises(AdapterUnavailable):
        load(weights=tmp_path)
    description = load(weights=tmp_path, allow_unpinned=True).describe()
    assert description.rule.endswith("the weights are not the pinned ones (allow_unpinned)")
    assert description.weights[0].sha256 != PINS[DECODER]


@needs_weights
def test_missing_weights_are_named(tmp_path):
    with pytest.raises(AdapterUnavailable, match=f"{DECODER} cannot be read: No such file") as refusal:
        load(weights=tmp_path)
    assert "weights=" in refusal.value.install


def test_without_onnxruntime_it_is_unavailable(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for attempt in (load, RivaGanEmbedder):
        with pytest.raises(AdapterUnavailable, match="onnxruntime is not installed") as refusal:
            attempt()
        assert refusal.value.install == (
            "pip install 'pytest-benchbench[rivagan]' && pip install --no-deps invisible-watermark==0.2.0"
        )


def test_without_the_package_that_carries_the_weights_it_is_unavailable(monkeypatch):
    pytest.importorskip("onnxruntime")

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(rivagan, "distribution", missing)
    with pytest.raises(AdapterUnavailable, match="invisible-watermark, which carries the weights, is not installed"):
        load()


def test_it_must_be_loaded_first():
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        RivaGan().describe()


def test_the_message_is_the_digest_that_it_claims():
    bits = "".join(map(str, MESSAGE.bits))
    assert f"{int(bits, 2):08x}" == hashlib.sha256(b"pytest-benchbench").hexdigest()[:8] == "8ce67933"
    assert MESSAGE.chance == sum(comb(32, k) for k in range(29, 33)) / 2**32
