import hashlib
import math

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.browser.contract import ContractError, result_of
from pytest_benchbench.browser.profile import MAX_PROFILE_BYTES, ProfileError, load_profile, parse_profile

HEAD = "schema_version: 1\ntype: extension-profile\n"

WHOLE = (
    HEAD
    + """
files: {model: {path: model.onnx, sha256: DIGEST}}
setup:
  - open: setup.html?first=1
  - put_file: {selector: "#file", file: model}
  - fill: {selector: "#key", value: none}
  - click: "#go"
  - wait: {selector: "#state", contains: ready, fails: [error], timeout: 5}
ready: {selector: html, attribute: data-x}
failure: {selector: "#broken"}
page: {box: 300, scroll: true}
sources:
  state: {attribute: data-state}
  detail: {selector: .badge, attribute: data-detail, json: true}
  kept: {expression: "answers[image.src]"}
fields: {status: state, score: detail.ai.percent, provider: detail.on, cropCount: kept.tiles, cacheStatus: kept.cached}
words:
  status: {done: scored, working: pending, "error*": inference-error, "error 5*": timeout}
  cacheStatus: {"true": hit, "false": miss}
divided_by: {score: 100}
ignored_below: 64
declared: {preprocessingVersion: x-1}
"""
).replace("DIGEST", hashlib.sha256(b"network").hexdigest())


@pytest.fixture
def profile():
    return parse_profile(WHOLE.encode(), name="p.yaml")


def test_an_answer_is_put_together_from_all_sources(profile):
    detail = '{"ai": {"percent": 87.5}, "on": "wasm"}'
    record = profile.record({"state": "done", "detail": detail, "kept": {"tiles": 5, "cached": True}})
    assert record == {"status": "scored", "score": 0.875, "provider": "wasm", "cropCount": 5, "cacheStatus": "hit"}
    assert result_of(record).score == 0.875


@pytest.mark.parametrize("values", [{}, {"state": "working"}, {"state": "working", "detail": '{"ai": {"percent": 3}}'}])
def test_an_image_that_is_not_done_is_waited_for(profile, values):
    assert profile.record(values) is None


def test_the_longest_beginning_of_a_word_counts(profile):
    assert profile.record({"state": "error 17"}) == {"status": "inference-error"}
    assert profile.record({"state": "error 50"}) == {"status": "timeout"}


def test_a_score_that_still_stands_there_is_not_that_of_an_error(profile):
    assert "score" not in profile.record({"state": "error", "detail": '{"ai": {"percent": 3}}'})


def test_a_word_of_the_contract_needs_no_translation(profile):
    assert profile.record({"state": "too-small"}) == {"status": "too-small"}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"state": "melting"}, "status: the profile does not say what 'melting' means"),
        ({"state": "done", "detail": "{"}, "source detail: not JSON"),
        ({"state": "done", "detail": '{"ai": {"percent": NaN}}'}, "NaN is no JSON number"),
        ({"state": "done", "detail": '{"ai": {"percent": "12 %"}}'}, "score: '12 %' is no number"),
        ({"state": "done", "detail": '{"ai": {"percent": "1e999"}}'}, "score: '1e999' is no number"),
    ],
)
def test_what_cannot_be_read_is_told(profile, values, told):
    with pytest.raises(ContractError, match=told):
        profile.record(values)


def test_without_a_status_a_score_means_scored():
    text = HEAD + "sources: {badge: {text: true, selector: b}}\nfields: {score: badge}\n"
    profile = parse_profile(text.encode(), name="p")
    assert profile.record({}) is None
    assert profile.record({"badge": " 0.25 "}) == {"status": "scored", "score": 0.25}


@given(st.floats(0, 1))
def test_a_score_that_stands_as_text_reads_back_exactly(score):
    text = HEAD + "sources: {badge: {attribute: x}}\nfields: {score: badge}\n"
    assert parse_profile(text.encode(), name="p").record({"badge": repr(score)})["score"] == score


@given(st.dictionaries(st.sampled_from(["state", "detail", "kept"]), st.text() | st.floats() | st.lists(st.integers())))
def test_hostile_values_end_in_a_record_or_a_contract_error(values):
    profile = parse_profile(WHOLE.encode(), name="p.yaml")
    try:
        record = profile.record({name: value for name, value in values.items() if value == value and value != math.inf})
    except ContractError:
        return
    assert record is None or record["status"]


def test_what_is_not_exposed_is_named(profile):
    assert "inferenceMs" in profile.not_exposed
    assert "score" not in profile.not_exposed
    assert "reason" not in profile.not_exposed


SMALL = HEAD + "sources: {a: {attribute: x}, j: {attribute: y, json: true}}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SMALL + "fields: {provider: a}\n", "p.yaml: fields: score has to be found somewhere"),
        (SMALL + "fields: {score: a, speed: a}\n", "fields: the contract has no 'speed'; it has cacheStatus, "),
        (SMALL + "fields: {score: b}\n", "fields.score: there is no source 'b'"),
        (SMALL + "fields: {score: a.b}\n", "fields.score: the source a is a text"),
        (SMALL + "fields: {score: j}\n", "fields.score: the source j is an object"),
        (SMALL + "fields: {score: a}\nwords: {status: {x: scored}}\n", "words.status: there is no such field"),
        (SMALL + "fields: {score: a, status: a}\nwords: {status: {x: good}}\n", "words.status.x: expected one of scored, "),
        (SMALL + "fields: {score: a}\ndivided_by: {pipelineMs: 2}\n", "divided_by.pipelineMs: there is no such field"),
        (SMALL + "fields: {score: a}\ndivided_by: {score: 0}\n", "divided_by"),
        (SMALL + "fields: {score: a}\nscroll: true\n", "scroll"),
        (SMALL + "fields: {score: a}\nsetup: [{click: '#x'}]\n", "setup.0.: the first step opens a page"),
        (SMALL + "fields: {score: a}\nsetup: [{open: a.html, click: b}]\n", "setup.0.: a step is one of open"),
        (SMALL + "fields: {score: a}\nsetup: [{open: 'https://example.com/'}]\n", "setup.0..open"),
        (SMALL + "fields: {score: a}\nsetup: [{open: //example.com}]\n", "setup.0..open"),
        (SMALL + "fields: {score: a}\nsetup: [{open: a}, {put_file: {selector: x, file: m}}]\n", "there is no file 'm'"),
        (SMALL + "fields: {score: a}\nfiles: {m: {path: /etc/passwd, sha256: %s}}\n" % ("a" * 64), "files.m.path: expected"),
        (SMALL + "fields: {score: a}\nfiles: {m: {path: x}}\n", "sha256"),
        (HEAD + "sources: {a: {attribute: x, text: true}}\nfields: {score: a}\n", "a source is one of attribute, text"),
        (HEAD + "sources: {a: {expression: x, json: true}}\nfields: {score: a.b}\n", "expression: has no selector"),
        (HEAD + "sources: {}\nfields: {score: a}\n", "sources"),
        ("type: extension-profile\nfields: {score: a}\nsources: {a: {text: true}}\n", "schema_version"),
        ("type: other\n", "type"),
        ("a: &x 1\nb: *x\n", "aliases are not allowed"),
        ("[", "p.yaml"),
        ("#" * (MAX_PROFILE_BYTES + 1), "larger than"),
    ],
)
def test_a_faulty_profile_is_refused_with_file_and_field(text, told):
    with pytest.raises(ProfileError, match=told) as caught:
        parse_profile(text.encode(), name="p.yaml")
    assert str(caught.value).startswith("p.yaml")
    assert "\n" not in str(caught.value)


def test_files_lie_beside_the_profile_and_are_compared_with_their_digests(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(WHOLE)
    loaded = load_profile(path)
    with pytest.raises(ProfileError, match=r"files.model: model.onnx cannot be read"):
        loaded.check_files()
    (tmp_path / "model.onnx").write_bytes(b"another")
    with pytest.raises(ProfileError, match=r"files.model: model.onnx has SHA-256 .*, not the pinned"):
        loaded.check_files()
    (tmp_path / "model.onnx").write_bytes(b"network")
    loaded.check_files()
    assert loaded.known() == {"modelSha256": hashlib.sha256(b"network").hexdigest(), "preprocessingVersion": "x-1"}
    assert loaded.sha256 == hashlib.sha256(WHOLE.encode()).hexdigest()


@pytest.mark.parametrize("what", ["missing", "folder"])
def test_a_profile_that_cannot_be_read_is_named(tmp_path, what):
    if what == "folder":
        (tmp_path / "p.yaml").mkdir()
    with pytest.raises(ProfileError, match=r"p\.yaml: "):
        load_profile(tmp_path / "p.yaml")
