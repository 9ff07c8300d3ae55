#!/usr/bin/env python3
"""Makes the pictures of the dashboard in docs/images, light and dark, from a service with seeded results.

Usage: .venv/bin/python scripts/screenshots.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page  # noqa: E402
from tests.browser import chromium, opened  # noqa: E402
from tests.command import Bench  # noqa: E402
from tests.page_parts import settle  # noqa: E402
from tests.seeded_service import Service, seed, serving  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH = 1280
HIGHEST = 1000
"""Pixels; what is further down a page is not in the picture."""
LARGEST = 250_000
"""Bytes of one picture."""


def addresses(service: Service) -> dict[str, str]:
    """Picture and page."""
    runs = service.get("/api/runs?kind=suite&limit=50")["items"]
    run = next(row["run_id"] for row in runs if row["arms"] > 4)
    return {
        "changes": "/?open=helper+support",
        "leaderboard": "/leaderboard?suite=support&agents=sage@3,helper@2.0,helper@2.1",
        "compare": "/compare?agents=helper@2.0,helper@2.1&suite=support",
        "history": "/history?subject=scout&metric=accuracy&suite=support&benchmark=orders",
        "run": f"/runs/{run}",
    }


def take(page: Page, address: str, path: Path) -> None:
    """One picture, once everything on the page is drawn."""
    settle(page, address)
    page.wait_for_load_state("networkidle")
    height = min(HIGHEST, page.evaluate("document.documentElement.scrollHeight"))
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, full_page=True)
    size = path.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{path.name} has {size} bytes, more than {LARGEST}")
    print(f"{path.relative_to(ROOT)}  {size // 1000} kB")


def take_all(browser: Browser, service: Service) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, address in addresses(service).items():
        for theme in ("light", "dark"):
            dark = theme == "dark"
            with opened(browser, service.address, secret=service.secret, width=WIDTH, dark=dark) as (page, _):
                take(page, address, IMAGES / f"{name}-{theme}.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        bench = Bench(Path(folder))
        with serving(bench, seed(bench)) as service:
            take_all(browser, service)


if __name__ == "__main__":
    main()
