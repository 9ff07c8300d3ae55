"""Runs, cases, search and narrow screens of the dashboard, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ..browser import opened
from ..loaded_commands import Commands, LoadedBench
from ..page_parts import chart, fits, heading, query, rows, settle
from ..seeded_service import Service, serving
from ..stressed import stressed

LONG = "customer-support-agent-of-the-north-area"
SUITE = "refunds-and-returns-of-the-northern-area"
BENCHMARK = "questions-that-were-asked-in-the-north-a"
WIDTHS = (360, 390, 768, 1280)
AGENT = """
from agentdyno import Case, Response, Usage, tool_call


def answer(case: Case, misses: int = 0) -> Response:
    number = int(case.id.rpartition("-")[2])
    with tool_call("find_order", {"order": number}) as result:
        result.append({"order": number})
    said = 0 if number < misses else number
    return Response(f"it is {said} in all", usage=Usage(input_tokens=40, output_tokens=8))
"""


def files(version: str, misses: int) -> dict[str, str]:
    cases = "".join(
        f'      - {{id: a-case-with-a-name-of-almost-forty-letter-{i}, input: "How many, {i}?", '
        f'target: "it is {i} in all", group: north}}\n'
        for i in range(5)
    )
    suite = (
        f"name: {SUITE}\nsuite_id: {SUITE}\nepochs: 2\nbenchmarks:\n  - name: {BENCHMARK}\n"
        f"    scorer: exact\n    dataset:\n{cases}"
    )
    workspace = (
        f'agents:\n  {LONG}: {{use: "agent.py@answer", version: "{version}", config: {{misses: {misses}}}}}\n'
        f"suites: [suite.yaml]\n"
    )
    return {"agent.py": AGENT, "suite.yaml": suite, "dyno.yaml": workspace}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, loaded_commands: Commands) -> Iterator[Service]:
    """Two versions of an agent, all of whose names have forty letters; the second breaks two cases."""
    bench = LoadedBench(tmp_path_factory.mktemp("long"), loaded_commands)
    for version, misses in (("1.0", 1), ("2.0", 3)):
        for name, content in files(version, misses).items():
            bench.write(name, content)
        done = bench.dyno("run", "suite.yaml", "--agent", LONG, "--tag", f"release-{version}")
        assert done.code in (0, 1), done.err
    with serving(bench) as running:
        yield running


@pytest.fixture(scope="module")
def newest(service: Service) -> str:
    return str(service.get("/api/runs")["items"][0]["run_id"])


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    with opened(browser, service.address) as (page, _):
        yield page


def test_a_run_says_whether_it_is_worse_and_leads_to_the_one_before(page: Page, newest: str) -> None:
    page.goto(f"/runs/{newest}")
    expect(heading(page, re.compile(f"{LONG}@2.0 on {SUITE}"))).to_be_visible()
    verdict = page.get_by_role("list", name="Against the baseline")
    expect(verdict).to_contain_text(f"{LONG}@2.0 against {LONG}@1.0")
    expect(page.get_by_role("link", name="Run after")).to_have_count(0)
    page.get_by_role("link", name="Run before").click()
    expect(heading(page, re.compile("@1.0 on"))).to_be_visible()
    page.get_by_role("link", name="Run after").click()
    expect(page).to_have_url(re.compile(newest))


def test_a_load_run_opens_on_its_curves_with_the_summary_first(page: Page, newest: str) -> None:
    def as_load(answer: dict[str, object]) -> dict[str, object]:
        run = answer["run"]
        assert isinstance(run, dict)
        return {**answer, "standing": None, "run": {**run, "kind": "load", "suite": None}}

    page.route(f"**/api/runs/{newest}", lambda route: route.fulfill(json=as_load(route.fetch().json())))
    page.route("**/api/stress*", lambda route: route.fulfill(json=stressed(newest)))
    page.goto(f"/runs/{newest}")
    summary = page.get_by_role("list", name="Summary")
    expect(summary).to_contain_text(re.compile(r"resilience, of 100, from \d of 3 scenarios"))
    expect(chart(page, "Latency by requests per second: high load")).to_be_visible()
    expect(page.get_by_role("link", name="The run", exact=True)).to_have_count(0)
    expect(page.get_by_text("It stood what was asked.")).to_be_visible()
    expect(page.get_by_role("table", name=re.compile("^Arms by"))).to_have_count(0)
    expect(page.get_by_role("heading", name="How long it took")).to_have_count(0)


def test_a_case_shows_its_steps_in_time_and_why_it_scored_so(page: Page, newest: str) -> None:
    page.goto(f"/runs/{newest}/cases/a-case-with-a-name-of-almost-forty-letter-2?benchmark={BENCHMARK}")
    answer = page.get_by_role("article").first
    expect(answer.get_by_role("heading", name="Why this score")).to_be_visible()
    expect(answer.get_by_text("exact")).to_be_visible()
    step = answer.get_by_text("calls find_order")
    expect(answer.get_by_text("gave back")).not_to_be_visible()
    step.click()
    expect(answer.get_by_text("gave back")).to_be_visible()
    page.get_by_role("link", name=re.compile("word by word")).click()
    words = page.get_by_label("Words that differ")
    expect(words.locator("del")).to_have_text("2")
    expect(words.locator("ins")).to_have_text("0")


def test_the_grid_puts_flips_first_and_its_address_says_what_is_shown(page: Page, newest: str) -> None:
    page.goto(f"/grid?agent={LONG}")
    listed = rows(page, "Cases and who passes them")
    expect(listed).to_have_count(5)
    expect(listed.first).to_contain_text("100 %")
    expect(listed.first).to_contain_text("0 %")
    page.get_by_label("Show", exact=True).select_option("flips")
    expect(listed).to_have_count(2)
    expect(page).to_have_url(query(show="flips", agent=LONG))
    page.reload()
    expect(listed).to_have_count(2)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV: Cases and who passes them").click()
    lines = saved.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert saved.value.suggested_filename == "cases-and-who-passes-them.csv"
    assert lines[0] == f"Case,Flips,{LONG}@1.0,{LONG}@2.0"
    assert [line.split(",")[-3:] for line in lines[1:]] == [["1", "100 %", "0 %"]] * 2
    listed.first.get_by_role("link", name="0 %", exact=True).click()
    expect(page).to_have_url(re.compile(f"/runs/{newest}/cases/a-case"))


def test_a_slash_searches_everything_and_a_question_mark_tells_the_keys(page: Page) -> None:
    page.goto("/suites")
    expect(heading(page, "Suites")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("the next and the previous row")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    box = page.get_by_role("dialog", name="Search")
    box.get_by_label("Search").fill("NORTH")
    found = box.get_by_role("list", name="Found").get_by_role("link")
    expect(found.first).to_contain_text(f"agent {LONG}")
    box.get_by_label("Search").fill("release-2")
    expect(found).to_have_text([re.compile("^tag release-2.0")])
    box.get_by_label("Search").fill("forty-letter-3")
    expect(found).to_have_text([re.compile("^case a-case-with-a-name-of-almost-forty-letter-3")])
    page.keyboard.press("ArrowDown")
    expect(found.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(rows(page, "Cases and who passes them")).to_have_count(1)


def test_no_page_scrolls_sideways_with_names_of_forty_letters(
    browser: Browser, service: Service, newest: str
) -> None:
    case = f"a-case-with-a-name-of-almost-forty-letter-2?benchmark={BENCHMARK}"
    sides = f"agents={LONG}@1.0,{LONG}@2.0"
    pages = [
        *("/", "/alerts", "/jobs", "/leaderboard", "/matrix", "/coverage", "/grid", f"/grid?agent={LONG}"),
        *(f"/compare?{sides}&suite={SUITE}", f"/history?subject={LONG}&metric=accuracy", f"/cost?suite={SUITE}"),
        *("/runs", f"/runs/{newest}", f"/runs/{newest}/cases?status=all", f"/runs/{newest}/cases/{case}"),
        *("/agents", f"/agents/{LONG}", "/suites", f"/suites/{SUITE}", f"/profile?subject={LONG}", "/start", "/key"),
    ]
    found: list[str] = []
    with opened(browser, service.address, bypass_csp=True) as (page, watch):
        watch.allow("401", "404", "409", "422")
        for address in pages:
            page.set_viewport_size({"width": 1280, "height": 900})
            settle(page, address)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                if not fits(page, width):
                    found.append(f"{address} at {width}")
    assert not found, found


def test_on_a_phone_filters_fold_away_and_a_row_is_one_line(browser: Browser, service: Service, newest: str) -> None:
    with opened(browser, service.address, width=390) as (page, _):
        page.goto(f"/runs/{newest}/cases")
        first = rows(page, "Samples").first
        expect(first.locator("td").nth(1)).not_to_be_visible()
        expect(page.get_by_label("Ended", exact=True)).not_to_be_visible()
        first.get_by_role("button", name="More").click()
        expect(first.get_by_role("cell", name=re.compile("^Took"))).to_be_visible()
        page.get_by_role("button", name="Filter").click()
        page.get_by_label("Score", exact=True).select_option("100")
        expect(page.get_by_text("No sample fits the filter.")).to_be_visible()


def test_a_run_that_nobody_executes_is_not_said_to_be_killed(page: Page, service: Service, newest: str) -> None:
    """Its process has ended without closing it, and the page says how to go on; one that is executed says so."""
    told = {"run_id": newest, "status": "running", "planned": 40, "executed": True, "job_id": "", "points": []}
    points = [
        {"at": at, "done": at, "passed": at - 1, "cost_usd": 0.1 * at, "median_s": 0.2, "p95_s": 0.4}
        for at in (1, 2, 3)
    ]

    def as_running(answer: dict[str, object]) -> dict[str, object]:
        run = answer["run"]
        assert isinstance(run, dict)
        return {**answer, "run": {**run, "status": "running", "finished_at": None}}

    page.route(f"**/api/runs/{newest}", lambda route: route.fulfill(json=as_running(route.fetch().json())))
    page.route("**/progress", lambda route: route.fulfill(json={**told, "points": points}))
    page.goto(f"/runs/{newest}")
    expect(page.get_by_text("3 of 40 executions, 67 % passed")).to_be_visible()
    for title in ("Passed so far", "Latency", "Cost so far"):
        expect(chart(page, title)).to_be_visible()
    expect(page.get_by_text("killed")).to_have_count(0)
    page.unroute("**/progress")
    page.route("**/progress", lambda route: route.fulfill(json={**told, "executed": False}))
    expect(page.get_by_text("Nobody executes it on this machine")).to_be_visible()


def test_a_run_and_a_case_with_ten_thousand_steps_are_one_file_without_a_server(
    page: Page, browser: Browser, newest: str, tmp_path: Path
) -> None:
    case = "a-case-with-a-name-of-almost-forty-letter-2"

    def long(answer: dict[str, object]) -> dict[str, object]:
        answers = answer["answers"]
        assert isinstance(answers, list)
        step = {
            "kind": "note",
            "at_s": 0.0,
            "content": "<script>alert(1)</script>" * 30,
            "duration_s": 0.1,
            "details": {},
        }
        events = [{**step, "name": f"step {number}", "at_s": number / 10} for number in range(10_000)]
        return {**answer, "answers": [{**answers[0], "events": events}]}

    page.goto(f"/runs/{newest}")
    expect(chart(page, "Durations").locator("canvas")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").click()
    run_file = tmp_path / "run.html"
    saved.value.save_as(run_file)
    page.route("**/api/runs/*/cases/*", lambda route: route.fulfill(json=long(route.fetch().json())))
    page.goto(f"/runs/{newest}/cases/{case}?benchmark={BENCHMARK}")
    expect(page.get_by_text(re.compile("^10,000 steps"))).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").click()
    case_file = tmp_path / "case.html"
    saved.value.save_as(case_file)
    alone = browser.new_context(offline=True)
    try:
        shown = alone.new_page()
        shown.goto(run_file.as_uri())
        expect(heading(shown, re.compile(f"{LONG}@2.0 on {SUITE}"))).to_be_visible()
        expect(shown.get_by_role("img", name=re.compile("^Durations")).locator("img")).to_be_visible()
        shown.goto(case_file.as_uri())
        expect(shown.locator(".step")).to_have_count(10_000)
        assert shown.locator("script:not(.export-later)").count() == 1, "the one that shows the steps"
        assert shown.locator("script.export-later").count() == 0
        last = shown.locator(".step").last
        last.locator("summary").click()
        expect(last.get_by_text("<script>alert(1)</script>").first).to_be_visible()
    finally:
        alone.close()
