"""Every accuracy figure of the documentation is that of a committed report, or says who published or which test holds it.

``benchmarks/baseline_pages.py`` says how a page marks its figures. What counts as an accuracy figure here: ``19/21`` and
``19 of 21`` anywhere, and a number behind a verb such as ``recognises``; in a sentence or line of a table that speaks of
what was detected a percentage too, in one about scores or bits a number with decimals. Examples in code are held by
``test_examples.py``.
"""

import importlib
import json
import re
import sys
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from pytest_benchbench.cli.cohort import command as cohort_command

ROOT = Path(__file__).parents[2]

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

STUDIES = sorted(folder.name for folder in (ROOT / "docs" / "baselines").iterdir())

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)

CODE = re.compile(r"`[^`\n]*`")

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

MEASURED = r"recall|accurac|confidence|scor(?:e|es|ed)\b|false (?:alarm|positive)|right bits|bits? right|equal bits"

ABOUT_NUMBERS = re.compile(rf"\b(?:{MEASURED})", re.IGNORECASE)

ABOUT_ACCURACY = re.compile(
    rf"\b(?:{MEASURED}|detect(?:s|ed|ion rates?)\b|recognis|surviv|missed|misses|finds?\b|found\b)", re.IGNORECASE
)

ALWAYS = re.compile(r"(?<!shard )(?<![\w/.:-])\d+/\d+(?![\w/])|\b\d[\d,]* of (?:the )?\d[\d,]*\b")

PERCENTAGE = re.compile(r"(?<![\w.,-])(?:\d+-)?\d+(?:\.\d+)? %")

DECIMALS = re.compile(r"(?<!above )(?<![\w.,@=-])\d+\.\d+(?![\w.]*\d| %|\s+or\s+more|\s+and\s+below)")
"""Not those of a rule, such as ``above 0.5``."""

BEHIND_VERB = re.compile(r"\b(?:detect|recognis|find|miss)(?:s|es|ed)? (?:only |all )?\d+\b(?!\.)")

CONFIDENCE_LEVEL = re.compile(r"\b95 %")

SENTENCE_END = re.compile(r"(?<=[.:;])\s+|\n(?=- )")


@pytest.fixture(scope="session")
def pages():
    """Give the module that puts figures into pages."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("baseline_pages")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="session")
def unmarked(pages):
    """Find the accuracy figures of a page that are neither filled in nor marked."""

    def find(text):
        for pattern, instead in ((pages.TABLE, ""), (pages.MARK, ""), (FENCED, ""), (CODE, "`code`"), (COMMENT, "")):
            text = pattern.sub(instead, text)
        return [figure for part in parts(text) for figure in figures(part)]

    return find


def parts(text):
    """Split a page into sentences, and into lines of tables below their heads."""
    for block in re.split(r"\n\s*\n", text):
        if block.startswith("|"):
            head, *rows = block.splitlines()
            yield from (f"{head}\n{row}" for row in rows)
        else:
            yield from SENTENCE_END.split(block)


def figures(part):
    part = CONFIDENCE_LEVEL.sub("", part)
    found = [figure for figure in ALWAYS.findall(part) if can_be_a_share(figure)] + BEHIND_VERB.findall(part)
    if ABOUT_ACCURACY.search(part):
        found += PERCENTAGE.findall(part)
    if ABOUT_NUMBERS.search(part):
        found += DECIMALS.findall(part)
    return found


def can_be_a_share(figure):
    k, n = re.findall(r"\d+", figure.replace(",", ""))
    return int(k) <= int(n)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_marked_figures_are_those_of_the_committed_reports(pages, page):
    text = page.read_text(encoding="utf-8")
    assert text == pages.fill(text), "python benchmarks/baselines.py --fill"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_accuracy_figure_is_unmarked(unmarked, page):
    assert unmarked(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_mark_is_understood(pages, page):
    text = page.read_text(encoding="utf-8")
    assert len(pages.MARK.findall(text)) == len(re.findall(r"<!-- (?:=|published|tested)", text))
    assert len(pages.TABLE.findall(text)) == text.count("<!-- table:") == text.count("<!-- end of table -->")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_held_by_a_test_stand_in_it(pages, page):
    for mark in pages.MARK.finditer(page.read_text(encoding="utf-8")):
        if mark["tested"]:
            held = (ROOT / mark["tested"]).read_text(encoding="utf-8").replace("_", "").replace(",", "")
            assert all(number in held for number in re.findall(r"[\d.]+", mark["figure"].replace(",", ""))), mark[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was there in 19/21 pictures.", ["19/21"]),
        ("It was there in 19 of 21 pictures.", ["19 of 21"]),
        ("It was there in 19 of the 21 pictures.", ["19 of the 21"]),
        ("The recall is 87 % here.", ["87 %"]),
        ("The recall is 87.5 % (71-97 %).", ["87.5 %", "71-97 %"]),
        ("Its bit accuracy is 0.91.", ["0.91"]),
        ("Of many, `dwt-dct` recognises 20 after JPEG.", ["recognises 20"]),
        ("| | detected |\n| --- | --- |\n| clean | 0/4 |", ["0/4"]),
        ("| attack | bits right |\n| --- | --- |\n| blur | 77.0 |", ["77.0"]),
        ("The recall\nis high. It is 5 % larger.", []),
        ("The recall is 20/21<!-- = real-image dwt-dct state=marked -->.", []),
        ("The recall is 74/114<!-- published: somewhere -->.", []),
        ("The score is 0.92<!-- tested: tests/a.py -->.", []),
        ("The score is 0.92 <!-- tested: tests/a.py -->.", ["0.92"]),
        ("<!-- table: a -->\n\n| detected |\n| --- |\n| 1/2 |\n\n<!-- end of table -->\n\nand 1/2", ["1/2"]),
        ("It detects with 95 % intervals.", []),
        ("It takes 3.5 seconds and 12 % of the memory.", []),
        ("Shard 3 of a hundred, shard 3/64, `--bench-shard=3/64` and 30000/1001 frames a second are none.", []),
        ("A score above 0.5 or an accuracy of 0.9 or more is `detected`.", []),
        ("```\n1/2 detected\n```\n", []),
        ("It is detected at 44 or more of 48 bits by version 2.13.0.", []),
    ],
)
def test_what_counts_as_an_accuracy_figure(unmarked, text, expected):
    assert unmarked(text) == expected


def test_a_figure_that_is_no_longer_true_is_found_out(pages):
    told = "found in 1/21<!-- = real-image dwt-dct state=marked --> of them"
    assert pages.fill(told) != told


@pytest.mark.parametrize(
    "asked", ["real-image dwt-dct state=none", "real-image dwt-dct carrier=gradient", "real-image perth state=marked"]
)
def test_a_slice_that_no_report_has_is_refused(pages, asked):
    with pytest.raises(LookupError, match=r"^real-image: "):
        pages.figure(asked)


def report_of(study):
    return json.loads((ROOT / "docs" / "baselines" / study / "report.json").read_bytes())


def test_every_study_is_committed(pages):
    assert set(STUDIES) == set(sys.modules["baseline_studies"].STUDIES)


@pytest.mark.parametrize("study", STUDIES)
def test_the_page_says_how_every_study_was_made(study):
    assert f"<!-- table: made-{study} -->" in (ROOT / "docs" / "baselines.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("study", STUDIES)
def test_a_committed_study_has_three_runs_that_agree(study):
    document = report_of(study)
    results = document["results"]
    assert len(document["runs"]) == 3
    assert results["repetition"]["rows_in_every_run"] == results["repetition"]["rows"] == results["rows"] / 3
    for name in ("errors", "unavailable", "not_run", "unstable", "unstable_across_runs", "conflicting_artifacts"):
        assert results[name]["count"] == 0
    assert [len(run["evidence_sha256"]) for run in document["runs"]] == [64, 64, 64]
    assert all(code["dirty"] is False for code in document["inputs"]["code"])


@pytest.mark.parametrize("study", STUDIES)
def test_the_recipe_of_a_committed_study_still_plans_its_rows(pages, study):
    cohort = sys.modules["baseline_studies"].STUDIES[study].cohort
    plan = json.loads(CliRunner().invoke(cohort_command, [*cohort, "--plan", "--json"], catch_exceptions=False).output)
    inputs = report_of(study)["inputs"]
    assert {adapter["adapter"] for adapter in plan["adapters"]} == {adapter["name"] for adapter in inputs["adapters"]}
    fewest = plan["planned"] - sum(adapter["removed"] for adapter in plan["adapters"])  # a plan has the most there can be
    assert fewest <= inputs["manifests"][0]["rows"] / 3 <= plan["planned"]


@pytest.mark.parametrize("study", STUDIES)
def test_a_committed_report_has_the_published_schema(study):
    schema = json.loads((ROOT / "docs" / "schema" / "report.schema.json").read_bytes())
    jsonschema.Draft202012Validator(schema).validate(report_of(study))


@pytest.mark.parametrize("study", STUDIES)
def test_a_committed_report_is_laid_out_as_the_script_does(pages, study):
    text = (ROOT / "docs" / "baselines" / study / "report.json").read_text(encoding="utf-8")
    assert importlib.import_module("baselines").compact(json.loads(text)) == text


@pytest.mark.parametrize("study", STUDIES)
def test_a_committed_study_names_no_place_of_the_machine_that_made_it(study):
    for file in (ROOT / "docs" / "baselines" / study).iterdir():
        assert not re.search(r"(?<![\w.])/(home|root|tmp|work|usr|Users|mnt)/", file.read_text(encoding="utf-8")), file


@pytest.mark.parametrize("study", STUDIES)
def test_finer_tables_of_a_committed_study_add_up(study):
    results = report_of(study)["results"]
    for path, lines in results["by"].items():
        place = path.split(",").index("state")
        for state in results["tables"]["adapter_state"]:
            if state["state"] == "clean":  # one file is compared under several names
                continue
            finer = [
                line for line in lines if line["value"][place] == state["state"] and line["adapter"] == state["adapter"]
            ]
            for counted in ("artifacts_detected", "artifacts_not_detected", "rows"):
                assert sum(line[counted] for line in finer) == state[counted]


def test_bits_were_counted_in_the_artifacts_of_the_study(pages):
    counted = json.loads((pages.BASELINES / "published-attacks" / "embedded-bits.json").read_bytes())
    document = report_of("published-attacks")
    assert counted["manifest_sha256"] == document["inputs"]["manifests"][0]["sha256"]
    lines = {(line["adapter"], line["transform"], line["pattern"]): line for line in counted["lines"]}
    field = "state,transform.name,transform.parameters.embed.pattern"
    marked = [line for line in document["results"]["by"][field] if line["value"][0] != "clean"]
    assert {(line["adapter"], *line["value"][1:]) for line in marked} == set(lines)
    for line in marked:
        assert lines[line["adapter"], line["value"][1], line["value"][2]]["artifacts"] == line["artifacts"]
