"""The flags of a launch."""

import itertools
from pathlib import Path

import pytest

from pytest_benchbench.browser.flags import launch_flags

COMBINATIONS = [
    dict(zip(("runtime", "sandbox", "small_shared_memory"), values, strict=True))
    for values in itertools.product(("wasm", "webgpu"), (True, False), (True, False))
]


def flags(**changes):
    asked = {"runtime": "wasm", "net_log": Path("/log"), "sandbox": True, "small_shared_memory": False}
    return launch_flags(extension=Path("/dist"), profile=Path("/profile"), **(asked | changes))


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_that_no_flag_is_given_twice(combination):
    """The browser would take the last."""
    *named, page = flags(**combination)
    names = [flag.partition("=")[0] for flag in named]
    assert len(set(names)) == len(names)
    assert all(name.startswith("--") for name in names)
    assert page == "about:blank"


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"runtime": "wasm"}, "--disable-gpu"),
        ({"runtime": "webgpu"}, "--enable-unsafe-webgpu"),
        ({"sandbox": False}, "--no-sandbox"),
        ({"small_shared_memory": True}, "--disable-dev-shm-usage"),
    ],
)
def test_what_a_choice_adds(change, flag):
    other = {"runtime": "webgpu" if change.get("runtime") == "wasm" else "wasm"} if "runtime" in change else {}
    assert flag in flags(**change)
    assert flag not in flags(**other)


def test_that_there_is_always_a_log():
    assert "--log-net-log=/log" in flags()


def test_that_only_the_extension_is_loaded():
    given = flags()
    assert "--load-extension=/dist" in given
    assert "--disable-extensions-except=/dist" in given
    assert "--user-data-dir=/profile" in given
