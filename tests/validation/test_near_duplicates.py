import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.artifacts.image import ImageTraits
from pytest_benchbench.validation.image_measures import ImageMeasure, Undecodable
from pytest_benchbench.validation.near_duplicates import find_look_alikes, near_duplicates, not_compared

TRAITS = ImageTraits("PNG", (8, 8), (), None)

NEAR, FAR = 31, 32


def sha(number):
    return f"{number:064x}"


def measure(value):
    """Give a hash whose bits are those of a number: ones in a row, so that hashes differ by as many as numbers do."""
    bits = np.zeros(256, np.uint8)
    bits[:value] = 1
    return ImageMeasure(TRAITS, np.packbits(bits).tobytes())


@pytest.fixture(scope="session")
def outcome_of(wide_dataset):
    """Rows as ``(id, hash value, changes)``; a value ``None`` has no measure."""

    def of(*rows, distance=NEAR):
        columns = wide_dataset.columns(
            *(wide_dataset.row(name, **{"sha256": sha(place), **changes}) for place, (name, _, changes) in enumerate(rows))
        )
        measures = {
            changes.get("sha256", sha(place)): measure(value)
            for place, (_, value, changes) in enumerate(rows)
            if value is not None
        }
        return near_duplicates(columns, find_look_alikes(columns, measures, distance))

    return of


def test_two_bases_that_look_alike_are_an_error(outcome_of):
    assert outcome_of(("a", 0, {}), ("b", FAR, {})).total == 0
    outcome = outcome_of(("a", 0, {}), ("b", NEAR, {"split": "train"}))
    assert (outcome.total, outcome.severity) == (1, "error")
    assert str(outcome.kept[0]) == (
        "set.jsonl:1: near-duplicates: pictures of 2 bases in train and test look alike and no splitGroup joins them "
        "(closest: 31 of 256 bits differ): 'a' (set.jsonl:1), 'b' (set.jsonl:2)"
    )


def test_a_smaller_distance_asks_for_more_likeness(outcome_of):
    assert outcome_of(("a", 0, {}), ("b", 5, {}), distance=4).total == 0
    assert outcome_of(("a", 0, {}), ("b", 5, {}), distance=5).total == 1


@pytest.mark.parametrize("value", [0, 9])
def test_one_row_without_the_split_group_is_the_difference(outcome_of, value):
    group = {"splitGroup": "g"}
    rows = [("a", 0, group), ("b", value, group), ("c", value + 1, group)]
    assert outcome_of(*rows).total == 0
    outcome = outcome_of(*rows[:-1], ("c", value + 1, {}))
    assert outcome.total == 1
    assert [row.id for row in outcome.kept[0].rows] == ["a", "b", "c"]


def test_derivatives_of_one_base_are_no_finding(outcome_of):
    rows = [("a", 0, {}), ("a-jpeg", 1, {"baseId": "a"}), ("a-webp", 0, {"baseId": "a"})]
    assert outcome_of(*rows).total == 0


def test_derivatives_of_other_bases_are(outcome_of):
    outcome = outcome_of(("a", 0, {}), ("b", 200, {}), ("b-crop", 2, {"baseId": "b"}))
    assert [row.id for row in outcome.kept[0].rows] == ["a", "b-crop"]
    assert outcome.kept[0].row_count == 2


def test_a_group_of_one_row_counts_for_its_base(outcome_of):
    rows = [("a", 0, {"splitGroup": "g"}), ("b", 9, {}), ("b-crop", 200, {"baseId": "b", "splitGroup": "g"})]
    assert outcome_of(*rows).total == 0


def test_groups_may_join_through_others(outcome_of):
    rows = [
        ("a", 0, {"splitGroup": "g"}),
        ("b", 200, {"splitGroup": "g"}),
        ("b2", 240, {"baseId": "b", "splitGroup": "h"}),
        ("c", 9, {"splitGroup": "h"}),
    ]
    assert outcome_of(*rows).total == 0


def test_the_same_bytes_are_left_to_their_own_rule(outcome_of):
    assert outcome_of(("a", 0, {"sha256": sha(7)}), ("b", 0, {"sha256": sha(7)})).total == 0
    assert outcome_of(("a", 0, {"sha256": sha(7)}), ("b", 0, {"sha256": sha(7)}), ("c", 1, {})).total == 1


def test_what_looks_alike_through_others_is_one_finding(outcome_of):
    outcome = outcome_of(*((f"r{place}", place * 20, {}) for place in range(8)), ("far", 250, {}))
    assert outcome.total == 1
    assert (outcome.kept[0].row_count, len(outcome.kept[0].rows)) == (8, 5)


def test_rows_without_a_hash_are_not_compared(outcome_of):
    assert outcome_of(("a", None, {}), ("b", None, {})).total == 0


def test_images_that_cannot_be_compared_are_named(wide_dataset):
    columns = wide_dataset.columns(*(wide_dataset.row(name, sha256=sha(place)) for place, name in enumerate("abcd")))
    measures = {
        sha(0): measure(1),
        sha(1): Undecodable("the file is truncated"),
        sha(2): ImageMeasure(TRAITS, None),
        sha(3): None,
    }
    assert find_look_alikes(columns, measures, NEAR).compared == 1
    undecodable, plain = not_compared(columns, measures)
    assert str(undecodable.kept[0]) == (
        "set.jsonl:2: warning: undecodable: not compared: the file is truncated: 'b' (set.jsonl:2)"
    )
    assert (plain.rule, plain.kept[0].rows[0].id, plain.kept[0].row_count) == ("plain-images", "c", 1)
    assert [outcome.total for outcome in not_compared(columns, {sha(0): measure(1)})] == [0]


ANY_ROWS = st.lists(
    st.tuples(
        st.integers(0, 120),
        st.sampled_from(["p", "q", "r", "s"]),
        st.sampled_from([None, None, "g", "h"]),
        st.sampled_from(["train", "test"]),
    ),
    min_size=1,
    max_size=9,
)


@settings(max_examples=50)
@given(rows=ANY_ROWS, distance=st.integers(0, NEAR), data=st.data())
def test_findings_are_those_of_comparing_all_with_all_in_any_order(outcome_of, rows, distance, data):
    given_rows = [
        (
            f"i{place}",
            value,
            {"sha256": sha(place), "baseId": base, "split": split, **({"splitGroup": group} if group else {})},
        )
        for place, (value, base, group, split) in enumerate(rows)
    ]
    told = [
        {(finding.message, finding.row_count, tuple(row.id for row in finding.rows)) for finding in outcome.kept}
        for outcome in (
            outcome_of(*given_rows, distance=distance),
            outcome_of(*data.draw(st.permutations(given_rows)), distance=distance),
        )
    ]
    assert told[0] == told[1]
    joined = _closure({base for _, base, _, _ in rows}, [(a[1], b[1]) for a in rows for b in rows if a[2] and a[2] == b[2]])
    apart = [
        (place, other)
        for place, one in enumerate(rows)
        for other, two in enumerate(rows)
        if joined[one[1]] != joined[two[1]] and abs(one[0] - two[0]) <= distance
    ]
    alike = _closure({row[1] for row in rows}, [(a[1], b[1]) for a in rows for b in rows if abs(a[0] - b[0]) <= distance])
    assert len(told[0]) == len({frozenset(alike[rows[place][1]]) for pair in apart for place in pair})
    assert sum(count for _, count, _ in told[0]) == len({place for pair in apart for place in pair})


def _closure(names, pairs):
    component = {name: {name} for name in names}
    for one, other in pairs:
        together = component[one] | component[other]
        component.update(dict.fromkeys(together, together))
    return component
