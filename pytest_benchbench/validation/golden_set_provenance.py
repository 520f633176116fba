"""Where the samples of a golden set come from: licences, and dates that can be true."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from typing import Final

from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.golden_set import AiProvenance, HumanProvenance
from pytest_benchbench.manifests.spelling import spelled_alike
from pytest_benchbench.validation.finding import Finding, RuleOutcome
from pytest_benchbench.validation.placed_samples import PlacedSample, about, outcome

MOST_DAYS_AFTER_TERMS: Final = 366
"""Days that a text may be generated after the terms of the set's sources were last checked."""


def licenses(placed: Sequence[PlacedSample], allowed: Collection[str]) -> RuleOutcome:
    """Find samples whose licence the set's own list does not have: rule ``license``.

    A human text may instead have its author's written consent. Spelling does not count.

    Args:
        placed: The samples.
        allowed: The ``licenses`` of the set.
    """
    known = {spelled_alike(name) for name in allowed}

    def findings() -> Iterator[Finding]:
        for one in placed:
            provenance = one.sample.provenance
            license_ = provenance.license
            if license_ is None or spelled_alike(license_) in known:
                continue
            message = f"{shown(license_)} is not one of the set's licenses"
            if isinstance(provenance, AiProvenance):
                yield about("license", "error", [one], message)
            elif provenance.consent is None:
                yield about("license", "error", [one], f"{message}, and no consent of the author is referred to")

    return outcome("license", "error", findings())


def dates(placed: Sequence[PlacedSample], as_of: date | None) -> RuleOutcome:
    """Find dates that cannot be true: rule ``dates``.

    What is in the future is decided by what is given, never by a clock, so that the same file is judged alike on every day:

    - nothing is later than ``as_of``, where it is given;
    - no text was published after its terms were checked;
    - no text was generated more than ``MOST_DAYS_AFTER_TERMS`` days after the last check of terms that the set tells of:
      either the date is wrong, or the terms are to be checked again.

    Of a year or a month alone the first day is compared. That dates are of the calendar, the reader makes sure.

    Args:
        placed: The samples.
        as_of: The day on which the set is looked at.
    """
    checked = [one.sample.provenance.termsChecked for one in placed if isinstance(one.sample.provenance, HumanProvenance)]
    latest = max(map(_first_day, checked), default=None)

    def findings() -> Iterator[Finding]:
        for one in placed:
            for field, message in _wrong_dates(one.sample.provenance, latest, as_of):
                yield about("dates", "error", [one], f"provenance.{field}: {message}")

    return outcome("dates", "error", findings())


def _wrong_dates(
    provenance: HumanProvenance | AiProvenance, latest: date | None, as_of: date | None
) -> Iterator[tuple[str, str]]:
    told = {"date": provenance.date}
    if isinstance(provenance, HumanProvenance):
        told["termsChecked"] = provenance.termsChecked
        if _first_day(provenance.date) > _first_day(provenance.termsChecked):
            yield "date", f"{provenance.date} is after the terms were checked, {provenance.termsChecked}"
    elif latest is not None and _first_day(provenance.date) - latest > timedelta(days=MOST_DAYS_AFTER_TERMS):
        yield (
            "date",
            f"{provenance.date} is more than a year after the set's last termsChecked, {latest}: correct the date, or check "
            "the terms again",
        )
    for field, day in told.items():
        if as_of is not None and _first_day(day) > as_of:
            yield field, f"{day} is after {as_of}, the day on which the set is looked at"


def _first_day(told: str) -> date:
    """Give the first day of a date, a month or a year in ISO form."""
    return date.fromisoformat((told + "-01-01")[:10])
