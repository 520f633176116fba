"""The Markdown report, read back by a Markdown parser."""

import json

import pytest
from markdown_it import MarkdownIt

from pytest_benchbench.reports.markdown import render_markdown

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = "<script>alert(1)</script>|`x`\n# title [a](b) **c** \x1b[31m"


def tables(markdown):
    """Give {heading: [rows as dicts]} for the last table under each heading."""
    found, heading, rows, row = {}, None, [], []
    tokens = PARSER.parse(markdown)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = tokens[index + 1].content
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            row = []
        elif token.type in {"th_open", "td_open"}:
            row.append("".join(child.content for child in tokens[index + 1].children))
        elif token.type == "tr_close":
            rows.append(row)
        elif token.type == "table_close":
            found[heading] = [dict(zip(rows[0], line, strict=True)) for line in rows[1:]]
    return found


@pytest.fixture(scope="module")
def document(row, report):
    rows = [
        row("a", expected="detected", state="marked", transform="dwt", message_bit_accuracy=0.75, elapsed=2.5),
        row("b", expected="detected", status="not_detected", state="marked", transform="dwt", reason="24/48 bits", line=2),
        row("c", state="removed", status="not_detected", transform="remove", line=3),
        row("d", status="error", error={"type": "OSError", "message": "gone"}, line=4),
        row("e", status="unavailable", reason="no weights", line=5),
        row("f", attempt=1, line=6, artifact="f"),
        row("f", attempt=2, line=6, artifact="f", status="not_detected"),
    ]
    return report(rows, {"versions": {"python": "3.11.7"}, "machine": {"processors": 2}, "manifests": [{"name": "m"}]})


def test_the_verdict_comes_first(document):
    assert render_markdown(document).splitlines()[2] == "6 rows: 1 error, 2 mismatch, 1 unavailable, 1 match, 1 measured."


def test_mismatches_say_where_and_why(document):
    first, second = tables(render_markdown(document))["Mismatches: 2"]
    assert first == {
        "manifest": "cases.jsonl:2",
        "case": "b",
        "adapter": "dwt-dct",
        "expected": "detected",
        "observed": "not_detected",
        "reason": "24/48 bits",
    }
    assert second["case"] == "f"


def test_the_verdict_table_has_the_numbers_of_the_document(document):
    line = next(line for line in document["results"]["tables"]["adapter_state"] if line["state"] == "marked")
    shown = next(line for line in tables(render_markdown(document))["By adapter and state"] if line["state"] == "marked")
    for name in ("rows", "mismatch", "detected", "not detected", "unstable", "error", "unavailable"):
        key = "rows" if name == "rows" else f"rows_{name.replace(' ', '_')}"
        assert shown[name] == str(line[key])
    assert not {"scored", "not run", "known mismatch"} & shown.keys(), "they are 0 in every line"
    assert (shown["artifacts"], shown["conflicting"]) == (str(line["artifacts"]), str(line["artifacts_conflicting"]))
    assert shown["rate (k/n)"] == "0.5000 (1/2)"
    assert shown["95 % interval"] == "0.0945 to 0.9055"


def test_no_decided_artifact_has_no_rate(row, report):
    markdown = render_markdown(report([row("a", status="error")]))
    (line,) = tables(markdown)["By adapter and state"]
    assert (line["rate (k/n)"], line["95 % interval"]) == ("-", "-")


@pytest.mark.parametrize(
    "heading",
    [
        "Mismatches: 2",
        "Unstable rows: attempts gave different verdicts: 1",
        "Errors: 1",
        "Unavailable: 1",
        "Artifacts with conflicting verdicts: 1",
        "By adapter and state",
        "By adapter, state and transform",
        "By adapter and arm",
        "By adapter",
        "Arms without any row",
        "After removal",
        "What the detectors measured",
        "Adapter time",
        "Messages of rows without a verdict: 2",
        "Inputs",
        "Environment",
    ],
)
def test_every_section_stands_there(document, heading):
    assert tables(render_markdown(document))[heading]


def test_the_environment_is_shown_by_dotted_names(document):
    shown = {line["what"]: line["value"] for line in tables(render_markdown(document))["Environment"]}
    assert shown == {"versions.python": "3.11.7", "machine.processors": "2", "manifests[0].name": "m"}


@pytest.mark.parametrize(
    ("hits", "misses", "line"),
    [
        (30, 10, "Decoding: 10 artifacts were decoded, 30 more uses found them decoded already (75 %)."),
        (1, 1, "Decoding: 1 artifact was decoded, 1 more use found it decoded already (50 %)."),
        (0, 2, "Decoding: 2 artifacts were decoded, 0 more uses found them decoded already (0 %)."),
    ],
)
def test_it_says_how_much_decoding_was_spared(row, report, hits, misses, line):
    markdown = render_markdown(report([row("a")], {"decoding": {"hits": hits, "misses": misses}}))
    assert line in markdown.splitlines()


def test_nothing_decoded_is_not_spoken_of(row, report):
    assert "Decoding" not in render_markdown(report([row("a")], {"decoding": {"hits": 0, "misses": 0}}))


def test_fidelity_shows_ranges_and_states_without_numbers(row, report):
    rows = [
        row("a", fidelity={"status": "measured", "mae": 1.5, "changed_fraction": 0.5, "psnr_db": 40.25}),
        row("b", fidelity={"status": "incomparable", "reason": "size"}),
    ]
    (line,) = tables(render_markdown(report(rows)))["Fidelity"]
    assert (line["measured"], line["incomparable"], line["psnr db"]) == ("1", "1", "40.25 / 40.25 / 40.25")


def test_suites_and_parameters_are_named_where_they_differ(row, report):
    one = tables(render_markdown(report([row("a")])))["By adapter"][0]
    two = tables(render_markdown(report([row("a"), row("a", params="q75")])))["By adapter"]
    assert "params" not in one
    assert [line["params"] for line in two] == ["-", "q75"]


def test_hostile_text_stays_text(row, report):
    rows = [
        row(
            HOSTILE,
            adapter=HOSTILE,
            suite=HOSTILE,
            transform=HOSTILE,
            expected="not_detected",
            reason=HOSTILE,
            fidelity={"status": "error"},
        ),
        row("b", status="error", error={"type": HOSTILE, "message": HOSTILE}, adapter=HOSTILE, suite=HOSTILE),
    ]
    markdown = render_markdown(report(rows, {HOSTILE: HOSTILE}))
    tokens = PARSER.parse(markdown)
    inner = [child.type for token in tokens for child in token.children or ()]
    assert "html_block" not in {token.type for token in tokens}
    assert not {"html_inline", "link_open", "code_inline", "strong_open", "image"} & set(inner)
    assert sum(token.type == "heading_open" and token.tag == "h1" for token in tokens) == 1
    assert tables(markdown)["Mismatches: 1"][0]["case"] == HOSTILE.replace("\n", "\\n").replace("\x1b", "\\x1b")


def test_a_report_read_back_from_its_file_renders_the_same(document):
    assert render_markdown(json.loads(json.dumps(document))) == render_markdown(document)


def test_a_long_list_is_cut_and_says_so(row, report):
    markdown = render_markdown(report([row(f"c{i}", line=i + 1, expected="not_detected") for i in range(103)]))
    assert len(tables(markdown)["Mismatches: 103"]) == 100
    assert "3 more are not shown here." in markdown


def test_the_report_promises_no_erasure(document):
    words = render_markdown(document).lower()
    assert "erased" not in words
    assert "clean" not in words
