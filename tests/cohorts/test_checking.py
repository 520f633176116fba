import numpy as np
import pytest

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, AdapterUnavailable, Detection
from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.adapters.registry import AdapterRegistry, installed_registry
from pytest_benchbench.artifacts.image import Image
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.checking import check_adapter


class _CornerEmbedder:
    """Writes a red corner."""

    def embed_pixels(self, pixels):
        marked = pixels.copy()
        marked[:8, :8] = (255, 0, 0)
        return marked

    def embed(self, sample, message=None):
        return Image(self.embed_pixels(sample.decoded.pixels), {}, None)


class Corner(Adapter):
    """Finds it."""

    name = "corner"
    media_types = frozenset({"image"})

    def detect(self, sample):
        found = np.all(sample.decoded.pixels[:8, :8] == (255, 0, 0))
        return Detection("detected" if found else "not_detected")

    def embedder(self):
        return _CornerEmbedder()

    def describe(self):
        return AdapterDescription("1", "a red corner")


class Yes(Corner):
    """Finds it everywhere."""

    name = "yes"

    def detect(self, sample):
        return Detection("detected")


class No(Corner):
    """Finds it nowhere."""

    name = "no"

    def detect(self, sample):
        return Detection("not_detected")


class Broken(Corner):
    """Fails on every picture."""

    name = "broken"

    def detect(self, sample):
        raise RuntimeError("no such luck")


class Mute(Corner):
    """Cannot mark."""

    name = "mute"

    def embedder(self):
        return None


@pytest.fixture
def registry():
    registry = AdapterRegistry()
    for adapter in (Corner, Yes, No, Broken, Mute):
        registry.register(adapter)
    return registry


def check(name, registry):
    return check_adapter(AdapterChoice(name, name), registry)


def test_an_adapter_that_finds_its_own_marks_and_only_those_is_verified(registry):
    checked = check("corner", registry)
    assert checked.is_verified
    assert [carrier.name for carrier in checked.carriers] == ["gradient", "texture", "low-detail"]
    assert {carrier.clean.status for carrier in checked.carriers} == {"not_detected"}


@pytest.mark.parametrize("name", ["yes", "no"])
def test_an_adapter_that_always_says_the_same_is_not(name, registry):
    assert not check(name, registry).is_verified


def test_a_failing_adapter_is_an_error_of_one_line(registry):
    with pytest.raises(CohortError, match="broken fails on gradient: RuntimeError: no such luck"):
        check("broken", registry)


def test_an_adapter_that_cannot_mark_is_unavailable_for_a_check(registry):
    with pytest.raises(AdapterUnavailable, match="the mute adapter brings no embedder"):
        check("mute", registry)


def test_an_unknown_adapter_is_refused(registry):
    with pytest.raises(CohortError, match="nobody: "):
        check("nobody", registry)


def test_every_message_of_a_shipped_adapter_is_checked():
    checked = check("dwt-dct", installed_registry())
    assert checked.is_verified
    assert len(checked.carriers) == 9
    assert max(carrier.marked.message_bit_accuracy for carrier in checked.carriers) == 1
