"""What the reader reports, cut down to bounded values: reports as c2pa-python 0.38.1 writes them, and hostile ones."""

import json

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters import c2pa_manifest
from pytest_benchbench.adapters.c2pa_manifest import MAX_CHARACTERS, MAX_ENTRIES, read_report

IPTC = "http://cv.iptc.org/newscodes/digitalsourcetype/"


def codes(*names):
    return [{"code": name, "url": "self#jumbf=/c2pa/a/c2pa.signature", "explanation": "…"} for name in names]


def actions(*source_types, label="c2pa.actions.v2"):
    data = {"actions": [{"action": "c2pa.created", "digitalSourceType": name} for name in source_types]}
    return {"assertions": [{"label": label, "data": data}]}


def report(state="Valid", active=None, others=None, **results) -> str:
    return json.dumps(
        {
            "active_manifest": "a",
            "manifests": {"a": active or {}, **(others or {})},
            "validation_results": {"activeManifest": {"success": [], "informational": [], "failure": [], **results}},
            "validation_state": state,
        }
    )


def test_source_types_have_short_names():
    stated = actions(f"{IPTC}trainedAlgorithmicMedia", "http://c2pa.org/digitalsourcetype/empty", " http://a/b ")
    assert read_report(report(active=stated)).source_types == ("empty", "http://a/b", "trainedAlgorithmicMedia")


def test_actions_of_every_version_are_read_and_nothing_else():
    for label in ("c2pa.actions", "c2pa.actions.v2", "c2pa.actions.v2__1"):
        assert read_report(report(active=actions(f"{IPTC}digitalCapture", label=label))).source_types
    assert not read_report(report(active=actions(f"{IPTC}digitalCapture", label="com.example"))).source_types


def test_an_ingredient_does_not_speak_for_the_file():
    read = read_report(report(others={"b": actions(f"{IPTC}trainedAlgorithmicMedia")}))
    assert read.source_types == ()
    assert read.facts["stated"]["ingredient_digital_source_types"] == ["trainedAlgorithmicMedia"]
    assert read.facts["stated"]["manifests"] == 2


def test_what_an_invalid_manifest_says_has_another_name():
    for state, name in [("Trusted", "stated"), ("Valid", "stated"), ("Invalid", "stated_unverified")]:
        facts = read_report(report(state, active=actions(f"{IPTC}digitalCapture"))).facts
        assert facts[name]["digital_source_types"] == ["digitalCapture"]
        assert len({"stated", "stated_unverified"} & set(facts)) == 1


def test_an_invalid_manifest_may_be_too_broken_to_be_shown():
    text = json.loads(report("Invalid", failure=codes("assertion.cbor.invalid")))
    text["manifests"] = {}
    read = read_report(json.dumps(text))
    assert (read.state, read.failures) == ("Invalid", ("assertion.cbor.invalid",))
    assert read.facts["stated_unverified"] == {"active_manifest": "a", "manifests": 0}


def test_failures_of_ingredients_count():
    text = json.loads(report("Invalid", failure=codes("b.two", "a.one", "a.one")))
    text["validation_results"]["ingredientDeltas"] = [{"validationDeltas": {"failure": codes("c.three")}}]
    assert read_report(json.dumps(text)).failures == ("a.one", "b.two", "c.three")


def test_only_a_trusted_timestamp_takes_the_verdict_off_the_day():
    def basis(*success):
        return read_report(report(success=codes(*success))).facts["time_basis"]

    assert basis("timeStamp.validated", "timeStamp.trusted") == "trusted timestamp"
    assert basis("timeStamp.validated") == basis() == "day of validation"


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"claim_generator": "one/1 c2pa-rs/0.16"}, "one/1 c2pa-rs/0.16"),
        ({"claim_generator": "old", "claim_generator_info": [{"name": "A b", "version": "2"}, {"name": "c"}]}, "A b/2 c"),
        ({"claim_generator": "old", "claim_generator_info": None}, "old"),
    ],
)
def test_the_claim_generator_of_both_versions_of_claims(manifest, said):
    assert read_report(report(active=manifest)).facts["stated"]["claim_generator"] == said


def test_what_is_not_said_is_absent():
    assert read_report(report()).facts["stated"] == {"active_manifest": "a", "manifests": 1}


def test_texts_and_lists_are_bounded():
    hostile = {
        **actions(*(f"http://example/{number:05}" for number in range(10_000))),
        "claim_generator_info": [{"name": "x\n\x1b[31m" * 100_000}],
        "signature_info": {"issuer": "y" * 100_000, "time": ["no", "text"]},
    }
    read = read_report(report(active=hostile, failure=codes(*(f"code.{number}" for number in range(1_000)))))
    stated = read.facts["stated"]
    assert len(stated["digital_source_types"]) == len(read.facts["failure"]) == MAX_ENTRIES
    assert read.facts["left_out"] == {"digital_source_types": 10_000 - MAX_ENTRIES, "failure": 1_000 - MAX_ENTRIES}
    assert stated["claim_generator"].startswith("x [31mx [31m")
    assert len(stated["claim_generator"]) == len(stated["signature"]["organization"]) == MAX_CHARACTERS
    assert len(json.dumps(read.facts)) < 20_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "{" * 100_000,
        '{"a":' * 100_000,
        report("Splendid"),
        report().replace('"active_manifest": "a"', '"active_manifest": "b"'),
        report().replace('"active_manifest": "a"', '"active_manifest": ["a"]'),
        report().replace('{"a": {}}', '{"a": 7}'),
    ],
    ids=["empty", "nothing", "list", "braces", "deep", "state", "label", "unhashable", "manifest"],
)
def test_what_is_no_report_is_refused(text):
    with pytest.raises(ValueError, match="report"):
        read_report(text)


def test_a_report_beyond_the_limit_is_not_parsed(monkeypatch):
    monkeypatch.setattr(c2pa_manifest, "MAX_REPORT_CHARACTERS", 10)
    with pytest.raises(ValueError, match="characters, more than 10"):
        read_report(report())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "assertions": st.lists(
                JSON | st.fixed_dictionaries({"label": st.just("c2pa.actions"), "data": JSON}), max_size=3
            ),
            "claim_generator_info": st.lists(JSON | st.fixed_dictionaries({"name": JSON, "version": JSON}), max_size=3),
            "claim_generator": JSON,
            "signature_info": JSON | st.fixed_dictionaries({"issuer": JSON, "time": JSON}),
        },
    ),
    JSON,
)
def test_any_content_gives_printable_json(manifest, results):
    text = json.loads(report(active=manifest))
    text["validation_results"] = results
    facts = read_report(json.dumps(text)).facts
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    said = [*facts["failure"], facts["stated"].get("claim_generator", ""), *facts["stated"].get("signature", {}).values()]
    assert all(line.isprintable() for line in said)
