"""A report's page, used as people use it."""

import pytest


def column(page, table, number):
    return page.locator(f"#{table} tbody tr td:nth-child({number})").all_text_contents()


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def counted(page, count):
    page.wait_for_selector(f"#case-count:text-is('{count} of 608 listed cases')")


def open_everything(page):
    page.evaluate("document.styleSheets[0].insertRule('.scroll, details.case { content-visibility: visible !important; }')")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


def test_the_verdict_comes_first(opened, html):
    page = opened(html)
    assert page.locator("h1").text_content() == "Gate strict: refused"
    assert page.locator("h1").bounding_box()["y"] < 200


def test_names_that_look_like_markup_are_text(opened, html, rows):
    page = opened(html)
    open_everything(page)
    page.fill("#case-text", "onerror")
    counted(page, 2)
    assert page.evaluate("window.pwned") is None
    name = rows[600]["case"]["case_id"]
    assert page.locator(".list li .id").first.text_content() in (name, "broken")
    assert page.locator("details.case h3", has_text=name).count() == 1
    assert page.locator("img[src='x'], script:not([type])").count() == 1  # the page's own script
    assert "49" not in page.locator("details.case h3", has_text=name).text_content()


def test_a_header_sorts_its_table_up_and_down(opened, html):
    page = opened(html)
    header = page.locator("#by-adapter_state_transform-table th", has_text="rows").first
    place = 1 + page.locator("#by-adapter_state_transform-table th").all_text_contents().index("rows")
    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    shown = [int(text) for text in column(page, "by-adapter_state_transform-table", place)]
    assert shown == sorted(shown)
    assert len(set(shown)) > 1
    header.locator("button").press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    again = [int(text) for text in column(page, "by-adapter_state_transform-table", place)]
    assert again == sorted(shown, reverse=True)


def test_names_sort_as_people_count_and_nothing_is_last(opened, html):
    page = opened(html)
    table = "by-adapter_state_transform-table"
    place = 1 + page.locator(f"#{table} th").all_text_contents().index("transform")
    button = page.locator(f"#{table} th button", has_text="transform")
    button.click()
    shown = column(page, table, place)
    assert shown.index("jpeg-2") < shown.index("jpeg-10")
    interval = page.locator(f"#{table} th button", has_text="95 % interval").first
    for _ in range(2):
        interval.click()
        place_of = 1 + [text.strip() for text in page.locator(f"#{table} th").all_text_contents()].index("95 % interval")
        assert column(page, table, place_of)[-1] == "—"


def test_a_filter_hides_lines_and_says_how_many_are_left(opened, html):
    page = opened(html)
    field = page.locator("[data-filter=by-adapter_state_transform-table]")
    field.fill("JPEG-11")
    visible = page.locator("#by-adapter_state_transform-table tbody tr:visible")
    assert all("jpeg-11" in text for text in visible.all_text_contents())
    total = page.locator("#by-adapter_state_transform-table tbody tr").count()
    said = page.locator("#by-adapter_state_transform-table-shown")
    assert said.text_content() == f"{visible.count()} of {total} lines"
    field.fill("")
    assert visible.count() == total


def test_all_cases_are_listed_the_worst_first_and_few_are_drawn(opened, html):
    page = opened(html)
    assert page.locator("#case-count").text_content() == "608 of 608 listed cases"
    assert page.locator(".list li").first.locator(".chip").text_content() == "error"
    assert page.locator(".list li").count() < 40
    page.locator(".list").focus()
    page.keyboard.press("End")
    page.wait_for_selector(".list li[aria-posinset='608']")
    assert page.locator(".list li").count() < 40
    page.keyboard.press("Home")
    page.wait_for_selector(".list li[aria-posinset='1']")


@pytest.mark.parametrize(
    ("field", "value", "count"),
    [
        ("case-text", "grüsse", 0),
        ("case-text", "GRÜSSE".replace("SS", "ß"), 1),
        ("case-text", "漢", 1),
        ("case-text", "16/48", 35),
        ("case-outcome", "unavailable", 1),
        ("case-outcome", "unstable", 1),
        ("case-adapter", "perth", 300),
        ("case-state", "clean", 200),
        ("case-transform", "jpeg-3", 50),
    ],
)
def test_the_list_of_all_cases_filters(opened, html, field, value, count):
    page = opened(html)
    if field == "case-text":
        page.fill(f"#{field}", value)
    else:
        page.select_option(f"#{field}", value)
    counted(page, count)


def test_a_node_id_is_copied_as_pytest_takes_it(opened, html):
    page = opened(html)
    page.fill("#case-text", "漢")
    counted(page, 1)
    page.locator(".list li button", has_text="Copy").click()
    page.wait_for_selector(".list li button:has-text('Copied')")
    node = "suite.py::test_detection::dwt-dct::Gr+C3+BC+C3+9Fe+20+E6+BC+A2+E5+AD+97"
    assert page.evaluate("navigator.clipboard.readText()") == node


def test_copying_works_without_the_clipboard_of_secure_pages(opened, html):
    page = opened(html)
    page.evaluate(
        "window.real = navigator.clipboard;"
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject() } })"
    )
    page.select_option("#case-outcome", "unavailable")
    page.locator("#case-copy").click()
    page.wait_for_selector("#case-copy:has-text('Copied')")
    assert page.evaluate("window.real.readText()") == "suite.py::test_detection::dwt-dct::missing"


def test_a_listed_case_leads_to_its_pictures(opened, html):
    page = opened(html)
    page.fill("#case-text", "漢")
    counted(page, 1)
    page.locator(".list li button", has_text="Show").click()
    card = page.locator("details.case[open]")
    assert card.locator("h3").text_content().endswith("Grüße 漢字")
    assert card.locator("img").is_visible()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_has_nothing_beside_it(opened, html, scheme):
    page = opened(html, width=400, scheme=scheme)
    assert fits(page)
    open_everything(page)
    assert fits(page)


def test_dark_is_dark_and_paper_is_white(opened, html):
    page = opened(html, scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(20, 23, 26)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_printing_shows_every_case_and_no_control(opened, html):
    page = opened(html)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details.case:not([open])").count() == 0
    assert page.locator("details.case .facts").last.is_visible()
    assert page.locator("input:visible, select:visible, .button:visible").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.case[open]").count() == 0
    assert page.pdf().startswith(b"%PDF")


def test_the_keyboard_reaches_everything(opened, html):
    page = opened(html)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    card = page.locator("details.case summary").first
    card.focus()
    page.keyboard.press("Enter")
    assert page.locator("details.case").first.get_attribute("open") is not None
    page.locator("#case-text").focus()
    for _ in range(7):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('li')?.getAttribute('aria-posinset')") == "1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_no_barrier(opened, html, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened(html, width=width, scheme=scheme)
    open_everything(page)
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_without_javascript_all_but_the_list_is_there(opened, html):
    page = opened(html, java_script_enabled=False)
    assert page.locator("h1").text_content() == "Gate strict: refused"
    assert page.locator("noscript p, #all-cases ~ noscript").first.is_visible()
    assert page.locator("#by-adapter_state-table").is_visible()


def test_an_empty_run_is_a_page_too(opened, written):
    page = opened(written([]))
    assert page.locator("h1").text_content() == "Nothing was measured"
    assert page.locator("#case-count").text_content() == "0 of 0 listed cases"
