"""The readers of YAML: known mismatches, policies, lists of photographs."""

import json

import msgspec
import pytest
import yaml
from hypothesis import event, given, strategies as st

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
    path.write_bytes(data.draw(mangled([POLICY, POLICY | {"rules": POLICY["rules"][:1]}], encode)))
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
