"""The screenshots of ``docs/html-report.md``: the page of a run, wide and narrow, light and dark.

    pytest benchmarks --bench-run-dir=run && python benchmarks/page_screenshots.py run docs/screenshots

Needs the packages of ``requirements/test.txt`` and a Chromium. Existing pictures are replaced.
"""

from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path
from typing import Any

from PIL import Image

SHOTS = {
    "desktop-light": (1200, 1000, "light", None),
    "desktop-dark": (1200, 1000, "dark", "#failing"),
    "narrow-light": (400, 860, "light", None),
    "narrow-dark": (400, 860, "dark", "#robustness"),
    "all-cases": (1200, 640, "light", "#all-cases"),
}
"""Width, height, colours and the part of the page that is at the top."""

COLOURS = 96
"""A picture has so many: a third of the size, and nobody sees it."""


def shoot(browser: Any, page_file: Path, output: Path) -> None:
    """Write every screenshot of a page."""
    for name, (width, height, scheme, anchor) in SHOTS.items():
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(page_file.resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        if anchor == "#failing":
            page.locator("details.case summary").nth(2).click()
        if anchor is not None:
            page.locator(anchor).evaluate("element => element.scrollIntoView()")
        page.wait_for_timeout(500)
        with Image.open(io.BytesIO(page.screenshot())) as picture:
            picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(output / f"{name}.png", optimize=True)
        page.close()


def main() -> None:
    """Open the page and write the pictures."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="The directory of a run, with report.html.")
    parser.add_argument("output", type=Path, help="The folder of the pictures.")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="The browser's program.")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        shoot(browser, options.run / "report.html", options.output)
        browser.close()


if __name__ == "__main__":
    main()
