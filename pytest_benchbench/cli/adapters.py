"""``benchbench adapters``: what can be asked here, and why the rest cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from pytest_benchbench.adapters.base import Adapter, AdapterUnavailable, BatchAdapter
from pytest_benchbench.adapters.pool import AdapterLoadError, AdapterPool
from pytest_benchbench.adapters.registry import AdapterRegistrationError, AdapterRegistry, installed_registry


@click.command("adapters")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of lines for people.")
@click.option("--rules", is_flag=True, help="Show each adapter's decision rule and weights too.")
def command(as_json: bool, rules: bool) -> None:
    """Say for each known adapter whether it can be asked on this machine, and what is missing otherwise.

    verified: a known mark was detected with these very weights. wired: the code path is tested, these weights were never
    seen.

    Every available adapter is really loaded: its packages imported, its weights read and their digests checked. Adapters
    that a project's conftest registers are known to pytest alone and are not listed.
    """
    registry = installed_registry()
    pool = AdapterPool(registry, {}, Path.cwd())
    found = [_state(registry, pool, name) for name in registry.names()]
    pool.close()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
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


def _state(registry: AdapterRegistry, pool: AdapterPool, name: str) -> dict[str, Any]:
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
        state |= msgspec.to_builtins(pooled.load())
        state["batch"] = isinstance(pooled.adapter, BatchAdapter)
        state["standing"] = _standing(pooled.adapter, {weights["sha256"] for weights in state["weights"]})
    except AdapterUnavailable as error:
        state |= {"state": "unavailable", "reason": str(error)}
    except (AdapterLoadError, AdapterRegistrationError) as error:
        state |= {"state": "broken", "reason": str(error)}
    return state


def _standing(adapter: Adapter, weights: set[str]) -> str:
    """Say ``verified`` where the adapter's tests saw a known mark detected with every file of weights that is loaded."""
    return "verified" if adapter.verified_weights is not None and weights <= adapter.verified_weights else "wired"
