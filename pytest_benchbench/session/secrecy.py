"""Cuts known secrets out of what leaves the process that runs a row: its report, its evidence, warnings."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_benchbench.session.collection import CaseItem
from pytest_benchbench.session.evidence_rows import EVIDENCE

if TYPE_CHECKING:
    import warnings

    from pytest_benchbench.adapters.secrets import Secrets

FOREIGN = {
    "detection": ("label", "reason", "temporal", "scorer"),
    "error": ("type", "message"),
    "fidelity": ("reason",),
}
"""Parts of a row of evidence that hold what detectors and suites say. Identity, digests and verdicts are never touched."""


class SecretKeeper:
    """Registered in each process that runs rows, and in the one that the user started, if secrets are known.

    Args:
        secrets: What must not be shown.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Mask the report of a row, once every other plugin has written to it."""
        report = yield
        if isinstance(item, CaseItem):
            self._mask_report(report)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Mask a warning before the terminal keeps it."""
        said = str(warning_message.message)
        if (masked := self._secrets.mask(said)) != said:
            warning_message.message = UserWarning(masked)

    def _mask_report(self, report: Any) -> None:
        mask = self._secrets.mask
        if isinstance(report.longrepr, tuple):  # of a skip: file, line, reason
            report.longrepr = tuple(mask(part) if isinstance(part, str) else part for part in report.longrepr)
        elif report.longrepr is not None:
            said = str(report.longrepr)
            if (masked := mask(said)) != said:
                report.longrepr = masked
        report.sections = [(name, mask(text)) for name, text in report.sections]
        report.user_properties = [(name, mask(v) if isinstance(v, str) else v) for name, v in report.user_properties]
        if hasattr(report, "wasxfail"):
            report.wasxfail = mask(report.wasxfail)
        if (evidence := getattr(report, EVIDENCE, None)) is not None:
            setattr(report, EVIDENCE, self._mask_evidence(evidence))

    def _mask_evidence(self, encoded: str) -> str:
        if not self._secrets.may_occur_in(encoded):
            return encoded
        row = msgspec.json.decode(encoded)
        for part, names in FOREIGN.items():
            for name in names:
                if name in (found := row.get(part) or {}):
                    found[name] = self._secrets.mask_json(found[name])
        return msgspec.json.encode(row).decode()
