import json
import os
import socket
import subprocess
import sys

import msgspec
import pytest

from pytest_benchbench.browser import namespace
from pytest_benchbench.browser.namespace import Isolation, NamespaceUnavailable, entering_command, isolation_of, network_of

INSIDE = """
import os, socket, sys, msgspec
from pytest_benchbench.browser.namespace import isolation_of, raise_loopback
before = socket.socket().connect_ex(("127.0.0.1", 9))
raise_loopback()
after = socket.socket().connect_ex(("127.0.0.1", 9))
found = isolation_of(os.getpid(), sys.argv[1])
other = isolation_of(int(sys.argv[2]), sys.argv[1])
print(msgspec.json.encode([before, after, found, found.blocked, other.blocked]).decode())
"""


@pytest.fixture
def entering():
    try:
        return entering_command()
    except NamespaceUnavailable as error:
        if os.environ.get("BENCHBENCH_BROWSER") == "1":
            raise
        pytest.skip(str(error))


def run_inside(entering, code, *arguments):
    done = subprocess.run([*entering, sys.executable, "-c", code, *arguments], capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_a_process_in_a_network_of_its_own_reaches_its_loopback_and_nothing_else(entering):
    before, after, found, blocked, _ = run_inside(entering, INSIDE, network_of(), str(os.getpid()))
    assert (before, after) == (socket.errno.ENETUNREACH, socket.errno.ECONNREFUSED)
    assert found == {"interfaces": ["lo"], "routes": 0, "reachable": [], "separate": True, "holds_browser": True}
    assert blocked


def test_a_browser_left_in_another_network_is_not_blocked(entering):
    *_, blocked = run_inside(entering, INSIDE, network_of(), str(os.getpid()))
    assert not blocked


def test_the_network_that_this_was_started_from_is_not_separate():
    found = isolation_of(os.getpid(), network_of())
    assert not found.blocked
    assert (found.separate, found.holds_browser) == (False, True)
    assert "lo" in found.interfaces


BLOCKED = Isolation(("lo",), 0, (), separate=True, holds_browser=True)


@pytest.mark.parametrize(
    "change",
    [
        {"interfaces": ("eth0", "lo")},
        {"interfaces": ()},
        {"routes": 1},
        {"reachable": ("192.0.2.1",)},
        {"separate": False},
        {"holds_browser": False},
    ],
)
def test_blocked_takes_all_signs_together(change):
    assert BLOCKED.blocked
    assert not msgspec.structs.replace(BLOCKED, **change).blocked


def test_a_network_is_open_where_the_browser_has_somewhere_to_send_to():
    normal = Isolation(("eth0", "lo"), 3, ("192.0.2.1",), separate=False, holds_browser=True)
    assert normal.open
    assert not BLOCKED.open
    assert not msgspec.structs.replace(normal, holds_browser=False).open


def test_a_system_that_refuses_is_quoted_in_one_line(tmp_path, monkeypatch):
    refusing = tmp_path / "unshare"
    refusing.write_text("#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(
        NamespaceUnavailable, match=r"\(unshare: unshare failed: Operation not permitted\): be root"
    ) as error:
        entering_command()
    assert "\n" not in str(error.value)


def test_a_system_without_unshare_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NamespaceUnavailable, match="apt-get install util-linux"):
        namespace.entering_command()
