"""A secret that a detector is given, or that stands in the environment, is nowhere in what a run writes and prints."""

import json

import pytest

KEY = "sk-live-0123456789abcdef"

CONFTEST = """
    import logging, os, warnings
    import msgspec
    from pytest_benchbench import Adapter, AdapterDescription, AdapterUnavailable, Detection, Secret

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        api_key: str = ""
        login: Secret = ""
        mode: str = ""
        count: int = 0

        def __post_init__(self):
            if self.mode == "refused":
                raise ValueError(f"no such login: {self.login}")

    class Remote(Adapter):
        name = "remote"
        media_types = frozenset({"image"})
        needs = "bytes"
        Options = Options

        def say(self):
            return f"GET https://x.y/?key={self.options.api_key or self.options.login or os.environ.get('SERVICE_TOKEN')}"

        def load(self):
            if self.options.mode == "load":
                raise ValueError(self.say())
            if self.options.mode == "mute":
                raise type("Mute", (Exception,), {"__str__": lambda error: 1 / 0})
            if self.options.mode == "absent":
                raise AdapterUnavailable(self.say(), install=self.say())

        def detect(self, sample):
            mode = self.options.mode
            if mode == "raise":
                raise RuntimeError(self.say())
            if mode == "long":
                raise RuntimeError("x" * 480 + self.say())
            if mode == "print":
                print(self.say())
                logging.getLogger("remote").warning(self.say())
                raise RuntimeError("no")
            if mode == "warn":
                warnings.warn(self.say())
            said = {self.say(): [self.say()]}
            if mode == "reason":
                return Detection("not_detected", reason=self.say(), label=self.say(), scorer=said, temporal=said)
            return Detection("detected", reason=self.say())

        def close(self):
            if self.options.mode == "close":
                raise OSError(self.say())

        def describe(self):
            return AdapterDescription("1", self.say())

    def pytest_benchbench_adapters(registry):
        registry.register(Remote)
"""

MODES = ("raise", "long", "load", "absent", "print", "warn", "reason", "close", "right")


@pytest.fixture
def remote(project):
    project.pytester.makeconftest(CONFTEST)
    project.case("cat-01", adapter="remote")
    project.write()
    return project


def assert_secret_is_nowhere(project, result, secret=KEY):
    for text in (result.stdout.str(), result.stderr.str(), *_written(project)):
        assert secret[:10] not in text


def _written(project):
    for path in project.path.rglob("*"):
        if path.is_file() and path.suffix in {".json", ".jsonl", ".md", ".xml", ".txt"}:
            yield path.read_text()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("option", ["api_key", "login"])
def test_an_option_is_hidden(remote, mode, option):
    arguments = ("-vv", "-rA", "--showlocals", "--junitxml=junit.xml", "-W", "default")
    result = remote.run("cases.jsonl", *arguments, f"--bench-adapter=remote:{option}={KEY},mode={mode}")
    assert_secret_is_nowhere(remote, result)
    run = remote.document("run.json")
    assert run["options"]["adapters"] == {"remote": {option: "***", "mode": mode}}
    assert f"--bench-adapter=remote:{option}=***,mode={mode}" in run["options"]["arguments"]
    assert remote.evidence[0]["adapter"]["options"] == {option: "***", "mode": mode}
    if mode == "reason":
        assert remote.evidence[0]["detection"]["scorer"] == {"GET https://x.y/?key=***": ["GET https://x.y/?key=***"]}


@pytest.mark.parametrize("mode", MODES)
def test_a_variable_of_the_environment_is_hidden(remote, monkeypatch, mode):
    monkeypatch.setenv("SERVICE_TOKEN", KEY)
    arguments = ("-vv", "-rA", "--showlocals", "--junitxml=junit.xml", "-W", "default")
    assert_secret_is_nowhere(remote, remote.run("cases.jsonl", *arguments, f"--bench-adapter=remote:mode={mode}"))
    assert mode in ("load", "absent") or remote.evidence[0]["adapter"]["rule"] == "GET https://x.y/?key=***"


@pytest.mark.parametrize("mode", ["reason", "print", "warn"])
def test_workers_hide_it_too(remote, monkeypatch, mode):
    monkeypatch.setenv("SERVICE_TOKEN", KEY)
    result = remote.run("cases.jsonl", "-rA", "--bench-adapter", f"remote:mode={mode}", workers=1)
    assert result.ret == (0 if mode == "warn" else 1)
    assert_secret_is_nowhere(remote, result)


SUITE = """
    import pytest

    @pytest.mark.cases(kind="watermark")
    def test_mine(adapter, observe):
        options = adapter.options
        {body}
"""


@pytest.mark.parametrize("body", ["observe(); assert options.api_key == 'x'", "raise ValueError(options)"])
def test_what_a_suite_shows_of_it_is_hidden(remote, body):
    remote.pytester.makepyfile(SUITE.format(body=body))
    result = remote.run("--manifest=cases.jsonl", "--showlocals", f"--bench-adapter=remote:api_key={KEY}")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*[*][*][*]*"])
    assert_secret_is_nowhere(remote, result)


@pytest.mark.parametrize(
    "options",
    [f"{KEY}", f"api_key={KEY},{KEY}", f"api_key={KEY},api_key={KEY}", f"login={KEY},mode=refused", f"login={KEY},count=x"],
)
def test_a_malformed_option_is_not_repeated(remote, options):
    result = remote.run("cases.jsonl", f"--bench-adapter=remote:{options}")
    assert result.ret == 4
    assert_secret_is_nowhere(remote, result)


def test_a_run_is_gone_on_with_under_another_secret_and_not_without_one(remote):
    remote.case("cat-02", adapter="remote")
    remote.write()
    assert remote.run("cases.jsonl", f"--bench-adapter=remote:api_key={KEY}", "-k", "cat-01").ret == 0
    again = remote.pytester.runpytest_inprocess
    refused = again("-p", "no:randomly", "-p", "no:xdist", "cases.jsonl", "--bench-resume=run")
    assert refused.ret == 4
    other = KEY[::-1]
    result = again(
        "-p", "no:randomly", "-p", "no:xdist", "cases.jsonl", "--bench-resume=run", f"--bench-adapter=remote:api_key={other}"
    )
    assert result.ret == 0
    assert sorted(remote.outcomes) == ["cat-01", "cat-02"]
    assert_secret_is_nowhere(remote, result)
    assert_secret_is_nowhere(remote, result, other)


def test_an_exception_that_cannot_be_shown_while_loading_is_an_error(remote):
    assert remote.run("cases.jsonl", "--bench-adapter=remote:mode=mute").ret == 1
    assert remote.evidence[0]["error"] == {"type": "Mute", "message": "an exception that cannot be shown"}


def test_nothing_but_what_detectors_say_is_masked(remote, monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", "detected")
    monkeypatch.setenv("OTHER_KEY", remote.rows[0]["sha256"])
    assert remote.run("cases.jsonl").ret == 0
    (row,) = remote.evidence
    assert row["detection"]["status"] == "detected"
    assert row["case"] == json.loads((remote.path / "cases.jsonl").read_text())
    assert row["detection"]["reason"] == "GET https://x.y/?key=***"
