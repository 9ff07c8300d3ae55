"""Every kind of conclusion in every format: nothing is lost, nothing breaks out of its place."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from agentdyno.contracts import Report
from agentdyno.findings.board.judge import coverage, leaderboard, matrix
from agentdyno.findings.catalogue import conclusion_warnings, sections
from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.cost.judge import cost_report
from agentdyno.findings.duel.judge import all_against_all, duel
from agentdyno.findings.gate.judge import judge_gate
from agentdyno.findings.gate.model import GateReport, GateVerdict
from agentdyno.findings.history.judge import history, history_regressions
from agentdyno.findings.history.judge_health import regression_report
from agentdyno.findings.history.model import HistoryPoint
from agentdyno.findings.reliability.judge import reliabilities
from agentdyno.model import Findings
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.reports import (
    CsvReporter,
    HtmlReporter,
    JsonReporter,
    JunitReporter,
    MarkdownReporter,
    PngReporter,
    render_console,
)
from agentdyno.store.rows import AgentRow

from ..findings.board_rows import even, leaderboard_row, matrix_row
from ..findings.economy_builders import agent_record, cases

HOSTILE = "<b>bold</b>|`x` 漢字 " + "long" * 20
DAY_MS = 86_400_000


def records(names: Sequence[str]) -> list[AgentRecord]:
    """The first knows everything, each other one four cases of twenty less; and costs less."""
    return [
        agent_record(
            f"{name}@1.{place}",
            cases([3] * (20 - 4 * place) + [0] * 4 * place, 3, cost=0.02 / (1 + place), duration=1.0 + place),
        )
        for place, name in enumerate(names)
    ]


def conclusions(first: str = "alpha", second: str = "beta", third: str = "gamma") -> dict[str, Conclusions]:
    """One of each kind."""
    found = records((first, second, third))
    values = [0.9 - 0.001 * (day % 3) - 0.3 * (day >= 12) for day in range(24)]
    points = [
        HistoryPoint(day * DAY_MS, value, f"1.{day // 12}", f"run-{day}", 20, "digest", "machine")
        for day, value in enumerate(values)
    ]
    series = history(first, "accuracy", points, unit="ratio", higher_is_better=True, suite="suite")
    worse, better = history_regressions([series])
    places = [f"{name}@1" for name in (first.replace("@", ""), second, third)]
    agents = [AgentRow(name, name, "1", "d", "u", 0, 1, 1 if name == first else None) for name in (first, second)]
    return {
        "leaderboard": Conclusions(
            leaderboards=(
                leaderboard(
                    [leaderboard_row(name, even(0.9 - 0.1 * place)) for place, name in enumerate(places)],
                    [leaderboard_row(places[0], even(0.5))],
                    days=30,
                    until=DAY_MS,
                ),
            )
        ),
        "matrix": Conclusions(
            matrices=(matrix([matrix_row(name, scores=even(0.5)) for name in places], suite="suite"),)
        ),
        "coverage": Conclusions(coverages=(coverage(agents, days=30, now_ms=DAY_MS),)),
        "duel": Conclusions(
            duels=(duel(*found[:2]),), reliabilities=tuple(reliabilities(found[:2])), records=tuple(found[:2])
        ),
        "tournament": Conclusions(tournaments=(all_against_all(found),), records=tuple(found)),
        "history": Conclusions(histories=(series,)),
        "regressions": Conclusions(
            regressions=(regression_report(first, f"{first}@1.0", f"{first}@1.1", worse, better, suite="suite"),)
        ),
        "cost": Conclusions(costs=(cost_report(found),), records=tuple(found)),
        "reliability": Conclusions(reliabilities=tuple(reliabilities(found))),
        "gate": Conclusions(gates=(judge_gate(found[0], found[2], GatePolicy()),)),
    }


PLAIN, EVIL = conclusions(), conclusions(HOSTILE, HOSTILE + "2", HOSTILE + "3")
KINDS = sorted(PLAIN)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("found", [PLAIN, EVIL], ids=["plain", "hostile"])
def test_no_line_on_a_terminal_is_wider_than_it(kind: str, found: dict[str, Conclusions]) -> None:
    for width in (60, 80, 160):
        text = render_console(Report((), found[kind]), width)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        assert "nan" not in text.lower().split()


@pytest.mark.parametrize("kind", KINDS)
def test_the_headline_and_every_agent_are_on_the_terminal(kind: str) -> None:
    (part, *_) = sections(PLAIN[kind])
    text = render_console(Report((), PLAIN[kind]), 100)
    assert text.startswith(part.lead.label)
    assert "alpha" in text or kind == "coverage"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("found", [PLAIN, EVIL], ids=["plain", "hostile"])
def test_a_page_is_whole_offline_and_names_cannot_break_it(
    kind: str, found: dict[str, Conclusions], tmp_path: Path
) -> None:
    (path,) = HtmlReporter().write(Report((), found[kind]), tmp_path)
    text = path.read_text()
    assert "<b>bold</b>" not in text
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert "url(http" not in text
    for part in sections(found[kind]):
        assert text.count("<svg") >= len(part.pictures)
    if found is EVIL and kind not in ("coverage",):
        assert "&lt;b&gt;" in text


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_has_every_table_and_names_stay_text(kind: str, tmp_path: Path) -> None:
    (path,) = MarkdownReporter().write(Report((), PLAIN[kind]), tmp_path)
    tables = [table for part in sections(PLAIN[kind]) for table in part.tables if table.rows]
    assert tables
    assert path.read_text().count("|---") + path.read_text().count("| ---") + path.read_text().count("|:--") > 0
    (evil,) = MarkdownReporter().write(Report((), EVIL[kind]), tmp_path / "evil")
    assert "<b>bold</b>" not in evil.read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_is_a_png_of_its_name(kind: str, tmp_path: Path) -> None:
    wanted = [picture.name for part in sections(PLAIN[kind]) for picture in part.pictures]
    written = PngReporter().write(Report((), PLAIN[kind]), tmp_path)
    assert sorted(path.stem for path in written) == sorted(wanted)
    for path in written:
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert path.suffix == ".png"
    assert len(wanted) == len(set(wanted))


def test_each_kind_has_the_pictures_that_go_with_it() -> None:
    drawn = {
        kind: {picture.name for part in sections(found) for picture in part.pictures} for kind, found in PLAIN.items()
    }
    assert drawn == {
        "leaderboard": {"leaderboard-radar"},
        "matrix": {"matrix-radar"},
        "coverage": set(),
        "duel": {"head-to-head-1", "distribution-duration_s", "distribution-cost_usd", "pass-curve"},
        "tournament": {"radar", "distribution-duration_s", "distribution-cost_usd"},
        "history": {"history-1"},
        "regressions": set(),
        "cost": {"cost-accuracy-1", "cost-latency-1"},
        "reliability": {"pass-curve"},
        "gate": set(),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_csv_has_a_file_for_every_table(kind: str, tmp_path: Path) -> None:
    tables = [table for part in sections(PLAIN[kind]) for table in part.tables if table.rows]
    written = CsvReporter().write(Report((), PLAIN[kind]), tmp_path)
    assert len({path.name for path in written}) == len(tables)
    for path, table in zip(written, tables, strict=True):
        with path.open(newline="") as stream:
            head, *rows = list(csv.reader(stream))
        assert head == [column.header for column in table.columns]
        assert len(rows) == len(table.rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("found", [PLAIN, EVIL], ids=["plain", "hostile"])
def test_json_holds_the_findings_and_no_number_that_is_none(
    kind: str, found: dict[str, Conclusions], tmp_path: Path
) -> None:
    (path,) = JsonReporter().write(Report((), found[kind]), tmp_path)
    document = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert document["results"] == []
    filled = {name for name, value in document["findings"].items() if value}
    assert filled >= {field for field in ("gates", "duels", "costs") if getattr(found[kind], field)}


def test_a_gate_becomes_test_results(tmp_path: Path) -> None:
    (path,) = JunitReporter().write(Report((), PLAIN["gate"]), tmp_path)
    root = ElementTree.fromstring(path.read_text())
    failed = [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None]
    (report,) = PLAIN["gate"].gates
    assert failed == ["accuracy", *(item.key.case_id for item in report.broken)]
    (evil,) = JunitReporter().write(Report((), EVIL["gate"]), tmp_path / "evil")
    ElementTree.fromstring(evil.read_text())


@pytest.mark.parametrize("verdict", list(GateVerdict))
def test_a_gate_leads_with_its_verdict(verdict: GateVerdict) -> None:
    empty = GateReport("a@1", "a@2", "suite", verdict, "one sentence.", ())
    (part,) = sections(Conclusions(gates=(empty,)))
    assert verdict.value in part.lead.label
    assert "one sentence." in part.lead.text
    assert "one sentence." in render_console(Report((), Conclusions(gates=(empty,))))


def test_nothing_concluded_is_an_empty_report_and_no_crash(tmp_path: Path) -> None:
    assert sections(Findings()) == ()
    assert conclusion_warnings(Findings()) == []
    report = Report((), Conclusions())
    assert sections(report.findings) == ()
    render_console(report)
    for reporter in (HtmlReporter, MarkdownReporter, CsvReporter, JsonReporter, JunitReporter, PngReporter):
        reporter().write(report, tmp_path / reporter.name)


def test_boards_without_agents_and_a_history_without_points_say_so() -> None:
    empty = Conclusions(
        leaderboards=(leaderboard([], [], days=7, until=DAY_MS),),
        matrices=(matrix([], suite="suite"),),
        coverages=(coverage([], days=7, now_ms=DAY_MS),),
        histories=(history("nobody", "accuracy", [], unit="ratio", higher_is_better=True),),
    )
    assert [part.pictures for part in sections(empty)] == [()] * 4
    text = render_console(Report((), empty), 80)
    assert "0 agents in 7 days." in text
    assert "No point" in text


def test_warnings_of_comparisons_are_shown_with_their_remedy() -> None:
    first, second = records(("alpha", "beta"))
    elsewhere = agent_record("beta@2", second.cases, machine_id="machine-2")
    judged = duel(first, elsewhere)
    assert "different-machines" in {warning.code for warning in conclusion_warnings(Conclusions(duels=(judged,)))}
    text = render_console(Report((), Conclusions(duels=(judged,))), 80)
    assert "not measured on one machine" in " ".join(text.split())


def test_several_duels_have_a_picture_each(tmp_path: Path) -> None:
    first, second, third = records(("alpha", "beta", "gamma"))
    both = Conclusions(duels=(duel(first, second), duel(first, third)), records=(first, second, third))
    written = PngReporter().write(Report((), both), tmp_path)
    assert {"head-to-head-1.png", "head-to-head-2.png"} <= {path.name for path in written}
