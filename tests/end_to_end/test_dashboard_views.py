"""What a link to a page shows again, what a table gives to a spreadsheet, and how figures stand beside each other."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ..browser import opened
from ..page_parts import rows, settle
from ..seeded_service import Service

PAIR = "/compare?agents=helper@2.0,helper@2.1&suite=support"
SHOWN_CELLS = """(table) => [...table.querySelectorAll("thead tr, tbody tr:not(.below)")].map((row) =>
    [...row.cells].filter((cell) => !cell.classList.contains("more")).map((cell) => {
        const hidden = [...cell.querySelectorAll("[aria-hidden=true], .visually-hidden")];
        const before = hidden.map((part) => part.style.display);
        hidden.forEach((part) => { part.style.display = "none"; });
        const text = cell.innerText.replace(/\\s+/g, " ").trim();
        hidden.forEach((part, index) => { part.style.display = before[index]; });
        return text;
    }))"""


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    # What a test reads out of the page is a script of its own.
    with opened(browser, service.address, secret=service.secret, bypass_csp=True) as (page, _):
        yield page


def saved(page: Page, button: Locator, folder: Path) -> list[list[str]]:
    """The rows of the file that a table gives."""
    with page.expect_download() as download:
        button.click()
    place = folder / download.value.suggested_filename
    download.value.save_as(place)
    text = place.read_text(encoding="utf-8-sig")
    return list(csv.reader(text.splitlines()))


def unspaced(rows: list[list[str]]) -> list[list[str]]:
    """Without blanks and the marks of text: what is beside each other on the screen has a blank or none."""
    return [[re.sub(r"[\s']", "", cell) for cell in row] for row in rows]


def test_every_table_is_saved_as_it_is_shown(page: Page, newest: str, tmp_path: Path) -> None:
    boards = ("/", "/leaderboard", "/matrix", "/coverage", "/grid?suite=support", "/cost?suite=support", PAIR)
    lists = ("/runs", "/agents", "/agents/helper", "/suites", "/suites/support")
    found = 0
    for address in (*boards, *lists, f"/runs/{newest}", f"/runs/{newest}/cases?status=all"):
        settle(page, address)
        page.wait_for_load_state("networkidle")
        for table in page.locator("table:visible").all():
            caption = table.locator("caption").inner_text() or str(table.locator("caption").text_content())
            button = page.get_by_role("button", name=f"Save as CSV: {caption}", exact=True)
            assert unspaced(saved(page, button, tmp_path)) == unspaced(table.evaluate(SHOWN_CELLS)), (
                address,
                caption,
            )
            found += 1
    assert found >= 18, found


def test_a_saved_cell_reads_as_it_does_on_the_screen(page: Page, tmp_path: Path) -> None:
    settle(page, "/?sort=agent")
    button = page.get_by_role("button", name=re.compile("^Save as CSV: Every agent"))
    cells = [cell for row in saved(page, button, tmp_path) for cell in row]
    assert "helper@2.1 Support desk" in cells, "one name stays in one piece, and two lines are two words"
    broke = re.compile(r"^worse \w+ since 2\.1 10 cases broke: order-00, order-01,")
    assert any(broke.match(cell) for cell in cells), cells


def test_a_saved_page_has_the_headings_of_its_tables_and_nothing_to_press(
    page: Page, browser: Browser, newest: str, tmp_path: Path
) -> None:
    settle(page, f"/runs/{newest}")
    page.wait_for_load_state("networkidle")
    file = tmp_path / "run.html"
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    download.value.save_as(file)
    for width in (1280, 390):
        alone = browser.new_context(offline=True, viewport={"width": width, "height": 900})
        try:
            shown = alone.new_page()
            shown.goto(file.as_uri())
            agents = shown.get_by_role("table", name="Agents by overall score").first
            if width == 1280:
                expect(agents.get_by_role("columnheader", name="Accuracy")).to_be_visible()
            expect(agents.locator("tbody tr").first.locator("td[data-label=Reliability]")).to_be_visible()
            assert shown.locator("button, input, select").count() == 0
            for name in ("Reports", "Files of the run"):
                expect(shown.get_by_role("heading", name=name)).to_have_count(0)
        finally:
            alone.close()


def test_a_page_is_printed_whole_and_in_dark_on_white(browser: Browser, service: Service, newest: str) -> None:
    text = "getComputedStyle(document.body.querySelector('h1')).color"
    with opened(browser, service.address, secret=service.secret, dark=True, bypass_csp=True) as (page, _):
        settle(page, f"/runs/{newest}")
        expect(page.locator(".chart-canvas canvas")).to_be_visible()
        on_screen = page.evaluate(text)
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.evaluate(text) != on_screen
        expect(page.get_by_role("navigation", name="Pages")).not_to_be_visible()
        expect(page.get_by_role("button", name="Export")).not_to_be_visible()
        page.set_viewport_size({"width": 700, "height": 900})  # about a sheet of paper
        first = rows(page, "Agents by overall score").first
        expect(first.get_by_role("cell").last).to_be_visible()
        assert page.evaluate("document.querySelector('.chart-canvas canvas').getBoundingClientRect().right") <= 700
        page.emulate_media(media="screen")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(text) == on_screen


def test_keys_of_the_page_are_at_rest_while_a_window_is_open(page: Page, newest: str) -> None:
    settle(page, f"/runs/{newest}/cases/order-01?benchmark=orders")
    expect(page.get_by_role("link", name="Next failure (j)")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    expect(page).to_have_url(re.compile("/order-01"))
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("/order-02"))


def test_a_history_says_what_changes_says_of_the_same_agent(page: Page) -> None:
    settle(page, "/history?subject=helper&metric=accuracy&suite=support")
    told = page.get_by_role("region", name="Against the baseline")
    expect(told).to_contain_text(re.compile("worse helper@2.1 against helper@2.0 on Support desk, case by case"))
    told.get_by_role("link").click()
    expect(page.get_by_role("heading", name=re.compile("^Broken: only helper@2.0"))).to_be_visible()
    settle(page, "/history?subject=scout&metric=accuracy&suite=support")
    expect(page.get_by_role("heading", name="Changes of level")).to_be_visible()
    expect(told).to_have_count(0)  # what it is judged by is this history


def test_a_link_shows_what_is_open_on_the_page_of_a_run(page: Page, newest: str) -> None:
    settle(page, f"/runs/{newest}")
    parts = page.get_by_text("By benchmark (2)")
    arms = page.get_by_role("table", name="Agents in each benchmark")
    expect(arms).not_to_be_visible()
    parts.click()
    page.get_by_role("button", name="Show as table").click()
    drawn = page.get_by_role("table", name="Durations")
    for _ in range(2):
        expect(arms).to_be_visible()
        expect(drawn).to_be_visible()
        page.reload()
    parts.click()
    page.get_by_role("button", name="Show as chart").click()
    expect(page).to_have_url(re.compile(f"/runs/{newest}$"))


def test_a_link_shows_the_steps_of_a_case_that_are_open(page: Page, newest: str) -> None:
    settle(page, f"/runs/{newest}/cases/order-01?benchmark=orders&agent=sage@3")
    expect(page.get_by_text(re.compile("^2 steps, ")).first).to_be_visible()
    step = page.locator("details.step").filter(has_text="price_of").first
    step.locator("summary").first.click()
    expect(page).to_have_url(re.compile("[?&]steps="))  # the browser tells that it is open a moment after it is
    for _ in range(2):
        expect(step.get_by_text("gave back")).to_be_visible()
        page.reload()
    page.get_by_role("link", name="The run", exact=True).click()
    expect(page).to_have_url(re.compile(f"/runs/{newest}$"))


def test_a_link_shows_the_row_that_is_open_on_a_phone(browser: Browser, service: Service) -> None:
    with opened(browser, service.address, secret=service.secret, width=390) as (page, _):
        settle(page, "/leaderboard")
        first = rows(page, re.compile("^Agents by overall")).first
        first.get_by_role("button", name="More").click()
        for _ in range(2):
            expect(first.get_by_role("cell", name=re.compile("^Reliability"))).to_be_visible()
            page.reload()


def test_costs_of_a_column_are_of_one_number_of_tasks(page: Page) -> None:
    for address, table in (
        ("/leaderboard?suite=support", re.compile("^Agents by overall")),
        ("/cost?suite=support", "What each agent costs"),
    ):
        settle(page, address)
        shown = page.get_by_role("table", name=table, exact=True)
        heading = shown.get_by_role("columnheader", name="$ per 1,000 tasks")
        expect(heading).to_be_visible()
        place = heading.evaluate("(cell) => cell.cellIndex")
        cells = shown.locator(f"tbody tr td:nth-child({place + 1})").all_inner_texts()
        assert {"$20.00", "$1.00"} <= set(cells), cells
        assert all(re.fullmatch(r"\$[\d.,]+|—", cell) for cell in cells), cells


def test_no_column_is_out_of_sight_at_1280(page: Page, newest: str) -> None:
    wide = (
        "[...document.querySelectorAll('.table-wrap')].filter((place) => place.scrollWidth > place.clientWidth + 1)"
        ".map((place) => place.getAttribute('aria-label'))"
    )
    for address in ("/", "/runs", "/leaderboard", "/matrix", "/cost?suite=support", PAIR, f"/runs/{newest}"):
        settle(page, address)
        assert page.evaluate(wide) == [], address


def test_an_agent_keeps_its_version_where_its_name_is_cut(page: Page) -> None:
    def with_long_names(answer: dict[str, list[dict[str, list[dict[str, str]]]]]) -> object:
        for row in answer["items"]:
            for subject in row["subjects"]:
                subject["label"] = "a-name-of-many-letters-for-an-agent-in-use@2026.11.3"
        return answer

    page.route("**/api/runs?*", lambda route: route.fulfill(json=with_long_names(route.fetch().json())))
    settle(page, "/runs?kind=suite")
    first = rows(page, "Runs, newest first").first.locator(".runs-subject").first
    version = first.get_by_text("@2026.11.3")
    expect(version).to_be_visible()
    outer, inner = first.bounding_box(), version.bounding_box()
    assert outer is not None
    assert inner is not None
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1


def test_the_page_to_compare_offers_agents_beside_their_baselines(page: Page) -> None:
    settle(page, "/compare")
    offered = page.get_by_role("list", name="Agents with a baseline")
    offered.get_by_role("link", name="helper@2.0 against helper@2.1").click()
    expect(page.get_by_role("heading", name="Flipped cases")).to_be_visible()


def test_compared_runs_have_names(page: Page, service: Service) -> None:
    first, second = [row["run_id"] for row in service.get("/api/runs?kind=suite&limit=2")["items"]]
    page.goto(f"/compare?runs={second},{first}")
    expect(page.get_by_role("link", name=f"Support desk {second[:13]}")).to_be_visible()


def test_what_is_not_there_is_said_once(browser: Browser, service: Service) -> None:
    with opened(browser, service.address, secret=service.secret) as (page, watch):
        watch.allow("404")
        page.goto("/agents/nobody")
        expect(page.get_by_text("there is no agent 'nobody' here")).to_have_count(1)
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_an_estimate_that_is_awaited_asks_for_nothing_more(page: Page) -> None:
    page.route("**/benchmarks/estimate", lambda route: None)
    page.goto("/start?agent=helper&suite=support")
    expect(page.get_by_text("Working out how much it is…")).to_be_visible()
    page.goto("/start?agent=helper")
    expect(page.get_by_text("Choose an agent and a suite to see how much it is.")).to_be_visible()


def test_a_case_that_an_agent_was_not_asked_leads_to_those_who_were(page: Page, newest: str) -> None:
    page.goto(f"/runs/{newest}/cases/order-01?benchmark=orders&agent=nobody@1")
    expect(page.get_by_text("nobody@1 has no answer to this case in this run.")).to_be_visible()
    page.get_by_role("link", name=re.compile("^The answers of ")).click()
    expect(page.get_by_role("article").first).to_be_visible()


def test_the_bars_of_all_steps_have_one_time_axis(page: Page, newest: str) -> None:
    """However long the figures of a step are, and however deep it is."""

    def nested(answer: dict[str, list[dict[str, object]]]) -> object:
        outer = {"kind": "span", "name": "plan", "at_s": 0.0, "duration_s": 1.0, "content": None}
        inner = {"kind": "model_call", "name": "clerk", "at_s": 0.5, "duration_s": 0.25, "content": None}
        usage = {"input_tokens": 123_456, "output_tokens": 7, "cost_usd": 0.000_123}
        for item in answer["answers"]:
            item["events"] = [
                {**outer, "details": {"span": "a"}},
                {**inner, "details": {"span": "b", "parent": "a", **usage}},
                {**inner, "name": "alone", "details": {"span": "c"}},
            ]
        return answer

    page.route("**/api/runs/*/cases/order-01*", lambda route: route.fulfill(json=nested(route.fetch().json())))
    page.goto(f"/runs/{newest}/cases/order-01?benchmark=orders&agent=sage@3")
    answer = page.get_by_role("article").first
    answer.locator("details.step summary").filter(has_text="plan").click()
    lanes = answer.locator(".step-lane:visible")
    expect(lanes).to_have_count(3)
    boxes = [lane.bounding_box() for lane in lanes.all()]
    places = {(round(box["x"]), round(box["width"])) for box in boxes if box is not None}
    assert len(places) == 1, places


def test_a_search_says_where_it_shows_a_part_of_what_it_found(page: Page) -> None:
    settle(page, "/suites")
    page.keyboard.press("/")
    box = page.get_by_role("dialog", name="Search")
    box.get_by_label("Search").fill("order-")
    expect(box.get_by_text("At most 8 cases are shown")).to_be_visible()
    box.get_by_label("Search").fill("order-07")
    expect(box.get_by_role("list", name="Found").get_by_role("link")).to_have_count(1)
    expect(box.get_by_text("are shown")).to_have_count(0)


def test_enter_opens_what_was_typed_and_not_what_was_found_before(page: Page) -> None:
    settle(page, "/suites")
    page.keyboard.press("/")
    box = page.get_by_role("dialog", name="Search")
    box.get_by_label("Search").fill("sage")
    expect(box.get_by_role("list", name="Found").get_by_role("link").first).to_contain_text("sage")
    box.get_by_label("Search").fill("scout")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/agents/scout$"))
    expect(box).to_have_count(0)
    page.keyboard.press("/")
    expect(box.get_by_role("list", name="Found").get_by_role("link").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(box).to_have_count(0)  # also where one is there already


def test_a_table_of_thousands_begins_with_a_part_and_says_so(page: Page) -> None:
    def long(answer: dict[str, list[dict[str, object]]]) -> object:
        first = answer["rows"][0]
        return {**answer, "rows": [{**first, "case_id": f"case-{number:04d}", "flips": 0} for number in range(1200)]}

    page.route("**/api/case-grid*", lambda route: route.fulfill(json=long(route.fetch().json())))
    settle(page, "/grid?suite=support")
    listed = rows(page, "Cases and who passes them")
    expect(listed).to_have_count(500)
    expect(page.get_by_text("The first 500 of 1,200 rows.")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Show 700 more")).click()
    for _ in range(2):
        expect(listed).to_have_count(1200)
        expect(page.get_by_text("The first 500")).to_have_count(0)
        page.reload()
    page.get_by_label("Text", exact=True).fill("case-1199")
    expect(listed).to_have_count(1)


def test_on_a_phone_both_marks_of_an_answer_are_on_one_line(browser: Browser, service: Service, newest: str) -> None:
    with opened(browser, service.address, secret=service.secret, width=390) as (page, _):
        settle(page, f"/runs/{newest}/cases/order-00?benchmark=orders")
        page.get_by_text("Marks of people").click()
        names = (re.compile(f"^{word}") for word in ("Right", "Wrong"))
        right, wrong = (page.get_by_role("button", name=name).first.bounding_box() for name in names)
        assert right is not None
        assert wrong is not None
        assert abs(right["y"] - wrong["y"]) < 2, "a line is higher than that"
