"""What C2PA's reader reports about a file, cut down to plain values of bounded size: the file's author may be hostile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

STATES = ("Trusted", "Valid", "Invalid")
"""The validation states of c2pa-rs, which follow section 14.3 of the C2PA specification 2.x."""

MAX_REPORT_CHARACTERS = 1 << 24
"""Longest report that is read: 16 Mi. The reports of real files have 5 to 85 thousand characters."""

MAX_ENTRIES = 24
"""Of a list that the evidence keeps."""

MAX_CHARACTERS = 200
"""Of a text that the evidence keeps."""

_KNOWN_SOURCE_TYPE = re.compile(r"https?://(?:cv\.iptc\.org/newscodes|c2pa\.org)/digitalsourcetype/([A-Za-z]+)")

_SIGNATURE_FIELDS = {
    "alg": "algorithm",
    "issuer": "organization",  # c2pa-rs takes it from the subject of the signing certificate, whatever it calls it
    "common_name": "common_name",
    "cert_serial_number": "serial_number",
    "time": "time",
}


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """One file's manifest store, as validated.

    Attributes:
        state: One of ``STATES``.
        failures: The failure codes of the active manifest and of its ingredients, distinct and sorted.
        source_types: What the actions of the active manifest state as ``digitalSourceType``, distinct and sorted; the IPTC
            and C2PA terms by their short names.
        facts: The block ``scorer`` of the evidence, without what the adapter adds. What the manifest says of itself is
            under ``stated``, and under ``stated_unverified`` where the state is ``Invalid``, so that nothing takes it for
            the words of a manifest that holds.
    """

    state: str
    failures: tuple[str, ...]
    source_types: tuple[str, ...]
    facts: dict[str, Any]


def read_report(text: str) -> ManifestReport:
    """Read the JSON of c2pa's ``Reader``.

    Raises:
        ValueError: It is longer than ``MAX_REPORT_CHARACTERS``, or not such a report.
    """
    if len(text) > MAX_REPORT_CHARACTERS:
        raise ValueError(f"the manifest store takes {len(text):,} characters, more than {MAX_REPORT_CHARACTERS:,}")
    try:
        report = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"the report of the manifest store cannot be read: {error}") from None
    label, state = _get(report, "active_manifest"), _get(report, "validation_state")
    manifests = _get(report, "manifests")
    active = _get(manifests, label)
    if state not in STATES or not isinstance(manifests, dict) or not isinstance(label, str):
        raise ValueError(f"the report names no active manifest or no known validation state ({_bounded(state)})")
    if not isinstance(active, dict):
        if state != "Invalid":  # there it happens: a manifest that does not load is listed by its failures alone
            raise ValueError(f"the report lacks the active manifest that it calls {state}")
        active = {}
    others = [manifest for name, manifest in manifests.items() if name != label]
    results = _get(report, "validation_results")
    codes = {kind: _codes(results, kind) for kind in ("success", "informational", "failure")}
    source_types = _distinct(_source_types(active))
    lists = {
        **codes,
        "digital_source_types": source_types,
        "ingredient_digital_source_types": _distinct(name for manifest in others for name in _source_types(manifest)),
    }
    kept = {name: list(values[:MAX_ENTRIES]) for name, values in lists.items()}
    left_out = {name: len(values) - MAX_ENTRIES for name, values in lists.items() if len(values) > MAX_ENTRIES}
    signature = _get(active, "signature_info")
    stated = {
        "active_manifest": _bounded(label),
        "manifests": len(manifests),
        "claim_generator": _claim_generator(active),
        "digital_source_types": kept["digital_source_types"],
        "ingredient_digital_source_types": kept["ingredient_digital_source_types"],
        "signature": {
            ours: _bounded(value)
            for theirs, ours in _SIGNATURE_FIELDS.items()
            if (value := _get(signature, theirs)) is not None
        },
    }
    facts = {
        "validation_state": state,
        **{kind: kept[kind] for kind in codes},
        "time_basis": "trusted timestamp" if "timeStamp.trusted" in codes["success"] else "day of validation",
        "stated" if state != "Invalid" else "stated_unverified": {
            name: value for name, value in stated.items() if value not in (None, [], {})
        },
    }
    if left_out:
        facts["left_out"] = left_out
    return ManifestReport(state, codes["failure"], source_types, facts)


def _source_types(manifest: Any) -> Iterator[str]:
    """Yield what the actions of a manifest state about where the content came from."""
    for assertion in _objects(_get(manifest, "assertions")):
        if not str(assertion.get("label")).startswith("c2pa.actions"):
            continue
        for action in _objects(_get(assertion.get("data"), "actions")):
            if isinstance(value := action.get("digitalSourceType"), str):
                known = _KNOWN_SOURCE_TYPE.fullmatch(value.strip())
                yield known[1] if known else value


def _claim_generator(manifest: dict[str, Any]) -> str | None:
    """Name the program that made the claim: ``name/version`` of each entry, or the one text of a claim of version 1."""
    named = [
        "/".join(str(part) for part in (info.get("name"), info.get("version")) if part is not None)
        for info in _objects(manifest.get("claim_generator_info"))
    ]
    said = " ".join(named) or manifest.get("claim_generator")
    return None if said is None else _bounded(said)


def _codes(results: Any, kind: str) -> tuple[str, ...]:
    """Give the validation codes of one kind, of the active manifest and of what changed about its ingredients since."""
    deltas = (_get(delta, "validationDeltas") for delta in _objects(_get(results, "ingredientDeltas")))
    return _distinct(
        str(entry.get("code")) for part in (_get(results, "activeManifest"), *deltas) for entry in _objects(_get(part, kind))
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({_bounded(text) for text in texts}))


def _get(value: Any, name: Any) -> Any:
    return value.get(name) if isinstance(value, dict) and isinstance(name, str) else None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    return (entry for entry in value if isinstance(entry, dict)) if isinstance(value, list) else iter(())


def _bounded(value: object) -> str:
    """Give a foreign value as one printable line of at most ``MAX_CHARACTERS``."""
    text = str(value)[: 4 * MAX_CHARACTERS]
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1]}…"
