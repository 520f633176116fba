"""What paid detectors used and cost, as a section of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_benchbench.reports.html.view import Section, table_of, value_field
from pytest_benchbench.reports.markdown_costs import COLUMNS, column_values, costs_of, costs_sentences, price_text

_COLUMN_OF_PRICE = "price"


def cost_sections(environment: Mapping[str, Any]) -> Iterator[Section]:
    """Give the section about costs, none for a run without a paid detector.

    Args:
        environment: The section of the report that says what ``run.json`` says.
    """
    if (costs := costs_of(environment)) is None:
        return
    lines = [
        {**dict(zip(COLUMNS, column_values(one), strict=True)), _COLUMN_OF_PRICE: price_text(one, costs)}
        for one in costs.detectors
    ]
    fields = [value_field(name, is_optional=name != "adapter") for name in (*COLUMNS, _COLUMN_OF_PRICE)]
    table = table_of("costs-table", "By detector", lines, fields)
    yield Section("costs", "Costs", [" ".join(costs_sentences(costs))], None, [table])
