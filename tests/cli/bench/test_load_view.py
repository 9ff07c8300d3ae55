"""What a load run shows while it goes on, on a terminal of 80 columns and elsewhere."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentdyno.cli.bench.load_view import LoadView, render
from agentdyno.model import Phase, Progress, Sample, Status
from agentdyno.model.codec import to_plain
from agentdyno.model.load import Window

WINDOW = Window(3, "160/s #1", "search", 3.0, 1.0, asked=160, sent=158, in_flight=6)
READINGS = {
    "asked_per_s": 160.0,
    "delivered_per_s": 158.0,
    "latency_p50_s": 0.0401,
    "latency_p99_s": 0.0418,
    "error_rate": 0.0125,
}
PLACE = "find_limit (1/3)"
SCENARIOS = ("find_limit", "spike_load", "high_load")


def sample(window: Window = WINDOW, readings: Mapping[str, float] = READINGS) -> Sample:
    return Sample("a", Phase.MEASURED, window.index, Status.OK, 0, readings, details={"window": to_plain(window)})


def progress(elapsed_s: float, done: int = 0, recorded: Sample | None = None) -> Progress:
    return Progress("run-1", done, 3, 0, elapsed_s, None, "find_limit", sample=recorded)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def view_on(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> LoadView:
    monkeypatch.setattr(sys, "stderr", stream)
    return LoadView(SCENARIOS)


def test_two_lines_say_where_it_is_and_what_the_last_window_was() -> None:
    assert render(PLACE, 12.0, sample()) == [
        "find_limit (1/3)  160/s #1  search  12 s",
        "asked 160/s  sent 158/s  in flight 6  p50 40.1 ms  p99 41.8 ms  errors 1.2%",
    ]


def test_a_step_named_like_its_stage_is_said_once() -> None:
    (head, _) = render(PLACE, 12.0, sample(replace(WINDOW, step="spike", stage="spike")))
    assert head == "find_limit (1/3)  spike  12 s"


def test_before_the_first_window_there_is_one_line() -> None:
    assert render("spike_load (2/2)", 0.0, None) == ["spike_load (2/2)  starting  0 s"]


def test_what_is_unknown_is_a_dash() -> None:
    (_, line) = render(PLACE, 12.0, sample(readings={"asked_per_s": 4.0}))
    assert line == "asked 4.0/s  sent -/s  in flight 6  p50 -  p99 -  errors -"


def test_no_line_is_wider_than_a_terminal_of_80_columns() -> None:
    huge = {**READINGS, "asked_per_s": 123_456_789.0, "delivered_per_s": 123_456_789.0, "error_rate": 1.0}
    window = replace(WINDOW, step="step " * 30, in_flight=99_999_999)
    lines = render("concurrent_requests (1/3)", 7200.0, sample(window, huge))
    assert len(lines) == 2
    assert max(len(line) for line in lines) == 79


def test_on_a_terminal_the_lines_are_drawn_over_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    with view_on(terminal, monkeypatch) as view:
        view(progress(12.0, recorded=sample()))
        assert terminal.getvalue() == "\n".join(render(PLACE, 12.0, sample()))
        view(progress(13.0, recorded=sample()))
        assert terminal.getvalue().count("\r\x1b[1A\x1b[J") == 1
    assert terminal.getvalue().endswith("\r\x1b[1A\x1b[J")


def test_in_a_log_there_is_one_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    with view_on(log, monkeypatch) as view:
        for second in range(26):
            view(progress(float(second), recorded=sample()))
    lines = log.getvalue().splitlines()
    assert [line.split("  ")[3] for line in lines] == ["10 s", "20 s"]
    assert "\x1b" not in log.getvalue()


def test_the_next_scenario_has_its_number_and_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    with view_on(terminal, monkeypatch) as view:
        view(progress(0.0))
        assert terminal.getvalue() == "find_limit (1/3)  starting  0 s"
        view(progress(60.0, done=1))
        assert terminal.getvalue().endswith("spike_load (2/3)  starting  0 s")
        view(progress(75.0, done=1, recorded=sample()))
        assert "spike_load (2/3)  160/s #1  search  15 s" in terminal.getvalue()
        drawn = terminal.getvalue()
        view(progress(99.0, done=3))
        assert terminal.getvalue() == drawn, "after the last scenario there is nothing to wait for"


def test_a_scenario_of_known_length_has_a_bar_and_says_what_is_left() -> None:
    line = render("sustained_load (1/1)", 30.0, None, planned_s=120.0)[0]
    assert line == "sustained_load (1/1)  starting  30 s  [####------------] 1:30 min left"
    assert "left" not in render("find_limit (1/1)", 30.0, None)[0]
