import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.validation.finding import MAX_KEPT_OF_RULE, MAX_ROWS_NAMED
from pytest_benchbench.validation.leakage import leakage, same_bytes_of_a_base

SAME = {"sha256": "0" * 64}

SOUND = (
    ("real-train", {"split": "train"}),
    ("real", {}),
    ("real-small", {"baseId": "real", "transform": "resize-256", "resolutionGroup": "thumbnail"}),
    ("ai-train", {"split": "train", "label": 1}),
    ("ai", {"label": 1}),
    ("ai-calibration", {"label": 1, "split": "calibration", "splitGroup": "prompt"}),
)

BROKEN = {
    "bytes-split": [("a", SAME), ("b", SAME | {"split": "train"})],
    "duplicate-bytes": [("a", SAME), ("b", SAME)],
    "bytes-label": [("a", SAME), ("b", SAME | {"label": 1})],
    "base-split": [("a", {}), ("b", {"baseId": "a", "split": "train"})],
    "source-split": [("a", {"source": "raise"}), ("b", {"source": "raise", "split": "calibration"})],
    "family-split": [
        ("a", {"label": 1, "generatorFamily": "flux"}),
        ("b", {"label": 1, "generatorFamily": "flux", "split": "train"}),
    ],
    "group-split": [("a", {"splitGroup": "batch"}), ("b", {"splitGroup": "batch", "split": "train"})],
    "base-label": [("a", {"source": "web"}), ("b", {"baseId": "a", "label": 1})],
    "base-source": [("a", {}), ("b", {"baseId": "a", "source": "other"})],
    "base-family": [("a", {"label": 1}), ("b", {"label": 1, "baseId": "a", "generatorFamily": "other"})],
    "base-chain-split": [("a", {"baseId": "o", "split": "train"}), ("b", {"baseId": "a"})],
    "base-chain": [("a", {"baseId": "o"}), ("b", {"baseId": "a"})],
    "real-generator": [("a", {}), ("b", {"generatorFamily": "flux"})],
}
"""For each rule a pair of rows of which the second is one too many, and the first alone is none."""

ALSO = {
    "bytes-label": {"duplicate-bytes"},
    "base-split": {"base-source"},
}
"""What a pair cannot but break too."""


def rules(outcomes):
    return {outcome.rule for outcome in outcomes if outcome.total}


def rows_of(dataset, pairs):
    return [dataset.row(name, **changes) for name, changes in pairs]


def test_a_sound_dataset_breaks_no_rule(dataset, told):
    assert told(leakage(dataset.columns(*rows_of(dataset, SOUND)))) == []


@pytest.mark.parametrize("rule", BROKEN)
def test_one_row_more_breaks_a_rule(dataset, rule):
    sound = rows_of(dataset, [*SOUND, BROKEN[rule][0]])
    assert rules(leakage(dataset.columns(*sound))) == set()
    outcomes = leakage(dataset.columns(*sound, *rows_of(dataset, BROKEN[rule][1:])))
    assert rules(outcomes) == {rule} | ALSO.get(rule, set())
    (outcome,) = (outcome for outcome in outcomes if outcome.rule == rule)
    assert outcome.total == 1
    assert {row.id for row in outcome.kept[0].rows} >= {"b"}
    assert outcome.severity == ("warning" if rule in ("base-chain", "real-generator") else "error")


@pytest.mark.parametrize("order", [1, -1])
def test_another_spelling_holds_nothing_out(dataset, order):
    rows = [
        dataset.row("a", source="RAISE"),
        dataset.row("b", source="raise ", split="train"),
        dataset.row("c", label=1, generatorFamily="Flux", source="web"),
        dataset.row("d", label=1, generatorFamily="flux", source="web", split="train"),
    ][::order]
    outcomes = {outcome.rule: outcome for outcome in leakage(dataset.columns(*rows)) if outcome.total}
    assert outcomes.keys() == {"source-split", "family-split"}
    assert outcomes["source-split"].kept[0].message.startswith("real source 'RAISE' is in train and test")
    assert {row.id for row in outcomes["family-split"].kept[0].rows} == {"c", "d"}


def test_every_rule_has_a_broken_example(dataset):
    assert {outcome.rule for outcome in leakage(dataset.columns(dataset.row("a")))} == set(BROKEN)


def test_a_finding_says_what_is_where(dataset):
    rows = [dataset.row("a", split="train"), dataset.row("b", baseId="a", source="camera-train")]
    findings = [str(finding) for outcome in leakage(dataset.columns(*rows)) for finding in outcome.kept]
    assert findings == [
        "set.jsonl:1: base-split: base 'a' is in train and test: 'a' (set.jsonl:1), 'b' (set.jsonl:2)",
        "set.jsonl:1: source-split: real source 'camera-train' is in train and test: 'a' (set.jsonl:1), 'b' (set.jsonl:2)",
    ]


def test_a_source_of_generated_images_may_be_in_every_split(dataset):
    rows = [dataset.row(split, label=1, split=split, source="raise") for split in ("train", "calibration", "test")]
    assert rules(leakage(dataset.columns(*rows))) == set()


def test_a_family_named_by_a_real_row_is_no_leak(dataset):
    rows = [dataset.row("a", label=1, generatorFamily="flux"), dataset.row("b", split="train", generatorFamily="flux")]
    assert rules(leakage(dataset.columns(*rows))) == {"real-generator"}


def test_a_derivative_may_have_the_bytes_of_its_base(dataset):
    rows = [
        dataset.row("a", **SAME),
        dataset.row("b", **SAME, baseId="a", transform="metadata-stripped"),
        dataset.row("c", **SAME, baseId="a", resolutionGroup="thumbnail"),
    ]
    columns = dataset.columns(*rows)
    assert rules(leakage(columns)) == set()
    assert same_bytes_of_a_base(columns) == 2
    again = dataset.columns(*rows, dataset.row("d", **SAME, baseId="a"))
    assert rules(leakage(again)) == {"duplicate-bytes"}


def test_bytes_in_several_splits_are_one_finding(dataset):
    rows = [dataset.row("a", **SAME), dataset.row("b", **SAME), dataset.row("c", **SAME, split="train")]
    assert rules(leakage(dataset.columns(*rows))) == {"bytes-split"}


def test_a_finding_names_a_row_of_every_split_before_others(dataset):
    rows = [dataset.row(f"a{number}", split="train", splitGroup="g") for number in range(8)]
    (outcome,) = (one for one in leakage(dataset.columns(*rows, dataset.row("z", splitGroup="g"))) if one.total)
    assert [row.id for row in outcome.kept[0].rows] == ["a0", "a1", "a2", "a3", "z"]
    assert outcome.kept[0].row_count == 9
    assert str(outcome.kept[0]).endswith("'z' (set.jsonl:9) and 4 more")


def test_findings_are_kept_up_to_a_limit_and_counted_beyond(dataset):
    rows = [
        dataset.row(f"{number:03}-{split}", split=split, splitGroup=f"g{number:03}")
        for number in range(MAX_KEPT_OF_RULE + 5)
        for split in ("train", "test")
    ]
    (outcome,) = (one for one in leakage(dataset.columns(*rows)) if one.total)
    assert (len(outcome.kept), outcome.total) == (MAX_KEPT_OF_RULE, MAX_KEPT_OF_RULE + 5)
    assert outcome.kept[0].message == "split group 'g000' is in train and test"


def test_names_of_a_dataset_cannot_forge_lines(dataset):
    rows = [dataset.row("a", splitGroup="g\n\x1b[31m"), dataset.row("b", split="train", splitGroup="g\n\x1b[31m")]
    (outcome,) = (one for one in leakage(dataset.columns(*rows)) if one.total)
    assert str(outcome.kept[0]).isprintable()


SPLITS = ("train", "calibration", "test")


@st.composite
def any_rows(draw):
    """Few names, so that rows have much in common."""
    name = st.sampled_from(["p", "q", "r"])
    rows = []
    for number in range(draw(st.integers(1, 9))):
        label = draw(st.integers(0, 1))
        rows.append(
            {
                "id": draw(st.sampled_from(["p", "q"])) + str(number) if draw(st.booleans()) else f"i{number}",
                "baseId": draw(st.sampled_from(["p", "q", "i0", "i1"])),
                "sha256": draw(st.sampled_from(["0", "1", "2", "3"])) * 64,
                "label": label,
                "split": draw(st.sampled_from(SPLITS)),
                "source": draw(name),
                **({"generatorFamily": draw(name)} if label else {}),
                "contentGroup": "photo",
                "transform": draw(st.sampled_from(["none", "jpeg-75"])),
                "license": "CC0-1.0",
                **({"splitGroup": draw(name)} if draw(st.booleans()) else {}),
            }
        )
    return rows


@given(rows=any_rows(), data=st.data())
def test_the_order_of_rows_changes_no_finding(wide_dataset, told, rows, data):
    shuffled = data.draw(st.permutations(rows))
    assert told(leakage(wide_dataset.columns(*rows))) == told(leakage(wide_dataset.columns(*shuffled)))


@given(rows=any_rows())
def test_rules_find_what_comparing_all_with_all_finds(wide_dataset, rows):
    pairs = [(one, other) for one in rows for other in rows if one["id"] < other["id"]]
    crossing = [(one, other) for one, other in pairs if one["split"] != other["split"]]
    expected = {
        "bytes-split": {one["sha256"] for one, other in crossing if one["sha256"] == other["sha256"]},
        "bytes-label": {
            one["sha256"] for one, other in pairs if one["sha256"] == other["sha256"] and one["label"] != other["label"]
        },
        "base-split": {one["baseId"] for one, other in crossing if one["baseId"] == other["baseId"]},
        "source-split": {
            one["source"]
            for one, other in crossing
            if one["source"] == other["source"] and not one["label"] | other["label"]
        },
        "family-split": {
            one["generatorFamily"]
            for one, other in crossing
            if one["label"] and other["label"] and one["generatorFamily"] == other["generatorFamily"]
        },
        "group-split": {
            one["splitGroup"]
            for one, other in crossing
            if "splitGroup" in one and one["splitGroup"] == other.get("splitGroup")
        },
        "base-label": {
            one["baseId"] for one, other in pairs if one["baseId"] == other["baseId"] and one["label"] != other["label"]
        },
        "base-source": {
            one["baseId"] for one, other in pairs if one["baseId"] == other["baseId"] and one["source"] != other["source"]
        },
    }
    repeated = {
        one["sha256"]
        for one, other in pairs
        if one["sha256"] == other["sha256"] and (one["baseId"] != other["baseId"] or one["transform"] == other["transform"])
    }
    expected["duplicate-bytes"] = repeated - expected["bytes-split"]
    found = {outcome.rule: outcome.total for outcome in leakage(wide_dataset.columns(*rows))}
    assert {rule: found[rule] for rule in expected} == {rule: len(groups) for rule, groups in expected.items()}
    assert all(len(finding.rows) <= MAX_ROWS_NAMED for one in leakage(wide_dataset.columns(*rows)) for finding in one.kept)
