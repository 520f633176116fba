"""The contract, held by four kinds of adapter: pixels, file bytes, text, and batches."""

import hashlib
import io

import numpy as np
import pytest
from PIL import Image as PillowImage

from pytest_benchbench import (
    Adapter,
    AdapterDescription,
    AdapterUnavailable,
    BatchAdapter,
    Detection,
    DetectionError,
    Weights,
)
from pytest_benchbench.adapters.dwt_dct import DwtDct
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterLoadError, PooledAdapter
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.evidence.observing import PinnedFile, Question, observe, observe_batch


class PngComment(Adapter):
    """Reads the file itself: looks for a text chunk."""

    name = "png-comment"
    media_types = frozenset({"image"})
    needs = "bytes"

    def detect(self, sample):
        assert sample.decoded is None
        return Detection("detected" if b"tEXt" in sample.data else "not_detected")

    def describe(self):
        return AdapterDescription("1", "a tEXt chunk is present")


class Repetition(Adapter):
    """Reads text: the share of repeated words."""

    name = "repetition"
    media_types = frozenset({"text"})

    def detect(self, sample):
        words = sample.decoded.text.split()
        return Detection("scored", score=np.float64(1 - len(set(words)) / len(words)))

    def describe(self):
        return AdapterDescription("1", "no rule: a score", (Weights("none", "0" * 64),))


class Waves(BatchAdapter):
    """Answers batches; fails on samples that say so."""

    name = "waves"
    media_types = frozenset({"text"})
    needs = "bytes"
    batch_size = 3

    def __init__(self, options=None):
        super().__init__(options)
        self.waves = []

    def detect_batch(self, samples):
        self.waves.append(len(samples))
        return [
            DetectionError("Rejected", "no thanks") if b"bad" in sample.data else Detection("not_detected")
            for sample in samples
        ]

    def describe(self):
        return AdapterDescription("1", "never")


def pooled(adapter_class):
    return PooledAdapter(AdapterChoice(adapter_class.name, adapter_class.name), adapter_class)


def png(pixels, **save):
    stream = io.BytesIO()
    PillowImage.fromarray(pixels).save(stream, "PNG", **save)
    return stream.getvalue()


@pytest.fixture
def ask_about(tmp_path):
    def question(data, media_type, **more):
        digest = hashlib.sha256(data).hexdigest()
        path = tmp_path / f"{digest[:12]}.bin"
        path.write_bytes(data)
        return Question(media_type, PinnedFile(path.name, digest), None, tmp_path, **more)

    return question


def test_pixels(ask_about):
    gray = np.full((300, 300, 3), 128, np.uint8)
    observation = observe(ask_about(png(gray), "image", expected="not_detected"), pooled(DwtDct), ArtifactLoader())
    assert observation.outcome == "match"
    assert observation.artifact.decoding["size"] == [300, 300]
    assert observation.detection.call == "cold"
    assert observation.detection.adapter_elapsed_ms >= observation.detection.load_ms


def test_file_bytes_are_shown_undecoded(ask_about):
    observation = observe(
        ask_about(b"no image at all tEXt", "image", expected="detected"), pooled(PngComment), ArtifactLoader()
    )
    assert observation.outcome == "match"
    assert observation.artifact.decoding is None


def test_text(ask_about):
    observation = observe(ask_about("ein ein Fuß".encode(), "text"), pooled(Repetition), ArtifactLoader())
    assert observation.outcome == "measured"
    assert type(observation.detection.score) is float
    assert observation.artifact.decoding == {"rule": "utf-8", "characters": 11}


def test_batches_keep_order_and_errors_of_one_sample_stay_its_own(ask_about):
    adapter = pooled(Waves)
    questions = [ask_about(text, "text", expected="not_detected") for text in (b"a", b"bad", b"c")]
    observations = observe_batch(questions, adapter, ArtifactLoader())
    assert [o.outcome for o in observations] == ["match", "error", "match"]
    assert observations[1].error.type == "Rejected"
    assert adapter.adapter.waves == [3]
    assert {o.batch.size for o in observations} == {3}
    assert {o.detection.adapter_elapsed_ms for o in observations} == {None}


def test_a_batch_with_a_bad_artifact_asks_about_the_rest(ask_about, tmp_path):
    adapter = pooled(Waves)
    missing = Question("text", PinnedFile("gone.txt", "0" * 64), None, tmp_path, expected="not_detected")
    observations = observe_batch([ask_about(b"a", "text"), missing, ask_about(b"c", "text")], adapter, ArtifactLoader())
    assert [o.outcome for o in observations] == ["measured", "error", "measured"]
    assert adapter.adapter.waves == [2]


def test_a_batch_that_gives_too_few_answers_is_an_error_of_every_row(ask_about):
    class Short(Waves):
        def detect_batch(self, samples):
            return []

    observations = observe_batch([ask_about(b"a", "text"), ask_about(b"b", "text")], pooled(Short), ArtifactLoader())
    assert [o.outcome for o in observations] == ["error", "error"]
    assert "0 answers about 2 samples" in observations[0].error.message


def answering(answer):
    class Answering(PngComment):
        def detect(self, sample):
            if isinstance(answer, BaseException):
                raise answer
            return answer

    return pooled(Answering)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "detected",
        Detection("certainly"),
        Detection("detected", reason=7),
        Detection("detected", temporal={"series": [float("nan")]}),
        Detection("detected", scorer={"object": object()}),
        RuntimeError("boom\nsecond line"),
        MemoryError(),
    ],
    ids=["none", "text", "unknown-status", "reason-no-text", "nan", "foreign-object", "exception", "memory"],
)
def test_what_is_no_answer_is_an_error_and_never_a_verdict(ask_about, answer):
    observation = observe(ask_about(b"x", "image", expected="not_detected"), answering(answer), ArtifactLoader())
    assert observation.outcome == "error"
    assert observation.detection.status == "error"
    assert "\n" not in observation.error.message


@pytest.mark.parametrize("status", ["too-small", "disabled", "unsupported", "inference-error", "timeout"])
def test_a_terminal_status_is_an_error_that_keeps_its_name(ask_about, status):
    observation = observe(ask_about(b"x", "image", expected="not_detected"), answering(Detection(status)), ArtifactLoader())
    assert (observation.outcome, observation.detection.status, observation.error.type) == ("error", status, status)


@pytest.mark.parametrize("field", ["score", "message_bit_accuracy"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_cannot_be_said(field, value):
    with pytest.raises(ValueError, match="not finite"):
        Detection("detected", **{field: value})


def test_a_share_of_bits_lies_between_0_and_1():
    with pytest.raises(ValueError, match="outside"):
        Detection("detected", message_bit_accuracy=1.5)


def test_unavailability_is_found_out_once(ask_about):
    class Missing(PngComment):
        loads = 0

        def load(self):
            type(self).loads += 1
            raise AdapterUnavailable("no weights", install="get weights")

    adapter = pooled(Missing)
    for _ in range(3):
        observation = observe(ask_about(b"x", "image", expected="not_detected"), adapter, ArtifactLoader())
        assert observation.outcome == "unavailable"
        assert observation.detection.adapter_elapsed_ms is None
        assert observation.detection.reason == "no weights (remedy: get weights)"
    assert Missing.loads == 1


def test_a_failing_load_is_an_error_found_out_once(ask_about):
    class Broken(PngComment):
        loads = 0

        def load(self):
            type(self).loads += 1
            raise OSError("bad weights")

    adapter = pooled(Broken)
    for _ in range(2):
        observation = observe(ask_about(b"x", "image", expected="not_detected"), adapter, ArtifactLoader())
        assert (observation.outcome, observation.error.type) == ("error", "OSError")
    assert Broken.loads == 1
    with pytest.raises(AdapterLoadError):
        adapter.load()


def test_a_description_of_another_type_is_a_failing_load():
    class Silent(PngComment):
        def describe(self):
            return None

    with pytest.raises(AdapterLoadError, match="AdapterDescription"):
        pooled(Silent).load()


def test_the_second_call_is_warm_and_loads_nothing(ask_about):
    adapter = pooled(PngComment)
    calls = [observe(ask_about(b"x", "image"), adapter, ArtifactLoader()).detection for _ in range(2)]
    assert [c.call for c in calls] == ["cold", "warm"]
    assert calls[1].load_ms is None
