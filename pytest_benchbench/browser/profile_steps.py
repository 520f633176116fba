"""What has to be done in the pages of an extension before it can score, as a profile says it."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_benchbench.browser.contract import cleaned
from pytest_benchbench.browser.errors import BrowserError, BrowserGone, CheckFailed
from pytest_benchbench.browser.page_script import standing_script
from pytest_benchbench.browser.profile import LoadedProfile, PutFile, Step, Wait

if TYPE_CHECKING:
    from pytest_benchbench.browser.endpoint import Endpoint
    from pytest_benchbench.browser.tab import Tab

_LOOK_S = 0.05

_ELEMENT_S = 30.0
"""How long an element may take to appear on a page, seconds."""

_FILL = """element => {
  const {set} = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value');
  set.call(element, %s);
  for (const kind of ['input', 'change']) element.dispatchEvent(new Event(kind, {bubbles: true}));
}"""
"""The prototype's own setter: some frameworks put one of theirs on the element, and do not take its use for typing."""


def run_setup(endpoint: Endpoint, loaded: LoadedProfile, *, extension_origin: str) -> None:
    """Do the setup steps of a profile, one after the other, each page in a tab in front that is closed at the end.

    Args:
        endpoint: The browser.
        loaded: The profile, whose files were checked.
        extension_origin: ``chrome-extension://ID``.

    Raises:
        CheckFailed: A step cannot be done; it is named by its number.
        BrowserError: The browser does not do what is asked.
    """
    tab: Tab | None = None
    try:
        for number, step in enumerate(loaded.profile.setup):
            try:
                if step.open is not None:
                    if tab is not None:
                        endpoint.close_tab(tab)
                    tab = endpoint.open_tab(f"{extension_origin}/{step.open}")
                    tab.call("Page.bringToFront")
                    tab.wait_until_loaded()  # what is done before the page's scripts listen is lost
                else:
                    assert tab is not None  # a profile begins by opening a page
                    _do(tab, step, loaded)
            except BrowserGone:
                raise
            except BrowserError as error:
                raise CheckFailed(f"{loaded.path.name}: setup[{number}]: {error}") from None
    finally:
        if tab is not None:
            with suppress(BrowserError):  # it is gone already
                endpoint.close_tab(tab)


def _do(tab: Tab, step: Step, loaded: LoadedProfile) -> None:
    if step.put_file is not None:
        _put_file(tab, step.put_file, loaded)
    elif step.click is not None:
        _on_element(tab, step.click, "element => element.click()")
    elif step.fill is not None:
        _on_element(tab, step.fill.selector, _FILL % json.dumps(step.fill.value))
    elif step.wait is not None:
        _wait(tab, step.wait)


def _on_element(tab: Tab, selector: str, action: str) -> None:
    """Do something to an element, by a JavaScript function, as soon as it is there."""
    _wait(tab, Wait(selector=selector, timeout=_ELEMENT_S))
    tab.evaluate(f"void ({action})(document.querySelector({json.dumps(selector)}))")


def _put_file(tab: Tab, put: PutFile, loaded: LoadedProfile) -> None:
    _wait(tab, Wait(selector=put.selector, timeout=_ELEMENT_S))
    found = tab.call("Runtime.evaluate", expression=f"document.querySelector({json.dumps(put.selector)})")["result"]
    tab.call("DOM.setFileInputFiles", files=[str(loaded.locate(put.file))], objectId=found.get("objectId", ""))


def _wait(tab: Tab, wait: Wait) -> None:
    """Wait until something stands on the page.

    Raises:
        CheckFailed: It does not in time, or what means failure does.
    """
    deadline = time.monotonic() + wait.timeout
    while True:
        text = tab.evaluate(standing_script(wait, also=wait.fails))
        if text is not None:
            if any(part in text for part in wait.fails):
                raise CheckFailed(f"{wait.selector} says: {cleaned(text)}")
            return
        if time.monotonic() >= deadline:
            break
        time.sleep(_LOOK_S)
    wanted = "is there" if wait.contains is None else f"contains {wait.contains!r}"
    raise CheckFailed(f"nothing that is {wait.selector} {wanted} within {wait.timeout:g} s")
