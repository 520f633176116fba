"""The adapter, with an extension that does with each image what its width says (``puppet/content.js``)."""

import hashlib
import io
import os
import re
import shutil
import signal
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

from pytest_benchbench import AdapterUnavailable, AnswersWithdrawn, Detection, DetectionError, Sample
from pytest_benchbench.browser import deployed
from pytest_benchbench.browser.chrome import Chrome, ChromeOptions
from pytest_benchbench.browser.deployed import OutsideRequest, TrafficUnknown
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.errors import BrowserError, BrowserGone, CheckFailed
from pytest_benchbench.browser.launching import launch_browser
from pytest_benchbench.browser.network_capture import NetworkCapture

PUPPET = Path(__file__).parent / "puppet"

SCORES, IN_THE_WORLD, NEVER, NO_JSON, DISABLED = range(100, 105)
BUSY = 105
OTHER_BYTES, ON_WEBGPU, BY_METADATA, WITHOUT_DIGEST, LEAKS, OTHER_MODEL, NO_PROBABILITY, WITH_PATHS = range(107, 115)


def sample(width):
    file = io.BytesIO()
    Image.new("RGB", (width, 70), (width, 90, 30)).save(file, "PNG")
    return Sample("image", hashlib.sha256(file.getvalue()).hexdigest(), file.getvalue())


def ask(adapter, *widths):
    return adapter.detect_batch([sample(width) for width in widths])


def processes_with(extension):
    """Give the numbers of processes whose command line has a folder; those that ended have none."""
    found = set()
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path("/proc", number, "cmdline").read_bytes()
        except OSError:
            continue
        if str(extension).encode() in line:
            found.add(int(number))
    return found


@pytest.fixture
def opened(chromium):
    """``opened(**options)``: a loaded adapter, closed with the test."""
    adapters = []

    def load(**options):
        adapter = Chrome(ChromeOptions(**{"launch": str(chromium.executable), "extension": PUPPET, **options}))
        adapters.append(adapter)
        adapter.load()
        return adapter

    yield load
    for adapter in adapters:
        adapter.close()


@pytest.fixture(scope="module")
def adapter(chromium):
    """A loaded adapter that expects wasm, shared by the tests of this module that do it no harm."""
    options = ChromeOptions(launch=str(chromium.executable), extension=PUPPET, expect_runtime="wasm", timeout=60)
    adapter = Chrome(options)
    adapter.load()
    yield adapter
    adapter.close()


def test_a_scored_image_has_all_that_the_extension_exposes(adapter):
    (answer,) = ask(adapter, SCORES)
    assert (answer.status, answer.score, answer.reason) == ("scored", 0.1 + 0.2, None)
    facts = dict(answer.scorer)
    assert facts.pop("wallMs") > 0
    facts.pop("first")
    assert facts == {
        "provider": "wasm",
        "modelSha256": "a" * 64,
        "preprocessingVersion": "puppet-1",
        "sha256": sample(SCORES).sha256,
        "evaluationMode": "deployed",
        "profile": "fresh",
        "decidedBy": "pixels",
    }


def test_a_terminal_status_is_an_answer_without_paths_and_without_a_score(adapter):
    (answer,) = ask(adapter, DISABLED)
    assert (answer.status, answer.score) == ("disabled", None)
    assert answer.reason == "off, says <address>"
    assert answer.scorer["evaluationMode"] == "deployed"
    assert "decidedBy" not in answer.scorer


@pytest.mark.parametrize(
    ("width", "kind", "told"),
    [
        (OTHER_BYTES, "ContractError", "fetched bytes of SHA-256 bbbb"),
        (ON_WEBGPU, "CheckFailed", "ran on webgpu, expected wasm"),
        (WITHOUT_DIGEST, "ContractError", "scored without sha256"),
        (NO_PROBABILITY, "ContractError", "score: "),
        (NO_JSON, "ContractError", "not JSON"),
    ],
)
def test_an_answer_that_cannot_count_is_the_error_of_its_row_alone(adapter, width, kind, told):
    wrong, right = ask(adapter, width, SCORES)
    assert isinstance(wrong, DetectionError)
    assert wrong.type == kind
    assert told in wrong.message
    assert isinstance(right, Detection)


def test_what_was_decided_by_metadata_may_run_on_nothing_and_is_told_apart(adapter):
    (answer,) = ask(adapter, BY_METADATA)
    assert answer.status == "scored"
    assert (answer.scorer["decidedBy"], answer.scorer["first"]) == ("metadata", False)


def test_paths_and_addresses_stay_out_of_the_evidence(adapter):
    (answer,) = ask(adapter, WITH_PATHS)
    assert answer.scorer["result"] == "see <path>"
    assert not {"imageURL", "localPath"} & set(answer.scorer)


def test_the_same_bytes_twice_are_answered_twice(adapter):
    assert [answer.status for answer in ask(adapter, SCORES, SCORES)] == ["scored", "scored"]


def test_only_the_first_image_that_the_pixels_decided_is_first(opened):
    adapter = opened(wave=4)
    waves = [ask(adapter, *widths) for widths in [(DISABLED, BY_METADATA), (SCORES, SCORES), (SCORES,)]]
    before, together, after = ([answer.scorer.get("first") for answer in answers] for answers in waves)
    assert before == [None, False]
    assert sorted(together) == [False, True]  # the browser says which of the two was first
    assert after == [False]
    assert adapter.batch_size == 4


def test_the_description_says_what_stands_behind_the_answers_and_no_local_path(adapter):
    described = adapter.describe()
    assert described.version.startswith("puppet 3.2.1 in Chrome/")
    for part in ("deployed, fresh profile, wasm runtime", "--disable-gpu", "--user-data-dir=(path)"):
        assert part in described.rule
    assert str(PUPPET) not in described.rule


def test_a_request_that_leaves_the_machine_fails_all_rows_from_then_on_and_the_run(opened):
    adapter = opened()
    assert ask(adapter, SCORES)[0].status == "scored"
    for width in (LEAKS, SCORES):
        with pytest.raises(OutsideRequest, match=r"outside of this machine: http://192\.0\.2\.1/leak\?"):
            ask(adapter, width)
    with pytest.raises(OutsideRequest):
        adapter.close()


@pytest.mark.parametrize(
    ("width", "named"),
    [
        (118, "http://192.0.2.1/parting"),
        (119, "http://192.0.2.1/hidden"),
        (126, "request http://192.0.2.1/gone by http://127.0.0.1:"),  # when the page really ends
        (127, "request http://192.0.2.1/by-worker by chrome-extension://"),
        (128, "look-up only-asked-for.example by http://127.0.0.1"),
    ],
)
def test_what_no_page_is_seen_to_ask_is_in_the_log_and_fails_the_wave(opened, width, named):
    adapter = opened()
    with pytest.raises(OutsideRequest, match=re.escape(named)):
        ask(adapter, width)
    with suppress(OutsideRequest):  # as before
        adapter.close()


def test_no_answer_counts_of_a_page_that_is_kept_busy_since_what_it_requested_at_last_is_not_known(opened):
    adapter = opened(timeout=10)
    assert [answer.type for answer in ask(adapter, SCORES, BUSY)] == ["CallTimedOut"] * 2
    assert ask(adapter, SCORES)[0].status == "scored"


def test_a_page_that_does_not_say_what_it_requests_fails_the_wave(opened, monkeypatch):
    adapter = opened()
    monkeypatch.setattr(NetworkCapture.settle, "__defaults__", (3.0,))
    with Endpoint(adapter.deployed._launched.port) as endpoint:
        tab = endpoint.open_tab()
        tab.evaluate("void setTimeout(() => { for (;;); })")
        with pytest.raises(TrafficUnknown, match="what page about:blank requests is not known: it does not answer"):
            ask(adapter, SCORES)
        with suppress(BrowserError):
            tab.call("Page.crash", timeout=2)
        endpoint.close_tab(tab)
    monkeypatch.undo()
    assert ask(adapter, SCORES)[0].status == "scored"


def test_a_request_after_the_last_wave_takes_the_answers_back(opened):
    adapter = opened()
    assert ask(adapter, SCORES)[0].status == "scored"
    with Endpoint(adapter._deployed._launched.port) as other:
        other.call("Target.createTarget", url="http://192.0.2.1/late")
    with pytest.raises(OutsideRequest, match="late"):
        adapter.close()


def test_a_browser_that_was_killed_is_started_again_by_the_next_wave(opened):
    adapter = opened()
    described = adapter.describe()
    assert ask(adapter, SCORES)[0].scorer["first"]
    killed = adapter._deployed._launched.pid
    os.kill(killed, signal.SIGKILL)
    with suppress(BrowserError):  # which is the error of all rows
        assert all(isinstance(answer, DetectionError) for answer in ask(adapter, SCORES, SCORES))
    assert sorted(answer.scorer["first"] for answer in ask(adapter, SCORES, SCORES)) == [False, True]
    assert adapter.describe() == described
    assert not Path(f"/proc/{killed}").exists()  # reaped


def test_closing_leaves_no_process_and_no_connection(opened, tmp_path):
    own = shutil.copytree(PUPPET, tmp_path / "puppet")  # tests at the same time have browsers with the other one
    adapter = opened(extension=own)
    assert processes_with(own)
    adapter.close()
    adapter.close()
    assert not processes_with(own)


def test_a_running_browser_is_used_and_left_running(chromium):
    with launch_browser(chromium.executable, extension=PUPPET, runtime="wasm") as running:
        for warm in (False, True):
            adapter = Chrome(ChromeOptions(port=running.port, extension=PUPPET, warm=warm))
            adapter.load()
            (answer,) = ask(adapter, SCORES)
            assert answer.scorer["profile"] == ("warm" if warm else "fresh")
            adapter.close()
        with Endpoint(running.port) as endpoint:
            assert not [target for target in endpoint.targets() if target.url.startswith("http://127.0.0.1")]


def test_another_extension_than_the_named_one_is_refused(browser, tmp_path, write_extension):
    other = write_extension(tmp_path / "other", "other")
    adapter = Chrome(ChromeOptions(port=browser.port, extension=other))
    with pytest.raises(CheckFailed, match="the unpacked extension is probe"):
        adapter.load()


def test_an_extension_that_knows_nothing_of_the_contract_is_told_so(browser, extension):
    adapter = Chrome(ChromeOptions(port=browser.port, extension=extension, timeout=0.5))
    with pytest.raises(CheckFailed, match="did not show the attribute data-benchbench-ready"):
        adapter.load()


def test_a_port_on_which_nobody_listens_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        adapter = Chrome(ChromeOptions(port=taken.getsockname()[1], extension=PUPPET))
        with pytest.raises(BrowserGone, match="no browser listens on"):
            adapter.load()


def test_another_runtime_than_the_one_that_the_extension_is_ready_with_is_refused(opened):
    with pytest.raises(CheckFailed, match=r"ran on wasm, expected webgpu \(Chrome/"):
        opened(expect_runtime="webgpu")


def test_the_log_of_the_browsers_traffic_is_written_and_never_overwritten(opened, tmp_path):
    log = tmp_path / "net.json"
    log.write_text("mine")
    adapter = opened(net_log=log)
    ask(adapter, SCORES)
    adapter.close()
    assert log.read_text() == "mine"
    assert (tmp_path / "net-2.json").stat().st_size > 0


def test_a_log_that_cannot_be_kept_takes_the_answers_back(opened, tmp_path):
    adapter = opened(net_log=tmp_path / "net.json")
    assert ask(adapter, SCORES)[0].status == "scored"
    with Path("/dev/full").open("wb", buffering=0) as full:  # a disk without room
        adapter.deployed._launched.traffic._copied = full
        with pytest.raises(
            TrafficUnknown, match=r"what the browser sent is not known: .*net\.json: cannot be written: No s"
        ):
            ask(adapter, SCORES)
        with pytest.raises(AnswersWithdrawn, match="No space left"):
            adapter.close()


def test_a_browser_that_keeps_no_log_gives_no_answer(chromium, opened, tmp_path, monkeypatch):
    monkeypatch.setattr(deployed, "CALL_SECONDS", 0.5)
    program = tmp_path / "browser"
    program.write_text(
        '#!/bin/sh\nfor flag do shift; case $flag in --log-net-log=*) ;; *) set -- "$@" "$flag";; esac; done\n'
        f'exec {chromium.executable} "$@"\n'
    )
    program.chmod(0o755)
    adapter = opened(launch=str(program))
    for act in (lambda: ask(adapter, SCORES), adapter.close):
        with pytest.raises(TrafficUnknown, match=r"what the browser sent is not known: its log is 0\.5 s behind"):
            act()


def test_what_a_browser_sent_that_was_killed_afterwards_takes_back_what_it_answered(opened):
    adapter = opened()
    assert ask(adapter, SCORES)[0].status == "scored"
    with Endpoint(adapter.deployed._launched.port) as other:
        while not adapter.deployed._launched.traffic.outside(adapter.deployed.allowed):
            other.call("Target.createTarget", url="http://192.0.2.1/late")
    os.kill(adapter.deployed._launched.pid, signal.SIGKILL)
    with pytest.raises(OutsideRequest, match="late"):
        ask(adapter, SCORES)
    assert ask(adapter, SCORES)[0].status == "scored"  # by another browser
    with pytest.raises(OutsideRequest, match="late"):
        adapter.close()


def test_without_a_browser_it_is_unavailable_with_what_to_install():
    adapter = Chrome(ChromeOptions(launch="no-such-browser", extension=PUPPET))
    with pytest.raises(AdapterUnavailable, match="apt-get install chromium"):
        adapter.load()


def test_without_options_it_is_unavailable_and_says_which_to_give():
    with pytest.raises(AdapterUnavailable, match="launch=chromium,extension="):
        Chrome().load()


PROFILE = """
schema_version: 1
type: extension-profile
files: {model: {path: model.txt, sha256: DIGEST}}
setup:
  - open: setup.html
  - put_file: {selector: "#file", file: model}
  - fill: {selector: "#word", value: WORD}
  - click: "#go"
  - wait: {selector: "#state", contains: got the network, fails: ["error:"], timeout: 20}
sources: {verdict: {attribute: data-verdict, json: true}}
fields: {status: verdict.state, score: verdict.ai.percent, pipelineMs: verdict.took.seconds}
words: {status: {done: scored, "error*": inference-error}}
divided_by: {score: 100, pipelineMs: 0.001}
declared: {preprocessingVersion: stranger-1}
"""


@pytest.fixture
def stranger(tmp_path):
    """``stranger(word)``: a profile that sets the puppet up with this word and reads it as one that knows no contract."""

    def write(word="please"):
        (tmp_path / "model.txt").write_text("the network")
        digest = hashlib.sha256(b"the network").hexdigest()
        (tmp_path / "p.yaml").write_text(PROFILE.replace("DIGEST", digest).replace("WORD", word))
        return tmp_path / "p.yaml"

    return write


def test_a_stranger_is_set_up_and_read_by_its_profile(opened, stranger):
    adapter = opened(profile=stranger())
    scored, failed = ask(adapter, 120, 121)
    assert (scored.status, scored.score) == ("scored", 0.375)
    model = hashlib.sha256(b"the network").hexdigest()
    facts = {"modelSha256": model, "preprocessingVersion": "stranger-1", "pipelineMs": 250.0, "decidedBy": "pixels"}
    assert facts.items() <= scored.scorer.items()
    assert not {"sha256", "inferenceMs", "provider"} & set(scored.scorer)
    assert failed.status == "inference-error"
    described = adapter.describe()
    assert "not exposed: " in described.rule
    assert [(file.name, file.sha256) for file in described.weights] == [("model.txt", model)]


def test_a_stranger_that_does_not_say_what_it_ran_on_cannot_be_held_to_a_runtime(opened, stranger):
    (answer,) = ask(opened(profile=stranger(), expect_runtime="wasm"), 120)
    assert answer == DetectionError("CheckFailed", "the extension does not say what it ran on, expected wasm")


def test_a_setup_that_fails_is_told_by_the_number_of_its_step(opened, stranger):
    with pytest.raises(CheckFailed, match=r"p\.yaml: setup\[4\]: #state says: error: wrong word in <path>"):
        opened(profile=stranger("wrong"))
