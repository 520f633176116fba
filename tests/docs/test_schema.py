"""The published JSON Schema is the one that the reader stands for."""

from pathlib import Path

from click.testing import CliRunner

from pytest_benchbench.cli.validate import command

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "watermark.schema.json"


def test_the_published_schema_is_what_validate_prints():
    printed = CliRunner().invoke(command, ["--schema", "watermark"])
    assert printed.output == PUBLISHED.read_text(encoding="utf-8"), "see Documentation in CONTRIBUTING.md"
