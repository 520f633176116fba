"""What the report says of money."""

import pytest

from pytest_benchbench.reports.markdown_costs import costs_section


@pytest.fixture
def costs():
    return {
        "currency": "USD",
        "prices": {"name": "prices.yaml", "sha256": "a"},
        "budget": "2.00",
        "spent": "0.50",
        "not_asked": 3,
        "detectors": [
            {
                "alias": "fast|one",
                "adapter": "vendor",
                "plan": "starter",
                "words": 50,
                "calls": 5,
                "credits": None,
                "retries": 2,
                "cost": "0.50",
                "price": {"unit": "word", "per": 100, "price": "1.00", "as_of": "2026-07-10", "source": "a <survey>"},
                "planned": {"rows": 9, "texts": 8, "words": 80, "calls": 8, "credits": None, "cost": "0.80"},
            }
        ],
    }


def section(costs):
    return "\n\n".join(costs_section({"costs": costs}))


def test_measured_costs_stand_beside_the_plan(costs):
    text = section(costs)
    assert "Spent: 0.50 USD of a budget of 2.00 USD. Rows that the budget left out: 3." in text
    header, _, line = [line for line in text.splitlines() if line.startswith("|")]
    names, values = ([cell.strip() for cell in row.strip("|").split(" | ")] for row in (header, line))
    found = dict(zip((name.replace(" ", "_") for name in names), values, strict=True))
    assert (found["calls"], found["planned_calls"], found["words"], found["planned_words"]) == ("5", "8", "50", "80")
    assert (found["cost"], found["planned_cost"], found["retries"]) == ("0.50", "0.80", "2")
    assert "1.00 USD for 100 words, as of 2026-07-10" in text
    assert "<survey>" not in text
    assert "fast|one" not in text


def test_what_is_not_known_is_said(costs):
    unknown = {**costs, "spent": None, "unaccounted": 1}
    assert "not known: a price is missing, or a run was killed" in section(unknown)
    assert "Runs of which nobody knows what they spent: 1." in section(unknown)
    assert "there was no table of prices" in section({**unknown, "currency": None})


@pytest.mark.parametrize("costs", [None, {}, {"detectors": "x"}])
def test_without_costs_there_is_no_section(costs):
    assert section(costs) == ""
    assert list(costs_section({})) == []
