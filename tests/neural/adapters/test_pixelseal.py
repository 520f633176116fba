"""``pixelseal`` by the package's own code, on a small network of random tensors whose last layer spells chosen bits.

Meta's checkpoint is not there: what is tested is what does not depend on it. The card is the published one with fewer
channels and blocks.
"""

import hashlib
import io
import sys
from importlib.util import find_spec

import numpy as np
import pytest

torch = pytest.importorskip("torch")
for package in ("torchvision", "videoseal", "timm", "cv2", "av", "einops", "omegaconf", "tqdm"):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

from pytest_benchbench import AdapterUnavailable, Image, Sample  # noqa: E402 - after the skip
from pytest_benchbench.adapters import pixelseal  # noqa: E402
from pytest_benchbench.adapters.messages import foreign_message  # noqa: E402
from pytest_benchbench.adapters.pixelseal import PixelSeal, PixelSealEmbedder, PixelSealOptions  # noqa: E402
from pytest_benchbench.adapters.seal_rule import MESSAGE  # noqa: E402
from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed  # noqa: E402
from pytest_benchbench.adapters.torchvision_operators import import_torchvision  # noqa: E402

CARD = """
checkpoint_path: https://dl.fbaipublicfiles.com/videoseal/pixelseal/checkpoint.pth
args:
  attenuation_config: configs/attenuation.yaml
  attenuation: jnd_1_1
  nbits: 256
  hidden_size_multiplier: 1.0
  img_size_proc: 256
  blending_method: additive
  scaling_w: 0.2
  scaling_i: 1.0
  videowam_chunk_size: 32
  videowam_step_size: 8
embedder:
  model: unet_base_yuv_quant
  params:
    msg_processor: {nbits: 16, hidden_size: 32, msg_processor_type: binary+concat}
    unet:
      in_channels: 1
      out_channels: 1
      z_channels: 16
      num_blocks: 1
      activation: relu
      normalization: batch
      z_channels_mults: [1, 1, 1, 1]
      last_tanh: True
extractor:
  model: convnext_tiny
  params:
    encoder: {depths: [1, 1, 1, 1], dims: [8, 8, 8, 8]}
    pixel_decoder: {pixelwise: False, upscale_stages: [1], embed_dim: 8, nbits: 16, sigmoid_output: False}
"""


def sample(pixels: np.ndarray) -> Sample:
    return Sample("image", "0" * 64, b"", Image(pixels, {}, None))


def saved(value) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


@pytest.fixture(scope="module")
def state():
    """What the checkpoint holds as ``model``: both networks, and a constant of the package's own."""
    import_torchvision("")
    with hushed(), torch.random.fork_rng():
        torch.manual_seed(0)
        networks = {part: getattr(pixelseal._build(part, CARD.encode()), part) for part in ("detector", "embedder")}
    last = networks["detector"].pixel_decoder.linear
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(torch.tensor([-9.0, *(bit * 2.0 - 1 for bit in MESSAGE)]))
    tensors = {f"{part}.{name}": t for part, network in networks.items() for name, t in network.state_dict().items()}
    return {**tensors, "rgb2yuv.M": torch.eye(3)}


@pytest.fixture
def options(state, tmp_path):
    """Options for a card and a checkpoint, changed as a test wants."""

    def write(card: str = CARD, model: object = state) -> PixelSealOptions:
        files = tmp_path / "pixelseal.yaml", tmp_path / "checkpoint.pth"
        files[0].write_text(card)
        files[1].write_bytes(model if isinstance(model, bytes) else saved({"model": model, "args": {"nbits": 256}}))
        return PixelSealOptions(card=files[0], weights=files[1], allow_unpinned=True)

    return write


def load(options: PixelSealOptions) -> PixelSeal:
    adapter = PixelSeal(options)
    adapter.load()
    return adapter


@pytest.fixture
def adapter(options):
    return load(options())


@pytest.fixture(scope="module")
def picture():
    return np.random.default_rng(7).integers(0, 256, (90, 120, 3)).astype(np.uint8)


def spell(adapter: PixelSeal, logits) -> None:
    adapter.opened.model.detector.pixel_decoder.linear.bias.data[1:] = torch.tensor(logits, dtype=torch.float32)


def test_the_benchmarks_message_is_detected(adapter, picture):
    detection = adapter.detect(sample(picture))
    assert (detection.status, detection.message_bit_accuracy) == ("detected", 1.0)
    assert detection.reason == "256/256 bits of the benchmark's message"
    assert detection.label == f"{int(''.join(map(str, MESSAGE)), 2):064x}"


@pytest.mark.parametrize(("wrong", "status"), [(25, "detected"), (26, "not_detected")])
def test_the_boundary(adapter, picture, wrong, status):
    spell(adapter, [(1 - 2 * bit if place < wrong else 2 * bit - 1) for place, bit in enumerate(MESSAGE)])
    detection = adapter.detect(sample(picture))
    assert (detection.status, detection.message_bit_accuracy) == (status, (256 - wrong) / 256)


def test_a_foreign_message_is_not_detected(adapter, picture):
    spell(adapter, [2 * bit - 1 for bit in foreign_message(256)])
    assert adapter.detect(sample(picture)).status == "not_detected"


def test_a_logit_of_zero_is_a_zero_bit(adapter, picture):
    spell(adapter, [0] * 256)
    assert adapter.detect(sample(picture)).label == "0" * 64


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_no_answer(adapter, picture, number):
    spell(adapter, [number] * 256)
    with pytest.raises(ValueError, match="not finite"):
        adapter.detect(sample(picture))


def test_the_network_sees_the_picture_scaled_to_its_size_in_rgb_from_0_to_1(adapter):
    seen = []
    adapter.opened.model.detector.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].clone()))
    adapter.detect(sample(np.broadcast_to(np.array([255, 128, 0], np.uint8), (30, 50, 3))))
    assert seen[0].shape == (1, 3, 256, 256)
    assert torch.allclose(seen[0][0, :, 100, 100], torch.tensor([1.0, 128 / 255, 0.0]))


@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 700, 3), (256, 256, 3)])
def test_pictures_of_any_shape_are_read_and_marked(adapter, shape):
    pixels = np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8)
    assert adapter.detect(sample(pixels)).status == "detected"
    marked = adapter.embedder().embed_pixels(pixels)
    assert (marked.shape, marked.dtype) == (shape, np.uint8)


def test_the_embedder_is_shown_the_message(options, picture):
    embedder, shown = PixelSealEmbedder(options()), []
    embedder._opened.model.embedder.register_forward_pre_hook(lambda _, inputs: shown.append(inputs[1].tolist()[0]))
    before = picture.copy()
    own, foreign = embedder.embed(sample(picture)), embedder.embed_pixels(picture, foreign_message(256))
    assert shown == [list(MESSAGE), list(foreign_message(256))]
    assert np.array_equal(own.pixels, embedder.embed_pixels(picture))
    assert not np.array_equal(own.pixels, picture)
    assert np.array_equal(picture, before)
    assert foreign.shape == picture.shape


def test_what_is_embedded_is_attenuated_as_the_card_says(options, picture):
    """Without attenuation the mark is up to 0.2 x 255 = 51 levels strong; a visible-difference map allows it fewer."""

    def strongest(card):
        marked = PixelSealEmbedder(options(card)).embed_pixels(picture)
        return int(np.abs(marked.astype(int) - picture).max())

    without = strongest(CARD.replace("attenuation: jnd_1_1", "attenuation: none"))
    assert 0 < strongest(CARD) < without <= 51


def test_only_256_bits_are_embedded(options, picture, monkeypatch):
    embedder = PixelSealEmbedder(options())
    for message in ((1,) * 255, (1,) * 257, (2,) * 256):
        with pytest.raises(ValueError, match="expected a message of 256 bits"):
            embedder.embed_pixels(picture, message)
    with pytest.raises(ValueError, match="uint8"):
        embedder.embed_pixels(picture.astype(float))
    monkeypatch.setattr(pixelseal, "MAXIMUM_PIXELS", 10)
    with pytest.raises(ValueError, match="10 pixels are marked at most"):
        embedder.embed_pixels(picture)


def test_the_description_names_both_files(adapter):
    description = adapter.describe()
    assert [file.name for file in description.weights] == ["pixelseal.yaml", "checkpoint.pth"]
    assert description.version.startswith("videoseal 1.0.1, torch ")
    assert "231 or more of 256" in description.rule
    assert description.rule.endswith("the weights are not the pinned ones (allow_unpinned)")
    assert adapter.embedder().weights == description.weights


def test_nothing_is_looked_for_in_the_working_directory_or_written_there(options, tmp_path, monkeypatch):
    where = tmp_path / "elsewhere"
    where.mkdir()
    monkeypatch.chdir(where)
    load(options()).embedder()
    assert not list(where.iterdir())


def test_the_packages_loader_and_its_heavy_imports_are_not_used(adapter):
    assert "videoseal.models" in sys.modules
    assert not {"videoseal.utils.cfg", "videoseal.data.datasets", "decord", "pycocotools", "lpips"} & set(sys.modules)


def test_other_files_than_the_pinned_are_refused(options):
    given = options()
    with pytest.raises(AdapterUnavailable, match=r"pixelseal\.yaml has SHA-256"):
        load(PixelSealOptions(card=given.card, weights=given.weights))


def test_the_pinned_files_are_taken_without_a_word(options, monkeypatch):
    given = options()
    monkeypatch.setattr(pixelseal, "CARD", hashlib.sha256(given.card.read_bytes()).hexdigest())
    monkeypatch.setattr(pixelseal, "CHECKPOINT", hashlib.sha256(given.weights.read_bytes()).hexdigest())
    assert "pinned" not in load(PixelSealOptions(card=given.card, weights=given.weights)).describe().rule


CHANGES = {
    "missing": lambda state: state.pop("detector.pixel_decoder.linear.bias"),
    "unknown": lambda state: state.update({"detector.more": torch.zeros(1)}),
    "of another shape": lambda state: state.update({"detector.pixel_decoder.linear.bias": torch.zeros(129)}),
    "not finite": lambda state: state.update({"detector.pixel_decoder.linear.bias": torch.full((257,), torch.nan)}),
}


@pytest.mark.parametrize("fault", CHANGES)
def test_a_checkpoint_that_the_package_would_take_in_part_is_refused(options, state, fault):
    other = dict(state)
    CHANGES[fault](other)
    with pytest.raises(CheckpointError, match=fault):
        load(options(model=other))


def test_a_checkpoint_of_no_tensor_that_fits_loads_in_the_package_and_not_here(options):
    """The trap itself: ``strict=False`` takes an empty checkpoint and leaves the network as it was drawn."""
    with hushed():
        model = pixelseal._build("detector", CARD.encode())
        assert model.load_state_dict({"other": torch.zeros(1)}, strict=False).missing_keys
    with pytest.raises(CheckpointError, match="another network"):
        load(options(model={"other": torch.zeros(1)}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no checkpoint", "no checkpoint of plain tensors"),
        (saved({"state_dict": {}}), "holds no 'model'"),
        (saved(torch.zeros(2)), "holds no 'model'"),
        (saved({"model": torch.zeros(2)}), "no state dict"),
    ],
    ids=["bytes", "other-key", "tensor", "model-is-a-tensor"],
)
def test_what_is_no_checkpoint_is_refused(options, content, message):
    with pytest.raises(CheckpointError, match=message):
        load(options(model=content))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("nbits: 256", "nbits: 96", "96 bits, not 256"),
        ("attenuation: jnd_1_1", "attenuation: jnd_9_9", "KeyError"),
        ("model: convnext_tiny", "model: something", "not implemented"),
        ("args:", "arguments:", "the card builds no detector"),
    ],
    ids=["bits", "attenuation", "network", "arguments"],
)
def test_a_card_of_something_else_is_refused(options, before, after, message):
    with pytest.raises(CheckpointError, match=message):
        load(options(CARD.replace(before, after, 1)))


def test_a_card_that_is_no_yaml_is_refused(options):
    with pytest.raises(CheckpointError, match="the card builds no detector"):
        load(options("{"))
