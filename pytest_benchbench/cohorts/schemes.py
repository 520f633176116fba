"""How each adapter's marks are made: what a recipe needs to know of an adapter, planned ones included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.dwt_dct import VERSION, DwtDctEmbedder
from pytest_benchbench.adapters.haar_frame import SCALE
from pytest_benchbench.adapters.patterns import PATTERNS
from pytest_benchbench.cohorts.pictures import Pixels


@dataclass(frozen=True, slots=True)
class Mark:
    """One message of a scheme.

    Attributes:
        name: Its part of a case id.
        record: Scheme and message for the case row; JSON values.
        embed: Marks (H, W, 3) uint8 RGB and gives the same shape back.
    """

    name: str
    record: dict[str, Any]
    embed: Callable[[Pixels], Pixels]


@dataclass(frozen=True, slots=True)
class Scheme:
    """The marks of one adapter.

    Attributes:
        adapter: The adapter that will be asked about them.
        mark_names: Names of its marks: what a plan counts without opening anything.
        removes: Whether the scheme brings a remover, whose output gets a row of its own for each mark.
        opening: Loads what embedding needs and gives the marks, in the order of ``mark_names``.
    """

    adapter: str
    mark_names: tuple[str, ...]
    removes: bool
    opening: Callable[[], tuple[Mark, ...]]

    def marks(self) -> tuple[Mark, ...]:
        """Make ready to embed.

        Raises:
            AdapterUnavailable: A package or weights are missing, or this version has no such embedder.
        """
        return self.opening()


def _dwt_dct_marks() -> tuple[Mark, ...]:
    embedder = DwtDctEmbedder()
    return tuple(
        Mark(
            name=pattern.name,
            record={
                "scheme": "dwt-dct",
                "version": VERSION,
                "scale": SCALE,
                "pattern": pattern.name,
                "message": "".join(map(str, pattern.bits)),
            },
            embed=partial(embedder.embed_pixels, message=pattern),
        )
        for pattern in PATTERNS.values()
    )


def _trustmark_marks() -> tuple[Mark, ...]:
    raise AdapterUnavailable("this version of pytest-benchbench does not embed TrustMark marks")


DWT_DCT = Scheme("dwt-dct", tuple(PATTERNS), removes=False, opening=_dwt_dct_marks)

TRUSTMARK = Scheme("trustmark", ("trustmark-p",), removes=True, opening=_trustmark_marks)

IMAGE_SCHEMES = (DWT_DCT, TRUSTMARK)
"""The schemes of the image cohorts, available here or not."""
