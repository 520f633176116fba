"""What the Markdown report says of money: what paid detectors used and cost, beside what was planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pytest_benchbench.evidence.joined_costs import COSTS, Costs, DetectorCosts
from pytest_benchbench.reports.escaping import cell
from pytest_benchbench.reports.pipe_tables import pipe_table

COLUMNS = (
    *("adapter", "plan", "calls", "planned_calls", "retries", "words", "planned_words", "credits", "planned_credits"),
    *("cost", "planned_cost"),
)
"""Of a table with a line for each detector."""


def costs_of(environment: Mapping[str, Any]) -> Costs | None:
    """Read what a run's description says of its costs; ``None`` where it says nothing that can be read."""
    try:
        return msgspec.convert(environment.get(COSTS), Costs | None)
    except msgspec.ValidationError:
        return None


def costs_section(environment: Mapping[str, Any]) -> Iterator[str]:
    """Give the blocks about costs, none for a run without a paid detector.

    Args:
        environment: The section of the report that says what ``run.json`` says.
    """
    if (costs := costs_of(environment)) is None:
        return
    yield "## Costs"
    yield cell(" ".join(costs_sentences(costs)))
    yield pipe_table(COLUMNS, map(column_values, costs.detectors))
    if prices := [f"{one.alias}: {text}" for one in costs.detectors if (text := price_text(one, costs)) is not None]:
        yield "\n".join(f"- {cell(line)}" for line in prices)


def costs_sentences(costs: Costs) -> Iterator[str]:
    """Say what was spent, of which budget, and what was left out for it."""
    yield "Counted by this package before each call; the vendor's bill decides."
    if costs.spent is not None:
        of_budget = "" if costs.budget is None else f" of a budget of {costs.budget} {costs.currency}"
        yield f"Spent: {costs.spent} {costs.currency}{of_budget}."
    elif costs.currency is None:
        yield "What that costs is not known: there was no table of prices, or runs had tables of different currencies."
    else:
        yield "What that costs together is not known: a price is missing, or a run was killed."
    if costs.not_asked:
        yield f"Rows that the budget left out: {costs.not_asked}."
    if costs.unaccounted:
        yield f"Runs of which nobody knows what they spent: {costs.unaccounted}."


def column_values(one: DetectorCosts) -> list[Any]:
    """Give a detector's value of each of ``COLUMNS``."""
    planned = one.planned
    return [
        *(one.alias, one.plan, one.calls, planned and planned.calls, one.retries),
        *(one.words, planned and planned.words, one.credits, planned and planned.credits),
        *(one.cost, planned and planned.cost),
    ]


def price_text(one: DetectorCosts, costs: Costs) -> str | None:
    """Say which price was reckoned with; ``None`` where there was none, or not the same one everywhere."""
    if (price := one.price) is None:
        return None
    unit = f"{price.unit}s" if price.per != 1 else price.unit
    return f"{price.price} {costs.currency} for {price.per} {unit}, as of {price.as_of}, {price.source}"
