"""Sections about pairs, curves and slices, read back by a Markdown parser."""

import pytest
from markdown_it import MarkdownIt

from pytest_benchbench.reports.markdown import render_markdown
from pytest_benchbench.statistics.intervals import clustered_interval

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")
HOSTILE = "<b>|`x`\n# title [a](b) **c** \x1b[31m"


def tables(markdown):
    """Give {heading: [rows as dicts]} for the last table under each heading."""
    found, heading = {}, None
    tokens = PARSER.parse(markdown)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = "".join(child.content for child in tokens[index + 1].children)
        elif token.type == "table_open":
            found[heading] = []
        elif token.type == "tr_open":
            found[heading].append([])
        elif token.type in {"th_open", "td_open"}:
            found[heading][-1].append("".join(child.content for child in tokens[index + 1].children))
    return {name: [dict(zip(lines[0], line, strict=True)) for line in lines[1:]] for name, lines in found.items()}


def attacked(row, case_id, strength, *, family="jpeg", **more):
    parameters = {"attack": {"family": family, "strength": strength, "seed": None}}
    return row(case_id, state="attacked", transform=f"{family}-{strength}", parameters=parameters, **more)


@pytest.fixture(scope="module")
def shown(row, report):
    rows = [
        row("m1", pair_id="p", expected="detected", message_bit_accuracy=1.0, score=0.75),
        row("m2", pair_id="q", expected="detected", status="not_detected", message_bit_accuracy=0.5, score=0.25),
        attacked(row, "a1", 90, pair_id="p", message_bit_accuracy=0.875),
        attacked(row, "a2", 90, pair_id="q", status="not_detected"),
        attacked(row, "a3", 10, pair_id="p", status="not_detected"),
        attacked(row, "a4", 10, pair_id="q", status="error", error={"type": "ValueError", "message": "bad"}),
        attacked(row, "a5", 10, pair_id="s"),
    ]
    return tables(render_markdown(report(rows)))


def test_the_worst_slices_are_shown(shown):
    mismatch, error = shown["Slices with mismatches or errors: 2"]
    assert mismatch == {
        "adapter": "dwt-dct",
        "state": "marked",
        "transform": "none",
        "arm": "positive",
        "rows": "2",
        "mismatch": "1",
        "error": "0",
        "unstable": "0",
        "rate (k/n)": "0.5000 (1/2)",
        "95 % interval": "0.0945 to 0.9055",
    }
    assert (error["transform"], error["error"]) == ("jpeg-10", "1")


def test_transitions_are_shown(shown):
    strong, weak = shown["From marked to attacked and removed"]
    assert weak == {
        "adapter": "dwt-dct",
        "to": "attacked",
        "transform": "jpeg-90",
        "pairs": "2",
        "kept": "1",
        "lost": "0",
        "gained": "0",
        "absent": "1",
        "undecided": "0",
        "unpaired": "0",
        "kept rate (k/n)": "1.0000 (1/1)",
        "95 % interval": "0.2065 to 1.0000",
        "McNemar p": "-",
    }
    assert (strong["lost"], strong["undecided"], strong["unpaired"], strong["McNemar p"]) == ("1", "1", "1", "1")


def test_curves_are_shown(shown):
    start, weak, strong = shown["dwt-dct: jpeg (image, 3 bases, weak to strong)"]
    assert (start["strength"], weak["strength"], strong["strength"]) == ("-", "90", "10")
    assert weak == {
        "strength": "90",
        "attack": "jpeg-90",
        "rows": "2",
        "without verdict": "0",
        "rate (k/n)": "0.5000 (1/2)",
        "95 % interval": "0.0945 to 0.9055",
        "interval by base": "-",
        "message bit accuracy": "0.875 / 0.875 / 0.875",
        "score": "-",
    }
    assert (strong["without verdict"], strong["message bit accuracy"]) == ("1", "-")


def test_several_artifacts_of_a_base_have_an_interval_of_their_own(row, report):
    rows = [
        attacked(row, f"{base}{n}", 5, family="mine", pair_id=base, status=status)
        for base, status in (("p", "detected"), ("q", "not_detected"))
        for n in range(3)
    ]
    (point,) = tables(render_markdown(report(rows)))["dwt-dct: mine (image, 2 bases, by number)"]
    interval = clustered_interval([3, 0], [3, 3])
    assert point["interval by base"] == f"{interval.low:.4f} to {interval.high:.4f}"


def test_expectations_are_shown(shown):
    (line,) = shown["Expected against observed"]
    assert line == {
        "adapter": "dwt-dct",
        "expected": "detected",
        "detected": "1",
        "not detected": "1",
        "no verdict": "0",
    }


def test_scores_are_shown_where_there_are_some(shown):
    low, high = shown["Scores against expected verdicts"]
    assert (low["low"], low["high"], low["n"], low["mean score"], low["detected expected"]) == (
        "0.2",
        "0.3",
        "1",
        "0.25",
        "1",
    )
    assert (high["low"], high["n"]) == ("0.7", "1")


def test_without_pairs_curves_and_faults_nothing_is_said(row, report):
    markdown = render_markdown(report([row("a", state="clean", status="not_detected")]))
    for words in ("Robustness", "From marked", "Slices with", "Expected against", "Scores against"):
        assert words not in markdown


def test_long_parts_are_cut_and_say_so(row, report):
    rows = [attacked(row, f"f{n}", 1, family=f"mine-{n:02}", pair_id="p") for n in range(53)]
    rows += [row(f"c{n}", transform=f"t{n}", expected="not_detected", pair_id=f"c{n}") for n in range(12)]
    markdown = render_markdown(report(rows))
    assert "3 more curves are not shown here." in markdown
    assert "2 more are not shown here." in markdown
    assert len(tables(markdown)["Slices with mismatches or errors: 12"]) == 10


def test_hostile_text_stays_text(row, report):
    rows = [
        row("m", pair_id="p", adapter=HOSTILE),
        attacked(row, "a", 1, family=HOSTILE, pair_id="p", adapter=HOSTILE, expected="not_detected"),
    ]
    markdown = render_markdown(report(rows))
    tokens = PARSER.parse(markdown)
    inner = {child.type for token in tokens for child in token.children or ()}
    assert not {"html_inline", "link_open", "code_inline", "strong_open"} & inner
    assert "html_block" not in {token.type for token in tokens}
    text = HOSTILE.replace("\n", "\\n").replace("\x1b", "\\x1b")
    assert f"{text}: {text} (image, 1 base, by number)" in tables(markdown)
