"""The published reference vectors are what the code gives, and would not be if the code gave something else."""

import json
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("name", ["calibration", "fusion", "raw-scores", "preprocessing", "end-to-end"])
def test_they_are_what_the_code_gives(reference_vectors, name):
    published = (reference_vectors.FOLDER / f"{name}.json").read_bytes()
    assert reference_vectors.difference(f"{name}.json", published) is None
    assert json.loads(published)["step"] == name


def test_each_file_is_made(reference_vectors):
    assert {path.name for path in reference_vectors.FOLDER.iterdir()} == set(reference_vectors.DOCUMENTS)


def test_a_number_that_differs_by_more_than_the_tolerance_is_named(reference_vectors):
    document = json.loads((reference_vectors.FOLDER / "calibration.json").read_bytes())
    for change, said in ((1e-13, None), (3e-12, ".vectors.1.calibrated.4 is 0.18690")):
        changed = json.loads(json.dumps(document))
        changed["vectors"][1]["calibrated"][4] += change
        fault = reference_vectors.difference("calibration.json", json.dumps(changed).encode())
        assert fault is None if said is None else fault.startswith(said)
    del document["vectors"][0]
    assert (
        reference_vectors.difference("calibration.json", json.dumps(document).encode())
        == ".vectors is not what the code gives"
    )


def test_the_script_checks_them(reference_vectors, tmp_path):
    script = reference_vectors.__file__
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0
    without = shutil.ignore_patterns("node_modules")
    copied = shutil.copytree(reference_vectors.FOLDER.parents[1] / "benchmarks", tmp_path / "benchmarks", ignore=without)
    vectors = shutil.copytree(reference_vectors.FOLDER, tmp_path / "docs" / "reference-vectors")
    fusion = vectors / "fusion.json"
    fusion.write_text(fusion.read_text().replace("0.83392523", "0.83392524"))
    done = subprocess.run(
        [sys.executable, str(copied / "reference_vectors.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("docs/reference-vectors/fusion.json: .vectors.1.score.1 is 0.83392524")
