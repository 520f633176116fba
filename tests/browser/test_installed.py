"""Finding a browser on this machine."""

import pytest

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.browser import installed
from pytest_benchbench.browser.installed import find_browser


@pytest.fixture(autouse=True)
def bare_machine(tmp_path, monkeypatch):
    """A machine without a browser, whose ``$PATH`` is one folder and whose Debian packages lie in another."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(installed, "_WRAPPER", tmp_path / "bin/chromium")
    monkeypatch.setattr(installed, "_WRAPPED", tmp_path / "lib/chromium")


@pytest.fixture
def install(tmp_path):
    """``install(name, version)``: put a program there that answers with a version; ``script`` replaces what it does."""

    def write(name, version="Chromium 150.0.1.2 built on Debian", *, script=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script or f'echo {version}'}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "chrome", "google-chrome", "chrome-for-testing"])
def test_that_it_is_found_on_the_path(install, name):
    path = install(f"bin/{name}")
    assert find_browser() == installed.InstalledBrowser(path, "150.0.1.2")


def test_that_chromium_comes_before_chrome(install):
    install("bin/google-chrome")
    path = install("bin/chromium")
    assert find_browser().executable == path


@pytest.mark.parametrize("wanted", [None, "chromium", "bin/chromium"])
def test_that_the_program_is_taken_for_the_script_around_it(install, tmp_path, wanted):
    install("bin/chromium", "0.0.0.1")
    path = install("lib/chromium", "Chromium 151.0.1.2")
    wanted = str(tmp_path / wanted) if wanted and "/" in wanted else wanted
    assert find_browser(wanted) == installed.InstalledBrowser(path, "151.0.1.2")


def test_that_the_program_is_found_without_its_script(install):
    path = install("lib/chromium")
    assert find_browser().executable == path


def test_that_another_chromium_on_the_path_is_respected(install, tmp_path, monkeypatch):
    install("lib/chromium")
    path = install("own/chromium")
    monkeypatch.setenv("PATH", f"{path.parent}:{tmp_path / 'bin'}")
    assert find_browser("chromium").executable == path


@pytest.mark.parametrize(
    ("folder", "wanted"), [(".", "own/my-browser"), ("own", "./my-browser"), ("bin", "../own/my-browser")]
)
def test_that_a_relative_path_is_made_absolute(install, tmp_path, monkeypatch, folder, wanted):
    path = install("own/my-browser")
    monkeypatch.chdir(tmp_path / folder)
    assert find_browser(wanted).executable.samefile(path)
    assert find_browser(wanted).executable.is_absolute()


def test_that_without_one_it_is_told_how_to_install_it():
    with pytest.raises(AdapterUnavailable) as caught:
        find_browser()
    assert caught.value.install == "apt-get install chromium"
    assert str(caught.value) == "no Chromium and no Chrome is installed (remedy: apt-get install chromium)"


@pytest.mark.parametrize(
    ("wanted", "named"), [("nothing-of-this-name", "nothing-of-this-name"), ("/no/such/browser", "browser"), (".", ".")]
)
def test_that_the_wanted_one_is_named_where_it_is_missing_without_its_folder(wanted, named, install):
    install("bin/chromium")
    with pytest.raises(AdapterUnavailable, match=f"^there is no browser '{named}' "):
        find_browser(wanted)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 0", "exited 0 without a version"),
        ("echo Chromium 1.2.3.4; exit 3", "exited 3"),
        ("echo 5 apples", "exited 0 without a version"),
        ("printf '\\377\\033[31m'", "exited 0 without a version"),
    ],
)
def test_that_a_program_that_is_no_browser_is_refused(install, script, reason):
    install("bin/chrome", script=script)
    with pytest.raises(AdapterUnavailable, match=f"^chrome is no browser: --version {reason}"):
        find_browser()


def test_that_a_program_that_cannot_be_run_is_refused(tmp_path):
    path = tmp_path / "bin/chrome"
    path.write_bytes(b"\x7fELF and no more")
    path.chmod(0o755)
    with pytest.raises(AdapterUnavailable, match="Exec format error"):
        find_browser()


def test_that_a_program_that_does_not_answer_is_left(install, monkeypatch):
    install("bin/chrome", script="exec /bin/sleep 60")
    monkeypatch.setattr(installed, "_VERSION_SECONDS", 0.2)
    with pytest.raises(AdapterUnavailable, match="it does not answer"):
        find_browser()
