"""The section about money of a page."""

from pytest_benchbench.reports.html.costs import cost_sections

COSTS = {
    "currency": "USD",
    "prices": None,
    "budget": None,
    "spent": "0.50",
    "not_asked": 0,
    "detectors": [
        {
            **dict.fromkeys(("credits", "planned")),
            "alias": "fast",
            "adapter": "vendor",
            "plan": "starter",
            "words": 50,
            "calls": 5,
            "retries": 0,
            "cost": "0.50",
            "price": {"unit": "word", "per": 100, "price": "1.00", "as_of": "2026-07-10", "source": "a survey"},
        }
    ],
}


def test_what_was_used_and_paid():
    (section,) = cost_sections({"costs": COSTS})
    (table,) = section.tables
    found = dict(zip((column.title for column in table.columns), (cell.text for cell in table.rows[0]), strict=True))
    assert found == {
        "adapter": "fast",
        "plan": "starter",
        "calls": "5",
        "words": "50",
        "cost": "0.50",
        "price": "1.00 USD for 100 words, as of 2026-07-10, a survey",
    }
    assert "Spent: 0.50 USD." in section.notes[0]


def test_without_costs_there_is_no_section():
    assert list(cost_sections({})) == []
