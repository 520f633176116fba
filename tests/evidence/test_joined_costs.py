"""What runs together spent."""

import itertools

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence import joined_costs as module


def joined_costs(documents):
    costs = module.joined_costs(documents)
    return None if costs is None else msgspec.to_builtins(costs)


COUNTS = st.integers(0, 1000)
AMOUNTS = st.integers(0, 10**9).map(lambda number: f"{number // 100}.{number % 100:02}")
PRICE = {"unit": "word", "per": 1, "price": "1.00", "as_of": "2026-07-10", "source": "a survey"}


def planned(**changed):
    return {"rows": 2, "texts": 2, "words": 20, "calls": 2, "credits": None, "cost": "2.00", **changed}


def detector(alias="a", **changed):
    return {
        "alias": alias,
        "adapter": "vendor",
        "plan": "starter",
        "words": 10,
        "calls": 1,
        "credits": None,
        "retries": 0,
        "cost": "1.00",
        "price": PRICE,
        "planned": planned(),
        **changed,
    }


def run(*detectors, **changed):
    costs = {"currency": "USD", "prices": {"name": "p.yaml", "sha256": "a"}, "budget": "5.00", "spent": "1.00"}
    return {"costs": {**costs, "not_asked": 0, "detectors": list(detectors), **changed}}


def test_runs_without_paid_detectors_say_nothing():
    assert joined_costs([{}, {}]) is None


def test_counts_and_amounts_are_added():
    first = run(detector(credits=3, retries=1), spent="1.05", not_asked=2)
    second = run(detector(credits=4, cost="0.10"), detector("b", planned=None), spent="1.10")
    whole = joined_costs([first, second])
    assert (whole["spent"], whole["not_asked"], whole["budget"], whole["currency"]) == ("2.15", 2, None, "USD")
    a, b = whole["detectors"]
    assert (a["words"], a["calls"], a["credits"], a["retries"], a["cost"]) == (20, 2, 7, 1, "1.10")
    assert a["planned"] == {"rows": 4, "texts": 4, "words": 40, "calls": 4, "credits": None, "cost": "4.00"}
    assert b == detector("b", planned=None)


def test_what_is_not_known_of_a_part_is_not_known_of_the_whole():
    whole = joined_costs([run(detector()), {}])
    assert (whole["spent"], whole["unaccounted"]) == (None, 1)
    whole = joined_costs([run(detector()), run(detector(cost=None, price=None), spent=None)])
    assert (whole["spent"], whole["detectors"][0]["cost"], whole["detectors"][0]["price"]) == (None, None, None)


def test_amounts_of_different_currencies_are_not_added():
    whole = joined_costs([run(detector()), run(detector(), currency="EUR")])
    assert (whole["currency"], whole["spent"], whole["detectors"][0]["cost"]) == (None, None, None)
    assert whole["detectors"][0]["planned"]["cost"] is None


runs = st.builds(
    lambda spent, words, cost, alias, left: run(detector(alias, words=words, cost=cost), spent=spent, not_asked=left),
    AMOUNTS,
    COUNTS,
    AMOUNTS,
    st.sampled_from("ab"),
    COUNTS,
) | st.just({})


@given(st.lists(runs, min_size=3, max_size=3))
def test_neither_order_nor_grouping_changes_the_sum(three):
    one, two, last = three
    whole = joined_costs(three)
    assert all(joined_costs(ordered) == whole for ordered in itertools.permutations(three))
    pair = joined_costs([one, two])
    if pair is not None:  # of a merge of two runs that say nothing, nobody knows that they were two
        assert joined_costs([{"costs": pair}, last]) == whole


@pytest.mark.parametrize("costs", [None, 1, {"detectors": []}, run(detector(cost=0.1))["costs"], run(spent="1e5")["costs"]])
def test_what_says_something_else_is_refused(costs):
    with pytest.raises(ValueError, match=r"^costs of run\.json: "):
        joined_costs([{"costs": costs}])
