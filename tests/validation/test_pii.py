import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation import pii
from pytest_benchbench.validation.pii import MOST_OF_KIND, Found, find_by_form, in_order


def kinds(text):
    return [(one.kind, one.offset) for one in find_by_form(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("jane.doe@mail.corp.co.uk", "email"),
        ("o'neil+x@corp.io", "email"),
        ("j@bücher.de", "email"),
        ("8.8.8.8", "ip-address"),
        ("2001:4860:4860::8888", "ip-address"),
        ("2606:4700:0:0:0:0:0:1111", "ip-address"),
        ("CA 94105", "postal-address"),
        ("IL, 62704-1234", "postal-address"),
        ("SW1A 1AA", "postal-address"),
        ("M5V 2T6", "postal-address"),
        ("P.O. Box 123", "postal-address"),
        ("221B Baker Street", "street"),
        ("12 Martin Luther King Blvd", "street"),
        ("Hauptstraße 5", "street"),
    ],
)
@pytest.mark.parametrize("before", ["", "Write to ", "(", "\n"])
@pytest.mark.parametrize("after", ["", ".", ", please", ")\n"])
def test_an_address_is_found_where_it_stands(text, kind, before, after):
    assert kinds(before + text + after) == [(kind, len(before))]


@pytest.mark.parametrize(
    "text",
    [
        "jane@example.com",
        "jane@mail.example.org",
        "root@localhost",
        "@handle and a @ b",
        "5 apples @ 3.50",
        "127.0.0.1",
        "192.168.1.20",
        "version 1.2.3.4.5",
        "999.1.1.1",
        "12:30:45",
        "at 10:15",
        "::1",
        "std::vector",
        "In 1984 Winston",
        "the 12 Apostles walked down the street",
        "Psalm 23 4",
        "R2D2 and C3PO",
        "It was the best of times",
    ],
)
def test_what_is_nobodys_address_is_no_finding(text):
    assert kinds(text) == []


def test_of_each_kind_the_first_are_found():
    text = "a@corp.io " * 500 + "8.8.8.8"
    found = list(find_by_form(text))
    assert len(found) == MOST_OF_KIND + 1
    assert found[-1] == Found(5000, "ip-address")


@given(st.text())
def test_any_text_can_be_searched_and_offsets_lie_in_it(text):
    assert all(0 <= one.offset < len(text) for one in find_by_form(text))


def test_what_two_recognisers_found_counts_once():
    assert in_order([Found(7, "phone"), Found(3, "email"), Found(7, "phone")]) == [Found(3, "email"), Found(7, "phone")]


PIECES = [
    "jane@corp.io",
    "8.8.8.8",
    "2001:4860:4860::8888",
    "::",
    "x:y",
    "CA 94105",
    "SW1A 1AA",
    "P.O. Box 123",
    "12 Martin Luther",
]
PIECES += [" King Blvd", "Hauptstraße 5", "7", "a", "face", ".", " ", "\n", "Main Street", "é", "1." * 9, "ab:" * 20, "A1 "]
FILLING = st.integers(0, 450).flatmap(lambda size: st.sampled_from(["w" * size, " w" * (size // 2), "Word " * (size // 5)]))


@given(st.lists(st.one_of(st.sampled_from(PIECES), FILLING), max_size=12).map("".join))
def test_looking_only_where_it_can_match_finds_what_looking_everywhere_does(text):
    for pattern in (pii._IPV4, *pii._POSTAL_CODES, *pii._STREETS):
        assert list(map(str, pii._matches(pattern, text, pii._DIGITS))) == list(map(str, pattern.finditer(text)))
    everywhere = [match.span() for match in pii._IPV6.finditer(text) if ":" in match[0]]
    assert [match.span() for match in pii._matches(pii._IPV6, text, pii._COLONS) if ":" in match[0]] == everywhere
