import json
import xml.etree.ElementTree as ElementTree

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["power", *map(str, arguments)])


def document(*arguments):
    result = run("--json", *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_release_is_what_is_asked_about_by_default():
    found = document()
    assert found["policy"]["name"] == "release"
    assert found["bases"] == {"real": 500, "ai": 500, "real_sources": 3, "generator_families": 3, "derivatives": 1}
    assert found["pass"]["real"] == pytest.approx(0.757845, abs=5e-7)
    assert found["needed"]["each_class"] == [510, 581, 650]
    assert found["tolerable"]["false_positive"] == pytest.approx([0.00459681, 0.00349393, 0.00273712], abs=5e-9)


def test_every_option_counts():
    found = document(
        *("--real", 600, "--ai", 700, "--sources", 6, "--families", 4, "--derivatives", 12),
        *("--false-positive-rate", 0.0005, "--miss-rate", 0.01, "--attempts", 2),
    )
    assert found["bases"] == {"real": 600, "ai": 700, "real_sources": 6, "generator_families": 4, "derivatives": 12}
    assert found["rates"] == {"false_positive": 0.0005, "miss": 0.01}
    assert found["rates_of_bases"]["false_positive"] == pytest.approx(1 - 0.9995**12)
    once = found["pass"]["all"]
    assert found["attempts"] == {"count": 2, "passes_once": pytest.approx(1 - (1 - once) ** 2)}


def test_a_policy_of_ones_own_is_asked_about(tmp_path):
    policy = tmp_path / "own.yaml"
    policy.write_text(
        "name: own\nrules:\n  - {id: mine, metric: false_positive_rate, op: '<=', value: 0.05}\n"
        "  - {id: calm, metric: error_count, op: '<=', value: 0}\n"
    )
    found = document("--policy", policy, "--real", 50, "--false-positive-rate", 0.01)
    assert found["pass"]["all"] == pytest.approx((1 - 0.12989) ** 0.1, abs=1e-6)  # ten of fifty each: .12989
    assert [rule["left_out"] for rule in found["rules"]] == [None, "it is not about scores"]


def test_tables_are_for_people():
    result = run("--attempts", 5, "--false-positive-rate", 0.01)
    assert result.exit_code == 0
    assert "Chance to pass: 0.263615" in result.output
    assert "at least once in 5 attempts, each on a fresh test split: 0.783" in result.output
    assert "| false_positives_upper | - | 500 | 3 | 0.263616 |" in result.output
    assert "## What is supposed" in result.output


def test_the_plot_is_a_file_of_its_own(tmp_path):
    plot = tmp_path / "power.svg"
    result = run("--output", plot)
    assert result.exit_code == 0
    assert f"drawn: {plot}" in result.output
    root = ElementTree.fromstring(plot.read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_an_existing_plot_stays(tmp_path):
    plot = tmp_path / "power.svg"
    plot.write_text("old")
    result = run("--output", plot)
    assert (result.exit_code, plot.read_text()) == (1, "old")
    assert "exists already" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output", "x.png"], "ends in .svg"),
        (["--sources", 501], "--sources: 501 of them cannot have 500 bases"),
        (["--families", 6, "--ai", 5], "--families: 6 of them cannot have 5 bases"),
        (["--policy", "none"], "no such policy"),
        (["--policy", "off"], "nothing to pass"),
        (["--false-positive-rate", "nan"], "nan is not a finite number"),
        (["--miss-rate", "1.5"], "1.5"),
        (["--real", 0], "0"),
    ],
)
def test_wrong_use(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
