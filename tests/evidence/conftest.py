"""Directories of runs that are merged."""

import pytest


@pytest.fixture
def row(directories):
    return directories.row


@pytest.fixture
def shards(directories, row):
    """Three shards of three, of one, two and one rows."""
    ids = {1: ["a"], 2: ["b", "c"], 3: ["d"]}
    return [
        directories.write(f"run-{index}", [row(case_id) for case_id in ids[index]], shard=f"{index}/3")
        for index in (1, 2, 3)
    ]
