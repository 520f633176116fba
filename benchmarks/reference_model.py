"""Make the fixture of the ``onnx`` adapter: a tiny network, its YAML, and drawn pictures that it tells apart.

    python benchmarks/reference_model.py --output-dir DIR

writes ``model.onnx`` and ``model.yaml`` to a new folder. The network measures how much more a picture is textured along its
diagonals than along its rows and columns, at about eleven periods of a lattice across the picture. It tells pictures that
``draw_picture`` drew with a lattice from those drawn without one, and says nothing about pictures made by anything else:
its scores are ``synthetic``. Only this script needs the package ``onnx``.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder

MODEL = "model.onnx"
CONFIG = "model.yaml"

SIDE = 128
"""Of the square crops that the network is shown, in pixels."""

SHORT_SIDE = 144
"""Of a picture before it is cropped."""

PERIODS = 24
"""Of the drawn lattice across the side of a picture, along rows and along columns alike."""

_KERNEL = 24
_STRIDE = 4
_FLOOR = 1e-5
"""Added to both energies: pictures without any texture are called real."""
_GAIN = 2.0
_OFFSET = -1.0
"""Of the logit; chosen by hand, not calibrated."""


def kernels() -> NDArray[np.float32]:
    """Give the filters: cosine and sine in a Hann window, two diagonal directions, then rows and columns.

    Shape (8, 1, 24, 24). Multiples of 2**-12, so that they do not depend on the last digit of a cosine.
    """
    centred = np.arange(_KERNEL) - (_KERNEL - 1) / 2
    window = np.cos(np.pi * centred / _KERNEL) ** 2
    down, right = np.meshgrid(centred, centred, indexing="ij")
    along = PERIODS / SHORT_SIDE  # periods a pixel on each axis of the lattice
    directions = [(along, along), (along, -along), (along * 2**0.5, 0.0), (0.0, along * 2**0.5)]
    filters = []
    for vertical, horizontal in directions:
        for wave in (np.cos, np.sin):
            plane = np.outer(window, window) * wave(2 * np.pi * (vertical * down + horizontal * right))
            plane -= np.outer(window, window) * (plane.sum() / np.outer(window, window).sum())  # blind to what is flat
            filters.append(np.rint(plane / np.abs(plane).sum() * 2**16) / 2**12)
    return np.array(filters, np.float32)[:, np.newaxis]


def model_bytes() -> bytes:
    """Serialize the network: input ``pixels`` (N, 3, 128, 128), RGB in [0, 1]; output ``logit`` (N, 1).

    The same bytes at each call and with each version of ``onnx``: opset 17, IR version 8.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    def constant(name: str, values: Any) -> onnx.TensorProto:
        return numpy_helper.from_array(np.asarray(values, np.float32), name)

    initializers = [
        constant("luma", np.array([0.299, 0.587, 0.114]).reshape(1, 3, 1, 1)),
        constant("filters", kernels()),
        constant("sums", np.repeat(np.eye(2), 4, axis=1).reshape(2, 8, 1, 1)),
        constant("floor", [_FLOOR]),
        constant("difference", np.array([_GAIN, -_GAIN]).reshape(1, 2, 1, 1)),
        constant("offset", [_OFFSET]),
    ]
    nodes = [
        helper.make_node("Conv", ["pixels", "luma"], ["gray"], kernel_shape=[1, 1]),
        helper.make_node("Conv", ["gray", "filters"], ["answers"], kernel_shape=[_KERNEL] * 2, strides=[_STRIDE] * 2),
        helper.make_node("Mul", ["answers", "answers"], ["squares"]),
        helper.make_node("GlobalAveragePool", ["squares"], ["energies"]),
        helper.make_node("Conv", ["energies", "sums"], ["diagonal_and_straight"], kernel_shape=[1, 1]),
        helper.make_node("Add", ["diagonal_and_straight", "floor"], ["lifted"]),
        helper.make_node("Log", ["lifted"], ["logs"]),
        helper.make_node("Conv", ["logs", "difference", "offset"], ["map"], kernel_shape=[1, 1]),
        helper.make_node("Flatten", ["map"], ["logit"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "lattice-fixture",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["N", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("logit", TensorProto.FLOAT, ["N", 1])],
        initializers,
        doc_string="A fixture for tests: tells drawn lattices. No detector.",
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="pytest-benchbench")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def config_text(sha256: str) -> str:
    """Write the YAML of the network whose file has this digest."""
    return f"""\
# A fixture for tests and demonstrations: it tells drawn lattices and is no detector of AI images.
schema_version: 1
type: onnx-scorer
fixture: true
model:
  path: {MODEL}
  sha256: {sha256}
input: pixels
output: {{name: logit, kind: logit}}
preprocessing:
  version: lattice-1
  colour: RGB
  alpha: [255, 255, 255]
  minimum_side: 64
  resize: {{mode: shortest, side: {SHORT_SIDE}, filter: bilinear, antialias: true}}
  crops: {{mode: five, size: [{SIDE}, {SIDE}]}}
  aggregation: {{of: logit, by: mean}}
  scale: 255
  layout: NCHW
  dtype: float32
runtime:
  providers: [CPUExecutionProvider]
  threads: 1
"""


def draw_picture(seed: int, *, lattice: bool, side: int = 512) -> Image.Image:
    """Draw a picture: shapes, a gradient and grain, and a faint diagonal lattice where it stands for AI.

    Args:
        seed: The same seed draws the same picture; with and without lattice it differs by the lattice alone.
        lattice: Whether a lattice of ``PERIODS`` periods, 4 to 12 levels high, is laid over it.
        side: Of the square, in pixels, 64 or more.

    Returns:
        RGB.
    """
    draws = np.random.Generator(np.random.PCG64(seed))
    picture = Image.new("RGB", (side, side), tuple(int(level) for level in draws.integers(40, 216, 3)))
    pencil = ImageDraw.Draw(picture)
    for _ in range(int(draws.integers(4, 12))):
        left, top, right, bottom = (int(place) for place in draws.integers(-side // 4, side + side // 4, 4))
        box = (min(left, right), min(top, bottom), max(left, right), max(top, bottom))
        colour = tuple(int(level) for level in draws.integers(20, 236, 3))
        (pencil.ellipse if draws.random() < 0.6 else pencil.rectangle)(box, fill=colour)
    levels = np.asarray(picture.filter(ImageFilter.GaussianBlur(side / 256)), np.float64)
    down, right_ = np.mgrid[0:side, 0:side] / side
    slope = draws.normal(0, 20, 2)
    levels = levels + (slope[0] * down + slope[1] * right_)[..., np.newaxis]
    levels = levels + draws.normal(0, draws.uniform(1, 5), (side, side, 1))
    height, phases = draws.uniform(4, 12), draws.uniform(0, 2 * np.pi, 2)
    if lattice:
        waves = [
            np.cos(2 * np.pi * PERIODS * (down + sign * right_) + phase) for sign, phase in zip((1, -1), phases, strict=True)
        ]
        levels = levels + height * (waves[0] + waves[1])[..., np.newaxis]
    return Image.fromarray(np.clip(np.rint(levels), 0, 255).astype(np.uint8))


def main() -> int:
    """Write the model and its YAML to a new folder."""
    parser = argparse.ArgumentParser(description="Write the fixture of the onnx adapter, model.onnx and model.yaml.")
    parser.add_argument("--output-dir", type=Path, required=True, help="A new folder.")
    folder = parser.parse_args().output_dir
    model = model_bytes()
    try:
        with new_folder(folder) as filled:
            (filled / MODEL).write_bytes(model)
            (filled / CONFIG).write_text(config_text(hashlib.sha256(model).hexdigest()), encoding="utf-8")
    except (FolderExistsError, OSError) as error:
        print(f"reference_model: {error}", file=sys.stderr)
        return 1
    print(f"{folder / CONFIG}: {MODEL} has SHA-256 {hashlib.sha256(model).hexdigest()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
