"""What a gate demands: rules as YAML, built in or of one's own."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from pytest_benchbench.evidence.grouping import CASE_FACETS
from pytest_benchbench.manifests.faults import shown_text
from pytest_benchbench.manifests.yaml_documents import YamlError, parse_yaml

MAX_BYTES = 256 * 1024
"""A larger policy file is refused."""

SLICE_FACETS = ("adapter", *CASE_FACETS)

Bound = Literal["observed", "wilson_lower", "wilson_upper"]
Unit = Literal["base", "row"]
Operator = Literal["<=", ">=", "==", "<", ">"]
Metric = Literal[
    "planned_count",
    "match_count",
    "mismatch_count",
    "measured_count",
    "known_mismatch_count",
    "error_count",
    "unavailable_count",
    "unstable_count",
    "detection_rate",
]

OWN_RULES = ("nothing_lost", "nothing_left_out", "one_suite_per_case", "verified_before_run")
"""Rules that every decision contains, whatever the policy says; a policy cannot use their names."""

_CHOICES = {"metric": Metric, "op": Operator, "bound": Bound, "unit": Unit}

_Identifier = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]


class PolicyError(Exception):
    """A policy that cannot be used; the message is one line that names the file and the field."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One demand.

    Attributes:
        id: Names the rule in the decision; unique in its policy.
        metric: What is counted, or the rate that is computed.
        op: How the metric's value and ``value`` compare when the rule holds.
        value: Finite; a rate lies in [0, 1].
        bound: For a rate, the observed one or a bound of its two-sided 95 % Wilson interval.
        unit: ``row``, or ``base``: all rows of one ``baseId`` or pair count as one.
        slice: Only rows whose properties have these values.
        min_n: The rule fails where fewer units are available.
    """

    id: _Identifier
    metric: Metric
    op: Operator
    value: float
    bound: Bound = "observed"
    unit: Unit = "row"
    slice: dict[str, str] | None = None
    min_n: Annotated[int, msgspec.Meta(ge=0)] = 0


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a gate demands.

    Attributes:
        name: Names the policy in the decision.
        rules: At least one.
        description: For people.
        allow_lazy_verification: Whether evidence is accepted whose files were hashed only when their row came.
    """

    name: _Identifier
    rules: Annotated[tuple[Rule, ...], msgspec.Meta(min_length=1)]
    description: str | None = None
    allow_lazy_verification: bool = False


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A policy with the digest of the bytes that it was read from.

    Attributes:
        policy: The demands.
        sha256: 64 lower-case hex digits.
    """

    policy: Policy
    sha256: str


def built_in_policies() -> tuple[str, ...]:
    """Name the policies that come with the package, sorted."""
    return tuple(
        sorted(entry.name.removesuffix(".yaml") for entry in _directory().iterdir() if entry.name.endswith(".yaml"))
    )


def load_policy(name_or_path: str, directory: Path | None = None) -> LoadedPolicy:
    """Read a built-in policy by its name or any policy by its path.

    Args:
        name_or_path: A name of ``built_in_policies()``; anything that ends in ``.yaml`` or ``.yml`` or contains a path
            separator is a path.
        directory: Where a relative path starts; by default the working directory.

    Raises:
        PolicyError: There is no such policy, or it is not one.
    """
    if Path(name_or_path).suffix in {".yaml", ".yml"} or Path(name_or_path).name != name_or_path:
        return _parse(_read(name_or_path, directory or Path()), name_or_path)
    if name_or_path not in (known := built_in_policies()):
        raise PolicyError(f"{name_or_path}: no such policy; built in: {', '.join(known)}; or give the path of a .yaml file")
    return _parse((_directory() / f"{name_or_path}.yaml").read_bytes(), name_or_path)


def _directory() -> Traversable:
    return files("pytest_benchbench.gates") / "policies"


def _read(path: str, directory: Path) -> bytes:
    try:
        with (directory / path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PolicyError(f"{path}: the policy cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise PolicyError(f"{path}: the policy is larger than {MAX_BYTES} bytes")
    return data


def _parse(data: bytes, display: str) -> LoadedPolicy:
    try:
        policy = msgspec.convert(parse_yaml(data, name=display), Policy)
    except YamlError as error:
        raise PolicyError(str(error)) from None
    except msgspec.ValidationError as error:
        raise PolicyError(f"{display}: {_field_first(str(error))}") from None
    for index, rule in enumerate(policy.rules):
        if (fault := _fault(rule)) is not None:
            raise PolicyError(f"{display}: rules[{index}].{fault}")
        if rule.id in (other.id for other in policy.rules[:index]):
            raise PolicyError(f"{display}: rules[{index}].id: {rule.id} is given twice")
    return LoadedPolicy(policy, hashlib.sha256(data).hexdigest())


def _fault(rule: Rule) -> str | None:
    """Say what is wrong with a rule beyond its types: field and reason, or ``None``."""
    is_rate = rule.metric.endswith("_rate")
    if rule.id in OWN_RULES:
        return f"id: {rule.id} is a rule of every gate; choose another name"
    if not math.isfinite(rule.value):
        return f"value: expected a finite number, got {rule.value}"
    if is_rate and not 0 <= rule.value <= 1:
        return f"value: a rate lies in [0, 1], got {rule.value}"
    if is_rate and rule.op == "==":
        return "op: a rate is compared by <=, >=, < or >"
    if not is_rate and rule.bound != "observed":
        return f"bound: {rule.metric} is a count and has no interval; use observed"
    if unknown := sorted(set(rule.slice or ()) - set(SLICE_FACETS)):
        return f"slice: unknown property {unknown[0]!r}; known: {', '.join(SLICE_FACETS)}"
    return None


def _field_first(message: str) -> str:
    """Turn msgspec's "Expected `str`, got `int` - at `$.rules[0].id`" into "rules[0].id: expected str, got int"."""
    matched = re.fullmatch(r"(?s)(.*) - at `\$\.?(.*)`", message)
    reason, field = (shown_text(part) for part in (matched.groups() if matched else (message, "")))
    reason = (reason[:1].lower() + reason[1:]).replace("`", "")
    if reason.startswith("invalid enum value") and (choices := _CHOICES.get(field.rpartition(".")[2])):
        reason = f"expected one of {', '.join(get_args(choices))}, got {reason.removeprefix('invalid enum value ')}"
    return f"{field}: {reason}" if field else reason
