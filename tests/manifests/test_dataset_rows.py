import pytest

from pytest_benchbench.manifests.dataset_rows import Defaults, images_of_table, images_of_tree
from pytest_benchbench.manifests.gathering import BuildingError, GatheredFile
from pytest_benchbench.manifests.reading import ManifestError

DEFAULTS = Defaults({"split": "test", "license": "CC0-1.0", "contentGroup": "photo", "transform": "none"}, "user-files")


@pytest.fixture
def table(tmp_path):
    for name in ("a.png", "b.png"):
        (tmp_path / name).touch()

    def write(*lines, encoding="utf-8"):
        path = tmp_path / "files.csv"
        path.write_bytes("\n".join(lines).encode(encoding))
        return path

    return write


def faults(path, defaults=DEFAULTS):
    with pytest.raises(ManifestError) as caught:
        images_of_table(path, defaults)
    return [line.removeprefix(f"{path}:") for line in str(caught.value).split("\n")]


def refusal(path, defaults=DEFAULTS):
    with pytest.raises(BuildingError) as caught:
        images_of_table(path, defaults)
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("real/raise/1", {"label": 0, "source": "raise"}),
        ("real/raise/more/1", {"label": 0, "source": "raise"}),
        ("ai/flux/1", {"label": 1, "source": "user-files", "generatorFamily": "flux"}),
        ("ai/sd/xl/1", {"label": 1, "source": "user-files", "generatorFamily": "sd", "generatorModel": "xl"}),
    ],
)
def test_the_place_in_the_tree_tells_label_source_and_family(tmp_path, name, known):
    (image,) = images_of_tree([GatheredFile(name, tmp_path / "1.png", "image")], DEFAULTS)
    assert image.fields == {**DEFAULTS.fields, **known}


@pytest.mark.parametrize("name", ["1", "real/1", "ai/1", "fake/x/1", "sub/real/raise/1"])
def test_an_image_elsewhere_in_the_tree_is_refused(tmp_path, name):
    with pytest.raises(BuildingError, match="give the folder in which images lie as real/<source>/"):
        list(images_of_tree([GatheredFile(name, tmp_path / "1.png", "image")], DEFAULTS))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_table_tells_what_it_has_columns_for_and_defaults_the_rest(table, tmp_path, encoding):
    path = table("path,label,source,generatorFamily,split", "a.png,1,,flux,train", 'b.png,0,"raise, 2",,', encoding=encoding)
    first, second = images_of_table(path, DEFAULTS)
    assert first.file == tmp_path / "a.png"
    assert first.fields == {
        **DEFAULTS.fields, "label": 1, "source": "user-files", "generatorFamily": "flux", "split": "train"
    }  # fmt: skip
    assert second.fields == {**DEFAULTS.fields, "label": 0, "source": "raise, 2"}


def test_every_fault_of_a_table_is_named_by_its_line(table):
    path = table(
        "path,label,source,generatorFamily,sha256",
        "a.png,0,,,",
        "a.png,1,x,,",
        "none.png,ai,x,,",
        ",0,x,,ABC",
        "a.png,0,x,,,more",
    )
    assert faults(path) == [
        "2: source: missing",
        "3: generatorFamily: must be given where label is 1 (AI)",
        "4: label: expected the integer 0 (real) or 1 (AI), got 'ai'",
        "4: path: no such file: 'none.png'",
        "5: sha256: expected 64 lower-case hex digits",
        "5: path: missing",
        "6: more cells than columns",
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "add the column path"),
        (["path,source"], "add the column label"),
        (["path,label,path"], "the column path stands twice"),
        (["path,label", '"a.png,1'], "not a CSV file in UTF-8: unexpected end of data"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(table, lines, message):
    assert refusal(table(*lines)) == message


def test_an_unknown_column_is_refused_with_the_known_ones(table):
    assert refusal(table("path,label,URL")).startswith(
        "unknown column 'URL'; columns are id, baseId, sha256, label, split, "
    )


def test_bytes_that_are_not_utf_8_are_refused(table):
    assert refusal(table("path,label", "ä.png,0", encoding="latin-1")).startswith("not a CSV file in UTF-8: ")


def test_the_split_is_never_assumed(table):
    undecided = Defaults({"contentGroup": "photo", "transform": "none"}, "user-files")
    assert refusal(table("path,label"), undecided) == "add the column split, or give --split"
