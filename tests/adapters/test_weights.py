"""Locks on files of weights: which bytes pass, and what is said about the others."""

import hashlib

import pytest

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.adapters.weights import NOT_PINNED, locked_weights, rule_with_weights

DATA = b"weights of some network"
SHA256 = hashlib.sha256(DATA).hexdigest()
MD5 = hashlib.md5(DATA).hexdigest()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "net.pth").write_bytes(DATA)
    return tmp_path / "net.pth"


def lock(path, **changed):
    return locked_weights(path, **{"pinned": SHA256, "allow_unpinned": False, "remedy": "download it"} | changed)


@pytest.mark.parametrize("pinned", [SHA256, MD5], ids=["sha256", "md5"])
def test_the_pinned_file_passes_and_its_sha256_is_recorded(path, pinned):
    found = lock(path, pinned=pinned)
    assert found.data == DATA
    assert (found.weights.name, found.weights.sha256, found.pinned) == ("net.pth", SHA256, True)


@pytest.mark.parametrize(("kind", "pinned"), [("SHA-256", "0" * 64), ("MD5", "0" * 32)])
def test_another_file_is_refused_with_both_digests_and_the_way_out(path, kind, pinned):
    with pytest.raises(AdapterUnavailable) as refusal:
        lock(path, pinned=pinned)
    seen = SHA256 if kind == "SHA-256" else MD5
    assert refusal.value.reason == f"net.pth has {kind} {seen}, not the pinned {pinned}"
    assert refusal.value.install == "download it, or accept this one with allow_unpinned=true"


def test_a_named_source_stands_in_the_way_out(path):
    with pytest.raises(AdapterUnavailable) as refusal:
        lock(path, pinned="0" * 64, source="package 1.0")
    assert refusal.value.install == "take the file of package 1.0, or accept this one with allow_unpinned=true"


def test_without_a_pin_every_file_needs_consent(path):
    with pytest.raises(AdapterUnavailable, match="and no digest is pinned for it"):
        lock(path, pinned=None)
    assert lock(path, pinned=None, allow_unpinned=True).pinned is False


def test_the_pinned_file_stays_pinned_where_others_would_pass(path):
    assert lock(path, allow_unpinned=True).pinned is True


@pytest.mark.parametrize("missing", [True, False], ids=["missing", "directory"])
def test_what_cannot_be_read_is_unavailable(tmp_path, missing):
    path = tmp_path / "net.pth" if missing else tmp_path
    with pytest.raises(AdapterUnavailable, match="cannot be read: ") as refusal:
        lock(path, allow_unpinned=True)
    assert str(path) in refusal.value.reason
    assert refusal.value.install == "download it"


def test_a_rule_says_so_when_any_weights_are_not_the_pinned_ones(path):
    pinned, other = lock(path), lock(path, pinned=None, allow_unpinned=True)
    assert rule_with_weights("above 0.5", pinned, pinned) == "above 0.5"
    assert rule_with_weights("above 0.5", pinned, other) == f"above 0.5; {NOT_PINNED}"


def test_the_bytes_are_not_shown_where_a_lock_is(path):
    assert "some network" not in repr(lock(path))
