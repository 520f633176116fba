"""What a gate demands: rules as YAML, built in or of one's own."""
# ruff: noqa: N815 - the names are those of a dataset's rows

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from pytest_benchbench.gates.metrics import METRICS, Unit
from pytest_benchbench.gates.policy_faults import policy_fault, rule_fault
from pytest_benchbench.manifests.dataset import ResolutionGroup
from pytest_benchbench.manifests.faults import schema_fault_parts, shown
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.yaml_documents import YamlError, parse_yaml
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD

MAX_BYTES = 256 * 1024
"""A larger policy file is refused."""

Bound = Literal["observed", "wilson_lower", "wilson_upper"]
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
    "balanced_accuracy",
    "real_recall",
    "ai_recall",
    "false_positive_rate",
    "precision",
    "brier",
    "real_count",
    "ai_count",
    "real_source_count",
    "generator_family_count",
    "terminal_count",
]

HeldOut = Literal["verified", "any"]

_CHOICES = {
    "metric": Metric,
    "op": Operator,
    "bound": Bound,
    "unit": Unit,
    "held_out": HeldOut,
    "resolutionGroup": ResolutionGroup,
}

_Identifier = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class PolicyError(Exception):
    """A policy that cannot be used; the message is one line that names the file and the field."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One demand.

    Attributes:
        id: Names the rule in the decision; unique in its policy.
        metric: What is counted, or the rate that is computed; see ``METRICS``.
        op: How the metric's value and ``value`` compare when the rule holds.
        value: Finite; a rate lies in [0, 1].
        bound: For a rate, the observed one or a bound of its two-sided 95 % Wilson interval.
        unit: ``row``, or ``base``: all rows of one ``baseId`` or pair count as one. By default as the metric says.
        slice: Only rows whose properties have these values; ``*`` decides the rule for each value that occurs.
        min_n: The rule fails where fewer units are available.
        assumed: A true value of the rate, of which the decision says how likely it is to pass; the decision itself does not
            depend on it.
    """

    id: _Identifier
    metric: Metric
    op: Operator
    value: float
    bound: Bound = "observed"
    unit: Unit | None = None
    slice: dict[str, str] | None = None
    min_n: Annotated[int, msgspec.Meta(ge=0)] = 0
    assumed: float | None = None

    @property
    def is_about_scores(self) -> bool:
        """Whether it measures scores, one adapter at a time, and not outcomes of rows."""
        return METRICS[self.metric].about == "scores"


class Derivative(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, order=True):
    """A derivative that every base must have.

    Attributes:
        transform: As the rows write it.
        resolutionGroup: The size at which it is shown.
    """

    transform: _Text
    resolutionGroup: ResolutionGroup


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a gate demands.

    Attributes:
        name: Names the policy in the decision.
        rules: At least one.
        description: For people.
        allow_lazy_verification: Whether evidence is accepted whose files were hashed only when their row came.
        threshold: An image is called AI when its score is at least this.
        required_transforms: Which derivatives every base must have: ``all-seen``, those that any base has; or a list.
        requires: Names of score rows and the values that every row must have one of.
        identity: Names that every score row must carry, ``generatorFamily`` AI rows only.
        unmixed: Names that must have one value in all score rows; a row without it must have no fellow with it.
        held_out: ``verified``: no real source and no generator family of the test split may occur in another one, and the
            dataset manifest must be there to tell. ``any``: nobody asks.
        max_attempt: The last opening of the test split that is accepted; ``None`` for no limit.
    """

    name: _Identifier
    rules: Annotated[tuple[Rule, ...], msgspec.Meta(min_length=1)]
    description: str | None = None
    allow_lazy_verification: bool = False
    threshold: float = RELEASE_THRESHOLD
    required_transforms: Literal["all-seen"] | Annotated[tuple[Derivative, ...], msgspec.Meta(min_length=1)] = "all-seen"
    requires: dict[str, _Text | Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1)]] = {}
    identity: tuple[str, ...] = ()
    unmixed: tuple[str, ...] = ()
    held_out: HeldOut = "any"
    max_attempt: Annotated[int, msgspec.Meta(ge=1)] | None = None

    @property
    def is_about_scores(self) -> bool:
        """Whether scores are looked at: by a rule, or by what is demanded of every score row."""
        demands = self.requires or self.identity or self.unmixed or self.held_out == "verified"
        return bool(demands) or any(rule.is_about_scores for rule in self.rules)


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
        PolicyError: There is no such policy, it is not one, or it has the name of a built-in one and other demands.
    """
    if Path(name_or_path).suffix in {".yaml", ".yml"} or Path(name_or_path).name != name_or_path:
        loaded = _parse(_read(name_or_path, directory or Path()), name_or_path)
        name = loaded.policy.name
        if (known := name.casefold()) in built_in_policies() and loaded.sha256 != load_policy(known).sha256:
            reason = "is the name of a built-in policy, whose demands are others: give yours another name"
            raise PolicyError(f"{name_or_path}: name: {shown(name)} {reason}")
        return loaded
    if name_or_path not in (built_in := built_in_policies()):
        raise PolicyError(
            f"{name_or_path}: no such policy; built in: {', '.join(built_in)}; or give the path of a .yaml file"
        )
    return _parse((_directory() / f"{name_or_path}.yaml").read_bytes(), name_or_path)


def _directory() -> Traversable:
    return files("pytest_benchbench.gates") / "policies"


def _read(path: str, directory: Path) -> bytes:
    try:
        with open_regular(directory / path) as file:
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
        raise PolicyError(f"{display}: {_told(error)}") from None
    if (fault := policy_fault(policy)) is not None:
        raise PolicyError(f"{display}: {fault}")
    for index, rule in enumerate(policy.rules):
        if (fault := rule_fault(rule)) is not None:
            raise PolicyError(f"{display}: rules[{index}].{fault}")
        if rule.id in (other.id for other in policy.rules[:index]):
            raise PolicyError(f"{display}: rules[{index}].id: {rule.id} is given twice")
    rules = tuple(msgspec.structs.replace(rule, unit=rule.unit or METRICS[rule.metric].unit) for rule in policy.rules)
    return LoadedPolicy(msgspec.structs.replace(policy, rules=rules), hashlib.sha256(data).hexdigest())


def _told(error: msgspec.ValidationError) -> str:
    """Name the field and the reason, and where only some words are allowed, these."""
    field, reason = schema_fault_parts(error)
    if field == "required_transforms" and reason.startswith("invalid enum value"):
        reason = f"expected all-seen or a list, got {reason.removeprefix('invalid enum value ')}"
    elif reason.startswith("invalid enum value") and (choices := _CHOICES.get(field.rpartition(".")[2])):
        reason = f"expected one of {', '.join(get_args(choices))}, got {reason.removeprefix('invalid enum value ')}"
    return f"{field}: {reason}" if field else reason
