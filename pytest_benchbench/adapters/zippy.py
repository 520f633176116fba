"""``zippy``: how well a text compresses behind a bundled text that is known to be made by AI."""

from __future__ import annotations

import hashlib
import importlib
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, Sample, Weights
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.text_limits import MinimumWords, count_words, limits_in_words, not_asked, text_of
from pytest_benchbench.artifacts.media import MediaType

INSTALL = "pip install 'pytest-benchbench[zippy]'"

MAXIMUM_CHARACTERS = 200_000
"""Some six seconds."""

_CHUNK = 1500
"""Characters, the package's default: a longer text would outweigh the one before it."""

_SCALE = 0.1
"""The number that becomes 75 or 25. Those of real texts are mostly below it."""

_PRELUDE = "ai-generated.txt"
_ENGINES = {"lzma": "LzmaLlmDetector", "zlib": "ZlibLlmDetector", "brotli": "BrotliLlmDetector"}


class ZippyOptions(MinimumWords, frozen=True, forbid_unknown_fields=True):
    """How it is asked.

    Attributes:
        engine: What compresses.
    """

    engine: Literal["lzma", "zlib", "brotli"] = "lzma"


@dataclass(frozen=True, slots=True)
class _Opened:
    """The package, ready to be asked.

    Attributes:
        clean: Its own cleaning of a text.
        detector: Its detector, with the prelude.
        version: Of the package and the libraries that compress.
        weights: The files that its numbers are made by.
    """

    clean: Any
    detector: Any
    version: str
    weights: tuple[Weights, ...]


class Zippy(NetworkAdapter[_Opened]):
    """Scores English texts by ``thinkst-zippy``: a heuristic, no trained detector."""

    name: ClassVar[str] = "zippy"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"text"})
    verified_weights: ClassVar[frozenset[str]] = frozenset(
        {
            "a03f112bef4b8890914474f304fb5d16b727e3117760c30bdd74a8e2d56890b2",  # ai-generated.txt of 0.1.3
            "52c458c2045f0e7a14e649da43761f0099931d09ea6985996c036ae2c08bbd29",  # zippy.py of 0.1.3
        }
    )
    Options: ClassVar[type[msgspec.Struct]] = ZippyOptions
    options: ZippyOptions

    def open(self) -> _Opened:
        """Import the package and compress its prelude once.

        Raises:
            AdapterUnavailable: The package is missing, or it is another one of that name.
        """
        try:
            installed = metadata.version("thinkst-zippy")
            package = importlib.import_module("zippy.zippy")
            folder = Path(package.__file__ or "").parent
            clean, make = package.clean_text, getattr(package, _ENGINES[self.options.engine])
            program, prelude = (folder / "zippy.py").read_bytes(), (folder / _PRELUDE).read_bytes()
        except metadata.PackageNotFoundError:
            raise AdapterUnavailable("thinkst-zippy is not installed", INSTALL) from None
        except (ImportError, AttributeError, OSError) as error:
            raise AdapterUnavailable(f"thinkst-zippy {installed} cannot be used: {error}", INSTALL) from error
        # the package would read its prelude in the locale's encoding: the bytes that are hashed are those that are used
        detector = make(prelude_str=clean(prelude.decode("utf-8")))
        library = {"lzma": "", "zlib": f", zlib {zlib.ZLIB_RUNTIME_VERSION}", "brotli": f", brotli {_version('brotli')}"}
        return _Opened(
            clean,
            detector,
            f"thinkst-zippy {installed}{library[self.options.engine]}",
            (Weights(_PRELUDE, _sha256(prelude)), Weights("zippy.py", _sha256(program))),
        )

    def detect(self, sample: Sample) -> Detection:
        """Answer ``scored``, ``too-small`` or ``unsupported``; ``scorer.raw`` has the package's own number and label."""
        text = text_of(sample)
        minimum = self.options.minimum_words
        if refusal := not_asked(text, minimum_words=minimum, maximum_characters=MAXIMUM_CHARACTERS):
            return refusal
        cleaned = self.opened.clean(text)
        chunks = list(chunked(cleaned))
        signed = math.fsum(self._signed(chunk) * (len(chunk) / len(cleaned)) for chunk in chunks)
        label = "AI" if signed > 0 else "Human"
        raw = {"score": abs(signed), "label": label, "chunks": len(chunks)}
        return Detection("scored", score=canonical_score(signed), scorer={"raw": raw, "words": count_words(text)})

    def describe(self) -> AdapterDescription:
        """The package, the rule with the mapping to 0-100, and the digests of the prelude and of the package's program."""
        rule = (
            f"by how much the bundled AI text compresses better ({self.options.engine}) than with the text behind it, in "
            f"chunks of {_CHUNK:,} characters, weighted by length; that number x, positive for AI, becomes "
            f"50 + 50 x / ({_SCALE} + |x|): 50 is the package's own border between AI and Human, and the score is no "
            f"probability; "
            + limits_in_words(minimum_words=self.options.minimum_words, maximum_characters=MAXIMUM_CHARACTERS)
        )
        return AdapterDescription(self.opened.version, rule, self.opened.weights)

    def _signed(self, chunk: str) -> float:
        label, score = self.opened.detector.score_text(chunk)
        return float(score) if label == "AI" else -float(score)


def chunked(text: str) -> Iterator[str]:
    """Cut a cleaned text as the package does, at the last space of every 1,500 characters.

    Where there is none in so many characters the package counts the whole text twice; here the piece is cut there. And it
    starts a pool of processes for texts of more than two pieces, which is why it is not asked to cut them itself.
    """
    start = 0
    while start + _CHUNK < len(text):
        space = text.rfind(" ", start, start + _CHUNK + 1)
        end = space if space >= 0 else start + _CHUNK
        yield text[start:end]
        start = end + 1 if space >= 0 else end
    yield text[start:]


def canonical_score(signed: float) -> float:
    """Map the package's number, positive for AI, from all numbers to 0-100, in their order.

    Returns:
        50 or more exactly where the package says AI, below 50 where it says Human, which it does at 0.
    """
    score = 50.0 + 50.0 * (signed / (_SCALE + abs(signed)))
    return score if signed > 0 else min(score, math.nextafter(50.0, 0.0))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "of unknown version"
