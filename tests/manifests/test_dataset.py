import jsonschema
import pytest

from pytest_benchbench.manifests.dataset import dataset_schema


def test_the_row_of_the_release_contract_is_read(desk, image):
    manifest = desk.read_rows(image())
    case = manifest.read(manifest.adapters[None][0]).case
    assert (manifest.kind, case.id, case.baseId, case.label, case.path) == ("dataset", "cat-01", "cat", 1, None)


def test_optional_fields_are_read(desk, image):
    optional = {
        "path": "cat.png",
        "splitGroup": "batch",
        "resolutionGroup": "thumbnail",
        "prompt": "a cat",
    }
    manifest = desk.read_rows(image(**optional))
    case = manifest.read(manifest.adapters[None][0]).case
    assert {name: getattr(case, name) for name in optional} == optional


def test_an_absent_optional_field_may_be_written_as_null(desk, image):
    manifest = desk.read_rows(image(label=0, generatorFamily=None, generatorModel=None, path=None, prompt=None))
    assert manifest.rows == 1


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("label", 2, "expected the integer 0 (real) or 1 (AI), got 2"),
        ("label", True, "expected the integer 0 (real) or 1 (AI), got true"),
        ("label", "ai", "expected the integer 0 (real) or 1 (AI), got 'ai'"),
        ("split", "validation", "expected train, calibration or test, got 'validation'"),
        ("sha256", "F" * 64, "expected 64 lower-case hex digits"),
        ("resolutionGroup", "full", "expected full-res, thumbnail or null, got 'full'"),
        ("generatorFamily", None, "must be given where label is 1 (AI)"),
        ("generatorFamily", "  ", "expected a text that is not blank, or null, got '  '"),
        ("source", "\u00a0", "expected a text that is not blank, got '\\xa0'"),
        ("baseId", "\u200b\ufeff", "expected a text that is not blank, got '\\u200b\\ufeff'"),
        ("splitGroup", "\n", "expected a text that is not blank, or null, got '\\n'"),
        ("prompt", " ", "expected a text that is not blank, or null, got ' '"),
        ("path", "../cat.png", "'../cat.png' leaves the manifest's directory"),
        ("imageURL", "http://localhost/cat.png", "unknown field"),
    ],
)
def test_a_wrong_value_is_named(desk, image, field, value, message):
    assert desk.faults(image(**{field: value})) == [f"cases.jsonl:1: {field}: {message}"]


def test_a_generated_image_without_family_is_refused(desk, image):
    row = image()
    del row["generatorFamily"]
    assert desk.faults(row) == ["cases.jsonl:1: generatorFamily: must be given where label is 1 (AI)"]


def test_a_real_image_needs_no_family(desk, image):
    row = image(label=0)
    del row["generatorFamily"], row["generatorModel"]
    assert desk.read_rows(row).rows == 1


def test_a_repeated_id_is_refused(desk, image):
    assert desk.faults(image(), image()) == ["cases.jsonl:2: id: 'cat-01' stands already in cases.jsonl:1"]


def test_the_schema_is_valid_and_describes_every_field(image):
    schema = dataset_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert all(len(field["description"]) > 10 for field in schema["properties"].values())
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(image())
    assert not validator.is_valid(image(generatorFamily=None))
    assert not validator.is_valid({name: value for name, value in image().items() if name != "generatorFamily"})
