import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import version

import PIL.Image
import pytest

from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.registry import DEFAULT_IMAGE_ATTACKS
from pytest_benchbench.cohorts.building import build_cohort, build_digest, read_left_out
from pytest_benchbench.cohorts.real_image import real_image
from pytest_benchbench.cohorts.synthetic_image import synthetic_image
from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES


def small(side=256, attacks=DEFAULT_IMAGE_ATTACKS):
    return synthetic_image(side, attacks, ["dwt-dct"])


def digest(recipe):
    return build_digest(recipe, ["dwt-dct"])


def tree(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def size_of(path):
    with PIL.Image.open(path) as image:
        return image.size


def described(cohort):
    return json.loads((cohort.folder / "cohort.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["synthetic", "real"])
def test_the_strict_reader_takes_the_manifest(name, request):
    cohort = request.getfixturevalue(name)
    manifest = read_manifest(cohort.manifest, media_types=KERNEL_MEDIA_TYPES, seen={})
    assert manifest.rows == cohort.rows
    manifest.close()


def test_two_builds_give_the_same_bytes_whatever_surrounds_them(synthetic, tmp_path):
    script = (
        "from pathlib import Path; from pytest_benchbench.cohorts.building import build_cohort;"
        "from pytest_benchbench.cohorts.synthetic_image import synthetic_image;"
        "build_cohort(synthetic_image(256, adapters=['dwt-dct']), Path('elsewhere'))"
    )
    surroundings = {
        **os.environ,
        "TZ": "Pacific/Chatham",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
        "PYTHONHASHSEED": "12345",
    }
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=surroundings, check=True)
    assert tree(tmp_path / "elsewhere") == tree(synthetic.folder)


def test_the_marks_of_several_adapters_stand_beside_each_other(tmp_path):
    cohort = build_cohort(synthetic_image(256, [], ["dwt-dct", "dwt-dct-svd"]), tmp_path / "both")
    assert sorted(path.name for path in (cohort.folder / "artifacts" / "marked").glob("gradient-*")) == [
        *("gradient-flux2.png", "gradient-sd1.png", "gradient-sdxl.png"),
        *("gradient-svd-flux2.png", "gradient-svd-sd1.png", "gradient-svd-sdxl.png"),
    ]
    assert described(cohort)["rows"]["dwt-dct"] == described(cohort)["rows"]["dwt-dct-svd"]


def test_a_real_cohort_does_not_depend_on_where_its_list_stands(real, source_list, tmp_path):
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in source_list.parent.iterdir():
        (moved / path.name).write_bytes(path.read_bytes())
    again = build_cohort(real_image(256, source=moved / "images.yaml", adapters=["dwt-dct"]), tmp_path / "again")
    assert tree(again.folder) == tree(real.folder)


@pytest.mark.parametrize("side", [256, 272])
def test_artifacts_have_the_size_that_was_asked_for(side, tmp_path, synthetic):
    cohort = synthetic if side == 256 else build_cohort(small(side), tmp_path / "cohort")
    artifacts = [path for path in (cohort.folder / "artifacts").rglob("*") if path.is_file()]
    assert len(artifacts) == 4 + 9 + 27
    assert {size_of(path) for path in artifacts} == {(side, side)}
    assert f'"synthetic-{side}-gradient-sdxl-marked"' in cohort.manifest.read_text(encoding="utf-8")


def test_the_description_counts_and_pins_what_is_there(synthetic):
    description = described(synthetic)
    files = tree(synthetic.folder)
    assert {artifact["path"]: artifact["sha256"] for artifact in description["artifacts"]} == {
        path: digest for path, digest in files.items() if path.startswith("artifacts/")
    }
    for artifact in description["artifacts"]:
        assert artifact["bytes"] == (synthetic.folder / artifact["path"]).stat().st_size
    assert description["manifest"] == {"path": "manifest.jsonl", "sha256": files["manifest.jsonl"], "rows": 46}
    counts = {"clean": 10, "marked": 9, "attacked": 27, "removed": 0, "forged": 0, "total": 46}
    assert description["rows"] == {"dwt-dct": counts}
    assert description["left_out"] == {}
    assert description["parameters"]["attacks"] == ["jpeg-90", "resize-75", "crop-5"]
    assert description["dependencies"]["numpy"] == version("numpy")
    assert {"cohorts/synthetic_image.py", "cohorts/rows.py", "cohorts/building.py"} <= set(description["recipe"]["sources"])
    assert description["build_sha256"] == digest(small())


def test_nothing_else_lies_in_a_cohort(synthetic):
    assert {path.name for path in synthetic.folder.iterdir()} == {"artifacts", "cohort.json", "manifest.jsonl"}
    assert [path.name for path in synthetic.folder.parent.iterdir()] == ["cohort"]


def test_what_exists_is_refused_and_left_alone(tmp_path, occupy):
    folder = tmp_path / "cohort"
    occupy(folder)
    with pytest.raises(CohortError, match="exists already"):
        build_cohort(small(), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["cohort"]


def test_a_folder_that_appears_meanwhile_is_left_alone(tmp_path):
    folder = tmp_path / "cohort"

    def occupied(done, expected):
        if done == expected:
            folder.mkdir()
            (folder / "mine").write_text("mine")

    with pytest.raises(CohortError, match="exists already"):
        build_cohort(small(), folder, progress=occupied)
    assert [path.name for path in tmp_path.iterdir()] == ["cohort"]
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_a_failed_build_leaves_nothing_behind(tmp_path, source_list):
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "images.yaml").write_bytes(source_list.read_bytes())  # without its images
    with pytest.raises(CohortError, match=r"images\[0\] \(cat-one\): path: "):
        build_cohort(real_image(256, source=sources / "images.yaml", adapters=["dwt-dct"]), tmp_path / "a" / "b" / "cohort")
    assert [path.name for path in tmp_path.iterdir()] == ["sources"]


def test_an_interrupted_build_leaves_nothing_behind(tmp_path):
    def interrupted(done, expected):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_cohort(small(), tmp_path / "new" / "cohort", progress=interrupted)
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_to_the_number_of_rows(tmp_path):
    steps = []
    build_cohort(small(256, ["jpeg-90"]), tmp_path / "cohort", progress=lambda *step: steps.append(step))
    assert steps == [(done, 28) for done in range(1, 29)]


@pytest.mark.parametrize("other", [small(272), small(256, ["jpeg-90"])])
def test_another_recipe_has_another_digest(other):
    assert digest(other) != digest(small())


def test_another_version_of_a_dependency_gives_another_digest(monkeypatch):
    before = digest(small())
    monkeypatch.setattr("pytest_benchbench.cohorts.building.dependency_versions", lambda names: {"numpy": "0"})
    assert digest(small()) != before


def unavailable(folder):
    """A recipe one of whose adapters is not available: its weights are not where they are said to be."""
    return synthetic_image(256, ["jpeg-90"], ["dwt-dct", AdapterChoice("rivagan", "rivagan", {"weights": str(folder)})])


def test_an_unavailable_adapter_makes_the_build_refuse(tmp_path):
    with pytest.raises(CohortError, match=r"synthetic-image: rivagan is unavailable: .* cannot be read"):
        build_cohort(unavailable(tmp_path), tmp_path / "cohort")
    assert list(tmp_path.iterdir()) == []


def test_an_unavailable_adapter_is_left_out_on_request_and_named(tmp_path):
    cohort = build_cohort(unavailable(tmp_path), tmp_path / "cohort", leave_out_unavailable=True)
    description = described(cohort)
    assert cohort.rows == 28
    assert list(cohort.left_out) == list(description["left_out"]) == ["rivagan"]
    assert description["left_out"]["rivagan"]["planned_rows"] == 4 + 3 + 3
    assert read_left_out(cohort.folder) == cohort.left_out


def test_a_build_without_any_adapter_is_refused_in_any_case(tmp_path):
    recipe = synthetic_image(256, [], [AdapterChoice("rivagan", "rivagan", {"weights": str(tmp_path)})])
    with pytest.raises(CohortError, match="rivagan is unavailable"):
        build_cohort(recipe, tmp_path / "cohort", leave_out_unavailable=True)
    assert list(tmp_path.iterdir()) == []
