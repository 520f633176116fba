import hashlib
import json
import os

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

MARKED = ["--adapter", "dwt-dct", "--arm", "positive", "--state", "marked", "--expected", "detected"]
CLEAN = ["--adapter", "dwt-dct", "--arm", "matched_negative", "--state", "clean", "--expected", "not_detected"]
DATASET = ["--kind", "dataset", "--split", "test", "--license", "CC0-1.0"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*names):
    for name in names:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write(name)


def digest(name):
    return hashlib.sha256(name.encode()).hexdigest()


def invoke(*arguments, output="cases.jsonl"):
    return CliRunner().invoke(main, ["manifest", *map(str, arguments), "--output", output])


def rows(path="cases.jsonl"):
    with open(path) as file:
        return [json.loads(line) for line in file]


def validate(*arguments):
    return CliRunner().invoke(main, ["validate", *arguments])


def test_a_folder_becomes_a_manifest_that_validates(here):
    put("marked/cat.png", "marked/dog.jpg")
    result = invoke("marked", *MARKED)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "cases.jsonl: 2 rows\n", "")
    assert rows()[0] == {
        "schema_version": 1,
        "case_id": "cat-marked",
        "pair_id": "cat",
        "media_type": "image",
        "adapter": "dwt-dct",
        "arm": "positive",
        "state": "marked",
        "path": "marked/cat.png",
        "sha256": digest("marked/cat.png"),
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "user-files",
        "transform": {"name": "none", "revision": "user-files", "parameters": {}},
        "seed": None,
        "expected": "detected",
    }
    assert validate("cases.jsonl").stdout == "cases.jsonl: 2 rows, valid\n"


def test_references_are_found_by_name(here):
    put("marked/cat.png", "marked/sub/cat.png", "clean/cat.png", "clean/sub/cat.webp")
    invoke("marked", *MARKED, "--reference-dir", "clean")
    found = [(row["reference_path"], row["reference_sha256"]) for row in rows()]
    assert found == [("clean/cat.png", digest("clean/cat.png")), ("clean/sub/cat.webp", digest("clean/sub/cat.webp"))]


@pytest.mark.parametrize(
    ("references", "why"),
    [(["clean/dog.png"], "no reference of"), (["clean/cat.gif", "clean/cat.webp"], "2 references of")],
)
def test_a_missing_or_ambiguous_reference_is_refused(here, references, why):
    put("marked/cat.png", *references)
    result = invoke("marked", *MARKED, "--reference-dir", "clean")
    assert (result.exit_code, result.stderr) == (1, f"marked/cat.png: {why} the name 'cat' in clean\n")
    assert not os.path.exists("cases.jsonl")


def test_rows_are_added_without_touching_those_that_exist(here):
    put("marked/cat.png", "clean/cat.png")
    invoke("marked", *MARKED)
    before = (here / "cases.jsonl").read_bytes()
    result = invoke("clean", *CLEAN, "--append")
    assert (result.exit_code, result.stdout) == (0, "cases.jsonl: 2 rows\n")
    assert (here / "cases.jsonl").read_bytes().startswith(before)
    assert [(row["case_id"], row["pair_id"]) for row in rows()] == [("cat-marked", "cat"), ("cat-clean", "cat")]


def test_the_same_file_for_another_adapter_gets_an_id_of_its_own(here):
    put("marked/cat.png")
    invoke("marked", *MARKED)
    result = invoke("marked", *MARKED, "--append", "--adapter", "trustmark")
    assert result.exit_code == 0
    assert [row["case_id"] for row in rows()] == ["cat-marked", "marked-cat.png-marked-trustmark"]


def test_a_duplicate_is_refused_and_the_manifest_stays(here):
    put("marked/cat.png")
    invoke("marked", *MARKED)
    before = (here / "cases.jsonl").read_bytes()
    result = invoke("marked", *MARKED, "--append")
    assert result.stderr == "marked/cat.png: has a row of dwt-dct already, at cases.jsonl:1\n"
    assert (result.exit_code, (here / "cases.jsonl").read_bytes()) == (1, before)


def test_an_existing_manifest_is_refused_without_append(here):
    put("marked/cat.png", "cases.jsonl")
    result = invoke("marked", *MARKED)
    assert result.exit_code == 1
    assert result.stderr == "cases.jsonl: exists already; add to it by --append, or name a new file\n"
    assert (here / "cases.jsonl").read_text() == "cases.jsonl"


def test_nothing_is_added_to_an_invalid_manifest(here):
    put("marked/cat.png", "cases.jsonl")
    result = invoke("marked", *MARKED, "--append")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert result.stderr.startswith("cases.jsonl:1: not JSON at column 1")


def test_kinds_are_not_mixed(here):
    put("marked/cat.png", "set/real/raise/1.png")
    invoke("marked", *MARKED)
    result = invoke("set", *DATASET, "--append")
    assert result.stderr == "cases.jsonl: has watermark rows; write dataset rows to a manifest of their own\n"


def test_files_of_the_same_name_get_different_ids(here):
    put("x/cat.png", "x/cat.jpg", "y/cat.png", "x/sub/cat.png")
    invoke("x", "y", *MARKED)
    assert {row["path"]: row["case_id"] for row in rows()} == {
        "x/cat.png": "x-cat.png-marked-dwt-dct",
        "x/cat.jpg": "x-cat.jpg-marked-dwt-dct",
        "y/cat.png": "y-cat.png-marked-dwt-dct",
        "x/sub/cat.png": "sub-cat-marked",
    }


def test_odd_names_become_valid_ids(here):
    put("marked/" + "x" * 240 + ".png", "marked/a\nb 猫.png")
    assert invoke("marked", *MARKED).exit_code == 0
    assert [row["case_id"] for row in rows()] == ["a_b 猫-marked", "x" * 120 + "-marked"]
    assert validate("cases.jsonl").exit_code == 0


def test_unknown_suffixes_are_named(here):
    put("marked/cat.png", "marked/notes.txt", "marked/.hidden.png")
    result = invoke("marked", *MARKED)
    assert result.stdout == "cases.jsonl: 1 row\n"
    assert result.stderr.startswith("left out: marked/notes.txt: unknown suffix '.txt'; known for image: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_without_media_files_is_refused(here):
    put("marked/notes.txt")
    result = invoke("marked", *MARKED)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "there is no file to make a row of"


def test_files_outside_the_directory_are_refused_unless_allowed(here):
    put("marked/cat.png", "lists/.keep")
    result = invoke("marked", *MARKED, output="lists/cases.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        f"marked/cat.png: lies outside {here}/lists, the manifest's directory; put the manifest "
    )
    assert invoke("marked", *MARKED, "--allow-outside", output="lists/cases.jsonl").exit_code == 0
    assert rows("lists/cases.jsonl")[0]["path"] == "../marked/cat.png"
    assert validate("lists/cases.jsonl", "--artifact-root", ".").exit_code == 0


@pytest.mark.parametrize(
    ("options", "transform"),
    [
        (["--state", "attacked"], {"name": "unrecorded", "revision": "user-files", "parameters": {}}),
        (
            ["--transform", "jpeg-75", "--transform-revision", "2", "--transform-parameters", '{"quality": 75}'],
            {"name": "jpeg-75", "revision": "2", "parameters": {"quality": 75}},
        ),
    ],
)
def test_the_transform_is_what_was_said_or_unrecorded(here, options, transform):
    put("cat.png")
    invoke("cat.png", *MARKED, *options)
    assert rows()[0]["transform"] == transform


def test_an_adapter_that_is_not_installed_is_described_by_its_media_type(here):
    put("song.wav")
    assert "unknown adapter 'mine'" in invoke("song.wav", *MARKED, "--adapter", "mine").stderr
    assert invoke("song.wav", *MARKED, "--adapter", "mine", "--media-type", "audio").exit_code == 0
    assert rows()[0]["media_type"] == "audio"


@pytest.mark.parametrize(
    "arguments",
    [
        ["cat.png"],
        ["cat.png", *MARKED, "--adapter", "none"],
        ["cat.png", *MARKED, "--media-type", "audio"],
        ["cat.png", *MARKED, "--arm", "negative"],
        ["cat.png", *MARKED, "--split", "test"],
        ["cat.png", *MARKED, "--transform-parameters", "{"],
        ["cat.png", *MARKED, "--transform-parameters", '{"a": 1, "a": 2}'],
        ["none.png", *MARKED],
        ["cat.png", *DATASET],
        ["set", *DATASET, "--arm", "positive"],
        ["set", "--kind", "dataset", "--split", "test"],
    ],
)
def test_wrong_use_is_exit_2_and_nothing_is_written(here, arguments):
    put("cat.png", "set/real/raise/1.png")
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert sorted(os.listdir()) == ["cat.png", "set"]


def test_a_tree_becomes_a_dataset_manifest_that_validates(here):
    put("set/real/raise/1.png", "set/ai/flux/1.png")
    result = invoke("set", *DATASET)
    assert (result.exit_code, result.stdout) == (0, "cases.jsonl: 2 rows\n")
    assert rows()[1] == {
        "id": "set-real-raise-1",
        "baseId": "set-real-raise-1",
        "sha256": digest("set/real/raise/1.png"),
        "label": 0,
        "split": "test",
        "source": "raise",
        "contentGroup": "unspecified",
        "transform": "none",
        "license": "CC0-1.0",
        "path": "set/real/raise/1.png",
    }
    assert validate("cases.jsonl").stdout.startswith("cases.jsonl: 2 rows, valid")


def test_a_table_becomes_a_dataset_manifest(here):
    put("images/1.png", "images/2.png")
    with open("images/files.csv", "w") as file:
        file.write("id,path,label,source,generatorFamily,baseId\n")
        file.write("one,1.png,1,,flux,\n,2.png,0,raise,,base\n")
    assert invoke("images/files.csv", *DATASET).exit_code == 0
    found = [(row["id"], row["baseId"], row["path"], row.get("generatorFamily"), row["source"]) for row in rows()]
    assert found == [
        ("one", "one", "images/1.png", "flux", "user-files"),
        ("images-2", "base", "images/2.png", None, "raise"),
    ]


def test_a_digest_of_the_table_must_be_that_of_the_file(here):
    put("1.png")
    with open("files.csv", "w") as file:
        file.write(f"path,label,source,sha256\n1.png,0,raise,{'0' * 64}\n")
    result = invoke("files.csv", *DATASET)
    assert result.stderr == f"1.png: has the SHA-256 {digest('1.png')}, the table says {'0' * 64}\n"
    assert sorted(os.listdir()) == ["1.png", "files.csv"]


def test_an_image_has_one_row(here):
    put("1.png")
    with open("files.csv", "w") as file:
        file.write("path,label,source\n1.png,0,raise\n./1.png,0,raise\n")
    result = invoke("files.csv", *DATASET)
    assert (result.exit_code, result.stderr) == (1, "1.png: is given more than once; an image has one row\n")


def test_an_adapter_of_texts_has_no_rows_here(here, monkeypatch):
    from pytest_benchbench.cli import manifest

    monkeypatch.setattr(manifest, "_media_types", lambda *_: {"words": frozenset({"text"})})
    put("notes.txt")
    result = invoke("notes.txt", *MARKED, "--adapter", "words")
    assert result.exit_code == 2
    assert "words is asked about text, of which this kind has no rows" in result.stderr


def test_faults_of_a_table_are_named_by_its_lines(here):
    with open("files.csv", "w") as file:
        file.write("path,label,source\n1.png,2,raise\n")
    result = invoke("files.csv", *DATASET)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "files.csv:2: label: expected the integer 0 (real) or 1 (AI), got '2'",
        "files.csv:2: path: no such file: '1.png'",
    ]


def test_images_are_added_to_a_dataset_once(here):
    put("set/real/raise/1.png", "set/ai/flux/1.png")
    invoke("set", *DATASET)
    result = invoke("set", *DATASET, "--append")
    assert result.stderr == "set/ai/flux/1.png: has a row already, at cases.jsonl:1\n"
    put("more/real/raise/1.png")
    assert invoke("more", *DATASET, "--append").stdout == "cases.jsonl: 3 rows\n"
