"""The page of the options names all of them, and nothing that is none."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "options.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> tuple[set[str], set[str]]:
    """Give the options and the ini settings of the plugin as ``pytest --help`` shows them."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"],
        cwd=tmp_path_factory.mktemp("project"),
        text=True,
        capture_output=True,
        check=True,
    )
    group = re.search(r"^benchmarks of detectors:\n(.*?)\n\n", done.stdout, re.DOTALL | re.MULTILINE)
    assert group is not None
    options = re.findall(r"^  (--[\w-]+)", group[1], re.MULTILINE)
    settings = re.findall(r"^  (bench_\w+) \(", done.stdout, re.MULTILINE)
    return set(options), set(settings)


def test_options(shown):
    headings = re.findall(r"^### `(--[\w-]+)", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(shown[0])


def test_settings(shown):
    assert set(re.findall(r"\bbench_\w+", PAGE)) == shown[1]
