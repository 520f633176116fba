"""What a model refers to, read before any runtime sees it: real models, and bytes that only look like one."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters import onnx_structure
from pytest_benchbench.adapters.onnx_structure import OnnxModelError, read_structure

onnx = pytest.importorskip("onnx")


def external(name, location="weights.bin"):
    from onnx import TensorProto, external_data_helper, numpy_helper

    tensor = numpy_helper.from_array(np.zeros((1, 3, 1, 1), np.float32), name)
    external_data_helper.set_external_data(tensor, location, offset=0, length=12)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    return tensor


CONVOLUTION = [("Conv", ["pixels", "w"], ["out"], {"kernel_shape": [1, 1]})]


def test_operators_and_files(onnx_models):
    assert read_structure(onnx_models.mean_red()).operators == {("", "Conv"), ("", "GlobalAveragePool"), ("", "Flatten")}
    structure = read_structure(onnx_models.model(CONVOLUTION, constants={"w": external("w", "a/b.bin")}))
    assert structure.external_files == {"a/b.bin"}
    assert read_structure(onnx_models.mean_red()).external_files == set()


def branch(*nodes):
    from onnx import TensorProto, helper

    made = [helper.make_node(name, inputs, outputs, **more) for name, inputs, outputs, more in nodes]
    return helper.make_graph(made, "branch", [], [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)])


def conditional(then):
    return [("If", ["pixels"], ["out"], {"then_branch": then, "else_branch": branch(("Identity", ["pixels"], ["b"], {}))})]


def test_graphs_inside_nodes_are_looked_into(onnx_models):
    inner = branch(("Sin", ["pixels"], ["b"], {}))
    assert ("", "Sin") in read_structure(onnx_models.model(conditional(inner))).operators
    foreign = branch(("Evil", ["pixels"], ["b"], {"domain": "their.own"}))
    with pytest.raises(OnnxModelError, match=r"custom operators are not run: their\.own:Evil"):
        read_structure(onnx_models.model(conditional(foreign), domains=["their.own"]))


@pytest.mark.parametrize("place", ["constant", "branch"])
def test_weights_outside_where_none_are_looked_for(onnx_models, place):
    if place == "constant":
        nodes = [("Constant", [], ["w"], {"value": external("w")}), *CONVOLUTION]
    else:
        inner = branch(("Identity", ["w"], ["b"], {}))
        inner.initializer.append(external("w"))
        nodes = conditional(inner)
    with pytest.raises(OnnxModelError, match="weights lie outside the model, but not as initializers"):
        read_structure(onnx_models.model(nodes))


def varint(number):
    if number < 0x80:
        return bytes([number])
    return bytes([number & 0x7F | 0x80]) + varint(number >> 7)


def long_tagged(number, value):
    """Write a field whose tag has a 33rd bit, which ONNX Runtime's parser cuts off without a word."""
    tag = varint(number << 3 | (2 if isinstance(value, bytes) else 0) | 1 << 32)
    return tag + (varint(len(value)) + value if isinstance(value, bytes) else varint(value))


def test_fields_are_not_hidden_behind_tags_that_other_parsers_cut_off(onnx_models):
    tensor = external("w")
    (location, *_) = (entry.SerializeToString() for entry in tensor.external_data)
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    hidden = tensor.SerializeToString() + long_tagged(13, location) + long_tagged(14, 1)
    model = onnx.ModelProto.FromString(onnx_models.model(CONVOLUTION))
    graph = model.graph.SerializeToString() + b"\x2a" + varint(len(hidden)) + hidden
    model.ClearField("graph")
    with pytest.raises(OnnxModelError, match="not an ONNX model: a protobuf tag of more than 32 bits"):
        read_structure(model.SerializeToString() + b"\x3a" + varint(len(graph)) + graph)


def test_a_place_of_weights_whose_higher_bits_other_parsers_cut_off(onnx_models):
    tensor = external("w")
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    hidden = tensor.SerializeToString() + b"\x70" + varint(1 << 32 | 1)
    model = onnx.ModelProto.FromString(onnx_models.model(CONVOLUTION))
    graph = model.graph.SerializeToString() + b"\x2a" + varint(len(hidden)) + hidden
    model.ClearField("graph")
    with pytest.raises(OnnxModelError, match="weights lie outside the model"):
        read_structure(model.SerializeToString() + b"\x3a" + varint(len(graph)) + graph)


def test_functions_of_the_model_itself_are_no_custom_operators(onnx_models):
    from onnx import helper

    def function(name, inner, domain=""):
        body = [helper.make_node(inner, ["x"], ["y"], domain=domain)]
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("their.own", 1)]
        return helper.make_function("their.own", name, ["x"], ["y"], body, imports)

    use = [("Twice", ["pixels"], ["out"], {"domain": "their.own"})]
    model = onnx_models.model(use, functions=[function("Twice", "Neg")], domains=["their.own"])
    assert read_structure(model).operators == {("", "Neg")}
    for functions in ([function("Thrice", "Neg")], [function("Twice", "Evil", "their.own")]):
        with pytest.raises(OnnxModelError, match=r"custom operators are not run: their\.own:"):
            read_structure(onnx_models.model(use, functions=functions, domains=["their.own"]))


def test_compiled_code_and_training_are_refused(onnx_models):
    use = [("EPContext", ["pixels"], ["out"], {"domain": "com.microsoft"})]
    with pytest.raises(OnnxModelError, match="another runtime's compiled code"):
        read_structure(onnx_models.model(use, domains=["com.microsoft"]))
    node, opset = onnx.helper.make_node("Neg", ["x"], ["y"]), onnx.helper.make_opsetid("", 17)
    cover = onnx.helper.make_function("com.microsoft", "EPContext", ["x"], ["y"], [node], [opset])
    with pytest.raises(OnnxModelError, match="another runtime's compiled code"):
        read_structure(onnx_models.model(use, domains=["com.microsoft"], functions=[cover]))
    other = [("Gelu", ["pixels"], ["out"], {"domain": "com.microsoft"})]
    assert read_structure(onnx_models.model(other, domains=["com.microsoft"])).operators == {("com.microsoft", "Gelu")}
    model = onnx.ModelProto.FromString(onnx_models.mean_red())
    model.training_info.add()
    with pytest.raises(OnnxModelError, match="graphs for training"):
        read_structure(model.SerializeToString())


def test_bounds(onnx_models, monkeypatch):
    model = onnx_models.mean_red()
    monkeypatch.setattr(onnx_structure, "MAX_FIELDS", 10)
    with pytest.raises(OnnxModelError, match="more than 10 protobuf fields"):
        read_structure(model)
    monkeypatch.undo()
    inner = branch(("Identity", ["pixels"], ["b"], {}))
    for _ in range(onnx_structure.MAX_DEPTH + 1):
        inner = branch(("If", ["pixels"], ["b"], {"then_branch": inner}))
    with pytest.raises(OnnxModelError, match="levels deep"):
        read_structure(onnx_models.model(conditional(inner)))


@pytest.mark.parametrize("data", [b"", b"no model at all", b"\x08", b"\x3a\xff\xff\xff\xff\x0f", b"\xff" * 40, b"\x3b"])
def test_what_is_no_model_is_said_in_one_line(data):
    with pytest.raises(OnnxModelError, match="not an ONNX model"):
        read_structure(data)


def what_is_said(data):
    try:
        read_structure(data)
    except OnnxModelError as error:
        return str(error)
    return "a model"


@given(st.binary(max_size=200))
def test_any_bytes_end_in_an_answer_or_one_line(data):
    assert "\n" not in what_is_said(data)


@given(st.data())
def test_a_damaged_model_ends_in_an_answer_or_one_line(reference_model, data):
    model = bytearray(reference_model.model_bytes()[:600])
    for _ in range(data.draw(st.integers(1, 8))):
        model[data.draw(st.integers(0, len(model) - 1))] = data.draw(st.integers(0, 255))
    assert what_is_said(bytes(model[: data.draw(st.integers(0, len(model)))]))
