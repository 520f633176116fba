"""Where files of recorded rows are looked for, and where not."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.reports.html.artifact_places import ArtifactPlaces

ROW = {
    "schema_version": 1,
    "case_id": "c1",
    "pair_id": "p",
    "media_type": "image",
    "adapter": "dwt-dct",
    "arm": "positive",
    "state": "marked",
    "path": "images/cat.png",
    "sha256": "0" * 64,
    "reference_path": None,
    "reference_sha256": None,
    "source_revision": "1",
    "transform": {"name": "none", "revision": "1", "parameters": {}},
    "seed": None,
    "expected": "detected",
}


@pytest.fixture
def manifest(tmp_path):
    """A manifest in a folder of a project, with the folder of its images."""
    folder = tmp_path / "project" / "cases"
    (folder / "images").mkdir(parents=True)
    path = folder / "cases.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    return path


def run(manifest, written, directory):
    return directory, {"manifests": [{"path": written, "sha256": hashlib.sha256(manifest.read_bytes()).hexdigest()}]}


def sha256_of(manifest):
    return hashlib.sha256(manifest.read_bytes()).hexdigest()


def test_at_the_end_of_a_session_files_lie_beside_their_manifests(manifest):
    opened = read_manifest(manifest, media_types={"dwt-dct": frozenset({"image"})})
    opened.close()
    places = ArtifactPlaces.of_manifests([opened])
    assert places(opened.sha256, "images/cat.png") == (str(manifest.parent / "images/cat.png"),)
    assert places("f" * 64, "images/cat.png") == ()


@pytest.mark.parametrize("written", ["../secret.png", "/etc/hostname", "images/../../secret.png", "images/cat\0.png"])
def test_a_path_that_leads_elsewhere_has_no_place(manifest, written):
    places = ArtifactPlaces({"a": [manifest]})
    assert places("a", written) == ()


def test_a_link_that_leads_elsewhere_has_no_place(manifest, tmp_path):
    (manifest.parent / "images/cat.png").symlink_to(tmp_path / "secret.png")
    assert ArtifactPlaces({"a": [manifest]})("a", "images/cat.png") == ()


def test_roots_allow_other_places_and_moved_folders(manifest, tmp_path):
    moved = tmp_path / "moved"
    moved.mkdir()
    places = ArtifactPlaces({"a": [manifest]}, [moved])
    assert places("a", "images/cat.png") == (str(manifest.parent / "images/cat.png"), str(moved / "images/cat.png"))
    assert places("a", str(moved / "cat.png")) == (str(moved / "cat.png"),)
    assert places("unknown", "images/cat.png") == (str(moved / "images/cat.png"),)


@pytest.mark.parametrize("from_where", ["working directory", "project of the run", "folder of the run"])
def test_a_recorded_manifest_is_looked_for_where_the_run_may_have_been_started(manifest, tmp_path, monkeypatch, from_where):
    project, elsewhere = manifest.parents[1], tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(project if from_where == "working directory" else elsewhere)
    directory = {
        "working directory": elsewhere / "run",
        "project of the run": project / ".benchbench" / "runs" / "1",
        "folder of the run": project / "run",
    }[from_where]
    places = ArtifactPlaces.of_runs([run(manifest, "cases/cases.jsonl", directory)])
    assert places(sha256_of(manifest), "images/cat.png") == (str(manifest.parent / "images/cat.png"),)


def test_a_relative_run_directory_is_taken_from_the_working_directory(manifest, monkeypatch):
    monkeypatch.chdir(manifest.parents[1])
    places = ArtifactPlaces.of_runs([run(manifest, "cases/cases.jsonl", Path(".benchbench/runs/1"))])
    assert len(places(sha256_of(manifest), "images/cat.png")) == 1


def test_a_folder_elsewhere_counts_only_with_the_very_manifest_in_it(manifest, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    named = run(manifest, str(manifest), tmp_path / "here" / "run")
    assert len(ArtifactPlaces.of_runs([named])(sha256_of(manifest), "images/cat.png")) == 1
    upwards = run(manifest, "../project/cases/cases.jsonl", tmp_path / "here" / "run")
    assert len(ArtifactPlaces.of_runs([upwards])(sha256_of(manifest), "images/cat.png")) == 1
    recorded = sha256_of(manifest)
    manifest.write_text("{}\n")
    for each in (named, upwards):
        assert ArtifactPlaces.of_runs([each])(recorded, "images/cat.png") == ()


def test_a_manifest_of_the_project_that_was_changed_still_tells_where_its_files_lie(manifest, monkeypatch):
    monkeypatch.chdir(manifest.parents[1])
    named = run(manifest, "cases/cases.jsonl", Path("run"))
    recorded = sha256_of(manifest)
    manifest.write_text("{}\n")
    assert len(ArtifactPlaces.of_runs([named])(recorded, "images/cat.png")) == 1


@pytest.mark.parametrize("written", ["gone/cases.jsonl", "x\0y/cases.jsonl", "", ".", "/", "a" * 5000])
def test_what_leads_nowhere_is_no_fault(manifest, tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    places = ArtifactPlaces.of_runs([run(manifest, written, Path("run"))])
    assert all(Path(path).is_relative_to(tmp_path) for path in places(sha256_of(manifest), "images/cat.png"))


def test_a_run_that_names_no_path_has_no_place(tmp_path):
    document = {"manifests": [{"sha256": "a" * 64}, {"sha256": "a" * 64, "path": 3}]}
    assert ArtifactPlaces.of_runs([(tmp_path, document)])("a" * 64, "cat.png") == ()


def test_several_runs_add_up(manifest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "cases.jsonl").write_bytes(manifest.read_bytes())
    runs = [run(manifest, written, Path("run")) for written in ("project/cases/cases.jsonl", "copy/cases.jsonl") * 2]
    found = ArtifactPlaces.of_runs(runs)(sha256_of(manifest), "cat.png")
    assert found == (str(manifest.parent / "cat.png"), str(copy / "cat.png"))


def test_paths_are_read_from_the_lines_of_a_manifest(tmp_path):
    manifest = tmp_path / "dataset.jsonl"
    lines = ['{"id": "a", "path": "a.png"}', '{"id": "b"}', "no JSON", '{"path": 3}', '{"path": "\u00e9.png", "x": {}}']
    manifest.write_text("\n".join(lines), encoding="utf-8")
    places = ArtifactPlaces({"a": [tmp_path / "moved.jsonl", manifest]})
    assert places.paths_on("a", range(7)) == {1: "a.png", 5: "\u00e9.png"}
    assert places.paths_on("a", {1}) == {1: "a.png"}
    assert places.paths_on("a", ()) == {}
    assert places.paths_on("b", {1}) == {}


def test_what_is_no_file_has_no_paths(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert ArtifactPlaces({"a": [tmp_path, tmp_path / "pipe", tmp_path / "absent"]}).paths_on("a", {1}) == {}
