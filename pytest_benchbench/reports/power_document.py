"""What there is to say beforehand about passing a policy, as a JSON document and as tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from pytest_benchbench.gates.needed_bases import bases_of_policy, bases_of_rules, tolerable_rates
from pytest_benchbench.gates.policy import LoadedPolicy, Policy
from pytest_benchbench.gates.prospects import Bases, ErrorRates, demands_of, failures_of, pass_all, prospect
from pytest_benchbench.reports.pipe_tables import pipe_table
from pytest_benchbench.statistics.power import SampleSize, passes_once

SCHEMA_VERSION = 1

PROBABILITIES = (0.8, 0.9, 0.95)
"""To pass: those for which numbers of bases and rates are told."""

ASSUMPTIONS = (
    "Bases fail independently of each other, those of one class all with the same probability. A base fails where one of "
    "its derivatives does, and derivatives fail independently too. Pictures that are alike fail together, which changes the "
    "chances.",
    "Every base has a score for each of its derivatives. Real bases are spread evenly over their sources, AI bases over "
    "their families. Real and AI bases have nothing to do with each other.",
    "A base that fails is taken to fail in each transform and each resolution group that a rule is about: for those rules "
    "the chance is a lower bound.",
    "Nothing else stands in the way: no row is lost, sources and families are held out, and every row carries what the "
    "policy demands.",
)

_UNLIKELY = 0.01
"""The chance at which the operating characteristic ends."""

_STEPS = 10
"""How many rates it has at least before it ends."""


def power_document(loaded: LoadedPolicy, bases: Bases, rates: ErrorRates, attempts: int) -> dict[str, Any]:
    """Say how likely a policy is passed, how many bases it takes, and which error rates pass.

    Args:
        loaded: The policy.
        bases: What is to be measured.
        rates: How often the detector is wrong about one derivative.
        attempts: On how many fresh sets of bases it is tried, at least 1.
    """
    policy = loaded.policy
    found = prospect(policy, bases, rates)
    needed = bases_of_rules(policy, bases, rates, PROBABILITIES)
    return {
        "schema_version": SCHEMA_VERSION,
        "policy": {"name": policy.name, "sha256": loaded.sha256},
        "bases": msgspec.to_builtins(bases),
        "rates": msgspec.to_builtins(rates),
        "rates_of_bases": msgspec.to_builtins(rates.of_bases(bases.derivatives)),
        "pass": {"all": found.probability, "real": found.real, "ai": found.ai},
        "attempts": {"count": attempts, "passes_once": passes_once(found.probability, attempts)},
        "rules": msgspec.to_builtins(found.rules),
        "needed": {
            "probabilities": list(PROBABILITIES),
            "rules": [
                {"id": each.id, "of": each.of, "groups": each.groups, "sizes": [_size(size) for size in each.sizes]}
                for each in needed
            ],
            "each_class": bases_of_policy(policy, bases, rates, PROBABILITIES, needed),
        },
        "tolerable": {
            "probabilities": list(PROBABILITIES),
            "false_positive": tolerable_rates(policy, bases, "real", PROBABILITIES),
            "miss": tolerable_rates(policy, bases, "ai", PROBABILITIES),
        },
        "characteristic": {
            "false_positive": _characteristic(policy, bases, rates, "real"),
            "miss": _characteristic(policy, bases, rates, "ai"),
        },
        "assumptions": list(ASSUMPTIONS),
    }


def _size(size: SampleSize | None) -> dict[str, int | None] | None:
    return None if size is None else size._asdict()


def _characteristic(policy: Policy, bases: Bases, rates: ErrorRates, kind: Literal["real", "ai"]) -> list[dict[str, float]]:
    """Give the chance to pass over the error rate of one class, the other rate as it is."""
    demands = demands_of(policy, bases)
    given = rates.false_positive if kind == "real" else rates.miss
    points = []
    for rate in _grid(tolerable_rates(policy, bases, kind, [_UNLIKELY])[0], given):
        changed = ErrorRates(rate, rates.miss) if kind == "real" else ErrorRates(rates.false_positive, rate)
        failing = changed.of_bases(bases.derivatives)
        points.append(
            {
                "rate": rate,
                "rate_of_bases": failing.false_positive if kind == "real" else failing.miss,
                "pass_class": float(failures_of(demands, kind, bases, failing).sum()),
                "pass_all": pass_all(demands, bases, failing),
            }
        )
    return points


def _grid(last: float | None, given: float) -> list[float]:
    """Choose round rates from 0 to where passing is unlikely, and the rate that was given if it lies between."""
    if last is None or last >= 1.0:  # passed by none or by all: there is no curve
        return sorted({0.0, given})
    magnitude = 10.0 ** math.floor(math.log10(last / _STEPS))
    step = max(factor * magnitude for factor in (1, 2, 5) if factor * magnitude <= last / _STEPS)
    count = math.ceil(last / step)
    rates = [min(round(place * step, 12), 1.0) for place in range(count + 1)]
    return sorted({*rates, given} if given <= rates[-1] else rates)


def power_lines(document: dict[str, Any]) -> Iterator[str]:
    """Write the document as blocks of Markdown."""
    bases, rates, of_bases = document["bases"], document["rates"], document["rates_of_bases"]
    yield f"# Passing the policy {document['policy']['name']}"
    yield (
        f"With {bases['real']} real bases of {_many(bases['real_sources'], 'source')}, {bases['ai']} AI bases of "
        f"{_many(bases['generator_families'], 'family', 'families')}, {_many(bases['derivatives'], 'derivative')} of each."
    )
    yield (
        f"True error rates: {rates['false_positive']:g} of real derivatives are called AI (so "
        f"{of_bases['false_positive']:.4g} of real bases fail), {rates['miss']:g} of AI derivatives are missed "
        f"(so {of_bases['miss']:.4g} of AI bases fail)."
    )
    passing, attempts = document["pass"], document["attempts"]
    yield (
        f"Chance to pass: {_chance(passing['all'])} (rules about real bases {_chance(passing['real'])}, about AI bases "
        f"{_chance(passing['ai'])})."
    )
    if attempts["count"] > 1:
        yield (
            f"Chance to pass at least once in {attempts['count']} attempts, each on a fresh test split: "
            f"{_chance(attempts['passes_once'])}."
        )
    yield "## Rules at these bases"
    yield _rules(document["rules"])
    yield from _needed(document["needed"])
    yield from _tolerable(document["tolerable"])
    yield from _curves(document)
    yield "## What is supposed"
    yield "\n".join(f"- {text}" for text in document["assumptions"])


def _many(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def _chance(probability: float) -> str:
    """Write a chance; what is all but certain, or all but impossible, is not written as 1 or 0."""
    if probability < 5e-7:
        return "below 0.000001"
    return "above 0.999999" if probability > 1.0 - 5e-7 else f"{probability:.6f}"


def _rules(rules: Sequence[dict[str, Any]]) -> str:
    def n(rule: dict[str, Any]) -> str | None:
        return None if rule["n"] is None else f"{rule['n']}{' each' if rule['groups'] > 1 else ''}"

    def chance(rule: dict[str, Any]) -> str:
        if rule["left_out"]:
            return f"left out: {rule['left_out']}"
        if rule["counts"]:
            return "holds" if rule["probability"] else "cannot hold"
        return _chance(rule["probability"])

    return pipe_table(
        ("rule", "slice", "n", "max_failures", "chance to pass"),
        (
            (
                rule["id"],
                rule["slice"],
                n(rule),
                rule["max_failures"],
                chance(rule),
            )
            for rule in rules
        ),
    )


def _needed(needed: dict[str, Any]) -> Iterator[str]:
    yield "## Bases that are needed at these error rates"

    def told(size: dict[str, int | None] | None) -> str:
        if size is None:
            return "no number that was tried"
        first, always = size["first"], size["always_from"]
        if first == always:
            return f"{first}"
        return f"{first}, not all more" if always is None else f"{first}, all from {always}"

    lines: list[tuple[Any, ...]] = [
        (rule["id"], rule["of"], *(told(size) for size in rule["sizes"])) for rule in needed["rules"]
    ]
    together = [size or "no number that was tried" for size in needed["each_class"]]
    yield pipe_table(
        ("rule", "counted", *_percents(needed)), [*lines, ("all rules together", "bases of each class", *together)]
    )
    yield (
        "The chance rises and falls with the number of bases, since one failure more is borne at certain numbers only: the "
        "first number is the smallest that is enough."
    )


def _tolerable(tolerable: dict[str, Any]) -> Iterator[str]:
    yield "## Largest true error rates of a derivative that pass with these bases"

    def told(rate: float | None) -> str:
        return "none" if rate is None else "any" if rate == 1.0 else f"{rate:.6g}"

    yield pipe_table(
        ("rules about", *_percents(tolerable)),
        [
            ("real bases: false-positive rate", *map(told, tolerable["false_positive"])),
            ("AI bases: miss rate", *map(told, tolerable["miss"])),
        ],
    )


def _percents(of: dict[str, Any]) -> list[str]:
    return [f"{100 * probability:g} %" for probability in of["probabilities"]]


def _curves(document: dict[str, Any]) -> Iterator[str]:
    for name, about, other in (
        ("false_positive", "real", f"miss rate {document['rates']['miss']:g}"),
        ("miss", "AI", f"false-positive rate {document['rates']['false_positive']:g}"),
    ):
        yield f"## Operating characteristic over the true {name.replace('false_positive', 'false-positive')} rate"
        yield pipe_table(
            ("true rate", "of bases", f"rules about {about} bases", f"all rules, {other}"),
            (
                (
                    f"{point['rate']:g}",
                    f"{point['rate_of_bases']:.4g}",
                    _chance(point["pass_class"]),
                    _chance(point["pass_all"]),
                )
                for point in document["characteristic"][name]
            ),
        )
