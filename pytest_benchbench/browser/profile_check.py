"""Whether a browser understands what only a browser can read in a profile: its selectors and its expressions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from pytest_benchbench.browser.errors import CheckFailed
from pytest_benchbench.browser.profile import LoadedProfile, Profile
from pytest_benchbench.manifests.faults import shown

if TYPE_CHECKING:
    from pytest_benchbench.browser.tab import Tab

_CHECK = """(() => {
  const complaint = check => { try { check(); return null } catch (error) { return String(error.message) } };
  return JSON.stringify([
    %s.map(selector => complaint(() => document.querySelector(selector))),
    %s.map(expression => complaint(() => new Function(`return {value: image => (${expression}\\n)}`))),
  ]);
})()"""
"""An expression is put where it stands when a page is looked at: it is wrong here if it is wrong there. Nothing runs."""


def check_syntax(tab: Tab, loaded: LoadedProfile) -> None:
    """Have a browser read each selector and each expression of a profile.

    Args:
        tab: An empty page.
        loaded: The profile.

    Raises:
        CheckFailed: It cannot; file, field, value and the browser's words.
        BrowserError: The browser does not do what is asked.
    """
    selectors = list(_selectors(loaded.profile))
    expressions = list(_expressions(loaded.profile))
    script = _CHECK % tuple(json.dumps([text for _, text in fields]) for fields in (selectors, expressions))
    said = msgspec.json.decode(tab.evaluate(script), type=tuple[list[str | None], list[str | None]])
    for what, fields, complaints in zip(("CSS selector", "expression"), (selectors, expressions), said, strict=True):
        for (field, text), complaint in zip(fields, complaints, strict=True):
            if complaint is not None:
                raise CheckFailed(f"{loaded.path.name}: {field}: {shown(text)} is no {what}: {complaint}")


def _selectors(profile: Profile) -> Iterator[tuple[str, str]]:
    for number, step in enumerate(profile.setup):
        if step.click is not None:
            yield f"setup[{number}].click", step.click
        for name in ("put_file", "fill", "wait"):
            if (part := getattr(step, name)) is not None:
                yield f"setup[{number}].{name}.selector", part.selector
    for name in ("ready", "failure"):
        if (condition := getattr(profile, name)) is not None:
            yield f"{name}.selector", condition.selector
    for name, source in profile.sources.items():
        if source.selector is not None:
            yield f"sources.{name}.selector", source.selector


def _expressions(profile: Profile) -> Iterator[tuple[str, str]]:
    for name, source in profile.sources.items():
        if source.expression is not None:
            yield f"sources.{name}.expression", source.expression
