"""Run one adapter on one case: verify, decode, ask, time, compare, judge. Knows nothing of pytest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pytest_benchbench.adapters.base import (
    VERDICTS,
    AdapterDescription,
    AdapterUnavailable,
    BatchAdapter,
    Detection,
    DetectionError,
    Sample,
)
from pytest_benchbench.adapters.metering import BudgetExceeded, NotAsked
from pytest_benchbench.adapters.pool import AdapterLoadError, PooledAdapter
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.artifacts.media import DecodedMedia, UndecodableArtifactError
from pytest_benchbench.artifacts.text import decode_text
from pytest_benchbench.artifacts.verification import (
    ArtifactMismatchError,
    ArtifactPathError,
    ArtifactUnreadableError,
    resolve_artifact,
)
from pytest_benchbench.evidence.answers import check_score, plain_answer
from pytest_benchbench.evidence.call_clock import CallClock
from pytest_benchbench.evidence.foreign_text import one_line, traceback_text
from pytest_benchbench.evidence.observation import (
    AdapterRecord,
    ArtifactRecord,
    BatchRecord,
    DetectionRecord,
    ErrorRecord,
    Expected,
    FidelityRecord,
    Mismatch,
    Outcome,
    RemovalRecord,
    judge,
)
from pytest_benchbench.evidence.question import PinnedFile as PinnedFile, PinnedText as PinnedText, Question as Question
from pytest_benchbench.evidence.withheld_text import WithheldTexts

ARTIFACT_ERRORS = (ArtifactPathError, ArtifactUnreadableError, ArtifactMismatchError, UndecodableArtifactError)


@dataclass(frozen=True, slots=True)
class Observation:
    """The answer to a question, with what it cost and how it was judged.

    Attributes:
        detection: What the adapter answered, with timing.
        artifact: Digest and decoding of what it was shown.
        adapter: What stood behind the answer.
        fidelity: How the artifact compares with its reference.
        removal: For a removed-state case, what this detector still recognised.
        outcome: The judgement.
        expected: What the case asserts.
        error: Why there is no verdict.
        batch: The batch in which the answer came.
        traceback: Where a foreign exception was raised, for people; not part of the evidence.
    """

    detection: DetectionRecord
    artifact: ArtifactRecord
    adapter: AdapterRecord
    fidelity: FidelityRecord
    removal: RemovalRecord | None
    outcome: Outcome
    expected: Expected | None
    error: ErrorRecord | None = None
    batch: BatchRecord | None = None
    traceback: str | None = None

    def check(self) -> None:
        """Assert that the answer is the expected one; a case that asserts nothing passes.

        Raises:
            Mismatch: The adapter answered otherwise.
            ObservationError: There is no verdict to hold against the expectation.
        """
        __tracebackhide__ = True
        if self.outcome in {"mismatch", "known_mismatch"}:
            raise Mismatch(self.verdict_line())
        if self.outcome not in {"match", "measured"}:
            raise ObservationError(self)

    def verdict_line(self) -> str:
        """Say in one line what was expected and what was observed."""
        reason = f" ({self.detection.reason})" if self.detection.reason else ""
        return f"expected {self.expected or 'unresolved'}, observed {self.detection.status}{reason}"


class ObservationError(Exception):
    """There is no verdict: the artifact is bad, the adapter failed or is unavailable.

    Args:
        observation: What is known.
    """

    def __init__(self, observation: Observation) -> None:
        error = observation.error
        said = f"{error.type}: {error.message}" if error else (observation.detection.reason or "no verdict")
        super().__init__(f"{observation.outcome}: {said}")
        self.observation = observation


@dataclass(frozen=True, slots=True)
class _Shown:
    """A question whose artifact was verified and decoded, or why that failed."""

    question: Question
    sample: Sample | None
    artifact: ArtifactRecord
    failure: Exception | None = None
    path: str | None = None


def observe(question: Question, adapter: PooledAdapter, artifacts: ArtifactLoader) -> Observation:
    """Ask a warm or fresh adapter about one case.

    Loading the adapter and decoding the artifact are finished before the call's clock starts. The frames of a video that an
    adapter streams are decoded during the call, and the clock stands still meanwhile. No exception of the adapter,
    of a decoder or of the file system leaves this function: each becomes an observation without a verdict.

    Args:
        question: The case.
        adapter: The adapter to ask; loaded here if it is not.
        artifacts: Where verified and decoded artifacts come from.

    Returns:
        The observation; ``unavailable`` and ``error`` are outcomes of their own, never ``not_detected``.
    """
    return observe_batch([question], adapter, artifacts)[0]


def observe_batch(questions: Sequence[Question], adapter: PooledAdapter, artifacts: ArtifactLoader) -> list[Observation]:
    """Ask about several cases: one call of a ``BatchAdapter``, one call for each case of any other adapter.

    A case whose artifact cannot be shown takes no part in the call. An exception of the whole call is the error of each case
    that took part.

    Returns:
        One observation for each question, in their order.
    """
    observations = _observe_together(questions, adapter, artifacts)
    texts = [question.artifact.text for question in questions if isinstance(question.artifact, PinnedText)]
    if not texts:
        return observations
    withheld = WithheldTexts(texts)  # of all: what is said about one of a batch may quote another
    return [_without(withheld, observation) for observation in observations]


def _without(withheld: WithheldTexts, observation: Observation) -> Observation:
    """Take quotations of texts out of what an adapter answered, and out of its failures."""
    error, where = observation.error, observation.traceback
    return replace(
        observation,
        detection=withheld.hide_in_answer(observation.detection),
        error=None if error is None else ErrorRecord(withheld.hide(error.type), withheld.hide(error.message)),
        traceback=None if where is None else withheld.hide(where),
    )


def _observe_together(questions: Sequence[Question], adapter: PooledAdapter, artifacts: ArtifactLoader) -> list[Observation]:
    try:
        description = adapter.load()
    except AdapterUnavailable as error:
        answer = Detection("unavailable", reason=one_line(error))
        return [_observation(_unseen(q), adapter, None, artifacts, DetectionRecord.of(answer)) for q in questions]
    except AdapterLoadError as error:
        return [
            _failed(_unseen(q), adapter, None, artifacts, error, DetectionRecord("error", None, None)) for q in questions
        ]
    shown = [_show(question, adapter, artifacts) for question in questions]
    if isinstance(adapter.adapter, BatchAdapter):
        return _ask_together(shown, adapter, description, artifacts)
    return [_ask(one, adapter, description, artifacts) for one in shown]


def _ask(shown: _Shown, adapter: PooledAdapter, description: AdapterDescription, artifacts: ArtifactLoader) -> Observation:
    if shown.sample is None:
        return _failed(shown, adapter, description, artifacts, shown.failure, DetectionRecord("error", None, None))
    call, load_ms = _begin_call(adapter)
    clock = CallClock([shown.sample])
    try:
        answer: object = adapter.adapter.detect(shown.sample)
    except Exception as error:
        answer = error
    elapsed = clock.elapsed_ms() + (load_ms or 0.0)
    return _answered(shown, adapter, description, artifacts, answer, elapsed, call, load_ms)


def _ask_together(
    shown: Sequence[_Shown], adapter: PooledAdapter, description: AdapterDescription, artifacts: ArtifactLoader
) -> list[Observation]:
    taking_part = [one for one in shown if one.sample is not None]
    if not taking_part:
        return [_ask(one, adapter, description, artifacts) for one in shown]
    call, load_ms = _begin_call(adapter)
    clock = CallClock([one.sample for one in taking_part])
    try:
        answers: list[object] = list(adapter.adapter.detect_batch([one.sample for one in taking_part]))  # type: ignore[attr-defined]
        if len(answers) != len(taking_part):
            raise ValueError(f"detect_batch gave {len(answers)} answers about {len(taking_part)} samples")
    except Exception as error:
        answers = [error] * len(taking_part)
    elapsed = clock.elapsed_ms() + (load_ms or 0.0)
    batch = BatchRecord(len(taking_part), elapsed)
    own_elapsed = elapsed if len(taking_part) == 1 else None  # a shared call is no row's own time
    remaining = iter(answers)
    observations = []
    for one in shown:
        if one.sample is None:
            observations.append(_ask(one, adapter, description, artifacts))
        else:
            observation = _answered(
                one, adapter, description, artifacts, next(remaining), own_elapsed, call, load_ms if own_elapsed else None
            )
            observations.append(replace(observation, batch=batch))
    return observations


def _begin_call(adapter: PooledAdapter) -> tuple[Literal["cold", "warm"], float | None]:
    adapter.calls += 1
    return ("cold", adapter.load_ms) if adapter.calls == 1 else ("warm", None)


def _show(question: Question, adapter: PooledAdapter, artifacts: ArtifactLoader) -> _Shown:
    if isinstance(question.artifact, PinnedText):
        return _show_text(question, question.artifact, adapter)
    try:
        path = resolve_artifact(question.artifact.path, base=question.base, roots=question.roots)
        needs = adapter.adapter.needs
        decode, whole = needs != "bytes", needs == "decoded"
        artifact = artifacts.load(path, question.artifact.sha256, question.media_type, decode=decode, whole=whole)
    except ARTIFACT_ERRORS as error:
        return _Shown(question, None, ArtifactRecord(question.artifact.sha256, None), error)
    decoded = artifact.decoded if decode else None
    sample = Sample(question.media_type, question.artifact.sha256, artifact.data, decoded)
    record = ArtifactRecord(question.artifact.sha256, decoded.decoding if decoded else None)
    return _Shown(question, sample, record, path=path)


def _show_text(question: Question, pinned: PinnedText, adapter: PooledAdapter) -> _Shown:
    """Show a text of the manifest as one from a file is shown: bytes that are verified, and decoded where that is needed."""
    data = pinned.text.encode()
    found = hashlib.sha256(data).hexdigest()
    if found != pinned.sha256:
        error = ArtifactMismatchError(f"the text has the SHA-256 {found}, pinned is {pinned.sha256}")
        return _Shown(question, None, ArtifactRecord(pinned.sha256, None), error)
    decoded = None if adapter.adapter.needs == "bytes" else decode_text(data)
    sample = Sample(question.media_type, pinned.sha256, data, decoded)
    return _Shown(question, sample, ArtifactRecord(pinned.sha256, decoded.decoding if decoded else None))


def _unseen(question: Question) -> _Shown:
    return _Shown(question, None, ArtifactRecord(question.artifact.sha256, None))


def _answered(
    shown: _Shown,
    adapter: PooledAdapter,
    description: AdapterDescription,
    artifacts: ArtifactLoader,
    answer: object,
    elapsed: float | None,
    call: Literal["cold", "warm"],
    load_ms: float | None,
) -> Observation:
    """Turn whatever the adapter returned or raised into an observation."""
    if isinstance(answer, AdapterUnavailable):
        missing = Detection("unavailable", reason=one_line(answer))
        return _observation(shown, adapter, description, artifacts, DetectionRecord.of(missing))
    if isinstance(answer, (NotAsked, BudgetExceeded)):
        not_asked = _failed(shown, adapter, description, artifacts, answer, DetectionRecord("error", None, None))
        return replace(not_asked, outcome="not_run", traceback=None)
    no_answer = DetectionRecord("error", elapsed, call, load_ms)
    if isinstance(answer, (Exception, DetectionError)):
        return _failed(shown, adapter, description, artifacts, answer, no_answer)
    try:
        detection = plain_answer(answer)
        if shown.question.scale is not None:
            check_score(detection, shown.question.scale)
    except Exception as error:  # of a foreign object that is looked at
        return _failed(shown, adapter, description, artifacts, error, no_answer)
    record = DetectionRecord.of(detection, adapter_elapsed_ms=elapsed, call=call, load_ms=load_ms)
    return _observation(shown, adapter, description, artifacts, record)


def _failed(
    shown: _Shown,
    adapter: PooledAdapter,
    description: AdapterDescription | None,
    artifacts: ArtifactLoader,
    error: Exception | DetectionError | None,
    detection: DetectionRecord,
) -> Observation:
    where = None
    if isinstance(error, DetectionError):
        record = ErrorRecord(one_line(error.type), one_line(error.message))
    elif isinstance(error, AdapterLoadError):
        record = ErrorRecord(one_line(error.cause_type), one_line(error.message))
        where = traceback_text(error.__cause__) if error.__cause__ else None
    else:
        record = ErrorRecord(one_line(type(error).__name__), one_line(error))
        where = None if error is None or isinstance(error, ARTIFACT_ERRORS) else traceback_text(error)
    observation = _observation(shown, adapter, description, artifacts, detection)
    return replace(observation, error=record, traceback=where)


def _observation(
    shown: _Shown,
    adapter: PooledAdapter,
    description: AdapterDescription | None,
    artifacts: ArtifactLoader,
    detection: DetectionRecord,
) -> Observation:
    question = shown.question
    outcome = judge(detection.status, question.expected, known_mismatch=question.known_mismatch)
    error = None
    if outcome == "error" and detection.status in VERDICTS:
        error = ErrorRecord(
            "NoVerdict", f"the adapter answered {detection.status!r}, which cannot meet {question.expected!r}"
        )
    elif outcome == "error":
        error = ErrorRecord(detection.status, detection.reason or "the adapter gave no verdict")
    return Observation(
        detection=detection,
        artifact=shown.artifact,
        adapter=AdapterRecord.of(adapter, description),
        fidelity=_fidelity(question, shown.path, artifacts),
        removal=RemovalRecord.of(detection.status) if question.removed else None,
        outcome=outcome,
        expected=question.expected,
        error=error,
    )


def _fidelity(question: Question, path: str | None, artifacts: ArtifactLoader) -> FidelityRecord:
    """Compare the artifact with its reference; another question than detection, answered whatever the adapter said."""
    if question.reference is None or not isinstance(question.artifact, PinnedFile):
        return FidelityRecord("no_reference")

    from pytest_benchbench.evidence.comparing import compare

    def decoded(file: PinnedFile, path: str) -> DecodedMedia | None:
        return artifacts.load(path, file.sha256, question.media_type, decode=True).decoded

    def resolved(file: PinnedFile) -> str:
        return resolve_artifact(file.path, base=question.base, roots=question.roots)

    try:
        artifact = decoded(question.artifact, path or resolved(question.artifact))
        reference = decoded(question.reference, resolved(question.reference))
        return compare(artifact, reference)
    except ARTIFACT_ERRORS as error:
        return FidelityRecord("error", reason=one_line(error))
