"""From a case item to its observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_benchbench.adapters.base import BatchAdapter
from pytest_benchbench.adapters.pool import PooledAdapter
from pytest_benchbench.evidence.answers import AI_LIKELIHOOD, PROBABILITY
from pytest_benchbench.evidence.observing import Observation, PinnedFile, PinnedText, Question, observe, observe_batch
from pytest_benchbench.manifests import golden_set
from pytest_benchbench.manifests.dataset import MEDIA_TYPE, DatasetCase
from pytest_benchbench.manifests.golden_set import GoldenSample
from pytest_benchbench.session.network import GUARD
from pytest_benchbench.session.node_names import CaseNode
from pytest_benchbench.session.row_timeout import TIMER, RowTimeout

if TYPE_CHECKING:
    from pytest_benchbench.manifests.reading import Manifest
    from pytest_benchbench.manifests.watermark import WatermarkCase
    from pytest_benchbench.session.collection import CaseItem
    from pytest_benchbench.session.planning import Plan


def question_of(
    case: WatermarkCase | DatasetCase | GoldenSample, manifest: Manifest, plan: Plan, node: CaseNode
) -> Question:
    """Say what is asked about a row: its files, and what it asserts once known mismatches are taken into account.

    A row of a dataset or a sample of a golden set asserts nothing, and nothing of it but the image or the text is part of
    the question: not its label either.
    """
    if isinstance(case, GoldenSample):
        return Question(
            media_type=golden_set.MEDIA_TYPE,
            artifact=PinnedText(case.text, case.sha256),
            reference=None,
            base=manifest.directory,
            scale=AI_LIKELIHOOD,
        )
    if isinstance(case, DatasetCase):
        assert case.path is not None  # a plan has no row without one
        return Question(
            media_type=MEDIA_TYPE,
            artifact=PinnedFile(case.path, case.sha256),
            reference=None,
            base=manifest.directory,
            roots=plan.settings.artifact_roots,
            scale=PROBABILITY,
        )
    known = plan.expectations.find(node)
    reference = None
    if case.reference_path is not None and case.reference_sha256 is not None:
        reference = PinnedFile(case.reference_path, case.reference_sha256)
    return Question(
        media_type=case.media_type,
        artifact=PinnedFile(case.path, case.sha256),
        reference=reference,
        base=manifest.directory,
        roots=plan.settings.artifact_roots,
        removed=case.state == "removed",
        expected=known.expected if known else case.expected,
        known_mismatch=known is not None,
    )


def ask(item: CaseItem, adapter: PooledAdapter) -> Observation:
    """Observe an item's case. A batch adapter is asked about the next rows of its group in the same call."""
    group = item.group
    if adapter is item.cold:
        return observe(item.question(), adapter, item.plan.artifacts)
    if (answered := group.answers.pop(item, None)) is not None:
        return answered
    item.refused_earlier = 0
    try:
        load(item, adapter)
    except Exception:
        return observe(item.question(), adapter, item.plan.artifacts)  # which says why
    if not isinstance(adapter.adapter, BatchAdapter):
        return observe(item.question(), adapter, item.plan.artifacts)
    wave = group.next_wave(item, adapter.adapter.batch_size)
    if len(wave) == 1:
        return observe(item.question(), adapter, item.plan.artifacts)
    try:
        return _ask_wave(wave, adapter)
    except RowTimeout:  # which of its rows is at fault, nobody knows: each is asked alone, in a time of its own
        item.config.stash[TIMER].restart()
        item.plan.pool.drop(group.name)
    return ask(item, item.plan.pool.warm(group.name))


def _ask_wave(wave: list[CaseItem], adapter: PooledAdapter) -> Observation:
    """Ask about several rows of a group at once, keep the answers of the later ones, and give that of the first."""
    item, group = wave[0], wave[0].group
    if (timer := item.config.stash.get(TIMER, None)) is not None:
        timer.restart(rows=len(wave))
    guard = item.config.stash[GUARD]
    refused = guard.refused
    questions = [member.question() for member in wave]
    item.private_texts.update(*(member.private_texts for member in wave))  # what it prints may quote any of them
    observations = observe_batch(questions, adapter, item.plan.artifacts)
    for member, observation in zip(wave[1:], observations[1:], strict=True):
        member.refused_earlier = guard.refused - refused
        group.answers[member] = observation
    return observations[0]


def load(item: CaseItem, adapter: PooledAdapter) -> None:
    """Load an adapter for an item, if it is not, and count what the network guard refuses to it meanwhile.

    Raises:
        AdapterUnavailable, AdapterLoadError: As ``PooledAdapter.load``.
    """
    with item.config.stash[GUARD].loading(adapter):
        adapter.load()
