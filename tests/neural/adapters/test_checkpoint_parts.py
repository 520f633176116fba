"""One network out of a checkpoint of several."""

import pytest

torch = pytest.importorskip("torch")

from pytest_benchbench.adapters.checkpoint_parts import load_part  # noqa: E402 - after the skip
from pytest_benchbench.adapters.torch_runtime import CheckpointError  # noqa: E402


def state(**more):
    return {"detector.weight": torch.ones(1, 2), "detector.bias": torch.zeros(1), "embedder.weight": torch.ones(3), **more}


def test_the_parts_own_tensors_are_loaded_and_others_passed_over():
    network = torch.nn.Linear(2, 1)
    load_part(network, state(**{"detectors.bias": torch.ones(1)}) | {7: "no name"}, "detector")
    assert network.weight.tolist() == [[1.0, 1.0]]
    assert network.bias.tolist() == [0.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        state(**{"detector.more": torch.ones(1)}),
        state(**{"detector.bias": torch.ones(2)}),
        {"detector.weight": torch.ones(1, 2)},
        {"weight": torch.ones(1, 2), "bias": torch.zeros(1)},
    ],
    ids=["empty", "unknown", "shape", "missing", "without-the-name"],
)
def test_a_part_of_another_network_is_refused(wrong):
    with pytest.raises(CheckpointError, match="another network"):
        load_part(torch.nn.Linear(2, 1), wrong, "detector")


@pytest.mark.parametrize("other", [None, [], torch.zeros(3), "text"], ids=["none", "list", "tensor", "text"])
def test_what_is_no_state_dict_is_refused(other):
    with pytest.raises(CheckpointError, match="no state dict"):
        load_part(torch.nn.Linear(2, 1), other, "detector")
