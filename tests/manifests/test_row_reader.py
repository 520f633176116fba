"""Laws of reading one line, driven by Hypothesis."""

import json

import jsonschema
import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests.dataset import DATASET, dataset_schema
from pytest_benchbench.manifests.field_types import all_say_something, says_something
from pytest_benchbench.manifests.reading import ManifestError, read_manifest
from pytest_benchbench.manifests.row_reader import RowReader
from pytest_benchbench.manifests.rows import RowContext
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES, WATERMARK, watermark_schema

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(says_something)
NAME = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
DIGEST = st.text("0123456789abcdef", min_size=64, max_size=64)
PATH = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0./"), min_size=1, max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ADAPTER = st.sampled_from(sorted((name, media) for name, (media,) in KERNEL_MEDIA_TYPES.items()))


@st.composite
def watermark_rows(draw):
    adapter, media_type = draw(ADAPTER)
    reference = draw(st.none() | st.tuples(PATH, DIGEST)) or (None, None)
    return {
        "schema_version": 1,
        "case_id": draw(NAME),
        "pair_id": draw(TEXT),
        "media_type": media_type,
        "adapter": adapter,
        "arm": draw(st.sampled_from(["positive", "matched_negative", "wrong_key", "hard_negative"])),
        "state": draw(st.sampled_from(["clean", "marked", "attacked", "removed", "forged"])),
        "path": draw(PATH),
        "sha256": draw(DIGEST),
        "reference_path": reference[0],
        "reference_sha256": reference[1],
        "source_revision": draw(TEXT),
        "transform": {
            "name": draw(TEXT),
            "revision": draw(TEXT),
            "parameters": draw(st.dictionaries(TEXT, JSON, max_size=3)),
        },
        "seed": draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        "expected": draw(st.sampled_from(["detected", "not_detected", "unresolved"])),
    }


@st.composite
def dataset_rows(draw):
    label = draw(st.sampled_from([0, 1]))
    optional = {
        "generatorModel": draw(st.none() | TEXT),
        "path": draw(st.none() | PATH),
        "splitGroup": draw(st.none() | TEXT),
        "resolutionGroup": draw(st.sampled_from([None, "full-res", "thumbnail"])),
        "prompt": draw(st.none() | TEXT),
    }
    return {
        "id": draw(NAME),
        "baseId": draw(TEXT),
        "sha256": draw(DIGEST),
        "label": label,
        "split": draw(st.sampled_from(["train", "calibration", "test"])),
        "source": draw(TEXT),
        "generatorFamily": draw(TEXT if label else st.none() | TEXT),
        "contentGroup": draw(TEXT),
        "transform": draw(TEXT),
        "license": draw(TEXT),
    } | {name: value for name, value in optional.items() if value is not None or draw(st.booleans())}


KINDS = {
    "watermark": (WATERMARK, watermark_rows(), watermark_schema()),
    "dataset": (DATASET, dataset_rows(), dataset_schema()),
}
LAYOUTS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "sort_keys": st.booleans(),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :  ")]),
    }
)


@st.composite
def mutations(draw, line):
    """Change a line a little: bytes flipped, taken out, put in, doubled; a member repeated; a piece of JSON exchanged."""
    kind = draw(st.sampled_from(["flip", "delete", "insert", "double", "member", "exchange"]))
    at = draw(st.integers(0, len(line) - 1))
    until = min(len(line), at + draw(st.integers(1, 9)))
    if kind == "flip":
        return line[:at] + bytes([line[at] ^ draw(st.integers(1, 255))]) + line[at + 1 :]
    if kind == "delete":
        return line[:at] + line[until:]
    if kind == "insert":
        return (
            line[:at]
            + draw(st.sampled_from([b'"', b"\\", b",", b":", b" ", b"0", b"\n", b"\0", b"}", b"/../", b"\xff"]))
            + line[at:]
        )
    if kind == "double":
        return line[:until] + line[at:]
    if kind == "member":
        members = list(json.loads(line).items())
        name, value = draw(st.sampled_from(members))
        repeated = json.dumps({name: draw(st.just(value) | JSON)})[1:-1].encode()
        return line[:-1] + b"," + repeated + b"}"
    values = [b"null", b"true", b"1", b"1.0", b"-0", b"1e999", b"NaN", b'"x"', b"[]", b"{}", b"9" * 30]
    colon = line.find(b":", at)
    return line[: colon + 1] + draw(st.sampled_from(values)) + line[max(line.find(b",", colon), colon + 1) :]


def unrepeated(members):
    assert len(dict(members)) == len(members)
    return dict(members)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("manifests") / "cases.jsonl"


def write_lines(path, lines):
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def faults_of(path):
    try:
        read_manifest(path, display="cases.jsonl", media_types=KERNEL_MEDIA_TYPES).close()
    except ManifestError as error:
        return error.faults
    return None


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_a_sound_row_comes_back_as_it_was_written(name, path, data):
    _, rows, schema = KINDS[name]
    row, layout = data.draw(rows), data.draw(LAYOUTS)
    jsonschema.validate(row, schema)
    manifest = read_manifest(write_lines(path, [json.dumps(row, **layout).encode()]), media_types=KERNEL_MEDIA_TYPES)
    (ref,) = (ref for refs in manifest.adapters.values() for ref in refs)
    read = msgspec.to_builtins(manifest.read(ref).case)
    manifest.close()
    assert read == {name: value for name, value in row.items() if name in read or value is not None}


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_a_mutated_line_is_refused_with_its_number_or_valid_under_the_schema(name, path, data):
    kind, rows, schema = KINDS[name]
    first, second = data.draw(st.tuples(rows, rows).filter(lambda two: two[0][kind.id_field] != two[1][kind.id_field]))
    mutated = data.draw(mutations(json.dumps(second, **data.draw(LAYOUTS)).encode()))
    write_lines(path, [json.dumps(first).encode(), mutated])
    if (faults := faults_of(path)) is None:
        for line in path.read_bytes().removesuffix(b"\n").split(b"\n"):
            jsonschema.validate(json.loads(line, object_pairs_hook=unrepeated, parse_constant=pytest.fail), schema)
    else:
        assert {fault.line for fault in faults} <= {2 + extra for extra in range(mutated.count(b"\n") + 1)}
        assert all(str(fault).isprintable() for fault in faults)


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_a_mutated_only_line_is_refused_or_valid_under_the_schema(name, path, data):
    _, rows, schema = KINDS[name]
    line = data.draw(mutations(json.dumps(data.draw(rows)).encode()).filter(lambda line: b"\n" not in line))
    if (faults := faults_of(write_lines(path, [line]))) is None:
        jsonschema.validate(json.loads(line, object_pairs_hook=unrepeated, parse_constant=pytest.fail), schema)
    else:
        assert {fault.line for fault in faults} == {1}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("outside_allowed", [True, False])
@given(data=st.data())
def test_the_quick_look_accepts_nothing_that_the_exact_one_refuses(name, outside_allowed, data):
    kind, rows, _ = KINDS[name]
    reader = RowReader(kind, RowContext(KERNEL_MEDIA_TYPES, outside_allowed))
    line = json.dumps(data.draw(rows), **data.draw(LAYOUTS)).encode()
    line = data.draw(mutations(line) | st.just(line))
    if (case := reader.accept(line)) is not None:
        examined = reader.examine(line)
        assert (examined.case, examined.problems) == (case, [])


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_the_quick_look_accepts_ordinary_rows(row, image, separators):
    nested = {"name": "n", "revision": "sha256:1", "parameters": {"source": {"a": [1]}, "crop": 0.05}}
    for kind, sample in ((WATERMARK, row()), (WATERMARK, row(transform=nested)), (DATASET, image(source="a:b"))):
        reader = RowReader(kind, RowContext(KERNEL_MEDIA_TYPES))
        assert reader.accept(json.dumps(sample, separators=separators).encode()) is not None
        assert reader.accept(json.dumps(sample, separators=separators, sort_keys=True).encode()) is not None


@given(
    st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \t\xa0\u200b"), min_size=1))
)
def test_texts_are_looked_at_together_as_each_alone(texts):
    assert all_say_something(texts) is all(says_something(text) for text in texts if text)
