"""The page of a report: one file, bounded, with the numbers of the document and nothing that acts."""

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import pytest

from pytest_benchbench.evidence.reading import index_evidence
from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.reports.html.cases import Cases
from pytest_benchbench.reports.html.page import render_html
from pytest_benchbench.reports.reckoning import reckon

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}{% raw %}"


class Reader(HTMLParser):
    """Collects the tables, the elements and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.tags, self.attributes, self.words = {}, [], [], []
        self._table, self._cell = None, None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        attributes = dict(attrs)
        if tag == "table":
            self._table = self.tables.setdefault(attributes["id"], [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in {"td", "th"}:
            self._cell = []

    def handle_endtag(self, tag):
        if tag in {"td", "th"}:
            self._table[-1].append("".join(self._cell))
            self._cell = None

    def handle_data(self, data):
        self.words.append(data)
        if self._cell is not None:
            self._cell.append(data)

    def lines(self, table):
        head, *rows = self.tables[table]
        return [dict(zip(head, row, strict=True)) for row in rows]

    @property
    def text(self):
        return " ".join(self.words)


@pytest.fixture(scope="module")
def rendered(write):
    def render(rows, run=None, policy=None, **options):
        cases = Cases()
        reckoned = reckon(
            index_evidence(write(rows)), run or {}, policy, lost=0, left_out=0, lazy_verification=False, also=[cases.add]
        )
        return reckoned.report, render_html(reckoned.report, cases=cases, gate=reckoned.decision, **options)

    return render


@pytest.fixture(scope="module")
def rows(row):
    return [
        row("a", expected="detected", transform="dwt", message_bit_accuracy=0.75, elapsed=2.5, score=0.5),
        row("b", expected="detected", status="not_detected", transform="dwt", reason="24/48 bits", line=2),
        row("c", state="removed", status="not_detected", transform="remove", line=3),
        row("d", status="error", error={"type": "OSError", "message": "gone"}, line=4),
        row("e", status="unavailable", reason="no weights", line=5),
        row("f", attempt=1, line=6),
        row("f", attempt=2, line=6, status="not_detected"),
    ]


def test_the_tables_have_the_numbers_of_the_document(rendered, rows):
    document, page = rendered(rows)
    shown = Reader(page).lines("by-adapter_state-table")
    for line, given in zip(shown, document["results"]["tables"]["adapter_state"], strict=True):
        assert (line["state"], line["rows"], line["not detected"]) == (
            given["state"],
            str(given["rows"]),
            str(given["rows_not_detected"]),
        )
        rate = given["detected_rate_of_artifacts"]
        assert line["rate (k/n)"] == f"{rate['rate']:.4f} ({rate['k']}/{rate['n']})"
        assert line["95 % interval"] == f"{rate['wilson95_low']:.4f} to {rate['wilson95_high']:.4f}"


def test_every_part_of_the_results_is_on_the_page(rendered, rows):
    document, page = rendered(rows)
    document["results"]["something_new"] = [{"suite": "s", "params": None, "adapter": "x", "odd": 4711}]
    document["results"]["counted"] = {"count": 3, "listed": [{"adapter": "x", "case_id": "unheard-of"}]}
    text = Reader(render_html(document, cases=Cases())).text
    assert "Something new" in text
    assert "4711" in text
    assert "unheard-of" in text
    assert "Something new" not in Reader(page).text


def test_calls_that_rows_shared_are_told_as_such(rendered, row):
    together = [row(f"c{i}", elapsed=None, status="scored") | {"batch": {"size": 4, "elapsed_ms": 10.0}} for i in range(4)]
    _, page = rendered(together)
    read = Reader(page)
    assert "time-table-table" not in read.tables
    whole, share = read.lines("batch-time-table-table")
    assert (whole["time of"], whole["batches"], whole["p50 ms"], share["time of"], share["p50 ms"]) == (
        *("a batch", "1", "10"),
        *("a row's share", "2.5"),
    )


def test_what_was_measured_is_told(rendered, rows):
    run = {
        "started": "2026-11-30T00:00:00.000+00:00",
        "finished": "2026-11-30T00:01:00.000+00:00",
        "versions": {"python": "3.11.7", "torch": None},
        "package": {"version": "1.0"},
    }
    document, page = rendered(rows, run)
    text = Reader(page).text
    for needed in (
        *(
            "2026-11-30T00:00:00.000+00:00",
            "python 3.11.7",
            "cases.jsonl",
            "a" * 64,
            "w.onnx: " + "e" * 64,
            "b" * 64,
            "c" * 64,
        ),
        document["inputs"]["evidence"]["sha256"],
    ):
        assert needed in text, needed
    assert "torch" not in text.split("Environment")[0]


def test_a_gate_is_the_headline_and_its_failed_rules_come_first(rendered, rows):
    _, page = rendered(rows, policy=load_policy("strict"))
    read = Reader(page)
    assert re.search(r"<h1[^>]*>Gate strict: refused</h1>", page)
    results = [line["result"] for line in read.lines("rules-table")]
    assert results == sorted(results, key=["failed", "cannot be computed", "passed"].index)
    assert results[0] == "failed"


@pytest.mark.parametrize(
    ("names", "headline"),
    [
        ("ac", "No mismatch and no error in 2 rows"),
        ("abc", "1 of 3 rows is wrong or an error"),
        ("ace", "No mismatch and no error, but the evidence is incomplete"),
    ],
)
def test_without_a_gate_failures_are_the_headline(rendered, rows, names, headline):
    _, page = rendered([row for row in rows if row["key"]["case_id"] in names])
    assert f">{headline}</h1>" in page


def test_nothing_foreign_becomes_markup(rendered, row):
    hostile = row(
        HOSTILE, expected="detected", status="not_detected", reason=HOSTILE, transform=HOSTILE, state=HOSTILE, arm=HOSTILE
    )
    hostile["adapter"] |= {"rule": HOSTILE, "version": HOSTILE, "options": {HOSTILE: HOSTILE}}
    hostile["manifest"]["name"] = hostile["key"]["suite"] = HOSTILE
    broken = row(HOSTILE + "2", status="error", error={"type": HOSTILE, "message": HOSTILE})
    plain = (
        row("a", expected="detected", status="not_detected", reason="b"),
        row("c", status="error", error={"type": "d", "message": "e"}),
    )
    run = {
        "machine": {HOSTILE: HOSTILE},
        "gaps": [HOSTILE],
        "manifests": [{"path": HOSTILE}],
        "options": {"select": [HOSTILE]},
    }
    _, page = rendered([hostile, broken], run)
    _, harmless = rendered(plain, {"machine": {"x": "x"}, "gaps": ["x"]})
    read = Reader(page)
    assert HOSTILE in html.unescape(page)
    assert set(read.tags) == set(Reader(harmless).tags)
    assert read.tags.count("script") == Reader(harmless).tags.count("script")
    assert not [name for name, _ in read.attributes if name.startswith("on")]


def test_it_opens_nothing_and_runs_only_what_it_carries(rendered, rows):
    _, page = rendered(rows)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    for kind, text in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    read = Reader(page)
    assert not [value for name, value in read.attributes if name in {"src", "href"} and not value.startswith(("#", "data:"))]
    assert not [value for name, value in read.attributes if name == "style"]
    assert "@import" not in style
    assert "url(" not in style


def test_a_page_keeps_to_its_size_and_says_what_is_left_out(rendered, row):
    digests = (hashlib.sha256(b"%d" % number).hexdigest() for number in range(20_000))
    rows = [row(digest, expected="detected", line=number) for number, digest in enumerate(digests)]
    _, page = rendered(rows, max_bytes=600_000)
    assert 400_000 < len(page.encode()) <= 600_000
    listed, total = map(int, re.search(r"(\d+) of (\d+) rows, the worst outcomes first", page).groups())
    assert (total, listed < total) == (20_000, True)
    assert f"Left out here for the size of the page, and in evidence.jsonl: {total - listed} match." in page


def test_long_tables_are_cut_and_say_so(rendered, row):
    _, page = rendered([row(f"c{number}", transform=f"t{number:03}", line=number) for number in range(450)])
    assert len(Reader(page).lines("by-adapter_state_transform-table")) == 400
    assert "50 more lines stand in report.json." in page


def test_tables_that_leave_no_room_are_cut_further(rendered, row):
    rows = [row(f"c{number}", transform=f"t{number:03}", line=number) for number in range(300)]
    _, page = rendered(rows, max_bytes=200_000)
    assert len(page.encode()) <= 200_000
    assert len(Reader(page).lines("by-adapter_state_transform-table")) in (25, 100)
    assert re.search(r"(200|275) more lines stand in report.json.", page)


def test_a_node_id_stays_on_one_line(rendered, row):
    hostile = row("a", expected="detected", status="not_detected", suite="suite.py::t\nrm -rf .", adapter="dwt\rdct")
    _, page = rendered([hostile])
    assert [value for name, value in Reader(page).attributes if name == "data-node"] == [
        r"suite.py::t\nrm -rf .::dwt\rdct::a"
    ]


def test_ids_on_the_page_are_unique(rendered, rows):
    _, page = rendered(rows, {"machine": {"x": 1}}, policy=load_policy("strict"))
    ids = [value for name, value in Reader(page).attributes if name == "id"]
    assert len(ids) == len(set(ids))
    targets = [value[1:] for name, value in Reader(page).attributes if name == "href"]
    assert set(targets) <= set(ids)


def test_the_same_report_gives_the_same_page(rendered, rows):
    assert rendered(rows)[1] == rendered(rows)[1]


def test_the_document_read_back_gives_the_same_page(rendered, rows):
    document, _ = rendered(rows)
    assert render_html(json.loads(json.dumps(document)), cases=Cases()) == render_html(document, cases=Cases())
