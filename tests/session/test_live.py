"""What a person at a terminal sees while a row takes long: real runs under a pseudo terminal, read by a small screen."""

import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty", reason="no pseudo terminals here")
termios = pytest.importorskip("termios", reason="no pseudo terminals here")

ROWS, COLUMNS = 24, 90

TIMEOUT = 120

SOON = """
import pytest_benchbench.session.live as live
live.SHOWN_AFTER_SECONDS, live.DRAWN_EVERY_SECONDS = 0.0, 0.02
"""
"""Lets a run tell at once of every row."""

HOLDING = '''
from pytest_benchbench import Adapter, AdapterDescription, Detection


class Toy(Adapter):
    """Answers what the file says; "hold PIPE" once somebody has written to the pipe."""

    name = "toy"
    media_types = frozenset({"image"})
    needs = "bytes"

    def detect(self, sample):
        word, *rest = sample.data.decode().split()
        if word == "hold":
            with open(rest[0]) as pipe:
                word = pipe.readline().strip()
        print("what a detector prints")
        return Detection(word)

    def describe(self):
        return AdapterDescription("1", "what the file says")


def pytest_benchbench_adapters(registry):
    registry.register(Toy)
'''


class Screen:
    """A terminal as ECMA-48 and DEC's VT100 describe it, as far as it is needed; anything else is an error."""

    def __init__(self):
        self.lines = [[" "] * COLUMNS for _ in range(ROWS)]
        self.scrolled = []
        self.row = self.column = 0
        self.saved = (0, 0)

    def feed(self, text):
        for token in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|\x1b.|[\s\S]", text):
            self._obey(token)

    def _obey(self, token):
        match token:
            case "\r":
                self.column = 0
            case "\n" | "\x1bD":
                self._down()
            case "\b":
                self.column -= 1
            case "\x1b7":
                self.saved = (self.row, self.column)
            case "\x1b8":
                self.row, self.column = self.saved
            case "\x1b[A":
                self.row = max(0, self.row - 1)
            case "\x1b[B":
                self.row = min(ROWS - 1, self.row + 1)
            case "\x1b[J":
                self.lines[self.row][self.column :] = [" "] * (COLUMNS - self.column)
                for row in range(self.row + 1, ROWS):
                    self.lines[row] = [" "] * COLUMNS
            case _ if token.isprintable():
                if self.column == COLUMNS:
                    self.column = 0
                    self._down()
                self.lines[self.row][self.column] = token
                self.column += 1
            case _ if not re.fullmatch(r"\x1b\[[0-9;]*m", token):
                raise AssertionError(f"this screen does not know {token!r}")

    def _down(self):
        if self.row == ROWS - 1:
            self.scrolled.append(self.lines.pop(0))
            self.lines.append([" "] * COLUMNS)
        else:
            self.row += 1

    @property
    def text(self):
        """All lines that were ever on it, without blank ends."""
        return "\n".join("".join(line).rstrip() for line in [*self.scrolled, *self.lines]).rstrip()


class Session:
    """pytest at a terminal."""

    def __init__(self, folder, arguments, **environment):
        self.screen = Screen()
        self.written = ""
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST") and name != "COLUMNS"}
        for name in ("CI", "BUILD_NUMBER", "NO_COLOR", "FORCE_COLOR"):
            kept.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", *arguments],
            cwd=folder,
            env={**kept, "TERM": "xterm", **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def until(self, words):
        """Read until the screen shows some words."""
        ends = time.monotonic() + TIMEOUT  # a line that is drawn again and again comes without an end
        while words not in self.screen.text:
            came = self._read()
            assert came, f"{words!r} never came:\n{self.screen.text}"
            assert time.monotonic() < ends, f"{words!r} did not come:\n{self.screen.text}"

    def finish(self):
        """Read to the end; give the exit code."""
        while self._read():
            pass
        os.close(self._ours)
        return self.process.wait(TIMEOUT)

    def _read(self):
        ready, _, _ = select.select([self._ours], [], [], TIMEOUT)
        assert ready, f"nothing came any more:\n{self.screen.text}"
        try:
            block = os.read(self._ours, 65536).decode()
        except OSError:  # how the end of what a terminal shows is told
            return False
        self.written += block
        self.screen.feed(block)
        return bool(block)

    def type(self, text):
        """Type at the terminal."""
        os.write(self._ours, text.encode())

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(TIMEOUT)


@pytest.fixture
def held(project, tmp_path):
    """A project of two quick rows and, in their midst, one that waits for what comes through a pipe."""
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)  # neither end waits for the other
    (project.path / "conftest.py").write_text(SOON + HOLDING)
    project.case("quick")
    project.case("slow", says=f"hold {tmp_path / 'pipe'}")
    project.case("wrong", says="not_detected")
    project.write()
    project.release = lambda: os.write(pipe, b"detected\n")
    yield project
    os.close(pipe)


@pytest.fixture
def terminal(held):
    """Start pytest at a terminal."""
    started = []

    def start(*arguments, **environment):
        session = Session(held.path, ["cases.jsonl", *arguments], **environment)
        started.append(session)
        return session

    yield start
    for session in started:
        session.kill()


def even(text):
    """Take out of a screen what differs from run to run."""
    text = re.sub(r"in \d+\.\d+s", "in 0.00s", text)
    text = re.sub(r"^[.F]{3}", "...", re.sub(r"\[gw\d\]|\[ *\d+%\]", "[]", text), flags=re.MULTILINE)  # whoever was first
    return re.sub(r"([=_-])\1{4,}", r"\1\1\1\1\1", re.sub(r"run-\d", "run-0", text))


@pytest.mark.parametrize("arguments", [[], ["-q"], ["-v"], ["-n", "2"], ["-n", "2", "-v"]], ids=" ".join)
def test_a_row_that_takes_long_is_told_and_nothing_of_it_stays(terminal, held, arguments):
    session = terminal("--bench-run-dir=run-1", *arguments)
    session.until("of 3 rows")
    session.until(": toy::slow")
    held.release()
    assert session.finish() == 1
    silent = terminal("--bench-run-dir=run-2", "--bench-progress=off", *arguments)
    held.release()
    assert silent.finish() == 1
    assert "running for" not in silent.written
    assert sorted(even(session.screen.text).splitlines()) == sorted(even(silent.screen.text).splitlines())


def test_rows_that_are_over_before_the_first_look_are_counted(terminal, held):
    seldom = SOON.replace("0.02", "3.0") + HOLDING
    (held.path / "conftest.py").write_text(seldom)
    session = terminal()
    session.until("benchbench: 1 of 3 rows")
    held.release()
    assert session.finish() == 1


def test_other_rows_go_on_below_the_same_line(terminal, held):
    session = terminal("-v")
    session.until(": toy::slow")
    lines = session.screen.text.splitlines()
    assert re.fullmatch(r"benchbench: 1 of 3 rows.*; running for 0:0\d: toy::slow", lines[-1])
    assert lines[-2] == "cases.jsonl::test_detection::toy::slow"
    held.release()
    assert session.finish() == 1
    assert "what a detector prints" in session.screen.text  # of the row that failed
    assert "running for" not in session.screen.text


def test_an_interrupt_leaves_nothing_of_the_line(terminal, held):
    session = terminal()
    session.until(": toy::slow")
    os.killpg(session.process.pid, signal.SIGINT)
    assert session.finish() == 2
    assert "KeyboardInterrupt" in session.screen.text
    assert "running for" not in session.screen.text


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--bench-progress=off"], {}),
        (["-s"], {}),
        ([], {"CI": "true"}),
        ([], {"TERM": "dumb"}),
        (["-p", "no:terminal"], {}),
    ],
    ids=["off", "no capture", "in CI", "a dumb terminal", "no reporter"],
)
def test_where_a_line_would_disturb_there_is_none(terminal, held, arguments, environment):
    session = terminal(*arguments, **environment)
    held.release()
    session.finish()
    assert "\x1b7" not in session.written
    assert "running for" not in session.written


def test_a_debugger_is_not_disturbed(terminal, held):
    conftest = held.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('print("what a detector prints")', "breakpoint()"))
    session = terminal("-k", "quick")
    session.until("(Pdb)")
    seen = len(session.written)
    session.type("import time\nlate = time.monotonic() + 0.3\nwhile time.monotonic() < late: pass\n\nc\n")
    assert session.finish() == 0
    debugged = session.written[seen:]
    assert "PDB continue" in debugged
    assert "\x1b7" not in debugged[: debugged.index("PDB continue")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_detector_that_forks_is_alone_in_its_process(terminal, held):
    before = "import os, threading\nnames = []\n"
    before += "os.register_at_fork(before=lambda: names.extend(each.name for each in threading.enumerate()))\n"
    forks = "if not os.fork():\n            os._exit(0)\n        os.wait()\n"
    forks += "        assert 'benchbench-live' not in names and names, names"
    conftest = held.path / "conftest.py"
    conftest.write_text(before + conftest.read_text().replace('if word == "hold":', f'{forks}\n        if word == "hold":'))
    session = terminal("-k", "slow")
    session.until(": toy::slow")  # it tells again
    held.release()
    assert session.finish() == 0


def test_at_the_bottom_of_a_screen_nothing_is_lost(terminal, held, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROWS", 4)
    session = terminal("--bench-run-dir=run-1")
    session.until(": toy::slow")
    assert session.screen.row == 2  # the line is the last of the screen
    held.release()
    assert session.finish() == 1
    silent = terminal("--bench-run-dir=run-2", "--bench-progress=off")
    held.release()
    assert silent.finish() == 1
    assert even(session.screen.text) == even(silent.screen.text)


def test_a_narrow_terminal_is_left_alone(terminal, held, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "COLUMNS", 30)
    session = terminal("-q")
    held.release()
    session.finish()
    assert "\x1b7" not in session.written


def test_short_rows_are_told_by_dots_alone(terminal, held):
    conftest = held.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("= 0.0, 0.02", "= 1000.0, 0.02"))
    session = terminal()
    held.release()
    assert session.finish() == 1
    assert "\x1b7" not in session.written


def test_elsewhere_than_at_a_terminal_nothing_is_told(held):
    done = run_in_a_pipe(held)
    assert "benchbench: 1 of" not in done
    assert "\r" not in done
    assert "\x1b" not in done


def test_elsewhere_a_plain_line_comes_where_it_is_wanted(held):
    conftest = held.path / "conftest.py"
    conftest.write_text(conftest.read_text() + "\noriginal = live.Live.__init__\n" + EVERY_MOMENT)
    done = run_in_a_pipe(held, "--bench-progress=60", until=": toy::slow")
    told = [line for line in done.splitlines() if line.startswith("benchbench: 1 of 3 rows")]
    assert any(re.fullmatch(r"benchbench: 1 of 3 rows.*; running for 0:0\d: toy::slow", line) for line in told)
    assert "\r" not in done
    assert "\x1b" not in done
    assert "\n.F" in done  # the dots go on in a line of their own


EVERY_MOMENT = """
def often(self, *args, **options):
    assert options["lines_every"] == 60
    original(self, *args, **options | {"lines_every": 0.05})

live.Live.__init__ = often
"""


def run_in_a_pipe(project, *arguments, until=None):
    """Run pytest with a pipe as its output; give all of it. The row that waits goes on when some words have come."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "cases.jsonl", "-p", "no:randomly", "-p", "no:cacheprovider", *arguments],
        cwd=project.path,
        env=environment | {"TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seen = ""
    with process:
        while until is not None and until not in seen:
            line = process.stdout.readline()
            assert line, seen
            seen += line
        project.release()
        seen += process.stdout.read()
    return seen


@pytest.mark.parametrize("given", ["0", "-1", "nan", "sometimes", "1e9", "0.5"])
def test_what_is_no_setting_is_wrong_use(project, given):
    project.case("a")
    project.write()
    result = project.run("cases.jsonl", f"--bench-progress={given}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: --bench-progress={given}: expected auto, off, or seconds between 1 and *"])
