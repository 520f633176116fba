import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.cohorts import CohortUsageError
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.cohorts.stress_transforms import STRESS_TRANSFORMS, find_transforms, row_seed

NAMES = [
    *("metadata-intact", "metadata-stripped"),
    *("jpeg-95", "jpeg-75", "jpeg-50", "jpeg-30", "webp-80", "webp-50"),
    *("resize-1024", "resize-512", "resize-256", "resize-112", "crop-90", "crop-75"),
    *("blur-1", "blur-2", "sharpen-2", "alpha-patch-50"),
    *("combined-upload", "combined-repost", "combined-screenshot", "combined-thumbnail"),
]

texts = st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable())


def test_the_names_are_stable_and_in_their_order():
    assert list(STRESS_TRANSFORMS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_transform_is_an_attack_of_the_registry(name):
    transform = STRESS_TRANSFORMS[name]
    (attack,) = find_attacks(transform.media_type, [transform.attack])
    if name not in ("resize-1024", "resize-512", "resize-256", "resize-112", "crop-90", "crop-75"):
        assert attack.name == name
    assert attack.strength is None or name.endswith(f"-{attack.strength:g}")


def test_what_ends_as_a_thumbnail_is_one_whatever_the_original():
    thumbnails = {name for name, transform in STRESS_TRANSFORMS.items() if transform.group("full-res") == "thumbnail"}
    assert thumbnails == {"resize-256", "resize-112", "combined-thumbnail"}
    assert {transform.group("thumbnail") for transform in STRESS_TRANSFORMS.values()} == {"thumbnail"}


@pytest.mark.parametrize(("long_side", "fits"), [(513, True), (512, False), (511, False)])
def test_a_resize_is_done_to_what_is_larger(long_side, fits):
    assert STRESS_TRANSFORMS["resize-512"].fits(long_side) is fits
    assert STRESS_TRANSFORMS["jpeg-75"].fits(long_side)


@given(seed=st.integers(0, 2**53 - 1), base=texts)
def test_a_seed_is_exact_in_json_and_differs_between_transforms(seed, base):
    seeds = [row_seed(seed, base, name) for name in NAMES]
    assert all(0 <= one < 2**48 for one in seeds)
    assert len(set(seeds)) == len(NAMES)


@given(pairs=st.lists(st.tuples(st.integers(0, 10), texts), unique=True, min_size=2, max_size=30))
def test_a_seed_differs_between_cohorts_and_bases(pairs):
    assert len({row_seed(seed, base, "crop-90") for seed, base in pairs}) == len(pairs)


def test_seeds_are_frozen():
    assert row_seed(0, "base-0", "crop-90") == 23612608079545
    assert row_seed(7, "база", "alpha-patch-50") == 179547668203196


def test_what_draws_gets_the_seed_of_its_row_and_nothing_else_does():
    seeds = {name: one.seeded_attack(3, "base").seed for name, one in STRESS_TRANSFORMS.items()}
    drawn = {name for name, seed in seeds.items() if seed is not None}
    assert drawn == {"crop-90", "crop-75", "alpha-patch-50", "combined-repost"}
    assert all(seeds[name] == row_seed(3, "base", name) for name in drawn)


def test_transforms_are_found_once_in_the_order_of_a_set():
    assert [one.name for one in find_transforms(["blur-1", "jpeg-95", "blur-1"])] == ["jpeg-95", "blur-1"]
    assert [one.name for one in find_transforms([])] == NAMES


def test_an_unknown_transform_is_refused_with_those_that_exist():
    with pytest.raises(CohortUsageError, match=r"^unknown transform 'jpeg-90'; known: metadata-intact, [^\n]*$"):
        find_transforms(["jpeg-95", "jpeg-90"])
