"""Which rule is said to hold whenever another one does: between equal slices, and from a wider one to a narrower."""

import pytest

from pytest_benchbench.gates import implications as module
from pytest_benchbench.gates.decided import ClassRoom
from pytest_benchbench.gates.implications import implications
from pytest_benchbench.gates.measurement import Measurement
from pytest_benchbench.gates.policy import Rule

OPS = {"false_positive_rate": "<=", "terminal_count": "<="}

ROOM = {"real": ClassRoom(50, 0, 5), "ai": ClassRoom(50, 0, 5)}


def one(name, bears, where=None, *, metric="real_recall", n=100, unit="base", min_n=0, **more):
    """Give a rule with what it found: that it bears so many failures of ``n``."""
    rule = Rule(
        id=name, metric=metric, unit=unit, slice=where, min_n=min_n, **{"op": OPS.get(metric, ">="), "value": 0.5} | more
    )
    return rule, Measurement(where, n, True, 1.0, 0, bears)


def accuracy(name, value, where=None, *, op=">=", unit="base"):
    rule = Rule(id=name, metric="balanced_accuracy", op=op, value=value, slice=where, unit=unit)
    return rule, Measurement(where, 100, True, 1.0, None, None, ROOM)


def implied(*measured):
    return implications(measured)


def test_the_strictest_of_an_equal_slice_implies_the_others():
    assert implied(one("a", 5), one("b", 3), one("c", 4)) == ["b", None, "b"]


def test_of_equally_strict_ones_the_first_implies_the_others():
    assert implied(one("a", 3), one("b", 3), one("c", 3)) == [None, "a", "a"]


def test_a_rate_of_false_positives_is_about_the_same_failures_as_the_recall():
    assert implied(one("recall", 5), one("rate", 3, metric="false_positive_rate")) == ["rate", None]


@pytest.mark.parametrize(
    "other",
    [
        one("other", 1, metric="ai_recall"),
        one("other", 1, metric="terminal_count"),
        one("other", 1, unit="row"),
        one("other", None),
    ],
    ids=["class", "metric", "unit", "cannot hold"],
)
@pytest.mark.parametrize("where", [None, {"source": "x"}])
def test_other_failures_imply_nothing(other, where):
    assert implied(one("mine", 5, where), other)[0] is None


@pytest.mark.parametrize(("bears", "found"), [(4, "wide"), (5, "wide"), (6, None)])
def test_a_wider_slice_implies_what_bears_no_fewer_failures(bears, found):
    assert implied(one("mine", 5, {"source": "x"}), one("wide", bears)) == [found, None]
    assert implied(one("wide", bears), one("mine", 5, {"source": "x"})) == [None, found]


def test_a_narrower_slice_implies_nothing():
    assert implied(one("mine", 5), one("narrow", 1, {"source": "x"})) == [None, None]
    assert implied(one("mine", 5, {"source": "x"}), one("beside", 1, {"source": "y"})) == [None, None]


def test_any_properties_may_be_left_out_of_a_wider_slice():
    mine = one("mine", 5, {"source": "x", "contentGroup": "photo", "transform": "none"})
    for where in ({"source": "x"}, {"contentGroup": "photo"}, {"source": "x", "transform": "none"}, None):
        assert implied(mine, one("wide", 4, where))[0] == "wide"
    assert implied(mine, one("other", 4, {"source": "x", "split": "test"}))[0] is None


def test_of_all_wider_slices_the_strictest_is_named():
    mine = one("mine", 5, {"source": "x", "transform": "none"})
    assert implied(mine, one("a", 4, {"source": "x"}), one("b", 2), one("c", 3, {"transform": "none"}))[0] == "b"
    assert implied(mine, one("a", 4, {"source": "x"}), one("b", 4))[0] == "a"


@pytest.mark.parametrize(
    ("where", "found"),
    [({"adapter": "one"}, "wide"), (None, None), ({"adapter": "other"}, None), ({"source": "x"}, None)],
)
def test_adapters_imply_nothing_of_each_other(where, found):
    assert implied(one("mine", 5, {"adapter": "one", "source": "x"}), one("wide", 1, where))[0] == found


def test_rows_that_stand_for_themselves_fail_in_a_wider_slice_too():
    assert implied(one("mine", 5, {"transform": "none"}, unit="row"), one("wide", 5, unit="row"))[0] == "wide"


def test_precision_is_a_share_of_other_units_in_another_slice():
    mine = one("mine", 5, {"source": "x"}, metric="precision")
    assert implied(mine, one("wide", 1, metric="precision"))[0] is None
    assert implied(mine, one("same", 1, {"source": "x"}, metric="precision"))[0] == "same"


@pytest.mark.parametrize(("where", "found"), [({"transform": "none"}, "wide"), ({"source": "x"}, None)])
def test_a_balanced_accuracy_is_one_of_as_many_bases_where_derivatives_alone_differ(where, found):
    assert implied(accuracy("mine", 0.8, where), accuracy("wide", 0.9))[0] == found
    assert implied(accuracy("mine", 0.8, where), accuracy("wide", 0.8))[0] == found
    assert implied(accuracy("mine", 0.8, where), accuracy("wide", 0.7))[0] is None
    assert implied(accuracy("mine", 0.8, where, unit="row"), accuracy("wide", 0.9, unit="row"))[0] is None


def test_a_higher_balanced_accuracy_implies_a_lower_one():
    assert implied(accuracy("low", 0.8), accuracy("high", 0.9)) == ["high", None]
    assert implied(accuracy("low", 0.8), accuracy("high", 0.9, op=">")) == [None, None]
    rule, _ = accuracy("high", 0.9)
    without = Measurement(None, 100, None, None, None, None)
    assert implied(accuracy("low", 0.8), (rule, without)) == [None, None]


def test_a_balanced_accuracy_and_a_recall_imply_nothing_of_each_other():
    assert implied(accuracy("accuracy", 0.9), one("recall", 0)) == [None, None]


def test_exact_counts_imply_nothing():
    assert implied(one("mine", 5, metric="terminal_count", op="=="), one("other", 1, metric="terminal_count")) == [
        None,
        None,
    ]
    assert implied(one("mine", 5, metric="terminal_count"), one("other", 1, metric="terminal_count", op="==")) == [
        None,
        None,
    ]


def test_a_rule_with_too_few_units_is_implied_by_nothing():
    """It fails for another reason."""
    assert implied(one("mine", 5, min_n=101), one("other", 1)) == [None, None]
    assert implied(one("mine", 5, min_n=100), one("other", 1)) == ["other", None]


def test_outcomes_are_compared_in_equal_slices_of_as_many_units_alone():
    def errors(name, bears, where=None, n=100):
        return one(name, bears, where, metric="error_count", n=n, op="<=", unit="row")

    assert implied(errors("mine", 5), errors("other", 1)) == ["other", None]
    assert implied(errors("mine", 5), errors("other", 1, n=99)) == [None, None]
    assert implied(errors("mine", 5, {"source": "x"}), errors("other", 1)) == [None, None]
    assert implied(errors("mine", 5), one("other", 1, metric="unavailable_count", op="<=", unit="row")) == [None, None]
    assert implied(errors("mine", 5), one("other", 1, metric="error_count", op="<=", unit="base")) == [None, None]


def test_outcomes_are_compared_in_one_direction():
    def rate(name, op):
        return one(name, 1, metric="detection_rate", op=op, unit="row")

    assert implied(rate("mine", ">="), rate("other", ">=")) == [None, "mine"]
    assert implied(rate("mine", ">="), rate("other", "<=")) == [None, None]


@pytest.mark.parametrize("more", [0, 1])
def test_slices_of_many_properties_are_compared_with_equal_ones_alone(more):
    """Their wider slices are too many to be looked at."""
    where = {f"property{number}": "x" for number in range(module.MAX_WIDENED + more)}
    assert implied(one("mine", 5, where), one("wide", 1))[0] == (None if more else "wide")
    assert implied(one("mine", 5, where), one("same", 1, where))[0] == "same"
