"""Finding adapters."""

import sys
from importlib.metadata import EntryPoint, PathDistribution
from pathlib import Path

import pytest

from pytest_benchbench import Adapter, AdapterDescription, AdapterUnavailable, BatchAdapter, Detection
from pytest_benchbench.adapters.base import NoOptions
from pytest_benchbench.adapters.dwt_dct import DwtDct
from pytest_benchbench.adapters.registry import (
    ENTRY_POINT_GROUP,
    AdapterRegistrationError,
    AdapterRegistry,
    UnknownAdapterError,
    installed_registry,
)
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES

DWT_DCT = "pytest_benchbench.adapters.dwt_dct:DwtDct"


class Mine(Adapter):
    name = "mine"
    media_types = frozenset({"text"})

    def detect(self, sample):
        return Detection("detected")

    def describe(self):
        return AdapterDescription("1", "always")


class Batched(BatchAdapter):
    name = "batched"
    media_types = frozenset({"text"})

    def detect_batch(self, samples):
        return [Detection("detected") for _ in samples]

    def describe(self):
        return AdapterDescription("1", "always")


class Installed(PathDistribution):
    """A distribution of which nothing but its name is looked at."""

    def __init__(self, name):
        super().__init__(Path())
        self._given = name

    @property
    def metadata(self):
        return {"Name": self._given}


def entry_point(name, value, distribution=None):
    point = EntryPoint(name, value, ENTRY_POINT_GROUP)
    return point._for(Installed(distribution)) if distribution else point


def test_the_installed_adapters_are_found_by_name():
    registry = installed_registry()
    assert registry.resolve("dwt-dct") is DwtDct
    assert {"dwt-dct", "dwt-dct-svd", "rivagan", *KERNEL_MEDIA_TYPES} <= set(registry.names())


def test_a_registered_class_is_found_by_its_own_name():
    registry = AdapterRegistry()
    registry.register(Mine)
    registry.register(Mine)
    assert registry.resolve("mine") is Mine
    assert registry.media_types()["mine"] == {"text"}


def test_a_kernel_adapter_without_a_class_is_known_and_unavailable():
    registry = AdapterRegistry()
    assert registry.media_types()["perth"] == {"audio"}
    with pytest.raises(AdapterUnavailable, match="no perth adapter"):
        registry.resolve("perth")


def test_an_unknown_name_is_told_what_is_known():
    registry = AdapterRegistry()
    registry.register(Mine)
    with pytest.raises(UnknownAdapterError, match=r"known: .*mine"):
        registry.resolve("yours")
    assert "yours" not in registry.media_types()


def test_a_taken_name_is_refused():
    registry = AdapterRegistry([entry_point("mine", "somewhere:Else")])
    with pytest.raises(AdapterRegistrationError, match="registered already"):
        registry.register(Mine)


def test_an_adapter_whose_module_cannot_be_imported_is_unavailable_whatever_its_media():
    registry = AdapterRegistry([entry_point("far", "no_such_module_here:Far")])
    assert registry.media_types()["far"] == {"image", "audio", "video", "text"}
    with pytest.raises(AdapterUnavailable, match="no_such_module_here"):
        registry.resolve("far")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Make a module with the given text importable for one test."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def make(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        made.append(name)

    yield make
    for name in made:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('raise OSError("libcudnn.so.9:\\n cannot open")', "OSError: libcudnn.so.9: cannot open"),
        ('raise RuntimeError("no card")', "RuntimeError: no card"),
        ("None.attribute", "AttributeError: 'NoneType' object has no attribute 'attribute'"),
        ("import no_such_module_here", "No module named 'no_such_module_here'"),
    ],
)
def test_whatever_an_import_raises_makes_the_adapter_unavailable_in_one_line(module, text, reason):
    module("benchbench_raises", text)
    registry = AdapterRegistry([entry_point("far", "benchbench_raises:Far")])
    with pytest.raises(AdapterUnavailable) as caught:
        registry.resolve("far")
    assert str(caught.value) == f"benchbench_raises:Far cannot be imported: {reason}"


def test_an_entry_point_to_a_missing_attribute_is_refused(module):
    module("benchbench_empty", "")
    with pytest.raises(AdapterRegistrationError, match=r"^entry point 'far' leads nowhere: .*benchbench_empty.*'Far'$"):
        AdapterRegistry([entry_point("far", "benchbench_empty:Far")]).resolve("far")


def test_two_distributions_with_one_name_are_refused_when_it_is_used():
    points = [entry_point("mine", "b:Mine", "two"), entry_point("mine", "a:Mine", "one"), entry_point("dwt-dct", DWT_DCT)]
    registry = AdapterRegistry(points)
    assert registry.resolve("dwt-dct") is DwtDct
    with pytest.raises(AdapterRegistrationError) as caught:
        registry.resolve("mine")
    assert str(caught.value) == "adapter 'mine' is provided twice, by a:Mine of one and b:Mine of two: uninstall one of them"


def test_a_second_provider_of_a_kernel_adapter_is_seen_before_a_run():
    registry = AdapterRegistry([entry_point("dwt-dct", DWT_DCT, "one"), entry_point("dwt-dct", "a:Mine", "two")])
    assert registry.media_types()["perth"] == {"audio"}
    with pytest.raises(AdapterRegistrationError, match="provided twice"):
        registry.media_types()["dwt-dct"]


def test_one_adapter_that_is_found_twice_is_taken():
    points = [entry_point("dwt-dct", DWT_DCT, "one"), entry_point("dwt-dct", DWT_DCT, "two")]
    assert AdapterRegistry(points).resolve("dwt-dct") is DwtDct


def test_an_entry_point_that_leads_to_another_name_is_refused():
    registry = AdapterRegistry([entry_point("dct", DWT_DCT)])
    with pytest.raises(AdapterRegistrationError, match="calls itself 'dwt-dct'"):
        registry.resolve("dct")


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ({"name": "a b"}, "letters, digits"),
        ({"name": None}, "letters, digits"),
        ({"media_types": frozenset()}, "media_types"),
        ({"media_types": frozenset({"smell"})}, "media_types"),
        ({"media_types": ["text"]}, "media_types"),
        ({"needs": "everything"}, "needs must be one of decoded, bytes, frames, not 'everything'"),
        ({"Options": dict}, "Options must be a subclass of msgspec.Struct"),
        ({"Options": NoOptions()}, "Options must be a subclass of msgspec.Struct"),
    ],
)
def test_a_class_that_says_too_little_is_refused(attributes, says):
    with pytest.raises(AdapterRegistrationError, match=says):
        AdapterRegistry().register(type("Bad", (Mine,), attributes))


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_without_room_is_refused(size):
    with pytest.raises(AdapterRegistrationError, match=f"batch_size must be 1 or more, not {size}"):
        AdapterRegistry().register(type("Bad", (Batched,), {"batch_size": size}))


@pytest.mark.parametrize("attributes", [{"batch_size": 1}, {"batch_size": property(lambda self: 8)}, {}])
def test_a_batch_size_may_be_an_attribute_a_property_or_set_by_the_instance(attributes):
    good = type("Good", (Batched,), attributes)
    registry = AdapterRegistry()
    registry.register(good)
    assert registry.resolve("batched") is good


def test_a_class_that_lacks_a_method_is_refused():
    incomplete = type("Incomplete", (Adapter,), {"name": "x", "media_types": frozenset({"text"})})
    with pytest.raises(AdapterRegistrationError, match="lacks describe, detect"):
        AdapterRegistry().register(incomplete)


def test_something_else_is_refused():
    with pytest.raises(AdapterRegistrationError, match="no subclass"):
        AdapterRegistry().register("dwt-dct")
