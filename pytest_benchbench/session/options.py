"""What a run was asked to do: the options, their ini twins, and one frozen record of both."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest

from pytest_benchbench.artifacts.media import DEFAULT_MAX_PIXELS

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import AdapterChoice
    from pytest_benchbench.manifests.sharding import Shard

DEFAULT_CRASH_RETRIES = 1

MAX_ROW_SECONDS = 1e6
"""Longer than any row; timers of some systems count seconds in 32 bits."""

NetworkMode = Literal["deny", "loopback", "allow"]

_INI_ONLY_MEASURED = "bench_measured"


def add_options(parser: pytest.Parser) -> None:
    """Declare every option of the plugin and its ini twin."""
    group = parser.getgroup("benchbench", "benchmarks of detectors")
    group.addoption(
        "--manifest",
        action="append",
        default=[],
        metavar="PATH",
        help="cases to run (repeatable, one word: --manifest=PATH); replaces the manifests of the configuration",
    )
    parser.addini("bench_manifest", "manifests to run when --manifest is not given", type="paths", default=[])
    group.addoption(
        "--bench-manifest-root",
        metavar="DIR",
        help="name manifests below this directory in node ids as if it were the rootdir",
    )
    _add(
        group,
        parser,
        "adapter",
        "[ALIAS=]NAME[:key=value,...] an adapter with its options; rows that name no adapter are asked of each (repeatable)",
        many=True,
    )
    _add(group, parser, "select", "run only rows whose field has this value, e.g. state=marked (repeatable)", many=True)
    _add(group, parser, "split", "NAME of the split that is run; needed where rows have splits, such as test")
    _add(group, parser, "ledger", "FILE that openings of a test split are written into (default: benchbench-ledger.jsonl)")
    group.addoption(
        "--bench-run-dir",
        metavar="DIR",
        help="where evidence and report go; must not exist (default: .benchbench/runs/<UTC time>-<id>)",
    )
    group.addoption("--bench-resume", metavar="DIR", help="go on with the run in this directory: run what is missing")
    group.addoption(
        "--bench-retry",
        metavar="OUTCOMES",
        help="with --bench-resume: ask again about rows that are error, unavailable or both (error,unavailable)",
    )
    group.addoption(
        "--bench-shard", metavar="I/N", help="run the I-th of N parts of the rows, told by their ids (1/N to N/N)"
    )
    _add(
        group,
        parser,
        "verify",
        "preflight: hash every file before any detector runs; lazy: at each row (default: preflight)",
    )
    _add(
        group,
        parser,
        "crash-retries",
        f"how often a row is tried again whose worker died (default: {DEFAULT_CRASH_RETRIES})",
    )
    _add(group, parser, "row-timeout", "SECONDS after which a row is an error (default: none)")
    _add(
        group,
        parser,
        "network",
        "deny, loopback or allow: what Python code of detectors may connect to (default: loopback)",
    )
    _add(group, parser, "artifact-root", "a directory outside the manifest's in which artifacts may lie")
    _add(group, parser, "expectations", "YAML list of rows whose wrong answers are known")
    group.addoption(
        "--bench-require-available",
        action="store_true",
        default=None,
        help="fail rows whose adapter is unavailable instead of skipping them",
    )
    parser.addini("bench_require_available", "fail rows whose adapter is unavailable", type="bool", default=False)
    _add(group, parser, "max-pixels", f"largest image that is decoded, in pixels (default: {DEFAULT_MAX_PIXELS})")
    _add(group, parser, "gate", "POLICY (a built-in name or a YAML file) that decides about the run, or off (default: off)")
    group.addoption(
        "--bench-evidence",
        metavar="DIR_OR_FILE",
        help="run no case: --bench-gate decides on this recorded evidence, and each rule of the policy is a test",
    )
    group.addoption(
        "--bench-held-out-unverified",
        action="store_true",
        help="with --bench-evidence: take it on trust that no source and no generator family is in another split; recorded",
    )
    _add(group, parser, "prices", "FILE (YAML) that says what calls of paid detectors cost")
    _add(group, parser, "budget", "AMOUNT, in the currency of --bench-prices: no call is made that would pass it")
    group.addoption(
        "--bench-dry-run",
        action="store_true",
        help="plan and check everything, show how many rows each suite would ask of each adapter, and run nothing",
    )
    _add(
        group,
        parser,
        "progress",
        "auto, off or SECONDS: on a terminal a line about rows that take long; elsewhere nothing, or a line every so many "
        "seconds (default: auto)",
    )
    _add(
        group,
        parser,
        "html",
        "auto or off: whether report.html is written where the extra html is installed (default: auto)",
    )
    parser.addini(_INI_ONLY_MEASURED, "how rows without an expectation are shown: measured or xfail", default="measured")


def _add(group: Any, parser: pytest.Parser, name: str, text: str, *, many: bool = False) -> None:
    """Declare ``--bench-NAME`` and ``bench_NAME``."""
    metavar = name.rpartition("-")[2].upper()
    ini = f"bench_{name.replace('-', '_')}"
    if many:
        group.addoption(f"--bench-{name}", action="append", default=[], metavar=metavar, help=text)
        parser.addini(ini, text, type="linelist", default=[])
    else:
        group.addoption(f"--bench-{name}", metavar=metavar, help=text)
        parser.addini(ini, text, default="")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run, checked.

    Attributes:
        manifests: Paths given by ``--manifest``, as given.
        ini_manifests: Paths of ``bench_manifest``.
        adapters: Options for adapters.
        select: ``field=value`` conditions.
        split: The split that is run of manifests whose rows have splits.
        split_is_given: Whether the command line says so, not only the configuration.
        ledger: Where openings of a test split are written down.
        run_dir: Where the run directory goes, or ``None`` for a new one below the project.
        resume: The directory of a run to go on with.
        retry: Outcomes of a resumed run's rows that are asked again.
        shard: The part of the rows that is run; ``None`` for all.
        crash_retries: How often a row is tried again whose worker died.
        row_timeout: Seconds after which a row is an error; ``None`` for no limit.
        network: What Python code may connect to.
        verify: When files are hashed.
        artifact_roots: Directories outside the manifest's in which artifacts may lie.
        expectations: The list of known wrong answers.
        require_available: Whether an unavailable adapter fails its rows.
        max_pixels: Largest image that is decoded.
        gate: Policy name or path; ``None`` for no gate.
        gate_directory: What a relative path of a policy starts from.
        prices: What calls of paid detectors cost; ``None`` where that is not said.
        budget: The most that may be spent on them; ``None`` for no limit.
        progress: What is told while rows are run: ``auto``, ``off``, or seconds between lines where there is no terminal.
        page: Whether ``report.html`` is written, if it can be.
        measured_as_xfail: Whether a row without an expectation is shown as xfailed.
        invocation_dir: Where the command was given.
        root_dir: The project.
    """

    manifests: tuple[str, ...]
    ini_manifests: tuple[Path, ...]
    adapters: tuple[AdapterChoice, ...]
    select: tuple[tuple[str, str], ...]
    split: str | None
    split_is_given: bool
    ledger: Path
    run_dir: Path | None
    resume: Path | None
    retry: frozenset[Literal["error", "unavailable"]]
    shard: Shard | None
    crash_retries: int
    row_timeout: float | None
    network: NetworkMode
    verify: Literal["preflight", "lazy"]
    artifact_roots: tuple[Path, ...]
    expectations: Path | None
    require_available: bool
    max_pixels: int
    gate: str | None
    gate_directory: Path
    prices: Path | None
    budget: Decimal | None
    progress: Literal["auto", "off"] | float
    page: bool
    measured_as_xfail: bool
    invocation_dir: Path
    root_dir: Path

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """Read the options once.

        Raises:
            pytest.UsageError: A value is malformed.
        """
        from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError
        from pytest_benchbench.gates.ledger import LEDGER

        here = config.invocation_params.dir
        beside_ini = config.inipath.parent if config.inipath is not None else config.rootpath

        def one(name: str, default: str | None = None) -> str | None:
            given = config.getoption(f"bench_{name}")
            return given or config.getini(f"bench_{name}") or default

        def path(name: str) -> Path | None:
            given: str | None = config.getoption(f"bench_{name}")
            if given:
                return here / given
            ini: str = config.getini(f"bench_{name}")
            return beside_ini / ini if ini else None

        def many(name: str) -> list[str]:
            given: list[str] = config.getoption(f"bench_{name}") or config.getini(f"bench_{name}")
            return given

        try:
            choices = tuple(AdapterChoice.parse(text) for text in many("adapter"))
        except AdapterOptionError as error:
            raise pytest.UsageError(str(error)) from None
        _refuse_repeated_aliases(choices)
        verify = one("verify", "preflight")
        if verify not in ("preflight", "lazy"):
            raise pytest.UsageError(f"--bench-verify={verify}: expected preflight or lazy")
        measured = config.getini(_INI_ONLY_MEASURED)
        if measured not in ("measured", "xfail"):
            raise pytest.UsageError(f"bench_measured = {measured}: expected measured or xfail")
        artifact_root = path("artifact_root")
        if artifact_root is not None and not os.path.isdir(artifact_root):  # noqa: PTH112 - Path raises on too long a name
            raise pytest.UsageError(f"--bench-artifact-root={artifact_root}: no such directory")
        network = one("network", "loopback")
        if network not in get_args(NetworkMode):
            raise pytest.UsageError(f"--bench-network={network}: expected deny, loopback or allow")
        page = one("html", "auto")
        if page not in ("auto", "off"):
            raise pytest.UsageError(f"--bench-html={page}: expected auto or off")
        resume = config.getoption("bench_resume")
        gate = config.getoption("bench_gate")
        gate_directory = here if gate else beside_ini
        gate = gate or config.getini("bench_gate") or "off"
        run_dir = config.getoption("bench_run_dir")
        if run_dir and resume:
            raise pytest.UsageError("--bench-resume goes on in the run's own directory: leave out --bench-run-dir")
        require = config.getoption("bench_require_available")
        return cls(
            manifests=tuple(config.getoption("manifest")),
            ini_manifests=tuple(config.getini("bench_manifest")),
            adapters=choices,
            select=tuple(_condition(text) for text in many("select")),
            split=one("split"),
            split_is_given=bool(config.getoption("bench_split")),
            ledger=path("ledger") or config.rootpath / LEDGER,
            run_dir=here / run_dir if run_dir else None,
            resume=here / resume if resume else None,
            retry=_outcomes(config.getoption("bench_retry"), resumes=bool(resume)),
            shard=_shard(config.getoption("bench_shard")),
            crash_retries=_count("crash-retries", one("crash_retries", str(DEFAULT_CRASH_RETRIES))),
            row_timeout=_seconds(one("row_timeout")),
            network=network,  # type: ignore[arg-type]  # checked above
            verify=verify,  # type: ignore[arg-type]  # checked above
            artifact_roots=() if artifact_root is None else (artifact_root,),
            expectations=path("expectations"),
            require_available=config.getini("bench_require_available") if require is None else require,
            max_pixels=_count("max-pixels", one("max_pixels", str(DEFAULT_MAX_PIXELS)), least=1),
            gate=None if gate == "off" else gate,
            gate_directory=gate_directory,
            prices=path("prices"),
            budget=_budget(one("budget")),
            progress=_progress(one("progress", "auto")),
            page=page == "auto",
            measured_as_xfail=measured == "xfail",
            invocation_dir=here,
            root_dir=config.rootpath,
        )


def _refuse_repeated_aliases(choices: tuple[AdapterChoice, ...]) -> None:
    seen: set[str] = set()
    for choice in choices:
        if choice.alias in seen:
            raise pytest.UsageError(f"--bench-adapter={choice.alias} is given twice; give one of them an alias: ALIAS=NAME")
        seen.add(choice.alias)


def _condition(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not field or not equals:
        raise pytest.UsageError(f"--bench-select {text}: expected field=value")
    return field, value


def _count(name: str, text: str | None, *, least: int = 0) -> int:
    if not (text or "").isascii() or not (text or "").isdigit() or len(text or "") > 18 or int(text or "") < least:
        expected = "a positive whole number" if least else "a whole number, 0 or more"
        raise pytest.UsageError(f"--bench-{name}={text}: expected {expected}")
    return int(text or "")


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MAX_ROW_SECONDS:
        raise pytest.UsageError(f"--bench-row-timeout={text}: expected seconds, more than 0 and at most {MAX_ROW_SECONDS:g}")
    return seconds


def _budget(text: str | None) -> Decimal | None:
    if text is None:
        return None
    from pytest_benchbench.manifests.price_table import parse_amount

    if (amount := parse_amount(text)) is None:
        raise pytest.UsageError(f"--bench-budget={text}: expected an amount of money such as 12.50")
    return amount


def _progress(text: str | None) -> Literal["auto", "off"] | float:
    if text in ("auto", "off"):
        return text  # type: ignore[return-value]  # one of the two
    try:
        seconds = float(text or "")
    except ValueError:
        seconds = math.nan
    if not 1 <= seconds <= MAX_ROW_SECONDS:
        raise pytest.UsageError(f"--bench-progress={text}: expected auto, off, or seconds between 1 and {MAX_ROW_SECONDS:g}")
    return seconds


def _shard(text: str | None) -> Shard | None:
    if text is None:
        return None
    from pytest_benchbench.manifests.sharding import Shard, ShardError

    try:
        return Shard.parse(text)
    except ShardError as error:
        raise pytest.UsageError(f"--bench-shard={text}: {error}") from None


def _outcomes(text: str | None, *, resumes: bool) -> frozenset[Literal["error", "unavailable"]]:
    if text is None:
        return frozenset()
    if not resumes:
        raise pytest.UsageError("--bench-retry is about the rows of an earlier run: give --bench-resume=DIR too")
    outcomes = {part.strip() for part in text.split(",")}
    if not outcomes <= {"error", "unavailable"}:
        raise pytest.UsageError(f"--bench-retry={text}: expected error, unavailable or error,unavailable")
    return frozenset(outcomes)  # type: ignore[arg-type]  # checked above
