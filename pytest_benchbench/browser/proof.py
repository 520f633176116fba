"""Proves that an extension sends nothing: in a network that nothing can leave, and in one where it is seen what is tried."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from pytest_benchbench.browser.endpoint import connection_module
from pytest_benchbench.browser.flags import Runtime
from pytest_benchbench.browser.installed import find_browser
from pytest_benchbench.browser.launching import LAUNCH_SECONDS
from pytest_benchbench.browser.namespace import Isolation, entering_command, network_of
from pytest_benchbench.browser.netlog import NetLogError, read_net_log
from pytest_benchbench.browser.proof_pass import END_SECONDS, PassOrder, PassRecord, ScoredImage
from pytest_benchbench.manifests.faults import shown_text

SCHEMA_VERSION = 1

Network = Literal["isolated", "normal"]

Verdict = Literal["proven", "refuted", "inconclusive"]

MAX_SIGHTINGS = 100
"""Things outside that one pass lists; the rest is counted."""

_SPARE_SECONDS = 120.0
"""For all of a pass that is neither waiting for an answer nor watching."""

_LAST_WORDS = 2000
"""Bytes of a pass's standard error in which the last line is looked for."""


class ProofError(Exception):
    """There is nothing that a proof could be about. One line."""


class NetLogFile(msgspec.Struct, frozen=True):
    """The log that a browser kept of its whole network.

    Attributes:
        file: Its name, beside the document.
        sha256: Of its bytes.
        bytes: How many.
        complete: Whether the browser finished it.
        events: How many it has; ``None`` where it cannot be read.
    """

    file: str
    sha256: str
    bytes: int
    complete: bool
    events: int | None


class Pass(msgspec.Struct):
    """One pass: one runtime in one network.

    Attributes:
        runtime: ``wasm`` or ``webgpu``.
        network: ``isolated``, a network with nothing but loopback, or ``normal``, the machine's.
        verdict: ``refuted`` where something led outside; ``inconclusive`` where it cannot be known; else ``proven``.
        reasons: Why it is not ``proven``, one line for each.
        blocked: Whether nothing could leave; ``None`` where that is not known.
        quiet: Whether nothing was tried; ``None`` where that is not known.
        outside: What led outside, by the log of the whole browser.
        requested: What led outside, as it was noticed first, while the images were shown.
        statuses: How many images ended how.
        isolation: What the browser could reach.
        net_logs: Of the browser; more than one where it ended and was started again.
        browser: What the browser and the extension are, and with which flags they ran.
        images: What became of each.
    """

    runtime: Runtime
    network: Network
    verdict: Verdict
    reasons: list[str]
    blocked: bool | None
    quiet: bool | None
    outside: list[str]
    requested: list[str]
    statuses: dict[str, int]
    isolation: Isolation | None
    net_logs: list[NetLogFile]
    browser: str | None
    images: list[ScoredImage]


class Proof(msgspec.Struct):
    """All passes, and what they say together.

    Attributes:
        schema_version: Of this document.
        verdict: ``refuted`` if one pass is, else ``inconclusive`` if one is, else ``proven``.
        extension: Number of files and digest of the extension's folder, counted as ``benchbench package`` does.
        passes: In the order in which they ran.
    """

    schema_version: int
    verdict: Verdict
    extension: dict[str, int | str]
    passes: list[Pass]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be proved, of what.

    Attributes:
        extension: Folder of the unpacked extension.
        images: Bytes of the images that it is shown.
        launch: The browser, by name or path; ``None`` takes one that is installed.
        runtimes: On what the extension's model has to run, one after another.
        profile: How an extension is read that does not keep the contract.
        wave: Images in one wave.
        timeout: Seconds for a wave.
        watch: Seconds that the browser is left alone after the last image.
    """

    extension: Path
    images: Sequence[bytes]
    launch: str | None
    runtimes: Sequence[Runtime]
    profile: Path | None
    wave: int
    timeout: float
    watch: float


def prove(wanted: Wanted, folder: Path, tell: Callable[[str], None]) -> Proof:
    """Carry out all passes, and judge them.

    Each runtime is asked twice. In a network of its own, with nothing but loopback, nothing can leave, and the browser's log
    says what was tried; but WebRTC, which finds no network there, tries nothing. So it is done again in the machine's own.

    Args:
        wanted: What is to be proved, of what.
        folder: Where the browsers' logs are put.
        tell: Is told of each pass before it begins, in one line.

    Raises:
        AdapterUnavailable: No browser, or a package is missing.
        NamespaceUnavailable: The system gives no network of its own.
        ProofError: The extension was changed meanwhile.
        OSError: A file cannot be read or written.
    """
    connection_module()
    browser = find_browser(wanted.launch)
    entering = entering_command()
    extension = folder_digest(wanted.extension)
    passes = []
    with tempfile.TemporaryDirectory(prefix="benchbench-proof-") as scratch:
        images = Path(scratch) / "images"
        images.mkdir()
        for number, data in enumerate(wanted.images):
            (images / f"{number:05}").write_bytes(data)
        for runtime in wanted.runtimes:
            for network, prefix in (("isolated", entering), ("normal", ())):
                tell(f"{runtime}, {network} network: {len(wanted.images)} images")
                order = PassOrder(
                    runtime=runtime,
                    isolated=network == "isolated",
                    started_from=network_of(),
                    launch=str(browser.executable),
                    extension=wanted.extension.absolute(),
                    profile=None if wanted.profile is None else wanted.profile.absolute(),
                    images=images,
                    wave=wanted.wave,
                    timeout=wanted.timeout,
                    watch=wanted.watch,
                    net_log=folder.absolute() / f"{runtime}-{network}.netlog.json",
                    record=Path(scratch) / f"{runtime}-{network}.json",
                )
                passes.append(judge(order, run_pass(order, prefix, len(wanted.images))))
    if folder_digest(wanted.extension) != extension:
        raise ProofError(f"{wanted.extension}: was changed while it was looked at: nothing is proven of either state")
    return Proof(SCHEMA_VERSION, _together([each.verdict for each in passes]), extension, passes)


def run_pass(order: PassOrder, prefix: Sequence[str], images: int) -> PassRecord:
    """Have a pass carried out in a process of its own, which takes the browser with it when it ends.

    That process ends with this one, whatever this one dies of.

    Args:
        order: What is to be done.
        prefix: The command that puts the process into another network; empty for none.
        images: How many images are shown, by which the pass's time is bounded.

    Raises:
        OSError: The process cannot be started, or a file cannot be written.
    """
    written = order.record.with_suffix(".order")
    written.write_bytes(msgspec.json.encode(order, enc_hook=str))  # paths
    waves = -(-images // order.wave)
    limit = LAUNCH_SECONDS + (waves + 1) * order.timeout + order.watch + _SPARE_SECONDS
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - this Python, in a network of its own
            [*prefix, sys.executable, "-m", "pytest_benchbench.browser.proof_pass", str(written)],
            stdin=subprocess.PIPE,  # nothing is written: its end is the end of this process
            stdout=said,
            stderr=said,
            start_new_session=True,  # who interrupts at a terminal interrupts this process, which ends that one
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            return PassRecord(faults=[f"the pass did not end within {limit:g} s"])
        finally:
            _end(process)
        if not order.record.exists():
            said.seek(max(0, said.seek(0, 2) - _LAST_WORDS))
            words = said.read().decode("utf-8", "replace").split("\n")
            last = next((line for line in reversed(words) if line.strip()), "it said nothing")
            return PassRecord(faults=[f"the pass ended with {process.returncode}: {shown_text(last.strip())}"])
    return msgspec.json.decode(order.record.read_bytes(), type=PassRecord)


def judge(order: PassOrder, record: PassRecord) -> Pass:
    """Say what a pass proves. A request outside refutes, whatever else went wrong; what is not known proves nothing.

    Args:
        order: What was to be done; its log and the log's further parts are read.
        record: What the pass saw.

    Raises:
        OSError: A log cannot be read.
    """
    outside: list[str] = []
    unread: list[str] = []
    logs = []
    for path in sorted(order.net_log.parent.glob(f"{order.net_log.stem}*{order.net_log.suffix}")):
        log, seen, fault = _log(path, record.allowed)
        logs.append(log)
        outside += seen
        unread += [fault] if fault else []
    if len(logs) != 1:
        unread.append(f"the browser left {len(logs)} logs instead of one" if logs else "the browser left no log")
    led_outside = outside or record.outside
    unknown = record.faults + unread + _unknown(order, record)
    return Pass(
        runtime=order.runtime,
        network="isolated" if order.isolated else "normal",
        verdict="refuted" if led_outside else "inconclusive" if unknown else "proven",
        reasons=[f"outside: {seen}" for seen in led_outside] or unknown,
        blocked=None if record.isolation is None else record.isolation.blocked,
        quiet=False if led_outside else None if unread else True,
        outside=outside,
        requested=record.outside,
        statuses=dict(Counter(image.status for image in record.images)),
        isolation=record.isolation,
        net_logs=logs,
        browser=record.browser,
        images=record.images,
    )


def folder_digest(folder: Path) -> dict[str, int | str]:
    """Count the files of a folder and digest their names and contents, as a package's document does.

    Raises:
        OSError: A file cannot be read.
    """
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        lines.append((path.relative_to(folder).as_posix(), digest))
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(lines))
    return {"files": len(lines), "sha256": hashlib.sha256(listed.encode()).hexdigest()}


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    worst: tuple[Verdict, ...] = ("refuted", "inconclusive")
    return next((verdict for verdict in worst if verdict in verdicts), "proven")


def _log(path: Path, allowed: tuple[str, ...] | None) -> tuple[NetLogFile, list[str], str | None]:
    """Read a log: what it is, what led outside, and what keeps it from telling."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = path.stat().st_size
    try:
        log = read_net_log(path)
    except NetLogError as error:
        return NetLogFile(path.name, digest, size, False, None), [], str(error).replace(str(path), path.name)
    told = NetLogFile(path.name, digest, size, log.complete, log.events)
    if allowed is None:
        return told, [], f"{path.name}: what it says cannot be judged: it is not known who may be asked"
    seen = log.outside(allowed)
    shown = [str(sighting) for sighting in seen[:MAX_SIGHTINGS]]
    shown += [f"and {len(seen) - MAX_SIGHTINGS} more"] if len(seen) > MAX_SIGHTINGS else []
    return told, shown, None if log.complete else f"{path.name}: the browser did not finish its log"


def _unknown(order: PassOrder, record: PassRecord) -> list[str]:
    """Say what is missing for a proof, the log apart."""
    missing = []
    isolation = record.isolation
    if isolation is None:
        missing.append("what the browser could reach is not known")
    elif order.isolated and not isolation.blocked:
        missing.append(f"the network was not blocked: {_described(isolation)}")
    elif not order.isolated and not isolation.open:
        missing.append(f"this machine has no network in which attempts could be seen: {_described(isolation)}")
    if unscored := [image for image in record.images if image.status != "scored"]:
        first = unscored[0]
        why = f": {first.reason}" if first.reason else ""
        missing.append(f"{len(unscored)} of {len(record.images)} images have no score, the first is {first.status}{why}")
    if not any(image.decided_by == "pixels" for image in record.images):
        missing.append("no image was scored by its pixels")
    return missing


def _described(isolation: Isolation) -> str:
    facts = msgspec.to_builtins(isolation)
    return ", ".join(
        f"{name} {' '.join(value) if isinstance(value, list | tuple) else value}" for name, value in facts.items()
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a pass that still runs, so that it ends its browser and removes what it made; kill it after a while."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()
