"""One tab: calls that end in time, scripts, and what happened. What pychrome does wrong is not done."""

import json
import random
import socket
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_benchbench.browser.errors import BrowserError, CallRefused, CallTimedOut, ScriptFailed, TabGone


@pytest.fixture
def tab(endpoint):
    """A page without anything."""
    return endpoint.open_tab()


@pytest.fixture
def page(endpoint, serve):
    """A page that the extension has marked."""
    tab = endpoint.open_tab(serve("<p id=a>a page"))
    tab.wait_until_loaded()
    return tab


def test_that_numbers_read_back_exactly(tab):
    numbers = [random.Random(7).uniform(0, 1) for _ in range(200)] + [0.1 + 0.2, 5e-324, 1.7976931348623157e308]
    assert tab.evaluate(json.dumps(numbers)) == numbers


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("1 + 1", 2),
        ("undefined", None),
        ("null", None),
        ("-0", 0),
        ("Promise.resolve('later')", "later"),
        ("({a: [true, 'ä']})", {"a": [True, "ä"]}),
        ("({a: NaN, b: undefined})", {"a": None}),
    ],
)
def test_what_a_script_gives(tab, script, value):
    assert tab.evaluate(script) == value


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("throw new TypeError('one\\ntwo')", "TypeError: one"),
        ("throw 'a text'", "a text"),
        ("throw ''", "Uncaught"),
        ("throw undefined", "Uncaught"),
        ("Promise.reject(new Error('no'))", "Error: no"),
        ("nothingOfThisName", "ReferenceError: nothingOfThisName is not defined"),
        ("1 +", "SyntaxError"),
        ("NaN", "its value, NaN, is none that JSON carries"),
        ("1 / 0", "its value, Infinity, is none"),
        ("10n", "its value, 10n, is none"),
        ("() => 1", "its value, a function, is none"),
        ("throw 'x\\u001b[31m' + 'y'.repeat(1e5)", r"x\\x1b\[31my+\.\.\."),
    ],
)
def test_that_what_a_script_throws_is_raised(tab, script, message):
    with pytest.raises(ScriptFailed, match=message) as caught:
        tab.evaluate(script)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 300
    assert tab.evaluate("1") == 1


@pytest.mark.parametrize("script", ["Symbol('x')", "(() => { const a = {}; a.a = a; return a })()"])
def test_that_what_cannot_be_carried_is_refused(tab, script):
    with pytest.raises(CallRefused, match=r"Runtime\.evaluate: Object"):
        tab.evaluate(script)


def test_that_an_error_of_the_browser_is_raised_once(tab):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(CallRefused, match=r"Page\.nonsense: 'Page\.nonsense' wasn't found"):
            tab.call("Page.nonsense")
    assert warned == []


def test_the_worlds_of_a_page(page, endpoint, isolated_world):
    (extension,) = endpoint.extensions()
    origin = f"chrome-extension://{extension.id}"
    isolated = isolated_world(page)
    assert sorted((world.isolated, world.origin == origin) for world in page.worlds()) == [(False, False), (True, True)]
    assert page.evaluate("secret", world=isolated) == 0.1 + 0.2
    assert page.evaluate("typeof secret") == "undefined"
    page.call("Page.reload")
    again = isolated_world(page, after=isolated)
    with pytest.raises(CallRefused, match="uniqueContextId not found"):
        page.evaluate("secret", world=isolated)
    assert [world for world in page.worlds() if world.isolated] == [again]
    assert again.key != isolated.key
    assert page.evaluate("secret", world=again) == 0.1 + 0.2


@pytest.mark.parametrize("script", ["while (true);", "new Promise(() => {})"])
def test_that_a_script_without_end_is_left(tab, script):
    with pytest.raises(CallTimedOut, match=r"in 0\.5 s"):
        tab.evaluate(script, timeout=0.5)
    assert tab.evaluate("1 + 1") == 2, "the page can be used again"


def test_that_a_page_is_loaded_when_all_it_is_made_of_is_there(tab, endpoint, serve):
    with pytest.raises(CallTimedOut, match=r"the page is not loaded after 0\.2 s"):
        tab.wait_until_loaded(timeout=0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        image = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        tab = endpoint.open_tab(serve(f"<img src={image}>"))
        with pytest.raises(CallTimedOut, match=r"the page is not loaded after 0\.2 s"):
            tab.wait_until_loaded(timeout=0.2)
    tab.wait_until_loaded()
    assert tab.evaluate("document.images.length") == 1


def test_that_a_page_that_does_not_answer_is_not_loaded(endpoint, serve):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = f"asked.open('GET', 'http://127.0.0.1:{silent.getsockname()[1]}/', false)"
        script = f"const asked = new XMLHttpRequest(); {asked}; try {{ asked.send() }} catch {{}}"
        silent.settimeout(60)
        tab = endpoint.open_tab(serve(f"<script>{script}</script>"))
        held, _ = silent.accept()  # the page does nothing else from now on
        with held, pytest.raises(CallTimedOut, match=r"the page is not loaded after 0\.2 s"):
            tab.wait_until_loaded(timeout=0.2)
    tab.wait_until_loaded()


def test_that_a_dialog_keeps_nobody(tab, endpoint):
    with pytest.raises(CallTimedOut):
        tab.evaluate("alert('ha')", timeout=0.5)
    endpoint.close_tab(tab)
    assert tab.id not in {target.id for target in endpoint.targets()}


def test_that_a_crash_ends_the_calls_that_wait(tab, endpoint):
    with ThreadPoolExecutor() as pool:
        waiting = [
            pool.submit(tab.evaluate, "new Promise(() => {})", timeout=60),
            pool.submit(tab.wait_for, "Page.javascriptDialogOpening", timeout=60),
        ]
        assert tab.evaluate("1") == 1
        began = time.monotonic()
        with pytest.raises(TabGone, match=r"Page\.crash: it crashed or was ended"):
            tab.call("Page.crash", timeout=60)
        errors = [one.exception() for one in waiting]
    assert time.monotonic() - began < 30
    assert [type(error) for error in errors] == [TabGone, TabGone]
    with pytest.raises(TabGone, match=r"Runtime\.evaluate: it crashed"):
        tab.evaluate("1")
    assert endpoint.alive()


def test_that_a_tab_that_is_closed_by_another_is_told(tab, endpoint):
    endpoint.close_tab(tab.id)
    with pytest.raises(TabGone, match="it was closed"):
        tab.evaluate("new Promise(() => {})")
    assert tab.gone


def test_that_the_end_of_a_worker_is_told(endpoint, worker):
    connected = endpoint.attach(worker)
    assert connected.evaluate("worker") is True
    endpoint.close_tab(worker)
    with pytest.raises(
        TabGone, match=r"service_worker chrome-extension://\w+/worker\.js: Runtime\.evaluate: it crashed or was ended"
    ):
        connected.evaluate("new Promise(() => {})")


def logged(tab, number):
    tab.call("Runtime.enable")
    tab.evaluate(f"for (let i = 0; i < {number}; i++) console.log(i); 0")


def numbers(events):
    return [event.params["args"][0]["value"] for event in events if event.method == "Runtime.consoleAPICalled"]


def test_that_events_are_kept_in_their_order(tab):
    logged(tab, 50)
    assert numbers(tab.events()) == list(range(50))
    assert tab.events() == []


def test_that_events_can_still_be_taken_when_the_tab_is_gone(tab):
    logged(tab, 50)
    tab.close()
    assert numbers(tab.events()) == list(range(50))


def test_that_waiting_for_an_event_leaves_the_others(tab):
    logged(tab, 5)
    found = tab.wait_for("Runtime.consoleAPICalled", where=lambda params: params["args"][0]["value"] == 3)
    assert numbers([found]) == [3]
    assert numbers(tab.events()) == [0, 1, 2, 4]


def test_that_an_event_that_does_not_come_is_not_waited_for(tab):
    with pytest.raises(CallTimedOut, match=r"there was no Page\.javascriptDialogOpening in 0\.2 s"):
        tab.wait_for("Page.javascriptDialogOpening", timeout=0.2)


@pytest.mark.parametrize("limit", ["MAX_EVENTS", "MAX_EVENT_CHARACTERS"])
def test_that_lost_events_are_told(tab, monkeypatch, limit):
    from pytest_benchbench.browser import connection

    logged(tab, 2)
    tab.events()
    monkeypatch.setattr(connection, limit, 3)
    logged(tab, 10)
    with pytest.raises(BrowserError, match="events were lost"):
        tab.events()
    monkeypatch.undo()
    logged(tab, 2)
    assert numbers(tab.events()) == [0, 1]


def test_that_threads_get_their_own_answers(tab):
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda number: tab.evaluate(f"{number} * 2"), range(200))) == [2 * n for n in range(200)]


def test_that_closing_ends_the_thread_and_the_calls(tab, endpoint, caplog):
    before = set(threading.enumerate())
    other = endpoint.attach(tab.id)
    (thread,) = set(threading.enumerate()) - before
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(other.evaluate, "new Promise(() => {})", timeout=60)
        assert other.evaluate("1") == 1
        other.close()
        assert isinstance(waiting.exception(), TabGone)
    assert not thread.is_alive()
    other.close()
    assert caplog.records == []
    assert tab.evaluate("1") == 1, "the page lives on"
