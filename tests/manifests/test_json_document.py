"""Documents over many lines: what they hold, and where the elements of an array stand."""

import json

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests.json_document import MalformedDocumentError, parse_document

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT.filter("rows".__ne__), VALUES, max_size=4), st.lists(VALUES, max_size=4), st.data())
def test_every_element_is_found_where_it_stands(members, rows, data):
    indent, ascii_only = data.draw(st.sampled_from([None, 1, "\t"])), data.draw(st.booleans())
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    written = mark + json.dumps({**members, "rows": rows}, indent=indent, ensure_ascii=ascii_only).encode()
    document = parse_document(written, "rows")
    assert {name: element.value for name, element in document.members.items()} == members
    assert [element.value for element in document.elements] == rows
    for element in [*document.elements, *document.members.values()]:
        assert json.loads(written[element.begin : element.end]) == element.value
        assert element.line == written[: element.begin].count(b"\n") + 1


@given(st.binary(max_size=40) | st.text(alphabet='{}[]":,x1 \n\\', max_size=40).map(str.encode))
def test_any_bytes_are_parsed_or_refused(data):
    try:
        line = parse_document(data, "rows").line
    except MalformedDocumentError as refused:
        line = refused.line
    else:
        assert isinstance(json.loads(data), dict)
    assert 1 <= line <= data.count(b"\n") + 1


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"", 1, "not JSON at column 1: Expecting '{'"),
        (b"\n[1]", 2, "not JSON at column 1: Expecting '{'"),
        (b'{"a": 1,\n "b" 2}', 2, "not JSON at column 6: Expecting ':'"),
        (b'{"a": 1\n "b": 2}', 2, "not JSON at column 2: Expecting ','"),
        (b'{"a": 1,\n}', 2, "not JSON at column 1: Expecting property name enclosed in double quotes"),
        (b'{"rows": [1\n2]}', 2, "not JSON at column 1: Expecting ','"),
        (b'{"rows": [1]}\n{}', 2, "not JSON at column 1: Extra data"),
        (b'{"a":\n"\xff"}', 2, "not UTF-8 at byte 2 of the line"),
        (b'{"\\ud800": 1}', 1, "not JSON at column 2: Half of a surrogate pair in a name"),
        (b'{"a": ' + b"[" * 100_000, 1, "nested deeper than 64 levels"),
        (b'{"a": 1', 1, "not JSON at column 8: Expecting ','"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", 1, "not JSON at column 2: Expecting '{'"),
    ],
)
def test_where_a_document_stops_being_one(data, line, said):
    with pytest.raises(MalformedDocumentError) as caught:
        parse_document(data, "rows")
    assert (caught.value.line, caught.value.message) == (line, said)


def test_the_first_of_repeated_members_counts_and_the_later_is_told():
    document = parse_document(b'{"a": 1,\n"a": 2,\n"rows": [1],\n"rows": [2]}', "rows")
    assert document.repeated == [("a", 2), ("rows", 4)]
    assert (document.members["a"].value, [element.value for element in document.elements]) == (1, [1])


def test_a_member_of_that_name_that_is_no_array_is_a_member():
    document = parse_document(b'{"rows": 3}', "rows")
    assert (document.members["rows"].value, document.elements) == (3, None)


def test_what_json_does_not_have_is_a_problem_of_its_element():
    document = parse_document(b'{"rows": [{"a": NaN, "b": {"c": 1, "c": 2}}]}', "rows")
    assert document.elements[0].problems == [("a", "NaN is no JSON number"), ("b.c", "this key stands twice")]
