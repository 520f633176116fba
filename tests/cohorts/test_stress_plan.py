import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.cohorts.stress_originals import Original
from pytest_benchbench.cohorts.stress_plan import plan_stress
from pytest_benchbench.cohorts.stress_transforms import find_transforms
from pytest_benchbench.manifests.reading import CaseRef

ALL = find_transforms([])


def original(long_side, *, group=None, has_metadata=True):
    group = group or ("thumbnail" if long_side <= 256 else "full-res")
    return Original(CaseRef("a", 1, 0, "base.jsonl"), "a.png", long_side, group, "PNG", has_metadata)


def counts(plan):
    return {planned.name: (planned.full_res, planned.thumbnail, planned.left_out) for planned in plan.counts}


def test_large_originals_get_every_row():
    plan = plan_stress([original(2000), original(1025)], ALL, "row")
    assert (plan.rows, plan.uneven_bases, plan.left_out_bases, plan.left_out_transforms) == (46, 0, 0, ())
    assert counts(plan)["none"] == (2, 0, 0)
    assert counts(plan)["resize-256"] == (0, 2, 0)


def test_one_pixel_too_small_leaves_out_a_row():
    plan = plan_stress([original(1025), original(1024)], ALL, "row")
    assert (plan.rows, plan.uneven_bases) == (45, 1)
    assert counts(plan)["resize-1024"] == (1, 0, 1)
    assert counts(plan)["resize-512"] == (2, 0, 0)


def test_one_pixel_too_small_leaves_out_the_transform():
    plan = plan_stress([original(1025), original(1024)], ALL, "transform")
    assert (plan.rows, plan.uneven_bases, plan.left_out_transforms) == (44, 0, ("resize-1024",))
    assert "resize-1024" not in counts(plan)


def test_one_pixel_too_small_leaves_out_the_base():
    plan = plan_stress([original(1025), original(1024)], ALL, "base")
    assert (plan.rows, plan.uneven_bases, plan.left_out_bases) == (23, 0, 1)
    assert [kept.long_side for kept in plan.originals] == [1025]


def test_a_thumbnail_beside_full_pictures_makes_every_base_uneven():
    plan = plan_stress([original(2000), original(2000, group="thumbnail")], ALL, "row")
    assert plan.uneven_bases == 2
    assert counts(plan)["jpeg-75"] == (1, 1, 0)


@pytest.mark.parametrize(
    ("has_metadata", "copies"),
    [
        (True, {"metadata-intact": 0, "metadata-stripped": 0}),
        (False, {"metadata-intact": 0, "metadata-stripped": 1}),
        (None, {"metadata-intact": 1, "metadata-stripped": 0}),
    ],
)
def test_copies_are_counted(has_metadata, copies):
    plan = plan_stress([original(2000, has_metadata=has_metadata)], ALL, "row")
    assert {planned.name: planned.copies for planned in plan.counts if planned.name in copies} == copies
    assert sum(planned.copies for planned in plan.counts) == sum(copies.values())


@given(
    sides=st.lists(st.integers(1, 1500), min_size=1, max_size=8),
    names=st.sets(st.sampled_from([one.name for one in ALL]), min_size=1),
    too_small=st.sampled_from(["row", "transform", "base"]),
)
def test_every_row_is_planned_or_left_out_and_counted(sides, names, too_small):
    transforms = find_transforms(names)
    plan = plan_stress([original(side) for side in sides], transforms, too_small)
    left_out = sum(planned.left_out for planned in plan.counts)
    assert plan.rows + left_out == len(plan.originals) * (len(plan.transforms) + 1)
    assert len(plan.originals) + plan.left_out_bases == len(sides)
    assert len(plan.transforms) + len(plan.left_out_transforms) == len(transforms)
    if too_small != "row":
        assert left_out == 0
    if not left_out and len({one.group for one in plan.originals}) < 2:
        assert plan.uneven_bases == 0
