"""What adapters with a network have in common: it is opened once by ``load``, asked, and let go of by ``close``."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, TypeVar

from pytest_benchbench.adapters.base import Adapter

N = TypeVar("N")


class NetworkAdapter(Adapter, Generic[N]):
    """An adapter whose answers come from something heavy that is opened once."""

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._opened: N | None = None

    @abstractmethod
    def open(self) -> N:
        """Read and check the weights and make the network.

        Raises:
            AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
            CheckpointError: A file taken by ``allow_unpinned`` is none of this network.
        """

    def load(self) -> None:
        """Open the network; raises what ``open`` raises."""
        self._opened = self.open()

    def close(self) -> None:
        """Let go of the network."""
        self._opened = None

    @property
    def opened(self) -> N:
        """What ``open`` gave.

        Raises:
            RuntimeError: The adapter is not loaded.
        """
        if self._opened is None:
            raise RuntimeError("load() comes first")
        return self._opened
