"""How long deployed scorers took, and what became of their rows: the content of ``summary.json``."""
# ruff: noqa: N815 - the names are the contract's

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.recorded_scores import status_of
from pytest_benchbench.manifests.faults import schema_fault_parts, shown
from pytest_benchbench.reports.listings import identity_of, order_of
from pytest_benchbench.reports.ordering import Listing, sort_key
from pytest_benchbench.statistics.latency import Latency

SCHEMA_VERSION: Final = 1

SUMMARY: Final = "summary.json"
"""The name of the file."""

TIMES: Final = {"wall_ms": "wallMs", "pipeline_ms": "pipelineMs", "inference_ms": "inferenceMs"}
"""The times that are summed up, and what the scorer calls them."""

GROUPS: Final = ("uncached", "cached", "cache_unknown", "metadata")
"""What scored rows are told apart by, the first case of a browser process apart."""

_Milliseconds = Annotated[float, msgspec.Meta(ge=0)]


class _Device(msgspec.Struct, frozen=True):
    """On what an execution provider computed."""

    vendor: str | None = None
    architecture: str | None = None
    isFallbackAdapter: bool | None = None


class _Answer(msgspec.Struct, frozen=True, gc=False):
    """What of ``detection.scorer`` the summary looks at; what a scorer does not expose is ``None``."""

    evaluationMode: Literal["deployed"]
    wallMs: _Milliseconds | None = None
    pipelineMs: _Milliseconds | None = None
    inferenceMs: _Milliseconds | None = None
    first: bool | None = None
    profile: Literal["fresh", "warm"] | None = None
    decidedBy: Literal["pixels", "metadata"] | None = None
    cacheStatus: Literal["hit", "miss"] | None = None
    provider: str | None = None
    providerDetail: _Device | None = None

    def times(self) -> Iterable[tuple[str, float | None]]:
        """Give each of ``TIMES`` with what it was, in milliseconds."""
        return ((name, getattr(self, field)) for name, field in TIMES.items())

    def group(self) -> str:
        """Say which of ``GROUPS`` a row is of that is no first case."""
        if self.decidedBy == "metadata":
            return "metadata"
        return {"miss": "uncached", "hit": "cached", None: "cache_unknown"}[self.cacheStatus]


class _Key(NamedTuple):
    """What is never counted together."""

    suite: str
    params: str | None
    adapter: str
    run: int


_Provider = tuple[str | None, _Device]


class _Collected:
    """Rows of one key. Memory: 24 bytes a scored row.

    Attributes:
        is_deployed: Whether some row says so.
    """

    def __init__(self) -> None:
        self.is_deployed = False
        self._statuses: Counter[str] = Counter()
        self._providers: Counter[_Provider] = Counter()
        self._first = Listing()
        self._rows: Counter[str] = Counter()
        self._times: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
        self._strangers = 0
        self._stranger: tuple[str, str] | None = None

    def add(self, settled: SettledRow) -> None:
        status = status_of(settled)
        self._statuses[status] += 1
        scorer = settled.row.detection.scorer
        if scorer is not None and scorer.get("evaluationMode") == "deployed":
            self.is_deployed = True
        if status == "scored":
            try:
                answer = msgspec.convert(scorer or {}, _Answer)
            except (msgspec.ValidationError, OverflowError) as error:
                self._refuse(settled.row.key.case_id, error)
            else:
                self._take(settled, answer)

    def _refuse(self, case_id: str, error: Exception) -> None:
        self._strangers += 1
        if self._stranger is None or case_id < self._stranger[0]:
            field, reason = schema_fault_parts(error)
            self._stranger = case_id, f"{'.'.join(part for part in ('detection.scorer', field) if part)}: {reason}"

    def _take(self, settled: SettledRow, answer: _Answer) -> None:
        self._providers[answer.provider, answer.providerDetail or _Device()] += 1
        if answer.first and answer.decidedBy != "metadata":
            told = identity_of(settled.row)
            entry = {
                **{name: told[name] for name in ("case_id", "manifest", "line", "pointer")},
                "profile": answer.profile,
                "cache_status": answer.cacheStatus,
                "model_cold": answer.profile == "fresh" and answer.cacheStatus != "hit",
                **dict(answer.times()),
            }
            self._first.add(order_of(settled.row), entry)
            return
        group = answer.group()
        self._rows[group] += 1
        for name, value in answer.times():
            if value is not None:
                self._times[group, name].append(value)

    def document(self) -> dict[str, Any]:
        """Give what the rows come to; without figures where one of them is no answer of a deployed scorer."""
        counted = {"rows": self._statuses.total(), "statuses": dict(sorted(self._statuses.items()))}
        if self._stranger is not None:
            case_id, fault = self._stranger
            rows = "1 row is" if self._strangers == 1 else f"{self._strangers} rows are"
            refused = f"{rows} not as a deployed scorer reports, such as row {shown(case_id)} ({fault})"
            return {**counted, "refused": refused, "providers": [], "first": Listing().document(), "later": {}}
        return {
            **counted,
            "refused": None,
            "providers": [
                {
                    "provider": provider,
                    "vendor": device.vendor,
                    "architecture": device.architecture,
                    "is_fallback_adapter": device.isFallbackAdapter,
                    "rows": self._providers[provider, device],
                }
                for provider, device in sorted(self._providers, key=_order_of_provider)
            ],
            "first": self._first.document(),
            "later": {
                group: {"rows": self._rows[group], **{name: _percentiles(self._times[group, name]) for name in TIMES}}
                for group in GROUPS
            },
        }


def _order_of_provider(provider: _Provider) -> tuple[Any, ...]:
    name, device = provider
    fallback = device.isFallbackAdapter
    return sort_key((name, device.vendor, device.architecture, None if fallback is None else str(fallback)))


def _percentiles(milliseconds: array[float]) -> dict[str, Any] | None:
    latency = Latency.of(milliseconds)
    if latency is None:
        return None
    return {"n": latency.n, "p50_ms": latency.p50_ms, "p95_ms": latency.p95_ms, "max_ms": latency.max_ms}


class DeployedSummary:
    """Takes every settled row and keeps what those of deployed scorers took.

    Attributes:
        run: The number of the run that the next rows are of, from 1.
    """

    def __init__(self) -> None:
        self.run = 1
        self._collected: dict[tuple[str, str | None, str, int], _Collected] = {}

    def begin_run(self, number: int) -> None:
        """Say that the rows to come are those of another run; needed only where there are several.

        Args:
            number: Of the run, ascending from 1.
        """
        self.run = number

    def add(self, settled: SettledRow) -> None:
        """Take the next row.

        Raises:
            EvidenceError: Its outcome rests on a verdict, and there is none.
        """
        told = settled.row.key
        key = told.suite, told.params, told.adapter, self.run  # a plain tuple: every row of every run comes by
        if (collected := self._collected.get(key)) is None:
            collected = self._collected[key] = _Collected()
        collected.add(settled)

    def document(self, *evidence: tuple[str, str]) -> dict[str, Any] | None:
        """Give the content of ``summary.json``; ``None`` where no row is of a deployed scorer.

        Args:
            evidence: Name and SHA-256 of the file of each run.

        Returns:
            A JSON document. Under ``results.series`` stands a line for each suite, its parameter, adapter (its alias), and
            run where there are several, of which some row says ``evaluationMode: deployed``:

            * ``rows``, and ``statuses``: how many rows ended how, terminal ones included. Only those that were scored are
              in what follows.
            * ``providers``: on what they were computed.
            * ``first``: the first case of each browser process that was decided by its pixels, one by one. It loaded the
              model where ``model_cold`` is true: in a fresh profile, and not from a cache.
            * ``later``: for the ``GROUPS`` of other rows how many ``rows`` there are and percentiles of ``TIMES`` in
              milliseconds, by nearest rank, over the ``n`` rows that have the time; null where none has.
            * ``refused``: why there are no figures, where a row says what no deployed scorer says; else null.

            ``results`` depends on the settled rows alone, not on their order.
        """
        found = {_Key(*key): collected for key, collected in self._collected.items() if collected.is_deployed}
        if not found:
            return None
        are_several = len(evidence) > 1
        files = [{"name": name, "sha256": sha256} for name, sha256 in evidence]
        series = [
            {
                "suite": key.suite,
                "params": key.params,
                "adapter": key.adapter,
                **({"run": key.run} if are_several else {}),
                **found[key].document(),
            }
            for key in sorted(found, key=lambda key: (*sort_key(key[:3]), key.run))
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            "type": "deployed-summary",
            "results": {"series": series},
            "inputs": {"evidence": files if are_several else files[0]},
        }
