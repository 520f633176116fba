"""What the rules about evidence tell people beside the rows: which values were found, what leaks, what nobody knows."""

import msgspec
import pytest

from pytest_benchbench.evidence.score_row import ScoreRow
from pytest_benchbench.gates.authorising import Provenance
from pytest_benchbench.gates.policy import LoadedPolicy, Policy, Rule
from pytest_benchbench.gates.score_side import ScoreSide

NONE_FAIL = Rule(id="none", metric="false_positive_rate", op="<=", value=1.0)


def policy(**demands):
    return Policy(name="mine", rules=(NONE_FAIL,), **demands)


def own_rules(rows, known=None, **demands):
    """Give the rules about evidence, by name, for rows that are judged without a file."""
    side = ScoreSide(policy(**demands), "scores.jsonl")
    for line, row in enumerate(rows, 1):
        side.add_row(
            ScoreRow(**{name: value for name, value in row.items() if value is not None}, status="scored", line=line)
        )
    return {rule.id: rule for rule in side.judge(known or Provenance()).own}


@pytest.fixture
def rows(base_rows):
    """Give a row of each of so many real bases, with a field that differs between them."""

    def make(count, name, values):
        return [
            base_rows(f"real-{number:02}", 0, [("none", "full-res")], **{name: values(number)})[0] for number in range(count)
        ]

    return make


def test_no_more_than_ten_values_and_rows_are_named(rows):
    told = ", ".join(f"'provider-{number:02}'" for number in range(10))
    for count, reason in ((10, told), (12, f"{told} and 2 more")):
        given = rows(count, "provider", "provider-{:02}".format)
        rule = own_rules(given, requires={"provider": ("a", "b")})["requires.provider"]
        assert (rule.passed, rule.observed, rule.n, rule.failures, rule.max_failures) == (False, count, count, count, 0)
        assert (rule.reason, rule.required, rule.bound) == (reason, "only a, b", "observed")
        assert rule.rows == [f"real-{number:02}~none~full-res (scores.jsonl:{number + 1})" for number in range(10)]


def test_a_demand_that_is_met_names_nothing(rows):
    rule = own_rules(rows(2, "provider", lambda _: "a"), requires={"provider": "a"})["requires.provider"]
    assert (rule.passed, rule.observed, rule.required, rule.n) == (True, 0, "only a", 2)
    assert (rule.reason, rule.rows) == (msgspec.UNSET, msgspec.UNSET)


def test_mixed_values_are_told_and_the_rarer_ones_named(rows):
    given = rows(5, "preprocessingVersion", lambda number: ("1", None, "1", "2", "1")[number])
    rule = own_rules(given, unmixed=("preprocessingVersion",))["unmixed.preprocessingVersion"]
    assert (rule.passed, rule.observed, rule.required, rule.bound, rule.n) == (False, 3, "<= 1", "observed", 5)
    assert [row.partition("~")[0] for row in rule.rows] == ["real-01", "real-03"]
    assert sorted(rule.reason.split(", ")) == ["'1'", "'2'", "nothing"]
    rule = own_rules(given[:1], unmixed=("preprocessingVersion",))["unmixed.preprocessingVersion"]
    assert (rule.passed, rule.observed, rule.reason, rule.rows) == (True, 1, msgspec.UNSET, msgspec.UNSET)


def test_no_row_mixes_nothing():
    rule = own_rules([], unmixed=("preprocessingVersion",))["unmixed.preprocessingVersion"]
    assert (rule.passed, rule.observed, rule.n) == (True, 0, 0)


@pytest.mark.parametrize(
    ("selected", "passed", "observed"), [(False, True, "all rows"), (True, False, "selected"), (None, None, None)]
)
def test_whether_rows_were_chosen(rows, selected, passed, observed):
    rule = own_rules(rows(1, "source", str), Provenance(selected=selected))["nothing_selected"]
    assert (rule.passed, rule.observed, rule.required) == (passed, observed, "all rows")


@pytest.mark.parametrize(("attempt", "passed"), [(1, True), (2, True), (3, False), (None, None)])
def test_which_attempt_it_is(rows, attempt, passed):
    rule = own_rules(rows(1, "source", str), Provenance(attempt=attempt), max_attempt=2)["max_attempt"]
    assert (rule.passed, rule.observed, rule.required, rule.bound) == (passed, attempt, "<= 2", "observed")


def test_rows_that_are_no_scores_are_counted_and_the_first_named(rows):
    unscorable = [f"row-{number:02}: kind" for number in reversed(range(12))]
    rule = own_rules(rows(3, "source", str), Provenance(unscorable=unscorable))["score_rows"]
    assert (rule.passed, rule.observed, rule.failures, rule.n, rule.required) == (False, 12, 12, 3, "<= 0")
    assert rule.rows == [f"row-{number:02}: kind" for number in range(10)]


def held_out(evidence, manifest, **how):
    (rule,) = evidence.rules(
        "held_out", policy=LoadedPolicy(policy(held_out="verified"), "e" * 64), manifest=manifest, **how
    )
    return rule


def test_what_leaks_is_told_with_all_of_its_splits(small, base_rows):
    evidence = small()
    more = [
        row
        for split in ("train", "calibration")
        for row in base_rows(f"{split}-0", 0, [("none", "full-res")], split=split, source="camera-1")
    ]
    rule = held_out(evidence, evidence.manifest(*more))
    assert rule.reason == "source 'camera-1' occurs in calibration and train too"
    assert (rule.passed, rule.observed, rule.required) == (False, "leaked", "verified or unverified")


def test_of_many_leaks_ten_are_told(small, base_rows):
    evidence = small(12, 1)
    for number in range(12):
        evidence.change([f"real-{number}"], source=f"camera-{number:02}")
    for count, ending in (
        (10, "source 'camera-09' occurs in train too"),
        (12, "'camera-09' occurs in train too; and 2 more"),
    ):
        more = [
            row
            for number in range(count)
            for row in base_rows(f"e-{number}", 0, [("none", "full-res")], split="train", source=f"camera-{number:02}")
        ]
        rule = held_out(evidence, evidence.manifest(*more))
        assert rule.reason.startswith("source 'camera-00' occurs in train too; source 'camera-01' occurs")
        assert rule.reason.endswith(ending)
        assert rule.reason.count("occurs in") == 10
        assert len(rule.rows) == 10


def test_a_source_of_ai_images_alone_leaks_nothing(small, base_rows):
    """Prompts are no place where pictures are taken, and a family is none of a real image."""
    evidence = small().change(["ai-0"], source="prompts").change(["real-0"], source="street")
    more = [
        *base_rows("e-0", 1, [("none", "full-res")], split="train", source="street", generatorFamily="other"),
        *base_rows("e-1", 0, [("none", "full-res")], split="train", source="prompts"),
    ]
    rule = held_out(evidence, evidence.manifest(*more), trusting=False)
    assert (rule.passed, rule.observed, rule.reason, rule.rows) == (True, "verified", msgspec.UNSET, msgspec.UNSET)


def test_what_other_splits_share_among_themselves_is_nobodys_leak(small, base_rows):
    evidence = small()
    more = [
        row
        for split in ("train", "calibration")
        for row in base_rows(f"{split}-0", 0, [("none", "full-res")], split=split, source="elsewhere")
    ]
    assert held_out(evidence, evidence.manifest(*more), trusting=False).observed == "verified"
