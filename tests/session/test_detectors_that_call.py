"""Detectors that open connections, in this process and in workers: what the network guard makes of their rows."""

import os
import socket
import subprocess
import sys

import pytest

NOWHERE = "host.invalid"
"""A name that no name server knows: looking it up is an error of its own, which a refusal before the look-up is not."""


DETECTORS = """
    import socket, subprocess, sys
    import msgspec
    from pytest_benchbench import Adapter, AdapterDescription, BatchAdapter, Detection

    class Options(msgspec.Struct, frozen=True):
        host: str = "127.0.0.1"
        port: int = 0

    class Caller(Adapter):
        '''Asks a server about every sample.'''
        name = "caller"
        media_types = frozenset({"image"})
        needs = "bytes"
        Options = Options

        def call(self):
            socket.create_connection((self.options.host, self.options.port)).close()

        def detect(self, sample):
            self.call()
            return Detection("detected")

        def describe(self):
            return AdapterDescription("1", "the server is there")

    class Shrugging(Caller):
        '''Goes on without the server.'''
        name = "shrugging"

        def detect(self, sample):
            for _ in range(2):
                try:
                    self.call()
                except OSError:
                    pass
            return Detection("detected")

    class LoadsModel(Shrugging):
        '''Goes on without what it wanted to fetch once.'''
        name = "loads"

        def load(self):
            try:
                self.call()
            except OSError:
                pass

        def detect(self, sample):
            return Detection("detected")

    class Remote(Caller):
        name = "remote"
        network = True

    class ChildProcess(Caller):
        name = "child"

        def call(self):
            code = f"import socket; socket.create_connection(({self.options.host!r}, {self.options.port}))"
            subprocess.run([sys.executable, "-c", code], check=True)

    class Waves(BatchAdapter):
        name = "remote-waves"
        media_types = frozenset({"image"})
        needs = "bytes"
        batch_size = 2
        Options = Options
        call = Caller.call

        def detect_batch(self, samples):
            try:
                self.call()
            except OSError:
                pass
            return [Detection("detected") for sample in samples]

        def describe(self):
            return AdapterDescription("1", "anything")

    def pytest_benchbench_adapters(registry):
        for adapter in (Caller, Shrugging, LoadsModel, Remote, ChildProcess, Waves):
            registry.register(adapter)
"""


@pytest.fixture
def calling(project, server):
    """Run rows of a detector that calls the server, or a host that is none."""
    project.pytester.makeconftest(DETECTORS)

    def run(adapter, *arguments, host="127.0.0.1", rows=1, workers=0):
        for number in range(rows):
            project.case(f"cat-{number}", adapter=adapter)
        project.write()
        return project.run(
            "cases.jsonl", f"--bench-adapter={adapter}:host={host},port={server}", *arguments, workers=workers
        )

    return run


@pytest.mark.parametrize(
    ("arguments", "mode"),
    [((), "loopback"), (("--bench-network=loopback",), "loopback"), (("--bench-network=allow",), "allow")],
)
def test_a_detector_may_call_this_machine(calling, project, arguments, mode):
    assert calling("caller", *arguments).ret == 0
    assert project.evidence[0]["network"] == {"mode": mode}


def test_a_refusal_is_the_error_of_the_row(calling, project, workers):
    result = calling("caller", host=NOWHERE, workers=workers)
    assert result.ret == 1
    (row,) = project.evidence
    assert (row["outcome"], row["error"]["type"]) == ("error", "NetworkRefused")
    assert row["error"]["message"].startswith(f"look-up of {NOWHERE}:")
    assert row["error"]["message"].endswith(": refused by --bench-network=loopback; give --bench-network=allow")
    assert row["network"] == {"mode": "loopback", "refused": 1}


def test_deny_holds_in_workers(calling, project):
    assert calling("caller", "--bench-network=deny", rows=3, workers=2).ret == 1
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused": 1}] * 3


def test_what_a_detector_shrugs_off_is_counted(calling, project):
    assert calling("shrugging", "--bench-network=deny", rows=2).ret == 0
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused": 2}] * 2


def test_what_was_refused_to_loading_bears_on_every_row(calling, project, workers):
    assert calling("loads", "--bench-network=deny", rows=4, workers=workers).ret == 0
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused_loading": 1}] * 4


def test_what_was_refused_to_a_wave_is_counted_for_each_of_its_rows(calling, project):
    assert calling("remote-waves", "--bench-network=deny", rows=3).ret == 0
    assert [row["network"] for row in project.evidence] == [{"mode": "deny", "refused": 1}] * 3


def test_a_detector_that_declares_to_leave_the_machine_is_unavailable(calling, project, workers):
    result = calling("remote", "-rs", workers=workers)
    assert result.ret == 21
    result.stdout.fnmatch_lines(
        ["*remote is unavailable: asking it leaves this machine; to let it, give --bench-network=allow*"]
    )
    assert project.outcomes == {"cat-0": "unavailable"}


def test_unless_it_is_allowed(calling, project):
    assert calling("remote", "--bench-network=allow").ret == 0
    assert project.outcomes == {"cat-0": "match"}


def test_a_child_process_is_beyond_the_guard(calling):
    """A limit, stated in the docs: what holds for child processes is the operating system's to enforce."""
    assert calling("child", "--bench-network=deny").ret == 0


def test_other_tests_of_the_session_keep_their_network(calling, project, server):
    project.pytester.makepyfile(
        test_ordinary=f"""
        import socket

        def test_connects():
            socket.create_connection(("127.0.0.1", {server})).close()
        """
    )
    result = calling("shrugging", "test_ordinary.py", "--bench-network=deny")
    result.assert_outcomes(passed=2)


def test_nothing_is_guarded_after_the_session(calling, server):
    assert calling("shrugging", "--bench-network=deny").ret == 0
    socket.create_connection(("127.0.0.1", server)).close()
    with pytest.raises(socket.gaierror):
        socket.create_connection((NOWHERE, 80))


def test_a_session_without_plan_installs_nothing(pytester):
    pytester.makepyfile(
        """
        import socket, sys

        def test_unit():
            assert "pytest_benchbench.session.network" not in sys.modules
            assert "connect" not in vars(socket.socket)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:xdist", "--bench-network=deny")
    result.assert_outcomes(passed=1)


@pytest.mark.skipif(sys.platform != "linux", reason="unshare is a command of Linux")
def test_the_proof_by_the_operating_system(calling_namespace, server):
    """What the docs show: without a network there is not even this machine's loopback, for child processes neither."""
    code = f"import socket; socket.create_connection(('127.0.0.1', {server}))"
    done = subprocess.run([*calling_namespace, sys.executable, "-c", code], text=True, capture_output=True)
    assert "Network is unreachable" in done.stderr


@pytest.fixture
def calling_namespace():
    command = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
    try:
        usable = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    except OSError:
        usable = False
    if not usable:
        pytest.skip("no network namespace can be made here")
    return command
