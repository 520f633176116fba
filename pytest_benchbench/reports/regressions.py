"""The rule by which a comparison of two runs is a regression. It is stated in the document and in ``docs/comparing.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

POSITIVE = ("positive", None)
"""The arms of rows that carry the mark, and of rows that name none."""


@dataclass(frozen=True, slots=True)
class RegressionRule:
    """What a change may be without being a regression.

    Attributes:
        allow_flips: Rows that may be newly wrong.
        allow_lost: Rows that may have lost their verdict.
        alpha: A net loss with a smaller p-value than this, divided by the number of lines tested, is a regression.
        measured: Whether a net loss (``lost``) or gain (``gained``) of detections in rows of the positive arm that expect
            nothing is one too; ``shown``: neither is.
        max_slowdown: How many times as long a call may take; ``None``: times decide nothing.
    """

    allow_flips: int = 0
    allow_lost: int = 0
    alpha: float = 0.05
    measured: Literal["shown", "lost", "gained"] = "shown"
    max_slowdown: float | None = None


def regressions(document: Mapping[str, Any], rule: RegressionRule, *, is_incomplete: bool) -> list[dict[str, Any]]:
    """Find what makes a comparison a regression.

    Args:
        document: What ``RowComparison.document`` gave.
        rule: What is allowed.
        is_incomplete: Whether the new run lost rows: then a row that it lacks has lost its verdict too.

    Returns:
        For each reason its ``rule`` (an id), the ``adapter`` if it is about one, what was ``observed``, what would have been
        ``allowed``, and a ``text`` for people. Empty if nothing is a regression.
    """
    return list(_reasons(document, rule, is_incomplete=is_incomplete))


def _reasons(document: Mapping[str, Any], rule: RegressionRule, *, is_incomplete: bool) -> Iterator[dict[str, Any]]:
    counts = document["changes"]["counts"]
    if (flips := counts["newly_wrong"]) > rule.allow_flips:
        yield _reason(
            "newly_wrong", flips, rule.allow_flips, f"{_rows(flips)} newly wrong, at most {rule.allow_flips} allowed"
        )
    if (lost := counts["verdict_lost"]) > rule.allow_lost:
        text = f"{_rows(lost)} lost the verdict, at most {rule.allow_lost} allowed"
        yield _reason("verdict_lost", lost, rule.allow_lost, text)
    if is_incomplete and (missing := document["rows"]["only_in_old"]["count"]) > rule.allow_lost:
        text = f"the new run lost rows and lacks {missing} of the old one, at most {rule.allow_lost} allowed"
        yield _reason("rows_lost", missing, rule.allow_lost, text)
    expected = [line for line in document["lines"] if line["quantity"] == "as_expected"]
    yield from _significant("significant_loss", expected, "worse", "better", "fewer as expected", rule.alpha)
    positive = [line for line in document["lines"] if line["quantity"] == "detected" and line["arm"] in POSITIVE]
    if rule.measured == "lost":
        yield from _significant("lost_detections", positive, "worse", "better", "fewer detected", rule.alpha)
    if rule.measured == "gained":
        yield from _significant("gained_detections", positive, "better", "worse", "more detected", rule.alpha)
    if rule.max_slowdown is not None:
        yield from _slower(document["time"], rule.max_slowdown)


def _significant(
    name: str, lines: list[dict[str, Any]], worse: str, better: str, what: str, alpha: float
) -> Iterator[dict[str, Any]]:
    """Find net losses that are more than chance, each line held to its share of alpha (Bonferroni)."""
    share = alpha / max(len(lines), 1)
    for line in lines:
        unit = line[line["tested"]]
        p = unit["sign_p"]
        if p is not None and p < share and unit[worse] > unit[better]:
            counted = f"of {unit['n']} {line['tested']} {unit['better']} better and {unit['worse']} worse"
            text = f"{line_name(line)}: {what}: {counted}, p {p:.2g} < {share:.2g}"
            yield _reason(name, p, share, text, line["adapter"])


def _slower(times: list[dict[str, Any]], limit: float) -> Iterator[dict[str, Any]]:
    for line in times:
        change = line["change"]
        if change is not None and change["beyond_noise"] and change["ratio"] > limit:
            noise = f"noise {change['low']:.3g} to {change['high']:.3g}"
            told = f"{line['call']} calls take {change['ratio']:.3g} times as long"
            text = f"{line['adapter']}: {told}, at most {limit:g} allowed ({noise})"
            yield _reason("slower", change["ratio"], limit, text, line["adapter"])


def line_name(line: Mapping[str, Any]) -> str:
    """Name a line of statistics for people: adapter, parameters, and of rows that expect nothing state and arm."""
    both = line["adapter"] if line["adapter"] == line["new_adapter"] else f"{line['adapter']} and {line['new_adapter']}"
    params = f"[{line['params']}]" if line["params"] else ""
    return " ".join([f"{both}{params}", *(part for part in (line["state"], line["arm"]) if part)])


def _reason(rule: str, observed: float, allowed: float, text: str, adapter: str | None = None) -> dict[str, Any]:
    return {"rule": rule, "adapter": adapter, "observed": observed, "allowed": allowed, "text": text}


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"
