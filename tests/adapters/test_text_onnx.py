"""``text-onnx``: whole answers of tiny classifiers, held against the same calculation in NumPy."""

import hashlib
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pytest_benchbench import AdapterUnavailable, Sample
from pytest_benchbench.adapters import text_classifier, text_onnx
from pytest_benchbench.adapters.onnx_config import OnnxConfigError
from pytest_benchbench.adapters.onnx_structure import OnnxModelError
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError
from pytest_benchbench.adapters.text_onnx import TextOnnx, TextOnnxOptions
from pytest_benchbench.artifacts.text import decode_text


def shown(text) -> Sample:
    data = text.encode()
    return Sample("text", hashlib.sha256(data).hexdigest(), data, decode_text(data))


def loaded(config, **options) -> TextOnnx:
    adapter = TextOnnx(TextOnnxOptions(config=config, **options))
    adapter.load()
    return adapter


def softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def texts(count, longest):
    rng = random.Random(5)
    vocabulary = ["the", "of", "delve", "tapestry", "whale", "sea", "unheard"]
    return [rng.choices(vocabulary, k=rng.randint(1, longest)) for _ in range(count)]


def test_a_score_is_what_numpy_calculates(text_models):
    adapter = loaded(text_models.write())
    for words in texts(20, 6):
        answer = adapter.detect(shown(" ".join(words)))
        ids = text_models.ids(words)
        expected = softmax(text_models.table[ids].astype(np.float64).mean(axis=0))[1]
        assert answer.status == "scored"
        assert answer.score == pytest.approx(100 * expected, abs=1e-4)
        assert answer.scorer == {
            "raw": {
                "probability": pytest.approx(answer.score / 100, rel=1e-12),
                "windows": 1,
                "tokens": len(ids),
                "tokens_shown": len(ids),
                "truncated": False,
            },
            "words": len(words),
            "model": "tiny-1",
        }


def test_what_lies_beyond_is_cut_off_and_that_is_recorded(text_models):
    adapter = loaded(text_models.write())
    words = ["whale"] * 6 + ["delve"] * 9
    answer, short = adapter.detect(shown(" ".join(words))), adapter.detect(shown(" ".join(words[:6])))
    assert answer.score == short.score
    assert (short.scorer["raw"]["truncated"], answer.scorer["raw"]["truncated"]) == (False, True)
    assert answer.scorer["raw"]["tokens_shown"] == 8
    assert answer.scorer["raw"]["tokens"] > 8


@pytest.mark.parametrize("overlap", [0, 2, 4])
@pytest.mark.parametrize(
    ("of", "by"), [("probability", "mean"), ("logit", "mean"), ("probability", "max"), ("logit", "max")]
)
def test_windows_are_put_together_by_the_declared_rule(text_models, overlap, of, by):
    text_models.config["tokens"] |= {"beyond": "windows", "overlap": overlap, "aggregation": {"of": of, "by": by}}
    adapter = loaded(text_models.write())
    for words in texts(6, 30):
        inner = text_models.ids(words)[1:-1]
        parts, start = [], 0
        while True:
            parts.append([0, *inner[start : start + 6], 1])
            if start + 6 >= len(inner):
                break
            start += 6 - overlap
        logits = np.array([text_models.table[part].astype(np.float64).mean(axis=0) for part in parts])
        odds = logits[:, 1] - logits[:, 0]
        values = odds if of == "logit" else 1 / (1 + np.exp(-odds))
        joined = values.mean() if by == "mean" else values.max()
        expected = 1 / (1 + np.exp(-joined)) if of == "logit" else joined
        answer = adapter.detect(shown(" ".join(words)))
        assert answer.scorer["raw"]["windows"] == len(parts)
        assert answer.score == pytest.approx(100 * expected, abs=1e-4)
        assert answer.scorer["raw"]["truncated"] is False


@pytest.mark.parametrize(
    ("made", "inputs"),
    [
        ({"integer": "INT32"}, {}),
        ({"length": 12}, {}),
        ({"types": True}, {"types": "token_type_ids"}),
        ({"mask": False}, {"mask": None}),
        ({"batch": 1}, {}),
    ],
)
def test_models_of_other_inputs_give_the_same(text_models, made, inputs):
    words = ["whale", "of", "the", "sea"]
    plain = loaded(text_models.write()).detect(shown(" ".join(words)))
    text_models.config["inputs"] = inputs
    text_models.config["tokens"]["pad"] = 2
    answer = loaded(text_models.write(text_models.model(**made))).detect(shown(" ".join(words)))
    assert answer.score == pytest.approx(plain.score, abs=1e-4)
    assert answer.scorer["raw"]["tokens"] == 6


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"kind": "softmax", "ai": 1}, lambda logits: softmax(logits)[1]),
        ({"kind": "softmax", "labels": ["ai", "human"], "ai": "ai"}, lambda logits: softmax(logits)[0]),
        ({"kind": "sigmoid", "ai": 0}, lambda logits: 1 / (1 + np.exp(-logits[0]))),
    ],
)
def test_the_declared_class_and_kind_decide(text_models, output, expected):
    text_models.config["output"] = {"name": "logits", **output}
    answer = loaded(text_models.write()).detect(shown("whale delve"))
    logits = text_models.table[text_models.ids(["whale", "delve"])].astype(np.float64).mean(axis=0)
    assert answer.score == pytest.approx(100 * expected(logits), abs=1e-4)


def test_what_is_no_answer_is_an_inference_error(text_models):
    text_models.config["output"] = {"name": "logits", "kind": "probability", "ai": 1}
    text_models.table[:] = 2
    assert "declared a probability, and is 2" in loaded(text_models.write()).detect(shown("whale")).reason
    text_models.config["output"] = {"name": "logits", "kind": "softmax", "ai": 5}
    answer = loaded(text_models.write()).detect(shown("whale"))
    assert (answer.status, answer.score) == ("inference-error", None)
    text_models.config["output"] = {"name": "logits", "kind": "softmax", "labels": ["a", "b", "c"], "ai": "c"}
    assert (
        loaded(text_models.write()).detect(shown("whale")).reason
        == "output logits: 2 columns, expected 3 as in output.labels"
    )
    text_models.config["output"] = {"name": "logits", "kind": "softmax", "ai": 1}
    answer = loaded(text_models.write(text_models.model(squeeze=False))).detect(shown("whale"))
    assert answer.reason == "output logits: expected (1, C) numbers, got shape (1, 1, 2)"
    text_models.table[:] = np.nan
    assert "not finite" in loaded(text_models.write()).detect(shown("whale")).reason


def test_a_token_that_the_network_does_not_know_is_an_inference_error(text_models):
    text_models.table = text_models.table[:6]
    answer = loaded(text_models.write()).detect(shown("whale"))
    assert answer.status == "inference-error"
    assert "\n" not in answer.reason
    assert loaded(text_models.write()).detect(shown("the of")).status == "scored"


def test_a_text_that_is_not_asked_about_has_no_score(text_models, monkeypatch):
    adapter = loaded(text_models.write())
    assert adapter.detect(shown("")).status == adapter.detect(shown("!!")).status == "too-small"
    text_models.config["minimum_words"] = 3
    assert loaded(text_models.write()).detect(shown("the whale")).status == "too-small"
    monkeypatch.setattr(text_onnx, "MAXIMUM_CHARACTERS", 9)
    assert adapter.detect(shown("the whale.")).status == "unsupported"


def test_too_many_windows_are_refused(text_models, monkeypatch):
    text_models.config["tokens"] |= {"beyond": "windows", "aggregation": {"of": "logit", "by": "mean"}}
    adapter = loaded(text_models.write())
    monkeypatch.setattr(text_classifier, "MAX_WINDOWS", 2)
    assert adapter.detect(shown("the " * 12)).status == "scored"
    answer = adapter.detect(shown("the " * 13))
    assert (answer.status, answer.reason) == ("unsupported", "3 windows of 8 tokens are more than 2")


def test_files_are_held_against_their_pins_before_they_are_loaded(text_models):
    config = text_models.write()
    described = loaded(config).describe()
    digests = [text_models.config[name]["sha256"] for name in ("model", "tokenizer")]
    assert [file.sha256 for file in described.weights] == digests
    assert described.version.startswith("tiny-1, onnxruntime ")
    for name, path in (("model.onnx", config.parent / "model.onnx"), ("tokenizer.json", config.parent / "tokenizer.json")):
        data = path.read_bytes()
        path.write_bytes(data + b" ")
        with pytest.raises(AdapterUnavailable, match=f"{name} has SHA-256 .*, not the pinned "):
            loaded(config)
        path.write_bytes(data)
    (config.parent / "tokenizer.json").unlink()
    with pytest.raises(AdapterUnavailable, match=r"tokenizer\.json is no file"):
        loaded(config)


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b"[]", b"\xff\xfe", b'{"version": "1.0", "model": {"type": "No"}}'])
def test_what_is_no_tokenizer_is_an_error_of_one_line(text_models, data):
    config = text_models.write(tokenizer=data)
    with pytest.raises(OnnxModelError, match=r"tokenizer\.json is no tokenizer that can be used: ") as fault:
        loaded(config)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("made", "change", "message"),
    [
        ({"types": True}, {}, "inputs: the model has these inputs: input_ids, attention_mask, token_type_ids"),
        ({"integer": "FLOAT"}, {}, r"input_ids is a tensor\(float\)|does not take the model"),
        ({"batch": 2}, {}, r"not \(1, tokens\)"),
        ({"length": 12}, {}, "tokens.pad: the model always takes 12 tokens"),
        (
            {"length": 7},
            {"tokens": {"maximum": 8, "beyond": "truncate", "pad": 2}},
            "tokens.maximum: the model takes 7 tokens",
        ),
        ({}, {"output": {"name": "other", "kind": "softmax", "ai": 1}}, "output.name: the model has these outputs: logits"),
    ],
)
def test_a_model_that_does_not_fit_is_an_error_of_one_line(text_models, made, change, message):
    text_models.config |= change
    config = text_models.write(text_models.model(**made))
    with pytest.raises(OnnxModelError, match=message) as fault:
        loaded(config)
    assert "\n" not in str(fault.value)


def test_what_is_no_model_is_an_error(text_models):
    with pytest.raises(OnnxModelError, match="not an ONNX model"):
        loaded(text_models.write(b"nonsense"))


def test_threads_give_what_one_call_after_the_other_gives(text_models):
    text_models.config["tokens"] |= {"beyond": "windows", "aggregation": {"of": "logit", "by": "mean"}}
    adapter = loaded(text_models.write())
    samples = [shown(" ".join(words)) for words in texts(12, 30)]
    alone = [adapter.detect(sample) for sample in samples]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(adapter.detect, samples * 4)) == alone * 4


def test_without_a_classifier_it_is_unavailable_and_says_what_to_do(monkeypatch):
    with pytest.raises(AdapterUnavailable, match=r"no classifier is named \(remedy: give --bench-adapter=text-onnx:config"):
        TextOnnx().load()
    monkeypatch.setattr(text_onnx, "find_spec", lambda name: None)
    with pytest.raises(AdapterUnavailable, match=r"and onnxruntime and tokenizers cannot be found .*\[text-onnx\]"):
        TextOnnx().load()


def test_a_faulty_configuration_is_a_fault_of_the_option(text_models, tmp_path):
    config = text_models.write()
    config.write_text("{}")
    with pytest.raises(OnnxConfigError, match=r"classifier\.yaml: "):
        TextOnnxOptions(config=config)
    choice = AdapterChoice.parse(f"text-onnx:config={config}", option="--bench-adapter")
    with pytest.raises(AdapterOptionError, match=r"classifier\.yaml"):
        choice.options_for(TextOnnx, directory=tmp_path)
