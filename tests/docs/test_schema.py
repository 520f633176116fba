"""The published JSON Schemas are those that reader and writer stand for."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"


@pytest.mark.parametrize("kind", ["watermark", "dataset", "golden-set"])
def test_the_published_schema_of_a_manifest_is_what_validate_prints(kind):
    printed = CliRunner().invoke(main, ["validate", "--schema", kind])
    published = (SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8")
    assert printed.output == published, "see Documentation in CONTRIBUTING.md"


def test_the_published_schema_of_evaluations_is_what_evaluate_prints():
    printed = CliRunner().invoke(main, ["evaluate", "--schema"])
    published = (SCHEMAS / "evaluation.schema.json").read_text(encoding="utf-8")
    assert printed.output == published, "see Documentation in CONTRIBUTING.md"


def test_the_published_schema_of_reports_is_what_report_prints():
    printed = CliRunner().invoke(main, ["report", "--schema"])
    published = (SCHEMAS / "report.schema.json").read_text(encoding="utf-8")
    assert printed.output == published, "see Documentation in CONTRIBUTING.md"


def test_the_published_schema_of_summaries_is_what_report_prints():
    printed = CliRunner().invoke(main, ["report", "--summary-schema"])
    published = (SCHEMAS / "summary.schema.json").read_text(encoding="utf-8")
    assert printed.output == published, "see Documentation in CONTRIBUTING.md"


def test_the_published_schema_of_benchmarks_is_what_report_prints():
    printed = CliRunner().invoke(main, ["report", "--benchmark-schema"])
    published = (SCHEMAS / "benchmark.schema.json").read_text(encoding="utf-8")
    assert printed.output == published, "see Documentation in CONTRIBUTING.md"


def test_the_published_schema_of_series_is_what_history_prints():
    printed = CliRunner().invoke(main, ["history", "--schema"])
    published = (SCHEMAS / "detector-series.schema.json").read_text(encoding="utf-8")
    assert printed.output == published, "see Documentation in CONTRIBUTING.md"
