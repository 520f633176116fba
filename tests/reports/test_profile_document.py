"""What the processes of a profile come to, from processes made by hand."""

import dataclasses

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.evidence.observed_run import ObservedRun
from pytest_benchbench.reports.profile_document import (
    BUSY_LOAD,
    NEVER_DIVIDED,
    WIDE_WALL,
    Process,
    ProcessCost,
    ProfiledManifest,
    build_profile,
    measured_nothing,
)

IDLE = (0.1, 0.2, 0.3)

OBSERVED = ObservedRun(
    run_id="run-1",
    arguments=("cases.jsonl", "--bench-run-dir=here", "--override-ini=cache_dir=there", "-q"),
    manifests=("a" * 64,),
    evidence_sha256="e" * 64,
    rows=4,
    statuses={"detected": 3, "not_detected": 1},
    answers_sha256="d" * 64,
    adapters=({"name": "toy", "version": "1", "source_sha256": "b" * 64, "options": {}, "weights": []},),
    code={"kernel_sha256": "c" * 64, "commit": None, "dirty": None},
    largest={"image": {"width": 512, "height": 256}},
    by_workers=False,
    may_connect=False,
    left_out=0,
    lost=0,
)


def process(number, wall=1.0, peak_mib=100, *, fault=None, **observed):
    cost = ProcessCost(wall, 0.5, 0.25, int(peak_mib * 2**20))
    run = None if fault else dataclasses.replace(OBSERVED, **observed)
    return Process("cases.jsonl", number, f"1-cases/repetition-{number}", 0, cost, run, fault)


def profile(*processes, repeat=None, load=IDLE, needs_network=False):
    manifest = ProfiledManifest("cases.jsonl", "a" * 64, "toy", 4, needs_network, list(processes))
    return build_profile([manifest], repeat=repeat or len(processes), suite=None, split=None, load=load)


@given(st.lists(st.floats(0.01, 1e4), min_size=1, max_size=40))
def test_percentiles_are_nearest_rank_and_of_whole_processes(walls):
    document = profile(*(process(number, wall) for number, wall in enumerate(walls, 1)))
    ascending = sorted(wall * 1e3 for wall in walls)
    figures = document["figures"]
    for name, percent in (("p50", 50), ("p90", 90)):
        assert figures[f"cases.jsonl wall_ms {name}"] == ascending[-(-percent * len(walls) // 100) - 1]
    assert figures["cases.jsonl wall_ms min"] == ascending[0]
    assert figures["cases.jsonl wall_ms max"] == ascending[-1]
    assert document["samples"]["cases.jsonl"]["wall_ms"] == [wall * 1e3 for wall in walls]


def test_figures_and_samples_have_names_and_nothing_is_divided():
    document = profile(process(1), process(2), process(3))
    summaries = ("p50", "p90", "min", "max")
    assert document["figures"] == {
        f"cases.jsonl {quantity} {name}": value
        for quantity, value in (("wall_ms", 1000.0), ("processor_ms", 750.0), ("peak_mib", 100.0))
        for name in summaries
    }
    assert list(document["samples"]["cases.jsonl"]) == ["wall_ms", "user_ms", "system_ms", "processor_ms", "peak_mib"]
    assert (document["schema_version"], document["benchmark"], document["wanted"]) == (1, "profile", {})
    assert document["never_divided"] == NEVER_DIVIDED
    assert document["warnings"] == []


def test_a_manifest_is_described():
    (line,) = profile(process(1), process(2))["manifests"]
    assert line["arguments"] == ["cases.jsonl", "-q"]
    assert line["largest"] == {"image": {"width": 512, "height": 256}}
    assert (line["statuses_stable"], line["answers_stable"], line["processes"], line["died"]) == (True, True, 2, 0)
    assert line["adapters"] == list(OBSERVED.adapters)
    assert line["repetitions"][1]["cost"] == {"wall_s": 1.0, "user_s": 0.5, "system_s": 0.25, "peak_bytes": 100 * 2**20}


@pytest.mark.parametrize(("slowest", "warned"), [(1 + WIDE_WALL, False), (1 + WIDE_WALL + 0.01, True)])
def test_wall_times_that_spread_widely_are_warned_of(slowest, warned):
    document = profile(process(1, 1.0), process(2, 1.0), process(3, slowest))
    assert any("wall times spread over" in warning for warning in document["warnings"]) is warned


@pytest.mark.parametrize(("largest", "warned"), [(110, False), (111, True)])
def test_peaks_that_spread_widely_are_warned_of(largest, warned):
    document = profile(process(1), process(2), process(3, peak_mib=largest))
    assert any("peaks spread over" in warning for warning in document["warnings"]) is warned


@pytest.mark.parametrize(
    ("load", "warned"), [((BUSY_LOAD, 0, 0), "was busy"), ((BUSY_LOAD - 0.01, 9, 9), None), (None, "is not told")]
)
def test_a_busy_machine_is_warned_of(load, warned):
    warnings = profile(process(1), process(2), load=load)["warnings"]
    assert [warned in warning for warning in warnings] == ([True] if warned else [])


def test_a_process_that_died_is_in_no_figure():
    document = profile(process(1, 9.0, 900, fault="pytest ended by SIGKILL: x"), process(2), process(3))
    (line,) = document["manifests"]
    assert document["figures"]["cases.jsonl wall_ms max"] == 1000.0
    assert (line["died"], line["cost"]["wall_ms"]["n"], len(line["repetitions"])) == (1, 2, 3)
    assert document["warnings"] == ["cases.jsonl: repetition 1 is in no figure: pytest ended by SIGKILL: x"]


def test_where_all_died_there_are_no_figures():
    document = profile(process(1, fault="x"))
    (line,) = document["manifests"]
    assert (document["figures"], line["cost"], line["statuses"], line["statuses_stable"]) == ({}, {}, {}, None)
    assert not measured_nothing(line)


def test_status_counts_that_differ_are_told():
    document = profile(process(1), process(2, statuses={"detected": 4}))
    assert document["manifests"][0]["statuses_stable"] is False
    assert document["warnings"] == [
        "cases.jsonl: status counts differ between repetitions; the processes did not do the same work"
    ]


def test_rows_that_changed_places_are_told():
    (warning,) = profile(process(1), process(2, answers_sha256="f" * 64))["warnings"]
    assert warning == "cases.jsonl: status counts agree between repetitions, but not which row has which status"


@pytest.mark.parametrize(
    ("observed", "said"),
    [
        ({"statuses": {"unavailable": 4}}, "cases.jsonl: nothing was measured: "),
        ({"statuses": {"detected": 1, "error": 2, "unavailable": 1}}, "cases.jsonl: 3 of 4 rows have no verdict; "),
        ({"left_out": 2}, "cases.jsonl: 2 rows were left out"),
        ({"by_workers": True}, "cases.jsonl: workers of pytest-xdist ran rows; "),
        ({"may_connect": True}, "cases.jsonl: rows may use the network; "),
    ],
)
def test_what_makes_figures_mean_less_is_told(observed, said):
    (warning,) = profile(process(1, **observed), process(2, **observed))["warnings"]
    assert warning.startswith(said)


def test_an_adapter_that_needs_the_network_is_named():
    unavailable = {"statuses": {"unavailable": 4}}
    (refused,) = profile(process(1, **unavailable), process(2, **unavailable), needs_network=True)["warnings"]
    assert refused.endswith("; toy needs the network: give -- --bench-network=allow")
    (asked,) = profile(process(1, may_connect=True), process(2, may_connect=True), needs_network=True)["warnings"]
    assert asked.startswith("cases.jsonl: the adapter toy needs the network; ")


def test_a_single_process_says_nothing_about_noise():
    assert profile(process(1))["warnings"] == ["cases.jsonl: one process says nothing about noise; give --repeat 3 or more"]


def test_an_interrupted_profile_says_so():
    warnings = profile(process(1), process(2), repeat=5)["warnings"]
    assert warnings == ["cases.jsonl: 2 of 5 processes ran"]
