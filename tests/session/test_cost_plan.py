"""What asking about texts will use, before anything is asked."""

import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.base import Detection
from pytest_benchbench.adapters.metering import RateLimit, Usage
from pytest_benchbench.manifests.price_table import Price
from pytest_benchbench.session.cost_plan import counted, plan_calls
from pytest_benchbench.session.paid_detectors import PaidDetector


class Vendor:
    """Bills a credit for every two words, and takes no empty text."""

    limit = None

    def usage(self, text):
        words = len(text.split())
        return Usage(words, credits=-(-words // 2))

    def refusal(self, text):
        return None if text else Detection("too-small")

    def rate_limit(self):
        return self.limit


def detector(unit=None, *, limit=None):
    vendor = Vendor()
    vendor.limit = limit
    price = unit and Price("vendor", "starter", unit, 10, Decimal("0.7"), datetime.date(2026, 7, 10), "a survey")
    return PaidDetector("vendor", vendor, price)


@given(st.lists(st.sampled_from(["", "a", "b b", "c c c", "d d d d"])))
def test_the_plan_is_what_is_billed_when_each_distinct_text_that_is_taken_is_asked_about_once(texts):
    planned = plan_calls(detector("credit"), texts)
    sent = {text for text in texts if text}
    usages = [Vendor().usage(text) for text in sent]
    assert (planned.rows, planned.texts, planned.refused) == (len(texts), len(sent), "" in texts)
    assert planned.used.words == sum(usage.words for usage in usages)
    assert planned.used.calls == len(sent)
    assert (planned.used.credits or 0) == sum(usage.credits for usage in usages)
    assert planned.cost == Fraction(7, 100) * (planned.used.credits or 0)


@pytest.mark.parametrize(("unit", "cost"), [("word", "0.35"), ("call", "0.14"), ("credit", "0.21"), (None, None)])
def test_what_is_paid_for_is_what_the_price_is_about(unit, cost):
    assert plan_calls(detector(unit), ["a", "b b b b"]).cost == (None if cost is None else Fraction(cost))


@pytest.mark.parametrize(("texts", "seconds"), [(0, 0), (1, 0), (3, 0), (4, 60), (6, 60), (7, 120)])
def test_the_rate_limit_gives_the_least_time(texts, seconds):
    asked = [f"text {number}" for number in range(texts)]
    assert plan_calls(detector(limit=RateLimit(3, 60.0)), asked).seconds == seconds
    assert plan_calls(detector(), asked).seconds is None


def test_counts():
    assert [counted(number, "row") for number in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
