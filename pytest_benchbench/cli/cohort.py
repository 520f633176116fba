"""``benchbench cohort``: build artifacts and their manifest by a recipe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from pytest_benchbench.cohorts import CohortError, real_image, synthetic_image
from pytest_benchbench.cohorts.attacks.image import DEFAULT_IMAGE_ATTACKS, IMAGE_ATTACKS
from pytest_benchbench.cohorts.building import STATES, build_cohort
from pytest_benchbench.cohorts.recipe import ImageRecipe, PlannedRows, check_side, open_marks, plan


@click.group("cohort")
def command() -> None:
    """Build artifacts and their manifest by a recipe.

    The same recipe gives the same bytes. An existing folder is refused.
    """


def _side(context: click.Context, parameter: click.Parameter, value: int) -> int:
    try:
        return check_side(value)
    except CohortError as error:
        raise click.BadParameter(str(error)) from None


def _recipe_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every image recipe has."""
    options = (
        click.option(
            "--output-dir",
            type=click.Path(path_type=Path),
            help="New folder for manifest.jsonl, cohort.json and artifacts/.",
        ),
        click.option(
            "--size",
            "side",
            type=int,
            default=synthetic_image.DEFAULT_SIDE,
            show_default=True,
            callback=_side,
            help="Width and height in pixels, 256 to 8192, divisible by 16.",
        ),
        click.option(
            "--attack",
            "attacks",
            multiple=True,
            type=click.Choice(list(IMAGE_ATTACKS)),
            default=DEFAULT_IMAGE_ATTACKS,
            show_default=True,
            help="What is done to marked pictures; repeatable.",
        ),
        click.option("--plan", "planning", is_flag=True, help="Print the planned rows of each adapter and build nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@command.command(synthetic_image.NAME)
@_recipe_options
def synthetic(output_dir: Path | None, side: int, attacks: tuple[str, ...], planning: bool, as_json: bool) -> None:
    """Three carriers drawn by formula, and a hard negative."""
    _carry_out(lambda: synthetic_image.synthetic_image(side, attacks), output_dir, planning, as_json)


@command.command(real_image.NAME)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    help="YAML list of images; the photographs of scikit-image if absent.",
)
@_recipe_options
def real(
    source: Path | None, output_dir: Path | None, side: int, attacks: tuple[str, ...], planning: bool, as_json: bool
) -> None:
    """Photographs, or any images of which a list says why they may be used."""
    _carry_out(lambda: real_image.real_image(side, attacks, source), output_dir, planning, as_json)


def _carry_out(describe: Callable[[], ImageRecipe], output_dir: Path | None, planning: bool, as_json: bool) -> None:
    if not planning and as_json:
        raise click.UsageError("--json goes with --plan.")
    if not planning and output_dir is None:
        raise click.UsageError("Missing option '--output-dir' (or '--plan').")
    try:
        recipe = describe()
        if output_dir is None or planning:
            _, unavailable = open_marks(recipe)
            click.echo(_plan_json(recipe, unavailable) if as_json else _plan_text(recipe, unavailable))
        else:
            _build(recipe, output_dir)
    except CohortError as error:
        raise click.ClickException(str(error)) from None


def _build(recipe: ImageRecipe, folder: Path) -> None:
    label = f"building {recipe.name}"
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def advance(done: int, expected: int) -> None:
            bar.length = expected
            bar.update(1)

        built = build_cohort(recipe, folder, progress=advance)
    for adapter, reason in built.left_out.items():
        click.echo(f"left out: {adapter}: {reason}")
    click.echo(f"{built.rows} rows: {built.manifest}")


def _plan_text(recipe: ImageRecipe, unavailable: dict[str, str]) -> str:
    rows = plan(recipe)
    lines = [f"{recipe.name} at {recipe.side}x{recipe.side}", _columns("adapter", *STATES, "rows")]
    for planned in rows:
        line = _columns(planned.adapter, *(getattr(planned, state) for state in STATES), planned.total)
        reason = unavailable.get(planned.adapter)
        lines.append(f"{line}   planned, unavailable: {reason}" if reason else line)
    lines.append(f"{_total(rows)} rows planned, {_total(rows, unavailable)} can be built here")
    return "\n".join(lines)


def _plan_json(recipe: ImageRecipe, unavailable: dict[str, str]) -> str:
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
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _total(rows: list[PlannedRows], without: dict[str, str] | None = None) -> int:
    return sum(planned.total for planned in rows if planned.adapter not in (without or {}))


def _columns(first: str, *rest: object) -> str:
    return f"{first:<12}" + "".join(f"{cell:>10}" for cell in rest)
