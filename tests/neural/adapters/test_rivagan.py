"""``rivagan`` against the package's own Python code, which imports torch: the same bits, the same pixels."""

import importlib.util
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
for package in ("onnxruntime", "imwatermark", "cv2"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

from pytest_benchbench import Image, Sample  # noqa: E402 - after the skip
from pytest_benchbench.adapters.messages import foreign_message  # noqa: E402
from pytest_benchbench.adapters.patterns import Pattern  # noqa: E402
from pytest_benchbench.adapters.rivagan import MESSAGE, RivaGan, RivaGanEmbedder  # noqa: E402

FOREIGN = Pattern("foreign", foreign_message(32), threshold=29, source="the benchmark's foreign message")


@pytest.fixture(scope="module")
def reference():
    """The package's class, from its own file: the package as a whole imports more than is installed."""
    path = Path(str(distribution("invisible-watermark").locate_file("imwatermark/rivaGan.py")))
    spec = importlib.util.spec_from_file_location("reference_rivagan", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.RivaWatermark.loadModel()
    return module.RivaWatermark


@pytest.fixture(scope="module")
def adapter():
    adapter = RivaGan()
    adapter.load()
    yield adapter
    adapter.close()


def picture(seed: int) -> np.ndarray:
    """Noise of another mean in each channel, so that exchanged channels would be another picture."""
    noise = np.random.default_rng(seed).integers(0, 128, (256, 272, 3))
    return (noise + np.array([0, 60, 127])).astype(np.uint8)


def accuracy(adapter: RivaGan, pixels: np.ndarray) -> float:
    return adapter.detect(Sample("image", "0" * 64, b"", Image(pixels, {}, None))).message_bit_accuracy


def bgr(pixels: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(pixels[..., ::-1])


@pytest.mark.parametrize("pattern", [MESSAGE, FOREIGN], ids=lambda pattern: pattern.name)
def test_marked_pixels_equal_the_packages(reference, pattern):
    expected = reference(list(pattern.bits)).encode(bgr(picture(1)))[..., ::-1]
    np.testing.assert_array_equal(RivaGanEmbedder().embed_pixels(picture(1), pattern), expected)


@pytest.mark.parametrize("seed", [1, 42])
def test_read_bits_equal_the_packages(reference, adapter, seed):
    read = reference().decode(bgr(picture(seed)))
    assert accuracy(adapter, picture(seed)) == np.mean(read == MESSAGE.bits)


def test_an_output_above_one_half_but_not_above_the_threshold_is_a_zero(reference, adapter):
    frame = (bgr(picture(42)).astype(np.float32) / 127.5 - 1).transpose(2, 0, 1)[np.newaxis, :, np.newaxis]
    (outputs,) = reference.decoder.run(None, {"frame": np.ascontiguousarray(frame)})
    assert 0.5 < outputs[0, 13] < 0.52
    assert accuracy(adapter, picture(42)) == np.mean((outputs[0] > 0.52) == MESSAGE.bits)
    assert accuracy(adapter, picture(42)) != np.mean((outputs[0] > 0.5) == MESSAGE.bits)
