"""Node ids of rows, taken apart and put together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pytest_benchbench.evidence.case_names import case_id_of, node_name

if TYPE_CHECKING:
    from pytest_benchbench.evidence.observation import EvidenceKey

_NODE_ID = re.compile(
    r"(?P<suite>.+?)::(?P<adapter>[A-Za-z0-9._-]+)::(?P<case>[A-Za-z0-9._+-]+)(?:\[(?P<params>.*)\])?"
    r"(?:@[^\]\[]*)?",  # the group that pytest-xdist may append
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class CaseNode:
    """The parts of a case item's node id."""

    suite: str
    adapter: str
    case_id: str
    params: str | None

    @classmethod
    def parse(cls, nodeid: str) -> CaseNode | None:
        """Take a node id apart; ``None`` for one that has not the shape of a case item's."""
        match = _NODE_ID.fullmatch(nodeid)
        if match is None:
            return None
        try:
            return cls(match["suite"], match["adapter"], case_id_of(match["case"]), match["params"])
        except UnicodeDecodeError:  # another item's name that only looks like one of ours
            return None


class RowName(NamedTuple):
    """A row's node id in two parts.

    Attributes:
        group: Node id of the adapter's group, ``suite::adapter``.
        name: What follows it: the case, and parameters in brackets.
    """

    group: str
    name: str

    @classmethod
    def of(cls, key: EvidenceKey) -> RowName:
        """Name the row that a line of evidence is about."""
        name = node_name(key.case_id)
        return cls(f"{key.suite}::{key.adapter}", f"{name}[{key.params}]" if key.params else name)

    @property
    def nodeid(self) -> str:
        """The whole node id."""
        return f"{self.group}::{self.name}"
