"""Make the numbers to which another runtime of a scorer, JavaScript in a browser above all, can be held.

    python benchmarks/reference_vectors.py --check
    python benchmarks/reference_vectors.py --write

``docs/reference-vectors`` has one JSON file for each step from pixels to score, with the tolerance that holds for it.
``docs/onnx.md`` says how to use them.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import Sample
from pytest_benchbench.adapters.fusion import Fusion, scoring_sha256
from pytest_benchbench.adapters.onnx_config import Aggregation, Output, Preprocessing
from pytest_benchbench.adapters.onnx_preprocessing import Preprocessor
from pytest_benchbench.adapters.onnx_scoring import raw_score
from pytest_benchbench.artifacts.image import Image
from pytest_benchbench.evidence.writing import write_atomically
from pytest_benchbench.statistics.score_mapping import Method, ScoreMapping

FOLDER = Path(__file__).parents[1] / "docs" / "reference-vectors"

DOUBLES = 1e-12
"""What scores may differ by where all steps are in doubles."""

TENSORS = 1e-6
"""What the values of a tensor may differ by, relative to the larger of 1 and the value."""

NETWORK = 1e-4
"""What a raw score may differ by where the network itself is run, by another runtime or on another provider."""

RAW_SCORES = (0.0, 1e-9, 1e-6, 0.02, 0.25, 0.5, 0.5767676767676768, 0.65, 0.76065297, 0.95, 0.999999, 1.0)

MAPPINGS: tuple[tuple[Method, float, float], ...] = (
    ("identity", 1.0, 0.0),
    ("temperature", 1.3382822264, 0.0),
    ("temperature", 0.5, 0.0),
    ("platt", 0.686601583134, -0.174852599932),
)
"""Method, slope and intercept. The second and fourth are the fits to the twelve scores of the tests of calibration."""

FUSIONS: tuple[tuple[dict[str, float], tuple[str, ...]], ...] = (
    ({"c2pa-ai-source": 3.0, "exif-camera": -1.5}, ()),
    ({"c2pa-ai-source": 3.0, "exif-camera": -1.5}, ("c2pa-ai-source", "c2pa-manifest")),
    ({"c2pa-ai-source": 3.0, "exif-camera": -1.5}, ("exif-camera",)),
    (
        {"c2pa-ai-source": 3.0, "exif-camera": -1.5, "exif-exposure": -0.25},
        ("c2pa-ai-source", "exif-camera", "exif-exposure"),
    ),
)

ANSWERS: tuple[tuple[dict[str, Any], dict[str, str] | None, list[list[float]]], ...] = (
    ({"kind": "logit"}, None, [[0.75]]),
    ({"kind": "logit"}, None, [[-40.0]]),
    ({"kind": "logit"}, {"of": "logit", "by": "mean"}, [[2.0], [-1.0], [0.5]]),
    ({"kind": "logit"}, {"of": "probability", "by": "mean"}, [[2.0], [-1.0], [0.5]]),
    ({"kind": "logit"}, {"of": "logit", "by": "max"}, [[2.0], [-1.0], [0.5]]),
    ({"kind": "probability", "index": 1}, None, [[0.25, 0.75]]),
    ({"kind": "probability"}, {"of": "logit", "by": "mean"}, [[0.0], [0.9]]),
    ({"kind": "probability"}, {"of": "probability", "by": "max"}, [[0.0], [0.9]]),
    ({"kind": "softmax", "index": 0}, None, [[1.0, 3.0]]),
    ({"kind": "softmax", "index": 2}, {"of": "logit", "by": "mean"}, [[1.0, 3.0, 2.0], [0.0, 0.0, 4.0]]),
)

_PLAIN = {"version": "v", "colour": "RGB", "alpha": "drop", "minimum_side": 1, "layout": "NCHW", "dtype": "float32"}

_IMAGENET = {"scale": 255, "mean": [0.485, 0.456, 0.406], "deviation": [0.229, 0.224, 0.225]}

_MEAN, _MAX = {"of": "logit", "by": "mean"}, {"of": "logit", "by": "max"}


def _resized(mode: str, filter_: str, *, antialias: bool = True, **size: Any) -> dict[str, Any]:
    return {"resize": {"mode": mode, "filter": filter_, "antialias": antialias, **size}}


PREPROCESSINGS: tuple[tuple[str, dict[str, Any], tuple[int, int]], ...] = (
    ("normalise", _IMAGENET, (3, 2)),
    ("bgr-nhwc", {"colour": "BGR", "layout": "NHWC", "scale": 127.5, "mean": [1, 1, 1]}, (3, 2)),
    ("uint8", {"dtype": "uint8"}, (3, 2)),
    ("float16", {"dtype": "float16", "scale": 255}, (3, 2)),
    ("alpha-on-white", {"alpha": [255, 255, 255]}, (4, 3)),
    ("centre-crop-odd", {"crops": {"mode": "centre", "size": [2, 3]}}, (5, 4)),
    ("five-crops", {"crops": {"mode": "five", "size": [2, 2]}, "aggregation": _MEAN}, (5, 4)),
    ("grid", {"crops": {"mode": "grid", "size": [2, 2], "columns": 3, "rows": 2}, "aggregation": _MAX}, (6, 4)),
    ("padded-centre", {"crops": {"mode": "centre", "size": [4, 4], "pad": [9, 8, 7]}}, (3, 2)),
    ("shortest-bilinear", _resized("shortest", "bilinear", side=4), (9, 7)),
    ("longest-bicubic", _resized("longest", "bicubic", side=5), (9, 7)),
    ("exact-lanczos", _resized("exact", "lanczos", size=[4, 3]), (9, 7)),
    ("exact-box", _resized("exact", "box", size=[4, 3]), (9, 7)),
    ("larger-bilinear", _resized("shortest", "bilinear", side=5), (4, 3)),
    ("plain-bilinear", _resized("exact", "bilinear", antialias=False, size=[4, 3]), (9, 7)),
    ("plain-nearest", _resized("exact", "nearest", antialias=False, size=[4, 3]), (9, 7)),
)
"""A name, what differs from the plain block, width and height of the picture."""


def levels(width: int, height: int) -> NDArray[np.uint8]:
    """Give a picture by a formula: level = (17 x + 31 y + 73 c + 5 x y) mod 256 of column x, row y, channel c (R 0, B 2)."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return np.asarray((17 * x + 31 * y + 73 * c + 5 * x * y) % 256, np.uint8)


def transparency(width: int, height: int) -> NDArray[np.uint8]:
    """Give its alpha by a formula: (85 x + 40 y) mod 256."""
    y, x = np.mgrid[0:height, 0:width]
    return np.asarray((85 * x + 40 * y) % 256, np.uint8)


def calibration() -> dict[str, Any]:
    """Raw scores and what each mapping makes of them."""
    vectors = [
        {
            "method": method,
            "slope": slope,
            "intercept": intercept,
            "clip": 1e-6,
            "raw": list(RAW_SCORES),
            "calibrated": [ScoreMapping(method, slope, intercept).apply(raw) for raw in RAW_SCORES],
        }
        for method, slope, intercept in MAPPINGS
    ]
    return {"step": "calibration", "tolerance": DOUBLES, "vectors": vectors}


def fusion() -> dict[str, Any]:
    """Pixel scores and what weights make of them, for the signals that are present; and what digests are joined to."""
    scores = (0.0, 0.2, 0.65, 0.999, 1.0)
    vectors = []
    for weights, present in FUSIONS:
        fused = [Fusion(schema_version=1, weights=weights).apply(score, present) for score in scores]
        vectors.append({"weights": weights, "present": list(present), "pixelScore": list(scores), "score": fused})
    digests = [
        {"calibrator": calibrator, "fusion": fused, "calibratorSha256": scoring_sha256(calibrator, fused)}
        for calibrator, fused in ((None, None), ("a" * 64, None), (None, "b" * 64), ("a" * 64, "b" * 64))
    ]
    return {"step": "fusion", "tolerance": DOUBLES, "clip": 1e-6, "vectors": vectors, "digests": digests}


def raw_scores() -> dict[str, Any]:
    """Answers of a network about the crops of a picture, and the raw score that they become."""
    vectors = []
    for output, aggregation, answers in ANSWERS:
        declared = msgspec.convert({"name": "out", **output}, Output)
        joined = None if aggregation is None else msgspec.convert(aggregation, Aggregation)
        score = raw_score(np.array(answers), declared, joined)
        vectors.append({"output": output, "aggregation": aggregation, "answers": answers, "rawScore": score})
    return {"step": "raw-scores", "tolerance": DOUBLES, "vectors": vectors}


def preprocessing() -> dict[str, Any]:
    """Small pictures, row by row, and the tensor that each block of declarations makes of them."""
    vectors = []
    for name, differences, (width, height) in PREPROCESSINGS:
        block = _PLAIN | differences
        alpha = transparency(width, height) if block["alpha"] != "drop" else None
        pixels = levels(width, height)
        tensor = Preprocessor(msgspec.convert(block, Preprocessing)).tensor(pixels, alpha)
        vectors.append(
            {
                "name": name,
                "preprocessing": block,
                "width": width,
                "height": height,
                "rgb": pixels.ravel().tolist(),
                "alpha": None if alpha is None else alpha.ravel().tolist(),
                "shape": list(tensor.shape),
                "tensor": [float(value) for value in tensor.ravel()],
            }
        )
    return {"step": "preprocessing", "tolerance": TENSORS, "vectors": vectors}


def end_to_end() -> dict[str, Any]:
    """Pictures by the formula of ``levels``, shown to the fixture of ``reference_model.py``, and its raw scores."""
    from reference_model import config_text, model_bytes

    from pytest_benchbench.adapters.onnx import Onnx, OnnxOptions

    model = model_bytes()
    digest = hashlib.sha256(model).hexdigest()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.onnx").write_bytes(model)
        config = Path(folder) / "model.yaml"
        config.write_text(config_text(digest), encoding="utf-8")
        adapter = Onnx(OnnxOptions(config=config))
        adapter.load()
        vectors = []
        for width, height in ((160, 144), (300, 200), (96, 96)):
            answer = adapter.detect(Sample("image", "0" * 64, b"", Image(levels(width, height), {}, None)))
            assert answer.scorer is not None
            names = ("rawScore", "cropCount", "modelSha256", "preprocessingVersion")
            vectors.append({"width": width, "height": height, **{name: answer.scorer[name] for name in names}})
        adapter.close()
    return {"step": "end-to-end", "tolerance": NETWORK, "vectors": vectors}


DOCUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "calibration.json": calibration,
    "fusion.json": fusion,
    "raw-scores.json": raw_scores,
    "preprocessing.json": preprocessing,
    "end-to-end.json": end_to_end,
}


def encoded(document: dict[str, Any]) -> bytes:
    """Write a document as JSON, a vector to a line; numbers read back exactly."""
    head = {key: value for key, value in document.items() if not isinstance(value, list)}
    parts = [f"{_json(key)}: {_json(value)}" for key, value in ({"schema_version": 1} | head).items()]
    for key, values in document.items():
        if isinstance(values, list):
            parts.append(f"{_json(key)}: [\n  " + ",\n  ".join(_json(value) for value in values) + "\n ]")
    return ("{\n " + ",\n ".join(parts) + "\n}\n").encode()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def difference(name: str, published: bytes) -> str | None:
    """Say where a published file differs from what the code gives now by more than its tolerance, or ``None``."""
    now = msgspec.json.decode(encoded(DOCUMENTS[name]()))
    return _difference(msgspec.json.decode(published), now, now["tolerance"], "")


def _difference(was: Any, now: Any, tolerance: float, place: str) -> str | None:
    if isinstance(was, float) and isinstance(now, float):
        is_near = abs(was - now) <= tolerance * max(1.0, abs(now))
        return None if is_near else f"{place} is {was}, and the code gives {now}"
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys():
        inner = ((key, was[key], now[key]) for key in was)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        inner = ((str(index), one, other) for index, (one, other) in enumerate(zip(was, now, strict=True)))
    else:
        return None if was == now else f"{place} is not what the code gives"
    found = (_difference(one, other, tolerance, f"{place}.{key}") for key, one, other in inner)
    return next((fault for fault in found if fault is not None), None)


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description="The reference vectors of docs/reference-vectors.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="Write them anew.")
    what.add_argument("--check", action="store_true", help="Compare the published ones with what the code gives.")
    if parser.parse_args().write:
        FOLDER.mkdir(exist_ok=True)
        for name, make in DOCUMENTS.items():
            write_atomically(FOLDER / name, encoded(make()))
        return 0
    faults = {name: difference(name, (FOLDER / name).read_bytes()) for name in DOCUMENTS}
    for name, fault in faults.items():
        if fault is not None:
            print(f"docs/reference-vectors/{name}: {fault}", file=sys.stderr)
    return int(any(faults.values()))


if __name__ == "__main__":
    raise SystemExit(main())
