"""What the source distribution holds."""

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ALWAYS = {".gitignore", "LICENSE", "README.md", "pyproject.toml"}
"""What hatchling puts in unasked."""


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_source_distribution_holds_everything_that_is_versioned():
    tree = subprocess.run(["git", "ls-tree", "--name-only", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = {name.removeprefix("/") for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    assert included | ALWAYS == set(tree.stdout.split())
