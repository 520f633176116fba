"""What stands beside a golden set says whether it is the one that was frozen."""

import hashlib
import subprocess

import pytest

from pytest_benchbench.manifests.faults import ManifestError
from pytest_benchbench.manifests.golden_set_hash import (
    NotFrozenError,
    check_frozen,
    digest_line,
    digest_path,
    frozen_digest,
)

DIGEST = hashlib.sha256(b"set").hexdigest()


@pytest.fixture
def golden_set(tmp_path):
    path = tmp_path / "golden-set-v1.2.json"
    path.write_bytes(b"set")
    return path


def test_the_digest_stands_under_the_name_without_its_last_part(golden_set):
    assert digest_path(golden_set).name == "golden-set-v1.2.sha256"


@pytest.mark.parametrize(
    "text",
    [
        f"{DIGEST}  golden-set-v1.2.json\n",
        f"{DIGEST} *golden-set-v1.2.json\r\n",
        f"{DIGEST}\n",
        DIGEST,
        DIGEST.upper() + "  golden-set-v1.2.json",
    ],
)
def test_forms_of_a_digest(golden_set, text):
    digest_path(golden_set).write_bytes(text.encode())
    assert frozen_digest(golden_set) == DIGEST
    check_frozen(golden_set, DIGEST, display="g.json")


def test_what_is_written_is_what_sha256sum_checks(golden_set):
    digest_path(golden_set).write_bytes(digest_line(golden_set, DIGEST))
    checked = subprocess.run(["sha256sum", "-c", "golden-set-v1.2.sha256"], cwd=golden_set.parent, capture_output=True)
    assert checked.returncode == 0
    assert frozen_digest(golden_set) == DIGEST


@pytest.mark.parametrize("name", ["a\\b.json", "a\nb.json"])
def test_a_name_that_no_line_can_hold(tmp_path, name):
    with pytest.raises(NotFrozenError, match="rename it"):
        digest_line(tmp_path / name, DIGEST)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not one line of 64 hex digits"),
        (DIGEST[:-1], "is not one line of 64 hex digits"),
        (f"{DIGEST}\n{DIGEST}\n", "is not one line of 64 hex digits"),
        (f"{DIGEST} golden-set-v1.2.json", "is not one line of 64 hex digits"),
        (f"{DIGEST}  other.json\n", "is about other.json, not about golden-set-v1.2.json"),
        (f"{DIGEST}  {'x' * 5000}\n", "is about xxx"),
    ],
)
def test_what_is_no_digest_of_the_set(golden_set, text, said):
    digest_path(golden_set).write_text(text)
    with pytest.raises(ManifestError, match=rf"^g\.json: golden-set-v1\.2\.sha256 beside it {said}"):
        check_frozen(golden_set, DIGEST, display="g.json")


def test_a_set_that_was_never_frozen(golden_set):
    with pytest.raises(ManifestError, match=r"^g.json: not frozen: .*: benchbench freeze g.json$"):
        check_frozen(golden_set, DIGEST, display="g.json")


@pytest.mark.parametrize(("name", "quoted"), [("my set.json", "'my set.json'"), ("a;b.json", "'a;b.json'")])
def test_the_command_that_freezes_can_be_copied_whatever_the_name(golden_set, name, quoted):
    with pytest.raises(ManifestError) as never:
        check_frozen(golden_set, DIGEST, display=name)
    assert str(never.value).endswith(f": benchbench freeze {quoted}")
    digest_path(golden_set).write_text("0" * 64)
    with pytest.raises(ManifestError) as changed:
        check_frozen(golden_set, DIGEST, display=name)
    assert str(changed.value).endswith(f": benchbench freeze {quoted} --accept-change {'0' * 64}")


def test_a_set_that_was_changed(golden_set):
    old = "0" * 64
    digest_path(golden_set).write_text(old)
    said = f"^g.json: changed since it was frozen: its SHA-256 is {DIGEST}, .* says {old}; .* --accept-change {old}$"
    with pytest.raises(ManifestError, match=said):
        check_frozen(golden_set, DIGEST, display="g.json")


def test_a_folder_in_the_place_of_the_digest(golden_set):
    digest_path(golden_set).mkdir()
    with pytest.raises(ManifestError, match="cannot be read"):
        check_frozen(golden_set, DIGEST, display="g.json")
