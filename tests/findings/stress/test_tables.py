"""What the tables of a load run say, from a report made by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from agentdyno.findings.stress.model import BreakingPoint, CurvePoint, LimitedBy, ScenarioReport, StressReport
from agentdyno.findings.stress.tables import breaking_text, stress_tables
from agentdyno.findings.stress.words import clients_words
from agentdyno.show.table import Table, Tone
from tests.stressed import BREAKS, stress_report

REPORT = stress_report("run-1")
RISING, SPIKE, _ = REPORT.scenarios


def tables(report: StressReport = REPORT) -> dict[str, Table]:
    return {table.title: table for table in stress_tables(report)}


def rows(table: Table) -> list[dict[str, str]]:
    names = [column.header for column in table.columns]
    return [dict(zip(names, (cell.text for cell in row), strict=True)) for row in table.rows]


def one(**fields: object) -> StressReport:
    """The report of one scenario: the spike with other fields."""
    return replace(REPORT, scenarios=(replace(SPIKE, **fields),))  # type: ignore[arg-type]  # fields of the class


def test_tables_come_in_the_order_in_which_they_are_read() -> None:
    titles = [table.title for table in stress_tables(REPORT)]
    assert titles[0] == "sage under load"
    assert titles[-3:] == ["high_load, step by step", "Figures", "Recommendations"]
    assert "Requests" in titles


def test_each_scenario_says_what_became_of_it() -> None:
    found = rows(tables()["sage under load"])
    assert [row["scenario"] for row in found] == ["high_load", "spike_load", "concurrent_requests (closed loop)"]
    assert [row["verdict"] for row in found] == ["broke (latency)", "held", "client-limited"]
    assert [row["score"] for row in found] == ["62", "97", "-"]
    assert [row["breaks at"] for row in found] == ["900 /s [850, 950]", "-", "-"]
    assert found[0]["p99"] == "1.05 s"
    assert found[0]["what limited it"] == "latency_p99 is 1.05 s at 950 requests a second"
    assert (found[1]["p50"], found[1]["errors"]) == ("-", "-"), "unknown is no number"


def test_notes_say_how_latency_counts_what_the_client_was_and_that_a_server_was_simulated() -> None:
    notes = tables()["sage under load"].notes
    assert notes[0] == "Resilience: 79 of 100, from 2 of 3 scenarios."
    assert notes[1].startswith("high_load: latency_p99 missed by 50 ms (1.05 s); error_rate met with 0.6% to spare")
    assert notes[1].endswith("limited by latency.")
    assert notes[-3].startswith("Latency counts from the time at which a request was due")
    assert notes[-2].startswith("client-limited:")
    assert notes[-1].startswith("Simulated:")
    alone = tables(replace(one(), simulated=False, resilience_score=97.0))["sage under load"].notes
    assert alone == ("Resilience: 97 of 100.", "Latency counts from the time at which a request was due.")


def test_a_break_of_the_target_is_not_hidden_by_a_client_that_was_slow_elsewhere() -> None:
    both = one(broke=True, limited_by=LimitedBy.RATE_LIMIT, client_limited=True)
    cell = tables(both)["sage under load"].rows[0][1]
    assert (cell.text, cell.tone) == ("broke (rate limit)", Tone.BAD)


def test_rates_and_times_have_the_columns_that_anything_is_known_of() -> None:
    found = rows(tables()["Rates and times"])
    assert found[0] == {"scenario": "high_load", "done": "910 /s"}
    assert found[1] == {"scenario": "spike_load", "done": "-"}
    streamed = one(headline={"asked_per_s": 60.0, "ttft_p50_s": 0.02, "tpot_p50_s": 0.002, "goodput_per_s": None})
    assert rows(tables(streamed)["Rates and times"]) == [
        {"scenario": "spike_load", "asked": "60 /s", "ttft p50": "20 ms", "tpot": "2 ms"}
    ]


def test_where_tokens_come_from_is_said() -> None:
    assert tables()["Rates and times"].notes == ()
    counted = tables(one(token_source="chunks", chunks_are_tokens=False))["Rates and times"].notes
    assert counted[0] == "Tokens are from counting chunks."
    assert counted[1].startswith("A chunk is not one token here")


def test_requests_are_counted_by_the_outcomes_that_there_were() -> None:
    table = tables()["Requests"]
    assert [column.header for column in table.columns][:4] == ["scenario", "asked", "late", "unsent"]
    assert [column.header for column in table.columns][4:] == ["ok", "timeout", "rate limited"]
    first = rows(table)[0]
    assert first == {
        **{"scenario": "high_load", "asked": "6,400", "late": "410", "unsent": "12"},
        **{"ok": "5,900", "timeout": "80", "rate limited": "8"},
    }
    assert rows(table)[1]["timeout"] == "0"


def test_steps_show_what_was_asked_what_came_and_whether_it_was_enough() -> None:
    found = rows(tables()["high_load, step by step"])
    assert [row["step"] for row in found][:3] == ["level 200", "level 400", "level 800"]
    # 1,200 asked and 910 done: 290 / 1200 is late, its quarter an error; p50 is 20 ms and that share of a second
    assert found[3] == {
        **{"step": "level 1200", "asked/s": "1,200", "done/s": "910", "p50": "262 ms", "p99": "1.05 s"},
        **{"ttft p50": "131 ms", "errors": "6.0%", "": "missed"},
    }
    assert (found[0][""], found[0]["errors"]) == ("met", "0")


def test_steps_of_a_slow_client_are_marked_and_a_long_search_is_cut() -> None:
    point = replace(RISING.curve[0], client_limited=True)
    assert rows(tables(one(curve=(point, point)))["spike_load, step by step"])[0][""] == "client"
    long = tables(one(curve=(point,) * 43))["spike_load, step by step"]
    assert len(long.rows) == 40
    assert long.notes == ("3 further steps are in the result file.",)
    assert "spike_load, step by step" not in tables(one(curve=(point,))), "one step is no search"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("recovery_half_life_s", 1.4, ("recovery half life", "1.40 s")),
        ("rss_slope_bytes_per_s", 2048.0, ("rss slope", "2 KiB/s")),
        ("retry_after_kept_rate", 0.5, ("retry after kept rate", "50.0%")),
        ("limit_per_s", 120.0, ("limit", "120 /s")),
    ],
)
def test_a_figure_is_shown_with_its_unit(name: str, value: float, shown: tuple[str, str]) -> None:
    (row,) = rows(tables(one(figures={name: value, "unknown_s": None}))["Figures"])
    assert (row["figure"], row["value"]) == shown


def test_recommendations_name_their_evidence_once() -> None:
    (row,) = rows(tables()["Recommendations"])
    assert row == {
        "priority": "high",
        "what to do": "Keep the rate below 850 a second",
        "evidence": "high_load: held at 850, missed at 950",
    }
    said = replace(REPORT.recommendations[0], evidence="high_load: held at 850")
    (again,) = rows(tables(replace(REPORT, recommendations=(said,)))["Recommendations"])
    assert again["evidence"] == "high_load: held at 850"
    assert "Recommendations" not in tables(replace(REPORT, recommendations=()))


@pytest.mark.parametrize(
    ("point", "text"),
    [
        (None, "-"),
        (BREAKS, "900 /s [850, 950]"),
        (BreakingPoint("rate", 12.34, None, 12.34, None, "1/s"), "12.3 /s"),
        (BreakingPoint("concurrency", 24.0, 16.0, 32.0, (16.0, 32.0), ""), "24 in flight [16, 32]"),
        (BreakingPoint("size", 12000.0, 8192.0, 16384.0, (8192.0, 16384.0), ""), "12,000 words [8,192, 16,384]"),
        (BreakingPoint("memory", 2.0**20, None, 2.0**20, None, "bytes"), "1 MiB"),
    ],
)
def test_a_breaking_point_is_said_with_its_interval_and_unit(point: BreakingPoint | None, text: str) -> None:
    assert breaking_text(point) == text


def test_a_report_without_anything_known_can_be_shown() -> None:
    empty = CurvePoint("s", 1.0, 0.0, 0.0, 0.0, None, 0.0, None, None, None, None, None)
    bare = ScenarioReport("x\n", "t", "", {}, False, None, LimitedBy.NOTHING, "", None, 0, 0, 0, 0, {})
    for scenarios, score in product(((), (bare,), (replace(bare, curve=(empty, empty)),)), (None, 0.0)):
        report = StressReport("a", "r", None, scenarios, score)
        assert all("nan" not in cell.text for table in stress_tables(report) for row in table.rows for cell in row)


def test_clients_on_other_machines_are_told_with_what_is_known_of_their_clocks() -> None:
    def client(number: int, host: str, error_s: float | None) -> dict[str, object]:
        return {"client": number, "name": f"client {number}", "host": host, "clock_error_s": error_s}

    two = {"clients": [client(0, "a", 0.00005), client(1, "b", 0.00002)]}
    again = {"clients": [client(0, "a", 0.00003), client(1, "b", 0.00008)]}
    words = "2 clients on 2 machines (a, b); their clocks are known to 80 µs"
    assert clients_words([two, again]) == words
    assert clients_words([{"clients": [client(0, "a", None)]}]) == (
        "1 client on 1 machine (a); their clocks are not all known"
    )
    assert clients_words([{}, {"processes": 2}]) == ""
    assert f"Asked by {words}." in next(iter(stress_tables(replace(one(), clients=words)))).notes


def test_failures_are_told_by_their_status() -> None:
    report = replace(one(), scenarios=(replace(one().scenarios[0], statuses={"405": 120, "503": 3}),))
    assert tables(report)["Requests"].notes == (
        f"{report.scenarios[0].scenario}: failed with status 405 × 120, 503 × 3.",
    )
