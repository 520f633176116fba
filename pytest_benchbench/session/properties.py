"""What a row's evidence says in the words of a JUnit property list, on the reports of its call and its teardown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from pytest_benchbench.evidence.observation import EvidenceRow

PREFIX = "benchbench."

Properties = list[tuple[str, object]]


_DETECTION = {
    name: f"{PREFIX}detection.{name}" for name in ("score", "label", "message_bit_accuracy", "reason", "adapter_elapsed_ms")
}

_FIDELITY = {
    name: f"{PREFIX}fidelity.{name}"
    for name in ("status", "psnr_db", "snr_db", "mean_psnr_db", "mae", "changed_fraction", "changed_frame_fraction")
}


def properties_of(row: EvidenceRow) -> Properties:
    """Name what was asked and what was observed; what is absent is left out.

    Which case by which adapter, where it stands in which manifest, what was expected, outcome, status, score, why there is
    no verdict, fidelity, and the artifact's digest.
    """
    manifest, expected = row.manifest, row.case.get("expected")
    place = f"{manifest.name}#{manifest.pointer}" if manifest.line is None else f"{manifest.name}:{manifest.line}"
    properties: Properties = [
        ("benchbench.case_id", row.key.case_id),
        ("benchbench.adapter", row.key.adapter),
        ("benchbench.manifest", place),
        ("benchbench.outcome", row.outcome),
        ("benchbench.detection.status", row.detection.status),
    ]
    if isinstance(expected, str):
        properties.append(("benchbench.expected", expected))
    for named, record in ((_DETECTION, row.detection), (_FIDELITY, row.fidelity)):
        for name, full_name in named.items():
            value = getattr(record, name)
            if value is not None and value is not msgspec.UNSET:
                properties.append((full_name, value))
    if row.error is not msgspec.UNSET:
        properties += [("benchbench.error.type", row.error.type), ("benchbench.error.message", row.error.message)]
    properties.append(("benchbench.artifact.sha256", row.artifact.sha256))
    return properties


def attach(item: Any, report: Any, row: EvidenceRow) -> None:
    """Put the properties onto a report, and onto its item, from which pytest fills the teardown's: JUnit reads those.

    A worker of pytest-xdist leaves it to the process that takes its reports: the evidence travels anyway, and the same said
    twice more would be the greater part of what a row sends.
    """
    if hasattr(item.config, "workerinput"):
        return
    properties = properties_of(row)
    report.user_properties.extend(properties)
    # an earlier try's are taken out
    item.user_properties[:] = [given for given in item.user_properties if not str(given[0]).startswith(PREFIX)]
    item.user_properties.extend(properties)


class SentProperties:
    """Puts the properties onto the reports that workers send."""

    def __init__(self) -> None:
        self._at_teardown: dict[str, Properties] = {}

    def attach(self, report: Any, row: EvidenceRow | None) -> None:
        """Complete a report of a row.

        Args:
            report: As it has come; those of a row come in the order setup, call, teardown.
            row: The evidence that it carries, if any.
        """
        if row is not None:
            self._at_teardown[report.nodeid] = properties_of(row)
            report.user_properties.extend(self._at_teardown[report.nodeid])
        if report.when == "teardown":
            properties = self._at_teardown.pop(report.nodeid, None)
            if properties is not None and row is None:
                report.user_properties.extend(properties)
