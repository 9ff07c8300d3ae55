"""Parts of the dashboard's pages as a reader names them, and waiting for them."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, TimeoutError, expect

from .browser import PATIENCE_MS


def heading(page: Page, text: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("heading", level=1, name=text)


def rows(page: Page, table: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("table", name=table).locator("tbody tr")


def chart(page: Page, title: str) -> Locator:
    return page.get_by_role("img", name=re.compile(f"^{title}"))


def query(**values: str) -> re.Pattern[str]:
    """An address with these values in any order."""
    return re.compile("".join(f"(?=.*[?&]{name}={re.escape(value)}(&|$))" for name, value in values.items()))


def hover_point(page: Page, picture: Locator) -> tuple[float, float]:
    """The place of the rightmost mark of a chart: where the pointer becomes a hand."""
    picture.scroll_into_view_if_needed()
    expect(picture.locator("canvas")).to_be_visible()
    box = picture.bounding_box()
    assert box is not None
    for right in range(14, 40, 4):
        for down in range(34, int(box["height"]) - 60, 5):
            x, y = box["x"] + box["width"] - right, box["y"] + down
            page.mouse.move(x, y)
            if picture.locator("div").first.evaluate("(element) => element.style.cursor") == "pointer":
                return x, y
    raise AssertionError("there is no point at the right end of the chart")


def settle(page: Page, address: str) -> None:
    """Goes there and waits until everything is drawn."""
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="…")).to_have_count(0)
    expect(page.locator("main [role=img]:empty")).to_have_count(0)


def fits(page: Page, width: int) -> bool:
    """Whether nothing of the page is outside; charts need a moment to follow its size. Needs ``bypass_csp``."""
    try:
        page.wait_for_function(
            "(width) => document.scrollingElement.scrollWidth <= width", arg=width, timeout=PATIENCE_MS
        )
    except TimeoutError:
        return False
    return True


def too_wide(page: Page) -> list[str]:
    """Tables of which a part is out of sight. Needs ``bypass_csp``."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.table-wrap')].filter((place) => place.scrollWidth > place.clientWidth + 1)"
        ".map((place) => place.getAttribute('aria-label'))"
    )
    return found


def every_page(run: str, job: str) -> list[str]:
    """The addresses of all pages, with something on them: of a run of the three agents, and of a job."""
    pair = "/compare?agents=helper@2.0,helper@2.1&suite=support"
    sides = "&first_agent=sage@3&second_agent=helper@2.1"
    boards = "/ /?open=helper+support /alerts /jobs /leaderboard /matrix /coverage /grid /history /cost?suite=support"
    things = f"/runs /runs/{run} /runs/{run}/cases /runs/zzzz /jobs/{job} /agents /agents/helper /suites"
    return [
        *boards.split(),
        *things.split(),
        *(
            "/suites/support",
            "/stress",
            "/profile?subject=helper",
            "/start",
            "/key",
            "/nowhere",
            "/history?subject=scout&metric=accuracy",
        ),
        *(pair, "/compare?agents=helper@2.0,helper@2.1,sage@3", "/compare?agents=scout@1.0,scout@1.1"),
        f"/runs/{run}/cases/order-01?benchmark=orders",
        f"/profile?subject={run}&case=order-01&benchmark=orders",
        f"/divergence?first_run={run}&second_run={run}&case_id=order-01&benchmark=orders{sides}",
    ]
