"""Loading the networks of TrustMark variant P: checked files in, the package's own class out, and nothing is downloaded.

The class of the package reads its files by itself: it downloads what is missing or has another MD5, goes on without a
network where that fails, and takes a checkpoint of whatever tensors. Here its one method that does so is replaced by what
was read, compared with the pins, and loaded without a missing or foreign tensor. Everything else is the package's code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from pytest_benchbench.adapters.base import AdapterUnavailable, Weights
from pytest_benchbench.adapters.checkpoint_parts import load_part
from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed, import_package, load_checkpoint
from pytest_benchbench.adapters.torchvision_operators import import_torchvision
from pytest_benchbench.adapters.weights import LockedWeights, locked_weights

INSTALL = (
    "pip install torch==2.13.0 einops omegaconf torchmetrics tqdm && "
    "pip install --no-deps torchvision==0.28.0 lightning==2.6.6 trustmark==0.9.2"
)
"""What it imports, and no more: its declared dependencies would bring another torch."""

SOURCE = "TrustMark 0.9.2, variant P"

REMEDY = (
    "python -c \"from trustmark import TrustMark; TrustMark(model_type='P')\", which downloads it, or point weights= at a "
    "directory that holds it"
)

PINS: Mapping[str, str] = MappingProxyType(
    {
        "trustmark_P.yaml": "fe40df84a7feeebfceb7a7678d7e6ec6",
        "decoder_P.ckpt": "9450972bc0c3c217cb7b8220dd2f7a3c",
        "encoder_P.ckpt": "0a18f6de6d57c6ef7dda30ce6154a775",
        "trustmark_rm_P.yaml": "654cabd3ac8339397fbc611ca7464780",
        "trustmark_rm_P.ckpt": "8b8f4715ea474327921ee9d0f46d2c3f",
    }
)
"""MD5 of the files by name, ``MODEL_CHECKSUMS`` in trustmark 0.9.2: its authors publish no other digest."""

_IDENTITY = "trustmark.model.Identity"


class TrustMarkOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the files of variant P come from.

    Attributes:
        weights: A directory with ``trustmark_P.yaml`` and ``decoder_P.ckpt``, for embedding ``encoder_P.ckpt``, for removing
            ``trustmark_rm_P.yaml`` and ``trustmark_rm_P.ckpt``; by default ``models`` in the installed package, where the
            package puts them when it downloads.
        allow_unpinned: Take files whose MD5 is not the pinned one; the evidence then says so.
    """

    weights: Path | None = None
    allow_unpinned: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One of the package's networks.

    Attributes:
        name: The package's word for it.
        configuration: The file that says how it is built.
        checkpoint: The file of its tensors.
        module: Its name inside the object that the configuration makes, and in the checkpoint.
        unused: What else the configuration names and this part does without; the package does the same.
    """

    name: str
    configuration: str
    checkpoint: str
    module: str
    unused: tuple[str, ...] = ()


DECODER = Part(
    "decoder",
    "trustmark_P.yaml",
    "decoder_P.ckpt",
    "decoder",
    ("secret_encoder_config", "discriminator_config", "loss_config", "noise_config"),
)

ENCODER = Part(
    "encoder",
    "trustmark_P.yaml",
    "encoder_P.ckpt",
    "encoder",
    ("secret_decoder_config", "discriminator_config", "loss_config", "noise_config"),
)

REMOVER = Part(
    "remover",
    "trustmark_rm_P.yaml",
    "trustmark_rm_P.ckpt",
    "denoise",
    ("discriminator_config", "loss_config"),
)


@dataclass(frozen=True, slots=True)
class Opened:
    """The package's object with one network in it.

    Attributes:
        model: A ``trustmark.TrustMark``.
        files: What was loaded: configuration, then checkpoint.
        version: Of the packages that run.
    """

    model: Any
    files: tuple[LockedWeights, LockedWeights]
    version: str

    @property
    def weights(self) -> tuple[Weights, ...]:
        """The files' names and digests."""
        return tuple(file.weights for file in self.files)


def open_part(part: Part, options: TrustMarkOptions) -> Opened:
    """Read and check the files of one network and give the package's object with this network alone.

    Raises:
        AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
        CheckpointError: The files are none of TrustMark's; only possible with ``allow_unpinned``.
    """
    directory = options.weights or _package_directory() / "models"
    names = (part.configuration, part.checkpoint)
    configuration, checkpoint = (
        locked_weights(
            directory / name,
            pinned=PINS[name],
            allow_unpinned=options.allow_unpinned,
            remedy=REMEDY,
            source=SOURCE,
        )
        for name in names
    )
    import_torchvision(INSTALL)
    package = import_package("trustmark", INSTALL)
    torch = import_package("torch", INSTALL)
    network = _network(part, configuration, checkpoint)
    networks = {part.name: network}
    checked: Any = type(
        "CheckedTrustMark",
        (package.TrustMark,),
        {"load_model": lambda _self, *_files, part: networks.get(part)},
    )
    with hushed():
        model = checked(
            use_ECC=True,
            verbose=False,
            secret_len=100,
            device="cpu",
            model_type="P",
            encoding_type=package.TrustMark.Encoding.BCH_5,
            loadRemover=part is REMOVER,
        )
    return Opened(model, (configuration, checkpoint), f"trustmark {_package_version()}, torch {torch.__version__}")


def _network(part: Part, configuration: LockedWeights, checkpoint: LockedWeights) -> Any:
    """Build a network as its configuration says and put the checkpoint's tensors into it.

    Raises:
        AdapterUnavailable: Something that the package imports is missing.
        CheckpointError: The configuration or the checkpoint is none of TrustMark's.
    """
    for module in ("trustmark.model", "trustmark.unet", "trustmark.denoise"):  # what configurations name
        import_package(module, INSTALL)
    omegaconf = import_package("omegaconf", INSTALL)
    instantiate = import_package("trustmark.trustmark", INSTALL).instantiate_from_config
    try:
        with hushed():
            settings = omegaconf.OmegaConf.create(configuration.data.decode()).model
            for role in part.unused:
                settings.params[role] = {"target": _IDENTITY, "params": {}}
            if part is REMOVER:
                settings.params.is_train = False
            if not configuration.pinned:
                _require_own_classes(omegaconf.OmegaConf.to_container(settings))
            whole = instantiate(settings)
        network = getattr(whole, part.module)
    except ModuleNotFoundError as error:  # a configuration names its classes, and so what is imported
        raise AdapterUnavailable(f"{error.name}, which {part.configuration} needs, is not installed", INSTALL) from error
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        raise CheckpointError(f"{part.configuration} builds no {part.name}: {type(error).__name__}: {first}") from error
    state = load_checkpoint(checkpoint.data)
    if isinstance(state, Mapping) and "state_dict" in state:
        state = state["state_dict"]
    load_part(network, state, part.module)
    network.register_forward_hook(_require_finite)
    return whole.eval()


def _require_finite(_network: Any, _inputs: Any, output: Any) -> None:
    """Let no number that is not finite reach the package, which would read it as a 0 bit.

    Raises:
        ValueError: The network gave one.
    """
    if not bool(output.isfinite().all()):
        raise ValueError("the network gave numbers that are not finite")


def _require_own_classes(settings: Any) -> None:
    """Refuse a configuration that names something outside the package, which would be called: it is not the package's own.

    Raises:
        CheckpointError: It would.
    """
    if isinstance(settings, Mapping):
        target = settings.get("target", _IDENTITY)
        if not str(target).startswith("trustmark."):
            raise CheckpointError(f"it names {str(target)[:80]}, which is not part of trustmark")
        for value in settings.values():
            _require_own_classes(value)
    elif isinstance(settings, list):
        for value in settings:
            _require_own_classes(value)


def _package_directory() -> Path:
    spec = find_spec("trustmark")
    if spec is None or spec.origin is None:
        raise AdapterUnavailable("trustmark is not installed", INSTALL)
    return Path(spec.origin).parent


def _package_version() -> str:
    try:
        return version("trustmark")
    except PackageNotFoundError:  # run from a checkout
        return "of unknown version"
