"""Reports of a golden set's rows, as pytest shows them: nothing in them quotes a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_benchbench.evidence.withheld_text import WithheldTexts

if TYPE_CHECKING:
    import pytest

    from pytest_benchbench.session.collection import CaseItem


def withhold(item: CaseItem, report: pytest.TestReport) -> None:
    """Take what quotes a text of the row, or of those that were asked with it, out of a report.

    That is whatever a failure shows, local variables and compared values among it, and what was printed and logged.

    Args:
        item: The row.
        report: The report of its setup, call or teardown, before anybody else sees it.
    """
    if not item.private_texts:
        return
    withheld = WithheldTexts(item.private_texts)
    report.sections = [(name, withheld.hide(content)) for name, content in report.sections]
    report.longrepr = _without(withheld, report.longrepr)
    if hasattr(report, "wasxfail"):
        report.wasxfail = withheld.hide(report.wasxfail)
    if report.when == "teardown":
        item.private_texts.clear()


def _without(withheld: WithheldTexts, shown: Any) -> Any:
    """Give what a report shows; as plain text where something had to be taken out of it."""
    if shown is None:
        return None
    if isinstance(shown, tuple):
        path, line, reason = shown  # of a skipped row
        return path, line, withheld.hide(reason)
    text = str(shown)
    hidden = withheld.hide(text)
    return shown if hidden == text else hidden
