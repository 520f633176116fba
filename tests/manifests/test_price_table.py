"""What a price table says, and what is refused in one."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests.price_table import (
    Price,
    PriceTableError,
    parse_amount,
    read_price_table,
    show_amount,
)

GOOD = {
    "adapter": "gptzero",
    "plan": "starter",
    "unit": "word",
    "per": "300000",
    "price": "45",
    "as_of": "2026-07-10",
    "source": "a survey",
}


def entry(**changed):
    fields = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}
    return f"- {{{', '.join(f'{name}: {value}' for name, value in fields.items())}}}\n"


def table(*entries, head="schema_version: 1\ncurrency: USD\n"):
    return f"{head}prices:\n{''.join(entries)}"


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "prices.yaml"
        path.write_text(text)
        return read_price_table(path, "prices.yaml", ("gptzero", "zippy"))

    return read


def test_a_price_is_read_exactly_and_found_by_adapter_and_plan(read):
    found = read(table(entry(price="0.39", per=1000), entry(plan="pro", as_of="'2026-07-10'", price="'24.99'")))
    assert found.currency == "USD"
    price = found.find("gptzero", "starter")
    assert (price.price, price.as_of.isoformat(), price.source) == (Decimal("0.39"), "2026-07-10", "a survey")
    assert found.find("gptzero", "pro").price == Decimal("24.99")
    assert found.find("gptzero", "enterprise") is found.find("zippy", "starter") is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"as_of": None}, "prices[0].as_of: is missing: write the day on which you read the price, such as 2026-07-19"),
        ({"as_of": "2026-07"}, "prices[0].as_of: expected a date such as 2026-07-19, got '2026-07'"),
        ({"as_of": "2026-07-10 10:00:00"}, "prices[0].as_of: expected a date such as 2026-07-19, got 2026-07-10T10:00:00"),
        ({"source": None}, "prices[0].source: is missing: write where you read the price"),
        ({"unit": None}, "prices[0].unit: is missing: write one of word, credit, call"),
        ({"source": "''"}, "prices[0].source: expected a text without space around it, got ''"),
        ({"price": "-1"}, "prices[0].price: expected an amount from 0 to 1e+12, got -1"),
        ({"price": ".nan"}, "prices[0].price: expected an amount from 0 to 1e+12, got NaN"),
        ({"price": ".inf"}, "prices[0].price: expected an amount from 0 to 1e+12, got Infinity"),
        ({"price": "'1e400'"}, "prices[0].price: expected an amount from 0 to 1e+12, got '1e400'"),
        ({"price": "true"}, "prices[0].price: expected an amount such as 24.99, got true"),
        ({"per": "0"}, "prices[0].per: expected a whole number from 1 to 1000000000000, got 0"),
        ({"unit": "words"}, "prices[0].unit: expected one of word, credit, call, got 'words'"),
        ({"adapter": "gpt0"}, "prices[0].adapter: no such adapter: 'gpt0'; see: benchbench adapters"),
        ({"discount": "1"}, "prices[0].discount: no such field: expected adapter, plan, unit, per, price, as_of, source"),
    ],
)
def test_a_fault_of_an_entry_names_file_field_and_value(read, changed, said):
    with pytest.raises(PriceTableError) as raised:
        read(table(entry(**changed)))
    assert str(raised.value) == f"prices.yaml: {said}"


def test_an_adapter_and_plan_has_one_price(read):
    with pytest.raises(
        PriceTableError, match=r"prices\[1\]: 'gptzero' with plan 'starter' has a price already, prices\[0\]"
    ):
        read(table(entry(), entry(unit="credit")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected schema_version, currency and prices, got null"),
        ("schema_version: 1\ncurrency: USD\nprices: []\n", "prices: expected a list of one price or more"),
        (table(entry(), head="schema_version: 2\ncurrency: USD\n"), "schema_version: expected 1, got 2"),
        (table(entry(), head="schema_version: 1\ncurrency: usd\n"), "expected three capital letters such as USD, got 'usd'"),
        (table(entry(), head="schema_version: 1\n"), "currency: is missing: write three capital letters such as USD"),
        (
            table(entry(), head="schema_version: 1\ncurrency: USD\nx: 1\n"),
            "x: no such field: expected schema_version, currency, prices",
        ),
        ("schema_version: 1\ncurrency: USD\nprices: 3\n", "prices: expected a list of one price or more, got 3"),
        (table("- 3\n"), "prices[0]: expected an entry with adapter, plan, unit, per, price, as_of, source, got 3"),
        ("a: 1\na: 2\n", "prices.yaml:2: the key 'a' stands twice"),
        ("- 1", "got an array"),
    ],
)
def test_a_file_that_is_no_table(read, text, said):
    with pytest.raises(PriceTableError) as raised:
        read(text)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(PriceTableError, match=r"prices\.yaml: cannot be read: No such file"):
        read_price_table(tmp_path / "prices.yaml", "prices.yaml", ())


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=8),
    st.integers(1, 10**6),
    st.decimals(0, 10**6, places=4),
)
def test_what_parts_cost_is_what_the_whole_costs(parts, per, amount):
    price = Price("a", "p", "word", per, amount, None, "s")
    assert sum(map(price.cost, parts)) == price.cost(sum(parts))
    assert price.cost(per) == Fraction(amount)


@given(st.decimals(0, 10**12, places=6))
def test_an_amount_is_shown_as_it_is_read(amount):
    assert parse_amount(show_amount(amount)) == amount


@pytest.mark.parametrize("text", ["", ".", "1.", ".5", "-1", "+1", "1_000", "1e3", "nan", "inf", "1 ", "٣", "1" * 14, "1,5"])
def test_what_is_no_amount(text):
    assert parse_amount(text) is None


@pytest.mark.parametrize(
    ("amount", "shown"), [("2", "2.00"), ("0.5", "0.50"), ("1.999999", "1.999999"), ("0.1234567", "0.123457")]
)
def test_amounts_for_people(amount, shown):
    assert show_amount(Decimal(amount)) == shown
