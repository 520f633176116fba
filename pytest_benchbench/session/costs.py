"""What a run has spent on paid detectors, beside what was planned: for ``run.json``, the report and the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_benchbench.evidence.joined_costs import COSTS, Costs, DetectorCosts, PaidPrice, PlannedCosts
from pytest_benchbench.evidence.shared_lines import SharedLinesError
from pytest_benchbench.evidence.spending import Spent
from pytest_benchbench.manifests.locked_files import LockHeldError
from pytest_benchbench.manifests.price_table import show_amount
from pytest_benchbench.session.cost_plan import counted, plan_calls, planned_texts
from pytest_benchbench.session.run_document import shown_from

if TYPE_CHECKING:
    from pytest_benchbench.session.paid_detectors import PaidDetector, PaidDetectors
    from pytest_benchbench.session.planning import Plan


def add_costs(document: dict[str, Any], paid: PaidDetectors, plan: Plan, not_asked: int, directory: Path) -> list[str]:
    """Write into ``run.json`` what a run has spent on paid detectors, if it has any.

    Args:
        document: What ``run.json`` says; ``costs`` is written here.
        paid: The detectors.
        plan: What the session ran.
        not_asked: Rows that the budget left out.
        directory: The run directory.

    Returns:
        What people are told.
    """
    try:
        costs = costs_of(paid, plan, not_asked)
    except (SharedLinesError, LockHeldError, OSError) as error:
        return [f"warning: what was spent cannot be told: {error}"]
    if costs is None:
        return []
    document[COSTS] = msgspec.to_builtins(costs)
    return cost_lines(costs, shown_from(directory, plan.settings.invocation_dir))


def costs_of(paid: PaidDetectors, plan: Plan, not_asked: int) -> Costs | None:
    """Say what the paid detectors of a run have used over all its sessions, and what they cost by the table of this one.

    Args:
        paid: The detectors.
        plan: What the session ran.
        not_asked: Rows that the budget left out.

    Returns:
        ``None`` for a run without a paid detector.

    Raises:
        SharedLinesError, LockHeldError, OSError: What was used cannot be read.
    """
    if not paid.detectors:
        return None
    assert paid.spending is not None
    used = paid.spending.totals()
    is_priced = all(paid.detectors[alias].price is not None for alias in used if alias in paid.detectors)
    return Costs(
        currency=paid.prices.currency if paid.prices else None,
        prices={"name": Path(paid.prices.display).name, "sha256": paid.prices.sha256} if paid.prices else None,
        budget=None if paid.budget is None else show_amount(paid.budget),
        spent=show_amount(paid.cost(used)) if paid.prices and is_priced else None,
        not_asked=not_asked,
        detectors=[_detector(one, used.get(alias, Spent()), plan) for alias, one in sorted(paid.detectors.items())],
    )


def cost_lines(costs: Costs, directory: str) -> list[str]:
    """Tell people what was spent, and how to go on where the budget ended the asking.

    Args:
        costs: What the run spent.
        directory: The run directory as they would write it.
    """
    lines = []
    for one in costs.detectors:
        cost = "" if one.cost is None else f", {one.cost} {costs.currency}"
        in_credits = "" if one.credits is None else f", {counted(one.credits, 'credit')}"
        lines.append(f"{one.alias}: {counted(one.calls, 'call')}, {counted(one.words, 'word')}{in_credits}{cost}")
    if costs.budget is not None:
        lines.append(f"budget: {costs.spent} of {costs.budget} {costs.currency} spent")
    if costs.not_asked:
        rows = "1 row was" if costs.not_asked == 1 else f"{costs.not_asked} rows were"
        lines.append(
            f"incomplete: the budget is used up and {rows} not asked: give the command again with a larger --bench-budget "
            f"and --bench-resume={directory}"
        )
    return lines


def _detector(detector: PaidDetector, used: Spent, plan: Plan) -> DetectorCosts:
    price, cost = detector.price, detector.cost(used)
    return DetectorCosts(
        alias=detector.alias,
        adapter=detector.adapter.name,
        plan=detector.adapter.plan_tier,
        words=used.words,
        calls=used.calls,
        credits=used.credits,
        retries=used.retries,
        cost=None if cost is None else show_amount(cost),
        price=None
        if price is None
        else PaidPrice(price.unit, price.per, show_amount(price.price), price.as_of.isoformat(), price.source),
        planned=_planned(detector, plan),
    )


def _planned(detector: PaidDetector, plan: Plan) -> PlannedCosts | None:
    try:
        texts = planned_texts(plan, detector.alias)
        planned = None if texts is None else plan_calls(detector, texts)
    except Exception:  # of a changed golden set, or of an adapter that others wrote: the run's report matters more
        return None
    if planned is None:
        return None
    return PlannedCosts(
        rows=planned.rows,
        texts=planned.texts,
        words=planned.used.words,
        calls=planned.used.calls,
        credits=planned.used.credits,
        cost=None if planned.cost is None else show_amount(planned.cost),
    )
