"""Fusion: the arithmetic, what it leaves alone, and files that are refused."""

import hashlib
import json
import math

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.fusion import (
    MAX_FUSION_BYTES,
    Fusion,
    FusionError,
    load_fusion,
    parse_fusion,
    scoring_sha256,
)
from pytest_benchbench.adapters.fusion_signals import SIGNALS

WEIGHTS = st.dictionaries(st.sampled_from(sorted(SIGNALS)), st.floats(-50, 50), min_size=1)

PRESENT = st.sets(st.sampled_from(sorted(SIGNALS)))


@given(st.floats(0, 1), WEIGHTS, PRESENT)
def test_weights_add_up_in_logits(pixel, weights, present):
    fused = Fusion(schema_version=1, weights=weights).apply(pixel, present)
    added = [weights[name] for name in present if name in weights]
    if not added:
        assert fused == pixel
        return
    clipped = min(max(pixel, 1e-6), 1 - 1e-6)
    wanted = math.log(clipped / (1 - clipped)) + sum(added)
    assert fused == pytest.approx(1 / (1 + math.exp(-wanted)), abs=1e-12)
    assert 0 <= fused <= 1


@given(st.floats(0, 1), st.floats(0, 1), WEIGHTS, PRESENT)
def test_the_order_of_pixel_scores_stays(one, other, weights, present):
    fusion = Fusion(schema_version=1, weights=weights)
    low, high = sorted((one, other))
    assert fusion.apply(low, present) <= fusion.apply(high, present)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0, 50), st.sampled_from(sorted(SIGNALS)))
def test_a_positive_weight_speaks_for_ai(pixel, weight, name):
    for sign in (1, -1):
        fused = Fusion(schema_version=1, weights={name: sign * weight}).apply(pixel, (name,))
        assert sign * fused >= sign * pixel - 1e-12


GOOD = {"schema_version": 1, "type": "fusion", "weights": {"exif-camera": -1.5}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "schema_version: invalid enum value 2"),
        ({"type": "calibrator"}, "type: invalid value 'calibrator'"),
        ({"weights": {}}, "weights: expected object of length >= 1"),
        ({"weights": {"exif": 1}}, "weights: unknown signal 'exif'; known: c2pa-ai-source, "),
        ({"weights": {"exif-camera": 50.5}}, "weights.exif-camera: expected a number from -50 to 50, got 50.5"),
        ({"weights": {"exif-camera": "1"}}, r"weights\[...\]: expected float, got str"),
        ({"bias": 1}, "object contains unknown field bias"),
        ({"origin": "guessed"}, "origin: invalid enum value 'guessed'"),
        ({"origin": "fitted"}, "scores_sha256: belongs to fitted weights"),
        ({"scores_sha256": "a" * 64}, "scores_sha256: belongs to fitted weights"),
    ],
)
def test_what_is_refused_names_its_field(change, message):
    with pytest.raises(FusionError, match=f"^f.json: {message}"):
        parse_fusion(json.dumps(GOOD | change).encode(), name="f.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "f.json: "),
        (b"[]", "f.json: expected a JSON object"),
        (b'{"weights": {"exif-camera": NaN}}', "f.json: weights.exif-camera: NaN is no JSON number"),
        (b'{"weights": {"exif-camera": 1, "exif-camera": 2}}', "f.json: weights.exif-camera: this key stands twice"),
        (b" " * (MAX_FUSION_BYTES + 1), "f.json: larger than"),
    ],
)
def test_what_is_no_such_file(data, message):
    with pytest.raises(FusionError, match=message):
        parse_fusion(data, name="f.json")


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_one_line(data):
    with pytest.raises(FusionError, match=r"^f\.json: [^\n]*$"):
        parse_fusion(data, name="f.json")


def test_a_file_and_its_digest(tmp_path):
    path = tmp_path / "f.json"
    fitted = GOOD | {"origin": "fitted", "scores_sha256": "a" * 64, "note": "from the calibration split"}
    path.write_text(json.dumps(fitted, indent=2))
    loaded = load_fusion(path)
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert loaded.fusion.weights == {"exif-camera": -1.5}
    with pytest.raises(FusionError, match="cannot be read: No such file"):
        load_fusion(tmp_path / "gone.json")


def test_one_digest_for_calibrator_and_fusion():
    assert scoring_sha256(None, None) is None
    assert scoring_sha256("a" * 64, None) == "a" * 64
    both = f"calibrator {'a' * 64}\nfusion {'b' * 64}\n".encode()
    assert scoring_sha256("a" * 64, "b" * 64) == hashlib.sha256(both).hexdigest()
    alone = f"calibrator identity\nfusion {'b' * 64}\n".encode()
    assert scoring_sha256(None, "b" * 64) == hashlib.sha256(alone).hexdigest()
