import math
import subprocess
import sys

import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from pytest_benchbench.statistics.intervals import wilson_interval

REFERENCE = [
    (0, 50, 0, 0.071347599133),
    (1, 50, 0.003539259272, 0.104954435896),
    (2, 50, 0.011038884328, 0.134600906875),
    (0, 100, 0, 0.036993498207),
    (97, 100, 0.915480635709, 0.989745475976),
    (100, 100, 0.963006501793, 1),
    (0, 500, 0, 0.007624340462),
    (3, 500, 0.002042596272, 0.017490252104),
    (4, 500, 0.003115315180, 0.020387035834),
    (10, 500, 0.010899183596, 0.036420183247),
    (417, 500, 0.798864683803, 0.864042256769),
    (418, 500, 0.801005363526, 0.865871079684),
    (490, 500, 0.963579816753, 0.989100816404),
    (497, 500, 0.982509747896, 0.997957403728),
    (500, 500, 0.992375659538, 1),
    (78, 100, 0.689296464850, 0.849987176154),
    (82, 100, 0.733326416137, 0.882997745011),
    (5, 10, 0.236593090513, 0.763406909487),
]

counts = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
few = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize(("k", "n", "low", "high"), REFERENCE)
def test_reference_numbers(k, n, low, high):
    assert wilson_interval(k, n) == pytest.approx((low, high), abs=1e-12)


def test_no_trial_has_no_interval():
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ValueError, match="k must lie"):
        wilson_interval(k, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, math.nan])
def test_impossible_confidence_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence"):
        wilson_interval(1, 2, confidence)


@few
@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_agrees_with_statsmodels(count, confidence):
    k, n = count
    reference = proportion_confint(k, n, 1 - confidence, "wilson")
    assert wilson_interval(k, n, confidence) == pytest.approx(reference, abs=1e-12)


@few
@given(counts)
def test_agrees_with_scipy(count):
    reference = binomtest(*count).proportion_ci(0.95, method="wilson")
    assert wilson_interval(*count) == pytest.approx((reference.low, reference.high), abs=1e-12)


@few
@given(counts)
def test_bounds_solve_the_score_equation(count):
    k, n = count
    z = 1.959963984540054
    for bound in wilson_interval(k, n):
        if 0 < bound < 1:
            assert abs(k / n - bound) == pytest.approx(z * math.sqrt(bound * (1 - bound) / n), rel=1e-9)


@few
@given(counts)
def test_holds_the_observed_share_and_stays_in_range(count):
    k, n = count
    low, high = wilson_interval(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert (low == 0) == (k == 0)
    assert (high == 1) == (k == n)


@few
@given(counts)
def test_mirrors(count):
    k, n = count
    low, high = wilson_interval(k, n)
    assert wilson_interval(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@few
@given(counts)
def test_bounds_rise_with_successes(count):
    k, n = count
    assume(k < n)
    assert all(here < there for here, there in zip(wilson_interval(k, n), wilson_interval(k + 1, n), strict=True))


@few
@given(counts)
def test_more_confidence_is_wider(count):
    narrow, wide = wilson_interval(*count, 0.9), wilson_interval(*count, 0.99)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


def test_an_interval_costs_no_heavy_import():
    code = (
        "import sys; from pytest_benchbench.statistics.intervals import wilson_interval as w;"
        "w(1, 2); sys.exit(bool({'scipy', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
