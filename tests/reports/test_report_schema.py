"""The schema says everything that a report has; other tests of reports hold theirs against it, too."""

import copy

import jsonschema
import pytest

from pytest_benchbench.evidence.repeated_runs import RepeatedRuns
from pytest_benchbench.reports.repeated import report_on
from pytest_benchbench.reports.report_schema import report_schema
from pytest_benchbench.reports.summary import Summary

REFERENCE = {"mae": 1.5, "changed_fraction": 0.5}


@pytest.fixture
def full(directories, row):
    """Two runs in which every part of a report has an entry."""

    def write(name, hour, swapped):
        attacks = [
            row(
                f"jpeg-{strength}",
                pair_id="pair-0",
                state="attacked",
                transform=f"jpeg-{strength}",
                parameters={
                    "attack": {"family": "jpeg", "strength": strength, "seed": None},
                    "source": {"provider": "p", "content_stratum": "s"},
                },
                score=0.25,
                message_bit_accuracy=0.75,
                reason="36/48 bits",
                fidelity={"status": "measured", **REFERENCE, "psnr_db": 30.0, "psnr_status": "finite"},
            )
            for strength in (50, 90)
        ]
        rows = [
            *attacks,
            row("marked", pair_id="pair-0", expected="detected", score=0.75, call="cold"),
            row("wrong", status="detected" if swapped else "not_detected", expected="detected", score=0.125),
            row("known", status="not_detected", expected="detected", known=True),
            row("negative", status="not_detected", arm="hard_negative", expected="not_detected", state="clean"),
            row("flaky", status="detected", expected="detected"),
            row("flaky", status="not_detected", expected="detected", attempt=2),
            row("gone", state="removed", status="not_detected"),
            row("broken", status="error", error={"type": "OSError", "message": "no"}),
            row("absent", status="unavailable"),
            row("planned", status="error", outcome="not_run"),
            row("one", artifact="shared"),
            row("other", artifact="shared", status="not_detected"),
        ]
        rows = [{**made, "manifest": {**made["manifest"], "line": line}} for line, made in enumerate(rows, 1)]
        return directories.write(name, rows, started=f"2026-11-30T0{hour}:00:00.000+00:00", finished=None)

    return [write("one", 1, False), write("two", 2, True)]


def empty_parts(value, path=""):
    """Name the members of results that have no entry."""
    if isinstance(value, dict) and "listed" in value:
        value = value["listed"]
    if value in ([], {}):
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from empty_parts(inner, f"{path}.{name}")


def test_a_report_with_an_entry_in_every_part_is_valid(full, valid):
    several = valid(report_on(RepeatedRuns.read(full), summary=Summary(by=["media_type"])))
    assert list(empty_parts(several["results"])) == []
    assert several["results"]["tables"].keys() >= {"adapter_provider", "adapter_content_stratum"}
    alone = valid(report_on(RepeatedRuns.read(full[:1])))
    assert "repetition" not in alone["results"]
    valid(report_on(RepeatedRuns.read([full[0] / "evidence.jsonl"])))


def objects(value, path=()):
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            yield from objects(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value[:2]):
            yield from objects(inner, (*path, place))


FREE = {"environment", "options", "ranges", "timing", "by", "verdicts", "cold"}
"""Objects with members of their own names, or whose names the schema does not know."""


def test_no_object_of_a_report_has_a_member_that_the_schema_does_not_name(full):
    document = report_on(RepeatedRuns.read(full), summary=Summary(by=["media_type"]))
    validator = jsonschema.Draft202012Validator(report_schema())
    for path in objects(document):
        if FREE & {*path[:1], *path[-1:]} or path[:1] == ("environment",):
            continue
        changed = copy.deepcopy(document)
        inner = changed
        for name in path:
            inner = inner[name]
        inner["surprise"] = 1
        assert not validator.is_valid(changed), path


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(report_schema())
