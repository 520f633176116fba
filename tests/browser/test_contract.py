import json

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.browser.contract import (
    FIELDS,
    MAX_RECORD_CHARACTERS,
    ContractError,
    cleaned,
    demand,
    read_record,
    ready_of,
    result_of,
)

SCORED = {
    "status": "scored",
    "score": 0.30000000000000004,
    "provider": "wasm",
    "modelSha256": "a" * 64,
    "preprocessingVersion": "p-1",
    "sha256": "b" * 64,
}


def read(**fields):
    return result_of(read_record(json.dumps({"schema_version": 1, **fields})))


@given(st.floats(0, 1))
def test_a_score_reads_back_exactly(score):
    assert read(**{**SCORED, "score": score}).score == score


def test_what_is_absent_stays_absent_and_null_is_absent():
    assert read(status="too-small", inferenceMs=None).facts() == {}
    assert read(status="too-small").inferenceMs is None


def test_facts_are_all_that_is_exposed_but_what_the_detection_says_itself():
    facts = read(**SCORED, reason="why", cropCount=5, cacheStatus="hit", inferenceMs=0).facts()
    assert facts == {
        **{name: SCORED[name] for name in ("provider", "modelSha256", "preprocessingVersion", "sha256")},
        "cropCount": 5,
        "cacheStatus": "hit",
        "inferenceMs": 0.0,
    }


@pytest.mark.parametrize("name", ["imageURL", "imageUrl", "sourceurl", "localPath", "PATH", "filePath", "anything"])
def test_unknown_names_are_left_out_whatever_they_hold(name):
    nested = {"vendor": "v", name: "/home/me/x.jpg"}
    facts = read(**SCORED, **{name: "file:///home/me/x.jpg"}, providerDetail=nested).facts()
    assert name not in facts
    assert facts["providerDetail"] == {"vendor": "v"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("cannot read /home/me/photos/x.jpg now", "cannot read <path> now"),
        ("C:\\Users\\me\\x.jpg is gone", "<path> is gone"),
        ("see \\\\server\\share\\x", "see <path>"),
        ("failed: http://127.0.0.1:3000/abc/x.jpg?y (404)", "failed: <address> (404)"),
        ("file:///home/me/x.jpg", "<address>"),
        ("blob:http://127.0.0.1/abc", "<address>"),
        ("data:image/png;base64,AAAA", "<address>"),
        ("~/photos/x.jpg", "<path>"),
        ("google/swiftshader and 1/2", "google/swiftshader and 1/2"),
        ("one\nline\x1b[31m", "one line\\x1b[31m"),
    ],
)
def test_texts_lose_addresses_and_local_paths(text, clean):
    assert cleaned(text) == clean
    assert read(**SCORED, result=text).facts()["result"] == clean


@given(st.text(max_size=500))
def test_cleaning_takes_any_text(text):
    assert "\n" not in cleaned(text)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({**SCORED, "score": 1.5}, "score: "),
        ({**SCORED, "score": "0.5"}, "score: "),
        ({**SCORED, "score": True}, "score: "),
        ({**SCORED, "score": 10**400}, "score"),
        ({**SCORED, "pipelineMs": -1}, "pipelineMs: "),
        ({**SCORED, "cropCount": 1.5}, "cropCount: "),
        ({**SCORED, "sha256": "B" * 64}, "sha256: "),
        ({**SCORED, "cacheStatus": "warm"}, "cacheStatus: "),
        ({**SCORED, "providerDetail": {"isFallbackAdapter": "yes"}}, "providerDetail.isFallbackAdapter: "),
        ({**SCORED, "result": "x" * 201}, "result: "),
        ({"status": "scored"}, "score: belongs to the status scored"),
        ({"status": "timeout", "score": 0.5}, "score: belongs to the status scored"),
        ({"status": "SCORED", "score": 0.5}, "status: "),
        ({}, "status"),
    ],
)
def test_a_known_name_of_a_wrong_value_is_named(fields, told):
    with pytest.raises(ContractError, match=told):
        read(**fields)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "blank"),
        ("{", "not JSON"),
        ("[]", "expected a JSON object"),
        ('{"schema_version": 2, "status": "scored"}', "schema_version"),
        ('{"status": "scored"}', "schema_version"),
        ('{"schema_version": 1, "score": NaN}', "score: NaN is no JSON number"),
        ('{"schema_version": 1, "score": 1e999}', "score: 1e999 is beyond"),
        ('{"schema_version": 1, "status": "a", "status": "b"}', "status: this key stands twice"),
        ('{"schema_version": 1, "reason": "\ud800"}', "not UTF-8"),
        ("[" * 100_000, "longer than"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "nested deeper"),
    ],
)
def test_what_is_no_record_is_told_in_one_line(text, told):
    with pytest.raises(ContractError, match=told) as caught:
        read_record(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=200) | st.dictionaries(st.sampled_from(sorted(FIELDS)), st.integers() | st.text()).map(json.dumps))
def test_hostile_texts_end_in_a_result_or_a_contract_error(text):
    try:
        result = result_of(read_record(text))
    except ContractError:
        return
    assert result.status


def test_a_record_has_a_largest_length():
    with pytest.raises(ContractError, match=f"longer than {MAX_RECORD_CHARACTERS}"):
        read_record(json.dumps({"schema_version": 1, "x": "y" * MAX_RECORD_CHARACTERS}))


@pytest.mark.parametrize("missing", ["provider", "modelSha256", "preprocessingVersion", "sha256"])
def test_a_score_of_pixels_says_what_made_it(missing):
    with pytest.raises(ContractError, match=f"scored without {missing}"):
        demand(read(**{name: value for name, value in SCORED.items() if name != missing}))


def test_other_answers_need_not_say_it():
    demand(read(status="timeout"))
    demand(read(status="scored", score=1, provider="metadata", sha256="b" * 64))


def test_readiness_names_the_extension():
    ready = ready_of(read_record('{"schema_version": 1, "name": "n", "version": "1", "other": 3}'))
    assert (ready.name, ready.version, ready.modelSha256) == ("n", "1", None)
    with pytest.raises(ContractError, match="name"):
        ready_of({"version": "1"})
