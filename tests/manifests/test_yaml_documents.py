"""YAML that people write by hand."""

import contextlib

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests.yaml_documents import MAX_YAML_BYTES, YamlError, parse_yaml, read_bounded


def test_plain_documents_are_read():
    assert parse_yaml(b"a: [1, 2.5, true, null, text]\nb: {c: d}", name="x") == {
        "a": [1, 2.5, True, None, "text"],
        "b": {"c": "d"},
    }


def test_an_empty_document_is_none():
    assert parse_yaml(b"", name="x") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"a: 1\na: 2", "x:2: the key 'a' stands twice"),
        (b"b: {a: 1, a: 2}", "x:1: the key 'a' stands twice"),
        (b"1: one", "x:1: the key 1 is not text"),
        (b"a: &n [1]\nb: *n", "x:2: aliases are not allowed"),
        (b"a: !!python/name:os.system", "x:1: could not determine a constructor"),
        (b"a: 'open", "x:"),
        (b"\xff\xfe\xfa", "x: "),
        (b"a: 2026-13-45", "x: "),
        (b"[" * 5000, "x: "),
        (b"!!timestamp x", "x: "),
        (b"!!bool x", "x: "),
        (b"!!int ''", "x: "),
    ],
    ids=[
        "repeated",
        "nested",
        "number",
        "alias",
        "tag",
        "open",
        "bytes",
        "date",
        "deep",
        "no-time",
        "no-truth",
        "no-number",
    ],
)
def test_what_would_mean_something_else_is_refused_in_one_line(text, says):
    with pytest.raises(YamlError) as caught:
        parse_yaml(text, name="x")
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_a_document_that_is_too_large_is_refused():
    with pytest.raises(YamlError, match="larger than"):
        parse_yaml(b" " * (MAX_YAML_BYTES + 1), name="x")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(YamlError, match=r"gone\.yaml: No such file"):
        read_bounded(tmp_path / "gone.yaml", name="gone.yaml")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_a_yaml_error(data):
    with contextlib.suppress(YamlError):
        parse_yaml(data, name="x")
