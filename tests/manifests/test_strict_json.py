import json

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests.strict_json import MAX_DEPTH, MalformedJsonError, parse_object, too_deep

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES))
def test_sound_json_comes_back_unchanged(value):
    assert parse_object(json.dumps(value, ensure_ascii=False).encode()) == (value, [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "blank line"),
        (b" \t\r", "blank line"),
        (b"[1]", "expected a JSON object, got an array"),
        (b"7", "expected a JSON object, got 7"),
        (b"NaN", "expected a JSON object, got NaN is no JSON number"),
        (b'{"a":1', "not JSON at column 7: Expecting ',' delimiter"),
        (b'{"a":1}{', "not JSON at column 8: Extra data"),
        (b'{"a":"\xff"}', "not UTF-8 at byte 7 of the line"),
        (b'{"a":"\xed\xa0\x80"}', "not UTF-8 at byte 7 of the line"),
        (b'{"a":"\x01"}', "not JSON at column 7: Invalid control character at"),
        (b'\xef\xbb\xbf{"a":1}', "a byte-order mark may stand only at the beginning of the file"),
        (b'{"a":' + b"[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_what_is_no_object_is_refused_with_the_place(line, message):
    with pytest.raises(MalformedJsonError) as caught:
        parse_object(line)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a":1,"a":1}', ("a", "this key stands twice")),
        (b'{"a":1,"\\u0061":2}', ("a", "this key stands twice")),
        (b'{"a":{"b":[0,{"c":1,"c":2}]}}', ("a.b[1].c", "this key stands twice")),
        (b'{"a":{"x\\ny":1,"x\\ny":2}}', ("a.'x\\ny'", "this key stands twice")),
        (b'{"a":{"b":NaN}}', ("a.b", "NaN is no JSON number")),
        (b'{"a":[-Infinity]}', ("a[0]", "-Infinity is no JSON number")),
        (b'{"a":1e999}', ("a", "1e999 is beyond the range of numbers")),
        (b'{"a":' + b"9" * 5000 + b"}", ("a", "a number of 5000 digits")),
        (b'{"a":"\\ud800"}', ("a", "half of a surrogate pair: the text cannot be encoded")),
        (b'{"a":{"\\udc00":1}}', ("a.'\\udc00'", "half of a surrogate pair: the key cannot be encoded")),
    ],
)
def test_what_a_lenient_parser_lets_pass_is_named_with_its_place(line, problem):
    assert parse_object(line)[1] == [problem]


def nested(levels):
    return b'{"a":' * levels + b"0" + b"}" * levels


def test_the_deepest_object_is_read_and_one_more_level_refused():
    assert parse_object(nested(MAX_DEPTH))[1] == []
    ((place, message),) = parse_object(nested(MAX_DEPTH + 1))[1]
    assert (place.count("a"), message) == (MAX_DEPTH, f"nested deeper than {MAX_DEPTH} levels")


@given(st.integers(1, 8), st.integers(1, 8))
def test_too_deep_counts_levels(levels, allowed):
    assert too_deep(json.loads(nested(levels)), allowed) == (levels > allowed)
