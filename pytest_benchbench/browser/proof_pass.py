"""One pass of a proof, in a process of its own: images are scored through the extension, and what was seen is written."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from pytest_benchbench.adapters.base import Detection, DetectionError, Sample
from pytest_benchbench.browser.chrome import Chrome, ChromeOptions
from pytest_benchbench.browser.deployed import OutsideRequest
from pytest_benchbench.browser.flags import Runtime
from pytest_benchbench.browser.namespace import Isolation, isolation_of, raise_loopback
from pytest_benchbench.manifests.faults import shown_text

END_SECONDS = 30.0
"""How long a pass that is interrupted may take to end its browser."""


class PassOrder(msgspec.Struct, frozen=True):
    """What one pass has to do.

    Attributes:
        runtime: On what the extension's model has to run.
        isolated: Whether the process was put into a network of its own, whose loopback is to be switched on.
        started_from: The network of who ordered the pass, as ``namespace.network_of`` names it.
        launch: The browser, by name or path.
        extension: Folder of the unpacked extension.
        profile: How an extension is read that does not keep the contract.
        images: Folder of the images, which are taken in the order of their names.
        wave: Images in one wave.
        timeout: Seconds for a wave.
        watch: Seconds that the browser is left alone after the last image, in case something is sent later.
        net_log: Where the browser writes down its traffic.
        record: Where what was seen is written.
    """

    runtime: Runtime
    isolated: bool
    started_from: str
    launch: str
    extension: Path
    profile: Path | None
    images: Path
    wave: int
    timeout: float
    watch: float
    net_log: Path
    record: Path


class ScoredImage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one image.

    Attributes:
        sha256: Of its bytes.
        status: What the extension said, ``error`` where it said nothing that counts.
        score: As the extension shows it.
        provider: On what it was computed.
        decided_by: ``pixels`` or ``metadata``.
        reason: Why there is no score.
    """

    sha256: str
    status: str
    score: float | None = None
    provider: str | None = None
    decided_by: str | None = None
    reason: str | None = None


class PassRecord(msgspec.Struct, omit_defaults=True):
    """What one pass saw. What could not be found out is absent.

    Attributes:
        images: In the order in which they were shown.
        allowed: The origins that may be asked.
        isolation: What the browser's process could reach.
        browser: What the browser, the extension and the rule of its answers are.
        outside: What left the machine, as it was noticed while the images were shown.
        faults: What went wrong, one line for each.
    """

    images: list[ScoredImage] = []
    allowed: tuple[str, ...] | None = None
    isolation: Isolation | None = None
    browser: str | None = None
    outside: list[str] = []
    faults: list[str] = []


def carry_out(order: PassOrder) -> PassRecord:
    """Do what an order says. Whatever goes wrong is in the record."""
    record = PassRecord()
    adapter = Chrome(
        ChromeOptions(
            launch=order.launch,
            extension=order.extension,
            expect_runtime=order.runtime,
            wave=order.wave,
            profile=order.profile,
            timeout=order.timeout,
            net_log=order.net_log,
        )
    )
    try:
        with _noting(record):
            if order.isolated:
                raise_loopback()
            adapter.load()
            record.browser = f"{adapter.describe().version}; {adapter.describe().rule}"
            record.allowed = tuple(sorted(adapter.deployed.allowed))
            record.isolation = isolation_of(adapter.deployed.process_id, order.started_from)
            _show_all(adapter, order, record)
            time.sleep(order.watch)
    finally:
        with _noting(record):
            adapter.close()
    return record


def _show_all(adapter: Chrome, order: PassOrder, record: PassRecord) -> None:
    """Show the images in waves; what has no answer is in the record too."""
    files = sorted(order.images.iterdir())
    for start in range(0, len(files), order.wave):
        data = [file.read_bytes() for file in files[start : start + order.wave]]
        samples = [Sample("image", hashlib.sha256(each).hexdigest(), each) for each in data]
        try:
            answers = adapter.detect_batch(samples)
        except BaseException as error:
            reason = _line(error)
            record.images += [ScoredImage(sample.sha256, "error", reason=reason) for sample in samples]
            raise
        record.images += [_scored(sample, answer) for sample, answer in zip(samples, answers, strict=True)]


def _scored(sample: Sample, answer: Detection | DetectionError) -> ScoredImage:
    if isinstance(answer, DetectionError):
        return ScoredImage(sample.sha256, "error", reason=f"{answer.type}: {answer.message}")
    facts = answer.scorer or {}
    return ScoredImage(
        sample.sha256, answer.status, answer.score, facts.get("provider"), facts.get("decidedBy"), answer.reason
    )


@contextmanager
def _noting(record: PassRecord) -> Iterator[None]:
    """Keep what is raised in the record: a request that left the machine apart from what else went wrong."""
    try:
        yield
    except OutsideRequest as error:
        if str(error) not in record.outside:  # it is told of again at the end
            record.outside.append(str(error))
    except Exception as error:  # whatever it is, the log and the other passes still tell something
        record.faults.append(_line(error))


def _line(error: BaseException) -> str:
    return shown_text(" ".join(f"{type(error).__name__}: {error}".split()))


def _end_with_parent() -> None:
    """Interrupt this process once the other end of its standard input is gone: who ordered the pass has ended."""
    with suppress(OSError):
        while os.read(sys.stdin.fileno(), 1):
            pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(END_SECONDS)
    os._exit(1)  # it does not let itself be interrupted; its browser ends with it


def main(arguments: list[str]) -> int:
    """Carry out the order in the file that the only argument names, for as long as standard input stays open."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are started without
    threading.Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    order = msgspec.json.decode(Path(arguments[0]).read_bytes(), type=PassOrder, dec_hook=lambda _, text: Path(text))
    record = msgspec.json.encode(carry_out(order))
    beside = order.record.with_suffix(".partial")
    beside.write_bytes(record)
    beside.replace(order.record)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
