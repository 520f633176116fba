"""A browser ends a service worker whenever it likes. An extension that keeps its jobs elsewhere answers nevertheless.

A restart is proved by the worker's own count of its starts: each answer says in which life its job was taken, and in which
it was delivered.
"""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_benchbench.browser.chrome import Chrome, ChromeOptions
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.launching import launch_browser

WAVE = 48

PATIENCE = 120.0
"""Seconds that anything may take on a busy machine; nothing waits for so long where all is well."""

ANSWERED = """new Promise(done => {
  const look = () => document.querySelectorAll("[data-benchbench-result]").length >= %d ? done() : setTimeout(look, 10);
  look();
})"""


@pytest.fixture(scope="module")
def extension(build_extension):
    return build_extension(misbehave=["slow"], lease_seconds=20.0)


@pytest.fixture(scope="module")
def chrome(browser, extension):
    adapter = Chrome(ChromeOptions(port=browser.port, extension=extension, expect_runtime="wasm", timeout=PATIENCE))
    adapter.load()
    yield adapter
    adapter.close()


def target(endpoint, wanted):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for found in endpoint.targets():
            if wanted(found):
                return found
        time.sleep(0.01)
    raise AssertionError("what has to be there does not come")


def end_workers(port, counts):
    """End the service worker each time that so many images of the wave on display have an answer; give their ids."""
    ended = []
    with Endpoint(port) as endpoint:
        wave = endpoint.attach(target(endpoint, lambda found: found.type == "page" and found.url.startswith("http://127.")))
        wave.wait_until_loaded()
        for count in counts:
            wave.evaluate(ANSWERED % count, timeout=PATIENCE)
            worker = target(endpoint, lambda found: found.type == "service_worker" and found.id not in ended)
            endpoint.close_tab(worker)
            ended.append(worker.id)
    return ended


def disturbed(adapter, port, samples, counts):
    """Show a wave, and end the service worker meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(end_workers, port, counts)
        answers = adapter.detect_batch(samples)
        assert len(set(ending.result(PATIENCE))) == len(counts)
    return answers


@pytest.mark.parametrize("counts", [(8,), (8, 16, 24)], ids=["once", "three times"])
def test_no_row_is_lost_when_the_worker_is_ended_while_a_slow_wave_is_on_display(chrome, browser, picture, counts):
    samples = [picture(1000 * len(counts) + number) for number in range(WAVE)]
    answers = disturbed(chrome, browser.port, samples, counts)
    assert Counter(answer.status for answer in answers) == {"scored": WAVE}
    lives = [(answer.scorer["submitBoot"], answer.scorer["deliverBoot"]) for answer in answers]
    begin = min(taken for taken, _ in lives)
    assert max(delivered for _, delivered in lives) >= begin + len(counts), "it was started again each time"
    outlived = [life for life in lives if life[0] == begin and life[1] >= begin + len(counts)]
    assert outlived, "a job that was taken before the first end was delivered after the last"


def test_jobs_that_live_in_the_worker_are_lost_with_it_and_end_as_timeouts(chromium, build_extension, picture):
    extension = build_extension(misbehave=["memory-routing", "slow"])
    options = {"extension": extension, "expect_runtime": "wasm", "timeout": 20.0}
    with launch_browser(chromium.executable, extension=extension, runtime="wasm") as launched:
        adapter = Chrome(ChromeOptions(port=launched.port, **options))
        adapter.load()
        try:
            adapter.detect_batch([picture(0)])  # the network is loaded now, and 20 s are long
            answers = disturbed(adapter, launched.port, [picture(number) for number in range(1, 13)], [2])
        finally:
            adapter.close()
    found = Counter(answer.status for answer in answers)
    assert set(found) == {"scored", "timeout"}
    assert found["timeout"] >= 4, "at least those that no answer was on its way for"
    lives = {(answer.scorer["submitBoot"], answer.scorer["deliverBoot"]) for answer in answers if answer.status == "scored"}
    assert all(taken == delivered for taken, delivered in lives), "nothing outlives the worker"
    assert all("no answer within 20 s" in answer.reason for answer in answers if answer.status == "timeout")


def test_a_worker_ends_by_itself_although_the_browser_is_watched_and_the_next_one_goes_on(chrome, browser, picture):
    # the browser's own patience with idle workers, some thirty seconds, is what there is to wait for
    (before,) = chrome.detect_batch([picture(9000)])
    with Endpoint(browser.port) as endpoint:
        until = time.monotonic() + PATIENCE
        while any(found.type == "service_worker" for found in endpoint.targets()):
            assert time.monotonic() < until, "something keeps the worker awake"
            time.sleep(0.1)
    (after,) = chrome.detect_batch([picture(9001)])
    assert after.status == "scored"
    assert after.scorer["submitBoot"] > before.scorer["deliverBoot"]
