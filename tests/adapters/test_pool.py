"""Options of adapters, and their instances."""

from pathlib import Path

import msgspec
import pytest

from pytest_benchbench import Adapter, AdapterDescription, AdapterUnavailable, Detection
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError, AdapterPool
from pytest_benchbench.adapters.registry import AdapterRegistry


class MineOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    level: int = 3
    quick: bool = False
    weights: Path | None = None


class Mine(Adapter):
    name = "mine"
    media_types = frozenset({"text"})
    Options = MineOptions
    closed = 0

    def detect(self, sample):
        return Detection("detected")

    def describe(self):
        return AdapterDescription("1", "always")

    def close(self):
        Mine.closed += 1


def options(text, directory=Path("/here")):
    return AdapterChoice.parse(text).options_for(Mine, directory=directory)


def test_a_bare_name_gives_the_defaults():
    assert options("mine") == MineOptions()


def test_text_becomes_the_type_of_the_option():
    assert options("mine:level=7,quick=true") == MineOptions(7, True)


def test_a_relative_path_starts_at_the_given_directory():
    assert options("mine:weights=w/x.onnx").weights == Path("/here/w/x.onnx")
    assert options("mine:weights=/w/x.onnx").weights == Path("/w/x.onnx")


def test_an_alias_stands_before_the_name():
    choice = AdapterChoice.parse("gpu=mine:level=1")
    assert (choice.alias, choice.name, choice.values) == ("gpu", "mine", {"level": "1"})


@pytest.mark.parametrize("text", ["", "=mine", "mine:", "mine:level", "mine:=3", "mine:level=1,level=2", "a="])
def test_another_shape_is_refused(text):
    with pytest.raises(AdapterOptionError):
        AdapterChoice.parse(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [("mine:size=1", "unknown option 'size'; it has: level, quick, weights"), ("mine:level=high", "level")],
)
def test_a_bad_option_is_named(text, says):
    with pytest.raises(AdapterOptionError, match=says):
        options(text)


@pytest.fixture
def pool():
    registry = AdapterRegistry()
    registry.register(Mine)
    return AdapterPool(registry, {}, Path())


def test_a_warm_adapter_is_one_instance_and_a_fresh_one_is_another(pool):
    warm = pool.warm("mine")
    warm.load()
    assert pool.warm("mine") is warm
    fresh = pool.fresh("mine")
    fresh.load()
    assert fresh.adapter is not warm.adapter


def test_closing_the_pool_closes_what_was_loaded(pool):
    before = Mine.closed
    pool.warm("mine").load()
    assert pool.close() == []
    assert Mine.closed == before + 1


def test_an_adapter_that_cannot_be_closed_is_named(monkeypatch, pool):
    def fail(self):
        raise OSError("stuck")

    monkeypatch.setattr(Mine, "close", fail)
    pool.warm("mine").load()
    assert pool.close() == ["adapter mine: close failed: OSError: stuck"]


def test_the_source_of_an_adapter_has_a_digest(pool):
    pooled = pool.warm("mine")
    assert pooled.source_sha256 is None
    pooled.load()
    assert len(pooled.source_sha256) == 64


class Remote(Mine):
    name = "remote"
    network = True
    loaded = 0

    def load(self):
        Remote.loaded += 1


@pytest.fixture
def remote():
    registry = AdapterRegistry()
    registry.register(Remote)
    return lambda **allowed: AdapterPool(registry, {}, Path(), **allowed).fresh("remote")


def test_an_adapter_that_leaves_the_machine_is_unavailable_where_that_is_not_allowed(remote):
    loaded = Remote.loaded
    with pytest.raises(AdapterUnavailable, match="--bench-network=allow"):
        remote(network_allowed=False).load()
    assert Remote.loaded == loaded


class Elsewhere(Remote):
    name = "remote"
    leaves = False

    @property
    def leaves_machine(self):
        return Elsewhere.leaves


def test_an_instance_that_reaches_this_machine_alone_needs_no_more_than_that(monkeypatch):
    registry = AdapterRegistry()
    registry.register(Elsewhere)

    def loaded(**allowed):
        return AdapterPool(registry, {}, Path(), network_allowed=False, **allowed).fresh("remote").load().version

    assert loaded(loopback_allowed=True) == "1"
    with pytest.raises(AdapterUnavailable, match="--bench-network=loopback"):
        loaded()
    monkeypatch.setattr(Elsewhere, "leaves", True)
    with pytest.raises(AdapterUnavailable, match="leaves this machine; to let it, give --bench-network=allow"):
        loaded(loopback_allowed=True)


def test_it_is_available_where_nobody_says_otherwise(remote):
    assert remote().load().version == "1"
    assert remote(network_allowed=True).load().version == "1"


def test_a_dropped_adapter_is_closed_and_made_again(pool):
    warm, closed = pool.warm("mine"), Mine.closed
    warm.load()
    pool.drop("mine")
    pool.drop("mine")
    assert Mine.closed == closed + 1
    assert pool.warm("mine") is not warm


def test_a_dropped_adapter_that_cannot_be_closed_is_dropped(pool, monkeypatch):
    def fail(self):
        raise RuntimeError("it is stuck")

    monkeypatch.setattr(Mine, "close", fail)
    pool.warm("mine").load()
    pool.drop("mine")
    assert pool.close() == []
