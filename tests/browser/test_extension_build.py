"""The build of the fixture extension, and its arithmetic in JavaScript beside the one in Python."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "benchmarks" / "extension"

RUN_STEPS = """
import {{ readFileSync }} from "node:fs";
import {{ rawScore, tensor, TooSmall }} from "{module}";
const asked = JSON.parse(readFileSync(0, "utf-8"));
const tensors = asked.pictures.map(({{ width, height, rgba, declared }}) => {{
  try {{
    const made = tensor({{ width, height, rgba }}, declared);
    return {{ dims: made.dims, data: Array.from(made.data) }};
  }} catch (error) {{
    if (error instanceof TooSmall) return error.message;
    throw error;
  }}
}});
console.log(JSON.stringify({{ tensors, scores: asked.answers.map(rawScore) }}));
"""


@pytest.fixture(scope="module")
def in_javascript(node):
    """``in_javascript(pictures, answers)``: what ``preprocessing.js`` makes of pictures and of a network's answers."""
    script = RUN_STEPS.format(module=(SOURCES / "src" / "shared" / "preprocessing.js").as_uri())

    def run(pictures=(), answers=()):
        asked = json.dumps({"pictures": list(pictures), "answers": list(answers)})
        command = ["node", "--input-type=module", "--eval", script]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    """The preprocessing block of the fixture's network."""
    from pytest_benchbench.adapters.onnx_config import load_config

    spec = importlib.util.spec_from_file_location("reference_model", ROOT / "benchmarks" / "reference_model.py")
    reference_model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference_model)
    path = tmp_path_factory.mktemp("model") / "model.yaml"
    path.write_text(reference_model.config_text("a" * 64))
    return load_config(path).config.preprocessing


def as_told(declared):
    import msgspec

    return json.loads(msgspec.json.encode(declared))


def with_alpha(pixels, alpha=255):
    return np.dstack([pixels, np.broadcast_to(np.uint8(alpha), pixels.shape[:2])]).ravel().tolist()


def vectors(name):
    return json.loads((ROOT / "docs" / "reference-vectors" / name).read_bytes())


@pytest.mark.parametrize("name", ["alpha-on-white", "centre-crop-odd", "five-crops", "shortest-bilinear", "larger-bilinear"])
def test_a_step_gives_the_numbers_of_the_reference_vectors(in_javascript, declared, name):
    published = vectors("preprocessing.json")
    (vector,) = (each for each in published["vectors"] if each["name"] == name)
    size = (vector["height"], vector["width"])
    pixels = np.array(vector["rgb"], np.uint8).reshape(*size, 3)
    alpha = 255 if vector["alpha"] is None else np.array(vector["alpha"], np.uint8).reshape(size)
    block = vector["preprocessing"]
    steps = {"resize": None, "crops": None, "scale": 1} | block
    if block["alpha"] == "drop":
        steps["alpha"] = [0, 0, 0]  # nothing shines through opaque pixels
    picture = {"width": vector["width"], "height": vector["height"], "rgba": with_alpha(pixels, alpha), "declared": steps}
    (made,) = in_javascript([picture])["tensors"]
    assert made["dims"] == vector["shape"]
    np.testing.assert_allclose(made["data"], vector["tensor"], rtol=published["tolerance"], atol=published["tolerance"])


def test_the_score_of_crops_is_that_of_the_reference_vectors(in_javascript):
    published = vectors("raw-scores.json")
    known = [
        vector
        for vector in published["vectors"]
        if vector["output"] == {"kind": "logit"} and vector["aggregation"] in (None, {"of": "logit", "by": "mean"})
    ]
    assert len(known) == 3
    scores = in_javascript(answers=[[logit for (logit,) in vector["answers"]] for vector in known])["scores"]
    np.testing.assert_allclose(scores, [vector["rawScore"] for vector in known], rtol=0, atol=published["tolerance"])


@pytest.mark.parametrize("size", [(144, 144), (300, 200), (64, 97), (145, 600)], ids=str)
def test_the_whole_way_gives_the_very_tensor_of_python(in_javascript, declared, size):
    from pytest_benchbench.adapters.onnx_preprocessing import Preprocessor

    width, height = size
    drawn = np.random.default_rng(width).integers(0, 256, (height, width, 4), dtype=np.uint8)
    expected = Preprocessor(declared).tensor(drawn[..., :3], drawn[..., 3])
    picture = {"width": width, "height": height, "rgba": drawn.ravel().tolist(), "declared": as_told(declared)}
    (made,) = in_javascript([picture])["tensors"]
    assert made["dims"] == list(expected.shape)
    assert np.array_equal(np.array(made["data"], np.float32), expected.ravel())


def test_a_picture_that_is_too_small_is_refused_in_pythons_words(in_javascript, declared):
    from pytest_benchbench.adapters.onnx_preprocessing import NotShown, Preprocessor

    pixels = np.zeros((300, 63, 3), np.uint8)
    with pytest.raises(NotShown) as refused:
        Preprocessor(declared).tensor(pixels)
    picture = {"width": 63, "height": 300, "rgba": with_alpha(pixels), "declared": as_told(declared)}
    assert in_javascript([picture])["tensors"] == [refused.value.reason]


def settings_of(built):
    text = (built / "settings.js").read_text()
    return json.loads(text.removeprefix("globalThis.benchbenchSettings = Object.freeze(").removesuffix(");\n"))


def test_a_build_is_a_whole_extension_with_its_network(build_extension, declared):
    built = build_extension()
    manifest = json.loads((built / "manifest.json").read_bytes())
    named = [manifest["background"]["service_worker"], "offscreen.html", *manifest["content_scripts"][0]["js"]]
    assert all((built / name).is_file() for name in named)
    assert (manifest["manifest_version"], manifest["host_permissions"]) == (3, ["http://127.0.0.1/*"])
    settings = settings_of(built)
    assert (settings["queueBound"], settings["misbehave"], settings["webgpu"]) == (64, [], False)
    assert settings["model"]["preprocessing"] == as_told(declared)
    assert (built / "model.onnx").is_file()
    assert {path.name for path in (built / "ort").iterdir()} == {
        *("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
    }


def test_modules_of_a_build_import_only_what_is_in_it(build_extension):
    for options in ({}, {"variant": "stranger", "webgpu": True, "misbehave": ["slow"]}):
        built = build_extension(**options)
        for module in built.glob("*.js"):
            for name in re.findall(r'(?:from|import|import\()\s*"\./([^"]+)"', module.read_text()):
                assert (built / name).is_file(), f"{module.name} imports {name}"


def test_the_stranger_has_its_network_beside_it_and_another_identity(build_extension):
    built = build_extension(variant="stranger", webgpu=True, misbehave=["slow"])
    assert not (built / "model.onnx").exists()
    assert (built / "setup-model.onnx").read_bytes() == (build_extension() / "model.onnx").read_bytes()
    manifests = [json.loads((each / "manifest.json").read_bytes()) for each in (built, build_extension())]
    assert manifests[0]["key"] != manifests[1]["key"]
    settings = settings_of(built)
    assert (settings["misbehave"], settings["webgpu"]) == (["slow"], True)
    assert (built / "ort" / "ort-wasm-simd-threaded.asyncify.wasm").is_file()


def test_packages_are_locked_to_the_public_registry_and_their_digests():
    packages = json.loads((SOURCES / "package-lock.json").read_bytes())["packages"]
    fetched = [package for place, package in packages.items() if place]
    assert fetched
    for package in fetched:
        assert package["resolved"].startswith("https://registry.npmjs.org/")
        assert package["integrity"].startswith("sha512-")


def build(*arguments, sources=SOURCES, **environment):
    command = [sys.executable, str(sources / "build.py"), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600, env={**os.environ, **environment}
    )


def test_the_command_builds_and_says_so(build_extension, tmp_path):
    build_extension()  # or the reason why nothing can be built
    done = build("--output-dir", tmp_path / "dist")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'dist'}: contract, loads as an unpacked extension\n"
    again = build("--output-dir", tmp_path / "dist")
    assert (again.returncode, again.stderr) == (1, f"build: {tmp_path / 'dist'}: exists already\n")


def test_an_unknown_misbehaviour_is_refused_and_nothing_is_left(tmp_path):
    done = build("--output-dir", tmp_path / "dist", "--misbehave", "sulk")
    assert done.returncode == 2
    assert "sulk" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("npm", "said"),
    [
        (None, "npm is not installed; apt-get install npm"),
        ("#!/bin/sh\necho 'npm error code E404' >&2\nexit 1\n", "exit 1: npm error code E404"),
    ],
    ids=["no npm", "npm fails"],
)
def test_without_the_packages_a_build_says_why_in_one_line(tmp_path, npm, said):
    copied = tmp_path / "benchmarks" / "extension"
    shutil.copytree(SOURCES, copied, ignore=shutil.ignore_patterns("node_modules"))
    programs = tmp_path / "programs"
    programs.mkdir()
    if npm is not None:
        (programs / "npm").write_text(npm)
        (programs / "npm").chmod(0o755)
    done = build("--output-dir", tmp_path / "dist", sources=copied, PATH=str(programs))
    assert done.returncode == 1
    assert re.fullmatch(r"build: .*\n", done.stderr)
    assert said in done.stderr
    assert not (tmp_path / "dist").exists()
