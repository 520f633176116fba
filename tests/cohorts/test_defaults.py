import subprocess
import sys

import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.building import build_digest
from pytest_benchbench.cohorts.defaults import DEFAULT_COHORTS, default_cohort
from pytest_benchbench.cohorts.synthetic_image import synthetic_image


def recipe():
    return synthetic_image(256, ["jpeg-90"])


def manifest_of(cache):
    return default_cohort("synthetic-image", cache).manifest


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(DEFAULT_COHORTS, "synthetic-image", recipe)


def test_a_default_cohort_is_built_once_under_its_digest(tmp_path, small):
    manifest = manifest_of(tmp_path / "cache")
    assert manifest.parent.name == f"synthetic-image-{build_digest(recipe(), ['dwt-dct'])[:16]}"
    before = manifest.stat()
    assert manifest_of(tmp_path / "cache") == manifest
    assert manifest.stat() == before


def test_a_stale_cohort_is_not_found_again(tmp_path, small, monkeypatch):
    first = manifest_of(tmp_path)
    monkeypatch.setattr(
        "pytest_benchbench.cohorts.building.dependency_versions", lambda names: {"Pillow": "another version"}
    )
    second = manifest_of(tmp_path)
    assert second.parent != first.parent
    assert second.read_bytes() == first.read_bytes()


def test_two_processes_that_ask_at_once_get_the_same_whole_cohort(tmp_path):
    script = (
        "import sys; from pathlib import Path; from pytest_benchbench.cohorts import defaults, synthetic_image as recipes;"
        "defaults.DEFAULT_COHORTS['synthetic-image'] = lambda: recipes.synthetic_image(256);"
        "print(defaults.default_cohort('synthetic-image', Path(sys.argv[1])).manifest)"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "cache")], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate()[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers[0] == answers[1]
    (folder,) = (tmp_path / "cache").iterdir()
    assert answers[0] == str(folder / "manifest.jsonl")
    assert len((folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines()) == 46


def test_losing_the_race_is_no_error(tmp_path, small, monkeypatch):
    from pytest_benchbench.cohorts import defaults

    def built_by_another_process(recipe, folder, **how):
        monkeypatch.undo()
        defaults.build_cohort(recipe, folder, **how)
        raise CohortError(f"{folder}: exists already; name a new folder")

    monkeypatch.setattr(defaults, "build_cohort", built_by_another_process)
    assert manifest_of(tmp_path).exists()


def test_an_unknown_cohort_is_refused(tmp_path):
    with pytest.raises(CohortError, match="unknown cohort 'sound'; known: synthetic-image, real-image, audio, video"):
        default_cohort("sound", tmp_path)


def test_adapters_whose_packages_are_missing_are_left_out(tmp_path, small, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.cohorts.schemes.find_spec", lambda package: None)
    assert list(default_cohort("synthetic-image", tmp_path).left_out) == ["trustmark"]


def test_a_cohort_without_any_adapter_has_no_manifest_and_builds_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.cohorts.schemes.find_spec", lambda package: None)
    cohort = default_cohort("audio", tmp_path / "cache")
    assert cohort.manifest is None
    assert list(cohort.left_out) == ["audioseal", "perth"]
    assert not (tmp_path / "cache").exists()
