"""The rates that a decision reports beside its rules."""

import pytest

from pytest_benchbench.gates.decided import Rate


def test_rates_of_all_bases_and_of_each_resolution_group(small):
    evidence = small(4, 5).fail(0, 1).fail(1, 2, "thumbnail")
    told = {(one.slice or {}).get("resolutionGroup"): one for one in evidence.decide().reported}
    assert list(told) == [None, "full-res", "thumbnail"]
    assert {one.adapter for one in told.values()} == {None}
    assert {one.quantity for one in told.values()} == {"score"}
    for group, misses in ((None, 2), ("full-res", 0), ("thumbnail", 2)):
        one = told[group]
        assert (one.real.n, one.real.failures, one.real.rate) == (4, 1, 0.75)
        assert (one.ai.n, one.ai.failures, one.ai.rate) == (5, misses, (5 - misses) / 5)
        assert one.balanced_accuracy == pytest.approx((0.75 + (5 - misses) / 5) / 2, abs=1e-15)
        assert 0 < one.real.low < 0.75 < one.real.high < 1


def test_of_a_missing_class_no_rate_is_reported(small):
    (told, *_) = small(2, 0).decide().reported
    assert told.ai == Rate(0, 0, None, None, None)
    assert told.balanced_accuracy is None
