"""The fixture extension ends every image, whatever closes, crashes, forgets or overflows meanwhile."""

import base64
import hashlib
import io
import json
import shutil
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from PIL import Image

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.browser.chrome import Chrome, ChromeOptions
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.errors import BrowserError, CheckFailed
from pytest_benchbench.browser.launching import launch_browser

PATIENCE = 120.0
"""Seconds that anything may take on a busy machine; nothing waits for so long where all is well."""

ANSWERED = """new Promise(done => {
  const look = () => document.querySelectorAll("[data-benchbench-result]").length >= %d ? done() : setTimeout(look, 10);
  look();
})"""


@pytest.fixture
def started(chromium):
    """``started(extension)``: a browser with it, and an adapter that asks it."""
    opened = []

    def start(extension):
        launched = launch_browser(chromium.executable, extension=extension, runtime="wasm")
        opened.append(launched.__enter__())
        adapter = Chrome(ChromeOptions(port=opened[-1].port, extension=extension, expect_runtime="wasm", timeout=PATIENCE))
        opened.append(adapter)
        adapter.load()
        return opened[-2], adapter

    yield start
    for each in reversed(opened):
        each.close()


def saved(size, kind):
    file = io.BytesIO()
    Image.effect_noise(size, 60).convert("RGB").save(file, kind)
    return file.getvalue()


def sample(data):
    return Sample("image", hashlib.sha256(data).hexdigest(), data)


def in_the_midst(port, count, act):
    """Wait until so many images of the wave on display have an answer, then call ``act(endpoint, offscreen document)``."""
    until = time.monotonic() + PATIENCE
    with Endpoint(port) as endpoint:
        while time.monotonic() < until:
            pages = [found for found in endpoint.targets() if found.url.startswith("http://127.") and found.type == "page"]
            if pages:
                tab = endpoint.attach(pages[0])
                tab.wait_until_loaded()
                tab.evaluate(ANSWERED % count, timeout=PATIENCE)
                (document,) = (found for found in endpoint.targets() if found.url.endswith("/offscreen.html"))
                act(endpoint, document)
                return
            time.sleep(0.01)
    raise AssertionError("there is no wave")


def disturbed(adapter, port, samples, act):
    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(in_the_midst, port, 4, act)
        answers = adapter.detect_batch(samples)
        acting.result(PATIENCE)
    return answers


@pytest.mark.parametrize(
    "options",
    [{"misbehave": ["crash-offscreen"]}, {"misbehave": ["lose-jobs"], "lease_seconds": 2.0}],
    ids=["a document that closes", "a document that forgets"],
)
def test_no_image_is_lost_by_what_the_offscreen_document_does(started, build_extension, picture, options):
    _, adapter = started(build_extension(**options))
    answers = adapter.detect_batch([picture(number) for number in range(16)])
    assert Counter(answer.status for answer in answers) == {"scored": 16}


def test_no_image_is_lost_when_the_offscreen_document_is_closed(started, build_extension, picture):
    browser, adapter = started(build_extension(misbehave=["slow"]))
    samples = [picture(number) for number in range(12)]
    answers = disturbed(adapter, browser.port, samples, lambda endpoint, document: endpoint.close_tab(document))
    assert Counter(answer.status for answer in answers) == {"scored": 12}


def crash(endpoint, document):
    with suppress(BrowserError):  # there is nobody left to answer
        endpoint.attach(document).call("Page.crash", timeout=1)


def test_images_end_when_the_process_of_the_extension_crashes(started, build_extension, picture):
    browser, adapter = started(build_extension(misbehave=["slow"]))
    answers = disturbed(adapter, browser.port, [picture(number) for number in range(40)], crash)  # most are still to come
    found = Counter(answer.status for answer in answers)
    assert set(found) == {"scored", "inference-error"}
    reasons = {answer.reason for answer in answers if answer.status == "inference-error"}
    assert reasons == {"the extension has crashed or was reloaded"}


def test_more_images_than_the_queue_holds_all_get_an_answer(chromium, build_extension, serve):
    files = [saved((64, 64), "PNG") for _ in range(3)]
    images = [f"data:image/png;base64,{base64.b64encode(file).decode()}" for file in files]
    digests = [hashlib.sha256(file).hexdigest() for file in files]
    url = serve("".join(f'<img width="40" src="{images[number % 3]}">' for number in range(70)))
    with (
        launch_browser(chromium.executable, extension=build_extension(), runtime="wasm") as launched,
        Endpoint(launched.port) as endpoint,
    ):
        tab = endpoint.open_tab(url)
        tab.evaluate(ANSWERED % 70, timeout=PATIENCE)
        results = json.loads(
            tab.evaluate("JSON.stringify([...document.images].map(image => JSON.parse(image.dataset.benchbenchResult)))")
        )
        assert Counter(result["status"] for result in results) == {"scored": 70}
        assert {result["sha256"] for result in results} == set(digests)
        # another address makes it another image
        tab.evaluate(f"document.images[0].src = {json.dumps(images[1])}")
        tab.evaluate(ANSWERED % 70, timeout=PATIENCE)
        changed = json.loads(tab.evaluate("document.images[0].dataset.benchbenchResult"))
        assert (changed["sha256"], changed["cacheStatus"]) == (digests[1], "hit")


def test_each_image_without_a_score_says_why(started, build_extension, picture):
    marked = picture(0).data + b"http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
    data = {
        "small": saved((200, 63), "PNG"),
        "animated": saved((100, 100), "GIF"),
        "cut off": saved((200, 200), "JPEG")[:2000],
        "marked": marked,
        "plain": picture(0).data,
    }
    _, adapter = started(build_extension())
    answers = dict(zip(data, adapter.detect_batch([sample(each) for each in data.values()]), strict=True))
    statuses = ["too-small", "unsupported", "unsupported", "scored", "scored"]
    assert [answer.status for answer in answers.values()] == statuses
    assert all(answers[name].reason for name in ("small", "animated", "cut off"))
    assert (answers["marked"].score, answers["marked"].scorer["decidedBy"]) == (1, "metadata")
    assert answers["plain"].scorer["decidedBy"] == "pixels"
    assert (answers["plain"].scorer["cropCount"], answers["plain"].scorer["provider"]) == (5, "wasm")


@pytest.mark.parametrize(("misbehaviour", "status"), [("disabled", "disabled"), ("fail-inference", "inference-error")])
def test_an_extension_that_cannot_answer_ends_every_image(started, build_extension, picture, misbehaviour, status):
    _, adapter = started(build_extension(misbehave=[misbehaviour]))
    answers = adapter.detect_batch([picture(number) for number in range(3)])
    assert Counter(answer.status for answer in answers) == {status: 3}
    assert all(answer.reason for answer in answers)


def test_an_extension_that_says_it_runs_on_something_else_is_refused(started, build_extension):
    with pytest.raises(CheckFailed, match="the extension ran on webgpu, expected wasm"):
        started(build_extension(misbehave=["wrong-provider"]))


def test_the_extension_has_the_id_of_its_key_wherever_it_lies(chromium, build_extension, tmp_path):
    elsewhere = shutil.copytree(build_extension(), tmp_path / "elsewhere")
    key = base64.b64decode(json.loads((elsewhere / "manifest.json").read_bytes())["key"])
    with (
        launch_browser(chromium.executable, extension=elsewhere, runtime="wasm") as launched,
        Endpoint(launched.port) as endpoint,
    ):
        (loaded,) = endpoint.extensions()
    assert loaded.id == "".join("abcdefghijklmnop"[int(digit, 16)] for digit in hashlib.sha256(key).hexdigest()[:32])
