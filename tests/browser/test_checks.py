"""Whether a browser is the one that was asked for."""

import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.browser.checks import profile_state, provider_fault, recorded_flags, require_extension
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.errors import BrowserError, BrowserGone, CheckFailed


@contextlib.contextmanager
def started_by_hand(program, profile, *flags):
    """A browser as a user starts it, with a profile that stays."""
    with contextlib.suppress(FileNotFoundError):
        (profile / "DevToolsActivePort").unlink()
    fixed = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run")
    command = [program, *fixed, f"--user-data-dir={profile}", *flags, "about:blank"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(profile.parent.absolute())}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment) as process:
        try:
            until = time.monotonic() + 60
            while True:
                with contextlib.suppress(OSError, IndexError):
                    port = int((profile / "DevToolsActivePort").read_text().splitlines()[0])
                    break
                assert time.monotonic() < until
                time.sleep(0.02)
            with Endpoint(port) as endpoint:
                yield endpoint
                with contextlib.suppress(BrowserGone):  # it may be quicker than its answer
                    endpoint.call("Browser.close")
            process.wait(60)
        finally:
            process.kill()


def test_the_only_extension(endpoint, extension, monkeypatch):
    assert require_extension(endpoint, extension).name == "probe"
    monkeypatch.chdir(extension.parent)
    assert require_extension(endpoint, Path("dist")).path == extension


def test_that_the_same_extension_of_another_folder_is_refused(endpoint, extension, tmp_path):
    other = shutil.copytree(extension, tmp_path / "other")
    for folder in (other, tmp_path / "nowhere"):
        with pytest.raises(CheckFailed) as caught:
            require_extension(endpoint, folder)
        assert str(caught.value) == f"the unpacked extension is probe of dist, another folder than {folder.name}"
        assert caught.value.__notes__ == [f"the unpacked extension is probe of {extension}, another folder than {folder}"]


def test_a_browser_of_the_user(chromium, write_extension, tmp_path, monkeypatch):
    """Its extensions come and go, and its profile gets warm: one browser, since starting one takes long."""
    one, two = write_extension(tmp_path / "one", "first"), write_extension(tmp_path / "two", "second")
    profile = tmp_path / "profile"
    with started_by_hand(chromium.executable, profile) as endpoint:
        assert profile_state(endpoint) == "fresh"
        assert profile_state(endpoint, warm=True) == "warm"
        with pytest.raises(CheckFailed, match="no unpacked extension is loaded: start the browser with --load-extension="):
            require_extension(endpoint, one, timeout=0.3)
        identity = endpoint.call("Extensions.loadUnpacked", path=str(one))["id"]
        assert require_extension(endpoint, one).id == identity
        other = endpoint.call("Extensions.loadUnpacked", path=str(two))["id"]
        with pytest.raises(CheckFailed, match=r"2 unpacked extensions are loaded, .*: leave only") as caught:
            require_extension(endpoint, one)
        assert "first (one), second (two): leave only one" in str(caught.value)
        assert f"second ({two})" in caught.value.__notes__[0]
        endpoint.call("Extensions.uninstall", id=other)
        assert require_extension(endpoint, one).id == identity
        tab = endpoint.open_tab("chrome://extensions/")
        tab.wait_until_loaded()
        tab.evaluate(f"chrome.management.setEnabled('{identity}', false)")
        with pytest.raises(CheckFailed, match=r"the extension first of .* is switched off"):
            require_extension(endpoint, one)
    monkeypatch.chdir(tmp_path)
    with started_by_hand(chromium.executable, Path("profile")) as endpoint:
        monkeypatch.chdir("/")  # the folder is the browser's to find
        with pytest.raises(CheckFailed, match=r"the profile was used before this browser was started .*: say warm=true"):
            profile_state(endpoint)
        assert profile_state(endpoint, warm=True) == "warm"


def test_a_browser_that_cannot_write_where_its_extension_lies(chromium, write_extension, tmp_path, monkeypatch):
    """It runs without a locale, which is that of ASCII, and calls the folder nothing."""
    umlaut = write_extension(tmp_path / "größte")
    monkeypatch.chdir(umlaut)  # which an empty path would be
    with (
        started_by_hand(chromium.executable, tmp_path / "profile", f"--load-extension={umlaut}") as endpoint,
        pytest.raises(CheckFailed, match=r"does not say where its extension probe lies: .*; start it under LC_ALL=C\.UTF-8"),
    ):
        require_extension(endpoint, umlaut)


def test_that_a_launched_profile_is_fresh(endpoint):
    assert profile_state(endpoint) == "fresh"


class Told:
    """What ``profile_state`` asks a browser, with other answers."""

    def __init__(self, *flags, number=1):
        self.flags = flags
        self.number = number

    def command_line(self):
        if not self.flags:
            raise BrowserError("its flags cannot be read")
        return ("chromium", *self.flags)

    def process_id(self):
        return self.number


@pytest.mark.parametrize(
    ("browser", "message"),
    [
        (Told(), "its flags cannot be read; so whether its profile is fresh cannot be found out: say warm=true"),
        (Told("--headless=new"), "runs on its user's own profile: say warm=true"),
        (
            Told("--user-data-dir=/no/such/profile"),
            r"/no/such/profile: whether the profile is fresh cannot be found out \(File",
        ),
        (Told("--user-data-dir=/proc", number=1 << 30), r"/proc: whether .* cannot be found out"),
    ],
)
def test_that_a_profile_that_cannot_be_looked_at_is_not_fresh(browser, message):
    with pytest.raises(CheckFailed, match=message):
        profile_state(browser)


def test_the_flags_that_are_recorded(browser):
    flags = recorded_flags(browser.command_line)
    assert flags[0] == "--headless=new"
    assert {"--remote-debugging-port=0", "--user-data-dir=(path)", "--load-extension=(path)"} <= set(flags)
    assert "about:blank" not in flags
    assert not [flag for flag in flags if "/tmp" in flag]


PATHS = st.sampled_from(["/home/me", "~/me", "C:\\me", "file:///home/me", "c:/me and more"])


@given(st.lists(PATHS | st.sampled_from(["plain", "http://127.0.0.1:9/", "1400"]), min_size=1, max_size=4))
def test_that_no_path_is_recorded(values):
    given_flags = ("/home/me/chromium", f"--flag={','.join(values)}", "--plain", "/home/me/page.html")
    kept, plain = recorded_flags(given_flags)
    assert "me" not in kept
    assert [one for one in kept.removeprefix("--flag=").split(",") if one != "(path)"] == [
        one for one in values if "me" not in one
    ]
    assert plain == "--plain"


def test_that_no_password_is_recorded():
    assert recorded_flags(("chromium", "--proxy-server=http://me:secret@proxy:1")) == ("--proxy-server=http://proxy:1",)


@pytest.mark.parametrize(
    ("provider", "runtime", "fault"),
    [
        ("wasm", "wasm", None),
        ("metadata", "webgpu", None),
        ("webgpu", "wasm", "the extension ran on webgpu, expected wasm"),
        (None, "webgpu", "the extension does not say what it ran on, expected webgpu"),
        ("gpu\n\x1b[31m", "wasm", "the extension ran on gpu\\n\\x1b[31m, expected wasm"),
    ],
)
def test_the_provider_of_an_answer(provider, runtime, fault):
    assert provider_fault(provider, runtime) == fault
