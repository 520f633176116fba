"""``text-onnx``: any classifier of texts that is an ONNX file with a tokenizer, its score declared in a YAML file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import msgspec

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, AdapterUnavailable, Detection, Sample
from pytest_benchbench.adapters.onnx_scoring import NoScoreError, raw_score
from pytest_benchbench.adapters.text_classifier import INSTALL, NoAnswerError, TextClassifier, TooLongError
from pytest_benchbench.adapters.text_limits import count_words, not_asked, text_of
from pytest_benchbench.adapters.text_onnx_config import TextClassifierConfig, load_text_config
from pytest_benchbench.artifacts.media import MediaType

MAXIMUM_CHARACTERS = 1_000_000


class TextOnnxOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which classifier is asked.

    Attributes:
        config: The YAML file of the classifier; without it the adapter is unavailable.
        provider: The one execution provider to run on, in place of those in the YAML.

    Raises:
        ValueError: The YAML file cannot be used.
    """

    config: Path | None = None
    provider: str | None = None

    def __post_init__(self) -> None:
        if self.config is not None:
            load_text_config(self.config)  # a faulty file is a fault of the command line, told before anything runs


@dataclass(frozen=True, slots=True)
class _Loaded:
    config: TextClassifierConfig
    classifier: TextClassifier


class TextOnnx(Adapter):
    """Scores texts: how probably each is made by AI, in the words of the classifier that the YAML names."""

    name: ClassVar[str] = "text-onnx"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"text"})
    Options: ClassVar[type[msgspec.Struct]] = TextOnnxOptions
    options: TextOnnxOptions

    def __init__(self, options: TextOnnxOptions | None = None) -> None:
        super().__init__(options)
        self._opened: _Loaded | None = None

    def load(self) -> None:
        """Read the configuration, check every file that it names, and load model and tokenizer.

        Raises:
            AdapterUnavailable: No configuration is given; a package, a file or a provider is missing; a file is not the
                pinned one.
            OnnxConfigError: The configuration cannot be used.
            OnnxModelError: The model or the tokenizer cannot be asked.
        """
        if self.options.config is None:
            missing = [name for name in ("onnxruntime", "tokenizers") if find_spec(name) is None]
            remedy = "give --bench-adapter=text-onnx:config=MODEL.yaml, see docs/text-detectors.md"
            if missing:  # both at once: who names a model next is not stopped again
                reason = f"no classifier is named, and {' and '.join(missing)} cannot be found"
                raise AdapterUnavailable(reason, f"{INSTALL}; then {remedy}")
            raise AdapterUnavailable("no classifier is named", remedy)
        loaded = load_text_config(self.options.config)
        self._opened = _Loaded(loaded.config, TextClassifier(loaded, provider=self.options.provider))

    def detect(self, sample: Sample) -> Detection:
        """Answer ``scored``, ``too-small``, ``unsupported`` or ``inference-error``.

        ``scorer.raw`` has the probability, the number of windows and tokens, and whether a part of the text was not shown.
        """
        opened, text = self._loaded(), text_of(sample)
        config = opened.config
        refusal = not_asked(
            text, minimum_words=config.minimum_words, maximum_characters=MAXIMUM_CHARACTERS, ascii_only=False
        )
        if refusal is not None:
            return refusal
        try:
            answers = opened.classifier.ask(text)
            probability = raw_score(answers.numbers, config.output.numbers, config.tokens.aggregation)
        except TooLongError as error:
            return Detection("unsupported", reason=str(error))
        except (NoAnswerError, NoScoreError) as error:
            return Detection("inference-error", reason=str(error))
        raw = {
            "probability": probability,
            "windows": len(answers.numbers),
            "tokens": answers.tokens,
            "tokens_shown": answers.shown,
            "truncated": answers.is_truncated,
        }
        scorer = {"raw": raw, "words": count_words(text), "model": config.version}
        return Detection("scored", score=100.0 * probability, scorer=scorer)

    def close(self) -> None:
        """Let go of the network."""
        self._opened = None

    def describe(self) -> AdapterDescription:
        """What runs the classifier, how its score is made, and every file that it is made with."""
        opened = self._loaded()
        config, classifier = opened.config, opened.classifier
        tokens, threads = config.tokens, config.runtime.threads
        on = f"{classifier.provider}, {threads} {'thread' if threads == 1 else 'threads'}"
        if tokens.aggregation is None:
            beyond = "the rest is cut off, which is recorded"
        else:
            beyond = (
                f"the rest in windows that overlap by {tokens.overlap}, {tokens.aggregation.by} of their "
                f"{'probabilities' if tokens.aggregation.of == 'probability' else 'logits'}"
            )
        words = f"{config.minimum_words} {'word' if config.minimum_words == 1 else 'words'}"
        rule = (
            f"100 x the probability of class {config.output.index} by {config.output.kind} of output {config.output.name}; "
            f"{tokens.maximum} tokens at once, {beyond}; fewer than {words} are too-small"
        )
        return AdapterDescription(f"{config.version}, {classifier.version}, {on}", rule, classifier.weights)

    def _loaded(self) -> _Loaded:
        if self._opened is None:
            raise RuntimeError("load() comes first")
        return self._opened
