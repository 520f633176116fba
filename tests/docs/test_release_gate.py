"""The page about the release gate says what the policy does."""

import re
from pathlib import Path

from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.statistics.power import most_failures

PAGE = (Path(__file__).parents[2] / "docs" / "release-gate.md").read_text()
RULES = {rule.id: rule for rule in load_policy("release").policy.rules}

COLUMNS = (
    "false_positives_upper",
    "real_recall",
    "real_recall_lower",
    "ai_recall_lower",
    "thumbnail_recall",
    "source_false_positives",
)


def test_every_rule_has_a_line():
    _, _, section = PAGE.partition("## The rules of `release`")
    named = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in section.split("\n\n")[1].splitlines()[2:]))
    assert sorted(named) == sorted(RULES)


def test_the_table_of_failures_is_that_of_the_rules():
    lines = re.findall(r"^\| (\d+) \|((?: (?:\d+|none) \|){6})$", PAGE, re.MULTILINE)
    assert len(lines) == 11
    for n, cells in lines:
        told = [None if cell == "none" else int(cell) for cell in cells.replace(" ", "").strip("|").split("|")]
        assert told == [most_failures(RULES[name], int(n)) for name in COLUMNS]
