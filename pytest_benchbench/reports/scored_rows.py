"""The labelled rows of a report: those of a dataset, whose scorers are held against the labels."""

from __future__ import annotations

from typing import Any, NamedTuple

from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.recorded_scores import KIND, ScoreProblemError, score_row
from pytest_benchbench.evidence.score_columns import ScoreColumns
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.reports.evaluation import IDENTITY, evaluate
from pytest_benchbench.reports.ordering import sort_key
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD


class _Key(NamedTuple):
    """What is never counted together. Several runs ask about the same rows, which must not count as several."""

    suite: str
    params: str | None
    adapter: str
    run: int | None


class _Collected:
    """Rows of one key.

    Attributes:
        columns: Those that have a score, or a status that says why not.
        strangers: How many are no score rows.
        stranger: Case id and fault of the one with the smallest id.
    """

    def __init__(self) -> None:
        self.columns = ScoreColumns("")
        self.strangers = 0
        self.stranger: tuple[str, str] | None = None

    def add(self, settled: SettledRow) -> None:
        try:
            self.columns.add(score_row(settled))
        except ScoreProblemError as error:
            name, message = error.problems[0]
            found = settled.row.key.case_id, f"{name}: {message}"
            self.strangers += 1
            self.stranger = found if self.stranger is None else min(self.stranger, found)


class ScoredRows:
    """Takes every row of a report and keeps those of datasets.

    Attributes:
        run: The number of the run that the next rows are of; ``None`` in a report about one.
    """

    def __init__(self) -> None:
        self.run: int | None = None
        self._collected: dict[_Key, _Collected] = {}

    def add(self, settled: SettledRow) -> None:
        """Take the next row; one of another kind is passed over."""
        row = settled.row
        if row.kind != KIND:
            return
        key = _Key(row.key.suite, row.key.params, row.key.adapter, self.run)
        if (collected := self._collected.get(key)) is None:
            collected = self._collected[key] = _Collected()
        collected.add(settled)

    def results(self) -> dict[str, Any]:
        """Give the part ``evaluation`` of the results; nothing where no row is of a dataset.

        Its ``series`` are those of ``evaluation.evaluate``, with suite and parameters, and the run where there are several.
        A series with a row that is no score row has no figures: a verdict is no score.
        """
        if not self._collected:
            return {}
        series = []
        for key in sorted(self._collected, key=lambda key: (*sort_key(key[:3]), key.run or 0)):
            of_run = {} if key.run is None else {"run": key.run}
            for line in _lines(key.adapter, self._collected[key]):
                series.append({"suite": key.suite, "params": key.params, **of_run, **line})
        return {"evaluation": {"threshold": RELEASE_THRESHOLD, "series": series}}


def _lines(adapter: str, collected: _Collected) -> list[dict[str, Any]]:
    lines = evaluate(collected.columns)
    if collected.stranger is None:
        return lines
    case_id, fault = collected.stranger
    rows = "1 row is no score row" if collected.strangers == 1 else f"{collected.strangers} rows are no score rows"
    refused = {"refused": f"{rows}, such as row {shown(case_id)} ({fault})", "scores": {}}
    lines = lines or [
        {
            "adapter": adapter,
            "split": None,
            "rows": 0,
            "statuses": {},
            "identity": {name: [] for name in (*IDENTITY, "evaluationMode", "provider")},
            "required": [],
            "absent": None,
        }
    ]
    return [{**line, **refused} for line in lines]
