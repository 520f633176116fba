"""The scripts that look at a page of images, and what they saw."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from pytest_benchbench.browser.contract import MAX_RECORD_CHARACTERS
from pytest_benchbench.browser.profile import Condition, Source

CONTRACT_SOURCE = Source(
    expression=(
        "image.getAttribute('data-benchbench-result') ?? "
        "(known => typeof known === 'string' ? known : JSON.stringify(known))(globalThis.benchbenchResults?.[image.src])"
    )
)
"""Where an extension that keeps the contract puts its answers: an attribute, or a variable of its isolated world."""

CONTRACT_READY = "data-benchbench-ready"
"""The attribute of ``<html>`` by which it says that it can work."""


class SeenImage(msgspec.Struct, frozen=True):
    """What a look at a page found of one image.

    Attributes:
        place: Its number on the page.
        complete: Whether the page is done with loading it.
        width: Natural width in pixels; 0 while there is none, or for ever where the browser cannot show it.
        height: Natural height.
        values: What stands at the sources, as JSON; a source where nothing stands is absent.
        too_long: Sources whose value is longer than is read.
        threw: What the last expression that failed said, behind the name of its source.
    """

    place: int
    complete: bool
    width: int
    height: int
    values: dict[str, Any]
    too_long: tuple[str, ...]
    threw: str | None

    @property
    def is_broken(self) -> bool:
        """Whether the browser cannot show it."""
        return self.complete and self.width == 0


class SeenPage(msgspec.Struct, frozen=True):
    """What a look at a page found.

    Attributes:
        address: Of the page that stands in the tab.
        visible: Whether the tab is the one in front.
        failure: The text that says that the extension has failed, if it stands there.
        images: Those that were looked at.
    """

    address: str
    visible: bool
    failure: str | None
    images: tuple[SeenImage, ...]


def look_script(
    sources: Mapping[str, Source], places: Collection[int], *, failure: Condition | None, bring: int | None
) -> str:
    """Write the script that looks at images of a page; its value is the JSON of a ``SeenPage``.

    Args:
        sources: Where answers stand.
        places: Numbers of the images to look at.
        failure: What stands on the page once the extension has failed.
        bring: Number of the image to bring into the middle of the window; ``None`` leaves the page as it is.
    """
    readers = ",".join(f"{json.dumps(name)}:image=>{_reader(source)}" for name, source in sources.items())
    return f"""(() => {{
  const places = new Set({json.dumps(sorted(places))}), bring = {json.dumps(bring)}, sources = {{{readers}}};
  const plain = value => JSON.stringify(value, (key, inner) =>
    typeof inner === 'number' && !Number.isFinite(inner) ? String(inner) : inner);
  const images = [];
  for (const image of document.querySelectorAll('img[data-place]')) {{
    const place = Number(image.dataset.place);
    if (place === bring) image.scrollIntoView({{block: 'center', behavior: 'instant'}});
    if (!places.delete(place)) continue;
    const values = {{}}, too_long = [];
    let threw = null;
    for (const [name, read] of Object.entries(sources)) {{
      try {{
        const value = read(image), text = value === undefined || value === null ? undefined : plain(value);
        if (text === undefined) continue;
        if (text.length > {2 * MAX_RECORD_CHARACTERS}) too_long.push(name);
        else values[name] = JSON.parse(text);
      }} catch (error) {{ threw = `${{name}}: ${{error}}`.slice(0, 300); }}
    }}
    images.push({{place, complete: image.complete, width: image.naturalWidth, height: image.naturalHeight, values,
      too_long, threw}});
  }}
  return JSON.stringify({{address: location.href, visible: document.visibilityState === 'visible',
    failure: {_met(failure)}, images}});
}})()"""


def standing_script(condition: Condition, *, also: Collection[str] = ()) -> str:
    """Write the script that tells whether a condition is met: its value is the text that stands there, or null.

    Args:
        condition: What has to stand on the page.
        also: Texts that count like ``contains``.
    """
    return _met(condition, also=also)


def attribute_script(name: str) -> str:
    """Write the script that reads an attribute of ``<html>``, null where there is none."""
    return f"document.documentElement?.getAttribute({json.dumps(name)}) ?? null"  # at first a page has no element at all


def _met(condition: Condition | None, *, also: Collection[str] = ()) -> str:
    if condition is None:
        return "null"
    name = json.dumps(condition.attribute)
    wanted = [] if condition.contains is None else [condition.contains, *also]
    return (
        f"((elements, name, wanted) => {{ for (const element of elements) {{"
        f"const text = name === null ? element.textContent : element.getAttribute(name);"
        f"if (text !== null && (wanted.length === 0 || wanted.some(part => text.includes(part)))) return text.slice(0, 500);"
        f"}} return null; }})(document.querySelectorAll({json.dumps(condition.selector)}), {name}, {json.dumps(wanted)})"
    )


def _reader(source: Source) -> str:
    if source.expression is not None:
        return f"({source.expression}\n)"
    element = "image"
    if source.selector is not None:
        element = f"image.closest('figure')?.querySelector({json.dumps(source.selector)})"
    if source.attribute is not None:
        return f"({element})?.getAttribute({json.dumps(source.attribute)})"
    return f"({element})?.textContent?.trim()"


def seen_page(text: str) -> SeenPage:
    """Read what ``look_script`` gave.

    Raises:
        msgspec.DecodeError: It gave something else: the page has put its own in the place of what the script calls.
    """
    return msgspec.json.decode(text, type=SeenPage)
