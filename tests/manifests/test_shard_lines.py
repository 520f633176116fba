"""No row is lost by all shards, and none is in two: over all shards a line is a row of one or a fault in at least one."""

import io
import json

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests import faults, lines as lines_module
from pytest_benchbench.manifests.lines import MAX_LINE_BYTES, Lines
from pytest_benchbench.manifests.reading import ManifestChangedError, ManifestError, index_manifest, read_manifest
from pytest_benchbench.manifests.shard_lines import MAX_MEMBERS_BEFORE_ID, ShardLines
from pytest_benchbench.manifests.sharding import Shard
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES

BOM = b"\xef\xbb\xbf"
LAYOUTS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "sort_keys": st.booleans(),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : "), ("\r,", ":\r")]),
    }
)
ROW = {
    "schema_version": 1,
    "case_id": "cat-01",
    "pair_id": "cat",
    "media_type": "image",
    "adapter": "dwt-dct",
    "arm": "positive",
    "state": "marked",
    "path": "cat.png",
    "sha256": "0123456789abcdef" * 4,
    "reference_path": None,
    "reference_sha256": None,
    "source_revision": "photos@2026-09-05",
    "transform": {"name": "none", "revision": "1", "parameters": {}},
    "seed": None,
    "expected": "detected",
}
IMAGE = {
    "id": "cat-01",
    "baseId": "cat",
    "sha256": "0123456789abcdef" * 4,
    "label": 1,
    "split": "test",
    "source": "collection",
    "generatorFamily": "diffusion",
    "generatorModel": "diffusion-2",
    "contentGroup": "photo",
    "transform": "jpeg-75",
    "license": "CC0-1.0",
}
KINDS = {"watermark": (ROW, "case_id", "pair_id"), "dataset": (IMAGE, "id", "source")}
NAMES = st.sampled_from(["a", "b", "c"]) | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5)


@st.composite
def row_lines(draw, kind):
    """A line that is a row, or nearly: members in any order, an id that stands twice, is escaped or stands elsewhere."""
    row, id_field, text_field = KINDS[kind]
    row = {**row, id_field: draw(NAMES)}
    if draw(st.booleans()):
        row = dict(draw(st.permutations(list(row.items()))))
    if draw(st.booleans()):
        row[text_field] = draw(st.sampled_from([f'"{id_field}":"b"', f'{{"{id_field}":"b"', "\\", "é"]))
    if kind == "watermark" and draw(st.booleans()):
        row["transform"] = {**ROW["transform"], "parameters": {id_field: draw(st.sampled_from(["a", "b", 1]))}}
    line = json.dumps(row, **draw(LAYOUTS)).encode()
    if draw(st.booleans()):
        line = spoiled(draw, line, id_field)
    return line.replace(b"\n", b"")


def spoiled(draw, line, id_field):
    """Change a line in a way that a quick look may not see."""
    member = json.dumps({id_field: draw(NAMES)})[1:-1].encode()
    escaped = member.replace(id_field[:1].encode(), b"\\u%04x" % ord(id_field[0]), 1)
    at = draw(st.integers(0, len(line)))
    return draw(
        st.sampled_from(
            [
                b"{" + member + b"," + line[1:],
                line[:-1] + b"," + member + b"}",
                b"{" + escaped + b"," + line[1:],
                line[:-1] + b"," + escaped + b"}",
                line.replace(b'"' + id_field.encode(), b'"\\u%04x' % ord(id_field[0]) + id_field[1:].encode(), 1),
                b'{"x":1,' * 20 + line[1:],
                b"[" + line + b"]",
                BOM + line,
                line[:at],
                line[at:],
                line[:at] + draw(st.binary(max_size=2)) + line[at + draw(st.integers(0, 2)) :],
            ]
        )
    )


@st.composite
def files(draw, kind):
    """Bytes of a whole file that begins with a sound row, which tells the kind."""
    found = draw(st.lists(row_lines(kind) | st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), max_size=6))
    found.insert(0, json.dumps(KINDS[kind][0], **draw(LAYOUTS)).encode())
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    return draw(st.sampled_from([b"", BOM])) + end.join(found) + (end if draw(st.booleans()) else b"")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("manifests") / "cases.jsonl"


def read(path, shard=None):
    """Give the places of the rows and the lines that are faults; of a file with faults no rows are known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faults, "MAX_FAULTS_KEPT", 10_000)
        try:
            manifest = read_manifest(path, display="cases.jsonl", media_types=KERNEL_MEDIA_TYPES, shard=shard)
        except ManifestError as error:
            return [], {fault.line for fault in error.faults}
        manifest.close()
        return [ref for refs in manifest.adapters.values() for ref in refs], set()


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_line_is_a_row_of_one_shard_or_a_fault_in_one_at_least(kind, path, data):
    content = data.draw(files(kind))
    shards = [Shard(index, count) for count in [data.draw(st.integers(1, 4))] for index in range(1, count + 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "BLOCK_BYTES", data.draw(st.sampled_from([7, 400, 128 * 1024])))
        path.write_bytes(content)
        _, whole = read(path)
        found = set().union(*(read(path, shard)[1] for shard in shards))
        assert found <= whole
        assert bool(found) == bool(whole)
        sound = [line for number, _, line in Lines(io.BytesIO(content)) if number not in found]
        path.write_bytes(b"\n".join(sound))
        rows, left = read(path)
        assert not left
        in_shards = [read(path, shard) for shard in shards]
        assert not set().union(*(left for _, left in in_shards))
        taken = [ref for refs, _ in in_shards for ref in refs]
        assert sorted(taken, key=lambda ref: ref.line) == sorted(rows, key=lambda ref: ref.line)
        assert [ref.line for ref in sorted(taken, key=lambda ref: ref.line)] == list(range(1, len(sound) + 1))
        assert all(shard.takes(ref.case_id) for shard, (refs, _) in zip(shards, in_shards, strict=True) for ref in refs)


@given(content=st.binary(max_size=60), count=st.integers(1, 4))
def test_bytes_of_no_kind_are_refused_by_every_shard(path, content, count):
    path.write_bytes(content)
    whole = read(path)
    assert whole[1]
    assert [read(path, Shard(index, count)) for index in range(1, count + 1)] == [whole] * count


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_an_index_of_a_shard_finds_what_the_reader_found(kind, path, data):
    row, id_field, _ = KINDS[kind]
    names = data.draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    layout = data.draw(LAYOUTS)
    path.write_bytes(b"".join(json.dumps({**row, id_field: name}, **layout).encode() + b"\n" for name in names))
    for shard in (Shard(index, 3) for index in (1, 2, 3)):
        manifest = read_manifest(path, display="cases.jsonl", media_types=KERNEL_MEDIA_TYPES, shard=shard)
        index = index_manifest(path, display="cases.jsonl", sha256=manifest.sha256, kind=manifest.kind, shard=shard)
        assert index.adapters == manifest.adapters
        assert (index.rows, index.total_rows) == (manifest.rows, len(names))
        assert all(index.read(ref) == manifest.read(ref) for refs in manifest.adapters.values() for ref in refs)
        index.close()
        manifest.close()


@given(data=st.data())
def test_which_lines_a_shard_looks_at_does_not_depend_on_the_lines_around(data):
    found = data.draw(st.lists(row_lines("watermark"), min_size=1, max_size=8))
    shard = Shard(data.draw(st.integers(1, 3)), 3)

    def own(lines):
        return list(ShardLines(Lines(io.BytesIO(b"\n".join(lines))), "case_id", shard))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "BLOCK_BYTES", data.draw(st.sampled_from([300, 1000])))
        together = [line for _, _, line in own([b"first", *found, b"last"])]  # an empty line at the end would be none
    alone = [line for one in found for _, _, line in own([b"first", one, b"last"])[1:-1]]
    assert together == [b"first", *alone, b"last"]


def test_a_shard_of_a_manifest_knows_the_whole(desk, row):
    path = desk.write(*(row(case_id=f"c{index}") for index in range(40)))
    whole, part = desk.read(path), desk.read(path, shard=Shard(2, 3))
    assert (part.sha256, part.total_rows, whole.total_rows, whole.rows) == (whole.sha256, 40, 40, 40)
    mine = [ref for ref in whole.adapters["dwt-dct"] if Shard(2, 3).takes(ref.case_id)]
    assert part.adapters == {"dwt-dct": mine}
    assert part.rows == len(mine)
    assert [file.origin for file in part.artifacts()] == [f"cases.jsonl:{ref.line}: sha256" for ref in mine]


def test_a_shard_may_be_empty(desk, row):
    part = desk.read_rows(row(case_id="cat-01"), shard=Shard(2, 64))
    assert (part.adapters, part.rows, part.total_rows) == ({}, 0, 1)


def test_rows_of_other_shards_are_not_validated(desk, row):
    path = desk.write(row(case_id="cat-01", seed="x"), row(case_id="cat-04"))
    mine, others = (Shard(next(i for i in (1, 2) if Shard(i, 2).takes(name)), 2) for name in ("cat-01", "cat-04"))
    assert mine != others
    assert desk.read(path, shard=others).rows == 1
    assert desk.faults_of(path, shard=mine)[0].startswith("cases.jsonl:1: seed: ")


@pytest.mark.parametrize("line", ["", "[1]", '{"schema_version":1}', '{"schema_version":1,"case_id":7}', b"\xff", "no json"])
def test_a_line_whose_id_cannot_be_read_is_a_fault_in_every_shard(desk, row, line):
    path = desk.write(row(), line)
    for index in (1, 2, 3):
        assert all(fault.startswith("cases.jsonl:2: ") for fault in desk.faults_of(path, shard=Shard(index, 3)))


def test_equal_ids_meet_in_one_shard_however_they_are_written(desk, row):
    line = desk.line(row(case_id="cat-01"))
    path = desk.write(line, line.replace(b"cat-01", b"c\\u0061t-01"))
    faults_of = [desk.faults_of(path, shard=Shard(1, 1))]
    for shard in (Shard(1, 2), Shard(2, 2)):
        if shard.takes("cat-01"):
            faults_of.append(desk.faults_of(path, shard=shard))
        else:
            assert desk.read(path, shard=shard).rows == 0
    assert faults_of == [["cases.jsonl:2: case_id: 'cat-01' stands already in cases.jsonl:1"]] * 2


def test_equal_ids_of_two_manifests_meet_in_one_shard(desk, row):
    shard, seen = Shard(2, 2), {}
    assert shard.takes("cat-01")
    desk.read(desk.write(row(), name="one.jsonl"), seen=seen, shard=shard)
    faults_of = desk.faults_of(desk.write(row(case_id="x"), row(), name="two.jsonl"), seen=seen, shard=shard)
    assert faults_of == ["two.jsonl:2: case_id: 'cat-01' stands already in one.jsonl:1"]


@pytest.mark.parametrize("before", [MAX_MEMBERS_BEFORE_ID, MAX_MEMBERS_BEFORE_ID + 1, 60_000])
def test_an_id_behind_many_members_is_found(before):
    line = b"{" + b"".join(b'"m%d":1,' % number for number in range(before)) + b'"case_id":"cat-01"}'
    assert [list(ShardLines(Lines(io.BytesIO(line)), "case_id", Shard(i, 2))) for i in (1, 2)] == [[], [(1, 0, line)]]


def test_a_line_that_is_too_long_is_a_fault_in_a_shard_and_moves_nothing(desk, row):
    long = desk.line(row(case_id="cat-03", source_revision="x" * MAX_LINE_BYTES))
    path = desk.write(row(), long, row(case_id="cat-04"))
    for index in (1, 2):
        shard = Shard(index, 2)
        if shard.takes("cat-03"):
            assert desk.faults_of(path, shard=shard) == ["cases.jsonl:2: line longer than 1 MiB"]
        else:
            (ref,) = desk.read(path, shard=shard).adapters["dwt-dct"]
            assert (ref.line, ref.offset) == (3, path.read_bytes().rindex(b'{"schema'))


def test_an_index_of_a_shard_refuses_other_bytes_of_other_shards(desk, row):
    path = desk.write(row(case_id="cat-01"), row(case_id="cat-04"))
    shard = next(Shard(i, 2) for i in (1, 2) if Shard(i, 2).takes("cat-01"))
    manifest = desk.read(path, shard=shard)
    other = desk.write(row(case_id="cat-01"), row(case_id="cat-04", state="clean"), name="other.jsonl")
    with pytest.raises(ManifestChangedError, match=r"other\.jsonl: the manifest was changed"):
        index_manifest(other, display="other.jsonl", sha256=manifest.sha256, kind="watermark", shard=shard)
