"""A headless Chromium, and pages of reports opened in it from disk."""

import shutil

import pytest

from pytest_benchbench.evidence.reading import index_evidence
from pytest_benchbench.reports.html.cases import Cases
from pytest_benchbench.reports.html.page import render_html
from pytest_benchbench.reports.reckoning import reckon

HOSTILE = '<img src=x onerror="window.pwned=1"></script><script>window.pwned=1</script>\'"&{{7*7}}'


@pytest.fixture(scope="module")
def chromium():
    """One browser for the tests of a module: as long as Playwright lasts, nobody else in this process can run a loop."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    """``opened(html, width=1280, scheme="light")``: the page; at the end it must have had no fault and asked for nothing."""
    contexts, troubles = [], []

    def open_page(html, *, width=1280, scheme="light", **options):
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        options.setdefault("permissions", ["clipboard-read", "clipboard-write"])
        context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: troubles.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [trouble for trouble in troubles if not trouble.startswith("data:image/")] == []


@pytest.fixture(scope="session")
def written(write):
    """``written(rows, run=None, policy=None)``: the page about some rows."""

    def write_page(rows, run=None, policy=None, pictures=None):
        cases = Cases()
        reckoned = reckon(
            index_evidence(write(rows)), run or {}, policy, lost=0, left_out=0, lazy_verification=False, also=[cases.add]
        )
        drawn = {case.key: pictures for case in cases.shown()} if pictures else None
        return render_html(reckoned.report, cases=cases, pictures=drawn, gate=reckoned.decision)

    return write_page


@pytest.fixture(scope="session")
def rows(row):
    """Rows of every outcome, some with names that would do harm if a page took them for markup."""
    states = ("marked", "attacked", "clean")
    matches = [
        row(
            f"case-{number:04}",
            expected="not_detected" if number % 3 == 2 else "detected",
            status="not_detected" if number % 3 == 2 else "detected",
            state=states[number % 3],
            arm="matched_negative" if number % 3 == 2 else "positive",
            transform=f"jpeg-{number % 12}",
            reason=f"{number % 17}/48 bits",
            line=number + 1,
            adapter=("dwt-dct", "perth")[number % 2],
            message_bit_accuracy=(number % 17) / 48,
        )
        for number in range(600)
    ]
    return [
        *matches,
        row(
            HOSTILE, expected="detected", status="not_detected", reason=HOSTILE, transform=HOSTILE, state="marked", line=700
        ),
        row("Grüße 漢字", expected="detected", status="not_detected", state="marked", line=701),
        row("x" * 190, expected="detected", status="not_detected", state="marked", line=702, reason="y" * 400),
        row("broken", status="error", transform="undecided", error={"type": "OSError", "message": HOSTILE}, line=703),
        row("missing", status="unavailable", reason="no weights", line=704),
        row("known", expected="detected", status="not_detected", known=True, line=705),
        row("wavering", expected="detected", attempt=1, line=706),
        row("wavering", expected="detected", attempt=2, line=706, status="not_detected"),
        row("open", line=707, state="removed", status="not_detected"),
    ]


@pytest.fixture(scope="session")
def html(written, rows):
    """The page about ``rows``, with a run as ``run.json`` tells it."""
    from pytest_benchbench.gates.policy import load_policy
    from pytest_benchbench.reports.html.figure import CasePictures, Figure

    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
    pictures = CasePictures((Figure(f"data:image/png;base64,{dot}", "a dot", HOSTILE),), "no reference")
    run = {"versions": {"python": "3.11.7"}, "machine": {"system": HOSTILE}, "started": "2026-11-30T00:00:00.000+00:00"}
    return written(rows, run, load_policy("strict"), pictures)
