"""Adapters that conftests register, kept until a run needs a registry: a project without manifests pays for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_benchbench.adapters.base import Adapter
    from pytest_benchbench.adapters.registry import AdapterRegistry


class AdapterRegistrations:
    """What the hook ``pytest_benchbench_adapters`` is handed as ``registry``."""

    def __init__(self) -> None:
        self._waiting: list[type[Adapter]] = []
        self._registry: AdapterRegistry | None = None

    def register(self, adapter: type[Adapter]) -> None:
        """Register an adapter class under its own ``name``."""
        if self._registry is None:
            self._waiting.append(adapter)
        else:
            self._registry.register(adapter)

    def registry(self) -> AdapterRegistry:
        """Give the registry of installed and registered adapters; later registrations reach it too.

        Raises:
            pytest.UsageError: A registered class is no complete adapter or takes another's name.
        """
        from pytest_benchbench.adapters.registry import AdapterRegistrationError, installed_registry

        if self._registry is None:
            registry = installed_registry()
            try:
                for adapter in self._waiting:
                    registry.register(adapter)
            except AdapterRegistrationError as error:
                raise pytest.UsageError(str(error)) from None
            self._registry = registry
        return self._registry


REGISTRATIONS = pytest.StashKey[AdapterRegistrations]()
