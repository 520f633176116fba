"""What else a release decision rests on: fusion weights, the ledger of test openings, and the decision about any scores."""

import json
import math

import msgspec
import pytest
from hypothesis import event, given, strategies as st

from pytest_benchbench.adapters.fusion import FusionError, parse_fusion
from pytest_benchbench.adapters.fusion_signals import SIGNALS
from pytest_benchbench.gates.ledger import LedgerError, Opening, append_opening, attempts, read_ledger
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.gates.recorded import UnreadableEvidenceError, decide_recorded

SIGNAL = next(iter(SIGNALS))

FUSION = {
    "schema_version": 1,
    "type": "fusion",
    "weights": {SIGNAL: 2.5},
    "origin": "fitted",
    "scores_sha256": "0" * 64,
    "note": "for people",
}
OPENING = {
    "schema_version": 1,
    "opened": "2026-11-30T12:00:00+00:00",
    "run_id": "run-1",
    "split": "test",
    "split_sha256": "1" * 64,
    "manifests": [{"name": "dataset.jsonl", "sha256": "2" * 64}],
    "models": [
        {
            "alias": "mine",
            "adapter": "onnx",
            "options_sha256": "3" * 64,
            "rule_sha256": None,
            "weights": [{"name": "model.onnx", "sha256": "4" * 64}],
        }
    ],
    "options_sha256": "5" * 64,
    "commit": None,
    "shard": None,
    "shards": None,
}
LEDGERS = [
    (OPENING,),
    (OPENING | {"shard": 1, "shards": 2}, OPENING | {"shard": 2, "shards": 2}, OPENING | {"commit": "abc"}),
]
SCORE = {
    "id": "a-none",
    "baseId": "a",
    "label": 1,
    "split": "test",
    "score": 0.9,
    "source": "collection",
    "generatorFamily": "diffusion",
    "transform": "none",
    "resolutionGroup": "full-res",
    "evaluationMode": "deployed",
    "modelSha256": "6" * 64,
    "preprocessingVersion": "1",
}
SCORES = [
    (
        SCORE,
        SCORE | {"id": "a-jpeg", "transform": "jpeg-75"},
        SCORE | {"id": "b-none", "baseId": "b", "label": 0, "score": 0.1},
        SCORE | {"id": "b-jpeg", "baseId": "b", "label": 0, "score": 0.2, "transform": "jpeg-75"},
    )
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def test_the_valid_files_are_accepted(folder):
    parse_fusion(json.dumps(FUSION).encode(), name="fusion.json")
    for ledger in LEDGERS:
        (folder / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in ledger))
        assert len(read_ledger(folder / "ledger.jsonl")) == len(ledger)


@given(data=st.data())
def test_fusion_weights_are_sound_or_refused(mangled, told, data):
    try:
        fusion = parse_fusion(data.draw(mangled([FUSION])), name="fusion.json").fusion
    except FusionError as error:
        event("refused")
        told(error, "fusion.json: ")
        return
    event("accepted")
    for pixel_score in (0.0, 0.3, 1.0):
        score = fusion.apply(pixel_score, fusion.weights.keys())
        assert math.isfinite(score)
        assert 0 <= score <= 1
        assert fusion.apply(pixel_score, ()) == pixel_score


@given(data=st.data())
def test_every_line_of_a_ledger_is_an_opening_and_one_more_can_follow(folder, mangled, told, data):
    path = folder / "ledger.jsonl"
    written = data.draw(mangled(LEDGERS))
    path.write_bytes(written)
    new = msgspec.convert(OPENING | {"run_id": "new"}, Opening)
    try:
        openings = read_ledger(path)
    except LedgerError as error:
        event("refused")
        told(error, str(path))
        with pytest.raises(LedgerError):
            append_opening(path, new)
        assert path.read_bytes() == written
        return
    event(f"{len(openings)} openings")
    assert len(openings) == written.count(b"\n")
    numbers = attempts(openings)
    assert all(1 <= number <= place for place, number in enumerate(numbers, 1))
    number = append_opening(path, new)
    assert path.read_bytes().startswith(written)
    assert read_ledger(path) == [*openings, new]
    assert number == attempts([*openings, new])[-1]


@pytest.mark.parametrize("name", ["release", "tutorial", "strict"])
@given(data=st.data())
def test_any_scores_are_decided_about_or_refused_and_few_never_pass(folder, mangled, told, name, data):
    path = folder / "scores.jsonl"
    path.write_bytes(data.draw(mangled(SCORES)))
    try:
        decision = decide_recorded(path, load_policy(name), held_out_unverified=data.draw(st.booleans()))
    except UnreadableEvidenceError as error:
        event("refused")
        told(error, str(path))
        return
    event(decision.decision)
    assert json.loads(msgspec.json.encode(decision))["decision"] == decision.decision
    assert decision.decision in ("refused", "inconclusive")
