import hashlib
import json

import pytest

from pytest_benchbench.artifacts.manifest_files import verify_manifests
from pytest_benchbench.manifests.reading import read_manifest
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES

CAT = hashlib.sha256(b"cat").hexdigest()


@pytest.fixture
def manifest(tmp_path):
    opened = []

    def make(*rows):
        path = tmp_path / "set" / "cases.jsonl"
        path.parent.mkdir(exist_ok=True)
        with path.open("w") as file:
            for number, changes in enumerate(rows):
                row = {
                    "schema_version": 1, "case_id": str(number), "pair_id": "cat", "media_type": "image",
                    "adapter": "dwt-dct", "arm": "positive", "state": "marked", "path": "cat.png", "sha256": CAT,
                    "reference_path": None, "reference_sha256": None, "source_revision": "mine",
                    "transform": {"name": "none", "revision": "1", "parameters": {}}, "seed": None,
                    "expected": "detected",
                }  # fmt: skip
                file.write(json.dumps(row | changes) + "\n")
        opened.append(read_manifest(path, display="cases.jsonl", media_types=KERNEL_MEDIA_TYPES, outside_allowed=True))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_files_that_are_what_was_pinned_have_no_fault(manifest, tmp_path):
    made = manifest({}, {"reference_path": "cat.png", "reference_sha256": CAT})
    (tmp_path / "set" / "cat.png").write_bytes(b"cat")
    assert verify_manifests([made], roots=()) == []


def test_every_row_with_a_wrong_file_is_named_with_its_field(manifest, tmp_path):
    made = manifest({"reference_path": "dog.png", "reference_sha256": "0" * 64}, {"sha256": "1" * 64})
    (tmp_path / "set" / "cat.png").write_bytes(b"cat")
    first, second = verify_manifests([made], roots=())
    assert first == "cases.jsonl:1: reference_path: dog.png: there is no such file"
    assert second.startswith("cases.jsonl:2: sha256: cat.png has ")


def test_faults_of_paths_and_files_come_in_the_order_of_the_manifest(manifest, tmp_path):
    made = manifest({"path": "deep/cat.png"}, {"path": "../cat.png"}, {"path": "deep/cat.png", "sha256": "1" * 64})
    (tmp_path / "set" / "deep").mkdir()
    (tmp_path / "set" / "deep" / "cat.png").write_bytes(b"dog")
    faults = verify_manifests([made], roots=())
    assert [fault.split(" has ")[0].split(" leaves ")[0] for fault in faults] == [
        "cases.jsonl:1: sha256: deep/cat.png",
        "cases.jsonl:2: path: ../cat.png",
        "cases.jsonl:3: sha256: deep/cat.png",
    ]


def test_a_link_out_of_the_directory_needs_a_root(manifest, tmp_path):
    made = manifest({})
    (tmp_path / "cat.png").write_bytes(b"cat")
    (tmp_path / "set" / "cat.png").symlink_to("../cat.png")
    (fault,) = verify_manifests([made], roots=())
    assert fault.startswith("cases.jsonl:1: path: cat.png leaves the manifest's directory")
    assert verify_manifests([made], roots=[tmp_path]) == []
