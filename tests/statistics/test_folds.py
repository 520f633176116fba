import hashlib
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.statistics.folds import deal_folds

LABELS = st.dictionaries(st.text(max_size=8), st.integers(0, 1), max_size=40)
COUNTS = st.integers(2, 7)


def test_bases_of_a_class_are_ranked_by_digest_and_dealt_in_turn():
    labels = {f"b{number}": number % 2 for number in range(20)}
    expected = {}
    for label in (0, 1):
        bases = [base for base in labels if labels[base] == label]
        ranked = sorted(bases, key=lambda base: hashlib.sha256(f"salt|{base}".encode()).hexdigest())
        expected |= {base: rank % 3 for rank, base in enumerate(ranked)}
    assert deal_folds(labels, count=3, salt="salt") == expected


def test_known_folds():
    """By ``printf 'benchbench|b0' | sha256sum`` and so on, sorted: for implementations in other languages."""
    labels = {f"b{number}": int(number < 5) for number in range(10)}
    assert list(map(deal_folds(labels).get, labels)) == [1, 4, 2, 0, 3, 4, 0, 1, 3, 2]


@given(LABELS, COUNTS)
def test_folds_differ_by_at_most_one_base_of_each_class(labels, count):
    folds = deal_folds(labels, count=count)
    assert folds.keys() == labels.keys()
    for label in (0, 1):
        sizes = Counter(dict.fromkeys(range(count), 0))
        sizes.update(fold for base, fold in folds.items() if labels[base] == label)
        assert max(sizes.values()) - min(sizes.values()) <= 1


@given(LABELS, COUNTS, st.randoms())
def test_neither_order_nor_what_labels_are_called_moves_a_base(labels, count, random):
    folds = deal_folds(labels, count=count)
    shuffled = list(labels.items())
    random.shuffle(shuffled)
    assert deal_folds(dict(shuffled), count=count) == folds
    assert deal_folds({base: 1 - label for base, label in labels.items()}, count=count) == folds


def test_another_salt_deals_other_folds():
    labels = dict.fromkeys(map(str, range(20)), 1)
    assert deal_folds(labels, salt="a") != deal_folds(labels, salt="b")


def test_one_fold_is_none():
    with pytest.raises(ValueError, match="at least 2 folds"):
        deal_folds({"a": 1}, count=1)
