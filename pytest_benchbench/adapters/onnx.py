"""``onnx``: any AI-image detector that is an ONNX file, with everything that makes its score declared in a YAML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from pytest_benchbench.adapters.base import (
    AdapterDescription,
    AdapterUnavailable,
    BatchAdapter,
    Detection,
    DetectionError,
    DetectionStatus,
    Sample,
    Weights,
)
from pytest_benchbench.adapters.calibrator import LoadedCalibrator, load_calibrator
from pytest_benchbench.adapters.fusion import LoadedFusion, load_fusion, scoring_sha256
from pytest_benchbench.adapters.fusion_signals import read_signals
from pytest_benchbench.adapters.onnx_config import LoadedConfig, OnnxConfig, PossiblyPinnedFile, load_config
from pytest_benchbench.adapters.onnx_preprocessing import NotShown, Preprocessor, Tensor
from pytest_benchbench.adapters.onnx_scoring import NoScoreError, raw_score
from pytest_benchbench.adapters.onnx_session import INSTALL, OnnxNetwork
from pytest_benchbench.artifacts.image import Image, decode_alpha
from pytest_benchbench.artifacts.media import MediaType, UndecodableArtifactError

FIXTURE_SHA256 = "71233b5b0d6c62655a60cc3b9ff6cd26448997737f4d4e2d7aea2927292b05dc"
"""The model of ``benchmarks/reference_model.py``, a fixture that detects a drawn lattice and nothing else."""

MAX_BATCH = 1024


class OnnxOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which model is asked, and how.

    Attributes:
        config: The YAML file of the model; without it the adapter is unavailable.
        provider: The one execution provider to run on, in place of those in the YAML.
        batch: Pictures (crops) in one run of the network, unless the model itself fixes that.

    Raises:
        ValueError: The YAML file cannot be used.
    """

    config: Path | None = None
    provider: str | None = None
    batch: Annotated[int, msgspec.Meta(ge=1, le=MAX_BATCH)] = 16

    def __post_init__(self) -> None:
        if self.config is not None:
            load_config(self.config)  # a faulty file is a fault of the command line, told before anything runs


@dataclass(frozen=True, slots=True)
class _Scorer:
    """All that stands behind a score."""

    loaded: LoadedConfig[OnnxConfig]
    network: OnnxNetwork
    preprocessor: Preprocessor
    calibrator: LoadedCalibrator | None
    fusion: LoadedFusion | None
    identity: dict[str, Any]

    def terminal(self, status: DetectionStatus, reason: str) -> Detection:
        """Say why there is no score, and what gave none."""
        return Detection(status, reason=reason, scorer=dict(self.identity))


class Onnx(BatchAdapter):
    """Scores pictures: how probably each is made by AI, in the words of the model that the YAML names."""

    name: ClassVar[str] = "onnx"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"image"})
    verified_weights: ClassVar[frozenset[str]] = frozenset({FIXTURE_SHA256})
    Options: ClassVar[type[msgspec.Struct]] = OnnxOptions
    options: OnnxOptions

    def __init__(self, options: OnnxOptions | None = None) -> None:
        super().__init__(options)
        self.batch_size = 1
        self._scorer: _Scorer | None = None

    def load(self) -> None:
        """Read the configuration, check every file that it names, and load the model.

        Raises:
            AdapterUnavailable: No configuration is given; ONNX Runtime, a file or a provider is missing; a file is not the
                pinned one, or the calibrator was fitted for another model or preprocessing.
            OnnxConfigError: The configuration cannot be used.
            OnnxModelError: The model cannot be asked.
            CalibratorError: The calibrator cannot be used.
            FusionError: The fusion weights cannot be used.
        """
        if self.options.config is None:
            lacks_runtime = find_spec("onnxruntime") is None  # both at once: who names a model next is not stopped again
            reason = f"no model is named{', and onnxruntime is not installed' if lacks_runtime else ''}"
            remedy = "give --bench-adapter=onnx:config=MODEL.yaml, see docs/onnx.md"
            raise AdapterUnavailable(reason, f"{INSTALL}; then {remedy}" if lacks_runtime else remedy)
        loaded = load_config(self.options.config)
        config = loaded.config
        calibrator = None if config.calibrator is None else _calibrator(loaded, config.calibrator)
        fusion = None if config.fusion is None else _fusion(loaded, config.fusion)
        network = OnnxNetwork(loaded, provider=self.options.provider, batch=self.options.batch)
        if calibrator is not None:
            _check_fit(calibrator, network.sha256, config.preprocessing_version)
        identity = {
            "evaluationMode": config.evaluation_mode,
            "modelSha256": network.sha256,
            "preprocessingVersion": config.preprocessing_version,
            "provider": network.provider,
        }
        scoring = scoring_sha256(calibrator.sha256 if calibrator else None, fusion.sha256 if fusion else None)
        if scoring is not None:
            identity["calibratorSha256"] = scoring
        self._scorer = _Scorer(loaded, network, Preprocessor(config.preprocessing), calibrator, fusion, identity)
        self.batch_size = max(1, network.run_size // config.preprocessing.crop_count)

    def detect_batch(self, samples: Sequence[Sample]) -> list[Detection | DetectionError]:
        """Answer ``scored``, ``too-small``, ``unsupported`` or ``inference-error`` about each picture.

        What fails before the network is asked, memory for instance, is the error of that picture alone.
        """
        scorer = self._loaded()
        answers: dict[int, Detection | DetectionError] = {}
        tensors: dict[int, Tensor] = {}
        for place, sample in enumerate(samples):
            try:
                tensors[place] = _shown(sample, scorer.preprocessor)
            except NotShown as refusal:
                answers[place] = scorer.terminal(refusal.status, refusal.reason)
            except Exception as error:
                answers[place] = DetectionError(type(error).__name__, str(error))
        for place, found in zip(tensors, scorer.network.ask(list(tensors.values())), strict=True):
            if isinstance(found, str):
                answers[place] = scorer.terminal("inference-error", found)
                continue
            try:
                raw = raw_score(found, scorer.loaded.config.output, scorer.loaded.config.preprocessing.aggregation)
            except NoScoreError as error:
                answers[place] = scorer.terminal("inference-error", str(error))
                continue
            answers[place] = _scored(scorer, samples[place], raw, crops=len(found))
        return [answers[place] for place in range(len(samples))]

    def close(self) -> None:
        """Let go of the network."""
        self._scorer = None

    def describe(self) -> AdapterDescription:
        """What runs the network, how the score is made, and every file that it is made with.

        The rule is the same for every model, calibrator and set of weights that is asked in the same way: what they are is
        told by their digests.
        """
        scorer = self._loaded()
        config = scorer.loaded.config
        files = [*scorer.network.weights]
        for block, part in ((config.calibrator, scorer.calibrator), (config.fusion, scorer.fusion)):
            if block is not None and part is not None:
                files.append(Weights(Path(block.path).name, part.sha256))
        threads = config.runtime.threads
        version = (
            f"{scorer.network.version}, {scorer.network.provider}, {threads} {'thread' if threads == 1 else 'threads'}, "
            f"{scorer.network.run_size} to a run"
        )
        rule = (
            f"a score, without a threshold of its own: {config.output.kind} {config.output.name} of the model, "
            f"preprocessing {config.preprocessing_version}, {'calibrated' if scorer.calibrator else 'not calibrated'}, "
            f"{'fused with metadata signals' if scorer.fusion else 'pixels only'}; {config.evaluation_mode}"
        )
        if config.fixture:
            rule += "; a fixture: it detects nothing but what it was drawn for"
        return AdapterDescription(version, rule, tuple(files))

    def _loaded(self) -> _Scorer:
        if self._scorer is None:
            raise RuntimeError("load() comes first")
        return self._scorer


def _shown(sample: Sample, preprocessor: Preprocessor) -> Tensor:
    """Give the crops of a sample.

    Raises:
        NotShown: The network cannot be shown this picture.
        TypeError: The sample is no decoded image.
    """
    image = sample.decoded
    if not isinstance(image, Image):
        raise TypeError(f"a decoded image is needed, not {type(image).__name__}")
    alpha = None
    if preprocessor.needs_alpha and image.decoding.get("alpha") == "dropped":
        try:
            alpha = decode_alpha(sample.data)
        except UndecodableArtifactError as error:
            raise NotShown("unsupported", f"its transparency cannot be decoded: {error}") from None
    return preprocessor.tensor(image.pixels, alpha)


def _scored(scorer: _Scorer, sample: Sample, raw: float, *, crops: int) -> Detection:
    pixel = raw if scorer.calibrator is None else float(scorer.calibrator.calibrator.apply(raw))
    facts = {**scorer.identity, "rawScore": raw, "pixelScore": pixel, "cropCount": crops}
    score = pixel
    if scorer.fusion is not None:
        signals = read_signals(sample.data)
        score = scorer.fusion.fusion.apply(pixel, signals)
        facts["signals"] = list(signals)
    return Detection("scored", score=score, scorer=facts)


def _calibrator(loaded: LoadedConfig[OnnxConfig], declared: PossiblyPinnedFile) -> LoadedCalibrator:
    path = loaded.locate(declared.path)
    _demand_file(path)
    calibrator = load_calibrator(path)
    _check_pin(path, calibrator.sha256, declared)
    return calibrator


def _fusion(loaded: LoadedConfig[OnnxConfig], declared: PossiblyPinnedFile) -> LoadedFusion:
    path = loaded.locate(declared.path)
    _demand_file(path)
    fusion = load_fusion(path)
    _check_pin(path, fusion.sha256, declared)
    return fusion


def _demand_file(path: Path) -> None:
    if not path.is_file():
        raise AdapterUnavailable(f"{path} is no file", "the model's YAML names it")


def _check_pin(path: Path, found: str, declared: PossiblyPinnedFile) -> None:
    if declared.sha256 is not None and found != declared.sha256:
        raise AdapterUnavailable(f"{path.name} has SHA-256 {found}, not the pinned {declared.sha256}")


def _check_fit(loaded: LoadedCalibrator, model: str, preprocessing: str) -> None:
    """Refuse a calibrator that says that it was fitted on the scores of something else.

    Raises:
        AdapterUnavailable: It was.
    """
    for name, ours in (("modelSha256", model), ("preprocessingVersion", preprocessing)):
        theirs = getattr(loaded.calibrator, name)
        if theirs is not None and theirs != ours:
            raise AdapterUnavailable(
                f"the calibrator was fitted for {name} {theirs}, and this is {ours}", "calibrate this model's own scores"
            )
