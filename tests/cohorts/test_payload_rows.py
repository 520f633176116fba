"""Removed, forged and double-embedded rows, on a scheme simple enough to know what has to come out: a constant offset."""

import json

import numpy as np
import pytest

from pytest_benchbench.adapters.base import AdapterDescription, Detection
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.cohorts.audio import synthetic_sounds
from pytest_benchbench.cohorts.building import build_cohort
from pytest_benchbench.cohorts.media import MEDIA
from pytest_benchbench.cohorts.recipe import Part, Recipe, plan
from pytest_benchbench.cohorts.schemes import Mark, OpenedScheme, Scheme


def shifted(offset):
    return lambda samples: (0.5 * samples + offset).astype(np.float32)


def detect(saved):
    mean = float(saved.content().mean())
    return Detection("detected" if mean > 0.05 else "not_detected")


class Offset(Scheme):
    """Marks by an offset of 0.2; somebody else's message is -0.2. It has the name of a shipped adapter."""

    def open(self, registry=None):
        mark = Mark("perth", {"offset": 0.2}, shifted(0.2), {"offset": -0.2}, shifted(-0.2))
        return OpenedScheme((mark,), AdapterDescription("1", "offset"), detect)


class Mute(Offset):
    """The same, but its adapter gives no verdict."""

    def open(self, registry=None):
        opened = super().open()
        return OpenedScheme(opened.marks, opened.description, lambda saved: Detection("too-small"))


def recipe(scheme=Offset, **how):
    sounds = synthetic_sounds()
    part = Part(
        medium=MEDIA["audio"],
        prefix="toy",
        parameters={},
        carriers=len(sounds),
        open_carriers=lambda: sounds,
        attacks=find_attacks("audio", ["highpass-250", "noise-10"]),
        schemes=(scheme("perth", "audio", ("perth",), message_bits=1, foreign="not_detected"),),
        removals=frozenset({("tone-stack", "highpass-250"), ("white-noise", "noise-10")}),
        **how,
    )
    return Recipe("toy", "toy", "pytest_benchbench.cohorts.audio", (part,), {})


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    return build_cohort(recipe(forged=True, double_embedded=True), tmp_path_factory.mktemp("toy") / "cohort")


@pytest.fixture(scope="module")
def rows(cohort):
    lines = cohort.manifest.read_text(encoding="utf-8").splitlines()
    return {row["case_id"]: row for row in map(json.loads, lines)}


def test_an_attack_that_destroys_the_mark_gives_the_attacked_artifact_a_removed_row(rows):
    attacked, removed = rows["toy-tone-stack-perth-highpass-250"], rows["toy-tone-stack-perth-removed"]
    assert (removed["state"], removed["arm"], removed["expected"]) == ("removed", "positive", "not_detected")
    assert attacked["expected"] == "unresolved"
    for field in ("path", "sha256", "reference_path", "transform", "seed", "pair_id"):
        assert removed[field] == attacked[field]


def test_an_attack_that_does_not_destroy_it_gives_none_and_the_build_says_so(cohort, rows):
    assert [row["case_id"] for row in rows.values() if row["state"] == "removed"] == ["toy-tone-stack-perth-removed"]
    assert cohort.notes == ["no removed row for toy-white-noise-perth: detected before noise-10, detected after it"]
    described = json.loads((cohort.folder / "cohort.json").read_text(encoding="utf-8"))
    assert described["not_removed"] == cohort.notes


def test_a_plan_counts_the_most_removed_rows_there_can_be(rows):
    (planned,) = plan(recipe(forged=True, double_embedded=True))
    assert (planned.removed, planned.forged) == (2, 6)
    assert len(rows) == planned.total - 1


def test_forged_rows_carry_somebody_elses_message_and_expect_what_the_rule_makes_of_it(rows):
    forged = rows["toy-white-noise-perth-forged"]
    assert (forged["state"], forged["arm"], forged["expected"]) == ("forged", "wrong_key", "not_detected")
    assert forged["transform"]["parameters"]["embed"] == {"offset": -0.2}
    assert forged["reference_path"] == rows["toy-white-noise-perth-clean"]["path"]


def test_a_double_embedding_starts_from_the_saved_marked_file_and_asserts_nothing(cohort, rows):
    double = rows["toy-white-noise-perth-double-embedded"]
    assert (double["state"], double["expected"]) == ("forged", "unresolved")
    parameters = double["transform"]["parameters"]
    assert (parameters["embed"], parameters["embed_over"]) == ({"offset": 0.2}, {"offset": -0.2})
    decode = MEDIA["audio"].decode
    marked = decode((cohort.folder / rows["toy-white-noise-perth-marked"]["path"]).read_bytes())
    over = decode((cohort.folder / double["path"]).read_bytes())
    assert np.array_equal(over, decode(MEDIA["audio"].encode(shifted(-0.2)(marked))))


def test_without_a_payload_there_are_no_forged_rows(tmp_path):
    assert {row.forged for row in plan(recipe())} == {0}


def test_an_adapter_without_a_verdict_about_its_own_mark_stops_the_build(tmp_path):
    with pytest.raises(CohortError, match=r"artifacts/marked/tone-stack-perth.wav: perth gives no verdict but too-small"):
        build_cohort(recipe(Mute), tmp_path / "cohort")
    assert list(tmp_path.iterdir()) == []
