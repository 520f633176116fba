"""Counts how many bits of the embedded message ``dwt-dct`` and ``dwt-dct-svd`` read, in every artifact of a cohort.

The adapters look for three messages, and a report tells of the one that came closest: where nothing is left of a mark, that
is more than half of the bits. Published bit accuracies are about the message that was embedded.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import Any

from pytest_benchbench.adapters import dwt_dct, dwt_dct_svd
from pytest_benchbench.adapters.haar_frame import payload_bits
from pytest_benchbench.adapters.patterns import PATTERNS
from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.verification import read_verified
from pytest_benchbench.manifests.reading import read_manifest

READERS = {"dwt-dct": dwt_dct.read_blocks, "dwt-dct-svd": dwt_dct_svd.read_blocks}

STATES = ("marked", "attacked")


def embedded_bits(path: Path) -> dict[str, Any]:
    """Read every marked and attacked artifact of a manifest.

    Returns:
        The manifest's digest, and for each adapter, state, transform and pattern the number of artifacts, of their bits, and
        of those that equal the embedded ones. An artifact counts once.
    """
    equal: defaultdict[tuple[str, str, str, str], dict[str, int]] = defaultdict(dict)
    manifest = read_manifest(path, media_types=installed_registry().media_types())
    for adapter, read in READERS.items():
        for ref in manifest.adapters[adapter]:
            case = manifest.read(ref).case
            if case.state not in STATES:
                continue
            pattern = PATTERNS[case.transform.parameters["embed"]["pattern"]]
            pixels = decode_image(read_verified(path.parent / case.path, case.sha256)).pixels
            bits = pattern.equal_bits(payload_bits(read(pixels), len(pattern.bits)))
            equal[adapter, case.state, case.transform.name, pattern.name][case.sha256] = bits
    manifest.close()
    lines = [
        {
            **dict(zip(("adapter", "state", "transform", "pattern"), key, strict=True)),
            "artifacts": len(of_artifacts),
            "bits": len(of_artifacts) * len(PATTERNS[key[3]].bits),
            "equal": sum(of_artifacts.values()),
        }
        for key, of_artifacts in sorted(equal.items())
    ]
    return {"manifest_sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "lines": lines}
