"""Starting a browser, and what is left of it afterwards: nothing."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.browser import flags, launching
from pytest_benchbench.browser.checks import require_extension
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.errors import LaunchFailed
from pytest_benchbench.browser.launching import launch_browser

NOBODY = 65534


@pytest.fixture
def own_folder(monkeypatch):
    """Where browsers keep what is temporary, short enough for their sockets."""
    with tempfile.TemporaryDirectory(prefix="bb-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@pytest.fixture
def fake(tmp_path):
    """``fake(script)``: a program in place of the browser."""

    def write(script):
        path = tmp_path / "browser"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


def wait_until(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    assert condition()


def alive(pid):
    """Whether a process lives; one that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_launch(chromium, extension, own_folder, processes_of, tmp_path):
    """One life of a browser, looked at from all sides: starting one takes long."""
    log = tmp_path / "net.json"
    with launch_browser(chromium.executable, extension=extension, runtime="wasm", net_log=log) as browser:
        assert browser.running
        assert browser.profile_is_fresh
        assert os.getpgid(browser.pid) == browser.pid != os.getpgid(0)
        assert len(processes_of(browser.pid)) > 1
        flags = Path(f"/proc/{browser.pid}/cmdline").read_bytes().removesuffix(b"\0").split(b"\0")
        assert tuple(flag.decode() for flag in flags) == browser.command_line
        assert ("--no-sandbox" in browser.command_line) is (os.geteuid() == 0)
        assert f"--load-extension={extension}" in browser.command_line
        environment = dict(
            entry.split(b"=", 1) for entry in Path(f"/proc/{browser.pid}/environ").read_bytes().split(b"\0") if b"=" in entry
        )
        assert Path(environment[b"HOME"].decode()).parent == own_folder
        assert not {name for name in environment if b"proxy" in name.lower() or b"KEY" in name}
        with Endpoint(browser.port) as endpoint:
            assert endpoint.process_id() == browser.pid
        assert len(list(own_folder.iterdir())) == 1
    assert not browser.running
    assert list(own_folder.iterdir()) == []
    assert processes_of(browser.pid) == []
    assert not Path(f"/proc/{browser.pid}").exists(), "it was reaped"
    assert json.loads(log.read_text())["events"], "the log is complete"
    browser.close()  # twice


def test_that_a_long_path_of_temporary_files_is_no_obstacle(chromium, extension, own_folder, monkeypatch):
    """Sockets have short paths, and a browser whose sockets would not fit does not start."""
    folder = own_folder / ("long" * 20)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with launch_browser(chromium.executable, extension=extension, runtime="wasm") as browser:
        assert browser.running
    assert list(folder.iterdir()) == []


def test_that_a_folder_may_have_any_name_whatever_the_locale(chromium, write_extension, tmp_path, monkeypatch):
    """In a locale of ASCII a browser cannot say where its extension is, and calls the place nothing."""
    monkeypatch.setenv("LC_ALL", "C")
    folder = write_extension(tmp_path / "Zoë's größte Erweiterung" / "dist")
    with launch_browser(chromium.executable, extension=folder, runtime="wasm") as launched, Endpoint(launched.port) as told:
        assert require_extension(told, folder).path == folder


def test_that_each_launch_is_its_own(browser, mortal):
    assert browser.port != mortal.port
    assert browser.pid != mortal.pid
    mortal.close()
    assert browser.running


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_that_nothing_is_left_of_a_browser_that_did_not_end_by_itself(
    chromium, extension, own_folder, processes_of, monkeypatch, number
):
    monkeypatch.setattr(launching, "_CLOSE_SECONDS", 0.5)
    with launch_browser(chromium.executable, extension=extension, runtime="wasm") as browser:
        os.kill(browser.pid, number)
    wait_until(lambda: processes_of(browser.pid) == [])
    assert list(own_folder.iterdir()) == []
    assert not Path(f"/proc/{browser.pid}").exists()


OWNER = """
import sys
from pathlib import Path
from pytest_benchbench.browser.launching import launch_browser
browser = launch_browser(Path(sys.argv[1]), extension=Path(sys.argv[2]), runtime="wasm")
print(browser.pid, flush=True)
sys.stdin.read()
"""


def test_that_a_browser_ends_with_its_owner(chromium, extension, own_folder, processes_of):
    """Whatever that dies of, and so does its folder."""
    environment = {**os.environ, "TMPDIR": str(own_folder)}
    command = [sys.executable, "-c", OWNER, chromium.executable, extension]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as owner:
        pid = int(owner.stdout.readline())
        assert alive(pid)
        owner.kill()
    wait_until(lambda: not alive(pid) and processes_of(pid) == [] and list(own_folder.iterdir()) == [])


AS_NOBODY = """
import os, sys, tempfile
from pathlib import Path
import encodings.ascii, encodings.idna, pychrome, websocket
from pytest_benchbench.browser import connection
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.launching import launch_browser
os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[3]))
tempfile.tempdir = sys.argv[4]
with launch_browser(Path(sys.argv[1]), extension=Path(sys.argv[2]), runtime="wasm") as browser:
    with Endpoint(browser.port) as endpoint:
        tab = endpoint.open_tab("data:text/html,<p>sandboxed")
        tab.wait_until_loaded()
        print(tab.evaluate("document.body.textContent"), "--no-sandbox" in endpoint.command_line())
        tab = endpoint.open_tab("chrome://sandbox/")
        tab.wait_until_loaded()
        print(tab.evaluate("document.body.innerText"))
print(os.listdir(sys.argv[4]))
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")
def test_that_it_is_launched_with_its_sandbox_by_others_than_root(chromium, write_extension):
    with tempfile.TemporaryDirectory(prefix="bb-") as folder:
        Path(folder).chmod(0o755)
        extension = write_extension(Path(folder) / "dist")
        temporary = Path(folder) / "tmp"
        temporary.mkdir()
        os.chown(temporary, NOBODY, NOBODY)
        asked = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, chromium.executable, extension, str(NOBODY), temporary],
            capture_output=True,
            text=True,
            cwd="/",
            timeout=120,
        )
    if "No usable sandbox" in asked.stderr:
        pytest.skip("the system gives others than root no sandbox")
    assert asked.returncode == 0, asked.stderr
    first, *sandbox, last = asked.stdout.splitlines()
    assert first == "sandboxed False"
    assert "You are adequately sandboxed." in sandbox
    assert last == "[]"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 7", "the browser exited 7: it printed nothing"),
        ("echo one; echo two >&2; exit 1", "the browser exited 1: two"),
        ("echo '[1:2:ERROR:dbus/bus.cc:405] no bus'; exit 1", "the browser exited 1: it printed nothing"),
        (
            "echo '[1:1:0101/000000.0:FATAL:zygote_host.cc(128)] No usable sandbox! See the page.'; echo '#0 0x1'; exit 1",
            "the browser exited 1: No usable sandbox! See the page.",
        ),
        ("kill -TERM $$", "the browser ended by SIGTERM: it printed nothing"),
        ("printf '\\033[31mred\\377\\n'; exit 1", "the browser exited 1: \\x1b[31mred\ufffd"),
    ],
)
def test_that_a_browser_that_ends_says_why(fake, extension, own_folder, script, message):
    with pytest.raises(LaunchFailed) as caught:
        launch_browser(fake(script), extension=extension, runtime="wasm")
    assert str(caught.value) == message
    assert list(own_folder.iterdir()) == []


def living_in(folder):
    """Give the processes that were started with their home in this folder, as a browser and the shell around it are."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if str(folder).encode() in (place / "environ").read_bytes() and alive(place.name):
                found.append(int(place.name))
    return found


def test_that_a_browser_that_does_not_listen_is_ended(fake, extension, own_folder, monkeypatch):
    """Looked for by where it lives: it may be ended before it has done anything."""
    seen = []
    ended = launching._end
    monkeypatch.setattr(
        launching, "_end", lambda *given, **asked: (seen.extend(living_in(own_folder)), ended(*given, **asked))
    )
    with pytest.raises(LaunchFailed, match=r"does not listen after 0\.5 s: it printed nothing"):
        launch_browser(fake("exec /bin/sleep 60"), extension=extension, runtime="wasm", timeout=0.5)
    assert seen
    assert living_in(own_folder) == []
    assert list(own_folder.iterdir()) == []


def test_that_root_without_a_flag_is_told_by_the_browser_itself(chromium, extension, own_folder, monkeypatch):
    if os.geteuid() != 0:
        pytest.skip("only for root")
    monkeypatch.setattr(os, "geteuid", lambda: 1)
    with pytest.raises(LaunchFailed, match="exited 1: Running as root without --no-sandbox is not supported"):
        launch_browser(chromium.executable, extension=extension, runtime="wasm")
    assert list(own_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda folder: {"extension": folder / "nowhere"}, "nowhere: there is no extension: it has no manifest.json"),
        (lambda folder: {"extension": folder / "a,b"}, "a,b: a browser takes the comma for the end of the path"),
        (lambda folder: {"net_log": folder / "taken"}, "taken: exists, and two browsers would overwrite"),
        (lambda folder: {"net_log": folder / "link"}, "link: exists"),
        (lambda folder: {"net_log": folder / "no/log"}, "no/log: there is no folder"),
    ],
    ids=["no extension", "comma", "log", "dangling link", "no folder"],
)
def test_what_is_refused_before_anything_is_started(fake, extension, write_extension, own_folder, tmp_path, asked, message):
    write_extension(tmp_path / "a,b")
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(LaunchFailed, match=message):
        launch_browser(fake(f"touch {tmp_path}/started"), **{"extension": extension, "runtime": "wasm", **asked(tmp_path)})
    assert not (tmp_path / "started").exists()
    assert list(own_folder.iterdir()) == []
    assert (tmp_path / "taken").read_text() == "mine"


def test_that_a_program_that_is_gone_is_told(extension, own_folder, tmp_path):
    with pytest.raises(LaunchFailed, match=r"exited 12[67]: .*nothing-here"):
        launch_browser(tmp_path / "nothing-here", extension=extension, runtime="wasm")
    assert list(own_folder.iterdir()) == []


def test_that_it_is_launched_on_posix_only(extension, monkeypatch):
    monkeypatch.setattr(launching, "_POSIX", False)
    with pytest.raises(AdapterUnavailable, match="port="):
        launch_browser(Path("chrome.exe"), extension=extension, runtime="wasm")


ADAPTER = "(async () => { const a = await navigator.gpu.requestAdapter(); return a && a.info.isFallbackAdapter })()"


@pytest.mark.parametrize(("runtime", "answer"), [("wasm", (None,)), ("webgpu", (True, False))])
def test_what_a_page_gets_of_a_graphics_card(chromium, extension, serve, runtime, answer):
    with (
        launch_browser(chromium.executable, extension=extension, runtime=runtime) as browser,
        Endpoint(browser.port) as endpoint,
    ):
        tab = endpoint.open_tab(serve())
        tab.wait_until_loaded()
        assert tab.evaluate(ADAPTER) in answer


def test_that_switching_graphics_off_does_not_switch_webgpu_off(chromium, extension, serve, monkeypatch):
    monkeypatch.setitem(flags.OF_RUNTIME, "webgpu", ("--disable-gpu", "--enable-unsafe-webgpu"))
    with (
        launch_browser(chromium.executable, extension=extension, runtime="webgpu") as launched,
        Endpoint(launched.port) as endpoint,
    ):
        assert "--disable-gpu" in launched.command_line
        tab = endpoint.open_tab(serve())
        tab.wait_until_loaded()
        assert tab.evaluate(ADAPTER) is not None
