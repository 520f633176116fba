"""``benchbench cohort``: build artifacts and their manifest by a recipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError
from pytest_benchbench.cli import cohort_golden_set, cohort_stress
from pytest_benchbench.cohorts import (
    CohortError,
    CohortUsageError,
    audio,
    perth_pixelseal,
    real_image,
    sweep,
    synthetic_image,
    video,
)
from pytest_benchbench.cohorts.attacks.registry import (
    DEFAULT_AUDIO_ATTACKS,
    DEFAULT_IMAGE_ATTACKS,
    DEFAULT_VIDEO_ATTACKS,
)
from pytest_benchbench.cohorts.building import STATES, build_cohort
from pytest_benchbench.cohorts.recipe import PlannedRows, Recipe, check_side, open_schemes, plan
from pytest_benchbench.evidence.writing import encode_document


@click.group("cohort")
def command() -> None:
    """Build artifacts and their manifest by a recipe.

    The same recipe gives the same bytes where the encoders allow it, and the same decoded media otherwise. An existing
    folder is refused. --plan prints the planned rows of each adapter without any package or weights.
    """


def _side(context: click.Context, parameter: click.Parameter, value: int) -> int:
    try:
        return check_side(value)
    except CohortError as error:
        raise click.BadParameter(str(error)) from None


def _adapters(context: click.Context, parameter: click.Parameter, value: Iterable[str]) -> tuple[AdapterChoice, ...]:
    try:
        return tuple(AdapterChoice.parse(text, option="--adapter") for text in value)
    except AdapterOptionError as error:
        raise click.BadParameter(str(error)) from None


_SIZE = click.option(
    "--size",
    "side",
    type=int,
    default=synthetic_image.DEFAULT_SIDE,
    show_default=True,
    callback=_side,
    help="Width and height of images in pixels, 256 to 8192, divisible by 16.",
)

_DOUBLE = click.option(
    "--double-embed",
    "double_embedded",
    is_flag=True,
    help="Also embed somebody else's message over each mark.",
)


def _attack_option(default: tuple[str, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--attack",
        "attacks",
        metavar="NAME",
        multiple=True,
        default=default,
        show_default=True,
        help="What is done to everything that was marked; repeatable. The documentation lists all names.",
    )


def _common_options(default: tuple[str, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options that every recipe has."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        options = (
            click.option(
                "--adapter",
                "adapters",
                metavar="NAME[:key=value,...]",
                multiple=True,
                default=default,
                show_default=bool(default),
                required=not default,
                callback=_adapters,
                help="Whose marks are embedded; repeatable.",
            ),
            click.option(
                "--leave-out-unavailable",
                is_flag=True,
                help="Build without the adapters whose marks cannot be made here, instead of refusing.",
            ),
            click.option(
                "--output-dir",
                type=click.Path(path_type=Path),
                help="New folder for manifest.jsonl, cohort.json and artifacts/.",
            ),
            click.option("--plan", "planning", is_flag=True, help="Print the planned rows of each adapter; build nothing."),
            click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON."),
        )
        for option in reversed(options):
            function = option(function)
        return function

    return add


@command.command(synthetic_image.NAME)
@_SIZE
@_attack_option(DEFAULT_IMAGE_ATTACKS)
@_common_options(synthetic_image.DEFAULT_ADAPTERS)
def _synthetic_image(side: int, attacks: tuple[str, ...], adapters: tuple[AdapterChoice, ...], **how: Any) -> None:
    """Three pictures drawn by formula, and a hard negative."""
    _carry_out(lambda: synthetic_image.synthetic_image(side, attacks, adapters), **how)


@command.command(real_image.NAME)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    help="YAML list of images; the photographs of scikit-image if absent.",
)
@_SIZE
@_attack_option(DEFAULT_IMAGE_ATTACKS)
@_common_options(real_image.DEFAULT_ADAPTERS)
def _real_image(
    source: Path | None, side: int, attacks: tuple[str, ...], adapters: tuple[AdapterChoice, ...], **how: Any
) -> None:
    """Photographs, or any images of which a list says why they may be used."""
    _carry_out(lambda: real_image.real_image(side, attacks, source, adapters), **how)


@command.command(audio.NAME)
@click.option("--with-speech", is_flag=True, help="Add three voices of espeak-ng.")
@_DOUBLE
@_attack_option(DEFAULT_AUDIO_ATTACKS)
@_common_options(audio.DEFAULT_ADAPTERS)
def _audio(
    with_speech: bool, double_embedded: bool, attacks: tuple[str, ...], adapters: tuple[AdapterChoice, ...], **how: Any
) -> None:
    """Three sounds made by formula, and a hard negative."""
    _carry_out(lambda: audio.audio(attacks, adapters, with_speech=with_speech, double_embedded=double_embedded), **how)


@command.command(video.NAME)
@_DOUBLE
@_attack_option(DEFAULT_VIDEO_ATTACKS)
@_common_options(video.DEFAULT_ADAPTERS)
def _video(double_embedded: bool, attacks: tuple[str, ...], adapters: tuple[AdapterChoice, ...], **how: Any) -> None:
    """Two clips drawn by formula, and a hard negative."""
    _carry_out(lambda: video.video(attacks, adapters, double_embedded=double_embedded), **how)


@command.command(perth_pixelseal.NAME)
@_SIZE
@_common_options(perth_pixelseal.DEFAULT_ADAPTERS)
def _perth_pixelseal(side: int, adapters: tuple[AdapterChoice, ...], **how: Any) -> None:
    """Perth on sounds and speech, PixelSeal on two photographs."""
    _carry_out(lambda: perth_pixelseal.perth_pixelseal(side, adapters), **how)


@command.command(sweep.NAME)
@click.option("--family", required=True, metavar="NAME", help="Attack family; its members are the strengths.")
@click.option("--carriers", type=click.Choice(sweep.CARRIER_SETS), help="Carrier set; by default that of the medium.")
@_SIZE
@_common_options(())
def _sweep(family: str, carriers: str | None, side: int, adapters: tuple[AdapterChoice, ...], **how: Any) -> None:
    """One carrier set through the strengths of one attack family."""
    _carry_out(lambda: sweep.sweep(family, adapters, carriers=carriers, side=side), **how)


command.add_command(cohort_golden_set.command)
command.add_command(cohort_stress.command)


def _carry_out(
    describe: Callable[[], Recipe],
    *,
    output_dir: Path | None,
    planning: bool,
    as_json: bool,
    leave_out_unavailable: bool,
) -> None:
    if not planning and as_json:
        raise click.UsageError("--json goes with --plan.")
    if not planning and output_dir is None:
        raise click.UsageError("Missing option '--output-dir' (or '--plan').")
    try:
        recipe = describe()
        if output_dir is None or planning:
            unavailable = open_schemes(recipe).left_out
            click.echo(_plan_json(recipe, unavailable) if as_json else _plan_text(recipe, unavailable))
        else:
            _build(recipe, output_dir, leave_out_unavailable)
    except CohortUsageError as error:
        raise click.UsageError(str(error)) from None
    except CohortError as error:
        raise click.ClickException(str(error)) from None


def _build(recipe: Recipe, folder: Path, leave_out_unavailable: bool) -> None:
    opened = open_schemes(recipe)
    if opened.left_out and not leave_out_unavailable:
        for adapter, reason in opened.left_out.items():
            click.echo(f"unavailable: {adapter}: {reason}", err=True)
        raise CohortError("nothing was built: choose others by --adapter, or leave them out by --leave-out-unavailable")
    label = f"building {recipe.name}"
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def advance(done: int, expected: int) -> None:
            bar.length = expected
            bar.update(1)

        built = build_cohort(recipe, folder, opened=opened, leave_out_unavailable=leave_out_unavailable, progress=advance)
    for adapter, reason in built.left_out.items():
        click.echo(f"left out: {adapter}: {reason}")
    for note in built.notes:
        click.echo(note)
    click.echo(f"{built.rows} rows: {built.manifest}")


def _plan_text(recipe: Recipe, unavailable: dict[str, str]) -> str:
    rows = plan(recipe)
    lines = [recipe.title, _columns("adapter", *STATES, "rows")]
    for planned in rows:
        line = _columns(planned.adapter, *(getattr(planned, state) for state in STATES), planned.total)
        reason = unavailable.get(planned.adapter)
        lines.append(f"{line}   planned, unavailable: {reason}" if reason else line)
    lines.append(f"{_total(rows)} rows planned, {_total(rows, unavailable)} can be built here")
    if any(part.measured_removals() for part in recipe.parts):
        lines.append("removed rows are a maximum: whether an attack destroys a mark is measured when the cohort is built")
    return "\n".join(lines)


def _plan_json(recipe: Recipe, unavailable: dict[str, str]) -> str:
    rows = plan(recipe)
    document: dict[str, Any] = {
        "recipe": recipe.name,
        "parameters": recipe.parameters,
        "adapters": [
            {
                "adapter": planned.adapter,
                **{state: getattr(planned, state) for state in STATES},
                "total": planned.total,
                "unavailable": unavailable.get(planned.adapter),
            }
            for planned in rows
        ],
        "planned": _total(rows),
        "buildable": _total(rows, unavailable),
    }
    return encode_document(document).decode().removesuffix("\n")


def _total(rows: list[PlannedRows], without: dict[str, str] | None = None) -> int:
    return sum(planned.total for planned in rows if planned.adapter not in (without or {}))


def _columns(first: str, *rest: object) -> str:
    return f"{first:<12}" + "".join(f"{cell:>10}" for cell in rest)
