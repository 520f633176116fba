"""What a run was asked to do: the options, their ini twins, and one frozen record of both."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from pytest_benchbench.adapters.pool import AdapterChoice

DEFAULT_MAX_PIXELS = 200_000_000

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
    _add(group, parser, "adapter", "[ALIAS=]NAME[:key=value,...] options for an adapter (repeatable)", many=True)
    _add(group, parser, "select", "run only rows whose field has this value, e.g. state=marked (repeatable)", many=True)
    group.addoption(
        "--bench-run-dir",
        metavar="DIR",
        help="where evidence and report go; must not exist (default: .benchbench/runs/<UTC time>-<id>)",
    )
    _add(
        group,
        parser,
        "verify",
        "preflight: hash every file before any detector runs; lazy: at each row (default: preflight)",
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
        run_dir: Where the run directory goes, or ``None`` for a new one below the project.
        verify: When files are hashed.
        artifact_roots: Directories outside the manifest's in which artifacts may lie.
        expectations: The list of known wrong answers.
        require_available: Whether an unavailable adapter fails its rows.
        max_pixels: Largest image that is decoded.
        gate: Policy name or path; ``None`` for no gate.
        gate_directory: What a relative path of a policy starts from.
        measured_as_xfail: Whether a row without an expectation is shown as xfailed.
        invocation_dir: Where the command was given.
        root_dir: The project.
    """

    manifests: tuple[str, ...]
    ini_manifests: tuple[Path, ...]
    adapters: tuple[AdapterChoice, ...]
    select: tuple[tuple[str, str], ...]
    run_dir: Path | None
    verify: Literal["preflight", "lazy"]
    artifact_roots: tuple[Path, ...]
    expectations: Path | None
    require_available: bool
    max_pixels: int
    gate: str | None
    gate_directory: Path
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
        gate = config.getoption("bench_gate")
        gate_directory = here if gate else beside_ini
        gate = gate or config.getini("bench_gate") or "off"
        run_dir = config.getoption("bench_run_dir")
        require = config.getoption("bench_require_available")
        return cls(
            manifests=tuple(config.getoption("manifest")),
            ini_manifests=tuple(config.getini("bench_manifest")),
            adapters=choices,
            select=tuple(_condition(text) for text in many("select")),
            run_dir=here / run_dir if run_dir else None,
            verify=verify,  # type: ignore[arg-type]  # checked above
            artifact_roots=() if artifact_root is None else (artifact_root,),
            expectations=path("expectations"),
            require_available=config.getini("bench_require_available") if require is None else require,
            max_pixels=_pixels(one("max_pixels", str(DEFAULT_MAX_PIXELS))),
            gate=None if gate == "off" else gate,
            gate_directory=gate_directory,
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


def _pixels(text: str | None) -> int:
    try:
        pixels = int(text or "")
    except ValueError:
        pixels = 0
    if pixels < 1:
        raise pytest.UsageError(f"--bench-max-pixels={text}: expected a positive whole number")
    return pixels
