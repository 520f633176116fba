"""What rules about scores measure: held against a plain count, and laws that no order, repetition or gap may break."""

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.evidence.score_row import ScoreRow
from pytest_benchbench.gates.authorising import Provenance
from pytest_benchbench.gates.decided import Rate
from pytest_benchbench.gates.policy import Derivative, Policy, Rule
from pytest_benchbench.gates.score_side import ScoreSide
from pytest_benchbench.statistics.intervals import wilson_interval

GROUPS = ("full-res", "thumbnail")
PAIRS = tuple((transform, group) for transform in ("none", "jpeg-75") for group in GROUPS)
LISTED = tuple(Derivative(transform=transform, resolutionGroup=group) for transform, group in PAIRS)

BASES = {
    "r0": (0, "camera-a", None, "photo"),
    "r1": (0, "camera-a", None, "art"),
    "r2": (0, "camera-b", None, "photo"),
    "a0": (1, "prompts", "gan", "photo"),
    "a1": (1, "prompts", "gan", "art"),
    "a2": (1, "prompts", "diffusion", "photo"),
}

SCORES = st.one_of(st.sampled_from([0.0, 0.1, 0.64, 0.65, 0.9, 1.0]), st.none())


def score_row(base, pair, score, *, copy=0, adapter=None):
    label, source, family, content = BASES[base]
    transform, group = pair
    return ScoreRow(
        id=f"{base}~{transform}~{group}~{copy}",
        baseId=base,
        label=label,
        split="test",
        score=score,
        status="timeout" if score is None else "scored",
        source=source,
        generatorFamily=family,
        contentGroup=content,
        transform=transform,
        resolutionGroup=group,
        adapter=adapter,
        line=1,
    )


ROWS = st.lists(
    st.builds(
        score_row,
        st.sampled_from(sorted(BASES)),
        st.sampled_from(PAIRS),
        SCORES,
        copy=st.integers(0, 1),
        adapter=st.sampled_from([None, None, "other"]),
    ),
    max_size=40,
    unique_by=lambda row: (row.adapter, row.id),
)

RULES = {
    "balanced_accuracy": {"op": ">=", "value": 0.5},
    "real_recall": {"op": ">=", "value": 0.5},
    "ai_recall": {"op": ">=", "value": 0.5, "bound": "wilson_lower"},
    "false_positive_rate": {"op": "<=", "value": 0.5, "bound": "wilson_upper"},
    "precision": {"op": ">", "value": 0.5},
    "brier": {"op": "<", "value": 0.25},
    "real_count": {"op": ">=", "value": 2},
    "ai_count": {"op": ">=", "value": 2},
    "real_source_count": {"op": ">=", "value": 2},
    "generator_family_count": {"op": ">=", "value": 2},
    "terminal_count": {"op": "<=", "value": 0},
}

SLICES = [
    None,
    {"resolutionGroup": "thumbnail"},
    {"transform": "none", "resolutionGroup": "full-res"},
    {"source": "*"},
    {"contentGroup": "photo", "resolutionGroup": "*"},
    {"contentGroup": "*", "transform": "*"},
]


def judge(rules, rows, required="all-seen", known=None):
    policy = Policy(name="mine", rules=tuple(rules), required_transforms=required)
    side = ScoreSide(policy)
    for row in rows:
        side.add_row(row)
    return side.judge(known or Provenance())


def found(rule, rows, required="all-seen"):
    return [its for _, its in judge([rule], rows, required).measured]


def rule_of(metric, **more):
    return Rule(id="r", metric=metric, **(RULES[metric] | more))


class Oracle:
    """The bases of one adapter in one slice, counted one by one."""

    def __init__(self, rows, required, adapter, where):
        rows = [row for row in rows if row.adapter == adapter]
        of_base = {name: value for name, value in where.items() if name not in ("transform", "resolutionGroup")}
        derivative = {name: value for name, value in where.items() if name not in of_base}
        self.pairs = {
            pair
            for pair in required
            if all(dict(zip(("transform", "resolutionGroup"), pair, strict=True))[n] == v for n, v in derivative.items())
        }
        self.bases = {
            row.baseId: [
                one for one in rows if one.baseId == row.baseId and (one.transform, one.resolutionGroup) in self.pairs
            ]
            for row in rows
            if self.pairs and all(getattr(row, name) == value for name, value in of_base.items())
        }

    def of(self, label):
        return [base for base in self.bases if BASES[base][0] == label]

    def fails(self, base):
        rows = self.bases[base]
        label = BASES[base][0]
        wrong = any(row.score is None or (row.score >= 0.65) != (label == 1) for row in rows)
        return wrong or {(row.transform, row.resolutionGroup) for row in rows} != self.pairs

    def scored(self, label):
        return [base for base in self.of(label) if any(row.score is not None for row in self.bases[base])]

    def error(self, base):
        rows = self.bases[base]
        if {(row.transform, row.resolutionGroup) for row in rows} != self.pairs:
            return 1.0
        return max(1.0 if row.score is None else (row.score - BASES[base][0]) ** 2 for row in rows)

    def value(self, metric):
        real, ai = self.of(0), self.of(1)
        fp, fn = sum(map(self.fails, real)), sum(map(self.fails, ai))
        match metric:
            case "real_recall":
                return Fraction(len(real) - fp, len(real)) if real else None
            case "false_positive_rate":
                return wilson_interval(fp, len(real))[1] if real else None
            case "ai_recall":
                return wilson_interval(len(ai) - fn, len(ai))[0] if ai else None
            case "precision":
                positive = len(ai) - fn + fp
                return Fraction(len(ai) - fn, positive) if positive else None
            case "balanced_accuracy":
                both = real and ai
                return (Fraction(len(real) - fp, len(real)) + Fraction(len(ai) - fn, len(ai))) / 2 if both else None
            case "brier":
                every = real + ai
                return sum(map(self.error, every)) / len(every) if every else None
            case "real_count" | "ai_count":
                return len(self.scored(int(metric == "ai_count")))
            case "real_source_count":
                return len({BASES[base][1] for base in self.scored(0)})
            case "generator_family_count":
                return len({BASES[base][2] for base in self.scored(1)})
            case "terminal_count":
                return sum(any(row.score is None for row in rows) for rows in self.bases.values())


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, where=st.sampled_from(SLICES), listed=st.booleans())
@pytest.mark.parametrize("metric", RULES)
def test_agrees_with_counting_base_by_base(metric, rows, where, listed):
    seen = {(row.transform, row.resolutionGroup) for row in rows}
    for its in found(rule_of(metric, slice=where), rows, LISTED if listed else "all-seen"):
        told = dict(its.slice or {})
        adapter = told.pop("adapter", None)
        if "*" in told.values():
            assert its.observed in (None, 0)
            continue
        expected = Oracle(rows, set(PAIRS) if listed else seen, adapter, told).value(metric)
        assert its.observed == (pytest.approx(float(expected), abs=1e-15) if expected is not None else None)
        assert (its.passed is None) == (expected is None)


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 2**32))
@pytest.mark.parametrize("metric", RULES)
def test_neither_order_nor_repetition_changes_a_finding(metric, rows, seed):
    rule = rule_of(metric, slice={"contentGroup": "*"})
    shuffled = random.Random(seed).sample(rows, len(rows))
    again = [
        ScoreRow(**{name: getattr(row, name) for name in row.__struct_fields__} | {"id": f"again {row.id}"}) for row in rows
    ]
    assert found(rule, shuffled) == found(rule, rows)
    assert found(rule, [*rows, *again]) == found(rule, rows)


_ORDER = {True: 0, None: 1, False: 2}


@settings(max_examples=40, deadline=None)
@given(rows=ROWS.filter(bool), data=st.data())
@pytest.mark.parametrize("metric", RULES)
@pytest.mark.parametrize("gap", ["terminal", "missing"])
def test_a_gap_can_only_make_it_worse(metric, gap, rows, data):
    rows = [row for row in rows if row.adapter is None]
    if not rows:
        return
    place = data.draw(st.integers(0, len(rows) - 1))
    hurt = rows[place]
    twins = [
        row
        for row in rows
        if (row.baseId, row.transform, row.resolutionGroup) == (hurt.baseId, hurt.transform, hurt.resolutionGroup)
    ]
    others = [row for row in rows if row not in twins]
    if gap == "missing" and not any(row.baseId == hurt.baseId for row in others):
        return  # of a base without any row only a manifest knows
    worse = [*others, *([score_row(hurt.baseId, (hurt.transform, hurt.resolutionGroup), None)] if gap == "terminal" else [])]
    if metric == "terminal_count" and gap == "missing":
        return
    before, after = found(rule_of(metric), rows, LISTED), found(rule_of(metric), worse, LISTED)
    assert _ORDER[after[0].passed] >= _ORDER[before[0].passed]


@pytest.mark.parametrize("metric", RULES)
def test_without_rows_counts_are_zero_and_nothing_else_is_known(metric):
    (its,) = found(rule_of(metric), [])
    is_count = metric.endswith("_count")
    assert (its.observed, its.n) == (0 if is_count else None, 0)
    assert its.passed is ({"terminal_count": True}.get(metric, False) if is_count else None)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "real_recall", "ai_recall", "precision", "brier"])
def test_a_missing_class_is_no_value(metric):
    rows = [score_row("r0" if metric == "ai_recall" else "a0", PAIRS[0], 0.1)]
    (its,) = found(rule_of(metric), rows)
    assert (its.passed is None) == (metric != "brier")


@pytest.mark.parametrize("metric", RULES)
def test_where_nobody_could_be_asked_no_rate_is_known(metric):
    rows = [score_row(base, PAIRS[0], None, adapter="x") for base in BASES]
    for row, status in zip(rows, ["unavailable", "not_run"] * 3, strict=True):
        row.status = status
    (its,) = found(rule_of(metric), rows)
    if metric.endswith("_count"):
        assert (its.passed, its.observed) == (False, 6 if metric == "terminal_count" else 0)
    else:
        assert (its.passed, its.observed, its.n, its.failures) == (None, None, 0, None)
        assert its.reason == "nobody was asked: every row is unavailable or never ran"
    (other,) = [its for its in found(rule_of(metric), [*rows, score_row("r0", PAIRS[0], None)]) if its.slice is None]
    assert other.reason != its.reason or metric.endswith("_count")


def test_rates_of_those_who_could_not_be_asked_are_not_reported():
    row = score_row("r0", PAIRS[0], None)
    row.status = "unavailable"
    for told in judge([], [row]).reported:
        assert (told.real, told.ai, told.balanced_accuracy) == (Rate(0, 0, None, None, None),) * 2 + (None,)


def test_adapters_are_never_pooled():
    rows = [score_row("r0", PAIRS[0], 0.1, adapter="x"), score_row("r0", PAIRS[0], 0.9, adapter="y")]
    assert [(its.slice, its.observed) for its in found(rule_of("real_recall"), rows)] == [
        ({"adapter": "x"}, 1.0),
        ({"adapter": "y"}, 0.0),
    ]
    assert [its.slice for its in found(rule_of("real_recall", slice={"adapter": "y"}), rows)] == [{"adapter": "y"}]


def test_rows_that_do_not_say_their_value_cannot_be_decided():
    rows = [score_row("r0", PAIRS[0], 0.1), score_row("r1", PAIRS[0], 0.1)]
    rows[0].source = None
    told = {its.slice["source"]: its.passed for its in found(rule_of("real_recall", slice={"source": "*"}), rows)}
    assert told == {"*": None, "camera-a": True}


@pytest.mark.parametrize("name", ["transform", "resolutionGroup"])
def test_rows_that_do_not_say_their_derivative_cannot_be_decided(name):
    rows = [score_row("r0", PAIRS[0], 0.1), score_row("r1", PAIRS[0], 0.1)]
    setattr(rows[0], name, None)
    *_, last = found(rule_of("real_recall", slice={name: "*"}), rows)
    assert (last.slice, last.n, last.passed) == ({name: "*"}, 0, None)
    assert last.reason == "there are rows that do not say which value they have"


def test_a_base_is_in_a_slice_with_all_its_rows():
    rows = [score_row("r0", pair, 0.9 if pair == PAIRS[0] else 0.1) for pair in PAIRS]
    rows[0].source = "elsewhere"  # the only failing row: labelled away from its source
    told = {its.slice["source"]: its.failures for its in found(rule_of("real_recall", slice={"source": "*"}), rows)}
    assert told == {"camera-a": 1, "elsewhere": 1}


def test_rows_that_stand_for_themselves():
    rows = [score_row("r0", pair, 0.9 if pair == PAIRS[0] else 0.1) for pair in PAIRS]
    (its,) = found(rule_of("real_recall", unit="row"), rows)
    assert (its.n, its.failures) == (4, 1)


def test_a_list_asks_for_nothing_else():
    rows = [score_row("r0", PAIRS[0], 0.1), score_row("r0", PAIRS[1], 0.9)]
    (its,) = found(rule_of("real_recall"), rows, LISTED[:1])
    assert (its.n, its.failures) == (1, 0)
    (its,) = found(rule_of("real_recall"), rows, LISTED)
    assert (its.n, its.failures) == (1, 1)


def test_too_many_values_are_not_decided(monkeypatch):
    monkeypatch.setattr("pytest_benchbench.gates.score_rules.MAX_VALUES", 1)
    rows = [score_row("r0", PAIRS[0], 0.1), score_row("r2", PAIRS[0], 0.1)]
    (its,) = found(rule_of("real_recall", slice={"source": "*"}), rows)
    assert (its.passed, its.reason) == (None, "more than 1 values: they are not decided apart")


def test_too_many_derivatives_are_not_decided(monkeypatch):
    """Each is a pass over all bases, and its outcomes are kept."""
    rows = [score_row("r0", pair, 0.1) for pair in PAIRS]
    each = rule_of("real_recall", slice={"transform": "*"})
    assert all(its.passed is not None for its in found(each, rows))
    monkeypatch.setattr("pytest_benchbench.gates.score_rules.MAX_OUTCOMES", 1)
    (its,) = found(each, rows)
    assert its.passed is None
    assert its.reason.endswith("derivatives of 1 bases: they are not decided apart")
    (its,) = found(rule_of("real_recall", slice={"source": "*"}), rows[:1])
    assert its.passed is True


@pytest.mark.parametrize("metric", ["terminal_count", "real_count", "real_recall", "brier", "balanced_accuracy"])
@pytest.mark.parametrize("over", [0, 1])
def test_a_minimum_of_bases_is_met_by_as_many(metric, over):
    rows = [score_row("r0", PAIRS[0], 0.1), score_row("r1", PAIRS[0], 0.1)]
    if metric == "balanced_accuracy":
        rows[1] = score_row("a0", PAIRS[0], 0.9)
    (its,) = found(rule_of(metric, min_n=2 + over), rows)
    assert its.passed is (over == 0)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_how_many_bases_may_lack_a_score(most):
    rows = [score_row("r0", PAIRS[0], None), score_row("r0", PAIRS[1], None), score_row("r1", PAIRS[0], 0.1)]
    (its,) = found(rule_of("terminal_count", value=most), rows)
    assert (its.n, its.observed, its.failures, its.max_failures, its.passed) == (2, 1, 1, most, most >= 1)
    (its,) = found(rule_of("terminal_count", value=most, unit="row"), rows)
    assert (its.n, its.observed) == (3, 2)


def sources_counted(rows):
    side = ScoreSide(Policy(name="mine", rules=(Rule(id="sources", metric="real_source_count", op=">=", value=3),)))
    for row in rows:
        side.add_row(row)
    return {(found.slice or {}).get("adapter"): found.observed for _, found in side.judge(Provenance()).measured}


def test_a_source_that_is_spelled_in_several_ways_is_one(base_rows):
    spellings = ["RAISE", "raise", "Raise ", "camera\u00a01", "camera  1"]
    rows = [
        ScoreRow(**row, status="scored")
        for i, spelling in enumerate(spellings)
        for row in base_rows(f"real-{i}", 0, source=spelling)
    ]
    assert sources_counted(rows) == {None: 2}


def test_sources_are_those_of_one_adapter_alone(base_rows):
    rows = [
        ScoreRow(**row, status="scored", adapter=adapter)
        for adapter, source in (("one", None), ("other", "camera"))
        for row in base_rows("real-0", 0, source=source)
    ]
    assert sources_counted(rows) == {"one": 0, "other": 1}
