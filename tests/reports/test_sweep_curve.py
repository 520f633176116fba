"""A curve from end to end: a sweep built by the command, run by pytest, and every number of its report counted again."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from statsmodels.stats.proportion import proportion_confint

from pytest_benchbench.cli import main
from pytest_benchbench.cohorts.attacks.registry import families_of

FAMILY = "jpeg"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Three pictures drawn by formula, three DWT-DCT marks each, through all qualities of JPEG."""
    folder = tmp_path_factory.mktemp("sweep") / "cohort"
    arguments = ["--family", FAMILY, "--adapter", "dwt-dct", "--carriers", "synthetic-image", "--size", "256"]
    built = CliRunner().invoke(main, ["cohort", "sweep", *arguments, "--output-dir", str(folder)])
    assert built.exit_code == 0, built.output
    return folder / "manifest.jsonl"


def rows_of(run):
    """Give what the evidence says, one line a row."""
    lines = []
    for line in (run / "evidence.jsonl").read_text().splitlines():
        row = json.loads(line)
        case = row["case"]
        lines.append(
            {
                "pair": case["pair_id"],
                "state": case["state"],
                "strength": case["transform"]["parameters"].get("attack", {}).get("strength"),
                "artifact": row["artifact"]["sha256"],
                "detected": row["detection"]["status"] == "detected",
                "bits": row["detection"]["message_bit_accuracy"],
                "psnr": row["fidelity"].get("psnr_db"),
            }
        )
    return pd.DataFrame(lines)


def test_a_sweep_gives_a_curve_from_weak_to_strong(sweep, pytester):
    run = pytester.path / "run"
    result = pytester.runpytest_subprocess(str(sweep), f"--bench-run-dir={run}", "-p", "no:cacheprovider")
    # the run as such is not asked here: some marks are missed without any attack
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    results = json.loads((run / "report.json").read_text())["results"]
    rows = rows_of(run)
    grid = [attack.strength for attack in families_of("image")[FAMILY]]

    (curve,) = results["robustness"]
    points = curve["points"]
    assert (curve["strength_order"], curve["carriers"]) == ("weak_to_strong", 3)  # carriers, each with three marks
    assert [point["strength"] for point in points] == [None, *grid]
    for point in points:
        same = rows.state == ("marked" if point["strength"] is None else "attacked")
        shown = rows[same & (rows.strength.isna() if point["strength"] is None else rows.strength == point["strength"])]
        files = shown.drop_duplicates("artifact")
        low, high = proportion_confint(files.detected.sum(), len(files), method="wilson")
        rate = point["detected_rate_of_artifacts"]
        assert (point["rows"], rate["k"], rate["n"]) == (len(shown), files.detected.sum(), len(files))
        assert (rate["wilson95_low"], rate["wilson95_high"]) == (pytest.approx(low), pytest.approx(high))
        for name, column in (("message_bit_accuracy", "bits"), ("psnr_db", "psnr")):
            values = shown[column].dropna()
            assert (point[name]["n"], point[name]["min"], point[name]["max"]) == (len(values), values.min(), values.max())
            assert point[name]["median"] == values.quantile(0.5, interpolation="inverted_cdf")
    rates = [point["detected_rate_of_artifacts"]["rate"] for point in points]
    assert rates[0] > rates[-1] == 0
    medians = [point["psnr_db"]["median"] for point in points[1:]]
    assert medians[-1] == min(medians)  # not monotone: against the unmarked picture, weak JPEG takes some of the mark away

    before = rows[rows.state == "marked"].set_index("pair").detected
    assert [line["transform"] for line in results["transitions"]] == sorted(f"jpeg-{quality:g}" for quality in grid)
    for line in results["transitions"]:
        after = rows[rows.strength == float(line["transform"].removeprefix("jpeg-"))].set_index("pair").detected
        both = pd.crosstab(before, after.reindex(before.index))
        cells = {"kept": (True, True), "lost": (True, False), "gained": (False, True), "absent": (False, False)}
        assert {name: line[name] for name in cells} == {name: both.stack().get(cell, 0) for name, cell in cells.items()}
        assert (line["pairs"], line["undecided"], line["unpaired"]) == (9, 0, 0)

    clean, asserted = results["confusion"][1], results["confusion"][0]
    assert (clean["expected"], clean["detected"] + clean["not_detected"]) == ("not_detected", 9)
    assert (asserted["expected"], asserted["detected"]) == ("detected", int(before.sum()))
    assert "### dwt-dct: jpeg (image, 3 bases, weak to strong)" in (run / "report.md").read_text()
