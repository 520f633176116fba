"""The elements of plots: harmless texts, finite numbers, round ticks, shares that say no more than they may."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.reports.html.svg import Drawing, count, counted, number, percent, position, shortened, ticks

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.text(st.characters(), max_size=40), st.floats(0, 200))
def test_foreign_text_is_text_in_any_place(text, room):
    drawing = Drawing("test", 50)
    drawing.text(1, 2, text, room=room)
    drawing.mark("circle", 1, 2, "bb-first", text)
    root = ElementTree.fromstring(str(drawing.markup(text, text)))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert set(names) <= {"svg", "title", "desc", "text", "circle"}
    assert [element.text or "" for element in root[:2]] == [root[0].text or ""] * 2
    assert "\x1b" not in (root[0].text or "")


def test_text_that_is_cut_is_told_whole():
    drawing = Drawing("test", 50)
    drawing.text(0, 10, "a-very-long-transform<name>", room=60)
    text = ElementTree.fromstring(str(drawing.markup("t", "d")))[2]
    assert text.text.endswith("…")
    assert text[0].text == "a-very-long-transform<name>"


@given(st.text(max_size=60), st.floats(10, 300))
def test_a_shortened_text_fits(text, room):
    shown = shortened(text, room, 7.0)
    assert len(shown) * 7.0 <= room or shown == "…"
    assert shown == text or text.startswith(shown[:-1])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.5, "0.5"),
        (1234.567, "1235"),
        (1e6, "1e6"),
        (1e308, "1e308"),
        (-2.5e-7, "-2.5e-7"),
        (12345678, "1.235e7"),
    ],
)
def test_numbers_are_short(value, shown):
    assert number(value) == shown


def test_counts_have_their_thousands_apart():
    assert [counted(n, "row") for n in (0, 1, 2000)] == ["n = 0 rows", "n = 1 row", "n = 2,000 rows"]
    assert [count(n) for n in (0, 999, 1000, 2**53)] == ["0", "999", "1,000", "9,007,199,254,740,992"]


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 7, "0 %"), (7, 7, "100 %"), (1, 3, "33.3 %"), (1, 10**6, "< 0.1 %"), (10**6 - 1, 10**6, "> 99.9 %"), (0, 0, "0 %")],
)
def test_nothing_is_0_or_100_percent_that_is_not(part, whole, shown):
    assert percent(part, whole) == shown


@given(FINITE, FINITE, FINITE)
def test_positions_lie_between_0_and_1(value, low, high):
    assert 0 <= position(value, low, high) <= 1


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_positions_are_proportional(low, span, share):
    assert position(low + share * span, low, low + span) == pytest.approx(share, abs=1e-6)


@given(FINITE, FINITE)
def test_ticks_are_few_finite_and_within_bounds(one, other):
    low, high = sorted((one, other))
    found = ticks(low, high)
    assert 1 <= len(found) <= 6
    assert all(math.isfinite(value) for value in found)
    assert found == sorted(found)
    reach = (high / 2 - low / 2) * 1e-6
    assert all(low - reach <= value <= high + reach for value in found)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0, 12, [0, 5, 10]), (-3.2, 18.9, [0, 5, 10, 15]), (5, 5, [5])],
)
def test_ticks_are_round(low, high, found):
    assert ticks(low, high) == found
