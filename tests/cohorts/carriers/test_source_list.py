import hashlib

import pytest
import yaml

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.carriers.source_list import read_source_list

DIGEST = hashlib.sha256(b"").hexdigest()


def entry(path="a.png", **fields):
    return {"path": path, "sha256": DIGEST, "width": 512, "height": 512, "license": "CC0-1.0", **fields}


def made_by(path, provider, stratum):
    return entry(path, provider=provider, model=f"{provider}-1", content_stratum=stratum)


def written(folder, document):
    path = folder / "images.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), encoding="utf-8")
    return path


def refusal(folder, document):
    with pytest.raises(CohortError) as caught:
        read_source_list(written(folder, document), display="images.yaml")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_list_is_read_in_its_order(tmp_path):
    path = written(tmp_path, {"images": [entry("b.png"), entry("sub/a.png", name="first", prompt_hash=None)]})
    sources = read_source_list(path)
    assert [image.identity for image in sources.images] == ["b", "first"]
    assert sources.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert sources.base == tmp_path


def test_a_license_or_a_basis_in_words_is_a_reuse_basis(tmp_path):
    words = {**entry("b.png"), "license": None, "reuse_basis": "public test clearance by the maintainer"}
    assert len(read_source_list(written(tmp_path, {"images": [entry(), words]})).images) == 2


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([entry(license=None)], "images.yaml: images[0] (a): reuse_basis: missing"),
        ([entry(license=None, reuse_basis="   ")], "images.yaml: images[0] (a): reuse_basis: missing"),
        ([entry(), entry("b.png", sha256="0" * 63)], "images.yaml: images[1]: sha256: "),
        ([entry(sha256=DIGEST.upper())], "images.yaml: images[0]: sha256: "),
        ([entry(width=0)], "images.yaml: images[0]: width: "),
        ([entry(width="512")], "images.yaml: images[0]: width: "),
        ([entry(height=True)], "images.yaml: images[0]: height: "),
        ([entry(license="free to use")], "images.yaml: images[0]: license: "),
        ([entry(colour="red")], "images.yaml: images[0]: Object contains unknown field `colour`"),
        ([{"path": "a.png"}], "images.yaml: images[0]: Object missing required field `sha256`"),
        (["a.png"], "images.yaml: images[0]: Expected `object`, got `str`"),
        ([entry("a b.png")], "images.yaml: images[0]: path: the stem 'a b' cannot be part of a case id"),
        ([entry(name="../a")], "images.yaml: images[0]: name: "),
        ([entry(), entry("sub/A.png")], "images.yaml: images[1] (A): name: images[0] has this name already"),
        ([], "images.yaml: images: the list is empty"),
    ],
)
def test_a_faulty_entry_is_named(tmp_path, entries, message):
    assert refusal(tmp_path, {"images": entries}).startswith(message)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            [made_by("a.png", "one", "cat"), entry("b.png")],
            "images[1] (b): provider: missing, and other images of this list declare their provider",
        ),
        (
            [made_by("a.png", "one", "cat"), {**made_by("b.png", "two", "cat"), "content_stratum": None}],
            "images[1] (b): content_stratum: missing",
        ),
        (
            [made_by("a.png", "one", "cat"), {**made_by("b.png", "two", "cat"), "model": None}],
            "images[1] (b): model: missing",
        ),
        (
            [made_by("a.png", "one", "cat"), made_by("b.png", "two", "cat"), made_by("c.png", "one", "dog")],
            "images[2] (c): content_stratum: 'dog' has no image of provider 'two'",
        ),
        (
            [made_by("a.png", "one", "cat"), made_by("b.png", "one", "cat")],
            "images[1] (b): content_stratum: images[0] has this provider and stratum already",
        ),
        ([made_by("a.png", "one", "cat")], "images[0] (a): provider: 'one' is the only provider"),
    ],
)
def test_declared_providers_must_come_in_whole_pairs(tmp_path, entries, message):
    assert refusal(tmp_path, {"images": entries}).startswith(f"images.yaml: {message}")


def test_whole_pairs_are_accepted(tmp_path):
    entries = [
        made_by(f"{n}.png", provider, stratum)
        for n, (provider, stratum) in enumerate([("one", "cat"), ("two", "dog"), ("one", "dog"), ("two", "cat")])
    ]
    assert len(read_source_list(written(tmp_path, {"images": entries})).images) == 4


@pytest.mark.parametrize(
    "document",
    [
        "images: [",
        "images: !!python/object/apply:os.getcwd []",
        "images: &a [*a]",
        "images: []\nimages: []",
        "- a\n- b",
        "",
        "images: {}",
        "pictures: []",
        "[" * 5000,
    ],
)
def test_what_is_no_such_document_is_refused_in_one_line(tmp_path, document):
    assert refusal(tmp_path, document).startswith("images.yaml")


def test_a_list_beyond_the_bound_is_refused(tmp_path):
    assert "longer than" in refusal(tmp_path, "#" * (4 * 1024 * 1024 + 1))


def test_more_images_than_the_bound_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.cohorts.carriers.source_list.MAX_IMAGES", 1)
    assert "2 images are more than 1" in refusal(tmp_path, {"images": [entry(), entry("b.png")]})


def test_a_missing_list_is_named(tmp_path):
    with pytest.raises(CohortError, match=r"none\.yaml: No such file"):
        read_source_list(tmp_path / "none.yaml")
