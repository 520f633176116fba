"""Loading a model by the real ONNX Runtime: pins, external data, providers, and models that do not fit their YAML."""

import hashlib
import time

import numpy as np
import pytest

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.adapters import onnx_opening, onnx_session
from pytest_benchbench.adapters.onnx_config import load_config
from pytest_benchbench.adapters.onnx_opening import CPU
from pytest_benchbench.adapters.onnx_session import OnnxNetwork
from pytest_benchbench.adapters.onnx_structure import OnnxModelError

AZURE = "AzureExecutionProvider"


def network(config, *, provider=None, batch=4):
    return OnnxNetwork(load_config(config), provider=provider, batch=batch)


def pictures(count, value=0.5):
    return np.full((count, 3, 4, 4), value, np.float32)


def int64(name, *values):
    from onnx import numpy_helper

    return numpy_helper.from_array(np.array(values, np.int64), name)


def test_runs_have_one_size_and_keep_the_order(onnx_models):
    loaded = network(onnx_models.write(onnx_models.mean_red()), batch=4)
    assert (loaded.run_size, loaded.provider) == (4, CPU)
    values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    answers = loaded.ask([pictures(1, value) for value in values])
    assert [answer.shape for answer in answers] == [(1, 1)] * 6
    assert [answer.item() for answer in answers] == pytest.approx(values)
    (several,) = loaded.ask([np.concatenate([pictures(1, value) for value in values])])
    assert several.ravel().tolist() == pytest.approx(values)
    assert loaded.ask([]) == []


def test_a_model_may_fix_the_size_of_its_runs(onnx_models):
    loaded = network(onnx_models.write(onnx_models.mean_red(shape=(2, 3, 4, 4), out=(2, 1))), batch=16)
    assert loaded.run_size == 2
    assert [a.item() for a in loaded.ask([pictures(1, v) for v in (0.1, 0.2, 0.3)])] == pytest.approx([0.1, 0.2, 0.3])


def test_pictures_of_any_size_are_shown_alone(onnx_models):
    onnx_models.config["preprocessing"]["resize"] = None
    loaded = network(onnx_models.write(onnx_models.mean_red(shape=("N", 3, "H", "W"))), batch=16)
    assert loaded.run_size == 1
    answers = loaded.ask([np.full((1, 3, 2, 9), 0.25, np.float32), np.full((1, 3, 5, 5), 0.75, np.float32)])
    assert [answer.item() for answer in answers] == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize(("layout", "shape"), [("NHWC", ("N", 4, 4, 3)), ("NCHW", ("N", 3, 4, 4))])
@pytest.mark.parametrize(("dtype", "element"), [("uint8", "UINT8"), ("float16", "FLOAT16")])
def test_layouts_and_types(onnx_models, layout, shape, dtype, element):
    from onnx import TensorProto

    onnx_models.config["preprocessing"] |= {"layout": layout, "dtype": dtype, "scale": 1}
    nodes = [
        ("Cast", ["pixels"], ["x"], {"to": TensorProto.FLOAT}),
        ("ReduceMean", ["x"], ["out"], {"axes": [1, 2, 3], "keepdims": 0}),
    ]
    model = onnx_models.model(nodes, shape=shape, out=("N",), dtype=element)
    (answer,) = network(onnx_models.write(model)).ask([np.full((1, *shape[1:]), 7, dtype)])
    assert answer.tolist() == [[7.0]]


def test_other_bytes_are_refused_before_they_are_loaded(onnx_models):
    config = onnx_models.write(onnx_models.mean_red())
    pinned = onnx_models.config["model"]["sha256"]
    (onnx_models.folder / "model.onnx").write_bytes(b"no network at all")
    found = hashlib.sha256(b"no network at all").hexdigest()
    with pytest.raises(AdapterUnavailable, match=f"model.onnx has SHA-256 {found}, not the pinned {pinned}"):
        network(config)
    (onnx_models.folder / "model.onnx").unlink()
    with pytest.raises(AdapterUnavailable, match=r"model\.onnx is no file"):
        network(config)


def test_a_model_may_not_be_larger_than_the_bound(onnx_models, monkeypatch):
    model = onnx_models.mean_red()
    config = onnx_models.write(model)
    monkeypatch.setattr(onnx_opening, "MAX_MODEL_BYTES", len(model))
    network(config)
    monkeypatch.setattr(onnx_opening, "MAX_MODEL_BYTES", len(model) - 1)
    with pytest.raises(AdapterUnavailable, match=f"has more than the {len(model) - 1} bytes"):
        network(config)


def with_external_data(onnx_models, name="weights/part.bin"):
    from onnx import TensorProto, external_data_helper, numpy_helper

    weights = np.zeros((1, 3, 1, 1), np.float32)
    weights[0, 1] = 1
    tensor = numpy_helper.from_array(weights, "w")
    external_data_helper.set_external_data(tensor, name, offset=0, length=12)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    path = onnx_models.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(weights.tobytes())
    onnx_models.config["model"]["external_data"] = [{"path": name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}]
    return onnx_models.model(
        [
            ("Conv", ["pixels", "w"], ["map"], {"kernel_shape": [1, 1]}),
            ("GlobalAveragePool", ["map"], ["mean"], {}),
            ("Flatten", ["mean"], ["out"], {"axis": 1}),
        ],
        constants={"w": tensor},
    )


def test_external_data_is_pinned_verified_and_part_of_the_digest(onnx_models, tmp_path, monkeypatch):
    model = with_external_data(onnx_models)
    monkeypatch.chdir("/")  # a relative name must not be looked for where the process happens to be
    config = onnx_models.write(model)
    loaded = network(config)
    green = pictures(1, 0)
    green[0, 1] = 0.75
    assert loaded.ask([green])[0].item() == 0.75
    pin = onnx_models.config["model"]["external_data"][0]["sha256"]
    digest = hashlib.sha256(model).hexdigest()
    lines = f"model {digest}\nexternal {pin} weights/part.bin\n"
    assert loaded.sha256 == hashlib.sha256(lines.encode()).hexdigest() != digest
    assert [(file.name, file.sha256) for file in loaded.weights] == [("model.onnx", digest), ("part.bin", pin)]
    (tmp_path / "weights" / "part.bin").write_bytes(np.ones(3, np.float32).tobytes())
    with pytest.raises(AdapterUnavailable, match=f"part.bin has SHA-256 .*, not the pinned {pin}"):
        network(config)


def test_external_data_that_is_not_declared_is_refused(onnx_models):
    model = with_external_data(onnx_models)
    del onnx_models.config["model"]["external_data"]
    with pytest.raises(OnnxModelError, match=r"these files: weights/part\.bin"):
        network(onnx_models.write(model))
    onnx_models.config["model"]["external_data"] = [{"path": "other.bin", "sha256": "0" * 64}]
    with pytest.raises(OnnxModelError, match="keeps weights in these files: none"):
        network(onnx_models.write(onnx_models.mean_red()))


def test_a_provider_that_is_not_there_is_never_replaced_in_silence(onnx_models):
    config = onnx_models.write(onnx_models.mean_red())
    with pytest.raises(AdapterUnavailable, match=r"has no CUDAExecutionProvider; it has .*CPUExecutionProvider"):
        network(config, provider="CUDAExecutionProvider")
    onnx_models.config["runtime"] = {"providers": ["CUDAExecutionProvider", CPU]}
    with pytest.raises(AdapterUnavailable, match="has no CUDAExecutionProvider"):
        network(onnx_models.write(onnx_models.mean_red()))
    onnx_models.config["runtime"]["allow_fallback"] = True
    assert network(onnx_models.write(onnx_models.mean_red())).provider == CPU
    onnx_models.config["runtime"] = {"providers": ["CUDAExecutionProvider"], "allow_fallback": True}
    assert network(onnx_models.write(onnx_models.mean_red())).provider == CPU
    assert network(config, provider=CPU).provider == CPU


def test_a_provider_that_leaves_the_machine_is_never_used(onnx_models):
    with pytest.raises(AdapterUnavailable, match="leaves this machine"):
        network(onnx_models.write(onnx_models.mean_red()), provider=AZURE)


def test_a_provider_that_cannot_run_the_model_alone_is_not_helped_by_the_processor(onnx_models, monkeypatch):
    import onnxruntime

    if AZURE not in onnxruntime.get_available_providers():
        pytest.skip("this build has the processor alone")
    monkeypatch.setattr(onnx_opening, "_REMOTE_PROVIDERS", frozenset())  # it runs no operator at all, which serves here
    config = onnx_models.write(onnx_models.mean_red())
    with pytest.raises(AdapterUnavailable, match=f"the model does not run on {AZURE} alone: "):
        network(config, provider=AZURE)
    onnx_models.config["runtime"] = {"providers": [AZURE, CPU]}
    assert network(onnx_models.write(onnx_models.mean_red())).provider == AZURE


def test_an_opset_that_nobody_knows_is_one_line(onnx_models):
    with pytest.raises(OnnxModelError, match=r"onnxruntime does not take the model: .*opset") as error:
        network(onnx_models.write(onnx_models.mean_red(opset=99)))
    assert "\n" not in str(error.value)
    assert "onnxruntime_src" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input": "images"}, "input: the model has these inputs: pixels"),
        ({"output": {"name": "score", "kind": "logit"}}, "output.name: the model has these outputs: out"),
        ({"dtype": "float16"}, r"the model wants tensor\(float\), not float16"),
        ({"layout": "NHWC"}, r"it gives any x 4 x 4 x 3 \(NHWC\), the model wants N x 3 x 4 x 4"),
        ({"crops": {"mode": "centre", "size": [4, 3]}}, "it gives any x 3 x 3 x 4"),
        ({"resize": None}, "it gives any x 3 x any x any"),
    ],
)
def test_a_model_that_does_not_fit_its_configuration(onnx_models, change, message):
    block = onnx_models.config if "input" in change or "output" in change else onnx_models.config["preprocessing"]
    block |= change
    with pytest.raises(OnnxModelError, match=message):
        network(onnx_models.write(onnx_models.mean_red()))


def test_a_run_may_not_show_more_pixels_than_the_bound(onnx_models, monkeypatch):
    config = onnx_models.write(onnx_models.mean_red())
    monkeypatch.setattr(onnx_session, "MAX_SHOWN_PIXELS", 64)
    assert network(config, batch=4).run_size == 4
    with pytest.raises(OnnxModelError, match="5 crops at once are more than 64 pixels: give batch=N"):
        network(config, batch=5)
    onnx_models.config["preprocessing"] |= {
        "crops": {"mode": "five", "size": [4, 4]},
        "aggregation": {"of": "logit", "by": "mean"},
    }
    with pytest.raises(OnnxModelError, match="5 crops at once"):
        network(onnx_models.write(onnx_models.mean_red()), batch=1)


def test_a_run_that_fails_is_repeated_for_each_picture_alone(onnx_models):
    # makes a list as long as the least level of all pictures and takes its first number: of an empty one there is none
    from onnx import TensorProto, helper

    nodes = [
        ("ReduceMin", ["pixels"], ["least"], {"keepdims": 0}),
        ("Cast", ["least"], ["count"], {"to": TensorProto.INT64}),
        ("Unsqueeze", ["count", "first"], ["counts"], {}),
        ("Expand", ["one", "counts"], ["many"], {}),
        ("Gather", ["many", "zero"], ["picked"], {}),
        ("ReduceMean", ["pixels"], ["mean"], {"axes": [1, 2, 3], "keepdims": 0}),
        ("Mul", ["mean", "picked"], ["out"], {}),
    ]
    constants = {
        "first": helper.make_tensor("first", TensorProto.INT64, [1], [0]),
        "one": [1.0],
        "zero": helper.make_tensor("zero", TensorProto.INT64, [], [0]),
    }
    loaded = network(onnx_models.write(onnx_models.model(nodes, out=("N",), constants=constants)))
    answers = loaded.ask([pictures(1, 3), pictures(1, 0), pictures(1, 5)])
    assert answers[0].tolist() == [[3.0]]
    assert isinstance(answers[1], str)
    assert "\n" not in answers[1]
    assert answers[2].tolist() == [[5.0]]


def test_a_long_name_in_a_message_of_the_runtime_costs_nothing(onnx_models):
    nodes = [("Reshape", ["pixels", "shape"], ["out"], {"name": "/x" * 100_000})]
    loaded = network(onnx_models.write(onnx_models.model(nodes, constants={"shape": int64("shape", 7, 7)})))
    begin = time.process_time()
    (answer,) = loaded.ask([pictures(1)])
    assert "while running Reshape node. Name:'/x/x" in answer
    assert len(answer) <= 600
    assert time.process_time() - begin < 5


def test_an_answer_of_more_columns_than_any_detector_has_is_none(onnx_models):
    nodes = [
        ("Flatten", ["pixels"], ["flat"], {"axis": 1}),
        ("Tile", ["flat", "times"], ["out"], {}),
    ]
    loaded = network(onnx_models.write(onnx_models.model(nodes, constants={"times": int64("times", 1, 2_500)})), batch=1)
    assert loaded.ask([pictures(1)]) == ["output out: 120000 columns, more than 100001"]
    fits = network(onnx_models.write(onnx_models.model(nodes, constants={"times": int64("times", 1, 2_000)})), batch=1)
    assert fits.ask([pictures(1)])[0].shape == (1, 96_000)
