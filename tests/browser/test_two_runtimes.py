"""One extension on two runtimes, beside Python on the same files: an image has one score.

WebGPU is a software adapter where there is no graphics card, and says so.
"""

import hashlib
import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image, ImageCms

from pytest_benchbench.cli import main

TOLERANCE = 1e-6
"""Between runtimes on equal pixels: kernels of float32 add up in another order."""

ALIASES = ("wasm", "webgpu", "onnx")


@pytest.fixture(scope="module")
def pictures():
    """Drawn pictures in the ways in which files keep pixels; those come last whose pixels a canvas would change."""
    spec = importlib.util.spec_from_file_location(
        "reference_model", Path(__file__).parents[2] / "benchmarks/reference_model.py"
    )
    reference_model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference_model)

    def file(kind, seed, change=lambda drawn: drawn, **options):
        encoded = io.BytesIO()
        change(reference_model.draw_picture(seed, lattice=seed % 2 == 0, side=192)).save(encoded, kind, **options)
        return encoded.getvalue()

    def see_through(drawn):
        drawn.putalpha(Image.linear_gradient("L").resize(drawn.size))
        return drawn

    def deep(drawn):
        gray = np.asarray(drawn.convert("L")).astype(np.uint16) * 256
        return Image.fromarray(gray + np.random.default_rng(0).integers(0, 256, gray.shape, dtype=np.uint16))

    # red and blue of sRGB exchanged: a browser that applies the profile shows other colours than the stored ones
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exchanged = profile.replace(b"rXYZ", b"?XYZ").replace(b"bXYZ", b"rXYZ").replace(b"?XYZ", b"bXYZ")
    turned = Image.Exif()
    turned[0x0112] = 6
    return {
        "full-colour.jpg": file("JPEG", 1, quality=92, subsampling=0),
        "halved-colour.jpg": file("JPEG", 2, quality=80, subsampling=2, progressive=True),
        "turned.jpg": file("JPEG", 3, exif=turned),
        "lossy.webp": file("WEBP", 4, quality=80),
        "profiled.png": file("PNG", 8, icc_profile=exchanged),
        "palette.png": file("PNG", 5, lambda drawn: drawn.quantize(64)),
        "see-through.png": file("PNG", 6, see_through),
        "sixteen-bit.png": file("PNG", 7, deep),
    }


@pytest.fixture(scope="module")
def run(chromium, build_extension, pictures, tmp_path_factory):
    """A run in which three aliases score the same files: one browser after the other, and Python."""
    extension = build_extension(webgpu=True)
    folder = tmp_path_factory.mktemp("runtimes")
    reference_model = Path(__file__).parents[2] / "benchmarks" / "reference_model.py"
    subprocess.run([sys.executable, reference_model, "--output-dir", folder / "model"], check=True, capture_output=True)
    rows = []
    for number, (name, data) in enumerate(pictures.items()):
        (folder / name).write_bytes(data)
        row = {"id": name, "baseId": name, "sha256": hashlib.sha256(data).hexdigest(), "label": number % 2, "path": name}
        row |= {"split": "test", "source": "drawn", "generatorFamily": "drawn", "contentGroup": "art", "transform": "none"}
        rows.append(json.dumps(row | {"license": "CC0-1.0"}) + "\n")
    (folder / "dataset.jsonl").write_text("".join(rows))
    deployed = f"chrome:launch={chromium.executable},extension={extension},timeout=280"
    adapters = [f"{runtime}={deployed},expect_runtime={runtime}" for runtime in ("wasm", "webgpu")]
    asked = [f"--bench-adapter={adapter}" for adapter in (*adapters, "onnx:config=model/model.yaml")]
    arguments = ["dataset.jsonl", "--bench-split=test", "--bench-run-dir=run", "-p", "no:randomly", *asked]
    command = [sys.executable, "-m", "pytest", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "run"


@pytest.fixture(scope="module")
def detections(run):
    """What each alias said of each file."""
    rows = [json.loads(line) for line in (run / "evidence.jsonl").read_text().splitlines()]
    said = {alias: {} for alias in ALIASES}
    for row in rows:
        said[row["key"]["adapter"]][row["key"]["case_id"]] = row["detection"]
    return said


def largest_difference(one, other):
    assert one.keys() == other.keys()
    return max(abs(one[name]["score"] - other[name]["score"]) for name in one)


def test_both_runtimes_of_the_extension_give_one_score(detections):
    assert largest_difference(detections["wasm"], detections["webgpu"]) <= TOLERANCE


@pytest.mark.parametrize("runtime", ["wasm", "webgpu"])
def test_the_extension_gives_the_score_that_python_gives(detections, pictures, runtime):
    assert detections[runtime].keys() == pictures.keys()
    assert largest_difference(detections[runtime], detections["onnx"]) <= TOLERANCE


def test_pictures_differ_by_more_than_what_is_tolerated(detections):
    """Or the comparisons would hold of anything."""
    scores = sorted(detection["score"] for detection in detections["onnx"].values())
    assert scores[0] < 0.1 < 0.9 < scores[-1]


def test_all_three_ran_the_same_model_on_the_same_declared_pixels(detections):
    said = {
        tuple(detection["scorer"][name] for name in ("modelSha256", "preprocessingVersion"))
        for of_alias in detections.values()
        for detection in of_alias.values()
    }
    assert len(said) == 1


def test_each_row_says_what_it_ran_on_and_how_it_was_scored(detections):
    for runtime in ("wasm", "webgpu"):
        facts = [detection["scorer"] for detection in detections[runtime].values()]
        assert {(each["provider"], each["evaluationMode"], each["profile"]) for each in facts} == {
            (runtime, "deployed", "fresh")
        }
    software = [detection["scorer"]["providerDetail"]["isFallbackAdapter"] for detection in detections["webgpu"].values()]
    assert len(set(software)) == 1
    assert isinstance(software[0], bool)
    assert {detection["scorer"]["evaluationMode"] for detection in detections["onnx"].values()} == {"synthetic"}


def test_each_alias_had_a_browser_of_its_own_with_the_flags_of_its_runtime(run):
    rows = [json.loads(line) for line in (run / "evidence.jsonl").read_text().splitlines()]
    flags = {row["key"]["adapter"]: row["adapter"]["rule"].partition("; flags ")[2].split() for row in rows}
    assert "--disable-gpu" in flags["wasm"]
    assert "--enable-unsafe-webgpu" not in flags["wasm"]
    assert "--enable-unsafe-webgpu" in flags["webgpu"]


def test_the_summary_has_a_line_and_a_first_case_for_each_browser_and_none_for_python(run, pictures):
    lines = {line["adapter"]: line for line in json.loads((run / "summary.json").read_text())["results"]["series"]}
    assert set(lines) == {"wasm", "webgpu"}
    for line in lines.values():
        (first,) = line["first"]["listed"]
        assert first["model_cold"] is True
        later = line["later"]["uncached"]
        assert [later[name]["n"] for name in ("wall_ms", "pipeline_ms", "inference_ms")] == [len(pictures) - 1] * 3
    (provider,) = lines["webgpu"]["providers"]
    assert (provider["provider"], provider["rows"]) == ("webgpu", len(pictures))
    assert isinstance(provider["is_fallback_adapter"], bool)


@pytest.mark.parametrize("other", ["webgpu", "onnx"])
def test_two_aliases_of_the_run_compare_without_a_flip(run, pictures, other):
    result = CliRunner().invoke(main, ["compare", str(run), "--adapters", "wasm", other, "--json"])
    assert result.exit_code == 0, result.output
    compared = json.loads(result.stdout)
    assert compared["rows"]["paired"] == len(pictures)
    assert (compared["changes"]["counts"]["newly_wrong"], compared["changes"]["counts"]["newly_right"]) == (0, 0)
