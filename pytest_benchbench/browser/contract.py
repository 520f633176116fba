"""What an extension says about an image, and about itself: version 1 of the contract, read strictly.

``docs/extension-contract.md`` explains every field. Names that the contract does not know are ignored, so nothing reaches
the evidence that this module does not name; the texts among what it names are cleaned of addresses and paths.
"""
# ruff: noqa: N815 - the names are the contract's

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

import msgspec

from pytest_benchbench.browser.checks import METADATA
from pytest_benchbench.manifests.faults import schema_fault, shown_text
from pytest_benchbench.manifests.strict_json import MalformedJsonError, parse_object

SCHEMA_VERSION: Final = 1

Status = Literal["scored", "too-small", "disabled", "unsupported", "inference-error", "timeout"]

STATUSES: Final[tuple[str, ...]] = get_args(Status)

MAX_RECORD_CHARACTERS: Final = 64 * 1024
"""Of what an extension says about one image, as JSON."""

_Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


class ContractError(ValueError):
    """What an extension said is not what the contract allows; one line."""


class ProviderDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """On what an execution provider computes, as ``GPUAdapter.info`` says it.

    Attributes:
        vendor: For instance ``google``.
        architecture: For instance ``swiftshader``.
        isFallbackAdapter: Whether it is software.
    """

    vendor: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    architecture: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    isFallbackAdapter: bool | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an extension says about one image that it is done with; what it does not expose is ``None``.

    Attributes:
        status: ``scored``, or why there is no score.
        score: How probably the image is made by AI, in [0, 1]; of a scored image, and of no other.
        result: The extension's own word for it, such as ``ai`` or ``real``.
        rawScore: Before calibration.
        pixelScore: Of the pixels alone, calibrated, before metadata was looked at.
        provider: What the network ran on, ``wasm`` or ``webgpu``; ``metadata`` where no pixel was looked at.
        providerDetail: More about that.
        pipelineMs: From the job's beginning to its end in the extension, milliseconds, like the following.
        fetchMs: Of it, getting the bytes.
        hashMs: Of it, their digest.
        decodeMs: Of it, making pixels of them.
        preprocessMs: Of it, making the tensor.
        inferenceMs: Of it, running the network.
        queueMs: Waiting before that.
        cropCount: Parts of the image that the network was shown.
        cacheStatus: Whether the answer was known already.
        modelSha256: Digest of the network.
        calibratorSha256: Digest of the calibration; absent means identity.
        preprocessingVersion: A name for what was done to the pixels.
        sha256: Digest of the bytes that the extension fetched.
        reason: Why there is no score, for people.
        submitBoot: How often the service worker had been started when the job was submitted.
        deliverBoot: The same when the answer was delivered.
    """

    status: Status
    score: _Probability | None = None
    result: _Text | None = None
    rawScore: float | None = None
    pixelScore: _Probability | None = None
    provider: Annotated[str, msgspec.Meta(min_length=1, max_length=60)] | None = None
    providerDetail: ProviderDetail | None = None
    pipelineMs: _Milliseconds | None = None
    fetchMs: _Milliseconds | None = None
    hashMs: _Milliseconds | None = None
    decodeMs: _Milliseconds | None = None
    preprocessMs: _Milliseconds | None = None
    inferenceMs: _Milliseconds | None = None
    queueMs: _Milliseconds | None = None
    cropCount: _Count | None = None
    cacheStatus: Literal["hit", "miss"] | None = None
    modelSha256: Sha256 | None = None
    calibratorSha256: Sha256 | None = None
    preprocessingVersion: _Text | None = None
    sha256: Sha256 | None = None
    reason: Annotated[str, msgspec.Meta(max_length=2000)] | None = None
    submitBoot: _Count | None = None
    deliverBoot: _Count | None = None

    def __post_init__(self) -> None:
        if (self.status == "scored") != (self.score is not None):
            raise ValueError("score: belongs to the status scored, and to no other")

    @property
    def by_metadata(self) -> bool:
        """Whether no pixel was looked at."""
        return self.provider == METADATA

    def facts(self) -> dict[str, Any]:
        """Give what belongs under ``detection.scorer``: all that is exposed but status, score and reason, texts cleaned."""
        facts = msgspec.to_builtins(self)
        for name in ("status", "score", "reason"):
            facts.pop(name, None)
        return {name: _clean(value) for name, value in facts.items()}


FIELDS: Final[frozenset[str]] = frozenset(Result.__struct_fields__)
"""All that the contract knows about an image."""

DEMANDED: Final = ("provider", "modelSha256", "preprocessingVersion", "sha256")
"""What an extension that keeps the contract says about every image that it scores by its pixels."""


class Ready(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an extension says about itself once it can work.

    Attributes:
        name: Of the extension.
        version: Of the extension.
        modelSha256: Digest of its network.
        preprocessingVersion: A name for what it does to pixels.
        provider: What it runs on.
    """

    name: _Text
    version: _Text
    modelSha256: Sha256 | None = None
    preprocessingVersion: _Text | None = None
    provider: Annotated[str, msgspec.Meta(min_length=1, max_length=60)] | None = None


class _Version(msgspec.Struct, frozen=True):
    schema_version: Literal[1]


def read_record(text: str) -> dict[str, Any]:
    """Parse what an extension exposes: one JSON object of version 1.

    Numbers are read exactly; NaN and infinity are refused, and so is a key that stands twice.

    Raises:
        ContractError: It is none.
    """
    record = read_object(text)
    try:
        msgspec.convert(record, _Version)
    except msgspec.ValidationError as error:
        raise ContractError(schema_fault(error)) from None
    return record


def read_object(text: str) -> dict[str, Any]:
    """Parse one JSON object as strictly, of whatever version.

    Raises:
        ContractError: It is none.
    """
    if len(text) > MAX_RECORD_CHARACTERS:
        raise ContractError(f"longer than {MAX_RECORD_CHARACTERS} characters")
    try:
        record, problems = parse_object(text.encode("utf-8", "surrogatepass"))
    except MalformedJsonError as error:
        raise ContractError(_one_line(str(error))) from None
    for field, problem in problems:
        raise ContractError(_one_line(f"{field}: {problem}" if field else problem))
    return record


def result_of(record: Mapping[str, Any]) -> Result:
    """Make a result of what an extension says about an image; unknown names are ignored, null is absent.

    Raises:
        ContractError: A known name has a value that the contract does not allow.
    """
    try:
        return msgspec.convert(dict(record), Result)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ContractError(schema_fault(error)) from None


def demand(result: Result) -> None:
    """Demand of a scored image what the contract demands.

    Raises:
        ContractError: Something is not exposed.
    """
    if result.status != "scored":
        return
    needed = ("provider", "sha256") if result.by_metadata else DEMANDED
    if missing := [name for name in needed if getattr(result, name) is None]:
        raise ContractError(f"scored without {', '.join(missing)}")


def ready_of(record: Mapping[str, Any]) -> Ready:
    """Make a statement of readiness of what an extension says; unknown names are ignored.

    Raises:
        ContractError: As ``result_of``.
    """
    try:
        return msgspec.convert(dict(record), Ready)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ContractError(schema_fault(error)) from None


_ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>)]+|\b(?:data|blob):[^\s\"'<>)]+")
_PATH = re.compile(r"(?<![\w.~/])~?(?:/[\w.@+~-]+){2,}/?|\b[A-Za-z]:[\\/][^\s\"'<>]*|\\\\[^\s\"'<>]+")


def _one_line(text: str) -> str:
    return shown_text(" ".join(text.split()))


def cleaned(text: str) -> str:
    """Give a text without addresses and local paths, on one line."""
    return _one_line(_PATH.sub("<path>", _ADDRESS.sub("<address>", text)))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, dict):
        return {name: _clean(inner) for name, inner in value.items()}
    return value
