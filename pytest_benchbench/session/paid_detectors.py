"""The paid detectors of a session: what their calls cost and may cost, and where their answers are kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_benchbench.adapters.metering import BudgetExceeded, MeteredAdapter, Usage
from pytest_benchbench.evidence.response_journal import ResponseJournal, journal_path
from pytest_benchbench.evidence.shared_lines import SharedLinesError
from pytest_benchbench.evidence.spending import SPENDING, Spending, Spent
from pytest_benchbench.manifests.locked_files import LockHeldError
from pytest_benchbench.manifests.price_table import Price, PriceTable, PriceTableError, read_price_table, show_amount
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES
from pytest_benchbench.session.run_document import shown_from

if TYPE_CHECKING:
    from pytest_benchbench.adapters.base import Adapter
    from pytest_benchbench.session.options import Settings
    from pytest_benchbench.session.planning import Plan


@dataclass(frozen=True, slots=True)
class PaidDetector:
    """One of them.

    Attributes:
        alias: What the run calls it.
        adapter: An instance that is never loaded and never asked: it says what asking would use.
        price: What the user's table says of it; ``None`` where there is none.
    """

    alias: str
    adapter: MeteredAdapter
    price: Price | None

    def cost(self, used: Spent | Usage) -> Fraction | None:
        """Give what so much costs, exactly; ``None`` without a price."""
        if self.price is None:
            return None
        units = {"word": used.words, "call": used.calls, "credit": used.credits or 0}
        return self.price.cost(units[self.price.unit])


class PaidDetectors:
    """The paid detectors that a plan asks.

    Args:
        plan: What the session runs.

    Attributes:
        detectors: By alias, sorted.
        prices: The user's table, if one was given.
        budget: The most that may be spent, in the currency of the table; ``None`` for no limit.
        spending: What was used so far; ``None`` before ``keep_in``.

    Raises:
        pytest.UsageError: The table cannot be used, or a budget cannot be kept because a detector has no price in it.
    """

    def __init__(self, plan: Plan) -> None:
        settings = plan.settings
        self.budget = settings.budget
        self.prices = _read_prices(plan)
        self.detectors = {alias: PaidDetector(alias, made, self._price(made)) for alias, made in _metered(plan).items()}
        self.spending: Spending | None = None
        self._pool = plan.pool
        self._journals: dict[str, ResponseJournal] = {}
        self._directory: Path | None = None
        self._exhausted: str | None = None
        if self.budget is not None:
            self._demand_prices()

    def _price(self, adapter: MeteredAdapter) -> Price | None:
        if self.prices is None or (price := self.prices.find(adapter.name, adapter.plan_tier)) is None:
            return None
        if price.unit == "credit" and adapter.usage("word").credits is None:
            raise pytest.UsageError(
                f"--bench-prices: {self.prices.display}: prices[{self.prices.prices.index(price)}].unit: "
                f"{adapter.name} does not bill by the credit"
            )
        return price

    def _demand_prices(self) -> None:
        if self.prices is None:
            raise pytest.UsageError(
                f"--bench-budget={self.budget}: what calls cost is not known: give --bench-prices=FILE too"
            )
        for alias, detector in self.detectors.items():
            if detector.price is None:
                raise pytest.UsageError(
                    f"--bench-budget={self.budget}: {self.prices.display} has no price of {detector.adapter.name} "
                    f"with plan {detector.adapter.plan_tier!r} ({alias}): add one, or leave out the budget"
                )

    # while rows are run

    def keep_in(self, directory: Path) -> None:
        """Let every instance that is made from now on keep its answers and count its calls in a run directory.

        Args:
            directory: Need not be there before the first call.
        """
        self._directory = directory
        self.spending = Spending(directory / SPENDING)
        self._pool.equip = self._equip

    def check_recorded(self) -> None:
        """Read what earlier sessions of the run have kept.

        Raises:
            pytest.UsageError: It is damaged or cannot be read.
        """
        assert self.spending is not None
        try:
            self.spending.totals()
            for alias in self.detectors:
                self._journal(alias).refresh()
        except (SharedLinesError, LockHeldError) as error:
            raise pytest.UsageError(f"--bench-resume: {error}") from None
        except OSError as error:
            raise pytest.UsageError(f"--bench-resume: {error.filename}: {error.strerror or error}") from None

    def _equip(self, alias: str, adapter: Adapter) -> None:
        if isinstance(adapter, MeteredAdapter):
            adapter.journal = self._journal(alias)
            adapter.meter = _RunMeter(alias, self)

    def _journal(self, alias: str) -> ResponseJournal:
        assert self._directory is not None
        if alias not in self._journals:
            self._journals[alias] = ResponseJournal(journal_path(self._directory, alias), self._pool.secrets.mask_json)
        return self._journals[alias]

    def reserve(self, alias: str, usage: Usage) -> None:
        """Count a call that is about to be made.

        Raises:
            BudgetExceeded: It would pass the budget, or an earlier one would have: no shorter text is asked about in its
                place, as what is measured would be a choice of short texts.
            SharedLinesError, LockHeldError, OSError: It cannot be counted.
        """
        assert self.spending is not None
        if self._exhausted is not None:
            raise BudgetExceeded(self._exhausted)

        def check(used: Mapping[str, Spent]) -> None:
            if self.budget is None or self.prices is None:
                return
            would_be = self.cost(used)
            if would_be > self.budget:
                call = self.detectors[alias].cost(usage) or Fraction()
                self._exhausted = (
                    f"the next call of {alias} costs {show_amount(call)} {self.prices.currency} and would pass the budget: "
                    f"{show_amount(would_be - call)} of {show_amount(self.budget)} are spent"
                )
                raise BudgetExceeded(self._exhausted)

        self.spending.reserve(alias, usage, check)

    # what it came to

    def cost(self, used: Mapping[str, Spent]) -> Fraction:
        """Give what all detectors together cost, exactly; those without a price are left out."""
        costs = (self.detectors[alias].cost(spent) for alias, spent in used.items() if alias in self.detectors)
        return sum((cost for cost in costs if cost is not None), Fraction())


class _RunMeter:
    """Counts the calls of one detector, in the spending of the run."""

    def __init__(self, alias: str, paid: PaidDetectors) -> None:
        self._alias = alias
        self._paid = paid

    def reserve(self, usage: Usage) -> None:
        """Count a call that is about to be made; raises as ``PaidDetectors.reserve``."""
        self._paid.reserve(self._alias, usage)

    def refund(self, usage: Usage) -> None:
        """Take back a call that was surely not billed."""
        assert self._paid.spending is not None
        self._paid.spending.refund(self._alias, usage)

    def retried(self) -> None:
        """Count a try that was not billed."""
        assert self._paid.spending is not None
        self._paid.spending.retried(self._alias)

    def billed_beyond(self, count: int) -> None:
        """Count what the vendor says that it billed beyond what was reserved."""
        assert self._paid.spending is not None
        self._paid.spending.billed_beyond(self._alias, count)


def _read_prices(plan: Plan) -> PriceTable | None:
    settings: Settings = plan.settings
    if settings.prices is None:
        return None
    try:
        return read_price_table(settings.prices, shown_from(settings.prices, settings.invocation_dir), plan.registry.names())
    except PriceTableError as error:
        raise pytest.UsageError(f"--bench-prices: {error}") from None


def _metered(plan: Plan) -> dict[str, MeteredAdapter]:
    """Make an instance of each paid detector; what cannot be imported or made here is told by whoever asks it."""
    choices = {choice.alias: choice for choice in plan.settings.adapters}
    found = {}
    for alias in plan.adapters_of(plan.manifests):
        choice = choices.get(alias)
        name = choice.name if choice else alias
        if name in KERNEL_MEDIA_TYPES:
            continue  # known without importing what they need
        with suppress(Exception):
            if issubclass(plan.registry.resolve(name), MeteredAdapter):
                adapter = plan.pool.unloaded(alias)
                assert isinstance(adapter, MeteredAdapter)
                found[alias] = adapter
    return found
