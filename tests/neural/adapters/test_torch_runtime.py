"""Running networks and reading checkpoints."""

import io
import os
import pickle

import pytest

torch = pytest.importorskip("torch")

from pytest_benchbench.adapters.torch_runtime import (  # noqa: E402 - after the skip
    CheckpointError,
    inference,
    load_checkpoint,
    load_state,
    require_state,
)


def saved(value):
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


@pytest.fixture
def network():
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))


def test_a_network_runs_on_one_thread_without_gradients(network):
    with inference():
        assert torch.get_num_threads() == 1
        assert not network(torch.zeros(1, 2)).requires_grad


@pytest.mark.parametrize("threads", [1, 2])
def test_torch_has_as_many_threads_as_before_even_after_a_failure(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with pytest.raises(ZeroDivisionError), inference(3 - threads):
            raise ZeroDivisionError
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_tensors_come_back_as_they_were_saved(network):
    loaded = load_checkpoint(saved({"model": network.state_dict(), "step": 7}))
    assert loaded["step"] == 7
    assert torch.equal(loaded["model"]["0.weight"], network.state_dict()["0.weight"])


class Command:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize(
    "save", [pickle.dumps, saved, lambda value: saved({"model": value})], ids=["pickle", "torch", "deep"]
)
def test_code_in_a_checkpoint_is_not_run(tmp_path, save):
    made = tmp_path / "made"
    with pytest.raises(CheckpointError, match="no checkpoint of plain tensors"):
        load_checkpoint(save(Command(str(made))))
    assert not made.exists()


@pytest.mark.parametrize("data", [b"", b"no checkpoint", b"PK\x03\x04 no zip"])
def test_what_is_no_checkpoint_is_said_in_one_line(data):
    with pytest.raises(CheckpointError) as fault:
        load_checkpoint(data)
    assert "\n" not in str(fault.value)


def test_a_truncated_checkpoint_is_none(network):
    data = saved(network.state_dict())
    with pytest.raises(CheckpointError):
        load_checkpoint(data[: len(data) // 2])


def test_the_state_of_a_network_of_the_same_shape_is_taken(network):
    other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    load_state(other, network.state_dict())
    assert torch.equal(other(torch.ones(1, 2)), network(torch.ones(1, 2)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda state: state.pop("1.bias"), "1 missing (first: 1.bias)"),
        (lambda state: state.update(more=torch.zeros(1)), "1 unknown (first: more)"),
        (lambda state: state.update({"0.bias": torch.zeros(4)}), "1 of another shape (first: 0.bias)"),
        (lambda state: state.update({"0.bias": torch.full((3,), torch.nan)}), "1 not finite (first: 0.bias)"),
    ],
)
def test_another_networks_state_is_refused_and_changes_nothing(network, change, said):
    state = {name: tensor + 1 for name, tensor in network.state_dict().items()}
    change(state)
    before = network(torch.ones(1, 2)).item()
    with pytest.raises(CheckpointError) as fault:
        load_state(network, state)
    assert str(fault.value) == f"the checkpoint is of another network: tensors {said}"
    assert network(torch.ones(1, 2)).item() == before


@pytest.mark.parametrize("state", [None, [], {"0.weight": 1.0}])
def test_what_is_no_state_dict_is_refused(network, state):
    with pytest.raises(CheckpointError, match="no state dict for this network"):
        require_state(network.state_dict(), state)
