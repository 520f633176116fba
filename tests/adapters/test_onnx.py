"""``onnx``: whole answers, from a file's pixels to the score and to all that is recorded beside it."""

import hashlib
import io
import json
import re
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image as PillowImage

from pytest_benchbench import AdapterUnavailable, DetectionError, Sample
from pytest_benchbench.adapters.calibrator import Calibrator, CalibratorError
from pytest_benchbench.adapters.fusion import FusionError
from pytest_benchbench.adapters.onnx import FIXTURE_SHA256, Onnx, OnnxOptions
from pytest_benchbench.adapters.onnx_opening import CPU
from pytest_benchbench.adapters.onnx_structure import OnnxModelError
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.statistics.logistic import logit, sigmoid


def encoded(picture, kind="PNG", **save):
    stream = io.BytesIO()
    picture.save(stream, kind, **save)
    return stream.getvalue()


def sample(data: bytes) -> Sample:
    return Sample("image", hashlib.sha256(data).hexdigest(), data, decode_image(data))


def plain(*colour, size=(6, 6), **save) -> Sample:
    return sample(encoded(PillowImage.new("RGB" if len(colour) == 3 else "RGBA", size, colour), **save))


def loaded(config, **options) -> Onnx:
    adapter = Onnx(OnnxOptions(config=config, **options))
    adapter.load()
    return adapter


@pytest.fixture
def mean_red(onnx_models):
    return onnx_models.write(onnx_models.mean_red())


def test_a_score_and_all_that_is_recorded_beside_it(onnx_models, mean_red):
    detection = loaded(mean_red).detect(plain(51, 200, 0))
    assert detection.status == "scored"
    assert detection.score == pytest.approx(sigmoid(0.2), abs=1e-7)
    assert detection.scorer == {
        "rawScore": detection.score,
        "pixelScore": detection.score,
        "evaluationMode": "reference",
        "modelSha256": onnx_models.config["model"]["sha256"],
        "preprocessingVersion": detection.scorer["preprocessingVersion"],
        "provider": CPU,
        "cropCount": 1,
    }
    assert detection.scorer["preprocessingVersion"].startswith("test-1+")


def test_an_answer_does_not_depend_on_the_others_of_its_batch(reference_model, tmp_path):
    model = reference_model.model_bytes()
    (tmp_path / "model.onnx").write_bytes(model)
    (tmp_path / "model.yaml").write_text(reference_model.config_text(hashlib.sha256(model).hexdigest()))
    adapter = loaded(tmp_path / "model.yaml")
    assert adapter.batch_size == 3  # five crops each, sixteen to a run
    samples = [sample(encoded(reference_model.draw_picture(s, lattice=s % 2 == 0, side=200))) for s in range(7)]
    alone = [adapter.detect(one).score for one in samples]
    assert len(set(alone)) == 7
    assert [d.score for d in adapter.detect_batch(samples)] == alone
    assert [d.score for d in adapter.detect_batch(samples[::-1])] == alone[::-1]


def test_the_fixture_tells_drawn_lattices_and_says_that_it_is_one(reference_model, tmp_path):
    done = subprocess.run(
        [sys.executable, reference_model.__file__, "--output-dir", str(tmp_path / "model")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert FIXTURE_SHA256 in done.stdout
    adapter = loaded(tmp_path / "model" / "model.yaml")
    scores = {}
    for lattice in (False, True):
        drawn = [reference_model.draw_picture(seed, lattice=lattice, side=256) for seed in range(12)]
        answers = adapter.detect_batch([sample(encoded(picture, "JPEG", quality=75)) for picture in drawn])
        assert {answer.scorer["evaluationMode"] for answer in answers} == {"synthetic"}
        scores[lattice] = [answer.score for answer in answers]
    assert max(scores[False]) < 0.65 <= min(scores[True])
    assert adapter.describe().rule.endswith("a fixture: it detects nothing but what it was drawn for")
    again = subprocess.run([sys.executable, reference_model.__file__, "--output-dir", str(tmp_path / "model")], check=False)
    assert again.returncode == 1


def test_the_fixture_is_the_one_that_the_adapter_calls_verified(reference_model):
    assert hashlib.sha256(reference_model.model_bytes()).hexdigest() == FIXTURE_SHA256
    assert frozenset({FIXTURE_SHA256}) == Onnx.verified_weights


def test_terminal_statuses_name_what_gave_none(onnx_models):
    onnx_models.config["preprocessing"]["minimum_side"] = 5
    config = onnx_models.write(onnx_models.mean_red())
    small, large = loaded(config).detect_batch([plain(9, 9, 9, size=(4, 400)), plain(9, 9, 9, size=(5, 5))])
    assert (small.status, small.score) == ("too-small", None)
    assert small.reason == "sides of 5 or more are needed, it is 4x400"
    assert large.status == "scored"
    assert small.scorer == {name: large.scorer[name] for name in small.scorer}
    assert set(small.scorer) == {"evaluationMode", "modelSha256", "preprocessingVersion", "provider"}


@pytest.mark.parametrize(
    ("nodes", "kind", "reason"),
    [
        ([("Log", ["pixels"], ["x"], {}), ("Flatten", ["x"], ["out"], {})], {"index": 0}, "not finite"),
        ([("Flatten", ["pixels"], ["out"], {})], {}, "48 columns, and no output.index"),
        ([("Flatten", ["pixels"], ["out"], {})], {"index": 48}, "too few for logit 48"),
        ([("Flatten", ["pixels"], ["out"], {"axis": 0})], {}, r"expected \(16, C\) numbers, got shape \(1, 768\)"),
        ([("Identity", ["pixels"], ["out"], {})], {}, r"got shape \(16, 3, 4, 4\)"),
        (
            [("Add", ["pixels", "ramp"], ["x"], {}), ("Flatten", ["x"], ["out"], {})],
            {"kind": "probability", "index": 0},
            "is 2",
        ),
        ([("Reshape", ["pixels", "five"], ["out"], {})], {}, "reshape"),
    ],
    ids=["nan", "no-index", "no-column", "no-batch", "no-vector", "no-probability", "exception"],
)
def test_an_answer_that_is_no_score_is_an_inference_error(onnx_models, nodes, kind, reason):
    from onnx import TensorProto, helper

    constants = {"ramp": np.full((1, 3, 4, 4), 2.0), "five": helper.make_tensor("five", TensorProto.INT64, [2], [5, -1])}
    used = {name for _, inputs, _, _ in nodes for name in inputs}
    onnx_models.config["output"] |= kind
    model = onnx_models.model(nodes, out=None, constants={name: constants[name] for name in used & set(constants)})
    (detection,) = loaded(onnx_models.write(model)).detect_batch([plain(0, 0, 0)])
    assert (detection.status, detection.score) == ("inference-error", None)
    assert "rawScore" not in detection.scorer
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(detection.reason)
    assert "\n" not in detection.reason


def test_one_picture_without_a_score_leaves_the_others_of_its_batch_theirs(onnx_models):
    model = onnx_models.model(
        [("GlobalAveragePool", ["pixels"], ["p"], {}), ("Flatten", ["p"], ["f"], {}), ("Log", ["f"], ["out"], {})]
    )
    onnx_models.config["output"]["index"] = 0
    answers = loaded(onnx_models.write(model)).detect_batch([plain(255, 255, 255), plain(0, 9, 9), plain(128, 9, 9)])
    assert [answer.status for answer in answers] == ["scored", "inference-error", "scored"]
    assert answers[0].score == 0.5


def test_what_fails_before_the_network_is_asked_is_the_error_of_its_picture(mean_red):
    good, bad = loaded(mean_red).detect_batch([plain(0, 0, 0), Sample("image", "0" * 64, b"", None)])
    assert good.status == "scored"
    assert bad == DetectionError("TypeError", "a decoded image is needed, not NoneType")


@pytest.mark.parametrize(("alpha", "red"), [("drop", 1.0), ([255, 255, 255], 1.0), ([0, 0, 0], 51 / 255)])
def test_transparency_is_dropped_or_composited(onnx_models, alpha, red):
    onnx_models.config["preprocessing"]["alpha"] = alpha
    adapter = loaded(onnx_models.write(onnx_models.mean_red()))
    assert adapter.detect(plain(255, 0, 0, 51)).score == pytest.approx(sigmoid(red), abs=1e-7)
    assert adapter.detect(plain(255, 0, 0, 255)).score == pytest.approx(sigmoid(1), abs=1e-7)


def test_transparency_that_cannot_be_decoded_is_unsupported(onnx_models):
    def chunk(name, body):
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    head, row = (2).to_bytes(4, "big") * 2 + bytes([16, 2, 0, 0, 0]), b"\0" + b"\1\2" * 6
    parts = [(b"IHDR", head), (b"tRNS", b"\1\2" * 3), (b"IDAT", zlib.compress(row * 2)), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)
    onnx_models.config["preprocessing"]["alpha"] = [0, 0, 0]
    detection = loaded(onnx_models.write(onnx_models.mean_red())).detect(sample(data))
    assert (detection.status, detection.score) == ("unsupported", None)
    assert detection.reason.startswith("its transparency cannot be decoded: ")


def calibrator(**changes) -> bytes:
    return Calibrator(**({"method": "platt", "slope": 2.0, "intercept": -0.5} | changes)).encoded()


def test_calibrated_and_fused_scores_stay_apart(onnx_models):
    (onnx_models.folder / "calibrator.json").write_bytes(calibrator())
    fusion = {"schema_version": 1, "type": "fusion", "weights": {"generator-parameters": 3, "exif-camera": -2}}
    (onnx_models.folder / "fusion.json").write_text(json.dumps(fusion))
    onnx_models.config |= {"calibrator": {"path": "calibrator.json"}, "fusion": {"path": "fusion.json"}}
    adapter = loaded(onnx_models.write(onnx_models.mean_red()))
    from PIL.PngImagePlugin import PngInfo

    text = PngInfo()
    text.add_text("parameters", "a cat, Steps: 20")
    with_text, without = adapter.detect_batch([plain(51, 0, 0, pnginfo=text), plain(51, 0, 0)])
    pixel = sigmoid(2 * logit(with_text.scorer["rawScore"]) - 0.5)
    assert with_text.scorer["pixelScore"] == without.scorer["pixelScore"] == without.score == pixel
    assert with_text.score == sigmoid(logit(pixel) + 3)
    assert (with_text.scorer["signals"], without.scorer["signals"]) == (["generator-parameters"], [])
    digests = [
        hashlib.sha256((onnx_models.folder / f"{name}.json").read_bytes()).hexdigest() for name in ("calibrator", "fusion")
    ]
    joint = hashlib.sha256("calibrator {}\nfusion {}\n".format(*digests).encode()).hexdigest()
    assert without.scorer["calibratorSha256"] == joint
    assert [(w.name, w.sha256) for w in adapter.describe().weights[1:]] == [
        ("calibrator.json", digests[0]),
        ("fusion.json", digests[1]),
    ]


def test_a_calibrator_alone_gives_its_own_digest(onnx_models):
    (onnx_models.folder / "c.json").write_bytes(calibrator(method="identity", slope=1.0, intercept=0.0))
    onnx_models.config["calibrator"] = {
        "path": "c.json",
        "sha256": hashlib.sha256((onnx_models.folder / "c.json").read_bytes()).hexdigest(),
    }
    detection = loaded(onnx_models.write(onnx_models.mean_red())).detect(plain(0, 0, 0))
    assert detection.scorer["calibratorSha256"] == onnx_models.config["calibrator"]["sha256"]
    assert detection.score == detection.scorer["rawScore"] == 0.5


@pytest.mark.parametrize("block", ["calibrator", "fusion"])
def test_a_file_with_another_digest_than_its_pin_makes_it_unavailable(onnx_models, block):
    content = {
        "calibrator": calibrator(),
        "fusion": b'{"schema_version": 1, "type": "fusion", "weights": {"exif-camera": 1}}',
    }
    (onnx_models.folder / "file.json").write_bytes(content[block])
    onnx_models.config[block] = {"path": "file.json", "sha256": "0" * 64}
    with pytest.raises(AdapterUnavailable, match=f"file.json has SHA-256 .*, not the pinned {'0' * 64}"):
        loaded(onnx_models.write(onnx_models.mean_red()))
    (onnx_models.folder / "file.json").unlink()
    with pytest.raises(AdapterUnavailable, match=r"file.json is no file"):
        loaded(onnx_models.write(onnx_models.mean_red()))


@pytest.mark.parametrize(("block", "error"), [("calibrator", CalibratorError), ("fusion", FusionError)])
def test_a_file_that_is_none_is_an_error_of_one_line(onnx_models, block, error):
    (onnx_models.folder / "file.json").write_text('{"schema_version": 1}')
    onnx_models.config[block] = {"path": "file.json"}
    with pytest.raises(error, match=r"file\.json: ") as fault:
        loaded(onnx_models.write(onnx_models.mean_red()))
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("name", ["modelSha256", "preprocessingVersion"])
def test_a_calibrator_of_something_else_is_refused(onnx_models, name):
    onnx_models.config["calibrator"] = {"path": "c.json"}
    path = onnx_models.folder / "c.json"
    path.write_bytes(calibrator())
    ours = loaded(onnx_models.write(onnx_models.mean_red())).detect(plain(0, 0, 0)).scorer[name]
    path.write_bytes(calibrator(**{name: ours}))
    assert loaded(onnx_models.folder / "model.yaml").detect(plain(0, 0, 0)).status == "scored"
    path.write_bytes(calibrator(**{name: ours[:-1] + ("0" if ours[-1] != "0" else "1")}))
    with pytest.raises(AdapterUnavailable, match=f"the calibrator was fitted for {name} "):
        loaded(onnx_models.folder / "model.yaml")


def test_resume_notices_each_file_that_changed(onnx_models):
    (onnx_models.folder / "c.json").write_bytes(calibrator())
    onnx_models.config["calibrator"] = {"path": "c.json"}
    config = onnx_models.write(onnx_models.mean_red())
    was = loaded(config).describe()
    assert loaded(config).describe() == was
    (onnx_models.folder / "c.json").write_bytes(calibrator(slope=2.5))
    assert loaded(config).describe().weights != was.weights
    (onnx_models.folder / "c.json").write_bytes(calibrator())
    config.write_text(config.read_text() + "\n# a note\n")
    assert loaded(config).describe() == was
    onnx_models.config["runtime"] = {"threads": 2}
    assert loaded(onnx_models.write(onnx_models.mean_red())).describe().version != was.version
    del onnx_models.config["runtime"]
    assert loaded(onnx_models.write(onnx_models.mean_red(opset=16))).describe().weights != was.weights


def test_another_model_calibrator_and_place_are_no_other_rule_and_another_preprocessing_is(onnx_models):
    (onnx_models.folder / "c.json").write_bytes(calibrator())
    (onnx_models.folder / "d.json").write_bytes(calibrator(slope=2.5))
    onnx_models.config["calibrator"] = {"path": "c.json"}
    was = loaded(onnx_models.write(onnx_models.mean_red())).describe()
    onnx_models.config["calibrator"] = {"path": "d.json"}
    now = loaded(onnx_models.write(onnx_models.mean_red(opset=16))).describe()
    assert (now.rule, now.version) == (was.rule, was.version)
    assert not {file.sha256 for file in now.weights} & {file.sha256 for file in was.weights}
    assert not re.search("[0-9a-f]{13}", was.rule), "a digest"
    rules = {was.rule}
    for block, name, value in (
        ("preprocessing", "colour", "BGR"),
        ("preprocessing", "scale", 128.0),
        ("output", "kind", "probability"),
    ):
        before, onnx_models.config[block][name] = onnx_models.config[block].get(name), value
        rules.add(loaded(onnx_models.write(onnx_models.mean_red())).describe().rule)
        onnx_models.config[block][name] = before
    assert len(rules) == 4


def test_a_faulty_file_is_a_fault_of_the_command_line(onnx_models, mean_red):
    onnx_models.config["preprocessing"]["meann"] = [0, 0, 0]
    config = onnx_models.write(onnx_models.mean_red())
    choice = AdapterChoice.parse(f"onnx:config={config.name}")
    with pytest.raises(AdapterOptionError, match=r"model\.yaml: preprocessing: object contains unknown field meann"):
        choice.options_for(Onnx, directory=config.parent)
    with pytest.raises(AdapterOptionError, match=r"gone\.yaml: cannot be read: No such file"):
        AdapterChoice.parse("onnx:config=gone.yaml").options_for(Onnx, directory=config.parent)
    with pytest.raises(AdapterOptionError, match="batch"):
        AdapterChoice.parse("onnx:batch=0").options_for(Onnx, directory=config.parent)


def test_without_a_configuration_it_is_unavailable():
    with pytest.raises(AdapterUnavailable, match="no model is named"):
        Onnx().load()


def test_it_must_be_loaded_first():
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        Onnx().detect_batch([])


def test_without_onnxruntime_it_is_unavailable(mean_red, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(AdapterUnavailable, match=r"onnxruntime cannot be imported.*pytest-benchbench\[onnx\]"):
        loaded(mean_red)


def test_what_is_missing_besides_the_model_is_said_at_once(monkeypatch):
    with pytest.raises(AdapterUnavailable) as named:
        Onnx().load()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(AdapterUnavailable) as both:
        Onnx().load()
    assert str(both.value).startswith("no model is named, and onnxruntime is not installed")
    assert "pip install 'pytest-benchbench[onnx]'; then give --bench-adapter=onnx:config=MODEL.yaml" in str(both.value)
    assert "not installed" not in str(named.value)


def test_neither_runtime_nor_onnx_is_imported_before_it_is_loaded(mean_red):
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from pytest_benchbench.adapters.onnx import Onnx, OnnxOptions\n"
        "adapter = Onnx(OnnxOptions(config=Path(sys.argv[1])))\n"
        "assert 'onnxruntime' not in sys.modules\n"
        "adapter.load()\n"
        "assert 'onnxruntime' in sys.modules and 'onnx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(mean_red)], check=True)


def test_a_model_that_is_none_is_an_error(onnx_models):
    with pytest.raises(OnnxModelError):
        loaded(onnx_models.write(b"no model at all"))


def test_it_is_closed_once_and_for_all(mean_red):
    adapter = loaded(mean_red)
    adapter.close()
    with pytest.raises(RuntimeError):
        adapter.describe()
