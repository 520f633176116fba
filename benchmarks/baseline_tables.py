"""The tables of the documentation that state accuracy, by name. ``baseline_pages.py`` puts them into the pages."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from baseline_published import (
    DETAILS,
    SOFT_BINDINGS,
    SOURCE_PROJECT,
    SOURCE_PROJECT_PERTH,
    WATERMARK_ANYTHING,
    WATERMARK_ANYTHING_PICTURES,
)
from baseline_reports import Count, bits, count, lines, points, report, score, scores, with_carriers
from baseline_studies import STUDIES, commands

IMAGE = ("dwt-dct", "dwt-dct-svd", "rivagan")

MESSAGES_OF_48_BITS = "sdxl|flux2"

STATES = ("clean", "marked", "attacked")

_WIDTH = 118


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: bool = True) -> str:
    """Write a Markdown table; all columns but the first are flush right if they hold numbers."""
    rule = ["---", *(["---:" if numbers else "---"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, rule, *rows))


def _slice(label: str, finer: str = "") -> dict[str, str]:
    """Give what a line of a table is about: a state, an attack, or ``marked, VALUE`` of a finer field."""
    state, _, value = label.partition(", ")
    if value:
        return {"state": state, finer: value} | ({"transform": "embed"} if finer == "carrier" else {})
    return {"state": label} if label in STATES else {"state": "attacked", "transform": label}


def beside_source_project(study: str, finer: str) -> str:
    """Give what ``dwt-dct`` finds in a cohort, beside the project whose requirements the cohorts meet."""
    rows = []
    for label, published in SOURCE_PROJECT[study].items():
        counted = count(study, "dwt-dct", **_slice(label, finer))
        rows.append((label, counted, counted.interval, Count(*published).whole))
    return table((study, "detected", "95 % Wilson", "source project"), rows)


def adapters_side_by_side(study: str) -> str:
    """Give what three adapters find of their own marks in a cohort."""
    labels = ("clean", "marked", "jpeg-90", "resize-75", "crop-5")
    rows = [[label, *(_of_slice(study, adapter, label) for adapter in IMAGE)] for label in labels]
    return table((study, *(f"`{adapter}`" for adapter in IMAGE)), rows)


def _of_slice(study: str, adapter: str, label: str) -> str:
    (line,) = lines(study, adapter, **_slice(label))
    return with_carriers(line)


def of_48_bits(adapter: str, attack: str) -> str:
    """Give detected of n with its interval, and the share of bits right, of the two messages of 48 bits."""
    embedded = attack == "none"
    state, transform = ("marked", "embed") if embedded else ("attacked", attack)
    counted = count("published-attacks", adapter, state=state, transform=transform, pattern=MESSAGES_OF_48_BITS)
    return f"{counted.whole} / {bits('published-attacks', adapter, transform, MESSAGES_OF_48_BITS)}"


def watermark_anything() -> str:
    """Give both methods under the attacks of Table 7 of arXiv 2411.07231, and under those in which details decide."""
    rows = []
    for attack in (*WATERMARK_ANYTHING, *DETAILS):
        published = ""
        if attack in WATERMARK_ANYTHING:
            share, right = WATERMARK_ANYTHING[attack]
            low_high = Count(round(share / 100 * WATERMARK_ANYTHING_PICTURES), WATERMARK_ANYTHING_PICTURES).interval
            published = f"{share} ({low_high}) / {right}"
        rows.append((f"`{attack}`", published, *(of_48_bits(adapter, attack) for adapter in IMAGE[:2])))
    return table(("attack", "published `dwtDct`", "`dwt-dct`", "`dwt-dct-svd`"), rows)


def soft_bindings() -> str:
    """Give the share of bits right beside that of soft-bindings-benchmark."""
    rows = []
    for attack, published in SOFT_BINDINGS.items():
        ours = (
            bits("published-attacks", adapter, "embed" if attack == "none" else attack, MESSAGES_OF_48_BITS)
            for adapter in IMAGE[:2]
        )
        rows.append(
            (
                f"`{attack}`",
                *(cell for pair in zip((f"{value:.1f}" for value in published), ours, strict=True) for cell in pair),
            )
        )
    head = ("attack", "published DWT-DCT", "`dwt-dct`", "published DWT-DCT-SVD", "`dwt-dct-svd`")
    return table(head, rows)


def sweep(study: str, adapters: Sequence[str]) -> str:
    """Give the curves of adapters in a sweep: detected of n with its interval, the marked artifacts first."""
    curves = [points(study, adapter) for adapter in adapters]
    rows = [
        (f"`{of[0]['attack']}`" if of[0]["attack"] else "marked", *(with_carriers(point) for point in of))
        for of in zip(*curves, strict=True)
    ]
    return table(("attack", *(f"`{adapter}`" for adapter in adapters)), rows)


def sweep_with(study: str, adapter: str, quantity: str, title: str, write: Callable[[float], str]) -> str:
    """Give a curve with the smallest, middle and largest of what was measured."""
    rows = []
    for point in points(study, adapter):
        told = " / ".join(write(point[quantity][of]) for of in ("min", "median", "max"))
        rows.append((f"`{point['attack']}`" if point["attack"] else "marked", with_carriers(point), told))
    return table(("attack", f"`{adapter}`", title), rows)


_PERTH = {
    "speech, clean": {"state": "clean", "transform": "none", "voice": "*"},
    "speech, marked": {"state": "marked", "transform": "embed", "voice": "*"},
    "sounds by formula, clean": {"state": "clean", "transform": "none", "voice": "-"},
    "sounds by formula, marked": {"state": "marked", "transform": "embed", "voice": "-"},
}


def perth() -> str:
    """Give what ``perth`` finds in speech and in sounds made by formula, beside the source project."""
    attacked = {
        f"{what}, `{attack}`": {"state": "attacked", "transform": attack, "voice": voice}
        for what, voice in (("speech", "*"), ("sounds by formula", "-"))
        for attack in ("mp3-128", "aac-128", "noise-10")
    }
    rows = []
    for label, where in {**_PERTH, **attacked}.items():
        published, there = SOURCE_PROJECT_PERTH.get(label, (None, ""))
        told = (Count(*published).whole, there) if published else ("", "")
        rows.append(
            (label, count("audio-with-speech", "perth", **where).whole, scores("audio-with-speech", "perth", **where), *told)
        )
    return table(("artifacts", "detected here", "scores here", "detected there", "scores there"), rows)


def perth_through_attacks() -> str:
    """Give what ``perth`` finds in speech and in sounds made by formula, through noise and MP3."""
    attacks = [
        (point["attack"], "attacked")
        for curve in report("perth-speech")["results"]["robustness"]
        for point in curve["points"]
    ]
    rows = []
    for attack, state in [("embed", "marked"), *(found for found in attacks if found[0])]:
        told: list[str] = []
        for voice in ("*", "-"):
            where = {"state": state, "transform": attack, "voice": voice}
            told += [count("perth-speech", "perth", **where).whole, scores("perth-speech", "perth", **where)]
        rows.append(("marked" if state == "marked" else f"`{attack}`", *told))
    return table(("attack", "speech", "scores", "sounds by formula", "scores"), rows)


def made_by(study: str) -> str:
    """Give the commands of a study, and what its report rests on."""
    return "\n\n".join(
        (_console(commands(STUDIES[study])), table(("what", "which"), _rests_on(report(study)), numbers=False))
    )


def _console(told: Iterable[Sequence[str]]) -> str:
    text = []
    for command in told:
        text.append("$")
        for argument in map(shlex.quote, command):
            if len(text[-1]) + 1 + len(argument) > _WIDTH - 2:
                text[-1] += " \\"
                text.append(">")
            text[-1] += f" {argument}"
    return "\n".join(("```console", *text, "```"))


def _rests_on(document: dict[str, Any]) -> Iterable[tuple[str, str]]:
    inputs, environment, runs = document["inputs"], document["environment"], document["runs"]
    (manifest,) = inputs["manifests"]
    yield "manifest", f"{manifest['rows'] // len(runs)} rows, `{manifest['sha256']}`"
    for run in runs:
        yield f"evidence of run {run['run']}", f"{run['started'][:10]}, `{run['evidence_sha256']}`"
    for code in inputs["code"]:
        commit = f"commit `{code['project_commit']}`" if code["project_commit"] else "no commit"
        yield "code", f"{commit}{', with changes' if code['dirty'] else ''}, package `{code['kernel_sha256']}`"
    for adapter in inputs["adapters"]:
        yield f"`{adapter['name']}`", f"{adapter['version']}; `{adapter['source_sha256']}`"
        for file in adapter["weights"]:
            yield f"weights of `{adapter['name']}`", f"`{file['name']}`, `{file['sha256']}`"
    packages = ", ".join(f"{name} {version}" for name, version in environment["versions"].items() if version)
    machine = environment["machine"]
    yield "versions", f"{packages}; {machine['system']} {machine['machine']}"


TABLES: dict[str, Callable[[], str]] = {
    "synthetic-image-dwt-dct": partial(beside_source_project, "synthetic-image", "carrier"),
    "real-image-dwt-dct": partial(beside_source_project, "real-image", "pattern"),
    "synthetic-image": partial(adapters_side_by_side, "synthetic-image"),
    "real-image": partial(adapters_side_by_side, "real-image"),
    "watermark-anything": watermark_anything,
    "soft-bindings": soft_bindings,
    **{name: partial(sweep, name, IMAGE[:2]) for name in STUDIES if name.startswith("sweep-")},
    **{
        name: partial(
            sweep_with, name, "rivagan", "message_bit_accuracy", "bits right, of 32", lambda share: f"{32 * share:.0f}"
        )
        for name in STUDIES
        if name.startswith("rivagan-")
    },
    **{
        name: partial(sweep_with, name, "perth", "score", "smallest / middle / largest score", score)
        for name in STUDIES
        if name.startswith("perth-sweep-")
    },
    "perth": perth,
    "perth-through-attacks": perth_through_attacks,
    **{f"made-{name}": partial(made_by, name) for name in STUDIES},
}
"""What writes each table."""
