"""Parts of a manifest's rows, told by the ids alone."""

import zlib

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests.sharding import MAX_SHARDS, Shard, ShardError

IDS = st.text(max_size=20)


@given(case_id=IDS, count=st.integers(1, 40))
def test_every_id_belongs_to_exactly_one_part(case_id, count):
    assert sum(Shard(index, count).takes(case_id) for index in range(1, count + 1)) == 1


@given(case_id=IDS)
def test_the_only_part_takes_everything(case_id):
    assert Shard(1, 1).takes(case_id)


@given(
    case_ids=st.lists(st.text(st.characters(exclude_categories=["Cs"]))), index=st.integers(1, 3), count=st.integers(3, 9)
)
def test_many_ids_are_told_as_each_of_them(case_ids, index, count):
    shard = Shard(index, count)
    taken = shard.places_taken([case_id.encode() for case_id in case_ids])
    assert taken == [place for place, case_id in enumerate(case_ids) if shard.takes(case_id)]


def test_the_rule_never_changes():
    """Runs of the shards of one manifest may come from different versions and machines."""
    found = {case_id: next(i for i in range(1, 65) if Shard(i, 64).takes(case_id)) for case_id in ("cat-01", "", "ä", "+")}
    assert found == {"cat-01": 28, "": 1, "ä": 4, "+": 14}
    assert {case_id: zlib.crc32(case_id.encode()) % 64 + 1 for case_id in found} == found


@pytest.mark.parametrize("count", [2, 3, 7, 16, 64])
def test_parts_of_numbered_rows_are_of_like_size(count):
    rows = 100_000
    sizes = [len(Shard(index, count).places_taken(b"case-%06d" % n for n in range(rows))) for index in range(1, count + 1)]
    assert sum(sizes) == rows
    assert max(sizes) < 1.1 * rows / count


@pytest.mark.parametrize("text", ["1/1", "3/64", "64/64", "01/08", f"{MAX_SHARDS}/{MAX_SHARDS}"])
def test_a_part_is_read(text):
    index, count = map(int, text.split("/"))
    shard = Shard.parse(text)
    assert (shard.index, shard.count, str(shard)) == (index, count, f"{index}/{count}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "/",
        "0/4",
        "5/4",
        "-1/4",
        "1/0",
        "1/4/2",
        " 1/4",
        "1/4\n",
        "1 / 4",
        "\uff11/4",
        f"1/{MAX_SHARDS + 1}",
        "9" * 99,
    ],
)
def test_what_is_no_part_is_refused(text):
    with pytest.raises(ShardError, match=r"expected I/N with 1 <= I <= N"):
        Shard.parse(text)
