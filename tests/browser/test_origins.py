import re

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.browser.origins import (
    MAX_URL_SHOWN,
    is_address,
    is_outside,
    is_this_machine,
    origin_of,
    shortened,
    stays_inside,
)

EXTENSION = f"chrome-extension://{'abcdefghijklmnop' * 2}"
ALLOWED = {"http://127.0.0.1:8000", EXTENSION}


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:8000/a?b#c", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("ws://127.0.0.1:8000/socket", "http://127.0.0.1:8000"),
        ("wss://example.com:443/", "https://example.com"),
        ("http://example.com:80?x", "http://example.com"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
        (f"{EXTENSION}/offscreen.html", EXTENSION),
        ("https://user:password@example.com/", None),
        ("http://127.0.0.1:8000@example.com/", None),
        ("http://example.com\\@127.0.0.1:8000/", None),
        ("http:///x", None),
        ("file:///etc/passwd", None),
        ("", None),
    ],
)
def test_the_origin_of_a_url(url, origin):
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8001/",
        "https://127.0.0.1:8000/",
        "http://localhost:8000/",
        "http://127.0.0.1:80000/",
        "http://127.0.0.1:8000.example.com/",
        "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba/x",
        "file:///etc/passwd",
        "ftp://127.0.0.1:8000/",
        "not a url",
        "",
    ],
)
def test_anything_but_an_allowed_origin_is_outside(url):
    assert is_outside(url, ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "data:,x",
        "about:blank",
        "blob:http://127.0.0.1:8000/1-2",
        "chrome://newtab/",
        "http://127.0.0.1:8000/",
        f"{EXTENSION}/a",
    ],
)
def test_what_is_allowed_or_answered_by_the_browser_is_inside(url):
    assert not is_outside(url, ALLOWED)


PARTS = st.sampled_from(
    ["127.0.0.1", ":8000", "@", "\\", "#", "?", "%", ":", ".", "[", "]", " ", "\n", "\0", "example.com", "0"]
)


@given(st.sampled_from(["http", "https", "ws", "wss", "HTTP"]), st.lists(PARTS, min_size=1, max_size=6))
def test_no_other_host_is_ever_taken_for_an_allowed_one(scheme, parts):
    url = f"{scheme}://{''.join(parts)}/"
    authority = re.split(r"[/?#]", "".join(parts))[0]
    assert is_outside(url, ALLOWED) != (authority == "127.0.0.1:8000" and scheme in ("http", "ws"))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.255.0.9", "::1", "[::1]", "::ffff:127.0.0.1", "localhost", "LOCALHOST.", "a.localhost", "::1%lo"],
)
def test_this_machine(host):
    assert is_this_machine(host)


@pytest.mark.parametrize(
    "host", ["", "127.1", "0.0.0.0", "::", "10.0.0.1", "localhost.example.com", "127.0.0.1.example.com", "1"]
)
def test_another_machine_or_a_name_that_is_looked_up(host):
    assert not is_this_machine(host)


@pytest.mark.parametrize(
    ("host", "result"), [("10.0.0.1", True), ("[2001:db8::1]", True), ("fe80::1%eth0", True), ("a.b", False)]
)
def test_an_address_is_not_looked_up(host, result):
    assert is_address(host) == result


def test_a_long_url_is_cut_behind_its_origin():
    url = f"https://example.com/{'x' * 5000}"
    assert len(shortened(url)) == MAX_URL_SHOWN
    assert origin_of(shortened(url)) == "https://example.com"
    assert shortened("data:,x") == "data:,x"
    assert stays_inside("data:,x")
