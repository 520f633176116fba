"""``--bench-evidence``: a policy decides on evidence that was recorded before, and each of its rules is a test item."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_benchbench.evidence.case_names import node_name
from pytest_benchbench.gates.decision import DecidedRule, Decision, describe_rule, is_incomplete
from pytest_benchbench.gates.policy import LoadedPolicy, PolicyError, load_policy
from pytest_benchbench.gates.recorded import UnreadableEvidenceError, decide_recorded
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.lines import decision_lines
from pytest_benchbench.session.exit_status import FAILED, RunFacts, exit_status
from pytest_benchbench.session.properties import PREFIX, Properties
from pytest_benchbench.session.pytest_internals import forget_interrupt

HANDOVER = "benchbench_decision"
"""Key of a worker's input: the decision as JSON, so that all processes have one and evidence is read once."""

_ABOUT_RUNS = {
    "bench_run_dir": "--bench-run-dir",
    "bench_resume": "--bench-resume",
    "bench_retry": "--bench-retry",
    "bench_shard": "--bench-shard",
    "bench_adapter": "--bench-adapter",
    "bench_select": "--bench-select",
    "bench_split": "--bench-split",
}
"""Options of the command line that say how cases are run."""

_TOLD = ("observed", "required", "bound", "n", "failures", "max_failures", "implied_by", "power", "slice", "reason")


def decide(session: pytest.Session) -> None:
    """Decide on the recorded evidence, before anything is collected; in a worker take over what the controller decided.

    Raises:
        pytest.UsageError: Options do not go together, or the policy cannot be used.
        pytest.exit.Exception: The evidence or a manifest cannot be read; exit code 1.
    """
    config = session.config
    worker_input = getattr(config, "workerinput", None)
    if worker_input is None:
        _refuse_what_runs_cases(config)
        evidence = config.invocation_params.dir / config.getoption("bench_evidence")
        plugin = RecordedEvidence(_decided(config, evidence, _policy(config)), evidence)
    else:
        evidence = Path(config.getoption("bench_evidence"))
        plugin = RecordedEvidence(msgspec.json.decode(worker_input[HANDOVER], type=Decision), evidence)
    config.args = []
    config.pluginmanager.register(plugin, "benchbench-recorded-evidence")


def _refuse_what_runs_cases(config: pytest.Config) -> None:
    for name, option in _ABOUT_RUNS.items():
        if config.getoption(name):
            raise pytest.UsageError(f"--bench-evidence runs no case: leave out {option}")
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        given = " ".join(config.args)
        raise pytest.UsageError(f"--bench-evidence collects the rules of the policy and nothing else: leave out {given}")


def _policy(config: pytest.Config) -> LoadedPolicy:
    given = config.getoption("bench_gate")
    name = given or config.getini("bench_gate") or "off"
    if name == "off":
        raise pytest.UsageError("--bench-evidence needs a policy that decides: give --bench-gate=release, or another one")
    beside_ini = config.inipath.parent if config.inipath is not None else config.rootpath
    try:
        return load_policy(name, directory=config.invocation_params.dir if given else beside_ini)
    except PolicyError as error:
        raise pytest.UsageError(f"--bench-gate: {error}") from None


def _decided(config: pytest.Config, evidence: Path, policy: LoadedPolicy) -> Decision:
    here = config.invocation_params.dir
    manifests = [here / given for given in config.getoption("manifest")]
    for path, option in ((evidence, "--bench-evidence"), *((manifest, "--manifest") for manifest in manifests)):
        if not os.path.exists(path):  # noqa: PTH110 - Path raises on too long a name
            raise pytest.UsageError(f"{option}={path}: no such file or directory")
    trusting = bool(config.getoption("bench_held_out_unverified"))
    try:
        return decide_recorded(evidence, policy, manifests=manifests, held_out_unverified=trusting)
    except UnreadableEvidenceError as error:
        config.pluginmanager.register(_ToldOnce(config), "benchbench-told-once")
        pytest.exit(plain_lines(str(error)), returncode=FAILED)


class _ToldOnce:
    """Registered where a session ends before it begins: pytest writes why at once, and would write it again at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Come after the terminal has taken note of it."""
        forget_interrupt(self._config)


def plain_lines(text: str) -> str:
    """Make the lines of a text harmless for a terminal."""
    return "\n".join(map(plain, text.split("\n")))


class RecordedEvidence:
    """Registered in a session that decides on recorded evidence, in workers too.

    Args:
        decision: What was decided.
        evidence: What it was decided about.
    """

    def __init__(self, decision: Decision, evidence: Path) -> None:
        self._decision = decision
        self._evidence = evidence

    def pytest_report_header(self) -> str:
        """Say what is decided about."""
        named = ", ".join(f"{digest.name} sha256 {digest.sha256}" for digest in self._decision.evidence.digests.evidence)
        return f"benchbench: gate {plain(self._decision.policy.name)} on recorded evidence: {plain(named)}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the decision to a worker."""
        node.workerinput[HANDOVER] = msgspec.json.encode(self._decision).decode()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Make the rules the items of the session, before any is deselected."""
        name = self._decision.policy.name
        gate = DecidedGate.from_parent(session, name=name, decision=self._decision, evidence=self._evidence)
        items[:] = session.genitems(gate)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Set the exit code by the decision: by all rules, whichever of them were left out."""
        config = session.config
        if hasattr(config, "workerinput") or config.option.collectonly:
            return
        facts = RunFacts(lost=int(is_incomplete(self._decision)), gate=self._decision.decision)
        session.exitstatus = exit_status(int(exitstatus), facts)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the decision and every rule that did not pass."""
        terminalreporter.section("benchbench", sep="-")
        if is_incomplete(self._decision):
            terminalreporter.line("incomplete: rows are missing, or nobody knows whether some are")
        for line in decision_lines(self._decision):
            terminalreporter.line(line)


class DecidedGate(pytest.Collector):
    """The rules of a decision."""

    def __init__(self, *, name: str, decision: Decision, evidence: Path, **kw: Any) -> None:
        super().__init__(name, nodeid=name, **kw)
        self.decision = decision
        self.evidence = evidence

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each rule and slice that was decided."""
        for rule in self.decision.rules:
            yield RuleItem.from_parent(self, name=_item_name(rule), rule=rule)


def _item_name(rule: DecidedRule) -> str:
    """Name a rule and its slice so that ``-k``, ``--deselect`` and node ids know it."""
    where = ",".join(f"{name}={node_name(value)}" for name, value in sorted((rule.slice or {}).items()))
    return f"{rule.id}[{where}]" if where else rule.id


class RuleItem(pytest.Item):
    """One decided rule: it passes, or fails with the line that says why."""

    def __init__(self, *, rule: DecidedRule, **kw: Any) -> None:
        super().__init__(**kw)
        self.rule = rule
        self.user_properties.extend(_properties(rule))

    def runtest(self) -> None:
        """Fail where the rule failed, or could not be computed."""
        if self.rule.passed is not True:
            verdict = "refused" if self.rule.passed is False else "inconclusive"
            pytest.fail(f"{verdict}: {plain(describe_rule(self.rule))}", pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Point at the evidence. pytest would show the dots of a name as colons, so the name stands behind another word."""
        assert isinstance(self.parent, DecidedGate)
        return self.parent.evidence, None, f"rule {self.name}"


def _properties(rule: DecidedRule) -> Properties:
    """Name in a JUnit property list what was found; what a rule has no notion of is left out."""
    told: Properties = []
    for name in _TOLD:
        value = getattr(rule, name)
        if isinstance(value, dict):
            value = ",".join(f"{facet}={of}" for facet, of in sorted(value.items()))
        if value is not None and value is not msgspec.UNSET:
            told.append((f"{PREFIX}{name}", plain(value) if isinstance(value, str) else value))
    passed = {True: "yes", False: "no", None: "cannot be computed"}[rule.passed]
    return [(f"{PREFIX}rule", rule.id), (f"{PREFIX}passed", passed), *told]
