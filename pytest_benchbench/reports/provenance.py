"""What a report rests on: manifests, detectors and code, as the rows of evidence name them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from pytest_benchbench.evidence.observation import AdapterRecord, CodeRecord, EvidenceRow


class Provenance:
    """Collects the distinct inputs of the rows and how many rows rest on each. Memory: one entry for each of them."""

    def __init__(self) -> None:
        self._origins: Counter[tuple[str, str, str, CodeRecord]] = Counter()
        self._origin: tuple[str, str, str, CodeRecord] | None = None  # rows that follow each other mostly agree: count them
        self._alike = 0
        self._adapters: Counter[bytes] = Counter()
        self._last: dict[str, tuple[AdapterRecord, bytes]] = {}  # rows of one adapter mostly agree: encode what is new
        self._encoder = msgspec.json.Encoder(order="deterministic")

    def add(self, row: EvidenceRow) -> None:
        """Take one row."""
        origin = (row.run_id, row.manifest.name, row.manifest.sha256, row.code)
        if origin != self._origin:
            self._close()
            self._origin = origin
        self._alike += 1
        alias = row.key.adapter
        record, encoded = self._last.get(alias, (None, b""))
        if record != row.adapter:
            encoded = self._encoder.encode((alias, row.adapter))
            self._last[alias] = (row.adapter, encoded)
        self._adapters[encoded] += 1

    def _close(self) -> None:
        """Count the rows of the origin that was last seen."""
        if self._origin is not None:
            self._origins[self._origin] += self._alike
        self._alike = 0

    def document(self, name: str, sha256: str) -> dict[str, Any]:
        """Give the inputs, sorted, with the number of rows that rest on each.

        Args:
            name: The file of evidence that the rows came from.
            sha256: Its digest, which binds the report to it.
        """
        self._close()
        manifests: Counter[tuple[str, str]] = Counter()
        code: Counter[CodeRecord] = Counter()
        for (_, manifest, digest, ran), rows in self._origins.items():
            manifests[manifest, digest] += rows
            code[ran] += rows
        adapters = (msgspec.json.decode(encoded) for encoded in sorted(self._adapters))
        return {
            "evidence": {"name": name, "sha256": sha256},
            "run_ids": sorted({run_id for run_id, *_ in self._origins}),
            "manifests": [
                {"name": manifest, "sha256": digest, "rows": rows} for (manifest, digest), rows in sorted(manifests.items())
            ],
            "adapters": [
                {"alias": alias, **record, "rows": rows}
                for (alias, record), (_, rows) in zip(adapters, sorted(self._adapters.items()), strict=True)
            ],
            "code": [
                {**msgspec.to_builtins(ran), "rows": rows}
                for ran, rows in sorted(code.items(), key=lambda item: self._encoder.encode(item[0]))
            ],
        }
