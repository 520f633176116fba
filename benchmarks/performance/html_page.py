"""How large the page of a large run is, what writing it costs, and how soon a headless Chromium can be used on it.

Rows of a hundred kinds are made up and summed as a run's are; one in fifty is wrong or an error. ``--ids random`` makes ids
that cannot be compressed. The page is then opened from disk: until the list of cases is there and a click sorts a table, and
what a filter over all rows takes. Chromium's own time is wall time, best of several openings. Prints one JSON object.

    python benchmarks/performance/html_page.py --rows 1000000
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from measuring import print_figures

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.html.cases import Cases
from pytest_benchbench.reports.html.page import render_html
from pytest_benchbench.reports.summary import Summary

OPENINGS = 3


def settled_rows(rows: int, ids: str) -> Iterator[SettledRow]:
    """Make rows up, each told as evidence tells it."""
    drawn = random.Random(13)
    for number in range(rows):
        digest = hashlib.sha256(b"%d" % number)
        case_id = digest.hexdigest()[:32] if ids == "random" else f"case-{number:07}"
        wrong = number % 50 == 0
        failed = number % 400 == 0
        bits = drawn.randrange(20, 49)
        row = {
            "schema_version": 1,
            "run_id": "20261130T000000Z-00000000",
            "kind": "watermark",
            "key": {
                "suite": "suites/test_marks.py::test_detection",
                "adapter": ("dwt-dct", "dwt-dct-svd")[number % 2],
                "case_id": case_id,
                "params": None,
                "attempt": 1,
            },
            "manifest": {"name": "cases.jsonl", "sha256": "a" * 64, "line": number + 1},
            "case": {
                "case_id": case_id,
                "pair_id": f"pair-{number // 8:07}",
                "media_type": "image",
                "arm": "positive",
                "state": "attacked",
                "transform": {"name": f"attack-{number % 50}", "revision": "1", "parameters": {"amplitude": 3}},
                "expected": "detected",
            },
            "row_sha256": digest.hexdigest(),
            "artifact": {"sha256": digest.hexdigest(), "decoding": None},
            "adapter": {
                "name": "dwt-dct",
                "version": "1",
                "rule": "bits",
                "options": {},
                "source_sha256": None,
                "weights": [],
            },
            "code": {"project_commit": None, "dirty": None, "kernel_sha256": "c" * 64},
            "detection": {
                "status": "error" if failed else "not_detected" if wrong else "detected",
                "adapter_elapsed_ms": drawn.uniform(1, 20),
                "call": "warm",
                "message_bit_accuracy": bits / 48,
                "reason": f"{bits}/48 bits",
            },
            "removal": None,
            "fidelity": {"status": "no_reference"},
            "outcome": "error" if failed else "mismatch" if wrong else "match",
            "worker": None,
        }
        if failed:
            row["error"] = {"type": "OSError", "message": f"cannot read {case_id}"}
        read = msgspec.convert(row, EvidenceRow)
        yield SettledRow(read, read.outcome, False, 1, digest.digest()[:16])


def write_page(rows: int, ids: str, file: Path) -> dict[str, float]:
    """Sum the rows, write their page, and give what its part of that cost in processor seconds."""
    cases, summary = Cases(), Summary()
    taking = 0.0
    batch: list[SettledRow] = []

    def take_batch() -> float:
        for settled in batch:
            summary.add(settled)
        begun = time.process_time()
        for settled in batch:
            cases.add(settled)
        took = time.process_time() - begun
        batch.clear()
        return took

    for settled in settled_rows(rows, ids):
        batch.append(settled)
        if len(batch) == 100:  # few enough to be still in the processor's cache, as in a run
            taking += take_batch()
    taking += take_batch()
    document = summary.report("evidence.jsonl", "0" * 64, {})
    begun = time.process_time()
    page = render_html(document, cases=cases)
    writing = time.process_time() - begun
    file.write_text(page, encoding="utf-8")
    total = sum(cases.packed(10**9).total.values())
    return {"taking": taking, "writing": writing, "bytes": len(page.encode()), "rows": total}


def open_page(file: Path, chromium: str) -> list[dict[str, Any]]:
    """Open the page some times, and give for each how many seconds it took until it could be used."""
    from playwright.sync_api import sync_playwright

    samples = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(OPENINGS):
            page = browser.new_page()
            begun = time.perf_counter()
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]")
            ready = time.perf_counter() - begun
            page.click("#by-adapter_state-table th button")
            page.wait_for_selector("#by-adapter_state-table th[aria-sort]")
            usable = time.perf_counter() - begun
            shown = page.locator("#case-count").text_content()
            begun = time.perf_counter()
            page.fill("#case-text", "47/48")
            page.wait_for_function("text => document.getElementById('case-count').textContent !== text", arg=shown)
            filtered = time.perf_counter() - begun
            listed = page.locator("#case-count").text_content()
            samples.append({"ready": ready, "usable": usable, "filtered": filtered, "listed": listed})
            page.close()
        browser.close()
    return samples


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--ids", choices=("numbered", "random"), default="numbered")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="The browser's program.")
    options = parser.parse_args()
    if options.chromium is None:
        parser.error("there is no chromium on the path; name one by --chromium")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        written = write_page(options.rows, options.ids, file)
        openings = open_page(file, options.chromium)
    assert written["rows"] == options.rows, "every row is listed or counted as left out"
    print_figures(
        "html_page",
        {"rows": options.rows, "ids": options.ids},
        {
            "page MB": round(written["bytes"] / 1e6, 2),
            "seconds until it can be used": round(min(sample["usable"] for sample in openings), 2),
            "seconds of a filter by text": round(min(sample["filtered"] for sample in openings), 2),
            "microseconds a row": round(1e6 * written["taking"] / options.rows, 2),
            "processor seconds of writing": round(written["writing"], 2),
        },
        {"page MB": "<= 5", "seconds until it can be used": "<= 2"},
        {"openings": openings},
    )


if __name__ == "__main__":
    main()
