"""A build of a detector as a ZIP that carries the decision about it: a release after a pass, or a review build."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest_benchbench
from pytest_benchbench.adapters.calibrator import CalibratorError, load_calibrator
from pytest_benchbench.adapters.fusion import scoring_sha256
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.gates.decision import Decision
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.manifests.faults import shown_text
from pytest_benchbench.reports.archive import Archive, ArchiveError, new_archive
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.evaluation_markdown import evaluation_blocks

SCHEMA_VERSION = 1

REVIEW_MARKER = "REVIEW-BUILD-NOT-A-RELEASE.txt"
"""Stands beside the files of a review build."""

Kind = Literal["release", "review"]

_REVIEW = re.compile(r"(?<![a-z])review(?![a-z])", re.IGNORECASE)
"""The word by itself: a preview is none."""

_MAX_PAIRS = 1_000_000


class PackageError(Exception):
    """A build that cannot be packed; one line."""


class PackageRefusedError(Exception):
    """A build that the evidence is not about; one line."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a package rests on.

    Attributes:
        decision: What a gate decided about the evidence.
        report: The figures of the same evidence; see ``evaluation_document``.
        release: What the built-in policy ``release`` decided about it, the same decision where that is the policy; ``None``
            where it was not asked, as for a review build.
    """

    decision: Decision
    report: Mapping[str, Any]
    release: Decision | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Every decision once."""
        return (self.decision,) if self.release in (None, self.decision) else (self.decision, self.release)


@dataclass(frozen=True, slots=True)
class Package:
    """A package on disk.

    Attributes:
        path: The ZIP.
        sha256: Its digest.
        document: What it says of itself, the content of ``release.json`` or ``review.json``.
        notes: What people should know, one line each.
    """

    path: Path
    sha256: str
    document: dict[str, Any]
    notes: tuple[str, ...]


def name_fault(output: Path, kind: Kind) -> str | None:
    """Say why a package may not have a name: a review build is told by it, and so is what is none."""
    if output.suffix.lower() != ".zip":
        return f"{output}: a package is a ZIP; name a file that ends in .zip"
    is_called_review = bool(_REVIEW.search(output.name))
    if kind == "review" and not is_called_review:
        return f"{output}: the name of a review build has the word review in it, such as {output.stem}-review.zip"
    if kind == "release" and is_called_review:
        return f"{output}: a release is not called review; give --review for a build that is none"
    return None


def write_package(dist: Path, output: Path, kind: Kind, basis: Basis | None) -> Package:
    """Pack a folder with what was decided about it. The ZIP appears whole or not at all.

    Args:
        dist: The folder of the build.
        output: The ZIP; nothing may be there.
        kind: ``release`` only after a pass.
        basis: The decisions and the figures; ``None`` only for a review build.

    Raises:
        ValueError: A release did not pass the built-in policy ``release``, or not the policy that decides beside it.
        PackageRefusedError: The model of a release is not in the folder, or its calibrator there is not deployable.
        PackageError: The folder holds what cannot be packed, or the ZIP cannot be written.
    """
    if kind == "release" and (basis is None or not _is_passed(basis)):
        raise ValueError("a release is packed after a pass of the built-in policy release only")
    _refuse_packages(dist)
    if Path(os.path.realpath(output)).is_relative_to(os.path.realpath(dist)):
        raise PackageError(f"{output}: lies inside {dist}, which is packed; put it elsewhere")
    notes: list[str] = []
    try:
        with new_archive(output) as archive:
            archive.add_folder(dist)
            if not archive.digests:
                raise PackageError(f"{dist}: has no file")
            document = _document(archive.digests, kind, basis, notes)
            _check_calibrator(dist, document, kind, notes)
            _add_documents(archive, document, kind, basis)
    except ArchiveError as error:
        raise PackageError(str(error)) from None
    with output.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Package(output, digest, document, tuple(notes))


def _is_built_in_release(decision: Decision) -> bool:
    """Say whether a decision is one of the built-in policy ``release``, whatever a policy calls itself."""
    return decision.policy.sha256 == load_policy("release").sha256


def _is_passed(basis: Basis) -> bool:
    asked = basis.release is not None and _is_built_in_release(basis.release)
    return asked and all(decision.decision == "pass" for decision in basis.decisions)


def _refuse_packages(dist: Path) -> None:
    """Refuse a folder that is an unpacked package: its marks would speak of another build.

    Raises:
        PackageError: It is one, or cannot be read.
    """
    taken = {_folder("release"), _folder("review"), REVIEW_MARKER.casefold()}
    try:
        inside = sorted(dist.iterdir())
    except OSError as error:
        raise PackageError(f"{dist}: cannot be read: {error.strerror or error}") from None
    for entry in inside:
        if entry.name.casefold() in taken:
            raise PackageError(f"{entry}: belongs to a package that was unpacked here; pack the build itself")


def _folder(kind: Kind) -> str:
    return f"benchbench-{kind}"


def _add_documents(archive: Archive, document: Mapping[str, Any], kind: Kind, basis: Basis | None) -> None:
    folder = _folder(kind)
    documents = {f"{folder}/{kind}.json": encode_document(document)}
    if kind == "review":
        documents[REVIEW_MARKER] = _marker(document).encode()
    if basis is not None:
        for decision, name in zip(basis.decisions, ("gate.json", "gate-release.json"), strict=False):
            documents[f"{folder}/{name}"] = encode_document(decision)
        documents[f"{folder}/report.json"] = encode_document(basis.report)
        documents[f"{folder}/report.md"] = _markdown(basis.report).encode()
    for name, data in sorted(documents.items()):
        archive.add(name, data)
    archive.add(f"{folder}/SHA256SUMS", archive.sums())


def _document(digests: Mapping[str, str], kind: Kind, basis: Basis | None, notes: list[str]) -> dict[str, Any]:
    """Say what a package is: nothing of where and when it was made, so that the same build gives the same bytes."""
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "type": kind,
        "made_by": {"name": "pytest-benchbench", "version": pytest_benchbench.__version__},
        "dist": {"files": len(digests), "sha256": hashlib.sha256(listed.encode()).hexdigest()},
    }
    if basis is None:
        return {**document, "decision": None}
    decision, release = basis.decision, basis.release
    is_release_policy = _is_built_in_release(decision)
    if kind == "review" and not is_release_policy:
        notes.append(f"decided by the policy {decision.policy.name}, which is not the built-in policy release")
    policy = {"name": decision.policy.name, "sha256": decision.policy.sha256}
    return {
        **document,
        "decision": decision.decision,
        "policy": {**policy, "is_built_in_release": is_release_policy},
        "release_policy": None if release is None else {"sha256": release.policy.sha256, "decision": release.decision},
        "evidence": decision.evidence,
        "model": _model(digests, basis, kind, notes),
        "calibrator": _calibrator(digests, basis, notes),
    }


def _identities(basis: Basis, name: str) -> list[str | None]:
    """Give all values of a name that says what scored the evidence."""
    found = {value for line in basis.report["results"]["series"] for value in line["identity"][name]}
    return sorted(found, key=lambda value: value or "")


def _model(digests: Mapping[str, str], basis: Basis, kind: Kind, notes: list[str]) -> dict[str, Any] | None:
    """Find the model that the evidence is about among the files that are packed.

    Raises:
        PackageRefusedError: The evidence of a release is about no single model, or the model is not there.
    """
    models = _identities(basis, "modelSha256")
    named = [model for model in models if model is not None]
    fault = None
    if len(named) > 1:
        fault = f"the evidence is about {len(named)} models"
    elif len(named) < len(models) or not named:
        fault = f"{'some rows' if named else 'no row'} of the evidence {'do not name' if named else 'names'} the model"
    files = sorted(name for name, digest in digests.items() if digest in named)
    if fault is None and not files:
        fault = f"no file of the build is the model of the evidence (SHA-256 {named[0]})"
    if fault is not None:
        if kind == "release":
            raise PackageRefusedError(f"refused: modelSha256: {fault}")
        notes.append(fault)
    return {"sha256": named[0], "files": files} if len(named) == 1 else None


def _calibrator(digests: Mapping[str, str], basis: Basis, notes: list[str]) -> dict[str, Any] | None:
    """Find the calibrator, and the fusion weights, that the evidence was scored with; a build may have them in its code."""
    named = [value for value in _identities(basis, "calibratorSha256") if value is not None]
    if len(named) != 1:
        return None
    files = _files_of(named[0], digests)
    if not files:
        notes.append(f"no file of the build is the calibrator of the evidence (calibratorSha256 {named[0]})")
    return {"sha256": named[0], "files": files}


def _check_calibrator(dist: Path, document: Mapping[str, Any], kind: Kind, notes: list[str]) -> None:
    """Refuse a release whose calibrator is not deployable; the identity changes no score, and is only told of.

    Raises:
        PackageRefusedError: It is not, and changes scores.
    """
    for name in (document.get("calibrator") or {"files": []})["files"]:
        try:
            calibrator = load_calibrator(dist / name).calibrator
        except CalibratorError:  # fusion weights, or the file of another runtime
            continue
        if calibrator.deployable:
            continue
        lacks = "; ".join(calibrator.missing) or "nobody says what it was fitted on"
        told = f"{shown_text(name)}: a calibrator that is not deployable: {shown_text(lacks)}"
        if kind == "release" and calibrator.method != "identity":
            raise PackageRefusedError(f"refused: {told}; or give --review")
        notes.append(told)


def _files_of(scoring: str, digests: Mapping[str, str]) -> list[str]:
    if files := sorted(name for name, digest in digests.items() if digest == scoring):
        return files
    documents = {digest: name for name, digest in sorted(digests.items(), reverse=True) if name.endswith(".json")}
    pairs = product([None, *documents], documents)
    if (len(documents) + 1) * len(documents) > _MAX_PAIRS:
        return []
    for calibrator, fusion in pairs:
        if scoring_sha256(calibrator, fusion) == scoring:
            return sorted(documents[digest] for digest in (calibrator, fusion) if digest is not None)
    return []


def _markdown(report: Mapping[str, Any]) -> str:
    blocks: Sequence[str] = [
        f"# Evaluation of {plain(report['inputs']['scores']['name'])}",
        *evaluation_blocks(report["results"]["series"], report["threshold"]),
    ]
    return "\n\n".join(blocks) + "\n"


def _marker(document: Mapping[str, Any]) -> str:
    decided = "No gate has decided about it."
    if document["decision"] is not None:
        policy = document["policy"]["name"]
        decided = f"The gate {shown_text(policy)} decided about its evidence: {document['decision']}."
    return (
        "This is a review build. It is not a release and was not approved for one.\n"
        f"{decided}\n"
        f"What is known of it stands in {_folder('review')}/.\n"
    )
