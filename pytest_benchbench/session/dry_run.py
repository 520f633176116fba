"""``--bench-dry-run``: everything is read, checked and collected as for a run, and its counts are shown; nothing runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.manifests.reading import ManifestChangedError
from pytest_benchbench.manifests.splits import count_splits
from pytest_benchbench.session.collection import CaseItem
from pytest_benchbench.session.conclusion import policy_of
from pytest_benchbench.session.cost_plan import planned_cost_lines, text_of
from pytest_benchbench.session.exit_status import NO_TESTS_COLLECTED
from pytest_benchbench.session.opening import check_ledger_of

if TYPE_CHECKING:
    from pytest_benchbench.manifests.reading import Manifest
    from pytest_benchbench.session.paid_detectors import PaidDetectors
    from pytest_benchbench.session.planning import Plan

_GOES_ON = (("bench_resume", "--bench-resume"), ("bench_evidence", "--bench-evidence"))

_COLUMNS = ("suite", "adapter", "planned", "would run")


def refuse_other_work(config: pytest.Config) -> None:
    """Refuse options that are about a run that was there before.

    Raises:
        pytest.UsageError: One is given.
    """
    for name, option in _GOES_ON:
        if config.getoption(name):
            raise pytest.UsageError(f"--bench-dry-run plans a run and begins none: leave out {option}")


def run_in_this_process(config: pytest.Config) -> None:
    """Let pytest-xdist start no worker: collecting is all there is to do."""
    if hasattr(config.option, "dist"):
        config.option.dist = "no"


class DryRun:
    """Registered in place of what records a run.

    Args:
        plan: What the session would run.
        paid: The paid detectors of the plan.

    Raises:
        pytest.UsageError: The run directory exists, or policy or ledger cannot be used.
    """

    def __init__(self, plan: Plan, paid: PaidDetectors) -> None:
        self._plan = plan
        self._paid = paid
        self._texts: dict[str, list[str | None]] = {alias: [] for alias in paid.detectors}
        self._policy = policy_of(plan)
        run_dir = plan.settings.run_dir
        if run_dir is not None and os.path.lexists(run_dir):
            raise pytest.UsageError(f"--bench-run-dir={run_dir}: exists already; a run never overwrites another")
        check_ledger_of(plan)
        self._planned: Counter[tuple[str, str]] = Counter()
        self._selected: Counter[tuple[str, str]] = Counter()

    def pytest_report_header(self) -> str:
        """Say that this is no run."""
        return "benchbench: dry run: nothing is asked, and nothing is written"

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        """Count the rows before and after some are deselected."""
        groups = {item.group.nodeid: item.group for item in items if isinstance(item, CaseItem)}
        for group in groups.values():
            self._planned[group.suite.nodeid, group.name] = len(group.refs) * len(group.suite.functions)
        yield
        for item in items:
            if isinstance(item, CaseItem):
                self._selected[item.group.suite.nodeid, item.group.name] += 1
                if (texts := self._texts.get(item.group.name)) is not None:
                    texts.append(self._text_of(item))

    @staticmethod
    def _text_of(item: CaseItem) -> str | None:
        try:
            return text_of(item.read().case)
        except ManifestChangedError as error:
            raise pytest.UsageError(str(error)) from None
        finally:
            item.row = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run nothing; what cannot be collected is for pytest to tell."""
        broken = session.testsfailed and not session.config.option.continue_on_collection_errors
        return None if broken else True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Take an empty shard for no fault: other shards have the rows."""
        if exitstatus == NO_TESTS_COLLECTED and self._plan.settings.shard is not None and not self._plan.taken:
            session.exitstatus = 0

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the plan."""
        terminalreporter.section("benchbench: dry run", sep="-")
        for line in self._lines():
            terminalreporter.line(line)

    def _lines(self) -> Iterator[str]:
        yield from (f"warning: {note}" for note in self._plan.notes)
        yield from map(self._told, self._plan.manifests)
        if self._planned:
            yield from _table([_COLUMNS, *self._counts()])
        yield from planned_cost_lines(self._paid, self._texts)
        planned = max(self._plan.planned, self._planned.total())
        would_run = self._selected.total()
        if self._plan.untaken:
            yield f"{self._plan.untaken} selected rows that no collected suite takes"
        left_out = f", {planned - would_run} left out" if planned > would_run else ""
        gate = f"; gate {self._policy.policy.name}" if self._policy else ""
        yield f"{planned} planned, {would_run} would run{left_out}{gate}; nothing was run or written"

    def _counts(self) -> Iterator[tuple[str, ...]]:
        for key, planned in self._planned.items():
            yield (*map(one_line, key), str(planned), str(self._selected[key]))

    def _told(self, manifest: Manifest) -> str:
        """Say how many rows of a manifest are looked at, and of its splits how many each has in the whole file."""
        settings = self._plan.settings
        parts = [f"{manifest.total_rows} rows"]
        if settings.shard is not None:
            parts.append(f"{manifest.rows} in shard {settings.shard}")
        if manifest.splits:
            try:
                counts = ", ".join(f"{count} of {name}" for name, count in count_splits(manifest).items())
            except ManifestChangedError as error:
                return str(error)
            parts += [counts, f"split {settings.split}: {manifest.split_rows}"]
        if self._plan.select:
            parts.append(f"{self._plan.count_selected([manifest])} selected, over all adapters")
        return f"{one_line(manifest.display)}: {manifest.kind}, {'; '.join(parts)}"


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for suite, adapter, *counts in rows:
        numbers = (count.rjust(width) for count, width in zip(counts, widths[2:], strict=True))
        yield "  ".join([suite.ljust(widths[0]), adapter.ljust(widths[1]), *numbers])
