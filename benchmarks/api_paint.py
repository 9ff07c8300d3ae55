"""How soon the dashboard's landing page is painted in headless Chromium; ``benchmarks/api.py`` prints the figures."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.browser import chromium

_FIRST_PAINT = """() => new Promise((done) => {
    new PerformanceObserver((list) => {
        const found = list.getEntries().find((entry) => entry.name === "first-contentful-paint");
        if (found) done(found.startTime);
    }).observe({type: "paint", buffered: true});
})"""
PATIENCE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Paint:
    """One visit, in ms from its beginning: the first text, and the rows of the page, with data from the store."""

    first_ms: float
    rows_ms: float
    rows: int


def visits(address: str, count: int) -> list[Paint]:
    """Visits of ``/`` one after the other, each in a browser that has nothing in its cache."""
    found = []
    with chromium() as browser:
        for _ in range(count):
            context = browser.new_context()
            page = context.new_page()
            page.goto(address + "/")
            rows = page.locator("main table tbody tr")
            rows.first.wait_for(timeout=PATIENCE_MS)
            shown_ms = float(page.evaluate("() => performance.now()"))
            found.append(Paint(float(page.evaluate(_FIRST_PAINT)), shown_ms, rows.count()))
            context.close()
    return found
