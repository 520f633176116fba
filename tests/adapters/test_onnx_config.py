"""The YAML of a model: what is refused, with the field named, and that no edit keeps its version."""

import copy
import math
import re

import msgspec
import pytest
import yaml
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.onnx_config import MAX_CONFIG_BYTES, OnnxConfigError, load_config, parse_config

WHOLE = {
    "schema_version": 1,
    "type": "onnx-scorer",
    "fixture": True,
    "model": {"path": "m.onnx", "sha256": "a" * 64, "external_data": [{"path": "w.bin", "sha256": "b" * 64}]},
    "input": "pixels",
    "output": {"name": "out", "kind": "softmax", "index": 1},
    "preprocessing": {
        "version": "v1",
        "colour": "BGR",
        "alpha": [0, 128, 255],
        "minimum_side": 64,
        "resize": {"mode": "shortest", "side": 256, "filter": "bicubic", "antialias": True},
        "crops": {"mode": "grid", "size": [224, 200], "columns": 3, "rows": 2, "pad": [1, 2, 3]},
        "aggregation": {"of": "probability", "by": "max"},
        "scale": 255,
        "mean": [0.5, 0.4, 0.3],
        "deviation": [0.2, 0.25, 0.3],
        "layout": "NHWC",
        "dtype": "float16",
    },
    "runtime": {"providers": ["CPUExecutionProvider"], "threads": 2, "allow_fallback": True},
    "calibrator": {"path": "../c.json", "sha256": "c" * 64},
    "fusion": {"path": "f.json"},
}


def parse(document):
    return parse_config(yaml.safe_dump(document).encode(), name="model.yaml")


def changed(path, value):
    document = copy.deepcopy(WHOLE)
    *blocks, last = path.split(".")
    inner = document
    for block in blocks:
        inner = inner[block]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return document


def test_everything_that_may_stand_in_it():
    config = parse(WHOLE)
    assert config.evaluation_mode == "synthetic"
    assert (config.preprocessing.crop_count, config.preprocessing.size) == (6, (224, 200))
    assert parse(changed("fixture", None)).evaluation_mode == "reference"
    encoded = msgspec.json.encode(config)
    assert msgspec.json.decode(encoded, type=type(config)) == config


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("modell", {}, "object contains unknown field modell"),
        ("model", None, "object missing required field model"),
        ("type", "calibrator", "type: invalid value 'calibrator'"),
        ("schema_version", 2, "schema_version: invalid enum value 2"),
        ("evaluationMode", "deployed", "object contains unknown field evaluationMode"),
        ("model.sha256", "A" * 64, "model.sha256: "),
        ("model.path", "/etc/passwd", "model.path: expected a path relative to this file"),
        ("model.path", "a\\b", "model.path: expected a path relative"),
        ("calibrator.path", "/c.json", "calibrator.path: expected a path relative"),
        ("model.external_data", [{"path": "../w", "sha256": "b" * 64}], r"model.external_data\[0\].path: .*without '\.\.'"),
        ("output.kind", "score", "output.kind: invalid enum value 'score'"),
        ("output.index", -1, "output.index: expected int >= 0"),
        ("preprocessing.meann", [0, 0, 0], "preprocessing: object contains unknown field meann"),
        ("preprocessing.version", "a b", "preprocessing.version: "),
        ("preprocessing.alpha", [0, 0, 256], r"preprocessing.alpha\[2\]: "),
        ("preprocessing.mean", [0, 0], "preprocessing.mean: expected array of length 3"),
        ("preprocessing.mean", [0, 0, math.nan], "preprocessing: mean: expected finite numbers"),
        ("preprocessing.scale", math.inf, "preprocessing: scale: expected finite numbers"),
        ("preprocessing.scale", 0, "preprocessing: scale: expected numbers of at least 1e-6, got 0"),
        ("preprocessing.deviation", [1, 1, -1], "preprocessing: deviation: expected numbers of at least 1e-6"),
        ("preprocessing.dtype", "uint8", "preprocessing: dtype: uint8 shows the levels as they are"),
        ("preprocessing.aggregation", None, "preprocessing: aggregation: belongs to several crops"),
        ("preprocessing.crops", None, "preprocessing: aggregation: belongs to several crops"),
        ("preprocessing.crops.columns", None, "preprocessing.crops: mode: a grid wants columns and rows"),
        ("preprocessing.crops.columns", 33, "preprocessing.crops: columns: at most 64 crops, got 66"),
        ("preprocessing.crops.mode", "five", "preprocessing.crops: columns, rows: belong to a grid"),
        ("preprocessing.crops.size", [0, 1], r"preprocessing.crops.size\[0\]: expected int >= 1"),
        ("preprocessing.crops.size", [1, 4097], r"preprocessing.crops.size\[1\]: expected int <= 4096"),
        ("preprocessing.resize.side", None, "preprocessing.resize: mode: shortest wants side, and no size"),
        ("preprocessing.resize.size", [1, 1], "preprocessing.resize: mode: shortest wants side, and no size"),
        ("preprocessing.resize.mode", "exact", "preprocessing.resize: mode: exact wants size, and no side"),
        ("preprocessing.resize.antialias", False, "preprocessing.resize: antialias: the filter bicubic exists with"),
        ("preprocessing.resize.filter", "nearest", "preprocessing.resize: antialias: the filter nearest exists without"),
        ("runtime.threads", 0, "runtime.threads: expected int >= 1"),
        ("runtime.providers", [], "runtime.providers: expected array of length >= 1"),
    ],
)
def test_what_is_refused_names_its_field(path, value, message):
    with pytest.raises(OnnxConfigError, match=f"^model.yaml: {message}") as fault:
        parse(changed(path, value))
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "model.yaml: "),
        (b"[1]", "model.yaml: expected object"),
        (b"input: a\ninput: b", "model.yaml:2: the key 'input' stands twice"),
        (b"a: &a [1]\nb: *a", "model.yaml:2: aliases are not allowed"),
        (b"a: !!python/object/apply:os.system [ls]", "model.yaml:1: "),
        (b"#" * (MAX_CONFIG_BYTES + 1), f"model.yaml: larger than {MAX_CONFIG_BYTES} bytes"),
        (b"\xff\xfe\x00", "model.yaml: "),
    ],
)
def test_what_is_no_such_file(data, message):
    with pytest.raises(OnnxConfigError, match=message):
        parse_config(data, name="model.yaml")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(OnnxConfigError, match="cannot be read: Is a directory"):
        load_config(tmp_path)
    with pytest.raises(OnnxConfigError, match="cannot be read: No such file"):
        load_config(tmp_path / "gone.yaml")


EDITS = [
    ("preprocessing.version", "v2"),
    ("preprocessing.colour", "RGB"),
    ("preprocessing.alpha", "drop"),
    ("preprocessing.alpha", [0, 128, 254]),
    ("preprocessing.minimum_side", 65),
    ("preprocessing.resize", None),
    ("preprocessing.resize.side", 255),
    ("preprocessing.resize.filter", "lanczos"),
    ("preprocessing.crops.size", [224, 201]),
    ("preprocessing.crops.rows", 3),
    ("preprocessing.crops.pad", None),
    ("preprocessing.aggregation.of", "logit"),
    ("preprocessing.aggregation.by", "mean"),
    ("preprocessing.scale", 255.5),
    ("preprocessing.mean", [0.5, 0.4, 0.31]),
    ("preprocessing.deviation", [0.2, 0.25, 0.31]),
    ("preprocessing.layout", "NCHW"),
    ("preprocessing.dtype", "float32"),
    ("output.kind", "logit"),
    ("output.index", 0),
]


def test_no_edit_of_preprocessing_keeps_its_version():
    versions = {parse(WHOLE).preprocessing_version, *(parse(changed(*edit)).preprocessing_version for edit in EDITS)}
    assert len(versions) == 1 + len(EDITS)
    assert {version.partition("+")[0] for version in versions} == {"v1", "v2"}
    assert {len(version.partition("+")[2]) for version in versions} == {12}


def test_what_does_not_change_the_tensors_keeps_the_version():
    now = parse(WHOLE).preprocessing_version
    for path, value in (
        ("model.path", "n.onnx"),
        ("runtime.threads", 1),
        ("fixture", False),
        ("input", "x"),
        ("fusion", None),
    ):
        assert parse(changed(path, value)).preprocessing_version == now
    assert parse(changed("preprocessing.scale", 255.0)).preprocessing_version == now
    reordered = WHOLE | {"preprocessing": dict(reversed(WHOLE["preprocessing"].items()))}
    assert parse(reordered).preprocessing_version == now
    plain = changed("preprocessing.mean", None)
    assert parse(plain).preprocessing_version == parse(changed("preprocessing.mean", [0, 0, 0])).preprocessing_version


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from([path for path, _ in EDITS] + ["model", "input", "runtime", "output.name", "fusion.path"]), JSON)
def test_any_value_anywhere_is_taken_or_refused_in_one_line(path, value):
    document = changed(path, value if value is not None else {})
    said = "model.yaml: fine"
    try:
        parse_config(yaml.safe_dump(document, allow_unicode=True).encode("utf-8", "surrogatepass"), name="model.yaml")
    except OnnxConfigError as error:
        said = str(error)
    assert re.fullmatch(r"model\.yaml[^\n]+", said)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_in_one_line(data):
    with pytest.raises(OnnxConfigError, match=r"^model\.yaml[^\n]*$"):
        parse_config(data, name="model.yaml")
