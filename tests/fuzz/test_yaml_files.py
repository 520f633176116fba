"""The readers of YAML: known mismatches, policies, lists of photographs, descriptions of models."""

import json

import msgspec
import pytest
import yaml
from hypothesis import event, given, strategies as st

from pytest_benchbench.adapters.onnx_config import OnnxConfigError, parse_config
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.carriers.source_list import read_source_list
from pytest_benchbench.gates.policy import PolicyError, load_policy
from pytest_benchbench.session.expectations import Expectations, ExpectationsError

KNOWN = [
    {"id": "cat-01", "expected": "detected", "reason": "dark picture"},
    {"id": "cat-02", "expected": "not_detected", "reason": "r", "adapter": "toy", "suite": "s.py::t", "params": "p"},
]
POLICY = {
    "name": "mine",
    "description": "for people",
    "allow_lazy_verification": True,
    "rules": [
        {"id": "errors", "metric": "error_count", "op": "==", "value": 0},
        {
            "id": "rate",
            "metric": "detection_rate",
            "op": ">=",
            "value": 0.9,
            "bound": "wilson_lower",
            "unit": "base",
            "slice": {"state": "marked"},
            "min_n": 3,
        },
    ],
}
SCORE_POLICY = {
    "name": "scores",
    "threshold": 0.65,
    "required_transforms": [
        {"transform": "none", "resolutionGroup": "full-res"},
        {"transform": "resize-112", "resolutionGroup": "thumbnail"},
    ],
    "requires": {"split": "test", "evaluationMode": ["deployed", "reference"]},
    "identity": ["baseId", "modelSha256"],
    "unmixed": ["modelSha256", "calibratorSha256"],
    "held_out": "verified",
    "max_attempt": 2,
    "rules": [
        {"id": "bases", "metric": "real_count", "op": ">=", "value": 500},
        {
            "id": "recall",
            "metric": "real_recall",
            "op": ">=",
            "value": 0.95,
            "bound": "wilson_lower",
            "unit": "base",
            "slice": {"source": "*", "resolutionGroup": "full-res"},
            "assumed": 0.995,
        },
        {"id": "brier", "metric": "brier", "op": "<=", "value": 0.1},
    ],
}
MODEL = {
    "schema_version": 1,
    "type": "onnx-scorer",
    "model": {"path": "model.onnx", "sha256": "0" * 64, "external_data": [{"path": "weights.bin", "sha256": "1" * 64}]},
    "input": "pixels",
    "output": {"name": "score", "kind": "softmax", "index": 1},
    "preprocessing": {
        "version": "v1",
        "colour": "RGB",
        "alpha": [255, 255, 255],
        "minimum_side": 64,
        "resize": {"mode": "shortest", "side": 256, "filter": "bilinear", "antialias": True},
        "crops": {"mode": "five", "size": [224, 224], "pad": [0, 0, 0]},
        "aggregation": {"of": "logit", "by": "mean"},
        "scale": 255.0,
        "mean": [0.5, 0.5, 0.5],
        "deviation": [0.25, 0.25, 0.25],
        "layout": "NCHW",
        "dtype": "float32",
    },
    "runtime": {"providers": ["CPUExecutionProvider"], "threads": 2},
    "calibrator": {"path": "calibrator.json"},
}
PHOTOGRAPHS = {
    "images": [
        {"path": "a.png", "sha256": "0" * 64, "width": 8, "height": 8, "license": "CC0-1.0"},
        {"path": "b.png", "sha256": "1" * 64, "width": 8, "height": 8, "reuse_basis": "own", "name": "other"},
    ]
}


def written(value):
    """Write YAML in block style, or as JSON what has none; JSON is YAML nearly always."""
    try:
        return yaml.safe_dump(value, allow_unicode=True).encode()
    except (yaml.YAMLError, UnicodeEncodeError):
        return json.dumps(value).encode()


LAYOUTS = pytest.mark.parametrize("encode", [written, lambda value: json.dumps(value).encode()], ids=["block", "flow"])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "file.yaml"


@LAYOUTS
@given(data=st.data())
def test_known_mismatches(path, mangled, told, encode, data):
    path.write_bytes(data.draw(mangled([KNOWN, KNOWN[:1], []], encode)))
    try:
        known = Expectations.read(path, "known.yaml")
    except ExpectationsError as error:
        event("refused")
        told(error, "known.yaml")
        return
    document = yaml.safe_load(path.read_bytes()) or []
    event(f"{len(document)} entries")
    assert len(known) == len(document)
    for entry in document:
        assert entry in [
            {name: value for name, value in msgspec.to_builtins(one).items() if name in entry}
            for one in known.about(entry["id"])
        ]


@LAYOUTS
@given(data=st.data())
def test_policies(path, mangled, told, encode, data):
    policies = [POLICY, POLICY | {"rules": POLICY["rules"][:1]}, SCORE_POLICY]
    path.write_bytes(data.draw(mangled(policies, encode)))
    try:
        policy = load_policy("file.yaml", directory=path.parent).policy
    except PolicyError as error:
        event("refused")
        told(error, "file.yaml")
        return
    event("read")
    path.write_text(yaml.safe_dump(msgspec.to_builtins(policy)))
    assert load_policy("file.yaml", directory=path.parent).policy == policy


@LAYOUTS
@given(data=st.data())
def test_lists_of_photographs(path, mangled, told, encode, data):
    path.write_bytes(data.draw(mangled([PHOTOGRAPHS], encode)))
    try:
        sources = read_source_list(path, display="photographs.yaml")
    except CohortError as error:
        event("refused")
        told(error, "photographs.yaml")
        return
    event("read")
    path.write_text(yaml.safe_dump({"images": msgspec.to_builtins(list(sources.images))}))
    assert read_source_list(path, display="photographs.yaml").images == sources.images


def test_the_valid_files_are_accepted(path):
    for policy in (POLICY, SCORE_POLICY):
        path.write_bytes(written(policy))
        load_policy("file.yaml", directory=path.parent)
    parse_config(written(MODEL), name="model.yaml")


@LAYOUTS
@given(data=st.data())
def test_descriptions_of_models(mangled, told, encode, data):
    try:
        config = parse_config(data.draw(mangled([MODEL], encode)), name="model.yaml")
    except OnnxConfigError as error:
        event("refused")
        told(error, "model.yaml")
        return
    event("read")
    assert parse_config(written(msgspec.to_builtins(config)), name="model.yaml") == config
    assert config.preprocessing_version.startswith(f"{config.preprocessing.version}+")
