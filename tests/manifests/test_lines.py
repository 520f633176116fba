import hashlib
import io

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests import lines
from pytest_benchbench.manifests.lines import MAX_LINE_BYTES, Lines, without_end

BOM = b"\xef\xbb\xbf"


@given(
    parts=st.lists(st.binary(max_size=9).map(lambda part: part.replace(b"\n", b"").rstrip(b"\r"))),
    end=st.sampled_from([b"\n", b"\r\n"]),
    mark=st.sampled_from([b"", BOM]),
    closed=st.booleans(),
    block=st.integers(4, 12),
)
def test_lines_numbers_and_offsets_do_not_depend_on_blocks(parts, end, mark, closed, block):
    if not mark and parts and parts[0].startswith(BOM):
        return
    data = mark + end.join(parts) + (end if closed and parts else b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block)
        read = Lines(io.BytesIO(data))
        found = list(read)
    expected = parts if closed or not parts or parts[-1] else parts[:-1]
    assert [line for _, _, line in found] == expected
    assert [number for number, _, _ in found] == list(range(1, len(expected) + 1))
    assert all(without_end(io.BytesIO(data[offset:]).readline()) == line for _, offset, line in found)
    assert read.sha256 == hashlib.sha256(data).hexdigest()
    assert read.terminated == (not found or data.endswith(b"\n"))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_of_exactly_the_limit_comes_whole(end):
    line = b"x" * MAX_LINE_BYTES
    assert [found for _, _, found in Lines(io.BytesIO(line + end + line))] == [line, line]


@pytest.mark.parametrize("length", [MAX_LINE_BYTES + 1, 5 * MAX_LINE_BYTES + 7])
def test_a_longer_line_comes_cut_off_and_the_next_one_is_found(length):
    found = list(Lines(io.BytesIO(b"x" * length + b"\nnext\n")))
    assert len(found[0][2]) > MAX_LINE_BYTES
    assert found[1] == (2, length + 1, b"next")


def test_an_endless_line_is_not_held_in_memory():
    class Endless(io.RawIOBase):
        def __init__(self) -> None:
            self.blocks = 300

        def read(self, size=-1):
            self.blocks -= 1
            return b"x" * size if self.blocks else b""

    ((number, offset, line),) = Lines(Endless())
    assert (number, offset) == (1, 0)
    assert MAX_LINE_BYTES < len(line) <= 2 * MAX_LINE_BYTES
