"""The longest that a row may take: real signals, real watchdogs, detectors that hang in every way."""

import pytest

LIMIT = 1.0
"""Seconds; the rows of these tests that are not stuck take a hundredth of it."""

LIMIT_IN_NEW_PROCESSES = 3.0
"""Their first row imports what this process has long imported."""


def said(limit=LIMIT):
    """Give the error of a row that took too long."""
    return {"type": "RowTimeout", "message": f"the row took longer than {limit:g} s (--bench-row-timeout)"}


STUCK = """
    import ctypes, os, threading, time
    import pytest
    from pytest_benchbench import Adapter, AdapterDescription, BatchAdapter, Detection

    def lock_twice(library):
        '''Wait in the system's own lock for good: no signal gets anybody out of there.'''
        mutex = ctypes.create_string_buffer(128)
        library.pthread_mutex_lock(mutex)
        library.pthread_mutex_lock(mutex)

    def spin():
        while True:
            pass

    def swallow(kind):
        try:
            spin()
        except kind:
            pass

    def swallow_again_and_again():
        for _ in range(2):
            swallow(BaseException)

    class Trap:
        def __del__(self):
            spin()

    def in_a_destructor():
        Trap()

    WAYS = {
        "spin": spin,
        "slow": lambda: time.sleep(0.3),
        "sleep": lambda: time.sleep(1000),
        "wait": lambda: threading.Lock().acquire() and threading.Event().wait(),
        "pause": lambda: ctypes.CDLL(None).pause(),
        "except-exception": lambda: swallow(Exception),
        "except-everything": lambda: swallow(BaseException),
        "except-everything-twice": swallow_again_and_again,
        "destructor": in_a_destructor,
        "native-with-gil": lambda: lock_twice(ctypes.PyDLL(None)),
        "native-without-gil": lambda: lock_twice(ctypes.CDLL(None)),
    }

    class Stuck(Adapter):
        '''Hangs where the file says so, and says that a mark is there.'''
        name = "stuck"
        media_types = frozenset({"image"})
        needs = "bytes"

        def load(self):
            with open("loads.txt", "a") as file:
                print(os.getpid(), file=file)

        def detect(self, sample):
            WAYS.get(sample.data.decode().split()[0], int)()
            return Detection("detected")

        def close(self):
            with open("closed.txt", "a") as file:
                print(os.getpid(), file=file)

        def describe(self):
            return AdapterDescription("1", "what the file says")

    class StuckWaves(BatchAdapter):
        name = "waves"
        media_types = frozenset({"image"})
        needs = "bytes"
        batch_size = 4

        def detect_batch(self, samples):
            words = [sample.data.decode().split()[0] for sample in samples]
            with open("waves.txt", "a") as file:
                print(*words, file=file)
            for word in words:
                WAYS.get(word, int)()
            return [Detection("detected") for _ in words]

        def describe(self):
            return AdapterDescription("1", "what the file says")

    def pytest_benchbench_adapters(registry):
        registry.register(Stuck)
        registry.register(StuckWaves)
"""

IN_PYTHON = [
    *("spin", "sleep", "wait", "pause"),
    *("except-exception", "except-everything", "except-everything-twice", "destructor"),
]


@pytest.fixture
def stuck(project):
    """Run rows that hang in these ways, each after the other, with a limit."""
    project.pytester.makeconftest(STUCK)

    def run(*ways, adapter="stuck", suite=None, workers=0, subprocess=False):
        for number, way in enumerate(ways):
            project.case(f"cat-{number}", way, adapter=adapter)
        project.write()
        limit = LIMIT_IN_NEW_PROCESSES if workers or subprocess else LIMIT
        arguments = ["cases.jsonl", f"--bench-row-timeout={limit}"]
        if suite:
            project.pytester.makepyfile(test_own=suite)
            arguments = ["test_own.py", "--manifest=cases.jsonl", *arguments[1:]]
        if subprocess:
            arguments = ["-p", "no:randomly", "-p", "no:xdist", "--bench-run-dir=run", *arguments]
            return project.pytester.runpytest_subprocess(*arguments)
        return project.run(*arguments, workers=workers)

    return run


def _timed_out(row, limit=LIMIT):
    return (row["outcome"], row["detection"]["status"], row.get("error")) == ("error", "timeout", said(limit))


@pytest.mark.parametrize("way", IN_PYTHON)
def test_python_code_is_interrupted_and_the_others_go_on(stuck, project, way):
    result = stuck("fine", way, "fine")
    assert result.ret == 1
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([f"cases.jsonl:2: cat-1: error: RowTimeout: {said()['message']}"])
    first, interrupted, last = project.evidence
    assert (first["outcome"], last["outcome"]) == ("match", "match")
    assert _timed_out(interrupted)
    assert interrupted["detection"] == {"status": "timeout", "adapter_elapsed_ms": None, "call": None}


def test_rows_that_do_not_hang_notice_nothing(stuck, project):
    assert stuck("fine", "fine", "fine").ret == 0
    assert {row["detection"]["status"] for row in project.evidence} == {"detected"}
    assert len((project.path / "loads.txt").read_text().split()) == 1


def test_an_interrupted_instance_is_closed_and_not_asked_again(stuck, project):
    stuck("fine", "spin", "fine", "fine")
    assert len((project.path / "loads.txt").read_text().split()) == 2
    assert len((project.path / "closed.txt").read_text().split()) == 2
    assert [row["detection"]["call"] for row in project.evidence] == ["cold", None, "cold", "warm"]


SUITES = {
    "after-the-answer": """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_own(case, observe):
            observation = observe()
            while case.case_id == "cat-1":
                pass
            observation.check()
    """,
    "in-a-fixture": """
        import pytest

        @pytest.fixture
        def slow(case):
            while case.case_id == "cat-1":
                pass

        @pytest.mark.cases(kind="watermark")
        def test_own(slow, observe):
            observe().check()
    """,
    "in-the-teardown-of-a-fixture": """
        import pytest

        @pytest.fixture
        def slow(case):
            yield
            while case.case_id == "cat-1":
                pass

        @pytest.mark.cases(kind="watermark")
        def test_own(slow, observe):
            observe().check()
    """,
    "and-then-skips": """
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_own(case, observe):
            observe().check()
            try:
                while case.case_id == "cat-1":
                    pass
            except BaseException:
                pytest.skip("never mind")
    """,
}


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_the_limit_holds_for_the_whole_row(stuck, project, suite):
    assert stuck("fine", "fine", "fine", suite=suite).ret == 1
    assert project.outcomes == {"cat-0": "match", "cat-1": "error", "cat-2": "match"}
    last = [row for row in project.evidence if row["key"]["case_id"] == "cat-1"][-1]
    assert _timed_out(last)
    assert last["key"]["attempt"] == 1
    report = project.document("report.json")["results"]
    assert report["outcomes"]["error"] == 1


def test_other_fixtures_are_torn_down_after_an_interrupted_one(stuck, project):
    suite = """
        import pytest

        @pytest.fixture(scope="module")
        def outer():
            yield
            open("outer.txt", "w").close()

        @pytest.fixture
        def kept():
            yield
            open("kept.txt", "w").close()

        @pytest.fixture
        def slow(outer, kept):
            yield
            while True:
                pass

        @pytest.mark.cases(kind="watermark")
        def test_own(slow, observe):
            observe().check()
    """
    assert stuck("fine", suite=suite).ret == 1
    assert (project.path / "kept.txt").exists()
    assert (project.path / "outer.txt").exists()


def test_a_fixture_of_the_module_that_was_interrupted_is_made_anew(stuck, project):
    suite = """
        import pytest

        tries = []

        @pytest.fixture(scope="module")
        def model():
            tries.append(1)
            while len(tries) == 1:
                pass

        @pytest.mark.cases(kind="watermark")
        def test_own(model, observe):
            observe().check()
    """
    assert stuck("fine", "fine", suite=suite).ret == 1
    assert project.outcomes == {"cat-0": "error", "cat-1": "match"}


def test_other_tests_have_no_limit(stuck, project):
    project.pytester.makepyfile(
        test_ordinary=f"""
        import time

        def test_long():
            time.sleep(1.5 * {LIMIT})
        """
    )
    project.case("cat-0", adapter="stuck")
    project.write()
    result = project.run("cases.jsonl", "test_ordinary.py", f"--bench-row-timeout={LIMIT}")
    result.assert_outcomes(passed=2)


def test_a_wave_has_the_limit_of_all_its_rows(stuck, project):
    assert stuck("slow", "slow", "slow", "slow", adapter="waves").ret == 0  # together longer than the limit of one
    assert (project.path / "waves.txt").read_text().splitlines() == ["slow slow slow slow"]


@pytest.mark.parametrize("culprit", [0, 2])
def test_the_rows_of_a_wave_that_hangs_are_asked_one_by_one(stuck, project, culprit):
    ways = ["fine"] * 5
    ways[culprit] = "spin"
    assert stuck(*ways, adapter="waves").ret == 1
    wrong = f"cat-{culprit}"
    assert project.outcomes == {f"cat-{number}": "error" if number == culprit else "match" for number in range(5)}
    assert _timed_out(next(row for row in project.evidence if row["key"]["case_id"] == wrong))
    waves = (project.path / "waves.txt").read_text().splitlines()
    assert waves == [" ".join(ways[:4]), *ways]


@pytest.mark.parametrize("way", ["native-with-gil", "native-without-gil"])
def test_stuck_native_code_ends_its_worker_and_the_run_goes_on(stuck, project, way):
    assert stuck("fine", way, "fine", "fine", workers=2).ret == 1
    assert project.outcomes == {"cat-0": "match", "cat-1": "error", "cat-2": "match", "cat-3": "match"}
    row = next(row for row in project.evidence if row["key"]["case_id"] == "cat-1")
    assert _timed_out(row, LIMIT_IN_NEW_PROCESSES)
    assert row["network"] == {"mode": "loopback"}
    assert len(project.evidence) == 4  # it hangs again, so it is not tried again


def test_python_code_is_interrupted_in_workers(stuck, project):
    assert stuck("fine", "spin", "except-everything", "fine", workers=2).ret == 1
    assert project.outcomes == {"cat-0": "match", "cat-1": "error", "cat-2": "error", "cat-3": "match"}
    assert sum(_timed_out(row, LIMIT_IN_NEW_PROCESSES) for row in project.evidence) == 2


@pytest.mark.parametrize("way", ["native-with-gil", "native-without-gil"])
def test_stuck_native_code_ends_a_lone_process_and_the_evidence_stays(stuck, project, way):
    result = stuck("fine", way, "fine", subprocess=True)
    assert result.ret == 1
    result.stderr.fnmatch_lines(["Timeout (*)!", "*in lock_twice*"])
    assert project.outcomes == {"cat-0": "match"}


def test_each_try_has_the_whole_limit(stuck, project):
    pytest.importorskip("pytest_rerunfailures")
    suite = """
        import time
        import pytest

        tries = []

        @pytest.mark.flaky(reruns=3)
        @pytest.mark.cases(kind="watermark")
        def test_own(observe):
            observe()
            tries.append(1)
            time.sleep(0.2)
            assert len(tries) == 4
    """
    assert stuck("fine", suite=suite).ret == 0
    assert [row["outcome"] for row in project.evidence] == ["match"] * 4


def test_another_plugin_that_times_tests_is_served(stuck, project):
    pytest.importorskip("pytest_timeout")
    project.pytester.makeini("[pytest]\ntimeout = 0.2\ntimeout_method = signal\n")
    assert stuck("fine", "spin", "fine").ret == 1
    first, interrupted, last = project.evidence
    assert (first["outcome"], last["outcome"]) == ("match", "match")
    assert (interrupted["outcome"], interrupted["error"]["type"]) == ("error", "Failed")
    assert "Timeout" in interrupted["error"]["message"]
