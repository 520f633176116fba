import hashlib
import json

import jsonschema
import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def row(**changes):
    return {
        "schema_version": 1,
        "case_id": "cat-01",
        "pair_id": "cat",
        "media_type": "image",
        "adapter": "dwt-dct",
        "arm": "positive",
        "state": "marked",
        "path": "cat.png",
        "sha256": hashlib.sha256(b"cat").hexdigest(),
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "mine",
        "transform": {"name": "none", "revision": "1", "parameters": {}},
        "seed": None,
        "expected": "detected",
    } | changes


def write(name, *rows):
    with open(name, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def invoke(*arguments):
    return CliRunner().invoke(main, ["validate", *map(str, arguments)])


def test_a_valid_manifest_is_said_to_be_so(here):
    (here / "cat.png").write_bytes(b"cat")
    write("cases.jsonl", row(), row(case_id="cat-02"))
    result = invoke("cases.jsonl")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "cases.jsonl: 2 rows, valid\n", "")


def test_every_fault_is_a_line_on_standard_error_and_the_exit_code_is_1(here):
    write("cases.jsonl", row(), row(sha256="x", seed=True))
    result = invoke("cases.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "cases.jsonl:2: sha256: expected 64 lower-case hex digits",
        "cases.jsonl:2: seed: expected an integer of 64 bits or null, got true",
        "cases.jsonl:2: case_id: 'cat-01' stands already in cases.jsonl:1",
    ]


def test_a_file_that_is_not_what_was_pinned_is_a_fault(here):
    (here / "cat.png").write_bytes(b"dog")
    write("cases.jsonl", row())
    result = invoke("cases.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith("cases.jsonl:1: sha256: cat.png has ")


def test_more_than_twenty_faults_are_counted(here):
    write("cases.jsonl", *(row(case_id=f"c{index}") for index in range(22)))
    lines = invoke("cases.jsonl").stderr.splitlines()
    assert (len(lines), lines[20]) == (21, "... and 2 more faults")


def test_files_are_not_looked_at_when_that_is_asked(here):
    write("cases.jsonl", row())
    assert invoke("cases.jsonl").exit_code == 1
    assert invoke("cases.jsonl", "--no-files").exit_code == 0


def test_ids_must_differ_over_several_manifests(here):
    write("one.jsonl", row())
    write("two.jsonl", row())
    result = invoke("one.jsonl", "two.jsonl", "--no-files")
    assert (result.exit_code, result.stdout) == (1, "one.jsonl: 1 row, valid\n")
    assert result.stderr == "two.jsonl:1: case_id: 'cat-01' stands already in one.jsonl:1\n"


def test_a_further_adapter_is_declared(here):
    write("cases.jsonl", row(adapter="mine", media_type="video"))
    refused = invoke("cases.jsonl", "--no-files").stderr
    assert refused.startswith("cases.jsonl:1: adapter: unknown adapter 'mine'; known: ")
    assert refused.endswith("; if a conftest registers it, declare it by --adapter-name\n")
    assert invoke("cases.jsonl", "--no-files", "--adapter-name", "mine").exit_code == 0


def test_a_declared_adapter_does_not_loosen_a_known_one(here):
    write("cases.jsonl", row(adapter="trustmark", media_type="video"))
    assert invoke("cases.jsonl", "--no-files", "--adapter-name", "trustmark").exit_code == 1


def test_files_elsewhere_need_an_artifact_root(here):
    (here / "sub").mkdir()
    (here / "cat.png").write_bytes(b"cat")
    write("sub/cases.jsonl", row(path="../cat.png"))
    assert invoke("sub/cases.jsonl").stderr == "sub/cases.jsonl:1: path: '../cat.png' leaves the manifest's directory\n"
    assert invoke("sub/cases.jsonl", "--artifact-root", here).exit_code == 0
    assert "leaves the manifest's directory" in invoke("sub/cases.jsonl", "--artifact-root", here / "sub").stderr


def test_a_dataset_manifest_is_validated(here):
    image = {"id": "a", "baseId": "a", "sha256": "0" * 64, "label": 0, "split": "test", "source": "s"}
    write("set.jsonl", {**image, "contentGroup": "photo", "transform": "none", "license": "CC0-1.0"})
    assert invoke("set.jsonl").stdout.startswith("set.jsonl: 1 row, valid\n")


def test_a_golden_set_without_samples_is_refused(here):
    (here / "set.json").write_text('{"samples": []}')
    result = invoke("set.json")
    assert result.exit_code == 1
    assert "set.json:1: samples: empty: a golden set has at least one sample" in result.stderr.splitlines()


@pytest.mark.parametrize("arguments", [[], ["none.jsonl"], ["."], ["--schema", "films"], ["a.jsonl", "./a.jsonl"]])
def test_wrong_use_is_exit_2(here, arguments):
    write("a.jsonl", row())
    assert invoke(*arguments).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "field"),
    [([], "case_id"), (["watermark"], "case_id"), (["dataset"], "baseId"), (["golden-set"], "samples")],
)
def test_the_schema_is_printed(arguments, field):
    result = invoke("--schema", *arguments)
    schema = json.loads(result.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert field in schema["properties"]


def test_the_findings_are_given_as_json(here):
    write("good.jsonl", row())
    write("bad.jsonl", row(case_id="b", seed="x"))
    result = invoke("good.jsonl", "bad.jsonl", "--no-files", "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    document = json.loads(result.stdout)
    good, bad = document["manifests"]
    assert document["valid"] is False
    assert (good["valid"], good["rows"], good["kind"], good["files_verified"]) == (True, 1, "watermark", False)
    assert good["sha256"] == hashlib.sha256((here / "good.jsonl").read_bytes()).hexdigest()
    assert bad["faults"] == ["bad.jsonl:1: seed: expected an integer of 64 bits or null, got 'x'"]
    assert bad["fault_count"] == 1


def test_a_changed_manifest_is_reported(here, monkeypatch):
    from pytest_benchbench.cli import validate
    from pytest_benchbench.manifests.reading import ManifestChangedError

    def change(manifests, *, roots):
        raise ManifestChangedError("cases.jsonl: the manifest was changed after it was validated")

    monkeypatch.setattr(validate, "verify_manifests", change)
    write("cases.jsonl", row())
    assert invoke("cases.jsonl").stderr == "cases.jsonl: the manifest was changed after it was validated\n"
