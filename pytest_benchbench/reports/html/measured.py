"""What a page says of where its numbers come from: files, detectors, code and machine, as the evidence names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_benchbench.reports.html.view import NOTHING, Cell, Field, Line, Table, cell, shown, table_of, value_field
from pytest_benchbench.reports.leaves import leaves

_TOLD_ELSEWHERE = frozenset({"merged_from", "gaps", "planned", "manifests"})


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured.

    Attributes:
        facts: Names and values.
        tables: Manifests, adapters and more.
    """

    facts: Sequence[tuple[str, str]]
    tables: Sequence[Table]


def measured_of(document: Mapping[str, Any]) -> Measured:
    """Collect what the report rests on."""
    inputs, environment = document["inputs"], document["environment"]
    facts = _facts(inputs, environment, document.get("runs") or (), document["results"].get("repetition"))
    return Measured(list(facts), list(_tables(inputs, environment, document)))


def _facts(inputs: Line, environment: Line, runs: Sequence[Line], repetition: Line | None) -> Iterator[tuple[str, str]]:
    yield "runs", shown(inputs["run_ids"])
    if repetition:
        yield "repetition", shown({name.replace("_", " "): count for name, count in repetition.items()})
    begun, ended = environment.get("started"), environment.get("finished")
    if begun or ended:
        yield "when (UTC)", f"{shown(begun)} to {shown(ended)}"
    evidence = inputs["evidence"]
    for file in [] if runs else (evidence if isinstance(evidence, list) else [evidence]):
        yield "evidence", f"{shown(file['name'])}, SHA-256 {shown(file['sha256'])}"
    for code in inputs["code"]:
        changed = {True: " with changed files", False: "", None: ""}[code["dirty"]]
        commit = (
            f"project commit {shown(code['project_commit'])}{changed}" if code["project_commit"] else "no project commit"
        )
        yield "code", f"{commit}; sources of pytest-benchbench SHA-256 {shown(code['kernel_sha256'])}; {code['rows']} rows"
    package = environment.get("package") or {}
    if package.get("version"):
        yield "pytest-benchbench", shown(package["version"])
    if versions := {name: version for name, version in (environment.get("versions") or {}).items() if version}:
        yield "versions", ", ".join(f"{shown(name)} {shown(version)}" for name, version in versions.items())
    if machine := environment.get("machine"):
        yield "machine", shown(machine)
    if planned := environment.get("planned"):
        yield "rows", shown({name.replace("_", " "): count for name, count in planned.items()})
    options = environment.get("options") or {}
    for name, title in (("verify", "files verified"), ("network", "network"), ("shard", "shard"), ("select", "selected")):
        if options.get(name):
            yield title, shown(options[name])


def _tables(inputs: Line, environment: Line, document: Line) -> Iterator[Table]:
    yield table_of(
        "manifests",
        "Manifests: on what",
        inputs["manifests"],
        [value_field("name", "manifest"), _digest("sha256", "SHA-256"), value_field("rows")],
    )
    yield table_of(
        "adapters",
        "Adapters: which detectors, by which rule, with which weights",
        inputs["adapters"],
        [
            value_field("alias", "adapter"),
            value_field("name"),
            value_field("version"),
            value_field("rule", "decides by"),
            value_field("options", is_optional=True),
            Field("weights (SHA-256)", _weights),
            _digest("source_sha256", "source SHA-256"),
            value_field("rows"),
        ],
        note="An adapter is the code that asks one detector. One that could not be loaded has neither version nor rule.",
    )
    if runs := document.get("runs"):
        told = ("run", "name", "run_id", "rows", "started", "finished", "exit_status", "evidence_sha256")
        yield table_of("runs", "Runs", runs, [value_field(name, is_optional=True) for name in told])
    if parts := environment.get("merged_from"):
        columns = ("run_id", "shard", "name", "exit_status", "evidence_lines", "evidence_sha256")
        yield table_of("merged", "Merged from", parts, [value_field(name) for name in columns])


def environment_table(environment: Line) -> Table:
    """List all that ``run.json`` says and that is not told elsewhere on the page."""
    told = leaves({name: value for name, value in environment.items() if name not in _TOLD_ELSEWHERE})
    lines = [{"what": path, "value": value} for path, value in told]
    return table_of("environment-table", "As run.json has it", lines, [value_field("what"), value_field("value")])


def _digest(name: str, title: str) -> Field:
    return Field(title, lambda line: cell(line[name]))


def _weights(line: Line) -> Cell:
    weights = line["weights"]
    return Cell(", ".join(f"{shown(one['name'])}: {shown(one['sha256'])}" for one in weights) or NOTHING, css="t")
