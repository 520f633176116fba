"""YAML that people write by hand."""

import contextlib
import time

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests import yaml_documents
from pytest_benchbench.manifests.yaml_documents import MAX_YAML_BYTES, YamlError, parse_struct, parse_yaml, read_bounded


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
        (b"1:" * 400 + b"1.5", "x:1: "),
        (b'a: "\\ud800"', "x:1: '\\ud800' holds half of a surrogate pair"),
        (b'{"\\ud83d\\ude00": 1}', "x:1: "),
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
        "beyond-float",
        "surrogate",
        "surrogate-key",
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
    with pytest.raises(YamlError, match=r"gone\.yaml: cannot be read: No such file"):
        read_bounded(tmp_path / "gone.yaml", name="gone.yaml")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_a_yaml_error(data):
    with contextlib.suppress(YamlError):
        parse_yaml(data, name="x")


@pytest.mark.parametrize("text", ["12:30", "1:30.5", "!!int '1:1'", "!!float '1:1'", "1:1" * 100 + ".5"])
def test_a_number_to_the_base_of_60_is_refused(text):
    with pytest.raises(YamlError, match="put text in quotes"):
        parse_yaml(f"a: {text}".encode(), name="x")


@pytest.mark.parametrize("digits", ["1:" * 100_000 + "1", "1:" * 100_000 + "1.5"])
def test_a_long_number_takes_no_time(digits):
    begin = time.process_time()
    with pytest.raises(YamlError):
        parse_yaml(digits.encode(), name="x")
    assert time.process_time() - begin < 10


def test_the_number_of_nodes_is_bounded(monkeypatch):
    monkeypatch.setattr(yaml_documents, "MAX_NODES", 100)
    assert len(parse_yaml(b"[" + b"a," * 99 + b"]", name="x")) == 99
    with pytest.raises(YamlError, match="more than 100 keys and values"):
        parse_yaml(b"[" + b"a," * 100 + b"]", name="x")


@pytest.mark.parametrize(
    "text",
    [
        '"\\e[31m\\n": 1\n"\\e[31m\\n": 2',
        f"? [{'x, ' * 1000}]\n: 1",
        "? !!binary aGVsbG8=\n: 1",
        f'"{"x" * 10_000}": 1\n"{"x" * 10_000}": 2',
        "? 2026-01-01\n: 1",
        "a: !\\u001b[31m 1",
    ],
    ids=["controls", "list", "bytes", "long", "date", "tag"],
)
def test_a_hostile_key_is_quoted_short_and_printable(text):
    with pytest.raises(YamlError) as caught:
        parse_yaml(text.encode(), name="x")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    size: int


def test_a_document_becomes_a_struct():
    assert parse_struct(b"size: 3\n", Entry, name="x", limit=100) == Entry(3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"size: many\n", "x: size: expected int, got str"),
        (b"[]", "x: expected object, got array"),
        (b"size: 1\nsize: 2\n", "x:2: the key 'size' stands twice"),
        (b"#" * 101, "x: larger than 100 bytes"),
    ],
)
def test_what_is_no_such_struct_is_told_with_file_and_field(text, told):
    with pytest.raises(YamlError) as caught:
        parse_struct(text, Entry, name="x", limit=100)
    assert str(caught.value) == told


def test_no_more_is_read_than_shows_that_it_is_too_much(tmp_path):
    (tmp_path / "x").write_bytes(b"#" * 1000)
    assert len(read_bounded(tmp_path / "x", name="x", limit=10)) == 11
    with pytest.raises(YamlError, match="x: cannot be read: embedded null byte"):
        read_bounded(tmp_path / "\0", name="x")
