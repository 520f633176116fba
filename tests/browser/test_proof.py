import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from pytest_benchbench.browser import proof
from pytest_benchbench.browser.namespace import (
    Isolation,
    NamespaceUnavailable,
    entering_command,
    isolation_of,
    network_of,
)
from pytest_benchbench.browser.proof import folder_digest, judge, run_pass
from pytest_benchbench.browser.proof_pass import PassOrder, PassRecord, ScoredImage
from pytest_benchbench.cli import main

BLOCKED = Isolation(("lo",), 0, (), separate=True, holds_browser=True)
OPEN = Isolation(("eth0", "lo"), 3, ("192.0.2.1",), separate=False, holds_browser=True)
SCORED = ScoredImage("a" * 64, "scored", 0.25, "wasm", "pixels")


@pytest.fixture
def order(tmp_path):
    (tmp_path / "logs").mkdir()
    return PassOrder(
        runtime="wasm",
        isolated=True,
        started_from="net:[1]",
        launch="chromium",
        extension=tmp_path,
        profile=None,
        images=tmp_path,
        wave=48,
        timeout=1.0,
        watch=0.0,
        net_log=tmp_path / "logs" / "wasm-isolated.netlog.json",
        record=tmp_path / "record.json",
    )


@pytest.fixture
def record(net_logs):
    return PassRecord(
        images=[SCORED, SCORED], allowed=(net_logs.PAGE, net_logs.EXTENSION), isolation=BLOCKED, browser="a browser"
    )


@pytest.fixture
def log(order, net_logs):
    """``log(events, cut=0, name=None)``: write the log of the pass, its last bytes cut off."""

    def write(events=(), cut=0, name="wasm-isolated.netlog.json"):
        data = net_logs.written([net_logs.request(f"{net_logs.PAGE}/a"), *events])
        (order.net_log.parent / name).write_bytes(data[: len(data) - cut])

    return write


def test_a_pass_that_was_blocked_and_quiet_and_scored_everything_proves(order, record, log):
    log()
    found = judge(order, record)
    assert (found.verdict, found.reasons, found.blocked, found.quiet) == ("proven", [], True, True)
    assert found.statuses == {"scored": 2}
    (file,) = found.net_logs
    assert (file.file, file.complete, file.events) == (order.net_log.name, True, 1)
    assert file.sha256 == hashlib.sha256(order.net_log.read_bytes()).hexdigest()


def test_what_the_log_has_refutes_whatever_else_is_not_known(order, record, log, net_logs):
    log([net_logs.request("http://192.0.2.1/leak")], cut=3)
    record.images = []
    found = judge(order, record)
    assert (found.verdict, found.quiet) == ("refuted", False)
    assert found.reasons == [f"outside: request http://192.0.2.1/leak by {net_logs.EXTENSION}"]


def test_what_was_seen_of_the_pages_refutes_without_a_log(order, record):
    record.outside = ["it asked outside of this machine: http://192.0.2.1/leak (page)"]
    found = judge(order, record)
    assert (found.verdict, found.quiet) == ("refuted", False)
    assert found.reasons == [f"outside: {record.outside[0]}"]


def test_the_first_sightings_are_listed_and_the_others_counted(order, record, log, net_logs):
    log([net_logs.request(f"http://192.0.2.{number}/") for number in range(proof.MAX_SIGHTINGS + 3)])
    outside = judge(order, record).outside
    assert len(outside) == proof.MAX_SIGHTINGS + 1
    assert outside[-1] == "and 3 more"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"isolation": None}, "what the browser could reach is not known"),
        ({"isolation": OPEN}, "the network was not blocked: interfaces eth0 lo, routes 3, reachable 192.0.2.1, separate "),
        ({"isolation": msgspec.structs.replace(BLOCKED, holds_browser=False)}, "the network was not blocked: "),
        ({"images": []}, "no image was scored by its pixels"),
        (
            {"images": [SCORED, ScoredImage("b" * 64, "timeout", reason="too late")]},
            "1 of 2 images have no score, the first ",
        ),
        ({"images": [ScoredImage("b" * 64, "scored", 1.0, "metadata", "metadata")]}, "no image was scored by its pixels"),
        ({"faults": ["BrowserGone: it ended"]}, "BrowserGone: it ended"),
        ({"allowed": None}, "wasm-isolated.netlog.json: what it says cannot be judged"),
    ],
)
def test_what_is_not_known_proves_nothing(order, record, log, change, reason):
    log()
    for name, value in change.items():
        setattr(record, name, value)
    found = judge(order, record)
    assert found.verdict == "inconclusive"
    assert any(line.startswith(reason) for line in found.reasons)


@pytest.mark.parametrize(
    ("names", "cut", "reason"),
    [
        ([], 0, "the browser left no log"),
        (["wasm-isolated.netlog.json"], 3, "wasm-isolated.netlog.json: the browser did not finish its log"),
        (["wasm-isolated.netlog.json"], 10**6, "wasm-isolated.netlog.json: no log of a browser's network"),
        (["wasm-isolated.netlog.json", "wasm-isolated.netlog-2.json"], 0, "the browser left 2 logs instead of one"),
    ],
)
def test_a_log_that_is_not_whole_is_not_quiet(order, record, log, names, cut, reason):
    for name in names:
        log(cut=min(cut, 700) if cut < 10**6 else 1200, name=name)
    found = judge(order, record)
    assert (found.verdict, found.quiet) == ("inconclusive", None)
    assert any(line.startswith(reason) for line in found.reasons)


def test_a_machine_without_a_network_does_not_show_what_webrtc_tries(order, record, log):
    log()
    order = msgspec.structs.replace(order, isolated=False)
    assert judge(order, record).reasons[0].startswith("this machine has no network in which attempts could be seen")
    record.isolation = OPEN
    found = judge(order, record)
    assert (found.verdict, found.network, found.blocked) == ("proven", "normal", False)


def test_a_pass_that_dies_is_told_with_its_last_words(order):
    code = "import sys; print('first\\nwent wrong\\n', file=sys.stderr); sys.exit(3)"
    found = run_pass(order, [sys.executable, "-c", code], 1)
    assert found == PassRecord(faults=["the pass ended with 3: went wrong"])


def test_a_pass_that_does_not_end_is_ended(order, monkeypatch):
    monkeypatch.setattr(proof, "LAUNCH_SECONDS", 0.0)
    monkeypatch.setattr(proof, "_SPARE_SECONDS", -1.5)
    found = run_pass(order, [sys.executable, "-c", "import time; time.sleep(600)"], 1)
    assert found == PassRecord(faults=["the pass did not end within 0.5 s"])


ORDERING = """
import sys
from pathlib import Path
import msgspec
from pytest_benchbench.browser.proof import run_pass
from pytest_benchbench.browser.proof_pass import PassOrder
order = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=PassOrder, dec_hook=lambda _, text: Path(text))
run_pass(order, (), 1)
"""


def test_a_pass_ends_with_who_ordered_it(order, chromium, write_extension, processes_of, tmp_path):
    """Its extension is never ready, for which it would wait ten minutes."""
    extension = write_extension(tmp_path / "dist")
    order = msgspec.structs.replace(order, isolated=False, launch=str(chromium.executable), extension=extension, timeout=600)
    (tmp_path / "order").write_bytes(msgspec.json.encode(order, enc_hook=str))

    def wait_until(condition):
        until = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < until
            time.sleep(0.05)

    with tempfile.TemporaryDirectory(prefix="bb-") as temporary:
        command = [sys.executable, "-c", ORDERING, tmp_path / "order"]
        # as a job in the background of a script, which interrupts do not reach
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            owner = subprocess.Popen(command, env={**os.environ, "TMPDIR": temporary})
        finally:
            signal.signal(signal.SIGINT, handler)
        try:
            wait_until(lambda: list(Path(temporary).glob("benchbench-browser-*/profile/DevToolsActivePort")))
            (started,) = Path(f"/proc/{owner.pid}/task/{owner.pid}/children").read_text().split()
            assert len(processes_of(int(started))) == 1
        finally:
            owner.kill()
            owner.wait()
        wait_until(lambda: processes_of(int(started)) == [] and not list(Path(temporary).glob("benchbench-browser-*")))


def test_the_folder_is_counted_as_a_package_counts_it(tmp_path):
    dist = tmp_path / "dist"
    (dist / "b").mkdir(parents=True)
    for name in ("b/c.js", "manifest.json", "B.txt", ".hidden"):
        (dist / name).write_text(name)
    packed = CliRunner().invoke(
        main, ["package", str(dist), "--review", "--output", str(tmp_path / "x-review.zip"), "--json"]
    )
    assert packed.exit_code == 0, packed.output
    assert folder_digest(dist) == json.loads(packed.stdout)["dist"]


@pytest.fixture(scope="module")
def run_proof(chromium, tmp_path_factory):
    """``run_proof(extension, *arguments)``: exit code, what was printed, and the folder with the document."""
    try:
        entering_command()
    except NamespaceUnavailable as error:
        if os.environ.get("BENCHBENCH_BROWSER") == "1":
            raise
        pytest.skip(str(error))
    if not isolation_of(os.getpid(), network_of()).open:
        pytest.skip("this machine has no network in which attempts could be seen")

    def run(extension, *arguments):
        folder = tmp_path_factory.mktemp("proof") / "out"
        given = ["--extension", str(extension), "--output-dir", str(folder), "--launch", str(chromium.executable)]
        result = CliRunner().invoke(main, ["browser-proof", *given, "--count=2", *arguments])
        return result.exit_code, result.stdout, folder

    return run


def test_an_extension_that_changes_meanwhile_is_no_thing_to_prove(run_proof, write_extension, tmp_path, monkeypatch):
    extension = write_extension(tmp_path / "dist")

    def change(order, prefix, images):
        (extension / "content.js").write_text("// another one")
        return PassRecord()

    monkeypatch.setattr(proof, "run_pass", change)
    code, printed, folder = run_proof(extension)
    assert (code, printed, folder.exists()) == (20, "", False)


def passes(folder):
    document = json.loads((folder / "proof.json").read_text())
    return {(one["runtime"], one["network"]): one for one in document["passes"]}


def test_an_honest_extension_is_proven_on_both_runtimes(run_proof, build_extension):
    """The whole proof, four browsers one after another."""
    code, printed, folder = run_proof(build_extension(webgpu=True), "--watch=1")
    assert code == 0, printed
    assert printed.splitlines()[-2] == "proven: nothing could leave, and nothing was tried"
    found = passes(folder)
    assert list(found) == [(r, n) for r in ("wasm", "webgpu") for n in ("isolated", "normal")]
    for (runtime, network), one in found.items():
        assert (one["verdict"], one["blocked"], one["quiet"]) == ("proven", network == "isolated", True)
        assert {image["provider"] for image in one["images"]} == {runtime}
        (log,) = one["net_logs"]
        assert hashlib.sha256((folder / log["file"]).read_bytes()).hexdigest() == log["sha256"]
    scores = [[image["score"] for image in found["wasm", network]["images"]] for network in ("isolated", "normal")]
    assert scores[0] == scores[1]  # it does its work without a network, and the same work


def test_requests_names_and_sockets_are_caught_without_a_network_and_named(run_proof, build_extension, tmp_path):
    leaks = ["leak-dns", "leak-http", "leak-websocket"]
    extension = shutil.copytree(build_extension(misbehave=leaks), tmp_path / "dist")
    worker = extension / "service-worker.js"
    worker.write_text("fetch('http://192.0.2.7/by-worker').catch(() => {});\n" + worker.read_text())
    code, printed, folder = run_proof(extension, "--runtime=wasm", "--watch=1")
    assert code == 1
    assert "refuted: " in printed
    one = passes(folder)["wasm", "isolated"]
    assert (one["verdict"], one["blocked"], one["quiet"]) == ("refuted", True, False)
    seen = " ".join(one["outside"])
    for leak in ("request http://192.0.2.1/leak", "request ws://192.0.2.1/leak", "look-up leak.benchbench.example"):
        assert leak in seen
    assert "request http://192.0.2.7/by-worker by chrome-extension://" in seen
    assert "by-worker" not in " ".join(one["requested"])  # only the log sees what a service worker does
    assert "http://192.0.2.1/leak" in " ".join(one["requested"])


def test_webrtc_tries_nothing_without_a_network_and_is_caught_in_the_normal_one(run_proof, build_extension):
    code, printed, folder = run_proof(build_extension(misbehave=["leak-webrtc"]), "--runtime=wasm", "--watch=2")
    assert code == 1, printed
    found = passes(folder)
    assert found["wasm", "isolated"]["verdict"] == "proven"
    assert found["wasm", "normal"]["verdict"] == "refuted"
    assert "packet 192.0.2.1:3478" in " ".join(found["wasm", "normal"]["outside"])
    assert "  outside: packet 192.0.2.1:3478" in printed


def test_an_extension_that_does_nothing_is_not_proven(run_proof, write_extension, tmp_path):
    code, printed, _ = run_proof(write_extension(tmp_path / "dist"), "--runtime=wasm", "--timeout=1", "--json")
    assert code == 20
    document = json.loads(printed)
    assert document["verdict"] == "inconclusive"
    assert [one["quiet"] for one in document["passes"]] == [None, None]
