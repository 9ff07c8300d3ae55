"""The dashboard in a real browser, on a service that really runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agentdyno.model.job import Scope

from ..browser import Watch, opened, serious
from ..page_parts import chart, every_page, fits, heading, hover_point, query, rows, settle, too_wide
from ..seeded_service import BROKEN, EPOCHS, Service, make_key
from ..stressed import stressed

Opened = AbstractContextManager[tuple[Page, Watch]]
HISTORY = "/history?subject=scout&metric=accuracy&suite=support"


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """Signed in with a key of scope run."""
    with signed_in(browser, service) as (page, _):
        yield page


def signed_in(browser: Browser, service: Service, **how: Any) -> Opened:  # the options of ``opened``
    return opened(browser, service.address, secret=service.secret, **how)


def test_changes_lead_to_both_trajectories_in_two_clicks(page: Page) -> None:
    page.goto("/")
    expect(page).to_have_title("▼ 2 worse · Changes · agentdyno")
    assert page.locator("link[rel=icon]").get_attribute("href") == "/icons/worse.svg"
    answer = page.get_by_text(re.compile("^▼ 2 worse: helper@2.1 on Support desk since version 2.1, 10 cases broke"))
    expect(answer.get_by_role("link", name="scout@1.1 on Support desk")).to_have_attribute("href", HISTORY)
    expect(page.get_by_text("dyno changes", exact=True)).to_be_visible()
    first = rows(page, re.compile("against its baseline")).first
    expect(first).to_contain_text("helper@2.1")
    expect(first).to_contain_text("since 2.1")
    page.get_by_role("button", name=f"{BROKEN} broken").click()
    page.get_by_role("link", name="orders / order-03").click()
    expect(heading(page, "Case order-03")).to_be_visible()
    expect(page.get_by_role("region", name="Baseline: helper@2.0")).to_contain_text("12")
    expect(page.get_by_role("region", name="Candidate: helper@2.1")).to_contain_text("0")
    expect(page.get_by_text("they part at step 3")).to_be_visible()
    mark = page.get_by_role("listitem").filter(has_text="First divergence")
    expect(mark).to_contain_text("price_of")
    expect(mark).to_contain_text("no such step")
    page.keyboard.press("j")
    expect(heading(page, "Case order-04")).to_be_visible()
    page.keyboard.press("k")
    expect(heading(page, "Case order-03")).to_be_visible()


def test_the_leaderboard_sorts_filters_and_draws_what_is_chosen(page: Page) -> None:
    page.goto("/leaderboard")
    board = rows(page, re.compile("^Agents by overall"))
    expect(board.first).to_be_visible()
    everybody = board.count()
    page.get_by_role("button", name="Accuracy").click()
    expect(page).to_have_url(query(sort="-accuracy"))
    expect(page.get_by_role("columnheader", name="Accuracy")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Accuracy").click()
    expect(page).to_have_url(query(sort="accuracy"))
    expect(board.first).to_contain_text(re.compile("helper|scout"))
    page.get_by_label("Category", exact=True).select_option("speed")
    expect(page).to_have_url(query(category="speed", sort="accuracy"))
    expect(page.get_by_text("dyno board --category speed")).to_be_visible()
    expect(page.get_by_text("of 4 agents")).to_be_visible()
    assert board.count() < everybody
    shown = chart(page, "Radar of the chosen agents")
    expect(shown).not_to_have_attribute("aria-label", re.compile("sage@3"))
    choice = page.get_by_role("checkbox", name="Show sage@3 in the pictures")
    choice.check()
    expect(page).to_have_url(re.compile("agents=.*sage%403"))
    expect(shown).to_have_attribute("aria-label", re.compile("sage@3: accuracy 100.0, speed"))
    page.reload()
    expect(board).to_have_count(4)
    expect(choice).to_be_checked()
    expect(page.get_by_label("Category", exact=True)).to_have_value("speed")


def test_the_timeline_marks_the_drop_and_a_point_opens_its_run(page: Page, newest: str) -> None:
    page.goto("/history?subject=scout&metric=accuracy&suite=support&benchmark=orders")
    picture = chart(page, "accuracy of scout in orders")
    expect(picture).to_have_attribute("aria-label", re.compile("1 regression and 0 improvements"))
    change = rows(page, "Changes of level").first
    expect(change).to_contain_text("regression")
    expect(change).to_contain_text("1.0 → 1.1")
    page.get_by_role("button", name="Show as table").click()
    points = rows(page, "accuracy of scout in orders")
    expect(points).to_have_count(29)
    expect(points.first).to_contain_text("1.1")
    page.get_by_role("button", name="Show as chart").click()
    page.mouse.click(*hover_point(page, picture))
    expect(page).to_have_url(re.compile(f"/runs/{newest}$"))
    expect(heading(page, "Support desk")).to_be_visible()


def test_head_to_head_gives_a_verdict_and_the_outputs_of_flipped_cases(page: Page) -> None:
    page.goto("/compare")
    expect(page.get_by_text("Choose two agents or more")).to_be_visible()
    page.get_by_label("Add an agent", exact=True).select_option("helper@2.0")
    page.get_by_label("Add an agent", exact=True).select_option("helper@2.1")
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("helper@2.0 wins")
    expect(page.get_by_text("dyno compare helper@2.0 helper@2.1")).to_be_visible()
    expect(page.get_by_role("heading", name=f"Broken ({BROKEN})")).to_be_visible()
    efficiency = rows(page, "The five dimensions and overall").filter(has_text="efficiency total_tokens")
    expect(efficiency).to_contain_text("+50.0 %")
    page.get_by_role("button", name="Show outputs of order-02").click()
    expect(page.get_by_text("Target: 9")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Target: 9")).to_be_visible()
    page.get_by_role("button", name="Swap").click()
    expect(page.get_by_role("heading", name=f"Fixed ({BROKEN})")).to_be_visible()
    page.get_by_label("Add an agent", exact=True).select_option("sage@3")
    expect(heading(page, "All against all")).to_be_visible()


def test_the_cost_scatter_has_a_frontier_and_two_axes(page: Page) -> None:
    page.goto("/cost?suite=support")
    picture = chart(page, "Cost per task against accuracy")
    expect(picture).to_have_attribute("aria-label", re.compile("On the frontier, from the cheapest: scout@1.1"))
    page.get_by_role("radio", name="Linear axis").click()
    expect(page).to_have_url(query(axis="linear"))
    page.get_by_role("radio", name="Latency").click()
    expect(chart(page, "Cost per task against latency")).to_be_visible()
    page.reload()
    expect(page.get_by_role("radio", name="Linear axis")).to_be_checked()
    figure = page.get_by_role("figure", name="Cost per task against latency")
    figure.get_by_role("button", name="Show as table").click()
    expect(rows(page, "Cost per task against latency").filter(has_text="sage@3")).to_be_visible()
    page.get_by_role("radio", name="By model").click()
    expect(page).to_have_url(query(by="model"))
    expect(chart(page, "Spent per day by model")).to_have_attribute("aria-label", re.compile("most of it by clerk-"))


def test_runs_are_found_by_an_agent_told_apart_and_compared(page: Page) -> None:
    page.goto("/runs")
    table = rows(page, "Runs, newest first")
    expect(table.filter(has_text="sorting")).to_contain_text("size=400")
    page.get_by_role("searchbox", name="Search").fill("HELPER")
    expect(page).to_have_url(query(q="HELPER"))
    expect(table).to_have_count(2)
    expect(table.first).to_contain_text("helper@2.1")
    expect(table.first).to_contain_text("worse")
    expect(table.last).to_contain_text("baseline")
    for row in (table.first, table.last):
        row.get_by_role("checkbox").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(heading(page, "Two runs")).to_be_visible()
    expect(page.get_by_role("heading", name=f"Broken ({BROKEN})")).to_be_visible()


def test_alerts_of_a_version_are_acknowledged_at_once_and_taken_back(page: Page) -> None:
    page.goto("/alerts?agent=scout")
    card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="scout@1.1"))
    expect(card).to_contain_text("accuracy")
    expect(card).to_have_count(1)
    card.get_by_label("Note", exact=True).fill("known, <b>waiting</b> for 1.2")
    card.get_by_role("button", name="Acknowledge").click()
    expect(card).to_contain_text("Acknowledged by desk")
    expect(card).to_contain_text("known, <b>waiting</b> for 1.2")
    page.reload()
    expect(page.get_by_label("Agent", exact=True)).to_be_visible()
    expect(card).to_have_count(0)
    page.get_by_label("show acknowledged ones too").check()
    expect(page).to_have_url(query(all="true", agent="scout"))
    card.get_by_role("button", name="Undo").click()
    expect(card.get_by_role("button", name="Acknowledge")).to_be_visible()
    page.get_by_label("show acknowledged ones too").uncheck()
    expect(card).to_be_visible()


def test_matrix_coverage_and_stress_say_what_there_is(page: Page) -> None:
    page.goto("/matrix")
    expect(rows(page, "Every agent in every dimension").filter(has_text="sage")).to_be_visible()
    page.goto("/coverage")
    expect(page.get_by_text("3 of 3 agents benchmarked within 30 days")).to_be_visible()
    page.goto("/stress")
    expect(page.get_by_text("No stress test has been run yet.")).to_be_visible()
    expect(page.get_by_text("dyno load AGENT --profile quick")).to_be_visible()


def test_a_profile_shows_phases_and_the_spans_of_a_case(page: Page, newest: str) -> None:
    page.goto("/profile?subject=helper")
    expect(rows(page, "Phases").filter(has_text="tools")).to_be_visible()
    expect(page.get_by_text("What these names mean")).to_be_visible()
    page.goto(f"/runs/{newest}/cases/order-23?benchmark=orders&agent=sage@3")
    page.get_by_role("link", name="Its spans: waterfall and flame view").click()
    picture = page.get_by_role("img", name=re.compile("Waterfall of 2 spans")).first
    expect(picture).to_contain_text("find_order")
    page.get_by_role("radio", name="Flame").first.click()
    expect(page).to_have_url(query(view="flame", case="order-23"))
    expect(page.get_by_role("img", name=re.compile("Flame view of 2 spans")).first).to_be_visible()
    page.get_by_text("Span tree (2 spans)").first.click()
    expect(rows(page, "Spans of Epoch 1").filter(has_text="price_of").first).to_be_visible()


def test_a_stress_test_shows_its_curves_and_where_the_target_breaks(page: Page, newest: str) -> None:
    page.route("**/api/stress*", lambda route: route.fulfill(json=stressed(newest)))
    page.goto("/stress")
    expect(page.get_by_role("list", name="Summary")).to_contain_text("79resilience, of 100")
    scenarios = rows(page, "Scenarios")
    expect(scenarios.nth(0)).to_contain_text("breaks at 900 requests per second [850, 950]")
    expect(scenarios.nth(2)).to_contain_text("client-limited")
    expect(page.get_by_text("Keep the rate below 850 a second")).to_be_visible()
    expect(chart(page, "Latency by requests per second: high load")).to_have_attribute(
        "aria-label", re.compile("6 levels; p99 at most")
    )
    expect(chart(page, "Rate over time: spike load")).to_be_visible()
    expect(chart(page, "Errors over time: spike load")).to_be_visible()
    page.get_by_role("link", name="spike load").click()
    expect(page).to_have_url(query(scenario="spike_load", run=newest))
    expect(page.get_by_role("region", name="high load")).to_have_count(0)
    page.get_by_role("link", name="The run").click()
    expect(page).to_have_url(re.compile(f"/runs/{newest}$"))


def test_from_the_runs_to_a_run_and_through_its_failures(page: Page, newest: str) -> None:
    page.goto("/runs")
    listed = rows(page, "Runs, newest first")
    expect(listed.filter(has_text="sorting")).to_be_visible()
    page.get_by_label("Kind", exact=True).select_option("experiment")
    expect(page).to_have_url(query(kind="experiment"))
    expect(listed).to_have_count(1)
    page.get_by_role("link", name="sorting").click()
    expect(rows(page, re.compile("^Arms by"))).to_have_count(2)
    page.goto(f"/runs/{newest}")
    expect(page.get_by_role("heading", name=re.compile("Cases that were not passed"))).to_be_visible()
    broken = rows(page, "Cases that were not passed").first.get_by_role("cell")
    expect(broken.nth(4)).to_have_text("0")  # the answer itself; the scorer's reason stands beside it
    expect(broken.nth(5)).to_contain_text("want")
    expect(chart(page, "Durations")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Markdown").click()
    assert saved.value.suggested_filename.endswith(".md")
    page.get_by_role("link", name="All failures with their answers").click()
    samples = rows(page, "Samples")
    expect(samples).to_have_count((BROKEN + 7) * EPOCHS)
    page.get_by_label("Ended", exact=True).select_option("error")
    expect(page.get_by_text("No sample fits the filter.")).to_be_visible()
    page.get_by_label("Ended", exact=True).select_option("failed")
    page.get_by_label("Agent", exact=True).select_option("scout@1.1")
    expect(samples).to_have_count(7 * EPOCHS)
    for _ in range(2):
        page.keyboard.press("j")
    expect(samples.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(samples.nth(0)).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading(page, re.compile("^order-"))).to_be_visible()
    expect(page.get_by_text("find_order").first).to_be_visible()
    here = heading(page, re.compile("^order-")).inner_text()
    page.get_by_role("link", name="Next failure (j)").wait_for()
    page.keyboard.press("j")
    expect(heading(page, re.compile("^order-"))).not_to_have_text(here)


def test_agents_and_suites_have_pages(page: Page) -> None:
    page.goto("/agents")
    page.get_by_role("table", name="Agents").get_by_role("link", name="helper").click()
    expect(heading(page, "helper")).to_be_visible()
    expect(rows(page, "Suites it has run").filter(has_text="Support desk")).to_be_visible()
    expect(page.get_by_text("as released")).to_be_visible()
    page.goto("/suites")
    page.get_by_role("table", name="Suites").get_by_role("link", name="Support desk").click()
    expect(heading(page, "Support desk")).to_be_visible()
    expect(rows(page, "Benchmarks").filter(has_text="quotes")).to_be_visible()


def test_what_does_not_exist_is_said_with_the_nearest_name(browser: Browser, service: Service) -> None:
    with signed_in(browser, service) as (page, watch):
        watch.allow("404", "409", "422")
        page.goto("/agents/helpr")
        expect(page.get_by_role("alert")).to_contain_text("Did you mean helper?")
        page.goto("/alerts?agent=scout")
        expect(page.get_by_role("link", name="History", exact=True).last).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("^Compare .* with"))).to_have_count(0)
        page.goto("/compare?agents=scout@1.0,scout@1.1&suite=support")
        expect(page.get_by_role("alert")).to_contain_text("scout@1.0 has imported totals")
        expect(page.get_by_role("alert").get_by_role("link", name="History of scout")).to_be_visible()
        page.goto("/leaderboard?category=fast")
        expect(page.get_by_role("alert")).to_contain_text("query.category")
        page.get_by_label("Category", exact=True).select_option("accuracy")
        expect(rows(page, re.compile("^Agents by overall")).first).to_be_visible()
        page.goto("/runs/zzzz")
        expect(heading(page, "Run zzzz")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("there is no run 'zzzz'")
        page.goto("/nowhere")
        expect(heading(page, "No such page")).to_be_visible()


def test_a_run_is_started_from_the_form_and_watched_to_its_end(browser: Browser, service: Service) -> None:
    with opened(browser, service.address) as (page, watch):
        watch.allow("401")
        page.goto("/start")
        page.get_by_label("Key", exact=True).fill(service.secret)
        page.get_by_role("button", name="Use this key").click()
        expect(page.get_by_role("link", name="desk (run)")).to_be_visible()
        page.get_by_label("Agent", exact=True).select_option("sage")
        page.get_by_label("Suite", exact=True).select_option("support")
        page.get_by_label("Epochs", exact=True).fill("none")
        page.get_by_role("button", name="Start the run").click()
        expect(page.get_by_label("Epochs", exact=True)).to_be_focused()
        page.get_by_label("Epochs", exact=True).fill("1")
        page.get_by_label("Cases", exact=True).fill("8")
        page.get_by_label("pause", exact=True).fill("0.1")
        page.get_by_role("button", name="Start the run").click()
        expect(page).to_have_url(re.compile("/(jobs|runs)/"))
        expect(heading(page, re.compile("Support desk.*complete"))).to_be_visible()
        page.goto("/jobs")
        job = rows(page, "Jobs, newest first").first
        expect(job).to_contain_text("succeeded")
        expect(job).to_contain_text("8 of 8")
        expect(job).to_contain_text("desk")


def test_the_chosen_theme_is_kept(page: Page) -> None:
    page.goto("/")
    switch = page.get_by_role("button", name="Dark colours")
    expect(switch).to_have_attribute("aria-pressed", "false")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != light


def test_the_keyboard_reaches_every_page_of_the_navigation(page: Page) -> None:
    page.goto("/")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(links).to_have_count(16)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Tab")
    for index in range(16):
        page.keyboard.press("Tab")
        expect(links.nth(index)).to_be_focused()
    links.nth(3).focus()
    page.keyboard.press("Enter")
    expect(heading(page, "Leaderboard")).to_be_visible()
    expect(page.get_by_role("main")).to_be_focused()


def test_every_page_is_open_to_everybody_in_light_in_dark_and_on_a_phone(
    browser: Browser, service: Service, newest: str
) -> None:
    job = service.ask(
        "/benchmarks/run",
        {"agent_id": "sage", "suite_id": "support", "async_execution": True, "options": {"limit": 1, "epochs": 1}},
    )["job"]["job_id"]
    admin = make_key(service, "boss", Scope.ADMIN)
    with opened(browser, service.address, secret=admin, bypass_csp=True) as (page, watch):
        watch.allow("404", "409")
        page.route("**/api/stress*", lambda route: route.fulfill(json=stressed(newest)))
        found: dict[str, object] = {}
        for address in every_page(newest, job):
            page.set_viewport_size({"width": 1280, "height": 900})
            page.emulate_media(color_scheme="light", reduced_motion="reduce")
            settle(page, address)
            if violations := serious(page):
                found[address] = violations
            if wide := too_wide(page):
                found[f"{address} (1280 px)"] = wide
            page.emulate_media(color_scheme="dark", reduced_motion="reduce")
            expect(page.get_by_role("button", name="Dark colours")).to_have_attribute("aria-pressed", "true")
            if violations := serious(page):
                found[f"{address} (dark)"] = violations
            page.set_viewport_size({"width": 390, "height": 844})
            if not fits(page, 390):
                found[f"{address} (390 px)"] = page.evaluate("document.scrollingElement.scrollWidth")
        assert not found, found


def test_on_a_phone_the_navigation_is_a_menu(browser: Browser, service: Service) -> None:
    with signed_in(browser, service, width=390) as (page, _):
        page.goto("/")
        navigation = page.get_by_role("navigation", name="Pages")
        menu = navigation.get_by_role("button", name="Menu")
        expect(menu).to_have_attribute("aria-expanded", "false")
        menu.click()
        navigation.get_by_role("link", name="Cost").click()
        expect(heading(page, re.compile("^Cost"))).to_be_visible()
        expect(navigation.get_by_role("link", name="Cost")).not_to_be_visible()
