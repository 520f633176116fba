"""Every settled row as one flat row of a table, for spreadsheets, notebooks and databases: CSV or Parquet.

Columns are those of ``COLUMNS``, in that order, whatever the evidence has; columns may be added at the end, none changes its
meaning. ``docs/report.md`` says what each holds.

CSV is that of RFC 4180 in UTF-8, with a header; numbers are the shortest texts that read back as the same number, truth is
``true`` or ``false``, and nothing is an empty cell. Spreadsheets take a cell that begins with one of ``= + - @``, a tab or a
line end for a formula, and run it. Texts are foreign here (they come from manifests and detectors): one that begins so, or
with an apostrophe, gets an apostrophe before it. Taking one away gives the text back, always.
"""

from __future__ import annotations

import csv
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import msgspec

from pytest_benchbench.evidence.grouping import base, facet, standing
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow

if TYPE_CHECKING:
    import pyarrow

Type = Literal["text", "integer", "number", "truth"]

_FORMULA = frozenset("=+-@\t\r\n'＝＋－＠")  # noqa: RUF001 - Excel takes the wide ones for operators too

_BATCH = 10_000
"""Rows of Parquet that are written together."""


class Column(NamedTuple):
    """A column of the export: its name, the type of its values, and whether it may be empty."""

    name: str
    type: Type
    may_be_empty: bool = True


COLUMNS: tuple[Column, ...] = (
    Column("run", "integer", False),
    Column("run_id", "text", False),
    Column("kind", "text", False),
    Column("suite", "text", False),
    Column("params", "text"),
    Column("adapter", "text", False),
    Column("case_id", "text", False),
    Column("attempt", "integer", False),
    Column("attempts", "integer", False),
    Column("outcome", "text", False),
    Column("counts_as", "text", False),
    Column("status", "text", False),
    Column("expected", "text"),
    Column("score", "number"),
    Column("label", "text"),
    Column("message_bit_accuracy", "number"),
    Column("reason", "text"),
    Column("removal", "text"),
    Column("error_type", "text"),
    Column("error_message", "text"),
    Column("media_type", "text"),
    Column("state", "text"),
    Column("arm", "text"),
    Column("transform", "text"),
    Column("attack_family", "text"),
    Column("attack_strength", "number"),
    Column("base", "text"),
    Column("artifact_sha256", "text", False),
    Column("manifest", "text", False),
    Column("manifest_sha256", "text", False),
    Column("line", "integer"),
    Column("pointer", "text"),
    Column("row_sha256", "text", False),
    Column("call", "text"),
    Column("adapter_elapsed_ms", "number"),
    Column("load_ms", "number"),
    Column("batch_size", "integer"),
    Column("batch_elapsed_ms", "number"),
    Column("fidelity", "text", False),
    Column("fidelity_reason", "text"),
    Column("mae", "number"),
    Column("changed_fraction", "number"),
    Column("psnr_db", "number"),
    Column("psnr_status", "text"),
    Column("snr_db", "number"),
    Column("snr_status", "text"),
    Column("mean_psnr_db", "number"),
    Column("mean_psnr_status", "text"),
    Column("changed_frame_fraction", "number"),
    Column("adapter_name", "text", False),
    Column("adapter_version", "text"),
    Column("adapter_options", "text", False),
    Column("adapter_source_sha256", "text"),
    Column("adapter_weights", "text", False),
    Column("project_commit", "text"),
    Column("dirty", "truth"),
    Column("kernel_sha256", "text", False),
    Column("network", "text"),
    Column("network_refused", "integer"),
    Column("worker", "text"),
    Column("temporal", "text"),
    Column("scorer", "text"),
    Column("decoding", "text"),
    Column("case", "text", False),
)
"""``adapter_options``, ``adapter_weights``, ``temporal``, ``scorer``, ``decoding`` and ``case`` are JSON, keys sorted."""

_json = msgspec.json.Encoder(order="sorted").encode


def flat(settled: SettledRow, run: int) -> tuple[Any, ...]:
    """Give the values of ``COLUMNS`` of one row; ``None`` where there is none.

    Args:
        settled: The row.
        run: The number of its run, from 1.

    Raises:
        EvidenceError: The row contradicts itself.
    """
    row = settled.row
    key, manifest, adapter, code = row.key, row.manifest, row.adapter, row.code
    detection, fidelity, artifact = row.detection, row.fidelity, row.artifact
    error = None if row.error is msgspec.UNSET else row.error
    batch = None if row.batch is msgspec.UNSET else row.batch
    network = None if row.network is msgspec.UNSET else row.network
    family, strength = _attack(row.case)
    return (
        *(run, row.run_id, row.kind, key.suite, key.params, key.adapter, key.case_id, key.attempt, settled.attempts),
        *(settled.outcome, standing(settled), detection.status, facet(row, "expected")),
        *(detection.score, detection.label, detection.message_bit_accuracy, detection.reason),
        row.removal.outcome if row.removal else None,
        *((error.type, error.message) if error else (None, None)),
        *(facet(row, "media_type"), facet(row, "state"), facet(row, "arm"), facet(row, "transform")),
        *(family, strength, base(row)),
        *(artifact.sha256, manifest.name, manifest.sha256, manifest.line, manifest.pointer, row.row_sha256),
        *(detection.call, detection.adapter_elapsed_ms, detection.load_ms),
        *((batch.size, batch.elapsed_ms) if batch else (None, None)),
        *(fidelity.status, fidelity.reason, fidelity.mae, fidelity.changed_fraction),
        *(_set(fidelity.psnr_db), fidelity.psnr_status, _set(fidelity.snr_db), fidelity.snr_status),
        *(_set(fidelity.mean_psnr_db), fidelity.mean_psnr_status, fidelity.changed_frame_fraction),
        *(adapter.name, adapter.version, _text(adapter.options), adapter.source_sha256, _text(adapter.weights)),
        *(code.project_commit, code.dirty, code.kernel_sha256),
        *((network.mode, network.refused + network.refused_loading) if network else (None, None)),
        row.worker,
        *(None if value is None else _text(value) for value in (detection.temporal, detection.scorer, artifact.decoding)),
        _text(row.case),
    )


def _attack(case: dict[str, Any]) -> tuple[str | None, float | None]:
    """Give family and strength of the attack that a case names; what is of another type is in ``case`` alone."""
    value: Any = case
    for name in ("transform", "parameters", "attack"):
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return None, None
    family, strength = value.get("family"), value.get("strength")
    if not isinstance(strength, int | float) or isinstance(strength, bool):
        strength = None
    return family if isinstance(family, str) else None, None if strength is None else float(strength)


def _set(value: float | msgspec.UnsetType | None) -> float | None:
    return None if value is msgspec.UNSET else value


def _text(value: Any) -> str:
    return _json(value).decode()


class Export(ABC):
    """Writes rows as they come; a context manager that closes the file.

    Args:
        path: Must not exist.

    Raises:
        OSError: It cannot be written.
    """

    extra: ClassVar[str | None] = None
    """The extra of this package that it needs, and ``needs`` what that brings."""

    needs: ClassVar[str | None] = None

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = 1

    def begin_run(self, number: int) -> None:
        """Say that the rows to come are those of another run."""
        self.run = number

    @abstractmethod
    def add(self, settled: SettledRow) -> None:
        """Write one row.

        Raises:
            EvidenceError: It contradicts itself, or has a number that the format cannot hold.
            OSError: It cannot be written.
        """

    @abstractmethod
    def close(self) -> None:
        """Write what is left, and close the file.

        Raises:
            EvidenceError: A number is out of what the format can hold.
            OSError: It cannot be written.
        """

    @abstractmethod
    def abandon(self) -> None:
        """Close the file, whatever it lacks."""


class CsvExport(Export):
    """Writes CSV as the module says."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = path.open("x", encoding="utf-8", newline="", buffering=1024 * 1024)
        self._writer = csv.writer(self._file)
        self._writer.writerow(column.name for column in COLUMNS)

    def add(self, settled: SettledRow) -> None:
        """Write one row."""
        self._writer.writerow(map(_cell, flat(settled, self.run)))

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Close the file, whatever it lacks."""
        self._file.close()


def _cell(value: Any) -> Any:
    if type(value) is str:
        return f"'{value}" if value[:1] in _FORMULA and value else value
    if type(value) is bool:
        return "true" if value else "false"
    return value


class ParquetExport(Export):
    """Writes Parquet through pyarrow: 64-bit integers and floats, UTF-8 texts, zstd.

    Raises:
        ImportError: There is no pyarrow.
    """

    extra = "parquet"
    needs = "pyarrow"

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(path)
        types: dict[Type, Callable[[], pyarrow.DataType]] = {
            "text": pa.string,
            "integer": pa.int64,
            "number": pa.float64,
            "truth": pa.bool_,
        }
        self._schema = pa.schema([pa.field(c.name, types[c.type](), nullable=c.may_be_empty) for c in COLUMNS])
        self._errors = (pa.ArrowException, OverflowError)
        self._table = pa.Table
        self._arrays = pa.array
        self._file = path.open("xb")
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")
        self._rows: list[tuple[Any, ...]] = []

    def add(self, settled: SettledRow) -> None:
        """Write one row."""
        self._rows.append(flat(settled, self.run))
        if len(self._rows) == _BATCH:
            self._write()

    def _write(self) -> None:
        try:
            columns = [
                self._arrays(values, field.type)
                for values, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)
            ]
        except self._errors as error:
            raise EvidenceError(f"a number that Parquet cannot hold in the last {len(self._rows)} rows: {error}") from None
        self._rows.clear()
        self._writer.write_table(self._table.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        """Write what is left, and close the file."""
        if self._rows:
            self._write()
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Close the file, whatever it lacks."""
        self._rows.clear()
        self._writer.close()
        self._file.close()


EXPORTS: dict[str, type[Export]] = {"csv": CsvExport, "parquet": ParquetExport}
"""Formats of an export, by name; the file is ``rows`` with the name as its ending."""
