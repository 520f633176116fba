"""Starting a browser with a fresh profile, and leaving nothing of it behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.browser.errors import LaunchFailed
from pytest_benchbench.browser.flags import Runtime, launch_flags
from pytest_benchbench.browser.traffic_log import TrafficLog
from pytest_benchbench.manifests.faults import shown_text

LAUNCH_SECONDS = 60.0
"""How long a browser may take until it listens."""

_CLOSE_SECONDS = 10.0
"""How long it may take to end by itself, its log completed, before it is killed."""

_REMOVE_SECONDS = 5.0

_LOOK_SECONDS = 0.02

_POSIX = os.name == "posix"

_SMALL_SHARED_MEMORY = 512 << 20
"""Bytes of ``/dev/shm`` under which pages might crash."""

_MAX_TEMPORARY_BYTES = 60
"""Of a path in which there is still room for the name of a socket, 100 bytes in all. In a longer one no browser starts."""

_LOG_BYTES = 1 << 16

_ABSOLUTE = re.compile(r"(?<![\w.~/:])(?:/[\w.@+~-]+){2,}")
"""A path in what a browser, or the shell that starts it, printed."""

_HANDED_ON = ("PATH", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE", "TZ")
"""Variables that the browser gets. Proxies, keys and desktops are not among them."""

_LOCALE = "C.UTF-8"
"""In a locale of ASCII, a browser cannot say that its extension is in a folder whose name has other letters."""

_WITH_PIPE = """
folder=$1; shift
exec 3<&0 0</dev/null
{
  read -r _ <&3
  for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 $$ || break; sleep 1; done
  kill -9 $$
  rm -rf -- "$folder"
} 2>/dev/null &
exec "$@" 4>/dev/null
"""
"""The browser reads its debugging pipe from 3: the pipe that this process holds the other end of. Nothing is ever written.

When the other end closes, the browser ends. Its folder is removed by ``close``, which ends the waiting shell too, or else,
where this process was killed, by that shell, a second after the browser.
"""


@dataclass
class LaunchedBrowser:
    """A browser of our own. Ends with ``close``, with the ``with`` block, and with this process, whatever that dies of.

    Attributes:
        port: Its debugging port, on 127.0.0.1.
        pid: Its main process, the leader of a process group of its own.
        command_line: Its program and all flags.
        traffic: What it writes down of its network, complete after ``close``.
        profile_is_fresh: That nobody used its profile before.
    """

    port: int
    pid: int
    command_line: tuple[str, ...]
    traffic: TrafficLog
    _process: subprocess.Popen[bytes] = field(repr=False)
    _folder: Path = field(repr=False)
    profile_is_fresh: ClassVar[bool] = True

    @property
    def running(self) -> bool:
        """Whether its main process lives."""
        return self._process.poll() is None

    def close(self) -> None:
        """Let it end, kill what is left after a while, reap it and remove its profile. Twice does no harm."""
        _end(self._process, self._folder, self.traffic, patience=_CLOSE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def launch_browser(
    executable: Path,
    *,
    extension: Path,
    runtime: Runtime,
    net_log: Path | None = None,
    timeout: float = LAUNCH_SECONDS,
) -> LaunchedBrowser:
    """Start a headless browser with a fresh profile and one unpacked extension.

    As root it runs without its sandbox, which its flags say: it would not start otherwise.

    Args:
        executable: The browser; see ``find_browser``.
        extension: The folder of the extension, with its ``manifest.json``.
        runtime: On what its model is to run.
        net_log: A new file that gets the whole log of the browser's network, which is read in any case.
        timeout: Seconds until it has to listen.

    Raises:
        AdapterUnavailable: The system is none on which browsers are started here.
        LaunchFailed: There is no such extension, the file cannot be written or exists, or the browser did not start; nothing
            of it is left.
    """
    if not _POSIX:
        raise AdapterUnavailable("a browser is only launched on Linux and macOS; start it yourself and name its port=")
    extension = _extension(extension)
    copy = None if net_log is None else _new_log(net_log)
    folder = Path(tempfile.mkdtemp(prefix="benchbench-browser-"))
    try:
        traffic = _traffic_log(folder / "traffic", copy)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        flags = launch_flags(
            extension=extension,
            runtime=runtime,
            profile=folder / "profile",
            net_log=folder / "traffic",
            sandbox=os.geteuid() != 0,
            small_shared_memory=_has_small_shared_memory(),
        )
        command = (str(executable), *flags)
        process = _start(command, folder)
    except BaseException:
        traffic.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        port = _wait_for_port(process, folder, timeout)
    except BaseException:
        _end(process, folder, traffic, patience=0)
        raise
    return LaunchedBrowser(port, process.pid, command, traffic, process, folder)


def _traffic_log(pipe: Path, copy: Path | None) -> TrafficLog:
    try:
        return TrafficLog(pipe, copy)
    except OSError as error:
        named = Path(error.filename or pipe)
        raise LaunchFailed(f"{named}: cannot be written: {error.strerror or error}", named) from None


def _extension(folder: Path) -> Path:
    folder = folder.absolute()
    if not (folder / "manifest.json").is_file():
        raise LaunchFailed(f"{folder}: there is no extension: it has no manifest.json", folder)
    if "," in str(folder):
        raise LaunchFailed(f"{folder}: a browser takes the comma for the end of the path: move the extension", folder)
    return folder


def _new_log(path: Path) -> Path:
    path = path.absolute()
    if path.exists() or path.is_symlink():
        raise LaunchFailed(f"{path}: exists, and two browsers would overwrite each other's log: name a new file", path)
    if not path.parent.is_dir():
        raise LaunchFailed(f"{path}: there is no folder {path.parent}", path, path.parent)
    return path


def _has_small_shared_memory() -> bool:
    try:
        found = os.statvfs("/dev/shm")  # noqa: S108 - asked for its size only
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _SMALL_SHARED_MEMORY


def _start(command: tuple[str, ...], folder: Path) -> subprocess.Popen[bytes]:
    """Start the browser in a process group, with home and temporary files in ``folder``."""
    temporary = folder / "tmp"
    temporary.mkdir()
    environment = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    environment |= {"HOME": str(folder), "LC_ALL": _LOCALE}
    if len(os.fsencode(temporary)) <= _MAX_TEMPORARY_BYTES:
        environment["TMPDIR"] = str(temporary)
    with (folder / "log").open("wb") as log:
        try:
            return subprocess.Popen(  # noqa: S603 - the shell only gets arguments, and moves the pipe
                ["/bin/sh", "-c", _WITH_PIPE, "sh", str(folder), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise LaunchFailed(f"{command[0]}: cannot be started: {error.strerror}", Path(command[0])) from None


def _wait_for_port(process: subprocess.Popen[bytes], folder: Path, timeout: float) -> int:
    """Wait until the browser has written down its port."""
    until = time.monotonic() + timeout
    announced = folder / "profile" / "DevToolsActivePort"
    while True:
        ended = process.poll()
        with suppress(OSError, ValueError):
            port, _ = announced.read_text(encoding="ascii").split("\n", 1)  # it may be there and not yet be written
            return int(port)
        if ended is not None:
            how = f"ended by {signal.Signals(-ended).name}" if ended < 0 else f"exited {ended}"
            raise _launch_failed(how, folder)
        if time.monotonic() > until:
            raise _launch_failed(f"does not listen after {timeout:g} s", folder)
        time.sleep(_LOOK_SECONDS)


def _launch_failed(how: str, folder: Path) -> LaunchFailed:
    words = _last_words(folder)
    return LaunchFailed(f"the browser {how}: {words}", *map(Path, _ABSOLUTE.findall(words)))


def _last_words(folder: Path) -> str:
    """Find in what the browser printed the line that says why it ended."""
    with (folder / "log").open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_BYTES))
        lines = log.read().decode("utf-8", "replace").splitlines()
    told = [line for line in lines if line.strip() and not re.match(r"#\d+ |\[.*dbus/", line)]
    fatal = [line for line in told if ":FATAL:" in line or "not supported" in line]
    line = (fatal[:1] or told[-1:] or ["it printed nothing"])[0]
    return shown_text(re.sub(r"^\[[^\]]*\]\s*", "", line))


def _end(process: subprocess.Popen[bytes], folder: Path, traffic: TrafficLog, *, patience: float) -> None:
    """Close the browser's pipe, by which it ends; kill its group after a while; take the rest of its log, and its folder."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            traffic.wait_for_end(patience)
    finally:  # interrupted, too
        with suppress(ProcessLookupError, PermissionError):  # nobody is left, or only what the system ends
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        traffic.close()
        _remove(folder)


def _remove(folder: Path) -> None:
    until = time.monotonic() + _REMOVE_SECONDS
    while folder.exists() and time.monotonic() < until:  # a process that is just being killed may still write
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(_LOOK_SECONDS)
