"""What a load run shows while it goes on, on a terminal of 80 columns and elsewhere."""

from __future__ import annotations

import io
import sys
from dataclasses import replace

import pytest

from agentdyno.cli.bench.load_view import LoadView, render
from agentdyno.model.load import Window
from agentdyno.runs.load.kind import LoadProgress

WINDOW = Window(3, "160/s #1", "search", 3.0, 1.0, asked=160, sent=158, in_flight=6)
READINGS = {
    "asked_per_s": 160.0,
    "delivered_per_s": 158.0,
    "latency_p50_s": 0.0401,
    "latency_p99_s": 0.0418,
    "error_rate": 0.0125,
}
PROGRESS = LoadProgress("run-1", "find_limit", 1, 3, 12.0, None, WINDOW, READINGS)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def view_on(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> LoadView:
    monkeypatch.setattr(sys, "stderr", stream)
    return LoadView()


def test_two_lines_say_where_it_is_and_what_the_last_window_was() -> None:
    assert render(PROGRESS) == [
        "find_limit (1/3)  160/s #1  search  12 s",
        "asked 160/s  sent 158/s  in flight 6  p50 40.1 ms  p99 41.8 ms  errors 1.2%",
    ]


def test_a_scenario_of_known_length_has_a_bar_and_a_step_named_like_its_stage_is_said_once() -> None:
    window = replace(WINDOW, step="spike", stage="spike")
    (head, _) = render(replace(PROGRESS, planned_s=48.0, window=window))
    assert head == "████░░░░░░░░░░░░  find_limit (1/3)  spike  12 s of 48 s"
    (late, _) = render(replace(PROGRESS, planned_s=6.0))
    assert late.startswith("█" * 16 + "  ")


def test_before_the_first_window_there_is_one_line() -> None:
    assert render(LoadProgress("r", "spike_load", 2, 2, 0.0)) == ["spike_load (2/2)  starting  0 s"]


def test_what_is_unknown_is_a_dash() -> None:
    (_, line) = render(replace(PROGRESS, readings={"asked_per_s": 4.0}))
    assert line == "asked 4.0/s  sent -/s  in flight 6  p50 -  p99 -  errors -"


def test_no_line_is_wider_than_a_terminal_of_80_columns() -> None:
    huge = {**READINGS, "asked_per_s": 123_456_789.0, "delivered_per_s": 123_456_789.0, "error_rate": 1.0}
    window = replace(WINDOW, step="step " * 30, in_flight=99_999_999)
    wide = replace(PROGRESS, scenario="concurrent_requests", planned_s=7200.0, window=window, readings=huge)
    lines = render(wide)
    assert len(lines) == 2
    assert max(len(line) for line in lines) == 79


def test_on_a_terminal_the_lines_are_drawn_over_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    with view_on(terminal, monkeypatch) as view:
        view(PROGRESS)
        assert terminal.getvalue() == "\n".join(render(PROGRESS))
        view(replace(PROGRESS, elapsed_s=13.0))
        assert terminal.getvalue().count("\r\x1b[1A\x1b[J") == 1
    assert terminal.getvalue().endswith("\r\x1b[1A\x1b[J")


def test_in_a_log_there_is_one_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    with view_on(log, monkeypatch) as view:
        for second in range(26):
            view(replace(PROGRESS, elapsed_s=float(second)))
    lines = log.getvalue().splitlines()
    assert [line.split("  ")[3] for line in lines] == ["10 s", "20 s"]
    assert "\x1b" not in log.getvalue()
