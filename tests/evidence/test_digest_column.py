"""Equal digests are found, whatever their order and number."""

from collections import defaultdict

import numpy as np
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.digest_column import DigestColumn, distinct, sha256_text_digest, text_digest

digests = st.one_of(
    st.binary(min_size=16, max_size=16),
    st.sampled_from([b"\0" * 16, b"\0" * 15 + b"\1", b"\1" + b"\0" * 15, b"\0" * 8 + b"\1" * 8, b"\1" * 8 + b"\0" * 8]),
)


def column_of(entries):
    column = DigestColumn()
    for digest, _ in entries:
        column.append(digest)
    return column


def places(entries, key):
    found = defaultdict(list)
    for place, entry in enumerate(entries):
        found[key(entry)].append(place)
    return found


@given(st.lists(st.tuples(digests, st.integers(0, 2))), st.booleans())
def test_groups_are_the_equal_entries_in_the_order_of_arrival(entries, with_codes):
    expected = places(entries, lambda entry: entry if with_codes else entry[0])
    groups = column_of(entries).groups(np.array([code for _, code in entries], dtype=np.uint32) if with_codes else None)
    assert len(groups) == len(expected)
    assert sorted(group.tolist() for group in groups.several()) == sorted(
        group for group in expected.values() if len(group) > 1
    )
    numbers = groups.numbers().tolist()
    assert set(numbers) == set(range(len(expected)))
    assert all(len({numbers[place] for place in group}) == 1 for group in expected.values())


def test_a_column_gives_its_digests_back():
    column = DigestColumn(32)
    for byte in (b"x", b"y"):
        column.append(byte * 32)
    assert (len(column), column[0], column[1]) == (2, b"x" * 32, b"y" * 32)


def test_a_column_can_grow_after_it_was_grouped():
    column = column_of([(b"x" * 16, 0)])
    assert len(column.groups()) == 1
    column.append(text_digest(b"y"))
    assert len(column.groups()) == 2


@given(numbers=st.lists(st.integers(0, 2**63 - 1), max_size=20).map(lambda few: [*few, *few[::2]]))
def test_different_numbers_are_those_of_a_set(numbers):
    assert distinct(np.array(numbers, dtype=np.uint64)).tolist() == sorted(set(numbers))


hexadecimal = st.text("0123456789abcdefABCDEF ", min_size=62, max_size=66)


@given(st.lists(st.one_of(st.text(), hexadecimal, st.binary(min_size=32, max_size=32).map(bytes.hex)), min_size=2))
def test_a_sha256_is_told_from_every_other_text(texts):
    told = {text.lower() if len(text) == 64 and " " not in text else text for text in texts}
    assert len({sha256_text_digest(text) for text in told}) == len(told)


def test_no_text_has_the_digest_of_nothing():
    assert all(any(sha256_text_digest(text)) for text in ("0" * 64, "0" * 32 + "f" * 32, ""))
