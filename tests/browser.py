"""Chromium without a window, and what it may not do: complain, or ask another host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parent.parent / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE_MS = 60_000
RUN_AXE = """async (rules) => {
    const only = rules.length > 0 ? {runOnly: rules} : {};
    const found = await axe.run(document, {resultTypes: ["violations"], ...only});
    return found.violations
        .filter((rule) => rule.impact === "serious" || rule.impact === "critical")
        .map((rule) => `${rule.id}: ${rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
}"""


def program() -> str:
    """Where Chromium is."""
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    raise AssertionError("Chromium is missing. Run scripts/chromium.sh, which installs it.")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of the system; what is expected of its pages has ``PATIENCE_MS`` to come about."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watch:
    """What pages said and asked for. ``allowed`` are parts of complaints that are meant to be."""

    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    allowed: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
        context.on("console", self._said)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on("request", lambda request: self._asked(request.url))

    def allow(self, *parts: str) -> None:
        """Complaints that have one of these parts, until the end of this watch."""
        self.allowed.extend(parts)

    def unwanted(self) -> list[str]:
        return [text for text in self.complaints if not any(part in text for part in self.allowed)]

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _asked(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about"):
            self.hosts.add(f"{parts.scheme}://{parts.netloc}")


@contextmanager
def opened(
    browser: Browser,
    address: str,
    *,
    secret: str = "",
    width: int = 1280,
    dark: bool = False,
    bypass_csp: bool = False,
) -> Iterator[tuple[Page, Watch]]:
    """A page at the size and in the colours wanted, signed in where there is a secret.

    At its end: no complaint in the console, no request to another host. ``bypass_csp`` lets scripts of a test in.
    """
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        bypass_csp=bypass_csp,
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(PATIENCE_MS)
    if secret:
        # The key of a tab is kept in the tab, so every new one is given it.
        context.add_init_script(f"if (origin !== 'null') sessionStorage.setItem('key', '{secret}')")
    watch = Watch()
    watch.follow(context)
    page = context.new_page()
    try:
        yield page, watch
    finally:
        context.close()
    assert not watch.unwanted(), watch.unwanted()
    assert watch.hosts <= {address}, watch.hosts


def serious(page: Page, *rules: str) -> Sequence[str]:
    """What axe-core finds on the page that keeps somebody from using it; by these rules alone, if any are given."""
    if not AXE.is_file():
        raise AssertionError("axe-core is missing. Run scripts/dashboard.sh --install, which installs it.")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found: list[str] = page.evaluate(RUN_AXE, list(rules))
    return found
