"""``lmscan``: word lists, statistics of sentences and a small fitted model, all in Python, for English texts."""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, Sample, Weights
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.text_limits import MinimumWords, count_words, limits_in_words, not_asked, text_of
from pytest_benchbench.artifacts.media import MediaType

INSTALL = "pip install 'pytest-benchbench[lmscan]'"

MAXIMUM_CHARACTERS = 50_000
"""Some four seconds."""

_NUMBERS_IN = ("_types.py", "classifier.py", "detector.py", "features.py", "perplexity.py", "scanner.py")
"""The package keeps its coefficients and tables in its sources."""


@dataclass(frozen=True, slots=True)
class _Opened:
    scan: Any
    version: str
    weights: tuple[Weights, ...]


class Lmscan(NetworkAdapter[_Opened]):
    """Scores English texts by ``lmscan.scan``."""

    name: ClassVar[str] = "lmscan"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"text"})
    verified_weights: ClassVar[frozenset[str]] = frozenset(
        {  # of 0.6.1
            "6ba3048211d9fb2161813cd69822e9e49137c245ac59b4cb5719df2ee05433c8",
            "ca2422c41f9cdebcd0f09bea5b13dbdf4223cdd1682873043814d0ceb9553635",
            "7e12561d96312685f469743562e80799b386d0b85489e794f463cdb367bd5bd5",
            "06faa2c77f7f49f586820a2c0de91291492d3eafdc52418f3246487a74626764",
            "03f494684f31c1d0c41357282c255f04c8756b353229eac23a461b3b917e9948",
            "604387c7a31b77f6d43086e352aa12f604fd848b8a70ad82a319eb6295bcdc14",
        }
    )
    Options: ClassVar[type[msgspec.Struct]] = MinimumWords
    options: MinimumWords

    def open(self) -> _Opened:
        """Import the package.

        Raises:
            AdapterUnavailable: It is missing, or has not what is asked here.
        """
        try:
            installed = metadata.version("lmscan")
            package = importlib.import_module("lmscan")
            folder = Path(package.__file__ or "").parent
            files = {name: (folder / name).read_bytes() for name in _NUMBERS_IN}
            scan = package.scan
        except metadata.PackageNotFoundError:
            raise AdapterUnavailable("lmscan is not installed", INSTALL) from None
        except (ImportError, AttributeError, OSError) as error:
            raise AdapterUnavailable(f"lmscan {installed} cannot be used: {error}", INSTALL) from error
        weights = tuple(Weights(name, hashlib.sha256(data).hexdigest()) for name, data in files.items())
        return _Opened(scan, f"lmscan {installed}", weights)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``scored``, ``too-small`` or ``unsupported``; ``scorer.raw`` has the package's probability and verdict."""
        text = text_of(sample)
        minimum = self.options.minimum_words
        if refusal := not_asked(text, minimum_words=minimum, maximum_characters=MAXIMUM_CHARACTERS):
            return refusal
        found = self.opened.scan(text)
        probability = float(found.ai_probability)
        raw = {"ai_probability": probability, "verdict": str(found.verdict), "confidence": str(found.confidence)}
        return Detection("scored", score=100.0 * probability, scorer={"raw": raw, "words": count_words(text)})

    def describe(self) -> AdapterDescription:
        """The package, the rule, and the digests of its sources that hold its numbers."""
        rule = (
            "100 x ai_probability of lmscan.scan (to four decimals); the package's own verdicts have other borders than 50: "
            "Mixed from 40 on, Likely AI from 65 on; "
            + limits_in_words(minimum_words=self.options.minimum_words, maximum_characters=MAXIMUM_CHARACTERS)
        )
        return AdapterDescription(self.opened.version, rule, self.opened.weights)
