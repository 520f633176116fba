"""Figures of scores: per row and per base, by slice, never invented and never dropped."""

import json
import random

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.score_columns import FACETS, ScoreColumns
from pytest_benchbench.evidence.score_rows import ScoreRow, read_scores
from pytest_benchbench.reports.evaluation import SLICES, SliceError, evaluate, slices_of
from pytest_benchbench.reports.evaluation_document import evaluation_document
from pytest_benchbench.reports.evaluation_markdown import evaluation_blocks
from pytest_benchbench.statistics.intervals import clustered_interval, wilson_interval


@pytest.fixture
def row(score_files):
    return score_files.row


@pytest.fixture
def figures(score_files, valid_evaluation):
    """Evaluate rows; give the document."""

    def of(rows, *, manifest=None, by=()):
        source = read_scores(score_files.write(rows), manifest=manifest)
        return valid_evaluation(evaluation_document(source, by=slices_of(by)))

    return of


@pytest.fixture
def series(figures):
    """Evaluate rows of one series; give it."""

    def of(rows, **more):
        (line,) = figures(rows, **more)["results"]["series"]
        return line

    return of


def overall(line, quantity="score"):
    return line["scores"][quantity]["overall"]


def slice_of(line, name, value, quantity="score"):
    (found,) = [each for each in line["scores"][quantity]["slices"][name] if each["value"] == value]
    return found


def pair(row, base, label, full, thumbnail, **more):
    """Give the two derivatives of a base."""
    return [
        row(f"{base}~f", label, full, baseId=base, transform="t", resolutionGroup="full-res", **more),
        row(f"{base}~t", label, thumbnail, baseId=base, transform="t", resolutionGroup="thumbnail", **more),
    ]


def test_exact_counts_and_rates(series, row):
    rows = [row(f"a{n}", 1, 0.65 if n < 8 else 0.64) for n in range(10)]
    rows += [row(f"r{n}", 0, 0.9 if n < 1 else 0.1) for n in range(20)]
    found = overall(series(rows))
    assert found["confusion"] == {"tp": 8, "fn": 2, "tn": 19, "fp": 1}
    low, high = wilson_interval(8, 10)
    ai = {"k": 8, "n": 10, "rate": 0.8, "wilson95_low": low, "wilson95_high": high, "clustered95": None}
    assert found["ai_recall"] == ai
    assert found["real_recall"]["rate"] == 0.95
    assert found["false_positive_rate"]["rate"] == 0.05
    assert found["precision"]["rate"] == 8 / 9
    assert found["balanced_accuracy"] == 0.875
    assert found["brier"] == pytest.approx((8 * 0.35**2 + 2 * 0.36**2 + 0.81 + 19 * 0.01) / 30, abs=1e-15)
    assert found["bases"]["confusion"] == found["confusion"], "each row is a base of its own"


def test_a_class_that_is_missing_gives_null(series, row):
    line = series([row("a", 1, 0.9), row("b", 1, 0.1), row("c", 0, 0.1)])
    found = slice_of(line, "generatorFamily", "diffusion")
    assert found["ai_recall"]["rate"] == 0.5
    assert found["real_recall"] == {
        **dict.fromkeys(("rate", "wilson95_low", "wilson95_high", "clustered95")),
        "k": 0,
        "n": 0,
    }
    assert (found["balanced_accuracy"], found["false_positive_rate"]["rate"]) == (None, None)
    assert found["bases"]["balanced_accuracy"] is None


def test_a_detector_that_fails_on_every_real_image_has_no_false_positive_rate(series, row):
    """Of the rows there is nothing to say; of the bases, that all of them failed."""
    line = series([row("a", 1, 0.9), *(row(f"r{n}", 0, None, status="error") for n in range(3))])
    found = overall(line)
    assert line["statuses"] == {"error": 3, "scored": 1}
    assert (found["rows"], found["rows_with_score"], found["terminal"]) == (4, 1, {"error": 3})
    assert found["real_recall"]["n"] == 0
    assert (found["false_positive_rate"]["rate"], found["balanced_accuracy"]) == (None, None)
    assert found["bases"]["confusion"] == {"tp": 1, "fn": 0, "tn": 0, "fp": 3}
    assert found["bases"]["without_a_score"] == 3


def test_rows_that_have_no_score_at_all_have_figures_of_bases(series, row):
    found = overall(series([row("a", 1, None, status="timeout"), row("b", 0, None, status="too-small")]))
    assert found["bases"]["confusion"] == {"tp": 0, "fn": 1, "tn": 0, "fp": 1}
    assert (found["rows_with_score"], found["brier"]) == (0, None)


def test_one_wrong_derivative_fails_its_base_and_no_more(series, row):
    good = [pair(row, "a1", 1, 0.9, 0.9), pair(row, "r1", 0, 0.1, 0.1), pair(row, "r2", 0, 0.1, 0.1)]
    rows = [one for each in good for one in each]
    assert overall(series(rows))["bases"]["confusion"] == {"tp": 1, "fn": 0, "tn": 2, "fp": 0}
    rows[-1]["score"] = 0.65
    line = series(rows)
    assert overall(line)["bases"]["confusion"] == {"tp": 1, "fn": 0, "tn": 1, "fp": 1}
    assert overall(line)["confusion"] == {"tp": 2, "fn": 0, "tn": 3, "fp": 1}
    assert slice_of(line, "resolutionGroup", "full-res")["bases"]["confusion"] == {"tp": 1, "fn": 0, "tn": 2, "fp": 0}
    assert slice_of(line, "resolutionGroup", "thumbnail")["bases"]["confusion"] == {"tp": 1, "fn": 0, "tn": 1, "fp": 1}


def test_a_missing_derivative_fails_its_base(series, row):
    rows = [*pair(row, "a1", 1, 0.9, 0.9), *pair(row, "r1", 0, 0.1, 0.1)]
    line = series(rows[:-1])
    assert line["required"] == [
        {"transform": "t", "resolutionGroup": "full-res"},
        {"transform": "t", "resolutionGroup": "thumbnail"},
    ]
    assert overall(line)["bases"]["confusion"] == {"tp": 1, "fn": 0, "tn": 0, "fp": 1}
    assert overall(line)["bases"]["with_missing_derivatives"] == 1
    assert overall(line)["confusion"] == {"tp": 2, "fn": 0, "tn": 1, "fp": 0}
    assert slice_of(line, "source", "camera")["bases"]["confusion"]["fp"] == 1, "all derivatives are required in a source"
    assert slice_of(line, "resolutionGroup", "full-res")["bases"]["confusion"]["fp"] == 0
    thumbnails = slice_of(line, "resolutionGroup", "thumbnail")
    assert (thumbnails["rows"], thumbnails["bases"]["count"]) == (1, 2)
    assert thumbnails["bases"]["confusion"]["fp"] == 1, "the base has no row there, and should have"


def test_a_base_is_in_a_slice_as_a_whole(series, row):
    rows = [*pair(row, "a1", 1, 0.9, 0.9), *pair(row, "r1", 0, 0.1, 0.1)]
    rows[1]["provider"] = rows[3]["provider"] = "webgpu"
    line = series(rows)
    for provider in ("wasm", "webgpu"):
        assert slice_of(line, "provider", provider)["bases"]["confusion"] == {"tp": 1, "fn": 0, "tn": 1, "fp": 0}
    rows.append({**row("r1~x", 0, None, status="timeout", provider=None), "baseId": "r1", "transform": "t"})
    line = series(rows, by=["provider,resolutionGroup"])
    for provider in ("wasm", "webgpu", None):
        assert slice_of(line, "provider", provider)["bases"]["confusion"]["fp"] == 1, "a failure stays with its base"
    assert slice_of(line, "provider,resolutionGroup", ["webgpu", "thumbnail"])["bases"]["confusion"]["fp"] == 0


def test_a_manifest_says_what_is_required_and_what_is_absent(figures, row, score_files):
    rows = [*pair(row, "a1", 1, 0.9, 0.9), *pair(row, "r1", 0, 0.1, 0.1)]
    other = [row("t1", 0, split="train", transform="only-in-training")]
    manifest = score_files.manifest([*rows, *other])
    document = figures([rows[0], rows[2]], manifest=manifest)
    (line,) = document["results"]["series"]
    assert len(line["required"]) == 2
    assert line["absent"] == {"count": 2, "listed": ["a1~t", "r1~t"]}
    assert overall(line)["bases"]["confusion"] == {"tp": 0, "fn": 1, "tn": 0, "fp": 1}
    assert document["gaps"] == ["2 rows of the test split of dataset.jsonl without a score"]
    whole = figures(rows, manifest=manifest)
    assert whole["gaps"] == []
    assert whole["results"]["series"][0]["absent"] == {"count": 0, "listed": []}


def test_rows_without_base_have_no_figures_of_bases(series, row):
    line = series([row("a", 1, 0.9, baseId=None, source="x"), row("b", 0, 0.1, source="y")])
    assert overall(line)["bases"] is None
    assert overall(line)["confusion"] == {"tp": 1, "fn": 0, "tn": 1, "fp": 0}
    assert slice_of(line, "source", "x")["bases"] is None
    assert slice_of(line, "source", "y")["bases"]["count"] == 1


def test_rows_of_one_base_do_not_narrow_the_clustered_interval(series, row):
    rows = [row(f"b{base}~{n}", 0, 0.9 if base == 0 else 0.1, transform="t") for base in range(10) for n in range(5)]
    recall = overall(series([*rows, row("a", 1, transform="t")]))["real_recall"]
    expected = clustered_interval([0] + [5] * 9, [5] * 10)
    assert (recall["k"], recall["n"]) == (45, 50)
    assert recall["clustered95"] == {
        "low": expected.low,
        "high": expected.high,
        "effective_n": expected.effective_n,
        "design_effect": expected.design_effect,
    }


def test_pixels_are_a_table_of_their_own(series, row):
    line = series([row("a", 1, 0.9, pixelScore=0.1), row("b", 0, 0.1, pixelScore=0.1), row("c", 0, 0.1)])
    assert set(line["scores"]) == {"score", "pixelScore"}
    assert overall(line)["confusion"] == {"tp": 1, "fn": 0, "tn": 2, "fp": 0}
    pixels = overall(line, "pixelScore")
    assert pixels["confusion"] == {"tp": 0, "fn": 1, "tn": 1, "fp": 0}
    assert (pixels["rows_without_this_score"], pixels["rows_with_score"]) == (1, 2)
    assert pixels["bases"]["confusion"] == {"tp": 0, "fn": 1, "tn": 1, "fp": 1}, "what was not asked did not succeed"


def test_raw_scores_are_told_as_such(series, row):
    assert set(series([row("a", 1, None, rawScore=0.7)])["scores"]) == {"rawScore"}


def test_the_usual_slices_and_those_asked_for(series, row):
    line = series([row("a"), row("b", 0, 0.1)], by=["source,transform", "modelSha256"])
    said = [name for name in SLICES if name != "generatorModel"]
    slices = line["scores"]["score"]["slices"]
    assert set(slices) == {*said, "source,transform", "modelSha256"}
    assert slice_of(line, "source,transform", ["camera", "none"])["rows"] == 1


@pytest.mark.parametrize("by", ["licence", "source,", "", "source,source", "label"])
def test_what_is_no_slice_is_refused(by):
    with pytest.raises(SliceError):
        slices_of([by])


def test_the_worst_slices_come_first(series, row):
    rows = [row(f"x{n}", 0, 0.9, source="one") for n in range(1)]
    rows += [row(f"y{n}", 0, 0.9 if n < 45 else 0.1, source="many") for n in range(50)]
    rows += [row(f"z{n}", 0, 0.1, source="good") for n in range(50)] + [row("a", 1, 0.9)]
    scores = series(rows)["scores"]["score"]
    assert [line["value"] for line in scores["slices"]["source"]][:3] == ["many", "one", "collection"]
    worst = scores["worst_slices"][0]
    assert (worst["slice"], worst["value"], worst["class"], worst["unit"]) == ("source", "many", "real", "base")
    assert (worst["wrong"]["k"], worst["wrong"]["n"]) == (45, 50)
    assert {(line["slice"], line["value"]) for line in scores["worst_slices"]} == {("source", "many"), ("source", "one")}
    assert scores["wrong_slices"] == 2


def test_splits_and_adapters_are_never_pooled(figures, row, score_files):
    rows = [row("a"), row("b", split="calibration")]
    assert [line["split"] for line in figures(rows)["results"]["series"]] == ["calibration", "test"]
    lines = [score_files.evidence_row(row("a", score=score), adapter=name) for name, score in (("y", 0.9), ("x", 0.1))]
    document = evaluation_document(read_scores(score_files.write(lines, "evidence.jsonl")))
    told = [(line["adapter"], overall(line)["confusion"]["tp"]) for line in document["results"]["series"]]
    assert told == [("x", 0), ("y", 1)]


@pytest.mark.parametrize("name", ["modelSha256", "calibratorSha256", "preprocessingVersion"])
@pytest.mark.parametrize("other", ["b" * 64, None])
def test_rows_of_two_models_have_no_figures(series, row, name, other):
    line = series([row("b", **{name: "c" * 64}), row("a", **{name: other})])
    assert line["scores"] == {}
    assert line["refused"].startswith(f"{name}: rows differ in it (")
    assert "row 'a' (" in line["refused"]
    assert "row 'b' (" in line["refused"]
    assert series([row("b", **{name: "c" * 64}), row("a", **{name: "c" * 64})])["refused"] is None


def test_a_terminal_row_needs_no_model(series, row):
    line = series([row("a"), row("b", 0, None, status="error", modelSha256=None, preprocessingVersion=None)])
    assert (line["refused"], line["identity"]["modelSha256"]) == (None, ["a" * 64])


def test_rows_without_label_have_no_figures(series, row):
    line = series([row("b", None), row("a", None), row("c", 1)])
    assert line["refused"].startswith("label: 2 rows have none, such as row 'a' (")


def test_a_base_of_both_labels_has_no_figures(series, row):
    line = series([row("x~1", 1, baseId="x"), row("x~2", 0, baseId="x")])
    assert line["refused"].startswith("label: the base 'x' is AI in row 'x~1' (")


def test_scores_that_are_none_are_flagged(series, row):
    def warnings(ai, real):
        rows = [row(f"a{n}", 1, score) for n, score in enumerate(ai)]
        rows += [row(f"r{n}", 0, score) for n, score in enumerate(real)]
        return series(rows)["scores"]["score"]["distribution"]["warnings"]

    assert warnings([0.5] * 2, [0.5] * 2) == ["all-equal", "one-sided"]
    assert warnings([1.0] * 60, [0.0] * 60) == ["few-values", "saturated"]
    assert warnings([0.7, 0.8], [0.9, 0.99]) == ["one-sided"]
    assert warnings([0.7, 0.8], [0.1, 0.2]) == []
    assert warnings([0.7 + n / 1000 for n in range(60)], [0.1 + n / 1000 for n in range(60)]) == []


def test_scores_are_counted_in_bins_by_class(series, row):
    scores = series([row("a", 1, 1), row("b", 1, 0.95), row("c", 0, 0.02)])["scores"]["score"]
    assert scores["histogram"]["ai"] == [0] * 19 + [2]
    assert scores["histogram"]["real"] == [1] + [0] * 19
    last = scores["reliability"][-1]
    assert (last["n"], last["detected_expected"], last["mean_score"]) == (2, 2, 0.975)


def test_many_slices_are_counted_and_the_worst_named(series, row):
    rows = [row(f"r{n}", 0, 0.9, source=f"s{n:02}") for n in range(30)]
    scores = series([*rows, row("a")])["scores"]["score"]
    assert (len(scores["worst_slices"]), scores["wrong_slices"], len(scores["slices"]["source"])) == (20, 30, 31)


def test_no_order_of_rows_changes_a_byte(series, row):
    draw = random.Random(5)
    rows = []
    for base in range(40):
        label = base % 2
        rows += pair(row, f"b{base}", label, draw.random(), draw.random(), source=f"s{base % 3}", pixelScore=draw.random())
    rows[7] = {**rows[7], "status": "timeout"}
    del rows[7]["score"], rows[7]["pixelScore"]
    wanted = json.dumps(series(rows, by=["source,transform"]))
    for _ in range(3):
        draw.shuffle(rows)
        assert json.dumps(series(rows, by=["source,transform"])) == wanted


def test_evidence_and_plain_rows_give_the_same_figures(figures, row, score_files):
    rows = [*pair(row, "a1", 1, 0.9, 0.2), *pair(row, "r1", 0, 0.1, 0.1)]
    (plain,) = figures(rows)["results"]["series"]
    document = evaluation_document(read_scores(score_files.evidence(rows)))
    assert document["results"]["series"] == [{**plain, "adapter": "onnx"}]


def test_the_tables_for_people_hold_what_the_document_says(figures, row):
    rows = [*pair(row, "a1", 1, 0.9, 0.9), *pair(row, "r|1", 0, 0.1, 0.9, source="my|camera", pixelScore=0.5)]
    rows[0] = {**rows[0], "status": "timeout", "score": None}
    document = figures([{name: value for name, value in one.items() if value is not None} for one in rows])
    text = "\n\n".join(evaluation_blocks(document["results"]["series"], 0.65))
    assert "| rows | 3 | 1 | 0 | 1 | 1 | 1.0000 (1/1) | 0.5000 (1/2) |" in text
    assert "| bases | 2 | 0 | 1 | 0 | 1 |" in text
    assert "my\\|camera" in text
    assert "#### Pixels only" in text
    assert "4 rows: 3 scored, 1 timeout" in text


def test_a_series_without_figures_is_told_in_the_tables(figures, row):
    document = figures([row("a"), row("b", modelSha256="b" * 64)])
    assert any(
        block.startswith("No figures: modelSha256") for block in evaluation_blocks(document["results"]["series"], 0.65)
    )


facet_values = st.sampled_from([None, "x", "y"])
any_rows = st.lists(
    st.builds(
        dict,
        base=st.integers(0, 6),
        score=st.none() | st.sampled_from([0.0, 0.3, 0.65, 1.0]),
        transform=facet_values,
        provider=facet_values,
        resolutionGroup=st.sampled_from([None, "full-res", "thumbnail"]),
    ),
    min_size=1,
    max_size=30,
)


@given(any_rows, st.randoms(use_true_random=False))
def test_counts_add_up_in_every_slice_and_order(drawn, draw):
    rows = [
        ScoreRow(
            id=f"r{number}",
            baseId=f"b{one['base']}",
            label=one["base"] % 2,
            score=one["score"],
            status="scored" if one["score"] is not None else "timeout",
            source=(None, "x", "y")[one["base"] % 3],
            **{name: one[name] for name in ("transform", "provider", "resolutionGroup")},
        )
        for number, one in enumerate(drawn)
    ]
    by = (("source", "transform"), ("provider", "source"))
    (line,) = evaluate(ScoreColumns.of(rows, "x"), by=by)
    (mixed,) = evaluate(ScoreColumns.of(draw.sample(rows, len(rows)), "x"), by=by)
    assert msgspec.json.encode(line) == msgspec.json.encode(mixed)
    bases = {row.baseId: row.label for row in rows}
    for scores in line["scores"].values():
        whole = scores["overall"]
        assert whole["bases"]["count"] == len(bases)
        for name, label in (("ai_recall", 1), ("real_recall", 0)):
            assert whole["bases"][name]["n"] == list(bases.values()).count(label)
        for lines in [[whole], *scores["slices"].values()]:
            assert sum(each["rows"] for each in lines) == len(rows)
            for key in ("tp", "fn", "tn", "fp"):
                assert sum(each["confusion"][key] for each in lines) == whole["confusion"][key]
            for each in lines:
                assert each["rows"] == each["rows_with_score"] + sum(each["terminal"].values())
                assert sum(each["confusion"].values()) == each["rows_with_score"]
                assert sum(each["bases"]["confusion"].values()) == each["bases"]["count"]
                for told in (each, each["bases"]):
                    ai, real = told["ai_recall"]["rate"], told["real_recall"]["rate"]
                    assert (told["balanced_accuracy"] is None) == (ai is None or real is None)
                # a base succeeds only if every one of its rows was right, so bases never look better
                assert each["bases"]["confusion"]["tp"] <= each["confusion"]["tp"]
                assert each["bases"]["confusion"]["tn"] <= each["confusion"]["tn"]


def test_every_facet_can_be_a_slice(series, row):
    slices = series([row("a"), row("b", 0, 0.1)], by=FACETS)["scores"]["score"]["slices"]
    assert set(FACETS) <= set(slices)
