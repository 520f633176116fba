"""torchvision beside a torch that its compiled part was not linked against."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if find_spec("torchvision") is None:
    pytest.skip("torchvision is not installed", allow_module_level=True)

from pytest_benchbench import AdapterUnavailable  # noqa: E402 - after the skip
from pytest_benchbench.adapters import torchvision_operators  # noqa: E402
from pytest_benchbench.adapters.torchvision_operators import define_operators, import_torchvision  # noqa: E402


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)


def test_it_is_imported_whether_its_compiled_part_fits_or_not():
    ours = run(
        "from pytest_benchbench.adapters.torchvision_operators import import_torchvision\n"
        "torchvision = import_torchvision('')\n"
        "import torch\n"
        "print(torchvision.transforms.functional.resize(torch.zeros(1, 3, 8, 8), [4, 4]).shape[-1])\n"
        "print(torchvision.models.resnet18().fc.out_features)"
    )
    assert ours.stdout.split() == ["4", "1000"], ours.stderr
    plain = run("import torchvision")
    if plain.returncode:  # only then was there something to define
        assert "operator torchvision::nms does not exist" in plain.stderr


def test_what_is_defined_is_not_defined_again():
    import_torchvision("")
    assert define_operators(torch) == ()
    assert str(torch.ops.torchvision.nms.default._schema) == (
        "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
    )


def test_a_compiled_part_that_loads_is_left_to_do_its_work(tmp_path):
    (tmp_path / "_C.so").symlink_to(Path(torch.__file__).parent / "lib" / "libc10.so")
    assert torchvision_operators._compiled_part_loads(torch, tmp_path)


def test_a_compiled_part_that_does_not_load_is_made_up_for(tmp_path):
    assert not torchvision_operators._compiled_part_loads(torch, tmp_path)
    (tmp_path / "_C.so").write_bytes(b"not a library")
    assert not torchvision_operators._compiled_part_loads(torch, tmp_path)


def test_without_torchvision_it_is_unavailable(monkeypatch):
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(torchvision_operators, "find_spec", lambda name: None)
    with pytest.raises(AdapterUnavailable, match="torchvision is not installed") as refusal:
        import_torchvision("pip install it")
    assert refusal.value.install == "pip install it"
