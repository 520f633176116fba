"""Finding adapters."""

from importlib.metadata import EntryPoint

import pytest

from pytest_benchbench import Adapter, AdapterDescription, AdapterUnavailable, Detection
from pytest_benchbench.adapters.dwt_dct import DwtDct
from pytest_benchbench.adapters.registry import (
    ENTRY_POINT_GROUP,
    AdapterRegistrationError,
    AdapterRegistry,
    UnknownAdapterError,
    installed_registry,
)
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES


class Mine(Adapter):
    name = "mine"
    media_types = frozenset({"text"})

    def detect(self, sample):
        return Detection("detected")

    def describe(self):
        return AdapterDescription("1", "always")


def entry_point(name, value):
    return EntryPoint(name, value, ENTRY_POINT_GROUP)


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


def test_an_entry_point_that_leads_to_another_name_is_refused():
    registry = AdapterRegistry([entry_point("dct", "pytest_benchbench.adapters.dwt_dct:DwtDct")])
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
    ],
)
def test_a_class_that_says_too_little_is_refused(attributes, says):
    with pytest.raises(AdapterRegistrationError, match=says):
        AdapterRegistry().register(type("Bad", (Mine,), attributes))


def test_a_class_that_lacks_a_method_is_refused():
    incomplete = type("Incomplete", (Adapter,), {"name": "x", "media_types": frozenset({"text"})})
    with pytest.raises(AdapterRegistrationError, match="lacks describe, detect"):
        AdapterRegistry().register(incomplete)


def test_something_else_is_refused():
    with pytest.raises(AdapterRegistrationError, match="no subclass"):
        AdapterRegistry().register("dwt-dct")
