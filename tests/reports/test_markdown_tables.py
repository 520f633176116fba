"""Verdict tables, message bits and times as people read them."""

import pytest
from markdown_it import MarkdownIt

from pytest_benchbench.reports.markdown import render_markdown

PARSER = MarkdownIt("commonmark").enable("table")


def table(document, heading):
    """Give the rows under a heading, each as {column: text}."""
    tokens = PARSER.parse(render_markdown(document))
    begin = next(i for i, token in enumerate(tokens) if token.type == "heading_open" and tokens[i + 1].content == heading)
    begin = next(i for i in range(begin, len(tokens)) if tokens[i].type == "table_open")
    end = next(i for i in range(begin, len(tokens)) if tokens[i].type == "table_close")
    rows = []
    for i in range(begin, end):
        if tokens[i].type == "tr_open":
            rows.append([])
        elif tokens[i].type in {"th_open", "td_open"}:
            rows[-1].append("".join(child.content for child in tokens[i + 1].children))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def test_the_worst_lines_come_first(row, report):
    rows = [
        row("a", state="attacked"),
        row("b", state="clean", expected="not_detected"),
        row("c", state="forged", status="error"),
        row("d", state="forged", expected="not_detected"),
        row("e", state="marked"),
    ]
    shown = table(report(rows), "By adapter and state")
    assert [line["state"] for line in shown] == ["forged", "clean", "attacked", "marked"]
    assert [(line["mismatch"], line["error"]) for line in shown] == [("1", "1"), ("1", "0"), ("0", "0"), ("0", "0")]


def test_a_long_table_is_cut_and_says_so(row, report):
    document = report([row(f"c{i}", transform=f"t{i:03}") for i in range(103)])
    assert len(table(document, "By adapter, state and transform")) == 100
    assert "3 more lines are in report.json." in render_markdown(document)


def test_bases_are_shown_where_several_artifacts_share_one(row, report):
    rows = [row(f"c{i}", pair_id=f"p{i // 2}", status="not_detected" if i % 3 else "detected") for i in range(8)]
    (line,) = table(report(rows), "By adapter")
    assert (line["bases, any detected"], line["bases, all detected"]) == ("3/4", "0/4")
    clustered = report(rows)["results"]["tables"]["adapter"][0]["clustered95"]
    assert line["clustered 95 % interval"] == f"{clustered['low']:.4f} to {clustered['high']:.4f}"


def test_bases_are_not_spoken_of_where_each_has_one_artifact(row, report):
    markdown = render_markdown(report([row("a"), row("b")]))
    assert "bases" not in markdown
    assert "clustered" not in markdown


def test_negatives_say_what_they_can_resolve(row, report):
    rows = [row(f"c{i}", arm="hard_negative", status="not_detected") for i in range(50)] + [row("p")]
    shown = {line["arm"]: line for line in table(report(rows), "By adapter and arm")}
    column = "smallest false positive rate that n can resolve"
    assert (shown["hard_negative"][column], shown["positive"][column]) == ("0.0713476", "-")


@pytest.mark.parametrize(
    ("heading", "name"),
    [("By adapter and provider", "provider"), ("By adapter and content stratum", "content_stratum")],
)
def test_sources_have_tables_where_they_are_told(row, report, heading, name):
    with_source = row("a", parameters={"source": {name: "x"}})
    assert [line[name.replace("_", " ")] for line in table(report([with_source, row("b")]), heading)] == ["-", "x"]
    assert heading not in render_markdown(report([row("b")]))


def test_a_field_has_a_table_of_its_own(row, report):
    rows = [row(f"c{q}", parameters={"quality": q}, message_bit_accuracy=q / 100) for q in (50, 75)]
    shown = table(report(rows, by=["transform.parameters.quality"]), "By transform.parameters.quality")
    assert [(line["value"], line["message bit accuracy"]) for line in shown] == [
        ("50", "0.5 / 0.5 / 0.5"),
        ("75", "0.75 / 0.75 / 0.75"),
    ]


def test_message_bits_say_how_likely_they_are_by_chance(row, report):
    rows = [
        row("a", message_bit_accuracy=1.0, reason="256/256 bits"),
        row("b", message_bit_accuracy=0.5, reason="128/256 bits"),
        row("c", message_bit_accuracy=0.5),
    ]
    (line,) = table(report(rows), "Message bits")
    assert (line["bits"], line["rows"], line["equal bits"]) == ("256", "2", "128 / 128 / 256")
    assert line["chance, fewest"] == "0.52"
    assert "not known for 1 more row with" in render_markdown(report(rows))


@pytest.mark.parametrize(("equal", "shown"), [(48, "3.6e-15"), (44, "7.6e-10"), (33, "0.0066"), (24, "0.56")])
def test_chances_are_written_with_two_digits(row, report, equal, shown):
    rows = [row("a", message_bit_accuracy=equal / 48, reason=f"{equal}/48 bits of sdxl")]
    assert table(report(rows), "Message bits")[0]["chance, middle"] == shown


def test_chances_too_small_for_a_number_are_written(row, report):
    rows = [row("a", message_bit_accuracy=1.0, scorer={"message_bits": 2000})]
    assert table(report(rows), "Message bits")[0]["chance, middle"] == "8.7e-603"


def test_without_a_number_of_bits_there_is_no_chance(row, report):
    assert "Message bits" not in render_markdown(report([row("a", message_bit_accuracy=0.5)]))


def test_percentiles_show_how_far_their_intervals_reach(row, report):
    (line,) = table(report([row(f"c{i}", elapsed=float(i)) for i in range(1, 101)]), "Adapter time")
    assert (line["n"], line["p95 ms"], line["max ms"]) == ("100", "95 (90 to 100)", "100")


def test_few_calls_have_percentiles_without_intervals(row, report):
    (line,) = table(report([row("a", elapsed=3.0)]), "Adapter time")
    assert (line["p50 ms"], line["p95 ms"]) == ("3", "3")


def test_the_time_of_a_batch_is_not_that_of_its_rows(report, row):
    rows = [row(f"c{i}", elapsed=None, status="scored") | {"batch": {"size": 4, "elapsed_ms": 10.0}} for i in range(4)]
    document = report(rows)
    whole, share = table(document, "Batch time")
    names = ("adapter", "call", "batches", "rows in a batch", "time of", "p50 ms", "max ms")
    assert [whole[name] for name in names] == ["dwt-dct", "warm", "1", "4 / 4 / 4", "a batch", "10", "10"]
    assert [share[name] for name in names[4:]] == ["a row's share", "2.5", "2.5"]
    assert "Adapter time" not in render_markdown(document)
