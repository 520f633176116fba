"""What is settled once all is collected: every manifest is used, no row is left out unseen, faults of use are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_benchbench.session.collection import CaseItem, ManifestFile, UsageFault

if TYPE_CHECKING:
    from pytest_benchbench.manifests.reading import CaseRef, Manifest
    from pytest_benchbench.manifests.selection import RowSelection
    from pytest_benchbench.session.planning import Plan
    from pytest_benchbench.session.recorded_rows import RecordedRows


def complete(session: pytest.Session, items: list[pytest.Item], plan: Plan) -> list[str]:
    """Make sure that every manifest of the command line is used, and that suites leave out no row unseen.

    A manifest that no collected suite is for runs the built-in suite if the command named nothing else to collect;
    otherwise it is a fault of use. Manifests of the configuration that no suite is for are left alone.

    Returns:
        The faults of use, one line each.
    """
    faults: list[str] = []
    narrowed = any("::" in argument for argument in session.config.args) or session.config.getoption("lf", False)
    for manifest in plan.configured:
        conditions = [share.where for share in plan.suites.values() if manifest in share.manifests]
        untaken = _untaken_rows(manifest, conditions, plan)
        is_wholly_unused = not conditions
        if not is_wholly_unused:
            partly_used = len(untaken) < plan.count_selected([manifest])
            if untaken and not narrowed and (partly_used or plan.settings.manifests):
                line = min(ref.line for ref in untaken)
                faults.append(f"{manifest.display}:{line}: no collected suite of kind {manifest.kind} takes this row")
        elif plan.settings.manifests and session.config.args_source is not pytest.Config.ArgsSource.ARGS:
            file = ManifestFile.from_parent(session, path=manifest.path, manifest=manifest)
            items.extend(session.genitems(file))
            continue
        elif plan.settings.manifests:
            faults.append(
                f"--manifest={manifest.display}: no suite of kind {manifest.kind} was collected; "
                f"for the built-in one: pytest {manifest.display}"
            )
        plan.untaken += len(untaken)
    if plan.recorded is not None and not session.testsfailed:
        faults += _reconcile(session, items, plan, plan.recorded)
    return faults


def _reconcile(session: pytest.Session, items: list[pytest.Item], plan: Plan, recorded: RecordedRows) -> list[str]:
    """Leave out finished rows of a resumed run that the command names; make sure that all recorded rows are planned still.

    Returns:
        The fault of use, if some are not: they would count as finished rows of a plan that does not have them.
    """
    items[:] = [item for item in items if not (isinstance(item, CaseItem) and recorded.is_finished(item.row_name))]
    unplanned = recorded.unplanned()
    if not unplanned or session.config.getoption("lf", False):  # which leaves out whole files unseen
        return []
    more = f" and {len(unplanned) - 1} more" if len(unplanned) > 1 else ""
    return [
        f"--bench-resume={plan.settings.resume}: recorded rows are not collected any more: {unplanned[0]}{more}; "
        "give the command of the run, or begin a new run"
    ]


def _untaken_rows(manifest: Manifest, conditions: list[RowSelection], plan: Plan) -> list[CaseRef]:
    """Give the selected rows of a manifest that none of its suites takes; a suite without conditions takes every row."""
    if conditions and not all(conditions):
        return []
    refs = [ref for adapter in plan.adapters_of([manifest]) for ref in plan.selected_rows(manifest, adapter)]
    if not conditions:
        return refs
    return [ref for ref in refs if not any(where.takes(manifest.read(ref).case) for where in conditions)]


def refuse(session: pytest.Session, items: list[pytest.Item], faults: list[str]) -> None:
    """End the session by exit code 4: at once, or in a worker by an item that tells the controller.

    Raises:
        pytest.UsageError: There are faults, and this process is no worker.
    """
    if not faults:
        return
    text = "\n".join(faults)
    if not hasattr(session.config, "workerinput"):
        raise pytest.UsageError(text)
    name = f"benchbench-usage: {' '.join(text.split())}"  # where not all workers find it, xdist shows the names alone
    items[:] = [UsageFault.from_parent(session, name=name, text=text)]
