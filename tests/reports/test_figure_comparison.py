"""Figures compared: direction, noise, and repeated measurements that must not be a regression."""

import json
import random
import statistics

import pytest

from pytest_benchbench.reports.figure_comparison import FiguresError, compare_figures, figure_lines, read_figures


@pytest.fixture
def measured(tmp_path):
    """Read documents of figures that were written to one file, one after the other."""

    def measure(*documents):
        path = tmp_path / "figures.json"
        path.write_text("\n".join(json.dumps(document, indent=2) for document in documents))
        return read_figures(path)

    return measure


def document(figures, *, wanted=(), samples=(), **more):
    return {
        "schema_version": 1,
        "benchmark": "whole_run",
        "parameters": {"rows": 1000},
        "machine": {"processors": 2},
        "versions": {"python": "3.11.7"},
        "figures": figures,
        "wanted": dict(wanted),
        "samples": dict(samples),
        **more,
    }


def repeated(name, values, **more):
    return [document({name: value}, **more) for value in values]


def only(comparison):
    (figure,) = comparison["figures"]
    return figure


@pytest.mark.parametrize(
    ("name", "wanted", "better"),
    [
        ("a ratio", {"a ratio": "<= 4"}, "smaller"),
        ("a ratio", {"a ratio": "< 0.8"}, "smaller"),
        ("times faster", {"times faster": ">= 15"}, "larger"),
        ("seconds", {"seconds": "0.85 to 1.15"}, None),
        ("a ratio", {}, None),
        ("processor seconds", {}, "smaller"),
        ("peak MiB", {}, "smaller"),
        ("cases.jsonl wall_ms p50", {}, "smaller"),
        ("microseconds a row", {}, "smaller"),
        ("mib_over_empty", {}, "smaller"),
        ("rows per second", {}, None),
    ],
)
def test_which_direction_is_worse_is_told_or_lies_in_the_unit(measured, name, wanted, better):
    documents = measured(document({name: 1.0}, wanted=wanted))
    assert only(compare_figures(documents, documents))["better"] == better


def test_worse_and_beyond_the_noise_is_a_regression(measured):
    old, new = (measured(*repeated("processor seconds", values)) for values in ([10, 10.2, 9.9], [13, 13.1, 12.8]))
    comparison = compare_figures(old, new)
    figure = only(comparison)
    assert (figure["ratio"], figure["worse_by"], figure["beyond_noise"]) == (1.3, 1.3, True)
    assert [reason["rule"] for reason in comparison["regressions"]] == ["worse"]
    assert compare_figures(new, old)["regressions"] == []
    assert compare_figures(old, new, max_slowdown=1.4)["regressions"] == []


def test_where_larger_is_better_less_is_a_regression(measured):
    old, new = (
        measured(*repeated("times faster", values, wanted={"times faster": ">= 15"}))
        for values in ([20, 21, 22], [10, 10.5, 11])
    )
    assert only(compare_figures(old, new))["worse_by"] == 2.0
    assert len(compare_figures(old, new)["regressions"]) == 1
    assert compare_figures(new, old)["regressions"] == []


def test_worse_within_the_noise_is_none(measured):
    old, new = (measured(*repeated("processor seconds", values)) for values in ([10, 10.2, 14], [13, 13.1, 12.8]))
    assert not only(compare_figures(old, new))["beyond_noise"]
    assert compare_figures(old, new)["regressions"] == []


@pytest.mark.parametrize("count", [1, 2])
def test_with_few_measurements_the_noise_is_unknown_and_nothing_is_decided(measured, count):
    old, new = (measured(*repeated("processor seconds", values)) for values in ([10] * count, [90, 91, 92]))
    assert only(compare_figures(old, new))["beyond_noise"] is None
    assert compare_figures(old, new)["regressions"] == []


def test_noise_is_that_of_the_figures_own_samples(measured):
    samples = {"pytest": [{"wall": 10.0, "peak": 1.0}, {"wall": 11.0, "peak": 9.0}, {"wall": 12.0, "peak": 5.0}]}
    figure = only(compare_figures(*[measured(document({"pytest wall seconds": 11.0}, samples=samples))] * 2))
    assert figure["old"] == {"value": 11.0, "low": 10.0, "high": 12.0, "values": 3}


def test_a_figure_of_a_profile_finds_its_samples(measured):
    samples = {"cases.jsonl": {"wall_ms": [10.0, 11.0, 12.0], "peak_mib": [100.0, 100.0, 101.0]}}
    figure = only(compare_figures(*[measured(document({"cases.jsonl peak_mib p50": 100.0}, samples=samples))] * 2))
    assert (figure["old"]["low"], figure["old"]["high"]) == (100.0, 101.0)


def test_a_quotient_has_the_widest_noise_of_all_samples(measured):
    samples = {"pytest": [10.0, 11.0, 12.0], "plain_loop": [8.0, 10.0, 13.0]}
    figure = only(compare_figures(*[measured(document({"pytest ratio": 1.1}, samples=samples))] * 2))
    assert (figure["old"]["low"], figure["old"]["high"]) == pytest.approx((1.1 - 0.55, 1.1 + 0.55))


def test_samples_that_are_no_repetitions_are_passed_over(measured):
    samples = {
        "few": [1.0, 2.0],
        "texts": ["a", "b", "c"],
        "flags": [True, False, True],
        "number": 3,
        "empty": [],
        "mixed": [1, "a", 2],
    }
    assert only(compare_figures(*[measured(document({"seconds": 1.0}, samples=samples))] * 2))["beyond_noise"] is None


def test_measuring_again_is_hardly_ever_a_regression(measured):
    """Three rounds of a tenth of scatter each, of the same code: the rule must not cry wolf."""
    noise = random.Random(20261130)

    def rounds():
        walls = {name: [noise.lognormvariate(0, 0.1) for _ in range(3)] for name in ("pytest", "plain_loop")}
        ratio = statistics.median(walls["pytest"]) / statistics.median(walls["plain_loop"])
        figures = {"pytest ratio": ratio, "pytest seconds": statistics.median(walls["pytest"])}
        return measured(document(figures, wanted={"pytest ratio": "<= 1.25"}, samples=walls))

    assert sum(bool(compare_figures(rounds(), rounds())["regressions"]) for _ in range(300)) <= 2


def test_a_figure_that_is_not_positive_has_no_ratio(measured):
    old, new = (measured(*repeated("seconds", values)) for values in ([0, 0, 0], [1, 1, 1]))
    figure = only(compare_figures(old, new))
    assert (figure["ratio"], figure["worse_by"], figure["is_regression"]) == (None, None, False)


def test_figures_of_one_side_only_are_named(measured):
    comparison = compare_figures(measured(document({"a": 1.0, "b": 1.0})), measured(document({"b": 1.0, "c": 1.0})))
    assert ([figure["name"] for figure in comparison["figures"]], comparison["only_in_old"], comparison["only_in_new"]) == (
        ["b"],
        ["a"],
        ["c"],
    )


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (document({"a": 1.0}, benchmark="merging"), "different benchmarks: whole_run and merging"),
        (document({"a": 1.0}, parameters={"rows": 10}), r"different measurements: rows is 1000 and 10 \(--accept rows"),
        (document({"b": 1.0}), "no figure is on both sides"),
    ],
)
def test_other_measurements_are_refused(measured, other, told):
    with pytest.raises(FiguresError, match=told):
        compare_figures(measured(document({"a": 1.0})), measured(other))


def test_parameters_may_differ_where_one_says_so_and_repetitions_always(measured):
    old = measured(document({"a": 1.0}))
    other = measured(document({"a": 1.0}, parameters={"rows": 10, "repetitions": 5}))
    assert compare_figures(old, other, accepted={"rows"})["figures"]


def test_another_machine_and_other_versions_are_noted(measured):
    old = measured(document({"a": 1.0}))
    new = measured(document({"a": 1.0}, machine={"processors": 8}, versions={"python": "3.12.1"}))
    assert compare_figures(old, new)["notes"] == ["another machine: processors 2 -> 8", "python 3.11.7 -> 3.12.1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is empty"),
        ("{", "no figures of the performance suite"),
        ('{"schema_version": 2}', "no figures of the performance suite"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps(document({"a": 1.0})).replace("1.0", "NaN"), "a: not a finite number"),
        (json.dumps(document({"a": 1.0})) + " trailing", "no figures of the performance suite"),
    ],
)
def test_what_is_no_document_of_figures_is_refused(tmp_path, text, told):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(FiguresError, match=told):
        read_figures(tmp_path / "bad.json")


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(FiguresError, match="cannot be read"):
        read_figures(tmp_path / "absent.json")


def test_lines_for_people(measured):
    old, new = (measured(*repeated("processor seconds", values)) for values in ([10, 10.2, 9.9], [13, 13.1, 12.8]))
    comparison = {"old": {"name": "old.json"}, "new": {"name": "new.json"}, **compare_figures(old, new)}
    assert list(figure_lines(comparison)) == [
        "old.json -> new.json: whole_run",
        "processor seconds: 10 [9.9, 10.2] -> 13 [12.8, 13.1], 1.3 times, beyond the noise (smaller is better)",
        "regression: processor seconds: 1.3 times as bad, at most 1.2 allowed",
    ]
