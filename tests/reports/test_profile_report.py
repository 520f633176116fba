import json

import pytest
from markdown_it import MarkdownIt

from pytest_benchbench.evidence.observed_run import ObservedRun
from pytest_benchbench.reports.profile_document import Process, ProcessCost, ProfiledManifest, build_profile
from pytest_benchbench.reports.profile_report import largest_text, profile_lines, render_profile

HOSTILE = "a|b`<img src=x>\x1b[2J\n# no heading"


@pytest.fixture
def document(directories):
    """A profile of a hostile manifest and of one that died, as it is read back."""
    row = directories.row("a", adapter=HOSTILE)
    row["case"]["media_type"], row["artifact"]["decoding"] = "image", {"size": [1024, 512]}
    observed = ObservedRun.read(directories.write("run", [row]))
    cost = ProcessCost(1.23456, 0.5, 0.25, 100 * 2**20)
    manifests = [
        ProfiledManifest(
            HOSTILE, "a" * 64, HOSTILE, 1, processes=[Process(HOSTILE, n, HOSTILE, 0, cost, observed) for n in (1, 2)]
        ),
        ProfiledManifest(
            "dead.jsonl", "b" * 64, "toy", 7, processes=[Process("dead.jsonl", 1, "d", 137, cost, None, HOSTILE)]
        ),
    ]
    document = build_profile(manifests, repeat=2, suite=None, split=None, load=(0.0, 0.0, 0.0))
    return json.loads(json.dumps(document, allow_nan=False))


def test_tables_are_whole_whatever_the_texts(document):
    tokens = MarkdownIt("commonmark").enable("table").parse(render_profile(document))
    titles = [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]
    assert titles == ["Process profile", "Processes", "Each process", "Status counts", "Noise", "Inputs", "Machine"]
    assert not [token for token in tokens if token.type in ("html_block", "html_inline", "code_block", "fence")]
    assert not [
        child for token in tokens for child in token.children or () if child.type in ("html_inline", "image", "link_open")
    ]
    width = 0
    for token in tokens:
        if token.type == "tr_open":
            width = 0
        width += token.type in ("th_open", "td_open")
        if token.type == "thead_open":
            columns = None
        if token.type == "tr_close":
            columns = columns or width
            assert width == columns


def test_the_report_has_the_figures_and_says_why_they_are_not_divided(document):
    text = render_profile(document)
    assert "| 1024x512 | 1 | 1,234.56 ms | 1,234.56 ms | 100.00 MiB | 100.00 MiB |" in text
    assert "| toy | dead.jsonl | - | 7 | - | - | - | - |" in text
    assert document["never_divided"] in text
    assert "not divided by the number of cases" in text
    assert "Load average before the first process, over 1, 5 and 15 minutes: 0.00, 0.00, 0.00" in text


def test_the_terminal_sees_warnings_first_and_no_control_characters(document):
    lines = profile_lines(document)
    assert all(line.isprintable() for line in lines)
    assert lines[0].startswith("warning: ")
    assert lines[-3].split() == ["manifest", "adapter", "largest", "rows", "wall", "p50", "p90", "peak", "RSS", "p50", "p90"]
    assert lines[-2].endswith("1024x512     1   1235 ms  1235 ms     100.0 MiB  100.0 MiB")
    assert lines[-1].split() == ["dead.jsonl", "toy", "-", "7", "-", "-", "-", "-"]


@pytest.mark.parametrize(
    ("largest", "text"),
    [
        ({}, "-"),
        ({"image": {"width": 3, "height": 4}}, "3x4"),
        ({"audio": {"seconds": 8.0}, "video": {"width": 3, "height": 4, "frames": 5}}, "8 s; 3x4, 5 frames"),
    ],
)
def test_sizes_are_written_for_people(largest, text):
    assert largest_text(largest) == text
