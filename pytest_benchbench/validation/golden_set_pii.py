"""Personal data in the texts and prompts of a golden set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pytest_benchbench.manifests.golden_set import AiProvenance
from pytest_benchbench.validation.finding import MAX_KEPT_OF_RULE, Finding, RuleOutcome, Severity, TextPlace
from pytest_benchbench.validation.phone_numbers import PhoneFinder, PhonesUncheckedError
from pytest_benchbench.validation.pii import Found, find_by_form, in_order
from pytest_benchbench.validation.placed_samples import PlacedSample, about, outcome

_WHAT = {
    "email": "an e-mail address",
    "ip-address": "an IP address",
    "phone": "a telephone number",
    "postal-address": "a postal address",
    "street": "a house number and a street",
}

_REMOVE = {
    "pii": "remove it, or put one in its place that is nobody's",
    "pii-street": "a postal address of somebody, or of nobody?",
}


@dataclass(slots=True)
class _Kept:
    """The first findings of a rule, and how many there were."""

    findings: list[Finding] = field(default_factory=list)
    total: int = 0


def personal_data(file: str, placed: Sequence[PlacedSample], regions: Sequence[str]) -> list[RuleOutcome]:
    """Find personal data by sample, field, offset and kind; what it says is told nowhere.

    Rules ``pii``, an error: e-mail, IP and postal addresses and telephone numbers; ``pii-street``, a warning: a house number
    and a street alone; ``pii-not-checked``, an error: telephone numbers could not be looked for, or not all of them.

    Args:
        file: What the user called the golden set.
        placed: The samples.
        regions: As ``PhoneFinder`` takes them.

    Raises:
        UnknownRegionError: There is no such region.
    """
    rules: dict[str, tuple[Severity, _Kept]] = {"pii": ("error", _Kept()), "pii-street": ("warning", _Kept())}
    phones, unchecked = _phone_finder(regions)
    for one in placed:
        for name, text in _fields(one):
            found = list(find_by_form(text))
            if phones is not None and not unchecked:
                try:
                    found.extend(phones.find(text))
                except PhonesUncheckedError as error:
                    unchecked = str(error)
            for what in in_order(found):
                rule = "pii-street" if what.kind == "street" else "pii"
                severity, kept = rules[rule]
                kept.total += 1
                if kept.total <= MAX_KEPT_OF_RULE:
                    kept.findings.append(_finding(rule, severity, one, name, what))
    outcomes = [RuleOutcome(rule, severity, tuple(kept.findings), kept.total) for rule, (severity, kept) in rules.items()]
    not_checked = [Finding("pii-not-checked", "error", (), unchecked, len(placed), file)] if unchecked else []
    return [*outcomes, outcome("pii-not-checked", "error", not_checked)]


def _phone_finder(regions: Sequence[str]) -> tuple[PhoneFinder | None, str]:
    """Give what finds numbers, or why there is none."""
    try:
        return PhoneFinder(regions), ""
    except PhonesUncheckedError as error:
        return None, str(error)


def _fields(one: PlacedSample) -> Iterator[tuple[str, str]]:
    yield "text", one.sample.text
    if isinstance(one.sample.provenance, AiProvenance):
        yield "provenance.prompt", one.sample.provenance.prompt


def _finding(rule: str, severity: Severity, one: PlacedSample, name: str, what: Found) -> Finding:
    message = f"{name}: {_WHAT[what.kind]} at character {what.offset}: {_REMOVE[rule]}"
    return about(rule, severity, [one], message, TextPlace(name, what.offset, what.kind))
