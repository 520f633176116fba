"""What the pages refer to exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)

NAMED = re.compile(r"`((?:pytest_benchbench|tests|benchmarks|docs|requirements|\.ci)/[\w./-]*)`")
"""A path of this repository that a text names."""


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for target in (found["target"] for found in LINK.finditer(prose(page))):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.is_file(), target
        assert not anchor or anchor in anchors(linked), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_paths(page):
    for name in NAMED.findall(prose(page)):
        assert (ROOT / name).exists(), name


def test_every_page_is_reachable():
    listed = re.findall(r"^(\w[\w-]*)$", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(page.stem for page in (ROOT / "docs").glob("*.md") if page.stem != "index")
