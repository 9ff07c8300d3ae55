from __future__ import annotations

import pytest
from rich.cells import cell_len

from agentdyno.findings.cost.judge import cost_report
from agentdyno.findings.cost.model import CostReport
from agentdyno.findings.cost.tables import cost_tables
from agentdyno.model.record import AgentRecord
from agentdyno.reports import render_console
from agentdyno.show.table import Table
from agentdyno.show.wording import agent_names, shortened

from ..economy_builders import agent_record, bench, cases, tried

HOSTILE = "<script>|`x` \x1b[31m\x00 漢字 🚀 " + "long" * 20


def configured(model: str, passes: list[int], cost: float | None, seconds: float, **fields: object) -> AgentRecord:
    own = [
        *cases(passes, cost=cost, duration=seconds),
        tried("sum", passes[0], benchmark="maths", cost=cost, duration=seconds),
    ]
    return agent_record(
        f"{model}@1", own, bench(), bench("maths"), configuration={"model": model, "top": 1}, **fields
    )


def full() -> CostReport:
    return cost_report(
        [
            configured("large", [1] * 20, 0.02, 2.0),
            configured("small", [1] * 19 + [0], 0.002, 1.0),
            configured("local", [1] * 5 + [0] * 15, 0.0, 4.0),
            configured("hopeless", [0] * 20, 0.01, 0.5),
            configured("mystery", [1] * 20, None, 1.0),
        ]
    )


def table(report: CostReport, title: str) -> Table:
    return next(item for item in cost_tables(report) if item.title == title)


def cells(found: Table, agent: str) -> dict[str, str]:
    row = next(row for row in found.rows if row[0].text == agent)
    return {column.header: cell.text for column, cell in zip(found.columns, row, strict=True)}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_of_a_cost_report_is_wider_than_the_terminal(width: int) -> None:
    text = render_console(cost_tables(full()), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_eighty_columns_show_what_a_task_a_success_and_a_dollar_are_worth() -> None:
    lines = render_console(cost_tables(full()), 80).splitlines()
    assert lines[0] == "Cost"
    row = next(line for line in lines if line.startswith("small"))
    assert " ".join(row.split()).startswith("small 20/21 $2.00 $2.10 [$2.00, $2.47]")
    assert "per 1,000 tasks" in lines[1] + lines[2]
    assert "per 1,000 successes" in lines[1] + lines[2]
    assert not any("per 1,0" in line for line in lines[3 : lines.index("")]), "told once, not in every cell"


def test_never_succeeded_free_and_unknown_are_words_and_never_zero() -> None:
    found = table(full(), "Cost")
    assert cells(found, "hopeless")["per 1,000 successes"] == "never succeeded"
    assert cells(found, "local")["performance per $"] == "free"
    assert cells(found, "local")["per 1,000 successes"] == "$0"
    mystery = cells(found, "mystery")
    unknown = ("cost", "per 1,000 tasks", "per 1,000 successes", "performance per $")
    assert [mystery[name] for name in unknown] == ["-"] * 4


def test_the_frontier_table_gives_both_frontiers_with_their_probabilities() -> None:
    found = table(full(), "Who is beaten by nobody")
    assert cells(found, "small")["cost/accuracy frontier"] == "yes (> 99 %)"
    assert cells(found, "hopeless")["cost/accuracy frontier"] == "no (< 1 %)"
    assert cells(found, "hopeless")["cost/latency frontier"] == "-"
    assert "mystery" not in [row[0].text for row in found.rows]
    assert found.rows[0][0].text == "local"  # the cheapest first


def test_benchmarks_get_a_table_only_where_there_are_several() -> None:
    found = table(full(), "Cost per 1,000 successes by benchmark")
    assert [row[0].text for row in found.rows] == ["facts", "maths"]
    assert cells(found, "maths")["large"] == "$20.00"
    assert cells(found, "maths")["hopeless"] == "never succeeded"
    alone = cost_report([agent_record("a@1", cases([1, 1]))])
    assert [item.title for item in cost_tables(alone)] == ["Cost"]


def test_configurations_show_what_varies_efficiency_and_savings() -> None:
    found = table(full(), "Configurations")
    small = cells(found, "small")
    assert small["configuration"] == "model=small"
    assert (small["efficiency"], small["optimal"], small["saves"]) == ("1.00", "yes", "$18.00")
    assert cells(found, "mystery")["efficiency"] == "-"
    assert "Savings at 1,000 tasks, against large@1, the most expensive." in found.notes


def test_opportunities_are_listed_with_their_evidence() -> None:
    found = table(full(), "What could be saved")
    first = found.rows[0]
    assert first[0].text == "$18.00"
    assert first[1].text == "small@1 instead of large@1: 90 % cheaper"
    assert "$2.00 per 1,000 tasks against $0.02 per task" in first[2].text


def test_warnings_of_the_report_stand_under_the_first_table() -> None:
    notes = table(full(), "Cost").notes
    assert any(note.startswith("! The cost of mystery@1 is not known") and "prices:" in note for note in notes)
    assert any("never succeeded" in note for note in notes)


def test_simulated_agents_are_marked() -> None:
    report = cost_report([agent_record("sim@1", cases([1, 1]), simulated=True)])
    assert table(report, "Cost").rows[0][0].text == "sim (simulated)"


def test_hostile_names_break_no_table() -> None:
    report = cost_report([agent_record(f"{HOSTILE}@1", cases([1, 0])), agent_record(f"{HOSTILE}@2", cases([1, 1]))])
    text = render_console(cost_tables(report), 80)
    assert "\x1b" not in text
    assert max(cell_len(line) for line in text.splitlines()) <= 80


def test_agents_are_told_apart_by_version_only_where_names_are_not_enough() -> None:
    assert agent_names(["a@1", "b@0123456789abcdef"]) == {"a@1": "a", "b@0123456789abcdef": "b"}
    assert agent_names(["a@1", "a@0123456789abcdef"])["a@0123456789abcdef"] == "a@0123456789"
    assert agent_names(["plain"]) == {"plain": "plain"}
    assert shortened("abcdefghij", 6) == "ab…hij"
    assert shortened("short", 6) == "short"
