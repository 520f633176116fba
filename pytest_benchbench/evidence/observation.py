"""One row of evidence (schema version 1) and the judgement that gives it its outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

import msgspec

from pytest_benchbench.adapters.base import VERDICTS, AdapterDescription, Detection, Weights

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import PooledAdapter

SCHEMA_VERSION: Final = 1

Expected = Literal["detected", "not_detected", "unresolved"]

Outcome = Literal["match", "mismatch", "measured", "known_mismatch", "unavailable", "error", "not_run"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

SETTLED: frozenset[str] = frozenset({"match", "mismatch", "measured", "known_mismatch"})
"""The outcomes of a row whose detector answered: they rest on a verdict, and no later attempt replaces them."""

FidelityStatus = Literal["measured", "no_reference", "incomparable", "error"]


class Mismatch(AssertionError):  # noqa: N818 - the public name of this failure
    """A detector answered, and not what the row expects: the only failure that an expectations file may excuse."""


class EvidenceKey(msgspec.Struct, frozen=True, order=True, gc=False):
    """What a row of evidence is about, and which try it records.

    Attributes:
        suite: Node id of the suite, e.g. ``benchmarks/test_watermarks.py::test_detection``.
        adapter: The adapter's name, or its alias.
        case_id: As the manifest writes it.
        params: Parameter id of a suite that is also parametrized.
        attempt: 1 for the first try.
    """

    suite: str
    adapter: str
    case_id: str
    params: str | None
    attempt: int

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The identity of the planned row: the key without its attempt."""
        return (self.suite, self.adapter, self.case_id, self.params or "")


class ManifestReference(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Where the case stands: ``line`` of a JSONL manifest or ``pointer`` into a JSON one."""

    name: str
    sha256: str
    line: Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None = None
    pointer: str | None = None


class ArtifactRecord(msgspec.Struct, frozen=True, gc=False):
    """The artifact's digest, and how it was decoded; ``decoding`` is null when nothing was decoded."""

    sha256: str
    decoding: dict[str, Any] | None


class AdapterRecord(msgspec.Struct, frozen=True, gc=False):
    """What stood behind the answer; ``version`` and ``rule`` are null when the adapter could not be loaded."""

    name: str
    version: str | None
    rule: str | None
    options: dict[str, Any]
    source_sha256: str | None
    weights: tuple[Weights, ...]

    @classmethod
    def of(cls, adapter: PooledAdapter, description: AdapterDescription | None) -> AdapterRecord:
        """Say what stands behind the answers of an instance.

        Args:
            adapter: The instance.
            description: What it says of itself; ``None`` if it could not be loaded.
        """
        return cls(
            name=adapter.name,
            version=description.version if description else None,
            rule=description.rule if description else None,
            options=adapter.values,
            source_sha256=adapter.source_sha256,
            weights=description.weights if description else (),
        )


class CodeRecord(msgspec.Struct, frozen=True, gc=False):
    """Which code ran: the project's commit, whether tracked files were changed, a digest of this package's sources."""

    project_commit: str | None
    dirty: bool | None
    kernel_sha256: str


class DetectionRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A ``Detection`` with its cost.

    Attributes:
        adapter_elapsed_ms: Wall time of the adapter's call alone, loading included when the call was cold; null when the
            adapter was not called.
        call: ``cold`` for the first call of an instance, ``warm`` for later ones, null when there was none.
        load_ms: How much of a cold call was loading.
    """

    status: str
    adapter_elapsed_ms: float | None
    call: Literal["cold", "warm"] | None
    load_ms: float | None = None
    score: float | None = None
    label: str | None = None
    message_bit_accuracy: float | None = None
    reason: str | None = None
    temporal: dict[str, Any] | None = None
    scorer: dict[str, Any] | None = None

    @classmethod
    def of(
        cls,
        detection: Detection,
        *,
        adapter_elapsed_ms: float | None = None,
        call: Literal["cold", "warm"] | None = None,
        load_ms: float | None = None,
    ) -> DetectionRecord:
        """Join an adapter's answer with what it cost."""
        return cls(adapter_elapsed_ms=adapter_elapsed_ms, call=call, load_ms=load_ms, **msgspec.structs.asdict(detection))


class BatchRecord(msgspec.Struct, frozen=True):
    """The batch in which the answer came: number of samples and wall time of the whole call."""

    size: int
    elapsed_ms: float


class ErrorRecord(msgspec.Struct, frozen=True):
    """Why there is no verdict: the error's class and one line."""

    type: str
    message: str


class NetworkRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the Python code of the row's process could reach.

    Attributes:
        mode: As ``--bench-network`` says.
        refused: Connections and look-ups that were refused while the row ran. A detector that goes on without them may have
            answered otherwise than it would have.
        refused_loading: Those that were refused while the instance was loaded that answered: they bear on all its rows.
    """

    mode: Literal["deny", "loopback", "allow"]
    refused: int = 0
    refused_loading: int = 0


class RemovalRecord(msgspec.Struct, frozen=True, gc=False):
    """What a removed-state artifact still showed to this one detector. It never certifies erasure."""

    outcome: Literal["no_signal", "signal_remained", "unknown"]
    certifies_erasure: Literal[False] = False

    @classmethod
    def of(cls, status: str) -> RemovalRecord:
        """Read the status of a removed-state row."""
        outcomes: dict[str, Literal["no_signal", "signal_remained"]] = {
            "not_detected": "no_signal",
            "detected": "signal_remained",
        }
        return cls(outcomes.get(status, "unknown"))


class FidelityRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How the decoded artifact compares with its decoded reference; says nothing about an invisible mark.

    Attributes:
        status: ``measured``, ``no_reference``, ``incomparable`` or ``error``.
        reason: Why not ``measured``.
        mae: Mean absolute error in 8-bit steps, 0 to 255.
        changed_fraction: Share of pixel positions in which any channel differs, 0 to 1.
        psnr_db: Peak signal-to-noise ratio; absent together with ``psnr_status`` ``unbounded_identical``.
    """

    status: FidelityStatus
    reason: str | None = None
    mae: float | None = None
    changed_fraction: float | None = None
    psnr_db: float | msgspec.UnsetType | None = msgspec.UNSET
    psnr_status: str | None = None
    snr_db: float | msgspec.UnsetType | None = msgspec.UNSET
    snr_status: str | None = None
    mean_psnr_db: float | msgspec.UnsetType | None = msgspec.UNSET
    mean_psnr_status: str | None = None
    changed_frame_fraction: float | None = None


class EvidenceRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One observation as ``evidence.jsonl`` keeps it."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run_id: str
    kind: str
    key: EvidenceKey
    manifest: ManifestReference
    case: dict[str, Any]
    row_sha256: str
    artifact: ArtifactRecord
    adapter: AdapterRecord
    code: CodeRecord
    detection: DetectionRecord
    batch: BatchRecord | msgspec.UnsetType = msgspec.UNSET
    error: ErrorRecord | msgspec.UnsetType = msgspec.UNSET
    network: NetworkRecord | msgspec.UnsetType = msgspec.UNSET
    removal: RemovalRecord | None
    fidelity: FidelityRecord
    outcome: Outcome
    worker: str | None


def judge(status: str, expected: Expected | None, *, known_mismatch: bool = False) -> Outcome:
    """Give the outcome of a detector's status under a row's expectation.

    Args:
        status: ``detection.status``.
        expected: What the row expects; ``None`` for a kind without expectations.
        known_mismatch: The row is listed as a known wrong answer.

    Returns:
        ``unavailable`` and ``error`` for a status that is no verdict, whatever was expected; ``measured`` where nothing is
        asserted; else ``match``, ``mismatch`` or ``known_mismatch``. A ``scored`` answer cannot meet an asserted verdict
        and is an ``error`` there: a score without a rule decides nothing.
    """
    if status == "unavailable":
        return "unavailable"
    if status not in VERDICTS:
        return "error"
    if expected is None or expected == "unresolved":
        return "measured"
    if status == "scored":
        return "error"
    if status == expected:
        return "match"
    return "known_mismatch" if known_mismatch else "mismatch"
