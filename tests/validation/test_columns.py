import hashlib

import numpy as np
import pytest

from pytest_benchbench.manifests.reading import ManifestChangedError
from pytest_benchbench.validation.columns import read_columns


def test_rows_become_codes_of_their_texts(dataset):
    columns = dataset.columns(
        dataset.row("a", label=1, splitGroup="g", path="a.png"), dataset.row("b", baseId="a", split="train")
    )
    assert len(columns) == 2
    assert columns.labels.tolist() == [1, 0]
    assert columns.splits.tolist() == [2, 0]
    assert columns.codes("baseId").tolist() == [0, 0]
    assert columns.values("baseId") == ["a"]
    assert columns.codes("splitGroup").tolist() == [0, -1]
    assert (columns.code_of("splitGroup", "g"), columns.code_of("splitGroup", "h")) == (0, None)
    assert (columns.without_path, columns.display) == (1, "set.jsonl")


def test_bytes_are_coded_by_their_digest_even_where_it_ends_in_zeros(dataset):
    digests = ["00" * 32, "01" + "00" * 31, "0100" * 16, "01" + "00" * 31]
    columns = dataset.columns(*(dataset.row(str(place), sha256=digest) for place, digest in enumerate(digests)))
    codes, digest_of = columns.contents()
    assert [digest_of(code) for code in codes] == digests
    assert codes.tolist() == [0, 1, 2, 1]


def test_several_manifests_are_one_dataset(dataset):
    one = dataset.manifest(dataset.row("a"), name="one.jsonl")
    two = dataset.manifest(dataset.row("b", baseId="a"), name="two.jsonl")
    columns = read_columns([one, two])
    assert columns.codes("baseId").tolist() == [0, 0]
    assert columns.display == "one.jsonl, two.jsonl"
    assert [(row.id, row.file, row.line) for row in columns.named(np.array([1, 0]))] == [
        ("a", "one.jsonl", 1),
        ("b", "two.jsonl", 1),
    ]


def test_a_dataset_without_rows_of_a_kind_has_empty_columns(dataset):
    columns = read_columns([])
    assert (len(columns), columns.display) == (0, "")
    assert columns.contents()[0].tolist() == []


def test_a_manifest_that_was_changed_is_refused(dataset):
    manifest = dataset.manifest(dataset.row("a"))
    (dataset.folder / "set.jsonl").write_text("{}\n")
    with pytest.raises(ManifestChangedError, match=r"set\.jsonl: the manifest was changed"):
        read_columns([manifest])


def test_the_digest_of_a_row_is_kept_whole(dataset):
    sha256 = hashlib.sha256(b"x").hexdigest()
    codes, digest_of = dataset.columns(dataset.row("a", sha256=sha256)).contents()
    assert digest_of(int(codes[0])) == sha256
