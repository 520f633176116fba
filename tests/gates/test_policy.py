"""Policies: what is accepted, what is refused and how the refusal reads."""

import hashlib
import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, strategies as st

import pytest_benchbench.gates
from pytest_benchbench.gates.metrics import OUTCOME_FACETS
from pytest_benchbench.gates.policy import (
    MAX_BYTES,
    Metric,
    Policy,
    PolicyError,
    Rule,
    built_in_policies,
    load_policy,
)
from pytest_benchbench.gates.policy_faults import OWN_PREFIXES, OWN_RULES

RULE = "{id: r, metric: mismatch_count, op: '<=', value: 0}"


@pytest.fixture
def refusal(tmp_path):
    """Write a policy and give the message with which it is refused, without its directory."""

    def refuse(text):
        path = tmp_path / "mine.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(PolicyError) as caught:
            load_policy(str(path))
        return str(caught.value).removeprefix(f"{tmp_path}/")

    return refuse


def test_three_are_built_in():
    assert built_in_policies() == ("release", "strict", "tutorial")


@pytest.mark.parametrize("name", built_in_policies())
def test_a_built_in_policy_is_named_like_its_file(name):
    assert load_policy(name).policy.name == name


def test_the_digest_is_that_of_the_bytes():
    path = Path(pytest_benchbench.gates.__file__).parent / "policies" / "strict.yaml"
    assert load_policy("strict").sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert load_policy(str(path)) == load_policy("strict")


@pytest.mark.parametrize("name", [*built_in_policies(), "Release"])
def test_no_other_policy_has_the_name_of_a_built_in_one(refusal, name):
    assert refusal(f"name: {name}\nrules: [{RULE}]\n") == (
        f"mine.yaml: name: '{name}' is the name of a built-in policy, whose demands are others: give yours another name"
    )


def test_a_rule_has_defaults(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text(f"name: mine\nrules: [{RULE}]\n")
    rule = Rule(id="r", metric="mismatch_count", op="<=", value=0.0, bound="observed", unit="row", slice=None, min_n=0)
    assert load_policy(str(path)).policy == Policy(
        name="mine", rules=(rule,), description=None, allow_lazy_verification=False
    )


def test_every_field_is_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\n"
        "description: recall\n"
        "allow_lazy_verification: true\n"
        "rules:\n"
        "  - {id: recall, metric: detection_rate, bound: wilson_lower, op: '>=', value: 0.8, unit: base, min_n: 100,\n"
        "     slice: {adapter: dwt-dct, state: marked, arm: positive, transform: jpeg, media_type: image}}\n"
    )
    policy = load_policy(str(path)).policy
    (rule,) = policy.rules
    assert (policy.description, policy.allow_lazy_verification) == ("recall", True)
    assert (rule.bound, rule.op, rule.value, rule.unit, rule.min_n) == ("wilson_lower", ">=", 0.8, "base", 100)
    assert rule.slice == {
        "adapter": "dwt-dct",
        "state": "marked",
        "arm": "positive",
        "transform": "jpeg",
        "media_type": "image",
    }


def test_the_example_of_the_documentation_is_a_policy(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "gates.md"
    (example,) = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    (tmp_path / "example.yaml").write_text(example)
    assert [rule.id for rule in load_policy(str(tmp_path / "example.yaml")).policy.rules] == [
        "no_error",
        "recall",
        "false_positives",
    ]


@pytest.mark.parametrize("name", ["released", "", "strict.yml.bak", "Strict"])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(PolicyError) as caught:
        load_policy(name)
    known = ", ".join(built_in_policies())
    assert str(caught.value) == f"{name}: no such policy; built in: {known}; or give the path of a .yaml file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.yaml: expected object, got null"),
        ("[]", "mine.yaml: expected object, got array"),
        (f"rules: [{RULE}]", "mine.yaml: object missing required field name"),
        ("name: a\nrules: []", "mine.yaml: rules: expected array of length >= 1"),
        ("name: a\nrules: [{id: r}]", "mine.yaml: rules[0]: object missing required field metric"),
        (f"name: a\nextra: 1\nrules: [{RULE}]", "mine.yaml: object contains unknown field extra"),
        (f"name: a b\nrules: [{RULE}]", "mine.yaml: name: expected str matching regex '^[A-Za-z0-9][A-Za-z0-9_.-]*$'"),
        (f"name: a\nname: b\nrules: [{RULE}]", "mine.yaml:2: the key 'name' stands twice"),
        (f"name: &n a\ndescription: *n\nrules: [{RULE}]", "mine.yaml:2: aliases are not allowed"),
        (f"name: a\nrules: [{RULE}, {RULE}]", "mine.yaml: rules[1].id: r is given twice"),
    ],
)
def test_a_malformed_policy_is_refused_in_one_line(refusal, text, message):
    assert refusal(text) == message


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            "{id: r, metric: f1, op: '<=', value: 0}",
            f"rules[0].metric: expected one of {', '.join(get_args(Metric))}, got 'f1'",
        ),
        ("{id: r, metric: error_count, op: '=<', value: 0}", "rules[0].op: expected one of <=, >=, ==, <, >, got '=<'"),
        ("{id: r, metric: error_count, op: '<=', value: true}", "rules[0].value: expected float, got bool"),
        ("{id: r, metric: error_count, op: '<=', value: .nan}", "rules[0].value: expected a finite number, got nan"),
        ("{id: r, metric: error_count, op: '<=', value: -.inf}", "rules[0].value: expected a finite number, got -inf"),
        ("{id: r, metric: error_count, op: '<=', value: 0, min_n: -1}", "rules[0].min_n: expected int >= 0"),
        ("{id: r, metric: error_count, op: '<=', value: 0, min_n: 1.5}", "rules[0].min_n: expected int, got float"),
        (
            "{id: r, metric: error_count, op: '<=', value: 0, bound: wilson_upper}",
            "rules[0].bound: error_count is a count and has no interval; use observed",
        ),
        ("{id: r, metric: detection_rate, op: '>=', value: 80}", "rules[0].value: a rate lies in [0, 1], got 80.0"),
        ("{id: r, metric: detection_rate, op: '==', value: 1}", "rules[0].op: a rate is compared by <=, >=, < or >"),
        (
            "{id: r, metric: error_count, op: '<=', value: 0, slice: {colour: red}}",
            f"rules[0].slice: unknown property 'colour'; known: {', '.join(OUTCOME_FACETS)}",
        ),
        (
            "{id: r, metric: error_count, op: '<=', value: 0, slice: {state: 1}}",
            "rules[0].slice[...]: expected str, got int",
        ),
    ],
)
def test_a_malformed_rule_is_refused_with_its_field(refusal, rule, message):
    assert refusal(f"name: a\nrules: [{rule}]") == f"mine.yaml: {message}"


@pytest.mark.parametrize("name", [*OWN_RULES, *(f"{prefix}x" for prefix in OWN_PREFIXES)])
def test_the_rules_of_every_gate_cannot_be_imitated(refusal, name):
    rule = RULE.replace("id: r", f"id: {name}")
    assert refusal(f"name: a\nrules: [{rule}]") == (
        f"mine.yaml: rules[0].id: {name} is a rule of every gate; choose another name"
    )


def test_a_large_file_is_refused_without_reading_it_all(refusal):
    assert refusal(b"#" * (MAX_BYTES + 1)) == f"mine.yaml: the policy is larger than {MAX_BYTES} bytes"


def test_a_file_of_the_largest_size_is_read(tmp_path):
    text = f"name: a\nrules: [{RULE}]\n".encode()
    (tmp_path / "mine.yaml").write_bytes(text + b"#" * (MAX_BYTES - len(text)))
    assert load_policy(str(tmp_path / "mine.yaml")).policy.name == "a"


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    (tmp_path / "folder.yaml").mkdir()
    for name, reason in {"none.yaml": "No such file or directory", "folder.yaml": "Is a directory"}.items():
        with pytest.raises(PolicyError, match=f"{name}: the policy cannot be read: {reason}"):
            load_policy(str(tmp_path / name))


def test_a_relative_path_starts_from_the_given_directory(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.yaml").write_text(f"name: sub\nrules: [{RULE}]\n")
    (tmp_path / "mine.yaml").write_text(f"name: top\nrules: [{RULE}]\n")
    monkeypatch.chdir(tmp_path)
    assert load_policy("mine.yaml").policy.name == "top"
    assert load_policy("mine.yaml", directory=tmp_path / "sub").policy.name == "sub"
    assert load_policy(str(tmp_path / "mine.yaml"), directory=tmp_path / "sub").policy.name == "top"
    assert load_policy("strict", directory=tmp_path / "sub").policy.name == "strict"
    with pytest.raises(PolicyError, match=r"^none\.yaml: the policy cannot be read"):
        load_policy("none.yaml", directory=tmp_path)


def test_a_path_without_a_yaml_name_is_a_path(tmp_path):
    with pytest.raises(PolicyError, match="strict: the policy cannot be read"):
        load_policy(str(tmp_path / "strict"))


def test_objects_are_not_constructed(refusal):
    assert "could not determine a constructor" in refusal("name: !!python/object/apply:os.getcwd []\n")


@given(text=st.one_of(st.binary(max_size=80), st.text(max_size=80).map(str.encode)))
def test_any_other_bytes_are_refused_in_one_line(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(text)
    with pytest.raises(PolicyError) as caught:
        load_policy(str(path))
    assert str(caught.value).startswith(f"{path}:")
    assert "\n" not in str(caught.value)
