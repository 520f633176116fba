"""``benchbench adapters``: what can be asked here, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, AdapterUnavailable, BatchAdapter, Detection
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterLoadError, AdapterOptionError, AdapterPool
from pytest_benchbench.adapters.registry import AdapterRegistrationError, AdapterRegistry, installed_registry
from pytest_benchbench.cli.verified_adapters import VerifiedAdapter, add_verified, read_verified
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.session.run_directory import STATE_DIR, state_directory


def _choices(context: click.Context, parameter: click.Parameter, value: Iterable[str]) -> dict[str, AdapterChoice]:
    try:
        return {choice.name: choice for choice in (AdapterChoice.parse(text, option="--adapter") for text in value)}
    except AdapterOptionError as error:
        raise click.BadParameter(str(error)) from None


@click.command("adapters")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
@click.option("--rules", is_flag=True, help="Show each adapter's decision rule and weights too.")
@click.option(
    "--adapter",
    "choices",
    metavar="NAME:key=value,...",
    multiple=True,
    callback=_choices,
    help="Give an adapter options, such as where its weights are; repeatable.",
)
@click.option(
    "--check",
    "checked",
    metavar="NAME[:key=value,...]",
    help="Embed the adapter's own mark into synthetic carriers, ask it about them, and report what it finds.",
)
def command(as_json: bool, rules: bool, choices: dict[str, AdapterChoice], checked: str | None) -> None:
    """Say for each known adapter whether it can be asked on this machine, and what is missing otherwise.

    verified: a known mark was detected, or a known text scored as expected, with these very weights, by the tests of the
    adapter or by --check in this project.
    wired: the code path is tested, these weights were never seen.

    Every available adapter is really loaded: its packages imported, its weights read and their digests checked. Adapters
    that a project's conftest registers are known to pytest alone and are not listed.

    --check exits with 0 if a mark was found in at least one marked carrier and none in an unmarked one, else with 1.
    """
    registry = installed_registry()
    if checked is not None:
        _check(checked, registry, as_json=as_json)
        return
    pool = AdapterPool(registry, choices, Path.cwd())
    verified = read_verified(Path.cwd() / STATE_DIR)
    found = [_state(registry, pool, name, verified) for name in registry.names()]
    pool.close()
    if as_json:
        click.echo(encode_document(found).decode(), nl=False)
        return
    width = max(len(state["name"]) for state in found)
    for state in found:
        said = state["state"]
        if said == "available":
            said += f", {state['standing']}, version {state['version']}"
        if state["reason"]:
            said += f": {state['reason']}"
        click.echo(f"{state['name']:<{width}}  {', '.join(state['media_types']):<6} {said}")
        if rules and state["rule"]:
            click.echo(f"{'':<{width}}  rule: {state['rule']}")
            for weights in state["weights"]:
                click.echo(f"{'':<{width}}  weights: {weights['name']} sha256 {weights['sha256']}")


def _state(registry: AdapterRegistry, pool: AdapterPool, name: str, verified: Iterable[VerifiedAdapter]) -> dict[str, Any]:
    state: dict[str, Any] = {
        "name": name,
        "media_types": [],
        "state": "available",
        "reason": None,
        "batch": False,
        "standing": None,
        "version": None,
        "rule": None,
        "weights": [],
    }
    try:
        state["media_types"] = sorted(registry.media_types()[name])
        pooled = pool.warm(name)
        description = pooled.load()
        state |= msgspec.to_builtins(description)
        state["batch"] = isinstance(pooled.adapter, BatchAdapter)
        state["standing"] = _standing(name, pooled.adapter, description, verified)
    except AdapterUnavailable as error:
        state |= {"state": "unavailable", "reason": str(error)}
    except (AdapterLoadError, AdapterOptionError, AdapterRegistrationError) as error:
        state |= {"state": "broken", "reason": str(error)}
    return state


def _standing(name: str, adapter: Adapter, description: AdapterDescription, verified: Iterable[VerifiedAdapter]) -> str:
    """Say ``verified`` where a known mark was seen to be detected with every file of weights that is loaded."""
    weights = {file.sha256 for file in description.weights}
    if adapter.verified_weights is not None and weights <= adapter.verified_weights:
        return "verified"
    known = _identity(name, description)
    here = any((check.adapter, check.version, check.weights) == known for check in verified)
    return "verified" if here else "wired"


def _identity(name: str, description: AdapterDescription) -> tuple[str, str, tuple[str, ...]]:
    return name, description.version, tuple(sorted(file.sha256 for file in description.weights))


def _check(text: str, registry: AdapterRegistry, *, as_json: bool) -> None:
    from pytest_benchbench.cohorts import CohortError
    from pytest_benchbench.cohorts.checking import check_adapter

    try:
        choice = AdapterChoice.parse(text, option="--check")
    except AdapterOptionError as error:
        raise click.UsageError(str(error)) from None
    try:
        check = check_adapter(choice, registry)
    except AdapterUnavailable as error:
        raise click.ClickException(f"{choice.name} is unavailable: {error}") from None
    except CohortError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        document = {
            "adapter": check.adapter,
            "verified": check.is_verified,
            "description": check.description,
            "carriers": [
                {"carrier": carrier.name, "clean": carrier.clean, "marked": carrier.marked} for carrier in check.carriers
            ],
        }
        click.echo(encode_document(document).decode(), nl=False)
    else:
        click.echo(f"{check.adapter}, version {check.description.version}")
        for file in check.description.weights:
            click.echo(f"weights: {file.name} sha256 {file.sha256}")
        for carrier in check.carriers:
            click.echo(f"{carrier.name}: clean {_said(carrier.clean)}; marked {_said(carrier.marked)}")
    if not check.is_verified:
        raise click.ClickException(f"{check.adapter} is not verified: see above")
    accuracies = [c.marked.message_bit_accuracy for c in check.carriers if c.marked.message_bit_accuracy is not None]
    name, version, weights = _identity(check.adapter, check.description)
    record = VerifiedAdapter(
        adapter=name,
        version=version,
        weights=weights,
        date=datetime.now(UTC).date().isoformat(),
        message_bit_accuracy=max(accuracies, default=None),
    )
    try:
        add_verified(state_directory(Path.cwd()), record)
    except OSError as error:
        raise click.ClickException(f"verified, but {STATE_DIR} cannot be written: {error.strerror}") from None
    if not as_json:
        click.echo("verified: marks were found, and none where there was none")


def _said(detection: Detection) -> str:
    details = [str(detection.status)]
    if detection.score is not None:
        details.append(f"score {detection.score:.4g}")
    if detection.message_bit_accuracy is not None:
        details.append(f"bit accuracy {detection.message_bit_accuracy:.4f}")
    if detection.reason:
        details.append(detection.reason)
    return ", ".join(details)
