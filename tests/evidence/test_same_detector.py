import pytest

from pytest_benchbench.adapters.weights import NOT_PINNED
from pytest_benchbench.evidence.reading import settled_rows
from pytest_benchbench.evidence.same_detector import DetectorsSeen, changed_fields, other_detectors


@pytest.fixture
def seen(directories):
    """Collect the detectors of a run whose rows have these adapters, and optionally what their scorers report."""
    count = 0

    def collect(*adapters, scorer=None, status="detected"):
        nonlocal count
        count += 1
        rows = []
        for place, changes in enumerate(adapters):
            one = directories.row(f"c{place}", status)
            one["adapter"] = {**one["adapter"], **changes}
            if scorer is not None:
                one["detection"] = {**one["detection"], "scorer": scorer}
            rows.append(one)
        detectors = DetectorsSeen()
        for settled in settled_rows(directories.write(f"run-{count}", rows) / "evidence.jsonl"):
            detectors.add(settled)
        return detectors

    return collect


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"version": "2"},
        {"source_sha256": "d" * 64},
        {"weights": [{"name": "w", "sha256": "e" * 64}]},
        {"options": {"weights": "/elsewhere", "allow_unpinned": "true", "card": "c.yaml"}},
    ],
)
def test_a_new_version_and_other_weights_are_what_a_comparison_is_for(seen, changes):
    assert list(other_detectors(seen({}), seen(changes))) == []


def test_the_file_that_names_a_model_is_no_option_of_the_detector_and_weights_that_are_not_pinned_no_rule(seen):
    onnx = {"name": "onnx", "rule": "a score"}
    old, new = (seen({**onnx, "options": {"config": f"{name}.yaml"}}) for name in ("one", "other"))
    assert list(other_detectors(old, new)) == []
    stranger = {"name": "stranger", "rule": "a score"}
    old, new = (seen({**stranger, "options": {"config": f"{name}.yaml"}}) for name in ("one", "other"))
    assert len(list(other_detectors(old, new))) == 1
    assert list(other_detectors(seen({"rule": "40 bits"}), seen({"rule": f"40 bits; {NOT_PINNED}"}))) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "another"}, 'name was "dwt-dct" and is "another"'),
        ({"rule": "more bits"}, 'rule was "bits" and is "more bits"'),
        ({"options": {"threshold": "0.5"}}, 'option threshold was null and is "0.5"'),
    ],
)
def test_another_adapter_rule_or_option_is_another_detector(seen, changes, told):
    assert list(other_detectors(seen({}), seen(changes))) == [f"dwt-dct is not the same detector: {told}"]


@pytest.mark.parametrize("field", ["vendor", "tier", "plan", "api_version", "apiVersion"])
@pytest.mark.parametrize("place", ["scorer", "option"])
def test_vendor_tier_and_api_version_are_never_accepted(seen, field, place):
    old, new = (
        seen({}, scorer={field: value, "request": value}) if place == "scorer" else seen({"options": {field: value}})
        for value in ("one", "other")
    )
    (line,) = other_detectors(old, new, {field, "rule", f"option {field}"})
    assert f'{field} was "one" and is "other"' in line


def test_what_a_scorer_says_of_each_answer_is_no_detector(seen):
    assert list(other_detectors(seen({}, scorer={"latency": 1}), seen({}, scorer={"latency": 2}))) == []


@pytest.mark.parametrize(
    ("changes", "name"), [({"rule": "more bits"}, "rule"), ({"options": {"threshold": "0.5"}}, "threshold")]
)
def test_differences_are_accepted_by_name(seen, changes, name):
    assert list(other_detectors(seen({}), seen(changes), {name})) == []
    assert list(other_detectors(seen({}), seen(changes), {"something else"}))


def test_another_adapter_is_never_accepted(seen):
    assert list(other_detectors(seen({}), seen({"name": "another"}), {"name"}))


def test_a_run_in_which_the_detector_changed_is_not_one_that_has_the_old_one(seen):
    assert list(other_detectors(seen({}), seen({}, {"rule": "more bits"})))
    assert list(other_detectors(seen({}, {"rule": "more bits"}), seen({"rule": "more bits"}, {}))) == []


def test_rows_without_a_verdict_say_nothing_of_the_detector(seen):
    assert seen({"version": None, "rule": None}, status="error").by_adapter == {}


def test_fields_that_changed_are_named(seen):
    old = seen({}).by_adapter["dwt-dct"]
    new = seen({"version": "2", "weights": [{"name": "w", "sha256": "e" * 64}]}).by_adapter["dwt-dct"]
    assert changed_fields(old, old) == []
    assert changed_fields(old, new) == ["version", "weights"]
