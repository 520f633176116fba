"""What a benchmark of text detectors says of each sample, and which detectors of two benchmarks are the same one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_benchbench.adapters.weights import NOT_PINNED
from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.reports.detector_benchmark import DetectorBenchmark, SampleRecord
from pytest_benchbench.reports.detector_figures import DetectorFigures, Identity, Rate
from pytest_benchbench.statistics.regression import Metric

KIND: Final = ("name", "vendor", "plan", "apiVersion", "requestedModel", "mixed", "rule")
"""What makes a detector the one that it is. Another value of any of them is another detector."""

MAY_CHANGE: Final = ("version", "model", "weights")
"""What a run is repeated for: a vendor's model that changes unasked, a new version or other weights of a local detector."""

_IN_VERSION: Final = {"plan": "plan", "apiVersion": "API", "requestedModel": "model"}
"""How the version of a vendor's adapter names what the identity has too; it is told once."""

_SAID: Final = {"apiVersion": "API version", "requestedModel": "requested model", "mixed": "mixed counted as"}

Kind = tuple[str | None, ...]


def kind_of(identity: Identity) -> Kind:
    """Give what detectors are paired by: the values of ``KIND``. Whether weights were pinned does not matter."""
    rule = None if identity.rule is None else identity.rule.removesuffix(f"; {NOT_PINNED}")
    return (*(getattr(identity, name) for name in KIND[:-1]), rule)


def several_in_one(identity: Identity) -> str | None:
    """Say in which member of ``KIND`` the rows of one alias differ; ``None`` where it is one detector."""
    for name in KIND:
        if values := identity.varying.get(name):
            return f"{_said(name)} {' and '.join(map(one_line, values))}"
    return None


def other_kind(old: Identity, new: Identity) -> list[str]:
    """Say in which members of ``KIND`` two detectors differ; empty for the same detector."""
    pairs = zip(KIND, kind_of(old), kind_of(new), strict=True)
    return [f"{_said(name)} {_value(was)} -> {_value(now)}" for name, was, now in pairs if was != now]


def changes(old: Identity, new: Identity) -> Iterator[str]:
    """Say what of ``MAY_CHANGE`` differs between two runs of the same detector."""
    for name in MAY_CHANGE:
        was, now = _values(old, name), _values(new, name)
        if was != now:
            yield "other weights" if name == "weights" else f"{_said(name)} {was} -> {now}"


def identity_text(identity: Identity) -> str:
    """Name a detector for people: adapter, vendor, plan, versions and models."""
    parts = [identity.name]
    if identity.vendor is not None:
        parts.append(f"of {identity.vendor}")
    told = {part.strip() for part in re.split(", | (?=API )", _values(identity, "version"))}
    for name in ("version", "plan", "apiVersion", "requestedModel", "model", "mixed"):
        value = _values(identity, name)
        if value != "none" and not (name in _IN_VERSION and f"{_IN_VERSION[name]} {value}" in told):
            parts.append(f"{_said(name)} {value}")
    return one_line(", ".join(parts))


def outcomes(benchmark: DetectorBenchmark, detector: DetectorFigures, metric: Metric) -> dict[str, bool]:
    """Say of each scored sample whether a metric counts it.

    Args:
        benchmark: What the detector is part of.
        detector: The detector.
        metric: ``accuracy`` counts right answers about all samples, ``tpr`` AI samples that are called AI, ``fpr`` human
            ones that are, ``humanizerBypass`` humanized ones that are not.

    Returns:
        By the sample's id, text digest and label: a sample whose text or label was changed is another one.
    """
    told = {}
    for sample in _samples(benchmark, metric):
        if (score := detector.scores.get(sample.id)) is not None:
            is_called_ai = score >= benchmark.threshold
            wanted = metric in ("tpr", "fpr") or (metric == "accuracy" and sample.label == "ai")
            told[_name(sample)] = is_called_ai == wanted
    return told


def asked(benchmark: DetectorBenchmark, metric: Metric) -> set[str]:
    """Name the samples that a metric is about, scored or not, as ``outcomes`` does."""
    return {_name(sample) for sample in _samples(benchmark, metric)}


def _samples(benchmark: DetectorBenchmark, metric: Metric) -> Iterator[SampleRecord]:
    for sample in benchmark.samples:
        is_about = {
            "accuracy": True,
            "tpr": sample.label == "ai",
            "fpr": sample.label == "human",
            "humanizerBypass": sample.pairOf is not None,
        }
        if is_about[metric]:
            yield sample


def _name(sample: SampleRecord) -> str:
    return f"{sample.sha256} {sample.label} {sample.id}"


def sample_id(name: str) -> str:
    """Give the id in a name of ``outcomes``."""
    return name.split(" ", 2)[2]


def rate_of(detector: DetectorFigures, metric: Metric) -> Rate:
    """Give the figure of a metric, over all samples that the detector scored."""
    rates: Mapping[Metric, Rate] = {
        "accuracy": detector.accuracy,
        "tpr": detector.recall,
        "fpr": detector.fpr,
        "humanizerBypass": detector.humanizerBypass,
    }
    return rates[metric]


def _values(identity: Identity, name: str) -> str:
    if name == "weights":
        return ", ".join(f"{file.name} {file.sha256}" for file in identity.weights) or "none"
    if several := identity.varying.get(name):
        return " and ".join(map(one_line, several))
    return _value(getattr(identity, name))


def _value(value: str | None) -> str:
    return "none" if value is None else one_line(value)


def _said(name: str) -> str:
    return _SAID.get(name, name)
