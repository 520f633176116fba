import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation import hash_pairs
from pytest_benchbench.validation.hash_pairs import MAX_DISTANCE, near_pairs


def found(hashes, distance):
    pairs = [
        (int(one), int(other), int(bits))
        for block in near_pairs(hashes, distance)
        for one, other, bits in zip(*block, strict=True)
    ]
    assert len(set(pairs)) == len(pairs)
    return sorted(pairs)


def by_brute_force(hashes, distance):
    bits = np.unpackbits(hashes, axis=1).astype(int)
    pairs = [(i, j, int(np.abs(bits[i] - bits[j]).sum())) for i in range(len(bits)) for j in range(i + 1, len(bits))]
    return [pair for pair in pairs if pair[2] <= distance]


@st.composite
def any_hashes(draw):
    """A few hashes and others that differ from them in some bits, wherever these are."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    centres = np.unpackbits(rng.integers(0, 256, (draw(st.integers(1, 4)), 32), dtype=np.uint8), axis=1)
    hashes = []
    for _ in range(draw(st.integers(0, 20))):
        bits = centres[rng.integers(len(centres))].copy()
        places = draw(
            st.one_of(
                st.just(rng.permutation(256)),
                st.just(np.arange(256)),
                st.just((np.arange(256) % 16) * 16 + np.arange(256) // 16),
            )
        )
        bits[places[: draw(st.integers(0, 20))]] ^= 1
        hashes.append(np.packbits(bits))
    return np.array(hashes, np.uint8).reshape(-1, 32)


@given(hashes=any_hashes(), distance=st.integers(0, MAX_DISTANCE))
def test_the_index_finds_what_comparing_all_with_all_finds(hashes, distance):
    assert found(hashes, distance) == by_brute_force(hashes, distance)


@pytest.mark.parametrize(("distance", "bits"), [(0, 0), (15, 15), (16, 16), (31, 31)])
def test_the_limit_belongs_to_it_and_one_bit_more_does_not(distance, bits):
    rng = np.random.default_rng(3)
    one = np.unpackbits(rng.integers(0, 256, 32, dtype=np.uint8))
    # spread over the pieces as evenly as can be, which is the hardest to find
    spread = np.argsort(np.add.outer(np.zeros(16), np.arange(16)).ravel() + np.arange(256) / 1000, kind="stable")
    for places in (spread, np.arange(256), rng.permutation(256)):
        near, far = one.copy(), one.copy()
        near[places[:bits]] ^= 1
        far[places[: bits + 1]] ^= 1
        assert found(np.packbits([one, near], axis=1), distance) == [(0, 1, bits)]
        assert found(np.packbits([one, far], axis=1), distance) == []


def test_many_pairs_are_given_in_bounded_blocks(monkeypatch):
    monkeypatch.setattr(hash_pairs, "_PAIRS_AT_ONCE", 10)
    hashes = np.zeros((30, 32), np.uint8)
    hashes[:, 0] = np.arange(30)
    assert found(hashes, 5) == by_brute_force(hashes, 5)
    assert max(len(block[0]) for block in near_pairs(hashes, 5)) <= 30


@pytest.mark.parametrize("distance", [-1, MAX_DISTANCE + 1])
def test_a_distance_that_the_index_cannot_keep_is_refused(distance):
    with pytest.raises(ValueError, match="distance must lie in"):
        next(near_pairs(np.zeros((2, 32), np.uint8), distance))
