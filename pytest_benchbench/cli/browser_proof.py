"""``benchbench browser-proof``: prove that an extension sends nothing of what it is shown."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
from PIL import Image

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.browser.chrome import ChromeOptions
from pytest_benchbench.browser.flags import Runtime
from pytest_benchbench.browser.namespace import NamespaceUnavailable
from pytest_benchbench.browser.proof import Pass, Proof, ProofError, Wanted, prove
from pytest_benchbench.cohorts.carriers.synthetic import CARRIERS
from pytest_benchbench.evidence.writing import encode_document
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.session.exit_status import FAILED, GATE_NOT_PASSED

DOCUMENT = "proof.json"

MAX_IMAGES = 1000

MAX_IMAGE_BYTES = 64 << 20

DRAWN_SIDE = 256
"""Width and height of the images that are drawn, pixels."""

_WAVE = 48
"""Images that are shown at once."""

_EXIT_CODES = {"proven": 0, "refuted": FAILED, "inconclusive": GATE_NOT_PASSED}

_SHOWN_REASONS = 10


@click.command("browser-proof")
@click.argument("images", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[IMAGE]...")
@click.option(
    "--extension",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the unpacked extension.",
)
@click.option("--output-dir", required=True, type=click.Path(path_type=Path), help="New folder for proof and logs.")
@click.option("--launch", metavar="BROWSER", help="Name or path of the browser. [the first that is installed]")
@click.option(
    "--runtime",
    "runtimes",
    multiple=True,
    type=click.Choice(["wasm", "webgpu"]),
    default=("wasm", "webgpu"),
    show_default=True,
    help="On what the model has to run; repeatable.",
)
@click.option(
    "--profile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="How an extension is read that does not keep the contract, a .yaml file.",
)
@click.option(
    "--count",
    type=click.IntRange(1, MAX_IMAGES),
    default=_WAVE,
    show_default=True,
    help="Images that are drawn where no IMAGE is given.",
)
@click.option(
    "--timeout", type=click.IntRange(1, 3600), default=180, show_default=True, help=f"Seconds for a wave of {_WAVE} images."
)
@click.option(
    "--watch",
    type=click.IntRange(0, 3600),
    default=5,
    show_default=True,
    help="Seconds to go on watching after the last image.",
)
@click.option("--json", "as_json", is_flag=True, help="Print proof.json instead of lines for people.")
def command(
    images: tuple[Path, ...],
    extension: Path,
    output_dir: Path,
    launch: str | None,
    runtimes: tuple[Runtime, ...],
    profile: Path | None,
    count: int,
    timeout: int,
    watch: int,
    as_json: bool,
) -> None:
    """Prove that a browser extension sends nothing of the images that it is shown.

    Each runtime scores the IMAGEs, files or folders of them, twice: in a network that has nothing but loopback, where
    nothing can leave and the browser's log says what was tried, and in the machine's own, where WebRTC is seen to try too.
    proof.json says what was seen and has the digests of the logs.

    Exit codes: 0 proven, 1 something led outside, or a file cannot be read or written, 2 wrong use, 20 nothing is proven.
    """
    try:
        ChromeOptions(launch=launch or "chromium", extension=extension, profile=profile)
    except ValueError as error:
        raise click.UsageError(plain(str(error))) from None
    try:
        shown = _read(images) if images else list(_drawn(count))
        wanted = Wanted(extension, shown, launch, tuple(dict.fromkeys(runtimes)), profile, _WAVE, timeout, watch)
        with new_folder(output_dir) as beside:
            proof = prove(wanted, beside, lambda line: click.echo(line, err=True))
            (beside / DOCUMENT).write_bytes(encode_document(proof))
    except FolderExistsError:
        raise click.UsageError(f"--output-dir={output_dir}: exists already; name a new folder") from None
    except (AdapterUnavailable, NamespaceUnavailable, ProofError) as error:
        click.echo(f"Error: {plain(str(error))}", err=True)
        raise SystemExit(GATE_NOT_PASSED) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or output_dir}: {error.strerror or error}") from None
    if as_json:
        click.echo(encode_document(proof).decode(), nl=False)
    else:
        for line in _lines(proof):
            click.echo(line)
        click.echo(f"proof: {output_dir / DOCUMENT}")
    raise SystemExit(_EXIT_CODES[proof.verdict])


def _read(named: tuple[Path, ...]) -> list[bytes]:
    """Read the images, those of a folder in the order of their names.

    Raises:
        click.UsageError: There are none, or too many, or one is too large.
        OSError: One cannot be read.
    """
    files = [file for path in named for file in (sorted(path.iterdir()) if path.is_dir() else [path]) if not file.is_dir()]
    if not 0 < len(files) <= MAX_IMAGES:
        raise click.UsageError(f"IMAGE: {len(files)} files; give 1 to {MAX_IMAGES}")
    read = []
    for file in files:
        with open_regular(file) as opened:
            data = opened.read(MAX_IMAGE_BYTES + 1)
        if len(data) > MAX_IMAGE_BYTES:
            raise click.UsageError(f"{file}: larger than {MAX_IMAGE_BYTES} bytes")
        read.append(data)
    return read


def _drawn(count: int) -> Iterator[bytes]:
    """Draw images, each another one, the same each time."""
    carrier = next(carrier for carrier in CARRIERS if carrier.seed is not None)
    for seed in range(count):
        encoded = io.BytesIO()
        Image.fromarray(replace(carrier, seed=seed).draw(DRAWN_SIDE)).save(encoded, "PNG")
        yield encoded.getvalue()


def _lines(proof: Proof) -> Iterator[str]:
    for one in proof.passes:
        yield from _pass_lines(one)
    told = {
        "proven": "nothing could leave, and nothing was tried",
        "refuted": "the extension, or the browser, asks outside of this machine",
        "inconclusive": "it is not known whether anything is sent",
    }
    yield f"{proof.verdict}: {told[proof.verdict]}"


def _pass_lines(one: Pass) -> Iterator[str]:
    facts = (("blocked", one.blocked), ("quiet", one.quiet))
    known = [f"{'' if value else 'not '}{name}" if value is not None else f"{name}: not known" for name, value in facts]
    scored = one.statuses.get("scored", 0)
    yield f"{one.runtime}, {one.network} network: {', '.join(known)}, {scored} of {len(one.images)} images scored"
    for reason in one.reasons[:_SHOWN_REASONS]:
        yield f"  {plain(reason)}"
    if (more := len(one.reasons) - _SHOWN_REASONS) > 0:
        yield f"  and {more} more"
    for log in one.net_logs:
        yield f"  log: {log.file}, sha256 {log.sha256}"
