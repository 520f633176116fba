import codecs
import gzip
import os

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation import contamination_files
from pytest_benchbench.validation.contamination_files import NotLookedInto, PassedOver, files_under, text_pieces


def packed(data):
    return gzip.compress(data, mtime=0)  # every process gives a test the same name


def read(path, **options):
    return [(line, text) for line, text, _ in text_pieces(path, **options)]


@pytest.fixture
def written(tmp_path):
    def write(data, name="file"):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


@given(
    st.lists(st.text("a\u00e9\U0001f600 \n", max_size=30)).map("\n".join),
    st.integers(1, 9),
    st.integers(3, 20),
    st.booleans(),
)
def test_pieces_make_up_the_file_and_know_their_lines(tmp_path_factory, text, size, longest, is_packed):
    path = tmp_path_factory.mktemp("f") / "file"
    data = text.encode()
    path.write_bytes(packed(data) if is_packed else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contamination_files, "_LONGEST_LINE", longest)
        pieces = list(text_pieces(path, piece_bytes=size))
    assert "".join(piece for _, piece, _ in pieces) == text
    assert sum(count for _, _, count in pieces) == len(data)
    begun = 0
    for line, piece, _ in pieces:
        assert line == 1 + begun
        begun += piece.count("\n")


def test_a_very_long_line_is_cut_at_white_space(written, monkeypatch):
    monkeypatch.setattr(contamination_files, "_LONGEST_LINE", 10)
    assert read(written(b"one two three four"), piece_bytes=6) == [(1, "one two "), (1, "three "), (1, "four")]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (codecs.BOM_UTF8 + b"a", "a"),
        ("h\u00e9".encode("utf-16"), "h\u00e9"),
        (codecs.BOM_UTF16_BE + "h\u00e9".encode("utf-16-be"), "h\u00e9"),
        ("h\u00e9".encode("utf-32"), "h\u00e9"),
        (codecs.BOM_UTF32_BE + "h\u00e9".encode("utf-32-be"), "h\u00e9"),
        (b"caf\xe9 x", "caf\ufffd x"),
        (b"", ""),
    ],
)
def test_encodings(written, data, text):
    assert "".join(piece for _, piece in read(written(data))) == text


@pytest.mark.parametrize(
    ("data", "reason", "is_gap"),
    [
        (b"a\0b", "binary", False),
        (b"%PDF-1.7\n", r"packed \(PDF\)", True),
        (b"PK\x03\x04", r"packed \(zip\); unpack it", True),
        (b"\x28\xb5\x2f\xfd", r"packed \(Zstandard\)", True),
        (b"\xfd7zXZ\x00", r"packed \(xz\)", True),
        (b"BZh9", r"packed \(bzip2\)", True),
        (b"Rar!\x1a\x07\x01\x00", r"packed \(rar\)", True),
        (b"\x04\x22\x4d\x18", r"packed \(LZ4\)", True),
        (b"name".ljust(257, b"\0") + b"ustar\x0000", r"packed \(tar\)", True),
        (packed(b"name".ljust(257, b"\0") + b"ustar\x0000"), r"packed \(tar\)", True),
        (packed(packed(b"a text")), r"packed \(gzip twice\)", True),
        (b"PAR1", "damaged Parquet", True),
        (packed(b"a\0"), "binary", False),
        (packed(b"abc" * 1000)[:-9], "damaged gzip", True),
        (b"\x1f\x8bnonsense", "damaged gzip", True),
        (b"a" * 11, "more than 10 bytes", True),
        (packed(b"a" * 11), "more than 10 bytes", True),
    ],
)
def test_what_is_no_text_is_named(written, data, reason, is_gap):
    with pytest.raises(NotLookedInto, match=reason) as refusal:
        read(written(data), max_bytes=10 if b"a" * 11 in data or reason.startswith("more") else 10_000)
    assert refusal.value.is_gap == is_gap


def test_the_rows_of_a_parquet_file_are_lines(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"n": number, "text": f"a\nb {number}", "turns": [{"said": "hi\tyou"}, {"said": None}]} for number in range(600)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "p.parquet")
    pieces = read(tmp_path / "p.parquet")
    lines = "".join(text for _, text in pieces).splitlines()
    assert lines == [f"a b {number}\thi you" for number in range(600)]
    assert [line for line, _ in pieces] == [1, 257, 513]
    with pytest.raises(NotLookedInto, match="more than 5,000 bytes"):
        read(tmp_path / "p.parquet", max_bytes=5000)
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "p.parquet").read_bytes()[:-50])
    with pytest.raises(NotLookedInto, match="damaged Parquet"):
        read(tmp_path / "cut.parquet")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotLookedInto, match="not a regular file"):
        read(tmp_path / "pipe")
    with pytest.raises(NotLookedInto, match="No such file"):
        read(tmp_path / "none")


def test_files_are_listed_once_in_order_without_version_control_and_links(tmp_path):
    for name in ("b/x.txt", "a.txt", "b/.git/config", "b/\n\u00e9", "c"):
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_text("")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("")
    (tmp_path / "t" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "t" / "alink").symlink_to("a.txt")
    root = tmp_path / "t"
    listed = list(files_under([root / "c", root, root / "b"]))
    assert [path for path in listed if not isinstance(path, PassedOver)] == [
        root / "c",
        root / "a.txt",
        root / "b/\n\u00e9",
        root / "b/x.txt",
    ]
    assert {passed.file for passed in listed if isinstance(passed, PassedOver)} == {str(root / "link"), str(root / "alink")}
    assert [str(path) for path in files_under([root / "link"])] == [str(root / "link/secret")]


def test_a_missing_file_is_a_gap(tmp_path):
    assert list(files_under([tmp_path / "none"])) == [
        PassedOver(str(tmp_path / "none"), "No such file or directory", is_gap=True)
    ]
