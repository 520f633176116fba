import hashlib

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.artifacts.image import ImageTraits
from pytest_benchbench.manifests.placing import Place
from pytest_benchbench.validation.clustering import PREFIX, cluster, clustered_rows
from pytest_benchbench.validation.columns import read_columns
from pytest_benchbench.validation.image_measures import ImageMeasure
from pytest_benchbench.validation.near_duplicates import find_look_alikes, near_duplicates

DISTANCE = 31


def sha(number):
    return f"{number:064x}"


def measures_of(rows):
    def measure(value):
        bits = np.zeros(256, np.uint8)
        bits[:value] = 1
        return ImageMeasure(ImageTraits("PNG", (8, 8), (), None), np.packbits(bits).tobytes())

    return {sha(place): measure(value) for place, (_, value, _) in enumerate(rows)}


@pytest.fixture(scope="session")
def clustered(wide_dataset):
    """Rows as ``(id, hash value, changes)``."""

    def of(*rows):
        columns = wide_dataset.columns(
            *(wide_dataset.row(name, sha256=sha(place), **changes) for place, (name, _, changes) in enumerate(rows))
        )
        return cluster(columns, find_look_alikes(columns, measures_of(rows), DISTANCE))

    return of


def test_bases_that_look_alike_get_a_group(clustered):
    proposed = clustered(("a", 0, {}), ("b", 9, {"split": "train"}), ("b-jpeg", 200, {"baseId": "b"}), ("c", 100, {}))
    (one,) = proposed.clusters
    assert (one.bases, one.rows, one.changed, one.splits) == (("a", "b"), 3, 3, ("train", "test"))
    assert (one.closest, one.merged) == (9, ())
    assert proposed.group_of_base == {"a": one.group, "b": one.group}
    assert one.group == PREFIX + hashlib.sha256(b'["a","b"]').hexdigest()[:16]


def test_one_bit_more_and_nothing_is_joined(clustered):
    assert len(clustered(("a", 0, {}), ("b", DISTANCE, {})).clusters) == 1
    assert clustered(("a", 0, {}), ("b", DISTANCE + 1, {})).group_of_base == {}


def test_a_group_that_is_there_keeps_its_name(clustered):
    proposed = clustered(("a", 0, {"splitGroup": "mine"}), ("b", 9, {}))
    (one,) = proposed.clusters
    assert (one.group, one.merged, one.changed) == ("mine", ("mine",), 1)


def test_of_several_groups_the_first_name_stays(clustered):
    proposed = clustered(
        ("a", 0, {"splitGroup": "z"}),
        ("b", 9, {"splitGroup": "k"}),
        ("c", 200, {"splitGroup": "z"}),
        ("d", 150, {"splitGroup": "q"}),
    )
    (one,) = proposed.clusters
    assert (one.group, one.bases, one.merged, one.changed) == ("k", ("a", "b", "c"), ("k", "z"), 2)
    assert proposed.group_of_base == {"a": "k", "b": "k", "c": "k", "d": "q"}


def test_a_group_in_which_nothing_changes_is_kept_and_says_so(clustered):
    (one,) = clustered(("a", 0, {"splitGroup": "g"}), ("b", 9, {"splitGroup": "g"})).clusters
    assert (one.changed, one.closest) == (0, None)


def test_the_group_of_one_row_becomes_that_of_its_base(clustered):
    assert clustered(("a", 0, {"splitGroup": "g"}), ("a2", 200, {"baseId": "a"})).group_of_base == {"a": "g"}


def test_a_name_that_is_taken_is_not_given_to_strangers(clustered):
    name = clustered(("a", 0, {}), ("b", 9, {})).clusters[0].group
    proposed = clustered(("a", 0, {}), ("b", 9, {}), ("x", 200, {"splitGroup": name}))
    assert proposed.group_of_base["a"].startswith(name)
    assert proposed.group_of_base["a"] != proposed.group_of_base["x"] == name


ROWS = st.lists(
    st.tuples(st.integers(0, 120), st.sampled_from("pqrs"), st.sampled_from([None, None, "g", "h"])), min_size=1, max_size=8
)


@settings(max_examples=40)
@given(rows=ROWS, data=st.data())
def test_what_is_proposed_satisfies_the_rule_in_any_order_and_again(wide_dataset, rows, data):
    made = [
        (
            wide_dataset.row(f"i{place}", sha256=sha(place), baseId=base, **({"splitGroup": group} if group else {})),
            value,
        )
        for place, (value, base, group) in enumerate(rows)
    ]
    measures = measures_of([(None, value, None) for _, value in made])

    def proposed(of):
        columns = wide_dataset.columns(*of)
        return cluster(columns, find_look_alikes(columns, measures, DISTANCE))

    first = proposed([row for row, _ in made])
    assert first == proposed([row for row, _ in data.draw(st.permutations(made))])
    after = [dict(row) for row, _ in made]
    for row in after:
        if (group := first.group_of_base.get(row["baseId"])) is not None:
            row["splitGroup"] = group
    columns = wide_dataset.columns(*after)
    assert near_duplicates(columns, find_look_alikes(columns, measures, DISTANCE)).total == 0
    again = proposed(after)
    assert again.group_of_base == first.group_of_base
    assert all(one.changed == 0 for one in again.clusters)


def test_rows_keep_everything_but_the_group_and_paths_follow_the_manifest(dataset):
    (dataset.folder / "sub").mkdir()
    (dataset.folder / "sub" / "a.png").write_bytes(b"a")
    rows = [dataset.row("a", path="a.png", prompt="cat", label=1), dataset.row("b", baseId="a")]
    manifest = dataset.manifest(*rows, name="sub/set.jsonl")
    columns = read_columns([manifest])
    proposal = cluster(columns, find_look_alikes(columns, {}, DISTANCE))
    for output, path in (("sub/new.jsonl", "a.png"), ("new.jsonl", "sub/a.png")):
        place = Place(dataset.folder / output)
        written = [msgspec.to_builtins(row) for row in clustered_rows([manifest], proposal, place)]
        assert written == [{**rows[0], "path": path}, rows[1]]
