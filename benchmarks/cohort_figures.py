"""Prints what ``dwt-dct`` finds in the default cohorts of images beside the figures of the source project.

``python benchmarks/cohort_figures.py`` gives the tables of ``docs/cohorts.md``; ``--misses`` gives the entries of
``benchmarks/expectations.yaml``. It asks the adapter in a plain loop, without pytest.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_benchbench.adapters.base import Detection, Sample
from pytest_benchbench.adapters.dwt_dct import DwtDct
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.verification import read_verified
from pytest_benchbench.cohorts.defaults import default_cohort
from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES, WatermarkCase
from pytest_benchbench.statistics.intervals import wilson_interval

CACHE = Path(__file__).resolve().parents[1] / ".benchbench" / "cohorts"

SOURCE_PROJECT = {
    "synthetic-image": {
        "clean": "0/4",
        "marked": "6/9",
        "jpeg-90": "7/9",
        "resize-75": "6/9",
        "crop-5": "0/9",
        "marked, gradient": "0/3",
        "marked, texture": "3/3",
        "marked, low-detail": "3/3",
    },
    "real-image": {
        "clean": "0/38",
        "marked": "74/114",
        "jpeg-90": "76/114",
        "resize-75": "77/114",
        "crop-5": "0/114",
        "marked, sdxl": "25/38",
        "marked, flux2": "26/38",
        "marked, sd1": "23/38",
    },
}
"""Detected/unique artifacts as published by the project whose requirements these cohorts meet."""


class Observed(NamedTuple):
    """A case with the adapter's answer."""

    case: WatermarkCase
    answer: Detection


def observations(name: str) -> Iterator[Observed]:
    """Build a default cohort if need be, and ask about each of its cases."""
    adapter = DwtDct()
    adapter.load()
    path = default_cohort(name, CACHE).manifest
    assert path is not None  # dwt-dct is always there
    manifest = read_manifest(path, media_types=KERNEL_MEDIA_TYPES)
    for ref in manifest.adapters[adapter.name]:
        case = manifest.read(ref).case
        data = read_verified(manifest.path.parent / case.path, case.sha256)
        yield Observed(case, adapter.detect(Sample("image", case.sha256, data, decode_image(data))))
    manifest.close()


def groups(name: str, case: WatermarkCase) -> list[str]:
    """Say in which lines of the table a case is counted."""
    if case.state != "marked":
        return [case.transform.name if case.state == "attacked" else case.state]
    parameters = case.transform.parameters
    finer = parameters["carrier"]["name"] if name == "synthetic-image" else parameters["embed"]["pattern"]
    return ["marked", f"marked, {finer}"]


def table(name: str) -> str:
    """Count unique artifacts: one that several rows name is counted once."""
    found: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for case, answer in observations(name):
        for group in groups(name, case):
            found[group][case.sha256] = answer.status == "detected"
    lines = [f"| {name} | detected | 95 % Wilson | source project |", "| --- | ---: | ---: | ---: |"]
    for group, published in SOURCE_PROJECT[name].items():
        detected, n = sum(found[group].values()), len(found[group])
        low, high = wilson_interval(detected, n) or (0.0, 1.0)
        lines.append(f"| {group} | {detected}/{n} | {100 * low:.0f}-{100 * high:.0f} % | {published} |")
    return "\n".join(lines)


def misses(name: str) -> str:
    """List freshly marked pictures in which the mark is not found, as an expectations file lists them."""
    return "".join(
        f"- id: {case.case_id}\n  adapter: {case.adapter}\n  expected: detected\n"
        f'  reason: "lossless miss as first measured: {answer.reason}"\n'
        for case, answer in observations(name)
        if case.expected == "detected" and answer.status == "not_detected"
    )


def main() -> None:
    """Print tables or misses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--misses", action="store_true", help="print the entries of expectations.yaml instead")
    arguments = parser.parse_args()
    print(
        "\n\n".join(table(name) for name in SOURCE_PROJECT) if not arguments.misses else "".join(map(misses, SOURCE_PROJECT))
    )


if __name__ == "__main__":
    main()
