"""Flat rows: every number reads back as it was, and no text becomes a formula."""

import csv
import json
import tempfile
from pathlib import Path

import msgspec
import numpy as np
import pandas
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow
from pytest_benchbench.reports.export import COLUMNS, CsvExport, ParquetExport, flat

NAMES = [column.name for column in COLUMNS]

texts = st.text(st.characters(codec="utf-8"), max_size=12)
formulas = st.builds(
    str.__add__, st.sampled_from(["=", "+", "-", "@", "\t", "\r", "\n", "'", "''=", "\uff1d", "\uff20"]), texts
)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def settled_row(made, *, attempts=1, unstable=False):
    row = msgspec.json.decode(json.dumps(made), type=EvidenceRow)
    return SettledRow(row, row.outcome, unstable, attempts, b"")


@pytest.fixture(scope="module")
def settled(row):
    return lambda *given_, **fields: settled_row(row(*given_, **fields))


def written(export, folder, *rows):
    path = Path(folder) / "rows"
    out = export(path)
    for number, settled in rows:
        out.begin_run(number)
        out.add(settled)
    out.close()
    return path


def csv_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_column_has_a_value_in_every_row(settled):
    assert len(flat(settled(), 1)) == len(COLUMNS) == len(set(NAMES))


def test_values_stand_under_their_names(row, tmp_path):
    made = row(
        "c1",
        params="p",
        attempt=2,
        score=0.1,
        label="ai",
        message_bit_accuracy=0.75,
        reason="36/48",
        state="removed",
        arm="hard_negative",
        temporal={"frames": [1, 2]},
        scorer={"b": 1, "a": 2},
        load_ms=0.5,
        worker=None,
        fidelity={
            "status": "measured",
            "mae": 1.5,
            "changed_fraction": 0.25,
            "psnr_db": None,
            "psnr_status": "unbounded_identical",
            "mean_psnr_db": 30.5,
            "mean_psnr_status": "finite",
        },
    )
    made["case"]["transform"] = {"name": "jpeg-75", "parameters": {"attack": {"family": "jpeg", "strength": 75}}}
    made |= {"batch": {"size": 4, "elapsed_ms": 8.5}, "network": {"mode": "deny", "refused": 1, "refused_loading": 2}}
    made |= {"error": {"type": "OSError", "message": "no"}}
    settled = settled_row(made, attempts=2)
    wanted = {
        "run": 3,
        "run_id": "run-1",
        "kind": "watermark",
        "suite": "suite.py::test_detection",
        "params": "p",
        "adapter": "dwt-dct",
        "case_id": "c1",
        "attempt": 2,
        "attempts": 2,
        "outcome": "measured",
        "counts_as": "detected",
        "status": "detected",
        "expected": "unresolved",
        "score": 0.1,
        "label": "ai",
        "message_bit_accuracy": 0.75,
        "reason": "36/48",
        "removal": "signal_remained",
        "error_type": "OSError",
        "error_message": "no",
        "media_type": "image",
        "state": "removed",
        "arm": "hard_negative",
        "transform": "jpeg-75",
        "attack_family": "jpeg",
        "attack_strength": 75.0,
        "base": "pair-c1",
        "artifact_sha256": made["artifact"]["sha256"],
        "manifest": "cases.jsonl",
        "manifest_sha256": "a" * 64,
        "line": 1,
        "row_sha256": made["row_sha256"],
        "call": "warm",
        "adapter_elapsed_ms": 1.0,
        "load_ms": 0.5,
        "batch_size": 4,
        "batch_elapsed_ms": 8.5,
        "fidelity": "measured",
        "mae": 1.5,
        "changed_fraction": 0.25,
        "psnr_status": "unbounded_identical",
        "mean_psnr_db": 30.5,
        "mean_psnr_status": "finite",
        "adapter_name": "dwt-dct",
        "adapter_version": "1",
        "adapter_options": "{}",
        "adapter_source_sha256": "b" * 64,
        "adapter_weights": json.dumps([{"name": "w.onnx", "sha256": "e" * 64}], separators=(",", ":")),
        "kernel_sha256": "c" * 64,
        "network": "deny",
        "network_refused": 3,
        "temporal": '{"frames":[1,2]}',
        "scorer": '{"a":2,"b":1}',
        "case": json.dumps(made["case"], sort_keys=True, separators=(",", ":")),
    }
    (parquet,) = pyarrow.parquet.read_table(written(ParquetExport, tmp_path, (3, settled))).to_pylist()
    assert parquet == dict.fromkeys(NAMES) | wanted
    (tmp_path / "rows").unlink()
    (read,) = csv_rows(written(CsvExport, tmp_path, (3, settled)))
    assert read == dict.fromkeys(NAMES, "") | {name: str(value) for name, value in wanted.items()}


@given(numbers, numbers, texts | formulas, texts | formulas, st.none() | st.booleans())
def test_csv_reads_back_as_it_was_and_has_no_formula(row, score, elapsed, label, reason, dirty):
    made = row("c1", score=score, elapsed=elapsed, label=label, reason=reason)
    made["code"]["dirty"] = dirty
    with tempfile.TemporaryDirectory() as folder:
        path = written(CsvExport, folder, (1, settled_row(made)))
        (read,) = csv_rows(path)
    for name, text in (("label", label), ("reason", reason)):
        assert read[name][:1] not in set("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
        assert (read[name][1:] if read[name].startswith("'") else read[name]) == text
    assert (float(read["score"]), float(read["adapter_elapsed_ms"])) == (score, elapsed)
    assert read["dirty"] == {None: "", True: "true", False: "false"}[dirty]


def test_pandas_reads_the_same_numbers_from_both(settled, tmp_path):
    drawn = np.random.default_rng(3).standard_normal((200, 2)) * 10.0 ** np.arange(-100, 100)[:, None]
    rows = [(1, settled(f"c{i}", score=score, elapsed=elapsed)) for i, (score, elapsed) in enumerate(drawn.tolist())]
    names = ["score", "adapter_elapsed_ms"]
    (tmp_path / "csv").mkdir()
    parquet = pandas.read_parquet(written(ParquetExport, tmp_path, *rows))
    assert (parquet[names].to_numpy() == drawn).all()
    path = written(CsvExport, tmp_path / "csv", *rows)
    assert (pandas.read_csv(path, converters=dict.fromkeys(names, float))[names].to_numpy() == drawn).all()
    assert (parquet["case"] == pandas.read_csv(path)["case"]).all()


@settings(max_examples=20)
@given(st.lists(st.tuples(numbers, texts | formulas), min_size=1, max_size=5))
def test_parquet_reads_back_as_it_was(row, drawn):
    rows = [settled_row(row(f"c{i}", score=score, label=label)) for i, (score, label) in enumerate(drawn)]
    with tempfile.TemporaryDirectory() as folder:
        table = pyarrow.parquet.read_table(written(ParquetExport, folder, *((2, settled) for settled in rows)))
    assert [(one["run"], one["score"], one["label"]) for one in table.to_pylist()] == [(2, *one) for one in drawn]


def test_parquet_has_the_types_of_the_columns_even_where_they_are_empty(settled, tmp_path):
    schema = pyarrow.parquet.read_schema(written(ParquetExport, tmp_path))
    types = {"text": "string", "integer": "int64", "number": "double", "truth": "bool"}
    assert [(field.name, str(field.type), field.nullable) for field in schema] == [
        (column.name, types[column.type], column.may_be_empty) for column in COLUMNS
    ]


def test_many_rows_of_parquet_are_all_there(settled, tmp_path):
    one = settled()
    path = written(ParquetExport, tmp_path, *((number, one) for number in range(10_001)))
    assert pyarrow.parquet.read_table(path, columns=["run"])["run"].to_pylist() == list(range(10_001))


def test_a_number_that_parquet_cannot_hold_is_refused_in_one_line(row, tmp_path):
    out = ParquetExport(tmp_path / "rows")
    out.add(settled_row(row("c1") | {"batch": {"size": 2**63, "elapsed_ms": 1.0}}))
    with pytest.raises(EvidenceError, match=r"^a number that Parquet cannot hold in the last 1 rows: [^\n]+$"):
        out.close()
    out.abandon()


@pytest.mark.parametrize("strength", ["strong", True, None, [1]])
def test_a_strength_that_is_no_number_is_in_the_case_alone(row, strength):
    made = row("c1")
    made["case"]["transform"] = {"name": "x", "parameters": {"attack": {"family": 3, "strength": strength}}}
    read = dict(zip(NAMES, flat(settled_row(made), 1), strict=True))
    assert (read["attack_family"], read["attack_strength"]) == (None, None)
    assert json.loads(read["case"]) == made["case"]


@pytest.mark.parametrize("transform", ["jpeg", {"parameters": [1]}, {"parameters": {"attack": "x"}}, None])
def test_a_case_without_an_attack_has_none(row, transform):
    made = row("c1")
    made["case"]["transform"] = transform
    assert dict(zip(NAMES, flat(settled_row(made), 1), strict=True))["attack_family"] is None
