"""The marked examples of the documentation do what their pages show.

An HTML comment above a fenced block marks it. Blocks of one name on one page share a folder, in the order of the page.

- ``<!-- example: NAME -->`` above a console block: each line after ``$ ``, continued after ``> ``, is run by a shell, and
  the lines below it are compared with what it prints. ``...`` stands for anything in a line, and alone in a line for any
  number of lines; rules of ``=``, ``-`` and ``_`` may differ in length. A command without lines below it may print anything
  and has to succeed.
- ``<!-- example: NAME -->`` above a Python block: it is run.
- ``<!-- example: NAME, file: PATH -->``: the block becomes that file.

``CLONE`` is the folder of this repository. Examples named ``browser`` need one, and run in ``tox -e browser`` only.
"""

import operator
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

BLOCK = re.compile(
    r"^<!-- example: (?P<name>[\w-]+)(?:, file: (?P<file>\S+))? -->\n+```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)

COMMAND = re.compile(r"^\$ (?P<command>.*\n(?:> .*\n)*)(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)

ANYTHING = re.compile(r"(?<!\.)\.\.\.(?!\.)")

MARKED = re.compile(r"^<!-- example:", re.MULTILINE)

ADDOPTS = "-p no:randomly -o bench_html=off"
"""Examples show what the installation without extras prints."""


@dataclass(frozen=True)
class Block:
    """A marked block."""

    name: str
    file: str | None
    language: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    """Read the marked blocks of a page."""
    return [Block(**found.groupdict()) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


EXAMPLES = [(page, name) for page in PAGES for name in dict.fromkeys(block.name for block in blocks_of(page))]


def commands_of(text: str) -> list[tuple[str, str]]:
    """Split a console block into commands and what is shown below each."""
    return [(found["command"].replace("\n> ", "\n"), found["shown"]) for found in COMMAND.finditer(text)]


def agrees(printed: str, shown: str) -> bool:
    """Say whether a command printed what a page shows."""
    return _agrees(even(printed), _split(even(shown), lambda line: line == "..."), _line_agrees)


def _line_agrees(printed: str, shown: str) -> bool:
    return _agrees(printed, ANYTHING.split(shown), operator.eq)


def _agrees(printed: Sequence[str], parts: Sequence[Sequence[str]], same: Callable[[str, str], bool]) -> bool:
    """Say whether parts, between which anything may stand, make up what was printed.

    The first part begins it, the last one ends it, each other one is taken where it first fits: no place that comes later
    could leave more room for the rest. So nothing is ever tried twice, as a regular expression would.
    """

    def fits(part: Sequence[str], at: int) -> bool:
        return at + len(part) <= len(printed) and all(map(same, printed[at : at + len(part)], part))

    first, *middle = parts
    if not middle:
        return len(first) == len(printed) and fits(first, 0)
    *middle, last = middle
    if not fits(first, 0):
        return False
    at = len(first)
    for part in middle:
        while not fits(part, at):
            at += 1
            if at + len(part) > len(printed):
                return False
        at += len(part)
    return at <= len(printed) - len(last) and fits(last, len(printed) - len(last))


def _split(lines: list[str], is_border: Callable[[str], bool]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in lines:
        if is_border(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def even(text: str) -> list[str]:
    """Give the lines without what may differ: blank ends, and the length of rules."""
    return [re.sub(r"([=_-])\1{4,}", r"\1\1\1\1\1", line.rstrip()) for line in text.rstrip().splitlines()]


class Folder:
    """A folder in which the blocks of one example are carried out."""

    def __init__(self, path: Path):
        self.path = path
        self.status = 0
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        scripts = os.pathsep.join([sysconfig.get_path("scripts"), kept.get("PATH", os.defpath)])
        self.environment = kept | {"PATH": scripts, "PYTEST_ADDOPTS": ADDOPTS, "COLUMNS": "80", "CLONE": str(ROOT)}

    def carry_out(self, block: Block):
        if block.file is not None:
            (self.path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (self.path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            printed = self.run([sys.executable, "-c", block.text])
            assert self.status == 0, printed
        else:
            for command, shown in commands_of(block.text):
                self.check(command, shown)

    def check(self, command: str, shown: str):
        python = shlex.quote(sys.executable)
        shell = f'pytest() {{ {python} -m pytest "$@"; }}\npython() {{ {python} "$@"; }}\n(exit {self.status})\n{command}'
        printed = self.run(["sh", "-c", shell])
        if shown.strip():
            assert agrees(printed, shown), f"$ {command}\n--- printed\n{printed}--- the page shows\n{shown}"
        else:
            assert self.status == 0, f"$ {command}\n{printed}"

    def run(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=self.path, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.status = done.returncode
        return done.stdout


@pytest.mark.parametrize(("page", "name"), EXAMPLES, ids=[f"{page.name}-{name}" for page, name in EXAMPLES])
def test_example(page, name, tmp_path):
    if name == "browser" and os.environ.get("BENCHBENCH_BROWSER") != "1":
        pytest.skip("runs in tox -e browser")
    folder = Folder(tmp_path)
    for block in blocks_of(page):
        if block.name == name:
            folder.carry_out(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_mark_is_understood(page):
    assert len(blocks_of(page)) == len(MARKED.findall(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("shown", "printed", "fits"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a ... c\n", "a b c\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\n", True),
        ("a.c\n", "abc\n", False),
        (".....F\n", "......F\n", False),
        ("===== a =====\n", "====== a ======\n\n", True),
        ("...\na\n", "b\na\n", True),
        ("a\n...\na\n", "a\n", False),
        ("...\nb\nc\n...\n", "a\nb\nb\nc\nd\n", True),
        ("...\nb\n...\na\n...\n", "a\nb\n", False),
        ("a...a\n", "a\n", False),
        ("...b...c...\n", "abbca\n", True),
        ("...c...b\n", "abc\n", False),
        ("a ...\n", "b a \n", False),
    ],
)
def test_what_is_shown_stands_for(shown, printed, fits):
    assert agrees(printed, shown) is fits


def test_what_does_not_agree_is_soon_found_out():
    assert not agrees("a b a b\n" * 400, "...\n...a...b...\n" * 40 + "c\n")
    assert not agrees("a" * 4000 + "\n", "...a" * 40 + "...b\n")
