"""The files that the package ships as its dashboard."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agentdyno.web.static_files import BUILT

SOURCE = Path(__file__).parents[2] / "dashboard"
CHUNK = re.compile(r"assets/[\w-]+\.(?:js|css)")


class _Page(HTMLParser):
    """Collects what the policy of the service would refuse, and what the page asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.asked: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        self.asked += [value for name, value in attrs if name in ("src", "href") and value]
        self._open = tag if tag in ("script", "style") else ""

    def handle_data(self, data: str) -> None:
        if self._open and data.strip():
            self.inline.append(data)


@pytest.fixture(scope="module")
def page() -> _Page:
    parsed = _Page()
    parsed.feed((BUILT / "index.html").read_text())
    return parsed


def test_the_page_has_no_inline_script_and_no_inline_style(page: _Page) -> None:
    assert page.inline == []


def test_everything_that_the_page_asks_for_is_shipped(page: _Page) -> None:
    assert page.asked
    assert [path for path in page.asked if not (BUILT / path.lstrip("/")).is_file()] == []


def test_every_chunk_that_a_script_names_is_shipped() -> None:
    named = {name for script in BUILT.glob("assets/*.js") for name in CHUNK.findall(script.read_text())}
    assert named
    assert sorted(name for name in named if not (BUILT / name).is_file()) == []


def test_the_tab_has_an_icon_for_every_verdict() -> None:
    names = {path.stem for path in (BUILT / "icons").glob("*.svg")}
    assert names == {"none", "worse", "better", "same", "inconclusive"}


def test_the_lock_file_names_no_registry() -> None:
    packages = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    assert len(packages) > 1
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


def test_every_dependency_of_the_dashboard_is_pinned() -> None:
    described = json.loads((SOURCE / "package.json").read_text())
    versions = {**described["dependencies"], **described["devDependencies"], **described["overrides"]}
    assert [name for name, version in versions.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
