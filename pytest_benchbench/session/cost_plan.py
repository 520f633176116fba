"""What asking a paid detector about some texts will use: told from the texts alone, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.spending import Spent
from pytest_benchbench.manifests.golden_set import GoldenSample
from pytest_benchbench.manifests.price_table import show_amount

if TYPE_CHECKING:
    from pytest_benchbench.session.paid_detectors import PaidDetector, PaidDetectors
    from pytest_benchbench.session.planning import Plan


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """What one detector would be asked.

    Attributes:
        rows: Rows that ask it.
        texts: Distinct texts that are sent: each is asked about once.
        refused: Distinct texts that the vendor does not take; they are not sent.
        used: What the calls use.
        cost: What they cost, exactly; ``None`` without a price.
        seconds: The least time that the vendor's rate limit lets them take; ``None`` where no limit is known.
    """

    rows: int
    texts: int
    refused: int
    used: Spent
    cost: Fraction | None
    seconds: float | None


def plan_calls(detector: PaidDetector, texts: Iterable[str]) -> PlannedCalls:
    """Say what asking a detector about texts uses.

    Args:
        detector: The detector.
        texts: One for each row.
    """
    rows, seen, refused, used = 0, set(), 0, Spent()
    for text in texts:
        rows += 1
        if text in seen:
            continue
        seen.add(text)
        if detector.adapter.refusal(text) is not None:
            refused += 1
        else:
            used = used.plus(detector.adapter.usage(text))
    limit = detector.adapter.rate_limit()
    # of so many calls in any span, the first go at once and each further span lets as many go again
    seconds = None if limit is None else max(0, used.calls - 1) // limit.calls * limit.seconds
    return PlannedCalls(rows, len(seen) - refused, refused, used, detector.cost(used), seconds)


def planned_cost_lines(paid: PaidDetectors, texts: Mapping[str, Sequence[str | None]]) -> Iterator[str]:
    """Tell people what asking the paid detectors would use and cost.

    Args:
        paid: The detectors.
        texts: By alias, one for each row that would ask; ``None`` for a row whose text is not in its manifest.
    """
    whole: Fraction | None = Fraction()
    for alias, detector in sorted(paid.detectors.items()):
        known = [text for text in texts[alias] if text is not None]
        vendor = "" if detector.adapter.vendor == alias else f"{detector.adapter.vendor}, "
        name = f"{alias} ({vendor}plan {detector.adapter.plan_tier})"
        if len(known) < len(texts[alias]):
            yield f"{name}: {counted(len(texts[alias]), 'row')}; what they use is told for golden sets only"
            whole = None
            continue
        try:
            planned = plan_calls(detector, known)
        except Exception as error:  # of an adapter that others wrote
            yield f"{name}: what it would use cannot be told: {type(error).__name__}: {one_line(error)}"
            whole = None
            continue
        yield f"{name}: {_used(planned)}"
        yield from (f"  {line}" for line in (_cost(paid, detector, planned), _time(detector, planned)) if line)
        if (missing := detector.adapter.missing_key()) is not None:
            yield f"  missing: the environment variable {missing}"
        whole = None if whole is None or planned.cost is None else whole + planned.cost
    if paid.budget is not None and paid.prices is not None and paid.detectors:
        currency = paid.prices.currency
        if whole is None:
            told = "whether it would do is not known"
        elif whole <= paid.budget:
            told = f"would do: {show_amount(whole)} {currency} are planned"
        else:
            told = f"would not do: {show_amount(whole)} {currency} are planned, and the run would stop before it passes it"
        yield f"budget {show_amount(paid.budget)} {currency}: {told}"
    elif whole is not None and paid.prices is not None and len(paid.detectors) > 1:
        yield f"together: {show_amount(whole)} {paid.prices.currency}"


def _used(planned: PlannedCalls) -> str:
    used = planned.used
    parts = [counted(planned.rows, "row"), f"{counted(planned.texts, 'text')} to send"]
    if planned.refused:
        parts.append(f"{planned.refused} that it does not take")
    parts += [counted(used.words, "word"), counted(used.calls, "call")]
    if used.credits is not None:
        parts.append(counted(used.credits, "credit"))
    return ", ".join(parts)


def counted(count: int, what: str) -> str:
    """Write a count and what is counted, in the plural unless it is one."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _cost(paid: PaidDetectors, detector: PaidDetector, planned: PlannedCalls) -> str:
    if paid.prices is None:
        return "cost: not known without --bench-prices=FILE"
    if detector.price is None or planned.cost is None:
        tier = detector.adapter.plan_tier
        return f"cost: not known: {paid.prices.display} has no price of {detector.adapter.name} with plan {tier}"
    price, currency = detector.price, paid.prices.currency
    return (
        f"cost: {show_amount(planned.cost)} {currency}, at {show_amount(price.price)} {currency} for "
        f"{counted(price.per, price.unit)} (as of {price.as_of.isoformat()}, {one_line(price.source)})"
    )


def _time(detector: PaidDetector, planned: PlannedCalls) -> str | None:
    limit = detector.adapter.rate_limit()
    if limit is None or planned.seconds is None:
        return None
    return f"time: at least {planned.seconds:g} s, at {counted(limit.calls, 'call')} in {limit.seconds:g} s"


def planned_texts(plan: Plan, alias: str) -> Iterator[str] | None:
    """Give the texts of all rows that the plan asks a detector about; ``None`` where rows are not of golden sets.

    Raises:
        ManifestChangedError: A golden set was changed meanwhile.
    """
    asked = [(manifest, ref) for manifest in plan.manifests for ref in plan.selected_rows(manifest, alias)]
    cases = (text_of(manifest.read(ref).case) for manifest, ref in asked)
    if any(manifest.kind != "golden-set" for manifest, _ in asked):
        return None
    return (text for text in cases if text is not None)


def text_of(case: msgspec.Struct) -> str | None:
    """Give the text of a row of a golden set; ``None`` for a row of another kind, whose words are in a file."""
    return case.text if isinstance(case, GoldenSample) else None
