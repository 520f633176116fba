import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from pytest_benchbench.statistics.paired import mcnemar_exact
from pytest_benchbench.statistics.unchanged import at_least, difference_chance, drop_chance, flag_power

few = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize(
    ("n", "rate", "chance"),
    [
        (100, 0.5, 0.26231),
        (100, 0.7, 0.24365),
        (100, 0.8, 0.21283),
        (100, 0.9, 0.14337),
        (100, 0.95, 0.07076),
        (50, 0.5, 0.30865),
        (50, 0.7, 0.29258),
        (50, 0.8, 0.26538),
        (50, 0.9, 0.20001),
        (50, 0.95, 0.12106),
        (500, 0.8, 0.02635),
    ],
)
def test_reference_chances_of_a_drop_by_five_points(n, rate, chance):
    assert drop_chance(n, rate, 5) == pytest.approx(chance, abs=5e-6)


def test_two_unchanged_runs_differ_by_more_than_the_usual_tolerance_more_often_than_not():
    assert difference_chance(100, 0.8, 3) == pytest.approx(0.5355, abs=5e-5)


def test_a_single_detector_that_drops_is_expected_and_three_of_four_are_not():
    chance = drop_chance(100, 0.8, 5)
    assert at_least(1, [chance] * 4) == pytest.approx(0.61605, abs=5e-6)
    assert at_least(3, [chance] * 4) == pytest.approx(0.03241, abs=5e-6)


@few
@given(st.integers(1, 60), st.floats(0, 1, width=16), st.floats(0.1, 100))
def test_chances_are_those_of_all_pairs_of_counts(n, rate, points):
    masses = binom.pmf(np.arange(n + 1), n, rate)
    joint = np.outer(masses, masses)
    gap = np.arange(n + 1)[:, None] - np.arange(n + 1)[None, :]
    fewest, most = math.ceil(points * n / 100 - 1e-9), math.floor(points * n / 100 + 1e-9)
    assert drop_chance(n, rate, points) == pytest.approx(joint[gap >= fewest].sum(), abs=1e-9)
    assert difference_chance(n, rate, points) == pytest.approx(joint[np.abs(gap) > most].sum(), abs=1e-9)


def test_points_are_the_decimal_number_as_it_is_written():
    assert drop_chance(1000, 0.5, 0.3) == drop_chance(1000, 0.5, 0.21)  # 3 samples; .3 / 100 * 1000 is above 3 in doubles
    assert difference_chance(1000, 0.5, 0.3) == difference_chance(1000, 0.5, 0.39)


@few
@given(st.lists(st.floats(0, 1), max_size=8), st.integers(0, 9))
def test_at_least_counts_all_ways_in_which_events_happen(chances, count):
    total = 0.0
    for which in range(1 << len(chances)):
        happened = [bool(which >> place & 1) for place in range(len(chances))]
        if sum(happened) >= count:
            total += math.prod(chance if did else 1 - chance for chance, did in zip(chances, happened, strict=True))
    assert at_least(count, chances) == pytest.approx(total, abs=1e-12)


@given(st.permutations([0.1, 0.2, 0.7, 0.9]))
def test_the_order_of_events_does_not_matter(chances):
    assert at_least(2, chances) == pytest.approx(at_least(2, [0.1, 0.2, 0.7, 0.9]), abs=1e-15)


@pytest.mark.parametrize(
    ("n", "lost", "gained", "alpha", "power"),
    [
        (100, 0.12, 0.02, 0.05, 0.7338),
        (100, 0.12, 0.02, 0.0125, 0.5022),
        (100, 0.07, 0.02, 0.05, 0.262),
        (100, 0.07, 0.02, 0.0125, 0.1088),
        (500, 0.07, 0.02, 0.05, 0.9631),
        (500, 0.07, 0.02, 0.0125, 0.8907),
    ],
)
def test_reference_power_of_mcnemar(n, lost, gained, alpha, power):
    assert flag_power(n, lost, gained, alpha) == pytest.approx(power, abs=5e-5)


def test_a_true_fall_as_small_as_the_least_effect_is_seen_every_other_time_at_best():
    assert flag_power(500, 0.07, 0.02, 0.0125, 5) == pytest.approx(0.526, abs=5e-4)


@few
@given(
    st.integers(1, 25),
    st.floats(0, 0.5, width=16),
    st.floats(0, 0.5, width=16),
    st.sampled_from([0.05, 0.0125, 1.0]),
    st.sampled_from([0, 5, 20]),
)
def test_power_is_the_sum_over_all_flagged_counts(n, lost, gained, alpha, points):
    total = 0.0
    for worse in range(n + 1):
        for better in range(n + 1 - worse):
            p = mcnemar_exact(worse, better)
            if p is not None and p < alpha and worse > better and 100 * (worse - better) >= points * n:
                ways = math.comb(n, worse) * math.comb(n - worse, better)
                total += ways * lost**worse * gained**better * (1 - lost - gained) ** (n - worse - better)
    assert flag_power(n, lost, gained, alpha, points) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (drop_chance, (0, 0.5, 5)),
        (drop_chance, (10, 1.5, 5)),
        (drop_chance, (10, 0.5, 0)),
        (drop_chance, (10, 0.5, math.nan)),
        (difference_chance, (10, math.nan, 5)),
        (difference_chance, (10, 0.5, 101)),
        (at_least, (-1, [])),
        (at_least, (1, [2.0])),
        (flag_power, (10, -0.1, 0.2, 0.05)),
        (flag_power, (10, 0.6, 0.6, 0.05)),
        (flag_power, (10, 0.1, 0.1, 0.0)),
    ],
)
def test_what_is_no_number_of_samples_no_rate_and_no_level_is_refused(call, arguments):
    with pytest.raises(ValueError, match=r"must|not rates|at least 0|lies in"):
        call(*arguments)
