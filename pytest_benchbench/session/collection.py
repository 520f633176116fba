"""The tree ``suite :: adapter :: case``: a marked test function expanded over the rows of its manifests."""

from __future__ import annotations

import inspect
import os
import unittest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.evidence.case_names import node_name
from pytest_benchbench.session.node_names import CaseNode, RowName
from pytest_benchbench.session.pytest_internals import LazyRequestFunction, ManifestModule, row_name, skip_at_item

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import PooledAdapter
    from pytest_benchbench.evidence.observing import Observation, Question
    from pytest_benchbench.manifests.reading import CaseRef, Manifest, ManifestRow
    from pytest_benchbench.manifests.selection import RowSelection
    from pytest_benchbench.session.planning import Plan

MARKER = "cases(kind, where=None): expand this test over the rows of every manifest of that kind"

BUILT_IN_SUITES = {
    "watermark": "pytest_benchbench.suites.test_watermark",
    "dataset": "pytest_benchbench.suites.test_dataset",
    "golden-set": "pytest_benchbench.suites.test_golden_set",
}


class Suite(pytest.Collector):
    """A test function with the marker ``cases``; pytest has made its functions, one for each parameter set."""

    def __init__(self, *, functions: list[pytest.Function], plan: Plan | None, manifests: list[Manifest], **kw: Any) -> None:
        super().__init__(**kw)
        self.functions = functions
        self.plan = plan
        self.manifests = manifests

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield a group for each adapter that the rows name; one skipped item where there are no rows."""
        function = self.functions[0].function
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise self.CollectError(f"{self.nodeid}: a suite of cases cannot be async")
        kind, where = self._marker()
        if self.plan is None or not self.manifests:
            yield SkippedSuite.from_parent(self, name="no-manifest", reason=f"no {kind} manifest: give --manifest=PATH")
            return
        from pytest_benchbench.session.planning import SuiteShare

        rows = 0
        for adapter in self.plan.adapters_of(self.manifests):
            refs = [(manifest, ref) for manifest in self.manifests for ref in self._refs(manifest, adapter, where)]
            rows += len(refs)
            if refs:
                yield AdapterGroup.from_parent(self, name=adapter, suite=self, refs=refs)
        self.plan.suites[self.nodeid] = SuiteShare(self.manifests, where, rows * len(self.functions))
        if not rows and not self.plan.select and not self.plan.settings.shard:  # another shard may have rows for the suite
            yield SkippedSuite.from_parent(self, name="no-rows", reason="no row of the manifests meets the suite's where")

    def _marker(self) -> tuple[str, RowSelection]:
        """Read the marker.

        Raises:
            CollectError: It has another shape, names an unknown kind or an unknown field.
        """
        from pytest_benchbench.manifests.kinds import KINDS
        from pytest_benchbench.manifests.selection import RowSelection, SelectionError

        mark = self.functions[0].get_closest_marker("cases")
        kind, where = (mark.kwargs.get("kind"), mark.kwargs.get("where") or {}) if mark else (None, {})
        if not isinstance(kind, str) or kind not in KINDS or (mark and (mark.args or set(mark.kwargs) - {"kind", "where"})):
            kinds = ", ".join(KINDS)
            raise self.CollectError(f"{self.nodeid}: expected @pytest.mark.cases(kind=..., where={{...}}); kinds: {kinds}")
        if not isinstance(where, dict) or not all(isinstance(field, str) for field in where):
            raise self.CollectError(f"{self.nodeid}: where must map fields to values, not {where!r}")
        conditions = []
        for field, wanted in where.items():
            values = wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
            if not values:
                raise self.CollectError(f"{self.nodeid}: where: {field} has no value to take")
            conditions += [(field, "null" if value is None else str(value)) for value in values]
        try:
            return kind, RowSelection.of(conditions, KINDS[kind])
        except SelectionError as error:
            raise self.CollectError(f"{self.nodeid}: where: {error}") from None

    def _refs(self, manifest: Manifest, adapter: str, where: RowSelection) -> list[CaseRef]:
        from pytest_benchbench.manifests.reading import ManifestChangedError

        assert self.plan is not None
        try:
            refs = self.plan.selected_rows(manifest, adapter)
            return [ref for ref in refs if where.takes(manifest.read(ref).case)] if where else refs
        except ManifestChangedError as error:
            raise self.CollectError(str(error)) from None


class AdapterGroup(pytest.Collector):
    """The rows of one adapter within a suite, whatever manifest they stand in: the unit of affinity and of waves."""

    def __init__(self, *, suite: Suite, refs: list[tuple[Manifest, CaseRef]], **kw: Any) -> None:
        super().__init__(**kw)
        self.suite = suite
        self.refs = refs
        self.answers: dict[CaseItem, Observation] = {}
        self._asked: set[CaseItem] = set()
        self._alone: set[CaseItem] = set()
        self._after_crash: set[CaseItem] = set()
        self._order: dict[CaseItem, int] = {}
        self._members: list[CaseItem] = []

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each row and parameter set."""
        recorded = self.suite.plan.recorded if self.suite.plan else None
        record = recorded.of_group(self.nodeid) if recorded else None
        left_out = record.finished - self._named_in_command() if record else frozenset()
        crash_left_out = False
        for manifest, ref in self.refs:
            for function in self.suite.functions:
                if left_out and (name := row_name(function, node_name(ref.case_id))) in left_out:
                    crash_left_out = crash_left_out or f"{self.nodeid}::{name}" in self._crashed
                    continue
                item = CaseItem.make(self, function, manifest, ref)
                if crash_left_out:
                    self._after_crash.add(item)
                    crash_left_out = False
                yield item
        if recorded is not None:
            names = (row_name(function, node_name(ref.case_id)) for _, ref in self.refs for function in self.suite.functions)
            recorded.reconcile(self.nodeid, names)

    def _named_in_command(self) -> frozenset[str]:
        """Names of the rows that the command names one by one: pytest refuses node ids that nobody collects."""
        return frozenset(argument.rpartition("::")[2] for argument in self.config.args if "::" in argument)

    def next_wave(self, item: CaseItem, size: int) -> list[CaseItem]:
        """Choose the rows of one batch: ``item``, then those of this group that follow it and were not asked yet.

        Where a worker died over a row, it may have been another one of its wave that killed it: those that can have been
        in that wave are asked one by one. A row that was in a wave before and comes again, since that was interrupted or the
        row is repeated, is asked alone too.
        """
        if item in self._asked:
            return [item]
        if not self._members:
            self._members = [i for i in self.session.items if isinstance(i, CaseItem) and i.group is self]
            self._order = {member: index for index, member in enumerate(self._members)}
            self._alone = {
                suspect
                for index, member in enumerate(self._members)
                if member in self._after_crash or (self._crashed and member.nodeid in self._crashed)
                for suspect in self._members[index : index + size]
            }
        wave = [item]
        if item not in self._alone:
            for index in range(self._order[item] + 1, len(self._members)):
                if len(wave) >= size or (member := self._members[index]) in self._alone:
                    break
                if member not in self._asked:
                    wave.append(member)
        self._asked.update(wave)
        return wave

    @property
    def _crashed(self) -> frozenset[str]:
        return self.suite.plan.crashed if self.suite.plan else frozenset()


class CaseItem(LazyRequestFunction):
    """One row asked of one adapter: a real ``pytest.Function``, so fixtures, parameters, reruns and timeouts work."""

    manifest: Manifest
    ref: CaseRef
    observation: Observation | None = None
    cold: PooledAdapter | None = None
    row: ManifestRow | None = None
    refused_earlier: int = 0
    """Network connections that were refused while this row was asked about in the time of an earlier one."""
    private_texts: set[str]
    """Texts of a golden set that were read while this row ran: no report of it shows any."""

    @classmethod
    def make(cls, group: AdapterGroup, function: pytest.Function, manifest: Manifest, ref: CaseRef) -> CaseItem:
        """Make the item of a row out of one of the functions that pytest made for the suite."""
        item = cls.sharing(function, group, node_name(ref.case_id))
        item.manifest = manifest
        item.ref = ref
        item.private_texts = set()
        return item

    @property
    def group(self) -> AdapterGroup:
        """The adapter's group."""
        assert isinstance(self.parent, AdapterGroup)
        return self.parent

    @property
    def plan(self) -> Plan:
        """The session's plan."""
        assert self.group.suite.plan is not None
        return self.group.suite.plan

    @property
    def suite_name(self) -> str:
        """Name of the test function."""
        return self.group.suite.name

    @property
    def case_node(self) -> CaseNode:
        """The parts of the item's identity."""
        callspec = getattr(self, "callspec", None)
        params = callspec.id if callspec else ""
        return CaseNode(self.group.suite.nodeid, self.group.name, self.ref.case_id, params or None)

    @property
    def row_name(self) -> RowName:
        """The two parts of the node id."""
        return RowName(self.group.nodeid, self.name)

    def read(self) -> ManifestRow:
        """Give the row, read once for each attempt.

        Raises:
            ManifestChangedError: The manifest is no longer what was validated.
        """
        if self.row is None:
            self.row = self.manifest.read(self.ref)
            if self.manifest.text_field is not None:
                self.private_texts.add(getattr(self.row.case, self.manifest.text_field))
        return self.row

    def question(self) -> Question:
        """Say what is asked about the row."""
        from pytest_benchbench.session.asking import question_of

        return question_of(self.read().case, self.manifest, self.plan, self.case_node)

    def setup(self) -> None:
        """Prepare one attempt."""
        self.observation = None
        super().setup()

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point at the row instead of at the test function."""
        return self.manifest.path, self.ref.line - 1, f"{self.group.name}: {self._shown_id()}"

    def line(self, text: str) -> str:
        """Write a message about the row: manifest, line, id."""
        return f"{self.manifest.display}:{self.ref.line}: {self._shown_id()}: {text}"

    def _shown_id(self) -> str:
        """Write the case id for a terminal: marks that turn the direction of a line are no control characters."""
        from pytest_benchbench.manifests.faults import shown_text

        return shown_text(self.ref.case_id)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a wrong or a missing verdict as one line, anything else as pytest does."""
        from pytest_benchbench.evidence.foreign_text import one_line
        from pytest_benchbench.evidence.observation import Mismatch
        from pytest_benchbench.evidence.observing import ObservationError

        if isinstance(excinfo.value, (Mismatch, ObservationError)):
            return self.line(one_line(excinfo.value))
        return super().repr_failure(excinfo)


class SkippedSuite(pytest.Item):
    """Stands for a suite that has nothing to run."""

    def __init__(self, *, reason: str, **kw: Any) -> None:
        super().__init__(**kw)
        self.reason = reason

    def runtest(self) -> None:
        """Skip."""
        skip_at_item(self.reason)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Point at the suite."""
        suite = self.getparent(Suite)
        line = suite.functions[0].reportinfo()[1] if suite else None
        return self.path, line, self.nodeid


class UsageFault(pytest.Item):
    """A fault of use that only collection sees.

    Raising while a worker collects would be an internal error, so the fault is an item that fails; the controller turns it
    into exit code 4.
    """

    def __init__(self, *, text: str, **kw: Any) -> None:
        super().__init__(**kw)
        self.text = text

    def runtest(self) -> None:
        """Fail with the fault."""
        pytest.fail(self.text, pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Point at nothing: the fault is in the command."""
        return self.path, None, "usage"


class UnexpandedSuite(pytest.Collector):
    """A marked function that cannot be expanded over rows: it fails at collection instead of passing unasked."""

    def __init__(self, *, text: str, **kw: Any) -> None:
        super().__init__(**kw)
        self.text = text

    def collect(self) -> Iterator[pytest.Item]:
        """Refuse.

        Raises:
            CollectError: Always.
        """
        raise self.CollectError(self.text)


class ManifestFile(ManifestModule):
    """A manifest that is collected by itself: the built-in suite of its kind, over this manifest alone."""

    def __init__(self, *, manifest: Manifest, **kw: Any) -> None:
        # explicit: outside of the rootdir pytest would call every file by an empty or a colliding name
        nodeid = os.path.relpath(manifest.path, _root_of(manifest, kw["parent"].config)).replace(os.sep, "/")
        super().__init__(nodeid=nodeid, **kw)  # type: ignore[arg-type]  # a text is taken, as in older pytest
        self.manifest = manifest

    def suite_module(self) -> Any:
        """Import the built-in suite."""
        return import_module(BUILT_IN_SUITES[self.manifest.kind])


def _root_of(manifest: Manifest, config: pytest.Config) -> Path:
    """Give the directory from which a manifest is named: its evidence need not say where this machine keeps it."""
    given = config.getoption("bench_manifest_root")
    root = Path(os.path.realpath(config.invocation_params.dir / given)) if given else None
    return root if root is not None and manifest.path.is_relative_to(root) else Path(os.path.realpath(config.rootpath))


def make_suites(collector: Any, name: str, obj: object, made: Any, plan: Plan | None) -> Any:
    """Replace the functions that pytest made for a marked test by its suite; leave anything else alone."""
    if isinstance(obj, type) and issubclass(obj, unittest.TestCase):
        return _refuse_unittest(collector, name, obj, made)
    if not isinstance(made, list) or not made or not isinstance(made[0], pytest.Function):
        return made
    mark = made[0].get_closest_marker("cases")
    if mark is None:
        return made
    manifest_file = collector.getparent(ManifestFile)
    if manifest_file is not None:
        manifests = [manifest_file.manifest]
    else:
        manifests = [m for m in plan.configured if m.kind == mark.kwargs.get("kind")] if plan else []
    return [Suite.from_parent(collector, name=name, functions=made, plan=plan, manifests=manifests)]


def _refuse_unittest(collector: Any, name: str, obj: type, made: Any) -> Any:
    def is_marked(thing: object) -> bool:
        marks = getattr(thing, "pytestmark", [])
        return any(getattr(mark, "name", None) == "cases" for mark in (marks if isinstance(marks, list) else [marks]))

    marked = [attribute for attribute in dir(obj) if is_marked(getattr(obj, attribute, None))]
    if not marked and not is_marked(obj) and collector.get_closest_marker("cases") is None:
        return made
    where = "::".join([collector.nodeid, name, *marked[:1]])
    text = f"{where}: marked 'cases', but a unittest method cannot be expanded over rows"
    return UnexpandedSuite.from_parent(collector, name=name, text=text)
