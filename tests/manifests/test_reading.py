import hashlib
import json
import os
import tracemalloc

import pytest

from pytest_benchbench.manifests.reading import ManifestChangedError, ManifestError, index_manifest, read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES

BOM = b"\xef\xbb\xbf"


def refs(manifest):
    return {adapter: [(ref.case_id, ref.line) for ref in found] for adapter, found in manifest.adapters.items()}


def test_cases_are_found_by_adapter_in_file_order(desk, row):
    manifest = desk.read_rows(
        row(case_id="a"), row(case_id="b", adapter="trustmark"), row(case_id="c"), row(case_id="d", adapter="trustmark")
    )
    assert refs(manifest) == {"dwt-dct": [("a", 1), ("c", 3)], "trustmark": [("b", 2), ("d", 4)]}
    assert manifest.rows == 4


def test_a_manifest_says_what_it_is(desk, row):
    path = desk.write(row())
    manifest = desk.read(path)
    assert (manifest.path, manifest.name, manifest.display) == (path, "cases.jsonl", "cases.jsonl")
    assert manifest.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", BOM])
@pytest.mark.parametrize("last", [True, False])
def test_byte_order_mark_crlf_and_an_open_last_line_are_accepted(desk, row, end, mark, last):
    lines = [desk.line(row(case_id=name)) for name in ("a", "b")]
    manifest = desk.read(desk.write_bytes(mark + end.join(lines) + (end if last else b"")))
    found = [manifest.read(ref) for ref in manifest.adapters["dwt-dct"]]
    assert [one.case.case_id for one in found] == ["a", "b"]
    assert [one.row_sha256 for one in found] == [hashlib.sha256(line).hexdigest() for line in lines]


@pytest.mark.parametrize(
    "layout", [{}, {"separators": (",", ":")}, {"indent": None, "separators": (" ,  ", " :\t")}, {"sort_keys": True}]
)
def test_layout_and_order_of_members_are_free(desk, row, layout):
    parameters = {"text": 'a": b, c', "list": [1, {"x": "y"}], "ä": "\u2028"}
    text = json.dumps(row(transform={"name": "n", "revision": "1", "parameters": parameters}), **layout)
    manifest = desk.read_rows(text)
    assert manifest.read(manifest.adapters["dwt-dct"][0]).case.transform.parameters == parameters


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "blank line"),
        (" ", "blank line"),
        (b"\xff", "not UTF-8 at byte 1 of the line"),
        ("null", "expected a JSON object, got null"),
        ('{"schema_version":1', "not JSON at column 20: Expecting ',' delimiter"),
        ("x" * (1024 * 1024 + 1), "line longer than 1 MiB"),
    ],
)
def test_a_bad_line_is_a_fault_and_the_rest_is_read(desk, row, line, message):
    faults = desk.faults(row(case_id="a"), line, row(case_id="b", seed="x"))
    assert faults[0] == f"cases.jsonl:2: {message}"
    assert faults[1].startswith("cases.jsonl:3: seed: ")


def test_a_line_of_one_mebibyte_is_read(desk, row):
    line = desk.line(row())
    assert desk.read_rows(line + b" " * (1024 * 1024 - len(line))).rows == 1
    assert desk.faults(line + b" " * (1024 * 1024 + 1 - len(line))) == ["cases.jsonl:1: line longer than 1 MiB"]


def test_a_truncated_last_line_is_called_cut_off(desk, row):
    line = desk.line(row(case_id="b"))
    (fault,) = desk.faults_of(desk.write_bytes(desk.line(row(case_id="a")) + b"\n" + line[:-9]))
    assert fault.startswith("cases.jsonl:2: the last line is cut off: not JSON at column ")


@pytest.mark.parametrize("data", [b"", BOM, b"\n", b" \n\r\n"])
def test_a_manifest_without_rows_is_refused(desk, data):
    assert desk.faults_of(desk.write_bytes(data)) == ["cases.jsonl: empty: a manifest has at least one row"]


def test_blank_lines_before_the_first_row_are_faults(desk, row):
    assert desk.faults("", row()) == ["cases.jsonl:1: blank line"]


def test_repeated_keys_are_refused_wherever_they_stand(desk, row):
    line = json.dumps(row(transform={"name": "n", "revision": "1", "parameters": {"q": 1, "deep": [{"x": 1}]}}))
    twice = {
        '"seed": null': '"seed": null, "seed": null',
        '"q": 1': '"q": 1, "q": 1',
        '"x": 1': '"x": 1, "x": 2',
        '"name": "n"': '"na\\u006de": "m", "name": "n"',
    }
    places = ["seed", "transform.parameters.q", "transform.parameters.deep[0].x", "transform.name"]
    for (once, repeated), place in zip(twice.items(), places, strict=True):
        assert desk.faults(line.replace(once, repeated)) == [f"cases.jsonl:1: {place}: this key stands twice"]


def test_a_number_that_is_none_is_refused(desk, row):
    line = json.dumps(row(transform={"name": "n", "revision": "1", "parameters": {"q": 31415}}))
    for text in ("NaN", "Infinity", "-Infinity"):
        assert desk.faults(line.replace("31415", text)) == [
            f"cases.jsonl:1: transform.parameters.q: {text} is no JSON number"
        ]


@pytest.mark.parametrize("levels", [70, 5000, 400_000])
def test_deep_nesting_is_a_fault(desk, row, levels):
    line = json.dumps(row(transform={"name": "n", "revision": "1", "parameters": {"q": 31415}}))
    faults = desk.faults(row(case_id="a"), line.replace("31415", "[" * levels + "]" * levels))
    assert len(faults) == 1
    assert "nested deeper than 64 levels" in faults[0]


def test_the_deepest_row_is_read_from_any_depth_of_calls(desk, row):
    value = "[" * 61 + "]" * 61
    line = json.dumps(row(transform={"name": "n", "revision": "1", "parameters": {"q": 31415}})).replace("31415", value)
    assert desk.read_rows(line).rows == 1
    assert "nested deeper" in desk.faults(line.replace(value, f"[{value}]"))[0]


def test_a_repeated_case_id_names_both_places(desk, row):
    assert desk.faults(row(), row(case_id="other"), row()) == [
        "cases.jsonl:3: case_id: 'cat-01' stands already in cases.jsonl:1"
    ]


def test_the_case_id_of_a_faulty_row_counts(desk, row):
    assert desk.faults(row(seed="x"), row())[1] == "cases.jsonl:2: case_id: 'cat-01' stands already in cases.jsonl:1"


def test_case_ids_are_unique_over_several_manifests(desk, row):
    seen = {}
    desk.read(desk.write(row(), name="one.jsonl"), seen=seen)
    faults = desk.faults_of(desk.write(row(case_id="x"), row(), name="two.jsonl"), seen=seen)
    assert faults == ["two.jsonl:2: case_id: 'cat-01' stands already in one.jsonl:1"]


def test_twenty_faults_are_shown_and_all_are_counted(desk, row):
    faults = desk.faults(*(row(case_id=f"c{index}", arm=0, state=0) for index in range(50)))
    assert faults[0].startswith("cases.jsonl:1: arm: ")
    assert faults[19].startswith("cases.jsonl:10: state: ")
    assert faults[20:] == ["... and 80 more faults"]


def test_what_is_no_regular_file_is_refused_without_waiting(desk, tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert desk.faults_of(tmp_path / "pipe.jsonl") == ["pipe.jsonl: not a regular file"]
    assert desk.faults_of(tmp_path / "none.jsonl") == ["none.jsonl: cannot be read: No such file or directory"]


def test_a_changed_row_is_not_read(desk, row):
    path = desk.write(row(case_id="a"), row(case_id="b"))
    manifest = desk.read(path)
    path.write_bytes(path.read_bytes().replace(b'"detected"', b'"Detected"'))
    os.utime(path, ns=(1, 1))
    with pytest.raises(ManifestChangedError, match=r"cases\.jsonl: the manifest was changed"):
        manifest.read(manifest.adapters["dwt-dct"][0])


def test_touching_the_file_changes_nothing(desk, row):
    path = desk.write(row())
    manifest = desk.read(path)
    os.utime(path, ns=(1, 1))
    assert manifest.read(manifest.adapters["dwt-dct"][0]).case.case_id == "cat-01"


def test_a_file_renamed_over_the_manifest_is_not_read(desk, row):
    manifest = desk.read(desk.write(row()))
    desk.write(row(case_id="x"), name="other").replace(manifest.path)
    assert manifest.read(manifest.adapters["dwt-dct"][0]).case.case_id == "cat-01"


def test_artifacts_come_in_file_order_with_the_place_of_their_digest(desk, row):
    manifest = desk.read_rows(
        row(case_id="a", reference_path="r.png", reference_sha256="b" * 64),
        row(case_id="b", adapter="trustmark"),
        row(case_id="c"),
    )
    found = [(file.origin, file.path_origin, file.path, file.sha256[:2]) for file in manifest.artifacts()]
    assert found == [
        ("cases.jsonl:1: sha256", "cases.jsonl:1: path", "cat.png", "01"),
        ("cases.jsonl:1: reference_sha256", "cases.jsonl:1: reference_path", "r.png", "bb"),
        ("cases.jsonl:2: sha256", "cases.jsonl:2: path", "cat.png", "01"),
        ("cases.jsonl:3: sha256", "cases.jsonl:3: path", "cat.png", "01"),
    ]


def test_a_row_without_path_names_no_artifact(desk, image):
    manifest = desk.read_rows(image(), image(id="b", path="b.png"))
    assert [file.path for file in manifest.artifacts()] == ["b.png"]


def test_an_index_finds_what_the_reader_found(desk, row):
    path = desk.write_bytes(
        BOM
        + b"\r\n".join(
            desk.line(row(case_id=name, adapter=adapter))
            for name, adapter in [("a", "dwt-dct"), ("b", "trustmark"), ("c", "dwt-dct")]
        )
    )
    manifest = desk.read(path)
    index = index_manifest(path, display="cases.jsonl", sha256=manifest.sha256, kind="watermark")
    assert index.adapters == manifest.adapters
    assert index.read(index.adapters["trustmark"][0]) == manifest.read(manifest.adapters["trustmark"][0])
    index.close()


def test_an_index_of_a_kind_without_adapters(desk, image):
    manifest = desk.read_rows(image())
    index = index_manifest(manifest.path, display="cases.jsonl", sha256=manifest.sha256, kind="dataset")
    assert index.adapters == manifest.adapters
    index.close()


@pytest.mark.parametrize("data", [b'{"case_id":"a","adapter":"b"}\n', b"no json", b""])
def test_an_index_of_other_bytes_is_refused(desk, row, data):
    manifest = desk.read_rows(row())
    path = desk.write_bytes(data, name="other.jsonl")
    with pytest.raises(ManifestChangedError, match=r"other\.jsonl: the manifest was changed"):
        index_manifest(path, display="other.jsonl", sha256=manifest.sha256, kind="watermark")


def test_what_stays_in_memory_is_not_the_rows(desk, row):
    filler = "x" * 10_000
    path = desk.write(*(row(case_id=f"c{index}", source_revision=filler) for index in range(2000)))
    tracemalloc.start()
    manifest = desk.read(path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert manifest.rows == 2000
    assert held < 2000 * 500
    assert peak < 10 * 1024 * 1024 < path.stat().st_size


def test_a_registry_that_fails_is_not_hidden(desk, row):
    class Broken(dict):
        def get(self, name, default=None):
            raise LookupError("broken entry point")

    with pytest.raises(LookupError, match="broken entry point"):
        desk.read_rows(row(), media_types=Broken())


def test_reading_without_display_uses_the_path(desk):
    path = desk.write("x")
    with pytest.raises(ManifestError, match=f"^{path}:1: "):
        read_manifest(path, media_types=KERNEL_MEDIA_TYPES)
