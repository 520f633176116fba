"""The rows of golden sets in a report: its part ``golden_sets``, and ``benchmark.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.same_detector import DetectorsSeen
from pytest_benchbench.reports.benchmark_document import benchmark_document
from pytest_benchbench.reports.detector_benchmark import DetectorBenchmark, SplitResults
from pytest_benchbench.reports.detector_reckoning import calls_of
from pytest_benchbench.reports.detector_tally import GoldenSetRows
from pytest_benchbench.reports.split_results import NOTHING_MORE, Asked, split_results


class GoldenSets:
    """Takes every row of a report and keeps those of golden sets.

    Args:
        asked: What is reckoned only where somebody asks for it.
    """

    def __init__(self, asked: Asked = NOTHING_MORE) -> None:
        self._asked = asked
        self._rows = GoldenSetRows()
        self._seen = DetectorsSeen()
        self._reckoned: list[SplitResults] = []

    @property
    def run(self) -> int | None:
        """The number of the run that the next rows are of; ``None`` in a report about one."""
        return self._rows.run

    @run.setter
    def run(self, number: int) -> None:
        self._rows.run = number

    def add(self, settled: SettledRow) -> None:
        """Take the next row; one of another kind is passed over.

        Raises:
            EvidenceError: It contradicts itself or an earlier one.
        """
        self._rows.add(settled)
        if self._asked.tune is not None:
            self._seen.add(settled)

    def results(self, manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Give the part ``golden_sets`` of the results; nothing where no row is of a golden set.

        Args:
            manifests: What the runs say of their manifests.

        Raises:
            UnknownPairError: A detector of a declared pair is not there.
            TuneRunError: The tune run is about something else.
        """
        self._reckoned = split_results(self._rows.splits(), manifests, self._asked, self._seen)
        return {"golden_sets": _plain(self._reckoned)} if self._reckoned else {}

    def timing(self) -> dict[str, Any]:
        """Give the part ``detector_timing``: for each of ``results`` what the calls of its detectors took, by alias."""
        timed = [
            {
                "golden_set": found.sha256,
                **({} if found.run is None else {"run": found.run}),
                "detectors": {
                    alias: _plain(calls_of(answered.calls, answered.untimed)) for alias, answered in found.by_alias().items()
                },
            }
            for found in self._rows.splits()
        ]
        return {"detector_timing": timed} if timed else {}

    def benchmark(self, run: Mapping[str, Any], evidence_sha256: str, lacks: Sequence[str]) -> DetectorBenchmark | None:
        """Give ``benchmark.json`` of the rows that ``results`` was last asked about.

        Args:
            run: The content of ``run.json``; empty where there is none.
            evidence_sha256: Of the evidence.
            lacks: What the run lacks to be complete; see ``lacks_of``.

        Returns:
            ``None`` unless the rows are of one run, and of one golden set.
        """
        if self.run is not None or len(self._reckoned) != 1:
            return None
        return benchmark_document(self._reckoned[0], self._rows.splits()[0], run, evidence_sha256, lacks)


def _plain(value: Any) -> Any:
    """Give structs as JSON has them: tuples as lists."""
    return msgspec.json.decode(msgspec.json.encode(value))
