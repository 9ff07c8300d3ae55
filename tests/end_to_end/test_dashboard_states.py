"""The dashboard of a service that has nothing to show, or cannot show it at present."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from ..browser import opened
from ..command import Bench
from ..seeded_service import Service, serving

AWAY = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": "the store is away"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    bench = Bench(tmp_path_factory.mktemp("empty"))
    bench.write("dyno.yaml", "agents: {}\n")
    with serving(bench) as running:
        yield running


def test_an_empty_service_says_what_to_type(browser: Browser, service: Service) -> None:
    with opened(browser, service.address) as (page, _):
        for address, command in {
            "/": "dyno init && dyno run",
            "/leaderboard": "dyno init && dyno run",
            "/matrix": "dyno init && dyno run",
            "/runs": "dyno demo",
            "/jobs": f"--server {service.address}",
            "/compare": "dyno run SUITE --agent AGENT",
            "/coverage": "dyno init && dyno run",
            "/alerts": "dyno init && dyno run",
            "/grid": "dyno init && dyno run",
            "/history": "dyno init && dyno run",
            "/cost": "dyno init && dyno run",
            "/stress": "dyno load AGENT --profile quick",
            "/profile": "dyno run SUITE --agent AGENT",
        }.items():
            page.goto(address)
            expect(page.get_by_role("main").get_by_text(command).last).to_be_visible()
        page.goto("/alerts")
        expect(page.get_by_text(re.compile("^What became worse with a version"))).to_be_visible()
        expect(page.get_by_text("Nothing is worse than it was.")).to_have_count(0)
        page.goto("/coverage")
        expect(page.get_by_text(re.compile("are named here"))).to_be_visible()
        expect(page.get_by_role("heading", name="How benchmarking itself does")).to_have_count(0)
        page.goto("/start")
        expect(page.get_by_text("Starting a run needs a key that may run.")).to_be_visible()


def test_a_store_that_is_away_is_said_and_waited_for(browser: Browser, service: Service) -> None:
    with opened(browser, service.address) as (page, watch):
        watch.allow("503")
        page.route("**/api/matrix*", lambda route: route.fulfill(status=503, json=AWAY))
        page.goto("/matrix")
        banner = page.get_by_text("The store is away. Trying again…")
        expect(banner).to_be_visible()
        page.unroute("**/api/matrix*")
        expect(page.get_by_role("main").get_by_text("dyno init && dyno run")).to_be_visible()
        expect(banner).not_to_be_visible()


def test_a_key_that_is_revoked_shows_nothing_more_and_asks_for_another(browser: Browser, service: Service) -> None:
    gone = {"type": "about:blank", "title": "Unauthorized", "status": 401, "detail": "this key was revoked"}
    with opened(browser, service.address) as (page, watch):
        watch.allow("401")
        page.goto("/")
        told = page.get_by_role("main").get_by_text("dyno init && dyno run")
        expect(told).to_be_visible()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.route("**/api/changes", lambda route: route.fulfill(status=401, json=gone))
        expect(page.get_by_text("This key was revoked.")).to_be_visible()
        expect(told).to_have_count(0)
        asked.clear()
        page.unroute("**/api/changes")
        page.get_by_label("Key", exact=True).fill("another")
        page.route("**/api/changes", lambda route: route.fulfill(status=401, json={**gone, "detail": "unknown key"}))
        page.get_by_role("button", name="Use this key").click()
        expect(page.get_by_text("Unknown key.")).to_be_visible()
        assert sum(url.endswith("/api/changes") for url in asked) == 1, "once, with the other key"


def test_a_server_that_was_away_is_back_without_a_reload(browser: Browser, service: Service) -> None:
    with opened(browser, service.address) as (page, watch):
        watch.allow("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "Failed to fetch")
        page.goto("/runs")
        expect(page.get_by_text("Nothing has been run yet.")).to_be_visible()
        service.stop()
        page.get_by_label("Kind", exact=True).select_option("suite")
        banner = page.get_by_text("The server does not answer. Trying again…")
        expect(banner).to_be_visible()
        service.start()
        expect(banner).not_to_be_visible()
        expect(page.get_by_text("No run fits the filter.")).to_be_visible()
        page.get_by_role("link", name="All runs").click()
        expect(page.get_by_text("Nothing has been run yet.")).to_be_visible()
