import math
import subprocess
import sys

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings, strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from pytest_benchbench.statistics.intervals import clustered_interval, resolvable_rate, wilson_interval

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


clusters = st.lists(st.integers(0, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30)


def test_reference_numbers_of_clusters():
    interval = clustered_interval([0] * 34 + [5, 5, 4, 2, 1, 1], [5] * 40)
    assert interval.design_effect == pytest.approx(4.001127078, abs=1e-9)
    assert interval.effective_n == pytest.approx(49.985915, abs=1e-6)
    assert (interval.low, interval.high) == pytest.approx((0.0374002, 0.2011201), abs=5e-8)


@few
@given(clusters)
def test_design_effect_agrees_with_the_cluster_robust_variance_of_statsmodels(pairs):
    k, n = sum(k for k, _ in pairs), sum(n for _, n in pairs)
    filled = [pair for pair in pairs if pair[1]]
    assume(0 < k < n and len(filled) > 1)
    outcomes = np.concatenate([[1] * k + [0] * (n - k) for k, n in filled]).astype(float)
    groups = np.repeat(np.arange(len(filled)), [n for _, n in filled])
    kwds = {"groups": groups, "use_correction": False, "df_correction": False}
    fit = sm.OLS(outcomes, np.ones_like(outcomes)).fit(cov_type="cluster", cov_kwds=kwds)
    variance = fit.bse[0] ** 2 * len(filled) / (len(filled) - 1)
    reference = max(variance / (k / n * (1 - k / n) / n), 1)
    assert clustered_interval(*zip(*pairs, strict=True)).design_effect == pytest.approx(reference, rel=1e-9)


@few
@given(clusters)
def test_clusters_hold_the_observed_share_and_are_never_surer_than_rows(pairs):
    k, n = sum(k for k, _ in pairs), sum(n for _, n in pairs)
    interval = clustered_interval(*zip(*pairs, strict=True))
    if n == 0:
        assert interval is None
        return
    rows = wilson_interval(k, n)
    assert 0 <= interval.low <= rows[0] + 1e-12
    assert rows[1] - 1e-12 <= interval.high <= 1
    assert interval.low <= k / n <= interval.high
    assert 0 < interval.effective_n <= n
    assert interval.design_effect == pytest.approx(n / interval.effective_n)


@few
@given(clusters, st.randoms(use_true_random=False))
def test_neither_the_order_nor_empty_clusters_matter(pairs, random):
    shuffled = [*pairs, (0, 0)]
    random.shuffle(shuffled)
    assert clustered_interval(*zip(*shuffled, strict=True)) == clustered_interval(*zip(*pairs, strict=True))


@few
@given(st.lists(st.integers(0, 1), min_size=2, max_size=60))
def test_clusters_of_one_trial_are_rows(outcomes):
    k, n = sum(outcomes), len(outcomes)
    interval = clustered_interval(outcomes, [1] * n)
    if k in (0, n):
        assert interval[2:] == wilson_interval(k, n)
    else:
        assert interval.effective_n == pytest.approx(n - 1)  # the variance is estimated from as many clusters


@few
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.booleans())
def test_where_all_trials_agree_each_cluster_is_one_trial(sizes, is_success):
    successes = sizes if is_success else [0] * len(sizes)
    interval = clustered_interval(successes, sizes)
    assert interval[2:] == wilson_interval(len(sizes) * is_success, len(sizes))


@few
@given(st.integers(1, 9), st.integers(1, 9))
def test_one_cluster_is_one_trial(successes, failures):
    assert clustered_interval([successes], [successes + failures]).effective_n == 1


def test_clusters_that_are_more_alike_than_chance_count_as_rows():
    assert clustered_interval([5] * 20, [10] * 20)[2:] == wilson_interval(100, 200)


def test_clusters_hold_what_rows_promise_and_miss():
    """Derivatives of 60 carriers that fail together: rows cover far less than 95 % of the time, clusters about as often."""
    random = np.random.default_rng(20260101)
    covered = {"rows": 0, "clusters": 0}
    rate, alike, size, carriers, draws = 0.2, 0.5, 8, 60, 400
    a, b = rate * (1 / alike - 1), (1 - rate) * (1 / alike - 1)
    for _ in range(draws):
        successes = random.binomial(size, random.beta(a, b, carriers)).tolist()
        rows = wilson_interval(sum(successes), size * carriers)
        interval = clustered_interval(successes, [size] * carriers)
        covered["rows"] += rows[0] <= rate <= rows[1]
        covered["clusters"] += interval.low <= rate <= interval.high
    assert covered["rows"] / draws < 0.75
    assert 0.925 < covered["clusters"] / draws < 0.98


@pytest.mark.parametrize(("successes", "trials"), [([2], [1]), ([-1], [1]), ([1], [0])])
def test_impossible_clusters_are_refused(successes, trials):
    with pytest.raises(ValueError, match="successes of a cluster must lie"):
        clustered_interval(successes, trials)


def test_clusters_without_their_trials_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        clustered_interval([0, 0], [1])


def test_confidence_of_clusters_is_checked():
    with pytest.raises(ValueError, match="confidence"):
        clustered_interval([1], [2], 95)


@pytest.mark.parametrize(("n", "rate"), [(50, 0.071347599133), (100, 0.036993498207), (500, 0.007624340462)])
def test_resolvable_rates(n, rate):
    assert resolvable_rate(n) == pytest.approx(rate, abs=1e-12)


def test_a_resolvable_rate_has_the_confidence_that_is_asked_for():
    assert resolvable_rate(100, 0.5) == wilson_interval(0, 100, 0.5)[1] < resolvable_rate(100)


def test_resolvable_rate_of_nothing():
    assert resolvable_rate(0) is None


def test_a_false_positive_rate_of_two_percent_needs_189_negatives():
    assert resolvable_rate(189) <= 0.02 < resolvable_rate(188)


@few
@given(counts, st.integers(1, 9))
def test_trials_made_again_tell_nothing_new(drawn, repeats):
    k, n = drawn
    assert wilson_interval(k * repeats, n * repeats, repeats=repeats) == pytest.approx(wilson_interval(k, n))


def test_trials_are_made_at_least_once():
    with pytest.raises(ValueError, match="repeats"):
        wilson_interval(1, 2, repeats=0)
