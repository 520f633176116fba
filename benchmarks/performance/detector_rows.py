"""Rows of a large dataset and of its scores, made by formula: every base has each pair of transform and resolution group.

Several scripts of this folder measure over them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from pytest_benchbench.cohorts.stress_transforms import ORIGINAL, STRESS_TRANSFORMS

PAIRS = [(ORIGINAL, "full-res"), *((name, one.group("full-res")) for name, one in STRESS_TRANSFORMS.items())]

SPLITS = ("train", "calibration", "test")

GROUPS = ("photo", "digital-art", "cgi", "edited-photo", "product-photo", "screenshot", "meme", "text-heavy")

_SOURCES = 5
_FAMILIES = 4
_FAILING = 250
"""One base in so many is called wrongly, a single derivative of it: less than the release policy bears."""


def facts(base: int, split: str) -> dict[str, Any]:
    """Give what all rows of a base have in common; every second one is real."""
    label = base % 2
    return {
        "baseId": f"base-{base:07}",
        "label": label,
        "split": split,
        "source": f"generated-{split}" if label else f"camera-{split}-{base // 2 % _SOURCES}",
        **({"generatorFamily": f"family-{split}-{base // 2 % _FAMILIES}", "generatorModel": "model-1"} if label else {}),
        "contentGroup": GROUPS[base // 2 % len(GROUPS)],
    }


def dataset_rows(count: int, splits: tuple[str, ...] = SPLITS) -> Iterator[dict[str, Any]]:
    """Give rows of a dataset manifest without leaks, as ``benchbench cohort stress`` writes them."""
    for number in range(count):
        base, place = divmod(number, len(PAIRS))
        transform, group = PAIRS[place]
        yield {
            "id": f"image-{base:07}" + ("" if transform == ORIGINAL else f"-{transform}"),
            **facts(base, splits[base // 2 % len(splits)]),
            "sha256": hashlib.sha256(b"%d" % number).hexdigest(),
            "transform": transform,
            "license": "CC0-1.0",
            "path": f"artifacts/{transform}/{base:07}.jpg",
            "splitGroup": f"siblings-{base // 8:06}-{base // 2 % len(splits)}",
            "resolutionGroup": group,
        }


def score_rows(count: int) -> Iterator[dict[str, Any]]:
    """Give rows of scores of the test split, of which the release policy approves."""
    for row in dataset_rows(count, splits=("test",)):
        base = int(row["baseId"].removeprefix("base-"))
        wrong = base % (2 * _FAILING) < 2 and row["transform"] == "resize-112"
        share = int(row["sha256"][:8], 16) / 2**32
        kept = {name: value for name, value in row.items() if name not in ("sha256", "license", "path", "splitGroup")}
        yield {
            **kept,
            "score": 0.65 + 0.35 * share if bool(row["label"]) != wrong else 0.64 * share,
            "rawScore": share,
            "evaluationMode": "deployed",
            "modelSha256": "a" * 64,
            "calibratorSha256": "b" * 64,
            "preprocessingVersion": "v3",
            "provider": "webgpu",
        }
