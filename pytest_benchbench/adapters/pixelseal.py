"""``pixelseal``: Meta's image watermark of 256 bits, read by the package ``videoseal`` from a card and a checkpoint.

The wheel of ``videoseal`` 1.0.1 has neither the card nor the settings that the card refers to, and its loader looks for them
in the working directory, makes a directory there, downloads, and takes a checkpoint with whatever tensors. So the card is
read here, and the package's classes are built from it directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import msgspec
import numpy as np

from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, Sample, Weights
from pytest_benchbench.adapters.bit_messages import BitEmbedder, Message, require_bits
from pytest_benchbench.adapters.checkpoint_parts import load_part
from pytest_benchbench.adapters.invisible_watermark import pixels_of, require_pixels
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.seal_rule import BITS, MESSAGE, RULE, message_logits, recognise
from pytest_benchbench.adapters.torch_runtime import (
    CheckpointError,
    hushed,
    import_package,
    import_torch,
    inference,
    load_checkpoint,
)
from pytest_benchbench.adapters.torchvision_operators import import_torchvision
from pytest_benchbench.adapters.weights import LockedWeights, locked_weights, rule_with_weights
from pytest_benchbench.adapters.yuv import Pixels
from pytest_benchbench.artifacts.media import MediaType

INSTALL = (
    "pip install torch==2.13.0 torchvision==0.28.0 av einops omegaconf opencv-python-headless tqdm && "
    "pip install --no-deps timm==0.9.16 videoseal==1.0.1"
)

REVISION = "facebookresearch/videoseal@870ca7fb33578b90f14c602016b6c2788096226e"

CARD = "96c4a448f7d81810780e5bde5a51b039db544b7ec2baf65a605302c1b17362c9"
"""SHA-256 of ``videoseal/cards/pixelseal.yaml`` at that revision."""

CHECKPOINT = "0c5665cff20eb6ce1b5aaa7d91c19dafb418bfee32d02dd3344e4ed60d9d75bd"
"""SHA-256 of the ``checkpoint.pth`` (1,237,429,197 bytes) that the card names."""

MAXIMUM_PIXELS = 1 << 25
"""A picture becomes several arrays of 32-bit floats: about 60 bytes a pixel when embedding, 2 GB here."""

_ATTENUATIONS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "jnd_1_1": {"in_channels": 1, "out_channels": 1},
        "jnd_3_3": {"in_channels": 3, "out_channels": 3},
        "jnd_1_3": {"in_channels": 1, "out_channels": 3},
        "jnd_3_1": {"in_channels": 3, "out_channels": 1},
    }
)
"""What ``configs/attenuation.yaml`` of the source tree says, which is not in the wheel; cards refer to it by name."""


class PixelSealOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the card and the checkpoint come from; nothing brings them along.

    Attributes:
        card: The file ``pixelseal.yaml``.
        weights: The file ``checkpoint.pth``.
        allow_unpinned: Take files whose SHA-256 is not the pinned one; the evidence then says so.
    """

    card: Path | None = None
    weights: Path | None = None
    allow_unpinned: bool = False


class PixelSeal(NetworkAdapter["_Opened"]):
    """Reads 256 bits and compares them with the message of the benchmark."""

    name: ClassVar[str] = "pixelseal"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"image"})
    Options: ClassVar[type[msgspec.Struct]] = PixelSealOptions
    options: PixelSealOptions

    def open(self) -> _Opened:
        """Read and check the card and the checkpoint, and build the extractor.

        Raises:
            AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
            CheckpointError: The files do not fit each other; only possible with ``allow_unpinned``.
        """
        return _open("detector", self.options)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected``, ``not_detected``, or ``unsupported`` for a picture too large to read.

        Raises:
            TypeError: The sample is no decoded image.
            ValueError: The network gave numbers that are not finite.
        """
        pixels = pixels_of(sample)
        height, width = pixels.shape[:2]
        if height * width > MAXIMUM_PIXELS:
            reason = f"{MAXIMUM_PIXELS:,} pixels are read at most, the image is {width}x{height}"
            return Detection("unsupported", reason=reason)
        model = self.opened.model
        with hushed(), inference():
            logits = model.detect(_planes(pixels), is_video=False)["preds"].numpy()
        return recognise(message_logits(logits)[0] > 0)

    def embedder(self) -> PixelSealEmbedder:
        """Make the embedder.

        Raises:
            AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
        """
        return PixelSealEmbedder(self.options)

    def describe(self) -> AdapterDescription:
        """Versions, the rule and the digests of card and checkpoint."""
        opened = self.opened
        return AdapterDescription(opened.version, rule_with_weights(RULE, *opened.files), opened.weights)


class PixelSealEmbedder(BitEmbedder):
    """Writes a message of 256 bits, attenuated as the card says.

    Args:
        options: Where the card and the checkpoint come from.

    Raises:
        AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
    """

    message: ClassVar[Message] = MESSAGE

    def __init__(self, options: PixelSealOptions | None = None) -> None:
        self._opened = _open("embedder", options or PixelSealOptions())
        self.weights = self._opened.weights

    def embed_pixels(self, pixels: Pixels, message: Message = MESSAGE) -> Pixels:
        """Mark (H, W, 3) uint8 RGB with 256 bits and give a new array of the same shape.

        The package gives floats from 0 to 1; they are rounded to the nearest of 256 levels.

        Raises:
            ValueError: The array is no such picture, it is too large, or the message has no 256 bits.
        """
        require_pixels(pixels)
        require_bits(message, BITS)
        if pixels.shape[0] * pixels.shape[1] > MAXIMUM_PIXELS:
            raise ValueError(f"{MAXIMUM_PIXELS:,} pixels are marked at most")
        torch = import_torch(INSTALL)
        with hushed(), inference():
            marked = self._opened.model.embed(_planes(pixels), torch.tensor([message]), is_video=False)["imgs_w"]
            samples = marked[0].permute(1, 2, 0).numpy()
        if not np.isfinite(samples).all():
            raise ValueError("the network gave numbers that are not finite")
        levels: Pixels = np.rint(np.clip(samples, 0, 1) * np.float32(255)).astype(np.uint8)
        return levels


@dataclass(frozen=True, slots=True)
class _Opened:
    """The package's model with one network in it, and the files that it was made of: card, then checkpoint."""

    model: Any
    files: tuple[LockedWeights, LockedWeights]
    version: str

    @property
    def weights(self) -> tuple[Weights, ...]:
        return tuple(file.weights for file in self.files)


def _open(part: Literal["detector", "embedder"], options: PixelSealOptions) -> _Opened:
    if options.card is None or options.weights is None:
        missing = [f"{name}=" for name in ("card", "weights") if getattr(options, name) is None]
        raise AdapterUnavailable(
            f"{' and '.join(missing)} must say where the files of PixelSeal lie",
            f"{INSTALL}; --bench-adapter=pixelseal:card=pixelseal.yaml,weights=checkpoint.pth with the files of {REVISION}",
        )
    card, checkpoint = (
        locked_weights(
            path,
            pinned=pin,
            allow_unpinned=options.allow_unpinned,
            remedy=f"point {name}= at the file of {REVISION}",
            source=REVISION,
        )
        for name, path, pin in (("card", options.card, CARD), ("weights", options.weights, CHECKPOINT))
    )
    torch = import_torch(INSTALL)
    import_torchvision(INSTALL)
    model = _build(part, card.data)
    state = load_checkpoint(checkpoint.data)
    if not isinstance(state, Mapping) or "model" not in state:
        raise CheckpointError(f"{checkpoint.weights.name} holds no 'model'")
    load_part(getattr(model, part), state["model"], part)
    return _Opened(model.eval(), (card, checkpoint), f"videoseal {_package_version()}, torch {torch.__version__}")


def _build(part: Literal["detector", "embedder"], card: bytes) -> Any:
    """Make the package's model as its ``setup_model`` does, with the one network that is needed.

    Raises:
        AdapterUnavailable: A package is missing.
        CheckpointError: The card describes no network of 256 bits that the package can build.
    """
    omegaconf = import_package("omegaconf", INSTALL)
    models = import_package("videoseal.models", INSTALL)
    attenuation_of = import_package("videoseal.modules.jnd", INSTALL).JND
    augmenter = import_package("videoseal.augmentation.augmenter", INSTALL).get_dummy_augmenter
    try:
        with hushed():
            settings = omegaconf.OmegaConf.create(card.decode())
            arguments = settings.args
            if arguments.nbits != BITS:
                raise ValueError(f"{arguments.nbits} bits, not {BITS}")
            size = arguments.get("img_size_proc") or arguments.img_size_extractor
            name = str(arguments.attenuation).lower()
            detector = embedder = None
            if part == "detector":
                detector = models.build_extractor(settings.extractor.model, settings.extractor.params, size, BITS)
            else:
                multiplier = arguments.get("hidden_size_multiplier", 2)
                embedder = models.build_embedder(settings.embedder.model, settings.embedder.params, BITS, multiplier)
            return models.Videoseal(
                embedder,
                detector,
                augmenter(),
                attenuation=attenuation_of(**_ATTENUATIONS[name]) if name.startswith("jnd") else None,
                scaling_w=arguments.scaling_w,
                scaling_i=arguments.scaling_i,
                img_size=size,
            )
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        raise CheckpointError(f"the card builds no {part}: {type(error).__name__}: {first}") from error


def _planes(pixels: Pixels) -> Any:
    """Arrange (H, W, 3) uint8 RGB as the networks see it: a tensor (1, 3, H, W) of float32 from 0 to 1."""
    torch = import_torch(INSTALL)
    return torch.from_numpy(pixels.transpose(2, 0, 1).astype(np.float32, order="C") / np.float32(255))[None]


def _package_version() -> str:
    try:
        return version("videoseal")
    except PackageNotFoundError:  # run from a checkout
        return "of unknown version"
