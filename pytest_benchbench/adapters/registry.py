"""Which adapters there are: those of installed distributions and those that a conftest registers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import get_args

import msgspec

from pytest_benchbench.adapters.base import Adapter, AdapterUnavailable, BatchAdapter, Needs
from pytest_benchbench.artifacts.media import MEDIA_TYPES
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES

ENTRY_POINT_GROUP = "pytest_benchbench.adapters"

ADAPTER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
"""What an adapter, or an alias of one, may be called."""


class AdapterRegistrationError(Exception):
    """A class cannot be registered: it is no adapter, says too little of itself, or its name is taken."""


class UnknownAdapterError(Exception):
    """Nothing of this name is registered."""


class AdapterRegistry:
    """Adapters by name. An installed adapter's module is imported when a row or an option first names it.

    Args:
        installed: Entry points of the group ``pytest_benchbench.adapters``.
    """

    def __init__(self, installed: Iterable[EntryPoint] = ()) -> None:
        # a distribution that is found in two places gives equal entry points twice
        self._installed: defaultdict[str, dict[str, EntryPoint]] = defaultdict(dict)
        for point in installed:
            self._installed[point.name].setdefault(point.value, point)
        self._classes: dict[str, type[Adapter]] = {}

    def register(self, adapter: type[Adapter]) -> None:
        """Add an adapter class under its own ``name``. Registering the same class again changes nothing.

        Raises:
            AdapterRegistrationError: The class is no complete adapter, or another one has its name.
        """
        _examine(adapter)
        taken = self._classes.get(adapter.name)
        if taken is adapter:
            return
        if taken is not None or adapter.name in self._installed:
            raise AdapterRegistrationError(
                f"adapter {adapter.name!r} is registered already: give {_place(adapter)} another name"
            )
        self._classes[adapter.name] = adapter

    def names(self) -> tuple[str, ...]:
        """Every name that a manifest may use, sorted."""
        return tuple(sorted({*self._installed, *self._classes, *KERNEL_MEDIA_TYPES}))

    def resolve(self, name: str) -> type[Adapter]:
        """Find the class behind a name.

        Raises:
            UnknownAdapterError: No such adapter is registered.
            AdapterUnavailable: It is known, but its module cannot be imported here or this version does not have it.
            AdapterRegistrationError: The entry point leads to something that is no adapter of this name, or two
                distributions provide different adapters of this name.
        """
        if name in self._classes:
            return self._classes[name]
        if name in self._installed:
            self._classes[name] = _load(self._entry_point(name))
            return self._classes[name]
        if name in KERNEL_MEDIA_TYPES:
            raise AdapterUnavailable(f"this version of pytest-benchbench has no {name} adapter")
        raise UnknownAdapterError(f"unknown adapter {name!r}; known: {', '.join(self.names())}")

    def module_of(self, name: str) -> str:
        """Name the module that an adapter is defined in, without importing it.

        Raises:
            UnknownAdapterError: No such adapter is registered.
            AdapterUnavailable: The name is known, but this version does not have it.
            AdapterRegistrationError: Two distributions provide different adapters of this name.
        """
        if name not in self._classes and name in self._installed:
            return self._entry_point(name).module
        return self.resolve(name).__module__

    def _entry_point(self, name: str) -> EntryPoint:
        """Take the one entry point of an installed name.

        Raises:
            AdapterRegistrationError: There are several; which one is meant is not for this package to guess.
        """
        first, *others = sorted(self._installed[name].values(), key=lambda point: point.value)
        if others:
            providers = " and ".join(
                f"{point.value} of {point.dist.name if point.dist else '?'}" for point in (first, *others)
            )
            raise AdapterRegistrationError(f"adapter {name!r} is provided twice, by {providers}: uninstall one of them")
        return first

    def media_types(self) -> Mapping[str, frozenset[str]]:
        """What each known adapter can be asked about; an entry is looked up when it is needed.

        The lookup raises ``AdapterRegistrationError`` as ``resolve`` does, but imports no adapter of the kernel.
        """
        return _MediaTypes(self)

    def _media_types_of(self, name: str) -> frozenset[str]:
        if name in KERNEL_MEDIA_TYPES:
            if name in self._installed:
                self._entry_point(name)
            return KERNEL_MEDIA_TYPES[name]
        return frozenset(self.resolve(name).media_types)


class _MediaTypes(Mapping[str, frozenset[str]]):
    """Media types by adapter name. An adapter whose module cannot be imported may be asked about anything: unavailable."""

    def __init__(self, registry: AdapterRegistry) -> None:
        self._registry = registry

    def __getitem__(self, name: str) -> frozenset[str]:
        try:
            return self._registry._media_types_of(name)  # of this module too
        except UnknownAdapterError:
            raise KeyError(name) from None
        except AdapterUnavailable:
            return frozenset(MEDIA_TYPES)

    def __iter__(self) -> Iterator[str]:
        return iter(self._registry.names())

    def __len__(self) -> int:
        return len(self._registry.names())


@lru_cache(maxsize=1)
def _installed_entry_points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=ENTRY_POINT_GROUP))


def installed_registry() -> AdapterRegistry:
    """Make a registry of what is installed, to which a conftest may add."""
    return AdapterRegistry(_installed_entry_points())


def _load(point: EntryPoint) -> type[Adapter]:
    try:
        import_module(point.module)
    except ImportError as error:
        raise AdapterUnavailable(f"{point.value} cannot be imported: {_one_line(error)}") from error
    except Exception as error:  # a missing library of the system, a card that does not answer: whatever a module does
        message = f"{point.value} cannot be imported: {type(error).__name__}: {_one_line(error)}"
        raise AdapterUnavailable(message) from error
    try:
        adapter = point.load()
    except AttributeError as error:
        raise AdapterRegistrationError(f"entry point {point.name!r} leads nowhere: {_one_line(error)}") from None
    _examine(adapter)
    if adapter.name != point.name:
        raise AdapterRegistrationError(
            f"entry point {point.name!r} leads to {_place(adapter)}, which calls itself {adapter.name!r}"
        )
    return adapter  # type: ignore[no-any-return]  # an entry point may lead anywhere; _examine has looked


def _examine(adapter: object) -> None:
    if not isinstance(adapter, type) or not issubclass(adapter, Adapter):
        raise AdapterRegistrationError(f"{adapter!r} is no subclass of pytest_benchbench.Adapter")
    if missing := sorted(adapter.__abstractmethods__):
        raise AdapterRegistrationError(f"{_place(adapter)} lacks {', '.join(missing)}")
    name = getattr(adapter, "name", None)
    if not isinstance(name, str) or not ADAPTER_NAME.fullmatch(name):
        raise AdapterRegistrationError(f"{_place(adapter)}: name must be letters, digits, '.', '_' or '-', not {name!r}")
    media_types = getattr(adapter, "media_types", None)
    if not isinstance(media_types, (set, frozenset)) or not media_types or not media_types <= set(MEDIA_TYPES):
        raise AdapterRegistrationError(f"{_place(adapter)}: media_types must be a set out of {', '.join(MEDIA_TYPES)}")
    if adapter.needs not in (known := get_args(Needs)):
        raise AdapterRegistrationError(f"{_place(adapter)}: needs must be one of {', '.join(known)}, not {adapter.needs!r}")
    if not isinstance(adapter.Options, type) or not issubclass(adapter.Options, msgspec.Struct):
        raise AdapterRegistrationError(f"{_place(adapter)}: Options must be a subclass of msgspec.Struct")
    # a property or what __init__ sets is seen when the adapter is asked
    batch_size = getattr(adapter, "batch_size", None)
    if issubclass(adapter, BatchAdapter) and isinstance(batch_size, int) and batch_size < 1:
        raise AdapterRegistrationError(f"{_place(adapter)}: batch_size must be 1 or more, not {batch_size}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _place(adapter: type) -> str:
    return f"{adapter.__module__}.{adapter.__qualname__}"
