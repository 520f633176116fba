"""Whether two sessions ask the same questions of the same detectors: what changes the plan or an observation, and what not.

Not compared, because no answer depends on it: how many workers there are, which rows are selected by ``-k`` and its like,
when the session stops, how often crashes are retried, how long a row may take, what decides about the whole, and how rows
are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_benchbench.adapters.base import AdapterUnavailable, Weights
from pytest_benchbench.adapters.pool import AdapterLoadError
from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.observation import AdapterRecord

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import PooledAdapter
    from pytest_benchbench.session.network import NetworkGuard
    from pytest_benchbench.session.planning import Plan

COMPARED_OPTIONS = {
    "adapters": "--bench-adapter",
    "select": "--bench-select",
    "split": "--bench-split",
    "shard": "--bench-shard",
    "verify": "--bench-verify",
    "network": "--bench-network",
    "max_pixels": "--bench-max-pixels",
    "artifact_roots": "--bench-artifact-root",
    "collected": "what is collected",
}
"""Options of ``run.json`` that change the plan or an observation, and what people know them by."""

PACKAGES_THAT_RUN_TESTS = frozenset({"pytest", "pytest-xdist"})


def differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Compare what ``run.json`` says of two sessions.

    Args:
        was: What it says of the first; a document from a file, of which nothing is known but that it has these parts.
        now: What it would say of the second.

    Returns:
        One text for each thing that changes the plan or an observation and is not the same.
    """
    found = list(_manifest_differences(was["manifests"], now["manifests"]))
    if was["package"].get("kernel_sha256") != now["package"]["kernel_sha256"]:
        versions = f"{was['package'].get('version')} then, {now['package']['version']} now"
        found.append(f"the sources of pytest-benchbench differ ({versions})")
    for name, option in COMPARED_OPTIONS.items():
        then, current = was["options"].get(name), now["options"][name]
        if _in_any_order(then) != _in_any_order(current):
            found.append(f"{option}: {_shown(then)} then, {_shown(current)} now")
    then, current = (_expectations_digest(document) for document in (was, now))
    if then != current:
        found.append(f"--bench-expectations: {then or 'none'} then, {current or 'none'} now")
    for package, version in was["versions"].items():
        current = now["versions"].get(package)
        # one that was missing changes no answer that is recorded: what needs it had none to give
        if version is not None and current != version and package not in PACKAGES_THAT_RUN_TESTS:
            found.append(f"{package}: {version} then, {current or 'not installed'} now")
    return found


def compared_options(document: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options of ``run.json`` that change the plan or an observation, all but the shard.

    Args:
        document: Of a session of this version.
    """
    options = document["options"]
    return {name: _in_any_order(options[name]) for name in COMPARED_OPTIONS if name != "shard"}


def _manifest_differences(was: Iterable[Any], now: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    then = {manifest.get("sha256"): manifest.get("path") for manifest in was if isinstance(manifest, dict)}
    current = {manifest["sha256"]: manifest["path"] for manifest in now}
    paths = {path for sha256, path in current.items() if sha256 not in then}
    for sha256, path in then.items():
        if sha256 not in current:
            yield f"manifest {path}: its bytes changed" if path in paths else f"manifest {path} is not given"
            paths.discard(path)
    for path in sorted(paths):
        yield f"manifest {path} was not part of it"


def _expectations_digest(document: Mapping[str, Any]) -> str | None:
    expectations = document["options"].get("expectations")
    return None if not isinstance(expectations, dict) else str(expectations.get("sha256"))[:12]


def _in_any_order(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, list) else value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value) or "nothing"
    return "nothing" if value in (None, {}) else one_line(msgspec.json.encode(value).decode())


def adapter_differences(
    plan: Plan, answers: Mapping[str, list[AdapterRecord]], guard: NetworkGuard, *, distributed: bool
) -> list[str]:
    """Load the adapters that gave verdicts, and compare what stands behind their answers then and now.

    Args:
        plan: Has the adapters of this process.
        answers: What stood behind the recorded verdicts, by adapter.
        guard: What guards the network of this process.
        distributed: Whether workers ask them; else the instances that are loaded here are kept and asked.

    Returns:
        One text for each difference.
    """
    found: list[str] = []
    try:
        for adapter in sorted(answers):
            found += _adapter_differences(plan.pool.warm(adapter), answers[adapter], guard)
    except BaseException:
        plan.pool.close()
        raise
    if found or distributed:
        plan.notes += plan.pool.close()
    return found


def _adapter_differences(pooled: PooledAdapter, answers: list[AdapterRecord], guard: NetworkGuard) -> list[str]:
    adapter = pooled.alias
    try:
        with guard.loading(pooled):
            description = pooled.load()
    except AdapterUnavailable as error:
        return [f"adapter {adapter} answered then and is unavailable now: {one_line(error)}"]
    except AdapterLoadError as error:
        return [f"adapter {adapter} answered then and cannot be loaded now: {one_line(error)}"]
    now = AdapterRecord.of(pooled, description)
    return [f"adapter {adapter}: {text}" for was in answers if was != now for text in _record_differences(was, now)]


def _record_differences(was: AdapterRecord, now: AdapterRecord) -> Iterator[str]:
    if was.name != now.name:
        yield f"it was {was.name} then and is {now.name} now"
    if was.version != now.version:
        yield f"version {one_line(was.version)} then, {one_line(now.version)} now"
    if was.source_sha256 != now.source_sha256:
        yield "its source file changed"
    if was.weights != now.weights:
        yield f"weights {_shown_weights(was.weights)} then, {_shown_weights(now.weights)} now"
    if was.options != now.options:
        yield f"options {_shown(was.options)} then, {_shown(now.options)} now"
    if was.rule != now.rule:
        yield f"its rule was {one_line(was.rule)!r} and is {one_line(now.rule)!r}"


def _shown_weights(weights: tuple[Weights, ...]) -> str:
    return ", ".join(f"{one_line(w.name)} ({w.sha256[:12]})" for w in weights) or "none"
