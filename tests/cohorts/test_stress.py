"""Stress sets are built from real files and read back by the readers that a run uses."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from pytest_benchbench.artifacts.image import decode_image, embedded_metadata
from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.cohorts.stress import StressSettings, build_stress
from pytest_benchbench.cohorts.stress_originals import read_originals
from pytest_benchbench.cohorts.stress_plan import plan_stress
from pytest_benchbench.cohorts.stress_transforms import STRESS_TRANSFORMS, find_transforms, row_seed
from pytest_benchbench.manifests.reading import read_manifest

SIZES = [(300, 200), (140, 280), (120, 90)]


def build(base, folder, *, names=(), seed=0, too_small="row", workers=2, before=None):
    manifest = read_manifest(base, display="base.jsonl", media_types={})
    try:
        transforms = find_transforms(names)
        plan = plan_stress(read_originals(manifest, transforms, roots=(), workers=workers), transforms, too_small)
        if before is not None:
            before()
        return build_stress(manifest, plan, folder, StressSettings(seed, too_small, workers))
    finally:
        manifest.close()


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def built(write_originals, tmp_path_factory):
    """The base manifest and the set that was built from it; nothing changes them."""
    folder = tmp_path_factory.mktemp("built")
    base = write_originals(
        folder,
        SIZES,
        {"splitGroup": "siblings", "prompt": "a cat"},
        {"generatorModel": "model-1", "split": "calibration"},
        {"resolutionGroup": "full-res"},
    )
    return base, build(base, folder / "set")


def test_what_was_built_is_a_valid_manifest_of_verified_files(built):
    _, made = built
    manifest = read_manifest(made.manifest, media_types={})
    assert verify_manifests([manifest], roots=()) == []
    assert manifest.rows == made.rows == 3 * 23 - 8  # resize-1024 and -512 of none, -256 and combined-thumbnail of two
    manifest.close()


def test_rows_keep_what_the_original_says(built):
    base, made = built
    originals = {row["baseId"]: row for row in lines_of(base)}
    for row in lines_of(made.manifest):
        original = originals[row["baseId"]]
        changed = {"id", "sha256", "transform", "path", "resolutionGroup"}
        assert {name: value for name, value in row.items() if name not in changed} == {
            name: value for name, value in original.items() if name not in changed
        }
        assert row["id"] == original["id"] + ("" if row["transform"] == "none" else f"-{row['transform']}")
        thumbnail = row["transform"] != "none" and STRESS_TRANSFORMS[row["transform"]].thumbnail
        assert row["resolutionGroup"] == ("thumbnail" if thumbnail else "full-res")


def test_originals_are_rows_with_their_own_bytes(built):
    base, made = built
    rows = {row["id"]: row for row in lines_of(made.manifest) if row["transform"] == "none"}
    assert list(rows) == [row["id"] for row in lines_of(base)]
    for row in lines_of(base):
        data = (made.manifest.parent / rows[row["id"]]["path"]).read_bytes()
        assert data == (base.parent / row["path"]).read_bytes()
        assert rows[row["id"]]["sha256"] == row["sha256"]


def test_every_file_is_what_the_attack_on_record_makes_of_the_original(built):
    base, made = built
    rows = {row["id"]: row for row in lines_of(made.manifest)}
    files = {row["id"]: (base.parent / row["path"]).read_bytes() for row in lines_of(base)}
    records = lines_of(made.manifest.with_name("transforms.jsonl"))
    assert [record["id"] for record in records] == list(rows)
    for record in records:
        row, source = rows[record["id"]], files[record["source"]["id"]]
        data = (made.manifest.parent / row["path"]).read_bytes()
        assert record["source"]["sha256"] == hashlib.sha256(source).hexdigest()
        assert record["output"] == {"path": row["path"], "sha256": row["sha256"], "bytes": len(data)}
        assert record["same_bytes_as_source"] is (data == source)
        assert (record["transform"], record["baseId"]) == (row["transform"], row["baseId"])
        if record["attack"] is None:
            assert (row["transform"], record["seed"], record["parameters"]) == ("none", None, {})
            continue
        transform = STRESS_TRANSFORMS[row["transform"]]
        (attack,) = find_attacks(transform.media_type, [record["attack"]["name"]])
        assert record["attack"] == {"name": transform.attack, "revision": attack.revision}
        if record["seed"] is not None:
            assert record["seed"] == row_seed(0, row["baseId"], row["transform"])
            attack = attack.with_seed(record["seed"])
        if transform.media_type == "image":
            attacked = attack.apply(decode_image(source).pixels)
            assert (attacked.data, attacked.parameters) == (data, record["parameters"])
        assert record["source"]["decoding"] == json.loads(json.dumps(decode_image(source).decoding))


def test_metadata_are_there_or_gone(built):
    _, made = built
    for row in lines_of(made.manifest):
        exif, _ = embedded_metadata((made.manifest.parent / row["path"]).read_bytes())
        if row["transform"] in ("none", "metadata-intact"):
            assert b"A maker" in exif
        else:
            assert b"A maker" not in exif


def test_pixels_of_stripped_files_are_those_of_the_original(built):
    base, made = built
    files = {row["baseId"]: decode_image((base.parent / row["path"]).read_bytes()) for row in lines_of(base)}
    stripped = [row for row in lines_of(made.manifest) if row["transform"] == "metadata-stripped"]
    assert len(stripped) == 3
    for row in stripped:
        pixels = decode_image((made.manifest.parent / row["path"]).read_bytes()).pixels
        assert np.array_equal(pixels, files[row["baseId"]].pixels)


def test_a_resize_is_never_larger_than_its_name(built):
    _, made = built
    for row in lines_of(made.manifest):
        if row["transform"].startswith("resize-"):
            pixels = decode_image((made.manifest.parent / row["path"]).read_bytes()).pixels
            assert max(pixels.shape[:2]) == int(row["transform"].removeprefix("resize-"))


def test_the_description_pins_manifest_and_records(built):
    base, made = built
    folder = made.manifest.parent
    description = json.loads((folder / "cohort.json").read_text())
    for name in ("manifest", "transforms"):
        data = (folder / description[name]["path"]).read_bytes()
        assert description[name]["sha256"] == hashlib.sha256(data).hexdigest()
        assert description[name]["rows"] == made.rows
    assert description["parameters"]["base"]["sha256"] == hashlib.sha256(base.read_bytes()).hexdigest()
    assert {"Pillow", "numpy", "libjpeg-turbo"} <= description["dependencies"].keys()
    assert sum(planned["full_res"] + planned["thumbnail"] for planned in description["rows"]) == made.rows
    assert "cohorts/attacks/image_metadata.py" in description["recipe"]["sources"]


@pytest.mark.parametrize("workers", [1, 5])
def test_the_number_of_workers_changes_no_byte(built, tmp_path, workers):
    base, made = built
    build(base, tmp_path / "again", workers=workers)
    assert tree(tmp_path / "again") == tree(made.manifest.parent)


def test_the_order_of_rows_changes_the_order_alone(built, tmp_path):
    base, made = built
    turned = base.with_name("turned.jsonl")
    turned.write_text("".join(reversed(base.read_text().splitlines(keepends=True))))
    again = build(turned, tmp_path / "again").manifest
    before, after = tree(made.manifest.parent), tree(again.parent)
    for name in ("manifest.jsonl", "transforms.jsonl"):
        assert sorted(before.pop(name).splitlines()) == sorted(after.pop(name).splitlines())
    del before["cohort.json"], after["cohort.json"]
    assert before == after


def test_another_process_with_another_hash_seed_writes_the_same(built, tmp_path):
    base, made = built
    command = [sys.executable, "-c", "from pytest_benchbench.cli import main; main()", "cohort", "stress"]
    environment = os.environ | {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    arguments = ["--from", "base.jsonl", "--output-dir", str(tmp_path / "other")]
    subprocess.run([*command, *arguments], cwd=base.parent, env=environment, check=True, capture_output=True)
    assert tree(tmp_path / "other") == tree(made.manifest.parent)


def test_another_seed_changes_what_is_drawn_and_nothing_else(built, tmp_path):
    base, made = built
    again = build(base, tmp_path / "again", seed=1).manifest
    digests = [{row["id"]: row["sha256"] for row in lines_of(manifest)} for manifest in (made.manifest, again)]
    changed = {key for key in digests[0] if digests[0][key] != digests[1][key]}
    drawn = ("crop-90", "crop-75", "alpha-patch-50", "combined-repost")
    assert changed <= {key for key in digests[0] if key.endswith(drawn)}
    assert {name for name in drawn if any(key.endswith(name) for key in changed)} == set(drawn)


def test_one_base_alone_gives_the_bytes_that_it_gives_among_others(built, tmp_path):
    base, made = built
    alone = base.with_name("alone.jsonl")
    alone.write_text(base.read_text().splitlines(keepends=True)[1])
    again = build(alone, tmp_path / "again").manifest
    assert set(again.read_bytes().splitlines()) < set(made.manifest.read_bytes().splitlines())


def test_ids_that_file_systems_would_confuse_have_files_of_their_own(write_originals, tmp_path):
    names = ["a/b", "A/B", "a b", "é" * 150]
    base = write_originals(tmp_path, [(20, 20)] * 4, *({"id": name} for name in names))
    rows = lines_of(build(base, tmp_path / "set", names=["jpeg-50"]).manifest)
    assert len({row["path"].casefold() for row in rows}) == 8
    assert all(row["path"].isascii() and " " not in row["path"] for row in rows)


@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_something_that_exists_is_left_alone(write_originals, tmp_path, what):
    place = tmp_path / "set"
    {"file": lambda: place.write_text("mine"), "folder": place.mkdir, "link": lambda: place.symlink_to("nowhere")}[what]()
    base = write_originals(tmp_path, [(20, 20)])
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(CohortError, match=r"set: exists already; name a new folder$"):
        build(base, place, names=["jpeg-50"])
    assert sorted(os.listdir(tmp_path)) == before


def test_a_file_that_changes_meanwhile_ends_the_build_and_leaves_nothing(write_originals, tmp_path):
    base = write_originals(tmp_path, [(20, 20)] * 3)
    with pytest.raises(CohortError, match=r"^base.jsonl:3: path: was changed while the set was built: original-2.webp"):
        build(base, tmp_path / "set", names=["jpeg-50"], before=lambda: (tmp_path / "original-2.webp").write_bytes(b"x"))
    assert not [name for name in os.listdir(tmp_path) if "set" in name]


def test_a_picture_that_breaks_off_is_named_and_leaves_nothing(write_originals, tmp_path):
    base = write_originals(tmp_path, [(200, 200)])
    data = (tmp_path / "original-0.jpg").read_bytes()[:-300]
    (tmp_path / "original-0.jpg").write_bytes(data)
    row = json.loads(base.read_text()) | {"sha256": hashlib.sha256(data).hexdigest()}
    base.write_text(json.dumps(row) + "\n")
    with pytest.raises(CohortError, match=r"^base.jsonl:1: path: cannot be decoded: [^\n]*truncated"):
        build(base, tmp_path / "set", names=["jpeg-50"])
    assert not [name for name in os.listdir(tmp_path) if "set" in name]


def test_an_encoder_that_refuses_is_named_with_row_and_transform(write_originals, tmp_path):
    base = write_originals(tmp_path, [(16_384, 1)])
    with pytest.raises(CohortError, match=r"^base.jsonl:1: webp-80: WEBP: cannot encode 16384x1: "):
        build(base, tmp_path / "set", names=["webp-80"])
    assert not (tmp_path / "set").exists()


def test_an_interruption_leaves_nothing(write_originals, tmp_path):
    def interrupt(done, expected):
        if done == 3:
            raise KeyboardInterrupt

    base = write_originals(tmp_path, [(20, 20)] * 9)
    manifest = read_manifest(base, display="base.jsonl", media_types={})
    transforms = find_transforms(["jpeg-50"])
    plan = plan_stress(read_originals(manifest, transforms, roots=(), workers=2), transforms, "row")
    with pytest.raises(KeyboardInterrupt):
        build_stress(manifest, plan, tmp_path / "set", StressSettings(0, "row", 2), progress=interrupt)
    manifest.close()
    assert not [name for name in os.listdir(tmp_path) if "set" in name]


def test_originals_that_are_all_too_small_are_refused(write_originals, tmp_path):
    with pytest.raises(CohortError, match=r"^base.jsonl: no original is large enough for every transform$"):
        build(write_originals(tmp_path, [(20, 20)]), tmp_path / "set", too_small="base")
