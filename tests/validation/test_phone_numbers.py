import sys

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation.phone_numbers import (
    DEFAULT_REGIONS,
    PhoneFinder,
    PhonesUncheckedError,
    UnknownRegionError,
)


def offsets(text, regions=DEFAULT_REGIONS):
    return [one.offset for one in PhoneFinder(regions).find(text)]


@pytest.mark.parametrize(
    "number",
    [
        "+49 30 901820",
        "+44 20 7946 0958",
        "(212) 736-5000",
        "212-736-5000",
        "212.736.5000",
        "020 7946 0958",
        "+1 212 736 5000",
    ],
)
@pytest.mark.parametrize("before", ["", "Call ", "In 1850 she said: "])
def test_a_number_is_found_where_it_stands(number, before):
    assert offsets(f"{before}{number} before noon.") == [len(before)]


def test_national_numbers_are_those_of_the_regions():
    assert offsets("Ruf 030 901820 an") == []
    assert offsets("Ruf 030 901820 an", ["DE"]) == [4]
    assert offsets("Call 212-736-5000", []) == []
    assert offsets("Call +1 212-736-5000", []) == [5]


@pytest.mark.parametrize(
    "text",
    [
        "In 1812-1815 they fought.",
        "Chapter 12, verses 3-17, 20 and 21",
        "ISBN 978-3-16-148410-0",
        "(212) 555-0123",
        "1,000,000,000",
    ],
)
def test_other_digits_are_no_finding(text):
    assert offsets(text) == []


@given(st.text(alphabet="0123456789+-(). ab\n", max_size=60))
def test_offsets_lie_in_the_text_and_in_order(text):
    found = offsets(text)
    assert found == sorted(set(found))
    assert all(0 <= offset < len(text) for offset in found)


def test_texts_of_digits_alone_are_not_searched_without_end_and_that_is_told():
    finder = PhoneFinder(DEFAULT_REGIONS, most_characters=1000)
    assert list(finder.find("12 " * 300)) == []
    with pytest.raises(PhonesUncheckedError, match="not all telephone numbers were looked for"):
        list(finder.find("12 " * 300))


def test_prose_costs_nothing_of_what_may_be_searched():
    finder = PhoneFinder(DEFAULT_REGIONS, most_characters=40)
    assert list(finder.find("In 1850, on page 12 of volume 3, she wrote it down. " * 1000)) == []
    assert [one.offset for one in finder.find("Call 212-736-5000")] == [5]


def test_without_the_package_nobody_can_tell(monkeypatch):
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    with pytest.raises(PhonesUncheckedError, match=r"pip install 'pytest-benchbench\[golden-set\]'"):
        PhoneFinder(DEFAULT_REGIONS)


def test_a_region_that_does_not_exist_is_named():
    with pytest.raises(UnknownRegionError, match="no region 'usa'"):
        PhoneFinder(["US", "usa"])
