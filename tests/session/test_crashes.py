"""Workers that die, in every way and at every time: each row has an outcome, none counts as not detected."""

import pytest

DYING = """
    import ctypes, os, signal, time
    from pytest_benchbench import Adapter, AdapterDescription, BatchAdapter, Detection

    WAYS = {
        "exit": lambda: os._exit(3),
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "segfault": lambda: ctypes.string_at(0),
    }

    def answer(sample):
        '''Die at the first tries that the file tells of, then answer.'''
        word, *rest = sample.data.decode().split()
        if word not in WAYS:
            return Detection(word)
        tries = int(rest[0]) if rest and rest[0].isdigit() else 1000
        counter = "tries-" + sample.sha256[:16]
        with open(counter, "a") as file:
            file.write("x")
        if os.path.getsize(counter) <= tries:
            WAYS[word]()
        return Detection("detected")

    class Dying(Adapter):
        name = "dying"
        media_types = frozenset({"image"})
        needs = "bytes"

        def load(self):
            with open("loads.txt", "a") as file:
                print(os.getpid(), file=file)

        def detect(self, sample):
            return answer(sample)

        def describe(self):
            return AdapterDescription("1", "what the file says")

    class Dying2(Dying):
        name = "dying-2"

    class Dying3(Dying):
        name = "dying-3"

    class Waves(BatchAdapter):
        name = "waves"
        media_types = frozenset({"image"})
        needs = "bytes"
        batch_size = 4

        def detect_batch(self, samples):
            with open("waves.txt", "a") as file:
                print(os.environ.get("PYTEST_XDIST_WORKER"), *[s.data.decode().split()[-1] for s in samples], file=file)
            return [answer(sample) for sample in samples]

        def describe(self):
            return AdapterDescription("1", "what the file says")

    def pytest_benchbench_adapters(registry):
        for adapter in (Dying, Dying2, Dying3, Waves):
            registry.register(adapter)
"""


@pytest.fixture
def dying(project):
    """A project whose detector dies where a file says so."""
    project.pytester.makeconftest(DYING)
    for number in range(6):
        project.case(f"good-{number}", adapter="dying")
    return project


def attempts(project, case_id):
    """The attempts at a row: number, outcome, type of error."""
    rows = [row for row in project.evidence if row["key"]["case_id"] == case_id]
    return [(row["key"]["attempt"], row["outcome"], row.get("error", {}).get("type")) for row in rows]


def results(project):
    return project.document("report.json")["results"]["outcomes"]


@pytest.mark.parametrize("way", ["exit", "kill", "segfault"])
def test_a_row_that_kills_its_worker_is_an_error_and_the_others_are_not(dying, way):
    dying.case("bad", way, adapter="dying", expected="not_detected")
    dying.write()
    result = dying.run("cases.jsonl", workers=2)
    assert result.ret == 1
    assert dying.outcomes == {f"good-{number}": "match" for number in range(6)} | {"bad": "error"}
    assert attempts(dying, "bad") == [(1, "error", "WorkerCrash"), (2, "error", "WorkerCrash")]
    result.assert_outcomes(passed=6, failed=1)
    result.stdout.fnmatch_lines(["*1 failed, 6 passed, 1 rerun*"])


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_a_row_is_tried_again_as_often_as_asked(dying, retries):
    dying.case("bad", "exit", adapter="dying")
    dying.write()
    assert dying.run("cases.jsonl", f"--bench-crash-retries={retries}", workers=2).ret == 1
    assert [number for number, *_ in attempts(dying, "bad")] == list(range(1, retries + 2))
    assert results(dying)["error"] == 1


def test_a_row_that_answers_when_it_is_tried_again_counts_by_that_answer(dying):
    dying.case("bad", "exit 1", adapter="dying")
    dying.write()
    result = dying.run("cases.jsonl", workers=2)
    assert result.ret == 0
    assert attempts(dying, "bad") == [(1, "error", "WorkerCrash"), (2, "match", None)]
    assert results(dying) | {"match": 7, "error": 0} == results(dying)
    result.assert_outcomes(passed=7)


def test_a_worker_that_dies_in_teardown_makes_that_attempt_an_error(dying):
    dying.case("bad", "detected", adapter="dying")
    dying.write()
    dying.pytester.makepyfile(
        """
        import os
        import pytest

        @pytest.fixture
        def trap(case):
            yield
            if case.case_id == "bad":
                os._exit(3)

        @pytest.mark.cases(kind="watermark")
        def test_trap(trap, observe):
            observe().check()
        """
    )
    assert dying.run("--manifest=cases.jsonl", workers=2).ret == 1
    assert attempts(dying, "bad") == [
        *[(1, "match", None), (1, "error", "WorkerCrash")],
        *[(2, "match", None), (2, "error", "WorkerCrash")],
    ]
    assert results(dying)["error"] == 1


def test_a_session_without_replacements_ends_incomplete_and_says_so(dying):
    for number in range(60):
        dying.case(f"more-{number}", "exit", adapter="dying")
    dying.write()
    result = dying.run("cases.jsonl", "--max-worker-restart=0", workers=2)
    assert result.ret == 21
    outcomes = dying.outcomes
    assert len(outcomes) == 66
    assert set(outcomes.values()) <= {"match", "error", "not_run"}
    lost = list(outcomes.values()).count("not_run")
    assert dying.document("run.json")["planned"]["lost"] == lost > 0
    result.stdout.fnmatch_lines([f"incomplete: {lost} rows lost"])
    result.assert_outcomes(failed=2, passed=list(outcomes.values()).count("match"))
    assert " rerun " not in result.stdout.lines[-1]


def test_workers_that_all_die_while_collecting_are_incomplete(dying):
    dying.write()
    dying.pytester.makepyfile(
        """
        import os
        if "PYTEST_XDIST_WORKER" in os.environ:
            os._exit(3)
        """
    )
    result = dying.run("test_workers_that_all_die_while_collecting_are_incomplete.py", "cases.jsonl", workers=2)
    assert result.ret == 21
    result.stdout.fnmatch_lines(["incomplete: no worker lived to say which rows there are"])


@pytest.mark.parametrize(("dist", "tries"), [("worksteal", 2), ("loadscope", 4)])
def test_under_another_dist_a_crash_is_an_error_too(dying, dist, tries):
    """``loadscope`` gives such a row out again by itself, until no more workers are replaced."""
    dying.case("bad", "exit", adapter="dying")
    dying.write()
    assert dying.run("cases.jsonl", f"--dist={dist}", "--max-worker-restart=3", workers=2).ret == 1
    assert attempts(dying, "bad") == [(number, "error", "WorkerCrash") for number in range(1, tries + 1)]
    assert len(dying.outcomes) == 7


@pytest.mark.parametrize("reruns", [0, 1])
def test_the_rerun_plugin_decides_if_it_is_asked_to(dying, reruns):
    dying.case("bad", "exit 1", adapter="dying")
    dying.write()
    assert dying.run("cases.jsonl", f"--reruns={reruns}", workers=2).ret == 1 - reruns
    assert attempts(dying, "bad") == [(1, "error", "WorkerCrash"), (2, "match", None)][: reruns + 1]


def test_an_ordinary_test_that_kills_its_worker_stays_a_failure(dying):
    dying.write()
    dying.pytester.makepyfile(test_unit="import os\ndef test_dies(): os._exit(3)\ndef test_lives(): pass")
    result = dying.run("cases.jsonl", "test_unit.py", workers=2)
    assert result.ret == 1
    result.assert_outcomes(passed=7, failed=1)
    assert len(dying.evidence) == 6


def waves(project):
    """The ids that stood in each call of the batch adapter, worker by worker."""
    return [line.split() for line in (project.path / "waves.txt").read_text().splitlines()]


@pytest.fixture
def waving(project):
    """Twelve rows of a batch adapter in two suites' worth of waves, and rows of another."""
    project.pytester.makeconftest(DYING)
    for number in range(12):
        project.case(f"wave-{number:02}", adapter="waves")
        project.case(f"good-{number:02}", adapter="dying")
    return project


def test_a_batch_adapter_is_asked_about_each_row_once_and_in_one_worker(waving):
    waving.write()
    assert waving.run("cases.jsonl", workers=2).ret == 0
    calls = waves(waving)
    assert [len(ids) for _, *ids in calls] == [4, 4, 4]
    assert sorted(case for _, *ids in calls for case in ids) == [f"wave-{number:02}" for number in range(12)]
    assert len({worker for worker, *_ in calls}) == 1


def test_suites_share_the_worker_of_a_batch_adapter(waving):
    waving.write()
    suite = "import pytest\n@pytest.mark.cases(kind='watermark')\ndef test_{0}(observe):\n    observe().check()\n"
    waving.pytester.makepyfile(test_one=suite.format("one"), test_two=suite.format("two"))
    result = waving.run("--manifest=cases.jsonl", "--bench-select=adapter=waves", workers=2)
    assert result.ret == 0
    assert [len(ids) for _, *ids in waves(waving)] == [4] * 6
    assert len({worker for worker, *_ in waves(waving)}) == 1


def test_one_row_that_kills_its_wave_costs_no_other_row_its_answer(waving):
    index = next(number for number, row in enumerate(waving.rows) if row["case_id"] == "wave-05")
    del waving.rows[index : index + 1]
    bad = waving.case("wave-05", "exit", adapter="waves", expected="not_detected")
    waving.rows.insert(index, waving.rows.pop())
    assert waving.rows[index] == bad
    waving.write()
    assert waving.run("cases.jsonl", workers=2).ret == 1
    outcomes = {row["key"]["case_id"]: [] for row in waving.evidence}
    for row in waving.evidence:
        outcomes[row["key"]["case_id"]].append(row["outcome"])
    assert outcomes.pop("wave-05") == ["error", "error"]
    assert outcomes.pop("wave-04") == ["error", "match"]
    assert set(map(tuple, outcomes.values())) == {("match",)}
    calls = [ids for _, *ids in waves(waving)]
    assert calls[:2] == [[f"wave-{number:02}" for number in range(4)], [f"wave-{number:02}" for number in range(4, 8)]]
    assert all(len(ids) == 1 for ids in calls[2:5])
    assert calls[-1] == ["wave-09", "wave-10", "wave-11"]


@pytest.mark.parametrize("dist", ["worksteal", "loadscope", "loadfile", "loadgroup"])
def test_a_dist_that_may_split_an_exclusive_adapter_is_refused(waving, dist):
    waving.write()
    result = waving.run("cases.jsonl", f"--dist={dist}", workers=2)
    assert result.ret == 4
    assert f"--dist={dist}: adapter waves has to be asked in one worker" in result.stderr.str()
    assert not (waving.path / "run").exists()


@pytest.mark.parametrize("dist", ["worksteal", "loadscope", "loadfile", "loadgroup"])
def test_other_adapters_run_under_any_dist(dying, dist):
    dying.write()
    assert dying.run("cases.jsonl", f"--dist={dist}", workers=2).ret == 0
    assert len(dying.evidence) == 6


def test_three_adapters_on_two_workers_take_at_most_four_loads(dying):
    dying.rows.clear()
    for number in range(60):
        dying.case(f"row-{number:02}", adapter=("dying", "dying-2", "dying-3")[number % 3])
    dying.write()
    assert dying.run("cases.jsonl", workers=2).ret == 0
    assert 3 <= len((dying.path / "loads.txt").read_text().splitlines()) <= 4


def test_workers_that_collect_different_rows_run_none_and_say_so(dying):
    dying.write()
    conftest = dying.path / "conftest.py"
    differing = (
        "\ndef pytest_collection_modifyitems(items):\n"
        "    if os.environ.get('PYTEST_XDIST_WORKER') == 'gw1':\n"
        "        del items[3]\n"
    )
    conftest.write_text(conftest.read_text() + differing)
    result = dying.run("cases.jsonl", workers=2)
    assert result.ret == 21
    result.stdout.fnmatch_lines(["workers collected different tests: *"])
    assert set(dying.outcomes.values()) == {"not_run"}
    assert len(dying.outcomes) >= 5
