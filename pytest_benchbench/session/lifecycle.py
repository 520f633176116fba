"""What the hooks of the plugin do at each stage of a session. Imports the rest of the package only when there is work."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchbench.session import collection, completing, fixtures, hookspecs
from pytest_benchbench.session.registrations import REGISTRATIONS, AdapterRegistrations

if TYPE_CHECKING:
    from pytest_benchbench.session.planning import Plan
    from pytest_benchbench.session.recorder import Recorder

_PLAN = pytest.StashKey["Plan"]()

_FAULT = pytest.StashKey[str]()
"""Why a worker cannot make the controller's plan again."""

_OPTIONS_THAT_NEED_A_PLAN = (
    *("manifest", "bench_adapter", "bench_select", "bench_split", "bench_run_dir", "bench_gate"),
    *("bench_resume", "bench_retry", "bench_shard", "bench_dry_run"),
)


def declare_hooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hook specifications."""
    pluginmanager.add_hookspecs(hookspecs)


def configure(config: pytest.Config) -> None:
    """Declare marker and fixtures, and let conftests register adapters, now and later."""
    config.addinivalue_line("markers", collection.MARKER)
    config.pluginmanager.register(fixtures, "benchbench-fixtures")
    registrations = config.stash[REGISTRATIONS] = AdapterRegistrations()
    config.hook.pytest_benchbench_adapters.call_historic(kwargs={"registry": registrations})
    if config.getoption("bench_dry_run"):
        from pytest_benchbench.session import dry_run

        dry_run.run_in_this_process(config)


def plan_of(config: pytest.Config) -> Plan | None:
    """Give the session's plan; ``None`` in a session that has no manifest."""
    return config.stash.get(_PLAN, None)


def start(session: pytest.Session) -> None:
    """Make the plan: on the controller by reading everything, in a worker by what the controller hands over.

    Raises:
        pytest.UsageError: Something that was given is at fault.
    """
    config = session.config
    worker_input = getattr(config, "workerinput", None)
    if config.getoption("bench_dry_run"):
        _start_dry_run(session)
    elif config.getoption("bench_evidence"):
        from pytest_benchbench.session import recorded_evidence

        recorded_evidence.decide(session)
    elif config.getoption("bench_held_out_unverified"):
        raise pytest.UsageError("--bench-held-out-unverified is about --bench-evidence, which is not given")
    elif worker_input is None:
        _start_controller(session)
    elif (handover := worker_input.get("benchbench")) is not None:
        from pytest_benchbench.manifests.reading import ManifestChangedError
        from pytest_benchbench.session.crashes import CRASHED
        from pytest_benchbench.session.paid_detectors import PaidDetectors
        from pytest_benchbench.session.planning import remake_plan
        from pytest_benchbench.session.recorded_rows import RECORDED, RecordedRows
        from pytest_benchbench.session.run_directory import RUN_PLACE
        from pytest_benchbench.session.worker import WorkerSide

        try:
            plan = config.stash[_PLAN] = remake_plan(config, config.stash[REGISTRATIONS].registry(), handover)
        except (pytest.UsageError, ManifestChangedError) as error:  # raised here it would be an internal error
            config.stash[_FAULT] = f"on a worker: {error}"
            return
        try:
            PaidDetectors(plan).keep_in(Path(worker_input[RUN_PLACE]))
        except pytest.UsageError as error:
            config.stash[_FAULT] = f"on a worker: {error}"
            return
        plan.crashed = frozenset(worker_input.get(CRASHED, ()))
        if (recorded := worker_input.get(RECORDED)) is not None:
            plan.recorded = RecordedRows.decode(recorded)
        _begin_guarding(config, plan)
        _keep_secrets(config, plan)
        config.pluginmanager.register(WorkerSide(plan), "benchbench-worker")


def _start_dry_run(session: pytest.Session) -> None:
    from pytest_benchbench.session.dry_run import DryRun, refuse_other_work
    from pytest_benchbench.session.paid_detectors import PaidDetectors
    from pytest_benchbench.session.planning import make_plan

    config = session.config
    refuse_other_work(config)
    built = _built_manifests(config)
    plan = make_plan(config, config.stash[REGISTRATIONS].registry(), built=built, distributed=False)
    if not plan.manifests:
        raise pytest.UsageError("--bench-dry-run: there is no manifest to plan")
    config.stash[_PLAN] = plan
    config.pluginmanager.register(DryRun(plan, PaidDetectors(plan)), "benchbench-dry-run")


def _start_controller(session: pytest.Session) -> None:
    config = session.config
    built = _built_manifests(config)
    if not built and not _is_asked_for(config):
        return
    from pytest_benchbench.session.paid_detectors import PaidDetectors
    from pytest_benchbench.session.planning import make_plan
    from pytest_benchbench.session.recorder import Recorder

    distributed = config.pluginmanager.has_plugin("dsession")
    if distributed and config.getoption("dist", "no") == "each":
        raise pytest.UsageError("--dist=each asks about every row in every worker; leave it out")
    plan = make_plan(config, config.stash[REGISTRATIONS].registry(), built=built, distributed=distributed)
    if not plan.manifests:
        if plan.settings.resume is not None:
            raise pytest.UsageError("--bench-resume: there is no manifest; give the command of the run")
        return
    config.stash[_PLAN] = plan
    _keep_secrets(config, plan)
    if not distributed:  # where workers run the rows, this process may need connections to reach them
        _begin_guarding(config, plan)
    recorder = Recorder(plan, config, PaidDetectors(plan), distributed=distributed)
    config.pluginmanager.register(recorder, "benchbench-recorder")
    _begin_telling(config, plan, recorder)
    if distributed:
        from pytest_benchbench.session.distribution import Distribution

        config.pluginmanager.register(Distribution(plan, session, recorder.is_row), "benchbench-distribution")
        if plan.settings.row_timeout is not None:
            from pytest_benchbench.session.timeout_witness import TimeoutWitness

            config.pluginmanager.register(TimeoutWitness(plan.settings.row_timeout, plan), "benchbench-timeouts")


def _begin_telling(config: pytest.Config, plan: Plan, recorder: Recorder) -> None:
    """Tell while rows are run how far they are, where somebody wants to know."""
    from pytest_benchbench.session.live import live_display

    live = live_display(config, plan.settings, is_row=recorder.is_row, remaining=recorder.remaining)
    if live is not None:
        config.pluginmanager.register(live, "benchbench-live")


def _begin_guarding(config: pytest.Config, plan: Plan) -> None:
    """Guard the network and the time of rows in a process that runs them; before what ends a session is registered."""
    from pytest_benchbench.session.network import GUARD, NetworkGuard
    from pytest_benchbench.session.row_timeout import TIMER, RowTimer, own_stderr

    guard = config.stash[GUARD] = NetworkGuard(plan.settings.network)
    config.pluginmanager.register(guard, "benchbench-network")
    config.add_cleanup(guard.end)
    guard.begin()
    if plan.settings.row_timeout is not None:
        timer = config.stash[TIMER] = RowTimer(plan.settings.row_timeout, plan, own_stderr())
        config.pluginmanager.register(timer, "benchbench-row-timeout")


def _keep_secrets(config: pytest.Config, plan: Plan) -> None:
    """Let nothing be reported of what detectors must keep to themselves."""
    if plan.pool.secrets:
        from pytest_benchbench.session.secrecy import SecretKeeper

        config.pluginmanager.register(SecretKeeper(plan.pool.secrets), "benchbench-secrets")


def _built_manifests(config: pytest.Config) -> list[Path]:
    """Ask conftests for manifests, unless the command names its own.

    Raises:
        pytest.UsageError: A conftest answers with something else than a list of paths.
    """
    names_a_manifest = any(_may_be_manifest(argument) for argument in config.args)
    if config.getoption("manifest") or (names_a_manifest and all(_may_be_manifest(argument) for argument in config.args)):
        return []
    built: list[Path] = []
    for paths in config.hook.pytest_benchbench_manifests(config=config):
        if not isinstance(paths, (list, tuple)) or not all(isinstance(path, (str, os.PathLike)) for path in paths):
            raise pytest.UsageError(f"pytest_benchbench_manifests must return a list of paths, not {paths!r}")
        built += [config.rootpath / path for path in paths]
    return built


def _may_be_manifest(argument: str) -> bool:
    return argument.split("::")[0].endswith((".jsonl", ".json"))


def _is_asked_for(config: pytest.Config) -> bool:
    """Whether anything in the command or the configuration needs a plan."""
    if config.getini("bench_manifest") or any(config.getoption(name) for name in _OPTIONS_THAT_NEED_A_PLAN):
        return True
    return any(_may_be_manifest(argument) for argument in config.args)


def stop(config: pytest.Config) -> None:
    """Close what the plan holds open, and let go of what was frozen."""
    if (plan := plan_of(config)) is not None:
        plan.close()
        gc.unfreeze()


def collect_manifest(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a manifest that was named as an argument."""
    plan = plan_of(parent.config)
    if plan is None or not plan.positional or (manifest := plan.positional.get(file_path.resolve())) is None:
        return None
    return collection.ManifestFile.from_parent(parent.session, path=file_path, manifest=manifest)


@contextmanager
def collector_paused(config: pytest.Config) -> Iterator[None]:
    """Pause the cyclic garbage collector while a plan's rows are collected, if it runs.

    The items live as long as the session: frozen, they are not walked again at each collection while the rows run.
    """
    if plan_of(config) is None or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()


def complete_collection(session: pytest.Session, items: list[pytest.Item]) -> list[str]:
    """Add the built-in suites that are needed; give the faults of use."""
    if (fault := session.config.stash.get(_FAULT, None)) is not None:
        return [fault]
    plan = plan_of(session.config)
    return [] if plan is None else completing.complete(session, items, plan)


def made_report(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> pytest.TestReport:
    """Attach a row's evidence; mark a fault of use for the controller."""
    if isinstance(item, collection.CaseItem):
        from pytest_benchbench.session.reporting import report_case
        from pytest_benchbench.session.withholding import withhold

        report_case(item, call, report)
        withhold(item, report)
    elif isinstance(item, collection.UsageFault):
        report.benchbench_usage = True  # type: ignore[attr-defined]  # reports carry any attribute between processes
    return report


def shown_status(report: Any) -> tuple[str, str, Any] | None:
    """Give the category, letter and word of a measurement."""
    status = getattr(report, "benchbench_measured", None)
    if status is None or report.when != "call" or not report.passed:
        return None
    return "measured", "m", ("MEASURED", {"cyan": True})
