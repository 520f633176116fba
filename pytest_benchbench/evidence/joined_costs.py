"""What a run spent on paid detectors, as ``run.json`` says it under ``costs``, and what several runs spent together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

import msgspec

COSTS = "costs"
"""The part of ``run.json``."""

_Count = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]

_Amount = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,20}\.[0-9]{2,6}$")]
"""Money as a text: no binary fraction is what is paid."""


class PaidPrice(msgspec.Struct, frozen=True):
    """The price that was reckoned with: ``price`` for ``per`` units."""

    unit: str
    per: _Count
    price: _Amount
    as_of: str
    source: str


class PlannedCosts(msgspec.Struct, frozen=True):
    """What was planned; ``texts`` are the distinct ones that are sent."""

    rows: _Count
    texts: _Count
    words: _Count
    calls: _Count
    credits: _Count | None
    cost: _Amount | None


class DetectorCosts(msgspec.Struct, frozen=True):
    """What one detector used and cost; what is ``None`` is not known, or not the same in all runs."""

    alias: str
    adapter: str | None
    plan: str | None
    words: _Count
    calls: _Count
    credits: _Count | None
    retries: _Count
    cost: _Amount | None
    price: PaidPrice | None
    planned: PlannedCosts | None


class Costs(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one run, or several together, spent.

    Attributes:
        currency: Of all amounts.
        prices: Name and digest of the table of prices.
        budget: The most that could be spent; only of a single run.
        spent: On all detectors together.
        not_asked: Rows that the budget left out.
        detectors: By alias, sorted.
        unaccounted: Runs of which nobody knows what they spent.
    """

    currency: str | None
    prices: dict[str, str] | None
    budget: _Amount | None
    spent: _Amount | None
    not_asked: _Count
    detectors: list[DetectorCosts]
    unaccounted: _Count = 0


def joined_costs(documents: Sequence[Mapping[str, Any]]) -> Costs | None:
    """Add up what runs spent; the order of the runs changes nothing, and sums of sums are the sum of all.

    Args:
        documents: What ``run.json`` says of each.

    Returns:
        ``None`` where no run says anything. What is not known of one run is not known of the whole.

    Raises:
        ValueError: One says something else under ``costs``.
    """
    try:
        known = [msgspec.convert(document[COSTS], Costs) for document in documents if COSTS in document]
    except msgspec.ValidationError as error:
        raise ValueError(f"{COSTS} of run.json: {error}") from None
    if not known:
        return None
    missing = len(documents) - len(known) + sum(costs.unaccounted for costs in known)
    by_alias: dict[str, list[DetectorCosts]] = {}
    for costs in known:
        for one in costs.detectors:
            by_alias.setdefault(one.alias, []).append(one)
    currency = _same([costs.currency for costs in known])
    return Costs(
        currency=currency,
        prices=_same([costs.prices for costs in known]),
        budget=None,
        spent=None if currency is None or missing else _amounts([costs.spent for costs in known]),
        not_asked=sum(costs.not_asked for costs in known),
        detectors=[_joined(by_alias[alias], is_one_currency=currency is not None) for alias in sorted(by_alias)],
        unaccounted=missing,
    )


def _joined(parts: Sequence[DetectorCosts], *, is_one_currency: bool) -> DetectorCosts:
    planned = [part.planned for part in parts if part.planned is not None]
    return DetectorCosts(
        alias=parts[0].alias,
        adapter=_same([part.adapter for part in parts]),
        plan=_same([part.plan for part in parts]),
        words=sum(part.words for part in parts),
        calls=sum(part.calls for part in parts),
        credits=_credits(part.credits for part in parts),
        retries=sum(part.retries for part in parts),
        cost=_amounts([part.cost for part in parts]) if is_one_currency else None,
        price=_same([part.price for part in parts]),
        planned=None
        if len(planned) < len(parts)
        else PlannedCosts(
            rows=sum(part.rows for part in planned),
            texts=sum(part.texts for part in planned),
            words=sum(part.words for part in planned),
            calls=sum(part.calls for part in planned),
            credits=_credits(part.credits for part in planned),
            cost=_amounts([part.cost for part in planned]) if is_one_currency else None,
        ),
    )


def _same(values: Sequence[Any]) -> Any:
    return values[0] if all(value == values[0] for value in values) else None


def _credits(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _amounts(texts: Sequence[str | None]) -> str | None:
    """Add amounts that are written as texts; ``None`` where one is not known."""
    amounts = [Decimal(text) for text in texts if text is not None]
    return str(sum(amounts, Decimal())) if len(amounts) == len(texts) else None
