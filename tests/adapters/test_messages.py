import hashlib

import pytest
from hypothesis import given, strategies

from pytest_benchbench.adapters.messages import benchmark_message, foreign_message


@given(strategies.integers(1, 256))
def test_a_message_is_the_beginning_of_a_public_digest(bits):
    whole = f"{int.from_bytes(hashlib.sha256(b'pytest-benchbench').digest()):0256b}"
    assert "".join(map(str, benchmark_message(bits))) == whole[:bits]


@pytest.mark.parametrize(("bits", "fewest", "most"), [(16, 6, 10), (32, 10, 22), (61, 24, 37), (256, 112, 144)])
def test_the_foreign_message_differs_in_about_half_of_the_bits(bits, fewest, most):
    differing = sum(a != b for a, b in zip(benchmark_message(bits), foreign_message(bits), strict=True))
    assert fewest <= differing <= most


@pytest.mark.parametrize("bits", [0, 257])
@pytest.mark.parametrize("message", [benchmark_message, foreign_message])
def test_other_lengths_are_refused(bits, message):
    with pytest.raises(ValueError, match="1 to 256 bits"):
        message(bits)
