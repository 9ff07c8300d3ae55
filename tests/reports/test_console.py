from __future__ import annotations

from dataclasses import dataclass

import pytest
from rich.cells import cell_len

from agentdyno.findings.comparison import tables as comparison_tables
from agentdyno.findings.comparison.tables_arms import arms_told
from agentdyno.findings.run import tables as run_tables
from agentdyno.model import (
    ArmComparison,
    Calibration,
    Check,
    Comparison,
    ExperimentInfo,
    Level,
    Parameter,
    RunStatus,
    Status,
    Verdict,
)
from agentdyno.reports import render_console
from agentdyno.reports.console_tables import fold
from agentdyno.show import listings

from ..given_results import Factory


def widest(text: str) -> int:
    return max(cell_len(line) for line in text.splitlines())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(make: Factory, width: int) -> None:
    verdicts = (Verdict.WORSE, Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.BETTER)
    report = make.report(make.rich(), comparisons=[make.comparison(*verdicts)])
    assert widest(render_console(report, width)) <= width


@pytest.mark.parametrize("width", [40, 80, 120])
def test_odd_results_stay_within_the_terminal_and_without_control_characters(make: Factory, width: int) -> None:
    for name, report in make.degenerate().items():
        text = render_console(report, width)
        assert widest(text) <= width, name
        assert not any(ord(character) < 32 and character != "\n" for character in text), name


def test_arm_names_are_whole_at_80_columns(make: Factory) -> None:
    text = render_console(make.report(make.sweep()), 80)
    assert "sort[size=10000,kind=merge]" in text
    assert "median [95 % interval]" in text
    assert "40/40" in text


def test_a_wide_terminal_shows_every_column(make: Factory) -> None:
    text = render_console(run_tables.summary(make.sweep()), 140)
    header = text.splitlines()[1]
    for column in ("arm", "ok", "median", "p95", "CV", "CPU time", "peak memory", "throughput"):
        assert column in header
    assert widest(text) > 100


def test_a_narrow_terminal_leaves_out_the_least_important_columns_first(make: Factory) -> None:
    header = render_console(run_tables.summary(make.sweep()), 50).splitlines()[1]
    assert "median" in header
    assert "throughput" not in header


def test_the_median_carries_its_interval_in_one_unit(make: Factory) -> None:
    text = render_console(run_tables.summary(make.result([make.arm()])), 120)
    assert "1.24 ms [1.20, 1.27]" in text or "1.23 ms [1.2" in text


def test_failed_samples_are_counted_by_status(make: Factory) -> None:
    arm = make.arm(failures=[make.failure(), make.failure(1), make.failure(2, "slow", Status.TIMEOUT)])
    text = render_console(make.report(make.result([arm])), 100)
    assert "6/9" in text
    assert "2 error, 1 timeout" in text
    assert "boom" in text


def test_the_verdict_comes_first_and_in_words(make: Factory) -> None:
    text = render_console(make.report(comparisons=[make.comparison(Verdict.WORSE, Verdict.SAME)]), 80)
    assert text.startswith("✗ worse")
    assert "1 worse, 1 same" in text
    assert "unpaired" in text.splitlines()[0] + text.splitlines()[1]


def test_an_inconclusive_row_says_what_would_decide_it(make: Factory) -> None:
    text = " ".join(render_console(comparison_tables.comparison(make.comparison(Verdict.INCONCLUSIVE)), 80).split())
    assert "45 more samples per side would decide" in text
    assert "Smallest change that these samples can show: 4.1 %." in text
    assert "Noise floor of this machine: 1.8 %" in text
    assert "Only in the baseline: sort[size=5]." in text


def test_a_paired_comparison_says_so(make: Factory) -> None:
    text = render_console(
        comparison_tables.comparison(make.comparison(Verdict.SAME, paired=True, noise_floor=None)), 100
    )
    assert "Paired: both sides ran interleaved" in text
    assert "dyno doctor --calibrate" in text


def test_metrics_that_are_not_judged_are_apart_with_the_reason(make: Factory) -> None:
    value = make.comparison(Verdict.SAME)
    assert "result.comparisons" not in render_console(comparison_tables.comparison(value), 120)
    unjudged = comparison_tables.unjudged(value)
    assert unjudged is not None
    text = render_console(unjudged, 140)
    assert "shown only" in text
    assert "direction unknown" in text


def test_an_empty_comparison_says_that_nothing_matched() -> None:
    text = render_console(comparison_tables.comparison(Comparison("a", "b", False, ())), 80)
    assert "No arm has a partner" in text


def test_warnings_show_their_remedy(make: Factory) -> None:
    text = render_console(make.report(make.rich()), 80)
    assert "! The machine was busy: load 3.2 on 8 CPUs." in text
    assert "  Close other programs and run again." in text


def test_details_are_limited_on_the_console(make: Factory) -> None:
    arm = make.arm(extra={f"result.x{i:02}": 1.0 for i in range(20)})
    text = render_console(make.report(make.result([arm])), 100)
    assert "result.x11" in text
    assert "result.x12" not in text
    assert "8 more metrics" in text


def test_colour_is_only_used_when_asked_for(make: Factory) -> None:
    report = make.report(make.rich())
    assert "\x1b[" not in render_console(report, 80)
    assert "\x1b[" in render_console(report, 80, color=True)


def test_names_are_broken_after_separators() -> None:
    assert fold("sort[size=1000,kind=quick]", 16) == ["sort[size=1000,", "kind=quick]"]
    assert fold("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert fold("", 4) == [""]


@dataclass(frozen=True)
class Row:
    run_id: str = "019ca9c1-4d80-7abc-8def-0123456789ab"
    kind: str = "experiment"
    name: str = "sorting"
    status: RunStatus | str = RunStatus.COMPLETE
    started_at: int = 1_772_374_000_000
    finished_at: int | None = 1_772_374_072_000
    paused_ms: int = 0
    arms: int = 2
    samples: int = 20
    form: str = ""
    errors: int = 0
    tags: tuple[str, ...] = ("nightly",)


def test_runs_are_listed_with_a_short_id_and_their_times() -> None:
    text = render_console(listings.runs([Row(), Row(status="failed", finished_at=None, errors=3)]), 110)
    assert "019ca9c1-4d80 " in text
    assert "2026-03-01 14:06" in text
    assert "1 min 12 s" in text
    assert "nightly" in text
    assert "failed" in text


def test_an_empty_store_says_so() -> None:
    assert "No runs yet." in render_console(listings.runs([]), 80)


def test_a_listing_shows_the_first_line_and_the_parameters() -> None:
    info = ExperimentInfo(
        "sort",
        "Sorts a list.\nMore words.",
        (Parameter("size", required=True), Parameter("kind", default="quick")),
        (),
        "pkg",
    )
    text = render_console(listings.listing([info], "Experiments"), 80)
    assert "Sorts a list." in text
    assert "More words" not in text
    assert "size (required), kind='quick'" in text
    assert "pkg" in text


def test_checks_show_level_and_remedy() -> None:
    values = [Check("governor", Level.WARN, "powersave", "Use performance."), Check("memory", Level.OK, "16 GiB")]
    text = render_console(listings.checks(values), 80)
    assert "! warn" in text
    assert "✓ ok" in text
    assert "Use performance." in text


def test_a_calibration_states_the_noise_floor_and_false_alarms() -> None:
    text = render_console(listings.calibration(Calibration("m1", 1_772_374_000_000, 50, 30, 0.021, 1)), 80)
    assert "2.1 %" in text
    assert "1 (2.0 %)" in text


@pytest.mark.parametrize(
    ("duration", "cpu", "told"),
    [
        (Verdict.INCONCLUSIVE, Verdict.WORSE, "its CPU time is 1.124 [1.104, 1.144] times as much, worse."),
        (Verdict.BETTER, Verdict.WORSE, "its CPU time is 1.124 [1.104, 1.144] times as much, worse."),
        (Verdict.WORSE, Verdict.WORSE, ""),
        (Verdict.WORSE, Verdict.SAME, ""),
    ],
)
def test_what_decides_between_arms_is_told_where_it_is_not_their_time(
    make: Factory, duration: Verdict, cpu: Verdict, told: str
) -> None:
    rows = (make.row(duration), make.row(cpu, "cpu_s"))
    arm = ArmComparison("new", "a", "b", metrics=rows)
    sentence = arms_told(Comparison("old", "new", True, (arm,)))
    assert sentence.endswith(told or ".")
    assert ("CPU time" in sentence) is bool(told)
