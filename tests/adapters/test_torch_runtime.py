"""Importing what is built on torch: reasons where it fails, silence where it does not."""

import sys
import warnings

import pytest

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.adapters.torch_runtime import hushed, import_package, import_torch


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module of the given source that can be imported."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, source):
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.setitem(sys.modules, name, None)  # so that it is gone afterwards
        del sys.modules[name]
        return name

    return write


def test_a_missing_package_is_named_with_the_command(module):
    with pytest.raises(AdapterUnavailable) as refusal:
        import_package("no_such_detector.networks", "pip install detector")
    assert str(refusal.value) == "no_such_detector is not installed (remedy: pip install detector)"


def test_what_a_package_lacks_is_named_and_not_the_package(module):
    with pytest.raises(AdapterUnavailable, match=r"^no_such_thing, which detector_a imports, is not installed"):
        import_package(module("detector_a", "import no_such_thing.deep"), "pip install it")


def test_a_part_that_another_version_lacks_is_named(module):
    with pytest.raises(AdapterUnavailable, match=r"^what is installed of detector_d has no detector_d\.networks"):
        import_package(module("detector_d", "__path__ = []") + ".networks", "pip install it")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "raise OSError('libx.so: cannot open\\nsecond line')",
            "detector_b cannot be imported: OSError: libx.so: cannot open",
        ),
        ("from math import nothing", "detector_b cannot be imported: ImportError: cannot import name 'nothing'"),
        ("raise RuntimeError", "detector_b cannot be imported: RuntimeError: "),
    ],
)
def test_a_package_that_fails_to_import_is_unavailable_in_one_line(module, source, said):
    with pytest.raises(AdapterUnavailable) as refusal:
        import_package(module("detector_b", source), "pip install it")
    assert refusal.value.reason.startswith(said)
    assert "\n" not in refusal.value.reason


def test_what_a_package_says_while_it_is_imported_reaches_nobody(module, capsys):
    source = "import warnings\nprint('hello')\nwarnings.warn('old', DeprecationWarning)\nvalue = 7"
    assert import_package(module("detector_c", source), "pip install it").value == 7
    assert capsys.readouterr().out == ""


def test_warnings_and_output_are_back_after_the_hush(capsys):
    with hushed():
        print("inside")
        warnings.warn("inside", UserWarning, stacklevel=1)
    print("outside")
    assert capsys.readouterr().out == "outside\n"
    with pytest.raises(UserWarning, match="outside"):
        warnings.warn("outside", UserWarning, stacklevel=1)


def test_torch_has_a_command_of_its_own_unless_an_adapter_gives_another(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AdapterUnavailable) as refusal:
        import_torch()
    assert (refusal.value.reason, refusal.value.install) == ("torch is not installed", "pip install torch==2.13.0")
