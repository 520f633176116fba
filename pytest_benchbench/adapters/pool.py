"""Instances of adapters: one warm instance of each in a process, and fresh ones on request."""

from __future__ import annotations

import hashlib
import inspect
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, AdapterUnavailable, AnswersWithdrawn
from pytest_benchbench.adapters.option_faults import option_fault
from pytest_benchbench.adapters.registry import ADAPTER_NAME, AdapterRegistry
from pytest_benchbench.adapters.secrets import NO_SECRETS, Secrets, secret_options

MAX_DESCRIPTION_BYTES = 64 * 1024
"""Of what an adapter says of itself, as JSON."""


class AdapterOptionError(Exception):
    """An option given to an adapter is malformed, unknown or of the wrong type."""


class AdapterLoadError(Exception):
    """``load`` or ``describe`` of an adapter failed by a fault of its own; remembered, so that no row tries again.

    Args:
        cause_type: Name of the class of the adapter's own exception.
        message: Its message.
    """

    def __init__(self, cause_type: str, message: str) -> None:
        super().__init__(f"{cause_type}: {message}")
        self.cause_type = cause_type
        self.message = message


@dataclass(frozen=True, slots=True)
class AdapterChoice:
    """``[ALIAS=]NAME[:key=value,...]`` as given on the command line.

    Attributes:
        alias: What the run calls it; the name itself unless said otherwise.
        name: The registered name.
        values: The options, as text.
    """

    alias: str
    name: str
    values: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, *, option: str = "--bench-adapter") -> AdapterChoice:
        """Read the text of one ``--bench-adapter``.

        Args:
            text: What was given.
            option: By which option, for messages.

        Raises:
            AdapterOptionError: It has another shape.
        """
        head, colon, tail = text.partition(":")
        alias, equals, name = head.rpartition("=")
        if not name or (equals and not alias) or (colon and not tail):
            raise AdapterOptionError(f"{option}={head}{colon}: expected [ALIAS=]NAME[:key=value,...]")
        if equals and not ADAPTER_NAME.fullmatch(alias):  # it is part of node ids
            raise AdapterOptionError(f"{option}={head}: an alias has letters, digits, '.', '_' and '-' only")
        values: dict[str, str] = {}
        for pair in tail.split(",") if tail else ():
            key, equals, value = pair.partition("=")
            if not key or not equals:
                # values are not repeated: they may be secret
                raise AdapterOptionError(f"{option}={head}: expected key=value in each part behind the ':', without commas")
            if key in values:
                raise AdapterOptionError(f"{option}={head}: {key} is given twice")
            values[key] = value
        return cls(alias or name, name, values)

    def options_for(self, adapter: type[Adapter], *, directory: Path) -> msgspec.Struct:
        """Turn the text into the adapter's ``Options``.

        Args:
            adapter: The class behind ``name``.
            directory: What relative paths (fields of type ``Path``) are relative to.

        Raises:
            AdapterOptionError: An unknown key, a missing one, or a value of another type.
        """
        known = [f.encode_name for f in msgspec.structs.fields(adapter.Options)]
        for key in self.values:
            if key not in known:
                listed = ", ".join(known) or "none"
                raise AdapterOptionError(f"--bench-adapter={self.name}: unknown option {key!r}; it has: {listed}")

        def path(kind: type, value: Any) -> Any:
            if kind is Path and isinstance(value, str):
                return directory / value
            raise msgspec.ValidationError(f"an option of type {kind.__name__} cannot be given as text")

        try:
            return msgspec.convert(dict(self.values), adapter.Options, strict=False, dec_hook=path)
        except ValueError as error:
            fault = option_fault(adapter.Options, self.values, error)
            secret = secret_options(adapter.Options)
            secrets = Secrets({self.alias: {name: value for name, value in self.values.items() if name in secret}})
            raise AdapterOptionError(f"--bench-adapter={self.name}: {secrets.mask(fault)}") from None


class PooledAdapter:
    """One instance of an adapter, made and loaded on first use, with what its loading cost.

    Attributes:
        alias: What the run calls it.
        name: The registered name.
        values: The options it was given, as text, without their secrets and without where files lie.
        load_ms: Wall time of ``load`` once it has happened.
        calls: How many times it has been asked.
        refused_loading: Network connections that were refused while it was loaded; counted by who guards the network.
    """

    def __init__(self, choice: AdapterChoice, make: Callable[[], Adapter], secrets: Secrets = NO_SECRETS) -> None:
        self.alias = choice.alias
        self.name = choice.name
        self.values = secrets.recorded(choice)
        self._secrets = secrets
        self.load_ms: float | None = None
        self.calls = 0
        self.refused_loading = 0
        self._make = make
        self._adapter: Adapter | None = None
        self._description: AdapterDescription | None = None
        self._failure: AdapterUnavailable | AdapterLoadError | None = None

    def load(self) -> AdapterDescription:
        """Make and load it if that has not happened, and say what stands behind it.

        Raises:
            AdapterUnavailable: Something is missing on this machine; found out once.
            AdapterLoadError: Loading failed; found out once.
        """
        if self._failure is not None:
            raise self._failure.with_traceback(None)  # a remembered exception would grow by a frame at each row
        if self._description is None:
            try:
                self._adapter = self._make()
                begin = time.perf_counter()
                self._adapter.load()
                self.load_ms = (time.perf_counter() - begin) * 1e3
                self._description = _checked(self._adapter.describe(), self._secrets)
            except AdapterUnavailable as error:
                self._failure = self._without_secrets(error)
                raise self._failure from error.__cause__
            except Exception as error:
                self._failure = AdapterLoadError(type(error).__name__, self._secrets.mask(_said(error)))
                raise self._failure from error
        return self._description

    def _without_secrets(self, error: AdapterUnavailable) -> AdapterUnavailable:
        masked = self._secrets.mask(said := _said(error))
        return error if masked == said else AdapterUnavailable(masked)

    @property
    def adapter(self) -> Adapter:
        """The loaded instance.

        Raises:
            RuntimeError: It is not loaded.
        """
        if self._adapter is None or self._description is None:
            raise RuntimeError(f"adapter {self.alias} is not loaded")
        return self._adapter

    @property
    def source_sha256(self) -> str | None:
        """Digest of the file that defines the adapter's class; ``None`` where there is none or no instance."""
        return None if self._adapter is None else _source_sha256(type(self._adapter))

    def close(self) -> None:
        """Close the instance if it was loaded."""
        if self._adapter is not None and self._description is not None:
            self._adapter.close()


class AdapterPool:
    """Makes instances, keeps one warm for each alias, closes them at the end.

    Args:
        registry: Where the classes are.
        choices: Options by alias.
        directory: What relative paths in options are relative to.
        network_allowed: Whether adapters may leave the machine; without, those that declare to are unavailable.
        loopback_allowed: Whether those may be asked nevertheless whose options keep them on the machine.

    Attributes:
        secrets: What must not be shown of the options and of the environment.
        equip: Is called with the alias and each instance as soon as it is made, before it is loaded.
        withdrawn: Why answers do not count, by the alias of an instance that took them back when it was closed.
    """

    def __init__(
        self,
        registry: AdapterRegistry,
        choices: Mapping[str, AdapterChoice],
        directory: Path,
        *,
        network_allowed: bool = True,
        loopback_allowed: bool = False,
    ) -> None:
        self.secrets = Secrets.of(choices.values(), registry, os.environ)
        self._registry = registry
        self._choices = choices
        self._directory = directory
        self._network_allowed = network_allowed
        self._loopback_allowed = loopback_allowed
        self.equip: Callable[[str, Adapter], None] | None = None
        self._warm: dict[str, PooledAdapter] = {}
        self.withdrawn: dict[str, str] = {}

    def warm(self, alias: str) -> PooledAdapter:
        """Give the instance that this process keeps."""
        if alias not in self._warm:
            self._warm[alias] = self.fresh(alias)
        return self._warm[alias]

    def fresh(self, alias: str) -> PooledAdapter:
        """Give an instance of its own, not made yet; the caller closes it."""
        choice = self._choice(alias)

        def make() -> Adapter:
            adapter = self._registry.resolve(choice.name)
            made = self.unloaded(alias)
            if adapter.network and not self._network_allowed:
                if made.leaves_machine:
                    raise AdapterUnavailable("asking it leaves this machine; to let it, give --bench-network=allow")
                if not self._loopback_allowed:
                    raise AdapterUnavailable("asking it reaches this machine; to let it, give --bench-network=loopback")
            if self.equip is not None:
                self.equip(alias, made)
            return made

        return PooledAdapter(choice, make, self.secrets)

    def unloaded(self, alias: str) -> Adapter:
        """Make an instance with the alias's options that is neither loaded nor kept.

        Raises:
            UnknownAdapterError, AdapterUnavailable, AdapterRegistrationError: As ``AdapterRegistry.resolve``.
            AdapterOptionError: The options do not fit.
        """
        choice = self._choice(alias)
        adapter = self._registry.resolve(choice.name)
        return adapter(choice.options_for(adapter, directory=self._directory))

    def _choice(self, alias: str) -> AdapterChoice:
        return self._choices.get(alias, AdapterChoice(alias, alias))

    def drop(self, alias: str) -> None:
        """Let go of a warm instance whose state nobody knows, such as one that was interrupted; the next use makes another.

        It is closed if it lets itself be closed.
        """
        pooled = self._warm.pop(alias, None)
        if pooled is not None:
            with suppress(Exception):
                self.release(alias, pooled)

    def release(self, alias: str, pooled: PooledAdapter) -> None:
        """Close an instance; if it takes its answers back, that is known from here on.

        Raises:
            Exception: What else closing may raise.
        """
        try:
            pooled.close()
        except AnswersWithdrawn as error:
            self.withdrawn[alias] = self.secrets.mask(_said(error))

    def close(self) -> list[str]:
        """Close every warm instance and say, one line each, which could not be closed; see ``withdrawn`` too."""
        faults = []
        for alias, pooled in sorted(self._warm.items()):
            try:
                self.release(alias, pooled)
            except Exception as error:  # the answers are in: a failing close must not hide them
                faults.append(f"adapter {alias}: close failed: {type(error).__name__}: {self.secrets.mask(_said(error))}")
        self._warm.clear()
        return faults


def _said(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        return "an exception that cannot be shown"


def _checked(description: object, secrets: Secrets) -> AdapterDescription:
    if not isinstance(description, AdapterDescription):
        raise TypeError(f"describe() must return an AdapterDescription, not {type(description).__name__}")
    # back and forth: what evidence cannot carry is a failing load, not a failing run
    encoded = msgspec.json.encode(description)
    if len(encoded) > MAX_DESCRIPTION_BYTES:
        raise ValueError(f"describe() gave {len(encoded)} bytes, more than {MAX_DESCRIPTION_BYTES}: every row repeats them")
    return msgspec.convert(secrets.mask_json(msgspec.json.decode(encoded)), AdapterDescription)


@lru_cache(maxsize=256)
def _source_sha256(adapter: type[Adapter]) -> str | None:
    try:
        path = inspect.getsourcefile(adapter)
    except TypeError:
        return None
    if path is None or not Path(path).is_file():
        return None
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
