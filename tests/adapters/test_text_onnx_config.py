import copy
import json

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.onnx_config import OnnxConfigError
from pytest_benchbench.adapters.text_onnx_config import load_text_config

GOOD = {
    "schema_version": 1,
    "type": "text-classifier",
    "version": "mine-2.3",
    "model": {"path": "model.onnx", "sha256": "0" * 64},
    "tokenizer": {"path": "tokenizer.json", "sha256": "1" * 64},
    "inputs": {"ids": "input_ids", "mask": "attention_mask"},
    "output": {"name": "logits", "kind": "softmax", "labels": ["human", "ai"], "ai": "ai"},
    "tokens": {"maximum": 512, "beyond": "windows", "overlap": 128, "aggregation": {"of": "probability", "by": "mean"}},
    "minimum_words": 50,
}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    folder = tmp_path_factory.mktemp("config")

    def read(document):
        path = folder / "mine.yaml"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return load_text_config(path).config

    return read


def changed(field, value):
    document = copy.deepcopy(GOOD)
    *parents, last = field.split(".")
    place = document
    for parent in parents:
        place = place.setdefault(parent, {})
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value
    return document


def test_a_whole_configuration(read):
    config = read(GOOD)
    assert (config.output.index, config.output.numbers.kind, config.tokens.overlap) == (1, "softmax", 128)
    assert read(changed("output", {"name": "x", "kind": "sigmoid", "ai": 0})).output.numbers.kind == "logit"
    assert read(changed("inputs", None)).inputs.ids == "input_ids"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("version", None, "version"),
        ("schema_version", 2, "schema_version"),
        ("surprise", 1, "surprise"),
        ("model.sha256", "0", "sha256"),
        ("tokenizer.sha256", None, "sha256"),
        ("tokenizer.path", "/etc/x", "tokenizer.path: expected a path relative"),
        ("model.path", "a\\b", "model.path: expected a path relative"),
        ("model.external_data", [{"path": "../x", "sha256": "0" * 64}], "without '..'"),
        ("inputs.types", "input_ids", "are different inputs"),
        ("output.ai", "robot", "ai: a name must be one of labels"),
        ("output.ai", 2, "ai: there are 2 labels"),
        ("output.ai", -1, "ai"),
        ("output.labels", ["ai", "ai"], "labels: a name stands twice"),
        ("output.labels", None, "give labels, or the number of the class"),
        ("output.kind", "logits", "kind"),
        ("tokens.maximum", 0, "maximum"),
        ("tokens.maximum", 10**9, "maximum"),
        ("tokens.overlap", 257, "overlap: at most half of the 512 tokens"),
        ("tokens.aggregation", None, "aggregation: belongs to windows"),
        ("tokens.beyond", "truncate", "aggregation: belongs to windows"),
        ("minimum_words", 0, "minimum_words"),
        ("runtime.threads", 0, "threads"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_field(read, field, value, message):
    with pytest.raises(OnnxConfigError, match=message) as fault:
        read(changed(field, value))
    assert "\n" not in str(fault.value)
    assert str(fault.value).startswith("mine.yaml: ")


def test_an_overlap_without_windows_is_refused(read):
    with pytest.raises(OnnxConfigError, match="overlap: belongs to windows"):
        read(changed("tokens", {"maximum": 512, "beyond": "truncate", "overlap": 1}))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_one_line(read, text):
    with pytest.raises(OnnxConfigError) as fault:
        read(text)
    assert "\n" not in str(fault.value)


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(OnnxConfigError, match="cannot be read"):
        load_text_config(tmp_path / "none.yaml")
