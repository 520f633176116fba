from hypothesis import given, strategies as st

from pytest_benchbench.reports.ordering import Listing, sort_key


@given(st.lists(st.integers(), unique=True, max_size=50), st.integers(1, 8))
def test_a_listing_keeps_the_smallest_and_counts_all(numbers, limit):
    listing = Listing(limit)
    for number in numbers:
        listing.add(number, {"number": number})
    expected = [{"number": number} for number in sorted(numbers)[:limit]]
    assert listing.document() == {"count": len(numbers), "listed": expected}


def test_a_missing_text_comes_first_and_is_not_an_empty_one():
    assert sorted(["a", "", None], key=lambda text: sort_key((text,))) == [None, "", "a"]
    assert sort_key((None,)) != sort_key(("",))
