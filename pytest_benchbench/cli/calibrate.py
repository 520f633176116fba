"""``benchbench calibrate``: choose how a detector's raw scores become probabilities, and freeze it in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from pytest_benchbench.adapters.calibrator import MAX_CALIBRATOR_BYTES, Calibrator, Candidate
from pytest_benchbench.cli.new_output import refuse_output, write_output
from pytest_benchbench.cli.score_options import joined_manifest
from pytest_benchbench.evidence.calibrating import calibrate
from pytest_benchbench.evidence.calibration_rows import CalibrationError, read_calibration_rows
from pytest_benchbench.evidence.run_facts import RunFacts
from pytest_benchbench.evidence.score_rows import read_scores
from pytest_benchbench.evidence.score_source import ScoreError
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.field_types import is_hex, says_something
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.statistics.folds import DEFAULT_FOLDS, DEFAULT_SALT, MAX_FOLDS
from pytest_benchbench.statistics.score_mapping import METHODS

_DIGEST_LENGTH = 64

_HEADER = ("mapping", "slope", "intercept", "brier", "out of fold", "lower by", "+- SE", "bal. acc.", "FPR", "")


class _Incomplete(click.ClickException):
    """Shown as one line. The exit code is that of a run that lost rows."""

    exit_code = 21


def _digest(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and (len(value) != _DIGEST_LENGTH or not is_hex(value)):
        raise click.BadParameter("expected 64 lower-case hex digits")
    return value


def _text(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not says_something(value):
        raise click.BadParameter("expected a text that is not blank")
    try:
        (value or "").encode()
    except UnicodeEncodeError:
        raise click.BadParameter("expected Unicode") from None
    return value


@click.command("calibrate")
@click.argument("scores", type=click.Path(exists=True, path_type=Path))
@click.argument("output", metavar="CALIBRATOR", type=click.Path(path_type=Path))
@joined_manifest("A dataset manifest that says by id what the rows do not.")
@click.option("--adapter", metavar="NAME", help="Take the rows of this adapter only; for the evidence of several.")
@click.option("--model-sha256", metavar="DIGEST", callback=_digest, help="The checkpoint, where rows do not say it.")
@click.option("--preprocessing-version", metavar="TEXT", callback=_text, help="The preprocessing, where rows do not say it.")
@click.option("--folds", type=click.IntRange(2, MAX_FOLDS), default=DEFAULT_FOLDS, show_default=True, help="How many folds.")
@click.option(
    "--salt", metavar="TEXT", callback=_text, default=DEFAULT_SALT, show_default=True, help="Another one deals other folds."
)
@click.option(
    "--exclude-terminal", is_flag=True, help="Leave out, and count, rows that have no score; else they are refused."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines for people.")
def command(
    scores: Path,
    output: Path,
    manifest: Path | None,
    adapter: str | None,
    model_sha256: str | None,
    preprocessing_version: str | None,
    folds: int,
    salt: str,
    exclude_terminal: bool,
    as_json: bool,
) -> None:
    """Fit a calibrator on the raw scores of a calibration split, and write it to the new file CALIBRATOR.

    SCORES is the directory of a run, its evidence, or a file of score rows. Identity, temperature and regularised Platt are
    compared on bases that they were not fitted on. The identity stays unless another is clearly better and nothing is worse.

    Exit codes: 0 done, deployable or not; 1 rows are refused, or CALIBRATOR exists (then nothing is written); 2 wrong use;
    21 the run lost rows.
    """
    refuse_output(output)
    try:
        source = read_scores(scores, manifest=manifest, adapter=adapter)
        notes = _notes(scores, source.facts)
        rows = read_calibration_rows(
            source,
            model_sha256=model_sha256,
            preprocessing_version=preprocessing_version,
            exclude_terminal=exclude_terminal,
        )
    except (ScoreError, CalibrationError) as error:
        raise click.ClickException(str(error)) from None
    calibrator = calibrate(rows, folds=folds, salt=salt)
    data = calibrator.encoded()
    if len(data) > MAX_CALIBRATOR_BYTES:
        raise click.ClickException(
            f"the folds of {len(calibrator.folds.of_base) if calibrator.folds else 0} bases take {len(data)} bytes, "
            f"more than the {MAX_CALIBRATOR_BYTES} that are read; shorten the names of the bases"
        )
    write_output(output, data)
    sha256 = hashlib.sha256(data).hexdigest()
    for note in notes:
        click.echo(f"note: {plain(note)}", err=True)
    if as_json:
        document = {"output": str(output), "sha256": sha256, "notes": notes, "calibrator": _shown(calibrator)}
        click.echo(encode_document(document).decode(), nl=False)
        return
    for line in _lines(calibrator):
        click.echo(line)
    click.echo(f"{output}: SHA-256 {sha256}")


def _notes(scores: Path, facts: RunFacts | None) -> list[str]:
    if facts is None:
        return []
    if facts.lost:
        raise _Incomplete(f"{scores}: the run lost {facts.lost} of its planned rows; go on with it by --bench-resume first")
    return list(facts.gaps)


def _shown(calibrator: Calibrator) -> dict[str, Any]:
    """Give the calibrator's document without the folds of the bases, which are many and stand in the file."""
    document: dict[str, Any] = msgspec.to_builtins(calibrator)
    document["folds"].pop("of_base")
    return document


def _lines(calibrator: Calibrator) -> Iterator[str]:
    counts = calibrator.counts
    assert counts is not None
    of_bases = f"{counts.ai_bases} AI and {counts.real_bases} real bases"
    yield f"{counts.rows} rows of {of_bases if counts.unit == 'base' else 'unknown bases'}" + "".join(
        f", {number} {status} left out" for status, number in sorted(counts.terminal.items())
    )
    cells = [_cells(method, calibrator.candidates[method]) for method in METHODS]
    yield from _aligned([_HEADER, *cells])
    for method in METHODS:
        candidate = calibrator.candidates[method]
        yield f"{method}: {'' if candidate.eligible else 'not eligible, '}{plain(candidate.reason)}"
    raw = calibrator.raw_at_threshold
    becomes = f"{'no raw score' if raw is None else f'a raw score of {raw:.6g}'} becomes {calibrator.threshold}"
    why = "" if calibrator.method == "identity" else ", of the eligible the best out of fold"
    yield f"chosen: {calibrator.method}{why}; {becomes}"
    yield "deployable" if calibrator.deployable else "not deployable:"
    yield from (f"  {plain(gap)}" for gap in calibrator.missing)


def _cells(method: str, candidate: Candidate) -> tuple[str, ...]:
    numbers = (
        candidate.slope,
        candidate.intercept,
        candidate.brier,
        candidate.oof_brier,
        candidate.oof_gain,
        candidate.oof_gain_se,
        candidate.oof_balanced_accuracy,
        candidate.oof_false_positive_rate,
    )
    texts = ("-" if number is None else f"{round(number, 4) + 0.0:.4f}" for number in numbers)  # without a negative zero
    return (method, *texts, "eligible" if candidate.eligible else "")


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        texts = [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        yield "  ".join(texts).rstrip()
