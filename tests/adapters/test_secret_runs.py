"""No part of a secret stays in a text that is long enough to be told from ordinary words."""

import base64
import html
import json
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.secrets import HIDDEN, Secrets

CANARY = "sk-Canary+5c1f8ea2/09b4471"
LEAST = len(CANARY) // 2


@pytest.mark.parametrize("run", [CANARY[5:], CANARY[-LEAST:], CANARY[4:-4], CANARY[6 : 6 + LEAST]])
@pytest.mark.parametrize("write", [str, str.upper, lambda run: quote(run, safe=""), lambda run: run.replace("/", "\\/")])
def test_a_secret_that_is_cut_off_at_its_beginning_is_cut_out(run, write):
    known = Secrets({}, [CANARY])
    assert known.mask(f"the key {write(run)} is bad") == "the key *** is bad"
    assert known.may_occur_in(json.dumps({"reason": f"the key {write(run)} is bad"}))


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        ("no such key: ...4471", "no such key: ...***"),
        ("no such key: …4471.", "no such key: …***."),
        ("no such key: sk-Can*****4471", "no such key: ***********"),
        ("no such key: sk-Can...4471", "no such key: ***...***"),
        ("no such key: ••••9b4471", "no such key: ••••***"),
        ("wait ...44710 seconds", "wait ...44710 seconds"),
        ("there are 4471 words", "there are 4471 words"),
        ("risk-Can...", "risk-Can..."),
        ("a Canary flew over 5c1f8ea2", "a Canary flew over 5c1f8ea2"),
    ],
)
def test_the_ends_of_a_secret_at_a_mark_of_what_was_left_out(said, masked):
    known = Secrets({}, [CANARY])
    assert known.mask(said) == masked
    if masked != said:
        assert known.may_occur_in(json.dumps({"reason": said}, ensure_ascii=False))


WRITINGS = {
    "plain": (str, str),
    "upper": (str.upper, str),
    "url": (lambda run: quote(run, safe=""), unquote),
    "twice": (lambda run: quote(quote(run, safe=""), safe=""), lambda said: unquote(unquote(said))),
    "json": (lambda run: json.dumps(run).replace("/", "\\/")[1:-1], lambda said: json.loads(f'"{said}"')),
    "units": (lambda run: "".join(f"\\u{ord(letter):04x}" for letter in run), lambda said: json.loads(f'"{said}"')),
    "html": (lambda run: html.escape(run).replace("+", "&#43;"), html.unescape),
}


@given(
    data=st.data(),
    key=st.text("abcXYZ0189-_+/=.&~é", min_size=16, max_size=60),
    writing=st.sampled_from(sorted(WRITINGS)),
)
def test_no_run_of_a_secret_that_is_long_enough_stays(data, key, writing):
    least = min(16, len(key) // 2)
    start = data.draw(st.integers(0, len(key) - least))
    end = data.draw(st.integers(start + least, len(key)))
    write, read = WRITINGS[writing]
    masked = read(Secrets({}, [key]).mask(f"key ({write(key[start:end])}) bad")).lower()
    assert not [at for at in range(len(key) - least + 1) if key[at : at + least].lower() in masked]


@given(
    data=st.data(),
    key=st.text("abcXYZ0189-_+/=.&~", min_size=16, max_size=60),
    before=st.integers(0, 3),
    encode=st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]),
)
def test_no_run_of_a_secret_that_is_long_enough_stays_in_base64(data, key, before, encode):
    least = min(16, len(key) // 2)
    start = data.draw(st.integers(0, len(key) - least))
    end = data.draw(st.integers(start + least, len(key)))
    written = encode(b"\xff" * before + key[start:end].encode() + b"\xff").decode()
    masked = Secrets({}, [key]).mask(f"({written})")
    assert HIDDEN in masked
    assert len(masked) <= len(HIDDEN) + 2 + 4 + 4 + 4  # what stands around it, and letters that hold bits of two bytes
