from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from agentdyno.findings.run.charts_points import sweeps, wants_log
from agentdyno.model import Verdict
from agentdyno.reports.html_page import MOST_CHARTED, render_html

from ..given_results import SCRIPT, Factory
from .suites import comprehensive
from .suites import report as of_suites

VOID = {"meta", "br", "wbr", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """Checks nesting and collects what could act or load."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src", "xlink:href", "srcset", "action", "data", "poster", "background"):
                self.links.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def test_the_page_is_well_formed_and_asks_for_nothing(make: Factory) -> None:
    text = render_html(make.report(make.rich(), comparisons=[make.comparison(Verdict.WORSE, Verdict.SAME)]))
    page = Page(text)
    assert all(link.startswith("#") for link in page.links)
    assert not {"script", "link", "iframe", "object", "embed", "form", "base"} & set(page.tags)
    assert "http://" not in text
    assert "https://" not in text
    assert "url(h" not in text
    assert "@import" not in text
    assert """content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">""" in text
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_the_page_says_what_a_reader_needs(make: Factory) -> None:
    verdicts = (Verdict.WORSE, Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.BETTER)
    text = Page(render_html(make.report(make.rich(), comparisons=[make.comparison(*verdicts)]))).text
    for words in (
        "✗ worse",
        "✓ better",
        "? inconclusive",
        "= same",
        "The machine was busy",
        "Close other programs",
        "sort: duration against size",
        "size (log)",
        "where time goes (cprofile)",
        "where memory goes (tracemalloc)",
        "Resources over time",
        "index is empty",
        "Example CPU 3 GHz",
        "0123456789ab on main, with changes",
        "019ca9c1-4d80-7abc-8def-0123456789ab",
        "result.accuracy",
    ):
        assert words in text, words


def test_names_from_outside_are_inert(make: Factory) -> None:
    report = make.degenerate()["hostile names"]
    text = render_html(report)
    page = Page(text)
    assert "script" not in page.tags
    assert page.handlers == []
    assert SCRIPT not in text
    assert SCRIPT in page.text


def test_a_hostile_profile_is_inert(make: Factory) -> None:
    arm = make.arm()
    details: dict[str, object] = {
        "cprofile": {"top": [{"function": SCRIPT, "calls": "many"}, "no row"]},
        "psutil": {"series": {"t_s": [0, 1], "rss_bytes": ["x", 5.0], "cpu_percent": [1]}},
        "tracemalloc": {"top": "no list"},
    }
    arm = replace(arm, samples=(*arm.samples[:-1], replace(arm.samples[-1], details=details)))
    page = Page(render_html(make.report(make.result([arm]))))
    assert "script" not in page.tags
    assert SCRIPT in page.text


def test_every_odd_result_gives_a_well_formed_page(make: Factory) -> None:
    for name, report in make.degenerate().items():
        page = Page(render_html(report))
        assert "script" not in page.tags, name
        assert all(link.startswith("#") for link in page.links), name


def test_many_arms_are_all_in_the_table_and_the_page_says_which_are_drawn(make: Factory) -> None:
    page = Page(render_html(make.degenerate()["many arms"]))
    assert "arm[n=199]" in page.text
    assert f"Charts of the first {MOST_CHARTED} arms" in page.text


def test_charts_take_the_colours_of_the_page(make: Factory) -> None:
    text = render_html(make.report(make.result([make.arm()])))
    assert "prefers-color-scheme: dark" in text
    svg = text[text.index("<svg") : text.index("</svg>")]
    assert "var(--ink)" in svg
    assert "#24292f" not in svg


def test_a_sweep_has_one_line_per_other_parameter(make: Factory) -> None:
    (sweep,) = sweeps(make.sweep())
    assert sweep.parameter == "size"
    assert [line.label for line in sweep.lines] == ["kind=quick", "kind=merge"]
    assert [point.x for point in sweep.lines[0].points] == [10, 100, 1000, 10_000]


def test_parameters_that_vary_together_are_one_line(make: Factory) -> None:
    arms = [make.arm(f"a{i}", params={"n": i, "m": 2 * i}) for i in (1, 2, 3)]
    (sweep,) = sweeps(make.result([replace(arm, experiment="a") for arm in arms]))
    assert len(sweep.lines) == 1
    assert len(sweep.lines[0].points) == 3


@pytest.mark.parametrize(
    ("values", "log"), [((1.0, 20.0), False), ((1.0, 21.0), True), ((0.0, 50.0), False), ((), False)]
)
def test_an_axis_is_logarithmic_above_a_range_of_twenty(values: tuple[float, ...], log: bool) -> None:
    assert wants_log(values) is log


def test_paper_is_light_and_a_table_of_many_columns_is_set_close() -> None:
    text = render_html(of_suites(comprehensive()))
    assert "@media screen and (prefers-color-scheme: dark)" in text
    assert "@media (prefers-color-scheme: dark)" not in text
    assert '<table class="dense">' in text
