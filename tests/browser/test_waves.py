"""Waves in a real browser, with an extension that does with each image what its width says (``puppet/content.js``)."""

import hashlib
import io
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from PIL import Image

from pytest_benchbench.browser import waves
from pytest_benchbench.browser.contract import ContractError
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.errors import BrowserError, CallTimedOut, CheckFailed, TabGone
from pytest_benchbench.browser.image_server import ImageServer
from pytest_benchbench.browser.profile import parse_profile
from pytest_benchbench.browser.waves import MAX_WAVE, Reading, run_wave, wait_until_ready

PUPPET = Path(__file__).parent / "puppet"

SCORES, IN_THE_WORLD, NEVER, NO_JSON, DISABLED, BUSY, LEAVES = range(100, 107)
TOO_LONG, FAILS, SEEN_AGAIN = 115, 116, 117
PERCENT, ERROR, BADGE, IN_SIGHT, UNKNOWN_WORD, PENDING = 120, 121, 122, 123, 124, 125


def drawn(width, height=70):
    file = io.BytesIO()
    Image.new("RGB", (width, height), (width % 256, 90, 30)).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def extension():
    return PUPPET


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch):
    monkeypatch.setattr(waves, "SILENCE_S", 1.0)


@pytest.fixture
def server():
    with ImageServer() as server:
        yield server


@pytest.fixture
def show(endpoint, server):
    """``show(widths)``: show images of these widths, and give what became of each."""

    def show(widths, *, reading=None, timeout=120.0, endpoint=endpoint):
        (loaded,) = endpoint.extensions()
        return run_wave(
            endpoint,
            server,
            [width if isinstance(width, bytes) else drawn(width) for width in widths],
            reading or Reading.of(None),
            extension_origin=f"chrome-extension://{loaded.id}",
            timeout=timeout,
        )

    return show


def profile_of(text):
    return Reading.of(parse_profile(b"schema_version: 1\ntype: extension-profile\n" + text.encode(), name="p.yaml"))


def test_an_answer_reads_back_exactly_from_an_attribute_and_from_the_isolated_world(show):
    attribute, variable = show([SCORES, IN_THE_WORLD])
    for seen in (attribute, variable):
        assert seen.record["score"] == 0.1 + 0.2
        assert seen.wall_ms > 0
    assert attribute.record["sha256"] == hashlib.sha256(drawn(SCORES)).hexdigest()
    assert (attribute.width, attribute.height) == (SCORES, 70)


def test_what_is_never_answered_is_a_timeout_that_says_who_fetched_it_and_others_keep_their_answers(show):
    never, scored = show([NEVER, SCORES], timeout=8)
    assert scored.record["status"] == "scored"
    assert (never.record["status"], never.wall_ms) == ("timeout", None)
    assert "no answer within 8 s" in never.record["reason"]
    assert "fetched 1 times by the page, 0 times by the extension" in never.record["reason"]


def test_what_breaks_the_contract_is_the_fault_of_its_own_row(show):
    seen = show([NO_JSON, TOO_LONG, SCORES])
    assert [type(one.fault) for one in seen] == [ContractError, ContractError, type(None)]
    assert "not JSON" in str(seen[0].fault)
    assert str(seen[1].fault) == "what stands at result is too long"


def test_an_image_that_the_browser_cannot_show_and_the_extension_leaves_alone_is_unsupported(show):
    broken, scored = show([b"no image", SCORES])
    assert broken.record["status"] == "unsupported"
    assert scored.record["status"] == "scored"


def test_a_page_that_is_kept_busy_ends_with_the_time_of_the_wave_and_goes(show, endpoint, server):
    (busy,) = show([BUSY], timeout=6)
    assert isinstance(busy.fault, CallTimedOut)
    assert not [target for target in endpoint.targets() if target.url.startswith(server.origin)]
    assert show([SCORES])[0].record["status"] == "scored"


def test_a_page_that_is_left_is_an_error_of_the_rows_that_had_no_answer(show):
    (left,) = show([LEAVES])
    assert isinstance(left.fault, TabGone)
    assert "the page of images was left for " in str(left.fault)


def test_as_many_images_as_a_wave_may_have(show):
    assert [seen.record["status"] for seen in show([SCORES] * MAX_WAVE)] == ["scored"] * MAX_WAVE


@pytest.mark.parametrize("widths", [[], [SCORES] * (MAX_WAVE + 1)])
def test_other_numbers_of_images_are_refused(show, widths):
    with pytest.raises(ValueError, match="1 to 60 images"):
        show(widths)


def interfere(port, origin, action, *, once="true"):
    """Do something to the wave's tab from another connection, once it is loaded and an expression holds there."""

    def run():
        until = time.monotonic() + 120
        with Endpoint(port) as other:
            while True:
                pages = [target for target in other.targets() if target.type == "page" and target.url.startswith(origin)]
                if pages:
                    break
                assert time.monotonic() < until
                time.sleep(0.02)
            with other.attach(pages[0]) as tab:  # what is done to a page that is about to load is lost
                tab.wait_until_loaded()
                while not tab.evaluate(once):
                    assert time.monotonic() < until
                    time.sleep(0.02)
            action(other, pages[0])

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def crash(other, page):
    with other.attach(page) as tab, pytest.raises(BrowserError):
        tab.call("Page.crash", timeout=20)


@pytest.mark.parametrize("action", [Endpoint.close_tab, crash], ids=["closed", "crashed"])
def test_a_tab_that_is_gone_is_an_error_of_its_rows_and_of_no_others(show, browser, server, action):
    thread = interfere(browser.port, server.origin, action)
    (gone,) = show([NEVER])
    thread.join()
    assert isinstance(gone.fault, BrowserError)
    assert show([SCORES])[0].record["status"] == "scored"


def test_a_browser_that_is_killed_is_an_error_of_its_rows(mortal, server, show):
    with Endpoint(mortal.port) as endpoint:
        thread = interfere(mortal.port, server.origin, lambda other, page: os.kill(mortal.pid, signal.SIGKILL))
        (gone,) = show([NEVER], endpoint=endpoint)
        thread.join()
    assert isinstance(gone.fault, BrowserError)


def test_a_tab_in_the_background_is_brought_to_the_front_again(show, browser, server):
    def hide(other, page):
        other.call("Target.createTarget", url="about:blank")

    thread = interfere(browser.port, server.origin, hide, once="document.images[0].dataset.listens === 'yes'")
    (hidden,) = show([SEEN_AGAIN])
    thread.join()
    assert hidden.hidden
    assert hidden.record["status"] == "scored"


VERDICT = """
sources: {verdict: {attribute: data-verdict, json: true}}
fields: {status: verdict.state, score: verdict.ai.percent, pipelineMs: verdict.took.seconds}
words: {status: {done: scored, busy: pending, "error*": inference-error}}
divided_by: {score: 100, pipelineMs: 0.001}
"""


def test_a_profile_reads_what_was_not_written_for_the_contract(show):
    scored, failed, unknown = show([PERCENT, ERROR, UNKNOWN_WORD], reading=profile_of(VERDICT))
    assert scored.record == {"status": "scored", "score": 0.375, "pipelineMs": 250.0}
    assert failed.record == {"status": "inference-error"}
    assert "does not say what 'new and unknown' means" in str(unknown.fault)


def test_a_word_that_means_pending_is_waited_on(show):
    (busy,) = show([PENDING], reading=profile_of(VERDICT), timeout=2)
    assert busy.record["status"] == "timeout"


def test_a_text_beside_the_image_is_a_source(show):
    text = "sources: {badge: {selector: .badge, text: true}}\nfields: {score: badge}\n"
    assert show([BADGE], reading=profile_of(text))[0].record == {"status": "scored", "score": 0.625}


def test_an_expression_sees_the_world_of_the_extension(show):
    text = "sources: {kept: {expression: 'benchbenchResults[image.src]'}}\nfields: {score: kept.score}\n"
    assert show([IN_THE_WORLD], reading=profile_of(text))[0].record == {"status": "scored", "score": 0.1 + 0.2}


def test_an_expression_that_keeps_failing_is_named_when_time_is_over(show):
    text = "sources: {kept: {expression: nowhere.score}}\nfields: {score: kept}\n"
    (never,) = show([SCORES], reading=profile_of(text), timeout=6)
    assert "the profile's expression of the source kept: ReferenceError: nowhere is not defined" in never.record["reason"]


def test_images_are_scrolled_into_view_where_the_profile_asks(show):
    tall = "page: {box: 4000, scroll: true, dwell_ms: 50}" + VERDICT
    assert [seen.record["score"] for seen in show([IN_SIGHT] * 4, reading=profile_of(tall))] == [0.5] * 4


def test_a_whole_wave_is_in_sight_without_scrolling(show):
    """As it is shown without a profile's saying so: extensions that wait for images to be in view see all of them."""
    seen = show([IN_SIGHT] * MAX_WAVE, reading=profile_of(VERDICT))
    assert [one.record["status"] for one in seen] == ["scored"] * MAX_WAVE


def test_images_out_of_sight_wait_for_ever_without_scrolling(show):
    tall = "page: {box: 4000}" + VERDICT
    seen = show([IN_SIGHT] * 2, reading=profile_of(tall), timeout=6)
    assert [one.record["status"] for one in seen] == ["scored", "timeout"]


def test_small_images_that_an_extension_leaves_alone_are_too_small(show):
    small, scored = show([drawn(40, 40), PERCENT], reading=profile_of("ignored_below: 64" + VERDICT))
    assert small.record == {"status": "too-small", "reason": "40 x 40: below 64, which is left alone"}
    assert scored.record["status"] == "scored"


def test_what_a_profile_calls_failure_ends_the_wave(show):
    failing = "failure: {selector: title, contains: 'failed:'}" + VERDICT
    failed, scored = show([FAILS, PERCENT], reading=profile_of(failing))
    assert failed.record == {"status": "inference-error", "reason": "the extension says: failed: no memory"}
    assert scored.record["status"] in ("scored", "inference-error")


def ready(endpoint, server, reading, timeout=30.0):
    (loaded,) = endpoint.extensions()
    origin = f"chrome-extension://{loaded.id}"
    return wait_until_ready(endpoint, server, reading, extension_origin=origin, timeout=timeout)


def test_an_extension_that_keeps_the_contract_says_that_it_is_ready(endpoint, server):
    assert '"name":"puppet"' in ready(endpoint, server, Reading.of(None))


def test_what_a_profile_calls_ready_is_waited_for(endpoint, server):
    text = "ready: {selector: html, attribute: data-benchbench-ready, contains: puppet}" + VERDICT
    assert ready(endpoint, server, profile_of(text)) is None


def test_an_extension_that_is_not_ready_in_time_is_told(endpoint, server):
    with pytest.raises(CheckFailed, match="did not show what the profile calls ready within"):
        ready(endpoint, server, profile_of("ready: {selector: html, contains: never}" + VERDICT), timeout=0.5)


def test_an_extension_that_has_failed_is_told_in_its_words(endpoint, server):
    text = "failure: {selector: html, attribute: data-benchbench-ready}" + VERDICT + "ready: {selector: nothing}\n"
    with pytest.raises(CheckFailed, match=r"the extension says on a page of images: .*puppet"):
        ready(endpoint, server, profile_of(text))
