"""How readers are fuzzed: valid files are taken apart, bent and joined again, as bytes and as JSON.

In the ordinary tests each law is tried on a hundred files. ``tox -e fuzz`` tries it on many more, from another seed each
time; the seed stands in the header, and ``--hypothesis-seed=SEED`` repeats the run.
"""

import json
import os
import random

import pytest
from hypothesis import HealthCheck, settings, strategies as st

settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=int(os.environ.get("BENCHBENCH_FUZZ_EXAMPLES", "2000")),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

_PIECES = [
    *(
        b'"',
        b"\\",
        b",",
        b":",
        b" ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"{",
        b"}",
        b"[",
        b"]",
        b"-",
        b"#",
        b"\xef\xbb\xbf",
    ),
    *(b"null", b"true", b"1", b"-0", b"1.0", b"1e999", b"NaN", b"-Infinity", b'""', b"[]", b"{}", b"9" * 30, b"9" * 5000),
    *(b"\\u0000", b"\\ud800", b"\\u202e", b"\xff", b"\xed\xa0\x80", b"\xc2\x85", b"/../", b"[" * 2000, b'{"a":' * 200),
    *(
        b"---\n",
        b"...\n",
        b"&a ",
        b"*a",
        b"!!binary ",
        b"!!python/name:os.system ",
        b"<<: ",
        b"? ",
        b"- ",
        b"12:30",
        b"|\n  ",
    ),
    *(b"\x1b[31m", b"\n\n", b"'", b"%YAML 1.1\n", b"2026-13-45", b"\\e[31m"),
]

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["detected", "error", "cat-01", "../x", "/etc/passwd", "\x1b[31m\n", "x" * 300, "0" * 64]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def _bent(draw, value):
    """Exchange, take out or add one part of a JSON value, at any depth."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value)))
        what = draw(st.sampled_from(["inside", "inside", "exchange", "drop", "rename", "add"]))
        if what == "inside":
            return value | {key: draw(_bent(value[key]))}
        rest = {name: inner for name, inner in value.items() if name != key or what in ("exchange", "add")}
        if what == "exchange":
            return rest | {key: draw(JSON)}
        return rest if what == "drop" else rest | {draw(st.text(max_size=8)): value[key] if what == "rename" else draw(JSON)}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(_bent(value[at])), *value[at + draw(st.integers(0, 1)) :]]
    alike = {str: st.text(min_size=1, max_size=20), int: st.integers(), float: st.floats(0, 1), bool: st.booleans()}
    return draw(alike[type(value)] if type(value) in alike and draw(st.booleans()) else JSON)


@st.composite
def _damaged(draw, data, others):
    """Damage bytes: flip, take out, double, put in a piece, cut off, go on with another file."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        until = min(len(data), at + draw(st.integers(1, 40)))
        what = draw(st.sampled_from(["flip", "delete", "double", "insert", "insert", "overwrite", "cut", "splice"]))
        if what == "flip":
            data = data[:at] + bytes(byte ^ draw(st.integers(1, 255)) for byte in data[at : at + 1]) + data[at + 1 :]
        elif what == "delete":
            data = data[:at] + data[until:]
        elif what == "double":
            data = data[:until] + data[at:]
        elif what in ("insert", "overwrite"):
            data = data[:at] + draw(st.sampled_from(_PIECES)) + data[at if what == "insert" else until :]
        elif what == "cut":
            data = data[:at]
        else:
            other = draw(st.sampled_from(others))
            data = data[:at] + other[draw(st.integers(0, len(other))) :]
    return data


def _encoded(value):
    return json.dumps(value).encode()


@st.composite
def _mangled(draw, values, encode=_encoded):
    """Files made of valid values, sound, bent as values, damaged as bytes, or both.

    Args:
        draw: Hypothesis's.
        values: For each valid file its value, or the list of its values.
        encode: Writes a value; a list of values is a file of one a line.
    """

    def written(value):
        return b"".join(encode(part) + b"\n" for part in value) if isinstance(value, tuple) else encode(value)

    value = draw(st.sampled_from(values))
    if draw(st.booleans()):
        if isinstance(value, tuple):
            at = draw(st.integers(0, len(value) - 1))
            value = (*value[:at], draw(_bent(value[at])), *value[at + 1 :])
        else:
            value = draw(_bent(value))
    data = written(value)
    if not draw(st.integers(0, 2)):
        data = draw(_damaged(data, [written(other) for other in values]))
    return data


@pytest.fixture(scope="session")
def mangled():
    """``mangled(values)``: a strategy of files; see ``_mangled``."""
    return _mangled


@pytest.fixture(scope="session")
def told():
    """``told(error, begins)``: check that an error speaks of its file, in printable lines of bounded length."""

    def check(error, begins):
        lines = str(error).split("\n")
        assert all(line.isprintable() and len(line) < 1500 for line in lines), lines
        assert all(line.startswith((begins, "... and ")) for line in lines), lines

    return check


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Draw a seed of its own for each long run."""
    if config.getoption("--hypothesis-profile") == "fuzz" and config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().getrandbits(32))


def pytest_report_header(config):
    if (seed := config.getoption("--hypothesis-seed")) is not None:
        return f"fuzzing from --hypothesis-seed={seed}"
    return None
