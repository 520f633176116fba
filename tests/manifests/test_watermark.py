import math

import jsonschema
import pytest

from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES, watermark_schema

HEX = "64 lower-case hex digits"
IDENTIFIER = "a text of 1 to 200 characters without control characters"


def test_the_row_of_the_requirement_document_is_read(desk):
    line = (
        '{"schema_version":1,"case_id":"sample-removed","pair_id":"sample","media_type":"image","adapter":"dwt-dct",'
        '"arm":"positive","state":"removed","path":"removed.png",'
        '"sha256":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","reference_path":"clean.png",'
        '"reference_sha256":"abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789",'
        '"source_revision":"local-corpus@2026-09-05","transform":{"name":"remove","revision":'
        '"remove-ai-watermarks@abc123","parameters":{"method":"auto"}},"seed":7,"expected":"not_detected"}'
    )
    manifest = desk.read_rows(line)
    case = manifest.read(manifest.adapters["dwt-dct"][0]).case
    assert (case.case_id, case.seed, case.transform.parameters) == ("sample-removed", 7, {"method": "auto"})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("schema_version", 2, "expected the integer 1, got 2"),
        ("schema_version", True, "expected the integer 1, got true"),
        ("schema_version", 1.0, "expected the integer 1, got 1.0"),
        ("case_id", "", f"expected {IDENTIFIER}, got ''"),
        ("case_id", "a\nb", f"expected {IDENTIFIER}, got 'a\\nb'"),
        ("case_id", "a\n", f"expected {IDENTIFIER}, got 'a\\n'"),
        ("case_id", "a\u0085b", f"expected {IDENTIFIER}, got 'a\\x85b'"),
        ("case_id", 7, f"expected {IDENTIFIER}, got 7"),
        ("pair_id", None, "expected a text that is not blank, got null"),
        ("media_type", "text", "expected image, audio or video, got 'text'"),
        ("adapter", "", "expected a text that is not blank, got ''"),
        ("pair_id", " \t", "expected a text that is not blank, got ' \\t'"),
        ("source_revision", "\u200b", "expected a text that is not blank, got '\\u200b'"),
        ("arm", "negative", "expected positive, matched_negative, wrong_key or hard_negative, got 'negative'"),
        ("state", "Marked", "expected clean, marked, attacked, removed or forged, got 'Marked'"),
        ("path", "", "expected a path without NUL that is not empty, got ''"),
        ("path", "a\0b", "expected a path without NUL that is not empty, got 'a\\x00b'"),
        ("sha256", "A" * 64, f"expected {HEX}"),
        ("sha256", "a" * 63, f"expected {HEX}"),
        ("sha256", "a" * 63 + "\n", f"expected {HEX}"),
        ("sha256", "a" * 62 + "  ", f"expected {HEX}"),
        ("sha256", "\u0661" * 64, f"expected {HEX}"),
        ("sha256", None, f"expected {HEX}"),
        ("source_revision", ["x"], "expected a text that is not blank, got an array"),
        ("transform", None, "expected an object, got null"),
        ("seed", True, "expected an integer of 64 bits or null, got true"),
        ("seed", 7.0, "expected an integer of 64 bits or null, got 7.0"),
        ("seed", "7", "expected an integer of 64 bits or null, got '7'"),
        ("seed", 2**63, "expected an integer of 64 bits or null, got 9223372036854775808"),
        ("expected", "maybe", "expected detected, not_detected or unresolved, got 'maybe'"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(desk, row, field, value, message):
    assert desk.faults(row(), row(**{"case_id": "cat-02", field: value})) == [f"cases.jsonl:2: {field}: {message}"]


@pytest.mark.parametrize(
    ("transform", "fault"),
    [
        ({"name": "none", "revision": "1"}, "transform.parameters: missing"),
        ({"name": "", "revision": "1", "parameters": {}}, "transform.name: expected a text that is not blank, got ''"),
        ({"name": "n", "revision": "1", "parameters": []}, "transform.parameters: expected an object, got an array"),
        ({"name": "n", "revision": "1", "parameters": {}, "seed": 1}, "transform.seed: unknown field"),
    ],
)
def test_a_nested_field_is_named_by_its_path(desk, row, transform, fault):
    assert desk.faults(row(transform=transform)) == [f"cases.jsonl:1: {fault}"]


@pytest.mark.parametrize("field", watermark_schema()["required"])
def test_every_field_must_be_there(desk, row, field):
    without = {name: value for name, value in row(case_id="cat-02").items() if name != field}
    assert desk.faults(row(), without) == [f"cases.jsonl:2: {field}: missing"]


def test_a_misspelt_field_is_unknown_and_its_likely_name_is_given(desk, row):
    misspelt = row()
    misspelt["sha265"] = misspelt.pop("sha256")
    assert desk.faults(misspelt) == [
        "cases.jsonl:1: sha256: missing",
        "cases.jsonl:1: sha265: unknown field (is sha256 meant?)",
    ]


@pytest.mark.parametrize("half", [{"reference_path": "clean.png"}, {"reference_sha256": "a" * 64}])
def test_half_a_reference_is_refused(desk, row, half):
    (name,) = half
    assert desk.faults(row(**half)) == [
        f"cases.jsonl:1: {name}: reference_path and reference_sha256 must both be given or both be null"
    ]


def test_a_known_adapter_is_held_to_its_media_type(desk, row):
    assert desk.faults(row(media_type="audio")) == ["cases.jsonl:1: media_type: dwt-dct is asked about image, not audio"]


def test_an_adapter_that_nobody_registered_is_refused_with_the_known_ones(desk, row):
    assert desk.faults(row(adapter="mine")) == [
        "cases.jsonl:1: adapter: unknown adapter 'mine'; known: audioseal, dwt-dct, perth, pixelseal, trustmark, videoseal"
    ]


def test_further_adapters_come_in_as_an_argument(desk, row):
    media_types = {**KERNEL_MEDIA_TYPES, "mine": frozenset({"image", "video"})}
    rows = [row(adapter="mine", case_id=media, media_type=media) for media in ("image", "video")]
    assert desk.read_rows(*rows, media_types=media_types).rows == 2


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/cat.png", "absolute path '/cat.png': paths are relative to the manifest's directory"),
        ("../cat.png", "'../cat.png' leaves the manifest's directory"),
        ("a/../../cat.png", "'a/../../cat.png' leaves the manifest's directory"),
        (".//../cat.png", "'.//../cat.png' leaves the manifest's directory"),
    ],
)
@pytest.mark.parametrize("field", ["path", "reference_path"])
def test_a_path_that_leaves_the_directory_is_refused_unless_roots_are_allowed(desk, row, field, path, why):
    rows = row(**{"reference_path": "clean.png", "reference_sha256": "a" * 64, field: path})
    assert desk.faults(rows) == [f"cases.jsonl:1: {field}: {why}"]
    assert desk.read_rows(rows, outside_allowed=True).rows == 1


@pytest.mark.parametrize("path", ["a/../cat.png", "..cat.png", "a..b", "..\n", "ca t.png", "a\\..\\b", "./cat.png"])
def test_a_path_that_stays_is_read(desk, row, path):
    assert desk.read_rows(row(path=path)).rows == 1


@pytest.mark.parametrize("case_id", ["x" * 200, "Katze 猫", "a::b[c]/d", "a\u00a0b", "👩‍👩‍👧", "%"])
def test_a_case_id_is_any_text(desk, row, case_id):
    assert [ref.case_id for ref in desk.read_rows(row(case_id=case_id)).adapters["dwt-dct"]] == [case_id]


def test_a_case_id_of_201_characters_is_refused(desk, row):
    (fault,) = desk.faults(row(case_id="x" * 201))
    assert fault.startswith(f"cases.jsonl:1: case_id: expected {IDENTIFIER}, got 'xxx")
    assert len(fault) < 200


@pytest.mark.parametrize("seed", [0, -1, 2**63 - 1, -(2**63)])
def test_zero_and_the_extremes_are_seeds(desk, row, seed):
    manifest = desk.read_rows(row(seed=seed))
    assert manifest.read(manifest.adapters["dwt-dct"][0]).case.seed == seed


def test_a_parameter_may_be_any_json_value(desk, row):
    parameters = {"a": None, "b": [1, 2.5, {"c": ["x"]}], "": 10**30, "e": -0.0}
    manifest = desk.read_rows(row(transform={"name": "n", "revision": "1", "parameters": parameters}))
    assert manifest.read(manifest.adapters["dwt-dct"][0]).case.transform.parameters == parameters


def test_several_faults_of_a_row_are_all_named(desk, row):
    assert [fault.split(": ")[1] for fault in desk.faults(row(arm=1, sha256="x", seed=math.pi, state=None))] == [
        "arm",
        "state",
        "sha256",
        "seed",
    ]


def test_the_schema_is_valid_and_describes_every_field():
    schema = watermark_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    transform = schema["$defs"]["Transform"]
    assert all(len(field["description"]) > 10 for part in (schema, transform) for field in part["properties"].values())
    assert set(schema["properties"]) == set(schema["required"])


@pytest.mark.parametrize(
    "changes",
    [
        {"reference_path": "clean.png"},
        {"reference_sha256": "a" * 64},
        {"media_type": "audio"},
        {"adapter": "perth"},
        {"path": "/cat.png"},
        {"path": "../cat.png"},
        {"case_id": "a\n"},
        {"sha256": "a" * 63 + "\n"},
        {"seed": True},
        {"seed": 2**63},
        {"more": 1},
    ],
)
def test_the_schema_refuses_what_it_can_express(row, changes):
    validator = jsonschema.Draft202012Validator(watermark_schema())
    assert validator.is_valid(row())
    assert not validator.is_valid(row(**changes))
