import os

import pytest

from pytest_benchbench.manifests.gathering import BuildingError
from pytest_benchbench.manifests.placing import Place, ids_besides
from pytest_benchbench.manifests.reading import ManifestError
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES, Transform, WatermarkCase


def cases(row, *ids, **changes):
    for case_id in ids:
        fields = row(case_id=case_id, **changes)
        yield WatermarkCase(**{**fields, "transform": Transform(**fields["transform"])})


def write(place, rows, onto=None):
    return place.write(rows, onto=onto, media_types=KERNEL_MEDIA_TYPES)


def test_a_new_manifest_is_valid_and_alone_in_its_folder(desk, row, tmp_path):
    place = Place(tmp_path / "cases.jsonl")
    assert write(place, cases(row, "a", "b")) == 2
    assert desk.read(place.path).rows == 2
    assert os.listdir(tmp_path) == ["cases.jsonl"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_rows_that_exist_keep_their_bytes(desk, row, tmp_path, end):
    existing = b"\xef\xbb\xbf" + desk.line(row(case_id="a")) + b"\r\n" + desk.line(row(case_id="b")) + end
    path = desk.write_bytes(existing)
    path.chmod(0o640)
    assert write(Place(path), cases(row, "c"), onto=desk.read(path)) == 3
    data = path.read_bytes()
    assert data.startswith(existing)
    assert data.count(b"\n") == 3
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("links", [True, False])
def test_an_existing_file_is_never_overwritten(desk, row, tmp_path, monkeypatch, links):
    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = desk.write_bytes(b"precious")
    with pytest.raises(BuildingError, match="exists already"):
        write(Place(path), cases(row, "a"))
    assert path.read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["cases.jsonl"]


def test_a_file_system_without_hard_links_will_do(desk, row, tmp_path, monkeypatch):
    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert write(Place(tmp_path / "cases.jsonl"), cases(row, "a")) == 1
    assert os.listdir(tmp_path) == ["cases.jsonl"]


def test_invalid_rows_leave_nothing_behind(row, tmp_path):
    with pytest.raises(ManifestError) as caught:
        write(Place(tmp_path / "cases.jsonl"), cases(row, "a", "a"))
    assert str(caught.value).startswith(f"{tmp_path}/cases.jsonl:2: case_id: ")
    assert os.listdir(tmp_path) == []


def test_a_failure_while_rows_are_made_leaves_the_existing_manifest(desk, row, tmp_path):
    def failing():
        yield from cases(row, "b")
        raise BuildingError("no more")

    path = desk.write(row())
    before = path.read_bytes()
    with pytest.raises(BuildingError, match="no more"):
        write(Place(path), failing(), onto=desk.read(path))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["cases.jsonl"]


def test_a_manifest_that_was_changed_meanwhile_is_left_alone(desk, row, tmp_path):
    def changing():
        desk.write(row(case_id="other"))
        yield from cases(row, "b")

    path = desk.write(row())
    onto = desk.read(path)
    with pytest.raises(BuildingError, match="was changed while rows were made for it"):
        write(Place(path), changing(), onto=onto)
    assert b"other" in path.read_bytes()


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(BuildingError, match="there is no folder"):
        Place(tmp_path / "new" / "cases.jsonl")


def test_paths_are_relative_to_the_manifest(tmp_path):
    (tmp_path / "sub").mkdir()
    assert Place(tmp_path / "cases.jsonl").relative(tmp_path / "sub" / ".." / "sub" / "cat.png") == "sub/cat.png"


def test_a_linked_folder_is_seen_through(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert Place(tmp_path / "real" / "cases.jsonl").relative(tmp_path / "link" / "cat.png") == "cat.png"


def test_a_file_outside_is_refused_unless_that_is_allowed(tmp_path):
    (tmp_path / "sub").mkdir()
    place = tmp_path / "sub" / "cases.jsonl"
    with pytest.raises(BuildingError, match="put the manifest beside or above its files"):
        Place(place).relative(tmp_path / "cat.png")
    assert Place(place, outside_allowed=True).relative(tmp_path / "cat.png") == "../cat.png"


def test_a_link_that_leads_outside_is_refused(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "cat.png").touch()
    (tmp_path / "sub" / "link.png").symlink_to("../cat.png")
    with pytest.raises(BuildingError, match="lies outside"):
        Place(tmp_path / "sub" / "cases.jsonl").relative(tmp_path / "sub" / "link.png")


def test_a_name_that_json_cannot_hold_is_refused(tmp_path):
    with pytest.raises(BuildingError, match="the name is not Unicode"):
        Place(tmp_path / "cases.jsonl").relative(tmp_path / os.fsdecode(b"\xff.png"))


def test_a_second_row_of_the_same_adapter_is_refused_with_the_place_of_the_first(desk, row):
    onto = desk.read_rows(row(path="a.png"), row(case_id="b", path="b.png", adapter="trustmark"))
    assert ids_besides(onto, "trustmark", {"a.png"}) == {"cat-01", "b"}
    with pytest.raises(BuildingError, match=r"b\.png: has a row of trustmark already, at cases\.jsonl:2"):
        ids_besides(onto, "trustmark", {"b.png"})
