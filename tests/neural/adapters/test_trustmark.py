"""``trustmark`` by the package's own code, on small networks of random tensors whose last layer spells a chosen code word.

Adobe's checkpoints are not there: what is tested is what does not depend on them.
"""

import hashlib
import io
import os
import urllib.request
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image as Pillow

torch = pytest.importorskip("torch")
for package in ("torchvision", "trustmark", "lightning", "torchmetrics", "omegaconf", "einops"):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

from pytest_benchbench import AdapterUnavailable, Image, Sample  # noqa: E402 - after the skip
from pytest_benchbench.adapters import trustmark_networks  # noqa: E402
from pytest_benchbench.adapters.messages import foreign_message  # noqa: E402
from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed, import_package  # noqa: E402
from pytest_benchbench.adapters.torchvision_operators import import_torchvision  # noqa: E402
from pytest_benchbench.adapters.trustmark import (  # noqa: E402
    MESSAGE,
    TrustMark,
    TrustMarkEmbedder,
    TrustMarkRemover,
    after_jpeg,
)
from pytest_benchbench.adapters.trustmark_networks import TrustMarkOptions  # noqa: E402

IDENTITY = "{target: trustmark.model.Identity, params: {}}"

CONFIGURATION = f"""
model:
  target: trustmark.model.TrustMark_Arch
  params:
    cover_key: image
    secret_key: secret
    secret_len: 100
    resolution: 256
    secret_encoder_config: {{target: trustmark.unet.Unet1, params: {{width: 4, ndown: 2}}}}
    secret_decoder_config: {{target: trustmark.unet.SecretDecoder, params: {{arch: resnet18}}}}
    discriminator_config: {IDENTITY}
    loss_config: {IDENTITY}
    noise_config: {IDENTITY}
"""

REMOVER = f"""
model:
  target: trustmark.denoise.WMRemover
  params:
    cover_key: image
    secret_key: secret
    secret_embedder_config_path: nowhere.yaml
    secret_embedder_ckpt_path: nowhere.ckpt
    denoise_config: {{target: trustmark.denoise.SimpleUnet, params: {{dim: 4}}}}
    discriminator_config: {IDENTITY}
    loss_config: {IDENTITY}
"""

FLIPS = {0: 8, 1: 5, 2: 4, 3: 3}
"""Wrong bits that each schema corrects, as the package documents them."""


def sample(pixels: np.ndarray) -> Sample:
    return Sample("image", "0" * 64, b"", Image(pixels, {}, None))


def spelled(message) -> str:
    return "".join(map(str, message))


@pytest.fixture(scope="module")
def data_layer():
    import_torchvision("")
    layer = import_package("trustmark.datalayer", "").DataLayer
    return lambda schema: layer(100, False, schema)


@pytest.fixture(scope="module")
def files(tmp_path_factory, data_layer):
    """The five files of a directory for ``weights=``; the decoder is stored in half precision, as Adobe's size says."""
    directory = tmp_path_factory.mktemp("trustmark")
    (directory / "trustmark_P.yaml").write_text(CONFIGURATION)
    (directory / "trustmark_rm_P.yaml").write_text(REMOVER)
    for module in ("trustmark.model", "trustmark.unet", "trustmark.denoise"):
        import_package(module, "")
    make = import_package("trustmark.trustmark", "").instantiate_from_config
    create = import_package("omegaconf", "").OmegaConf.create
    remover = create(REMOVER).model
    remover.params.is_train = False
    with hushed(), torch.random.fork_rng():
        torch.manual_seed(0)
        marking, removing = make(create(CONFIGURATION).model), make(remover)
    last = marking.decoder.decoder.fc
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(logits(data_layer(1).encode_binary([spelled(MESSAGE)])[0]))
    state = marking.state_dict()
    halves = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in state.items()}
    without = {"decoder_P.ckpt": "encoder.", "encoder_P.ckpt": "decoder."}
    for name, left_out in without.items():
        tensors = halves if name == "decoder_P.ckpt" else state
        kept = {key: tensor for key, tensor in tensors.items() if not key.startswith(left_out)}
        torch.save({"state_dict": kept, "global_step": 1, "epoch": 1}, directory / name)
    torch.save({"state_dict": removing.state_dict()}, directory / "trustmark_rm_P.ckpt")
    return directory


def logits(code):
    return torch.as_tensor(np.asarray(code), dtype=torch.float32) * 2 - 1


@pytest.fixture(scope="module")
def options(files):
    return TrustMarkOptions(weights=files, allow_unpinned=True)


@pytest.fixture(scope="module")
def loaded(options):
    adapter = TrustMark(options)
    adapter.load()
    return adapter


@pytest.fixture
def decoding(loaded):
    """Let the loaded decoder read a code in every picture."""
    bias = loaded.opened.model.decoder.decoder.decoder.fc.bias.data
    before = bias.clone()
    yield lambda code: bias.copy_(logits(code))
    bias.copy_(before)


@pytest.fixture(scope="module")
def picture():
    return np.random.default_rng(7).integers(0, 256, (90, 120, 3)).astype(np.uint8)


@pytest.fixture(autouse=True)
def no_download(monkeypatch):
    asked = []
    monkeypatch.setattr(
        urllib.request, "urlretrieve", lambda *a, **k: asked.append(a) or (_ for _ in ()).throw(OSError("offline"))
    )
    return asked


def test_the_benchmarks_message_is_detected(loaded, picture):
    detection = loaded.detect(sample(picture))
    assert (detection.status, detection.label) == ("detected", spelled(MESSAGE))
    assert detection.message_bit_accuracy == 1.0


def test_the_second_reading_is_of_the_same_picture_after_the_jpeg(loaded, picture, monkeypatch):
    model, seen = loaded.opened.model, []
    decode = model.decode
    monkeypatch.setattr(
        model, "decode", lambda shown, **how: seen.append(np.asarray(shown)) or decode(shown, **how), raising=False
    )
    loaded.detect(sample(picture))
    assert len(seen) == 2
    assert np.array_equal(seen[0], picture)
    assert np.array_equal(seen[1], np.asarray(after_jpeg(Pillow.fromarray(picture))))
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize("schema", FLIPS)
def test_as_many_wrong_bits_as_a_schema_corrects(loaded, decoding, data_layer, picture, schema):
    layer = data_layer(schema)
    payload = spelled(foreign_message(layer.schemaCapacity(schema)))
    code = layer.encode_binary([payload])[0]
    wrong = np.random.default_rng(schema).choice(96, FLIPS[schema], replace=False)  # the last four name the schema
    code[wrong] = 1 - code[wrong]
    decoding(code)
    detection = loaded.detect(sample(picture))
    if schema == 3:
        assert (detection.status, detection.label) == ("not_detected", None)
        assert "schema 3 is not accepted" in detection.reason
    else:
        assert (detection.status, detection.label) == ("detected", payload)


def test_one_wrong_bit_more_is_no_code_word(loaded, decoding, data_layer, picture):
    code = data_layer(1).encode_binary([spelled(MESSAGE)])[0]
    code[:6] = 1 - code[:6]
    decoding(code)
    detection = loaded.detect(sample(picture))
    assert (detection.status, detection.message_bit_accuracy) == ("not_detected", None)


def test_random_codes_of_which_the_package_calls_one_in_38_present(data_layer):
    """The figures of ``docs/adapters.md``: 520 of 20,000, of which schemas 0, 1 and 2 are 77."""
    codes = np.random.default_rng(20_000).integers(0, 2, (20_000, 100)).astype(bool)
    present = Counter(schema for _, found, schema in data_layer(1).decode_bitstream(codes, "binary") if found)
    assert present == {1: 13, 2: 64, 3: 443}


def test_a_decoder_of_nothing_but_zeros_spells_a_code_word(data_layer):
    """So nothing that is not finite may become a zero, and no checkpoint may be loaded in part."""
    assert data_layer(1).decode_bitstream(np.zeros((1, 100), bool), "binary") == [("0" * 40, True, 0)]


def test_numbers_that_are_not_finite_are_no_answer(loaded, decoding, picture):
    decoding(np.full(100, np.nan))
    with pytest.raises(ValueError, match="not finite"):
        loaded.detect(sample(picture))


@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 700, 3), (300, 7, 3)])
def test_pictures_of_any_shape_are_read_marked_and_treated(loaded, options, shape):
    pixels = np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8)
    assert loaded.detect(sample(pixels)).status == "detected"
    assert loaded.embedder().embed_pixels(pixels).shape == shape
    assert loaded.remover().remove_pixels(pixels).shape == shape


def test_the_encoder_is_shown_the_code_word_of_the_message(options, data_layer, picture):
    embedder = TrustMarkEmbedder(options)
    shown = []
    embedder._opened.model.encoder.encoder.register_forward_pre_hook(lambda _, inputs: shown.append(inputs[1].numpy()[0]))
    marked = embedder.embed_pixels(picture, foreign_message(61))
    assert shown[0].tolist() == data_layer(1).encode_binary([spelled(foreign_message(61))])[0].tolist()
    assert (marked.shape, marked.dtype) == (picture.shape, np.uint8)
    assert not np.array_equal(marked, picture)


def test_marking_is_repeatable_and_leaves_the_picture_alone(options, picture):
    embedder, before = TrustMarkEmbedder(options), picture.copy()
    marked = embedder.embed(sample(picture))
    assert np.array_equal(marked.pixels, embedder.embed_pixels(picture, MESSAGE))
    assert np.array_equal(picture, before)


def test_only_61_bits_are_embedded(options, picture):
    embedder = TrustMarkEmbedder(options)
    for message in ((1,) * 60, (1,) * 62, (2,) * 61):
        with pytest.raises(ValueError, match="expected a message of 61 bits"):
            embedder.embed_pixels(picture, message)
    with pytest.raises(ValueError, match="uint8"):
        embedder.embed_pixels(picture.astype(float))


def test_variant_p_touches_the_square_in_the_middle_alone(options, picture):
    for changed in (TrustMarkEmbedder(options).embed_pixels(picture), TrustMarkRemover(options).remove_pixels(picture)):
        assert np.array_equal(changed[:, :15], picture[:, :15])
        assert np.array_equal(changed[:, 105:], picture[:, 105:])
        assert not np.array_equal(changed, picture)


def test_the_remover_gives_an_image(options, picture):
    treated = TrustMarkRemover(options).remove(sample(picture))
    assert treated.decoding["rule"] == "mark removed"
    assert treated.pixels.shape == picture.shape


def test_the_description_names_files_versions_and_rule(loaded, options):
    description = loaded.describe()
    assert [file.name for file in description.weights] == ["trustmark_P.yaml", "decoder_P.ckpt"]
    assert all(len(file.sha256) == 64 for file in description.weights)
    assert description.version.startswith("trustmark 0.9.2, torch ")
    for part in ("schema 0, 1 or 2", "quality 95 with 4:2:0", "schema 3 never", "not the pinned ones (allow_unpinned)"):
        assert part in description.rule
    assert [file.name for file in TrustMarkEmbedder(options).weights] == ["trustmark_P.yaml", "encoder_P.ckpt"]
    assert [file.name for file in TrustMarkRemover(options).weights] == ["trustmark_rm_P.yaml", "trustmark_rm_P.ckpt"]


def test_files_with_the_pinned_md5_are_taken_without_a_word(files, monkeypatch, picture):
    pins = {file.name: hashlib.md5(file.read_bytes()).hexdigest() for file in files.iterdir()}
    monkeypatch.setattr(trustmark_networks, "PINS", pins)
    adapter = TrustMark(TrustMarkOptions(weights=files))
    adapter.load()
    assert adapter.detect(sample(picture)).status == "detected"
    assert "pinned" not in adapter.describe().rule
    assert adapter.embedder().weights
    assert adapter.remover().weights


def test_where_the_package_goes_on_without_a_decoder_the_adapter_is_unavailable(no_download):
    if (present := os.listdir(os.path.join(os.path.dirname(find_spec("trustmark").origin), "models"))) != ["README.md"]:
        pytest.skip(f"the package has its own files here: {present}")
    import_torchvision("")
    package = import_package("trustmark", "")
    with hushed():
        silent = package.TrustMark(verbose=False, model_type="P", device="cpu")
    assert (silent.decoder, silent.encoder, silent.removal) == (None, None, None)
    assert no_download
    no_download.clear()
    with pytest.raises(AdapterUnavailable, match=r"trustmark_P\.yaml cannot be read"):
        TrustMark().load()
    assert not no_download


@pytest.fixture
def copied(files, tmp_path):
    """A directory of its own with other tensors or another configuration."""

    def copy(name: str, content: bytes):
        for file in files.iterdir():
            (tmp_path / file.name).symlink_to(file)
        (tmp_path / name).unlink()
        (tmp_path / name).write_bytes(content)
        return TrustMarkOptions(weights=tmp_path, allow_unpinned=True)

    return copy


def test_a_file_of_another_md5_is_refused_and_not_downloaded_again(files, no_download):
    with pytest.raises(AdapterUnavailable, match=r"trustmark_P\.yaml has MD5 "):
        TrustMark(TrustMarkOptions(weights=files)).load()
    assert not no_download


def test_loading_downloads_nothing_and_writes_nothing(options, no_download, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adapter = TrustMark(options)
    adapter.load()
    adapter.embedder()
    adapter.remover()
    assert not no_download
    assert not list(tmp_path.iterdir())


def changed(files, change) -> bytes:
    state = torch.load(files / "decoder_P.ckpt", weights_only=True)["state_dict"]
    change(state)
    stream = io.BytesIO()
    torch.save({"state_dict": state}, stream)
    return stream.getvalue()


CHANGES = {
    "missing": lambda state: state.pop("decoder.decoder.fc.bias"),
    "unknown": lambda state: state.update({"decoder.decoder.fc.more": torch.zeros(1)}),
    "of another shape": lambda state: state.update({"decoder.decoder.fc.bias": torch.zeros(64)}),
    "not finite": lambda state: state["decoder.decoder.fc.bias"].fill_(torch.nan),
    "no state dict": lambda state: state.update({"decoder.decoder.fc.bias": "text"}),
}


@pytest.mark.parametrize("fault", CHANGES)
def test_a_checkpoint_that_the_package_would_take_in_part_is_refused(files, copied, fault):
    with pytest.raises(CheckpointError, match=fault):
        TrustMark(copied("decoder_P.ckpt", changed(files, CHANGES[fault]))).load()


def test_tensors_beside_the_network_do_not_matter(files, copied):
    adapter = TrustMark(
        copied("decoder_P.ckpt", changed(files, lambda state: state.update({"loss_layer.w": torch.ones(1)})))
    )
    adapter.load()
    assert adapter.describe().weights


@pytest.mark.parametrize("content", [b"no checkpoint", b""], ids=["other-bytes", "empty"])
def test_bytes_that_are_no_checkpoint_are_refused(copied, content):
    with pytest.raises(CheckpointError, match="no checkpoint of plain tensors"):
        TrustMark(copied("decoder_P.ckpt", content)).load()


def test_a_checkpoint_that_is_one_tensor_is_refused(copied):
    stream = io.BytesIO()
    torch.save(torch.zeros(3), stream)
    with pytest.raises(CheckpointError, match="no state dict"):
        TrustMark(copied("decoder_P.ckpt", stream.getvalue())).load()


def test_what_a_configuration_names_and_is_not_installed_is_unavailable(copied):
    other = CONFIGURATION.replace("trustmark.unet.SecretDecoder", "trustmark.no_such_module.Decoder")
    with pytest.raises(
        AdapterUnavailable, match=r"trustmark\.no_such_module, which trustmark_P\.yaml needs, is not installed"
    ):
        TrustMark(copied("trustmark_P.yaml", other.encode())).load()


def test_what_a_configuration_names_beside_its_network_is_not_made(copied):
    """Training configurations name classes of other projects, which inference does without."""
    other = REMOVER.replace(IDENTITY, "{target: another.project.Loss, params: {}}")
    TrustMarkRemover(copied("trustmark_rm_P.yaml", other.encode()))


def test_a_configuration_may_name_nothing_outside_the_package(copied, tmp_path):
    command = CONFIGURATION.replace("trustmark.unet.SecretDecoder", "os.mkdir").replace(
        "arch: resnet18", f"path: {tmp_path}/made"
    )
    with pytest.raises(CheckpointError, match=r"trustmark_P\.yaml builds no decoder: .*os\.mkdir"):
        TrustMark(copied("trustmark_P.yaml", command.encode())).load()
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("text", ["", "model: {}", "[1, 2]", "\xff"], ids=["empty", "bare", "list", "latin"])
def test_a_configuration_of_something_else_is_refused(copied, text):
    with pytest.raises(CheckpointError, match=r"trustmark_P\.yaml builds no decoder"):
        TrustMark(copied("trustmark_P.yaml", text.encode("latin-1"))).load()
