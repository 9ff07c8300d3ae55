from __future__ import annotations

import pytest
from rich.cells import cell_len

from agentdyno.findings.reliability.judge import reliabilities, reliability_of
from agentdyno.findings.reliability.model import Reliability
from agentdyno.findings.reliability.tables import MOST_CLASSES, reliability_tables
from agentdyno.model.record import ErrorClass
from agentdyno.reports import render_console
from agentdyno.show.table import Table, Tone

from ..economy_builders import agent_record, bench, cases, tried

ERRORS = (
    ErrorClass("failed", "", "", 40, "", ("q1", "q2")),
    ErrorClass("error", "http_error", "N:N answered 503 Service Unavailable: come back later", 12, "", ("q3",)),
    ErrorClass("timeout", "timeout", "no answer within N s", 4, "", ("q4",)),
    ErrorClass("ok", "", "not judged", 1, "", ("q5",)),
)


def found() -> list[Reliability]:
    forms = [tried(f"p{place}", 0, 5, perturbs=f"c{place}") for place in range(8)]
    shaky = cases([5, 4, 5, 3, 0, 5, 5, 5, 2, 5], tries=5, spread={"duration_s": 0.1, "cost_usd": 0.001})
    return list(
        reliabilities(
            [
                agent_record("shaky@1", [*shaky, *forms], bench(errors=ERRORS)),
                agent_record("steady@1", cases([5] * 10, tries=5), simulated=True),
            ]
        )
    )


def table(title: str, items: list[Reliability] | None = None) -> Table:
    return next(one for one in reliability_tables(found() if items is None else items) if one.title == title)


def cells(one: Table, place: int = 0) -> dict[str, str]:
    return {column.header: cell.text for column, cell in zip(one.columns, one.rows[place], strict=True)}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_of_a_reliability_report_is_wider_than_the_terminal(width: int) -> None:
    text = render_console(reliability_tables(found()), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_eighty_columns_show_pass_hat_consistency_and_errors() -> None:
    lines = render_console(reliability_tables(found()), 80).splitlines()
    header = next(line for line in lines if "pass^1" in line)
    assert [word for word in header.split() if word != "agent"] == [
        "pass^1", "pass^2", "pass^3", "pass^5", "consistent", "flaky", "errors",
    ]  # fmt: skip


def test_shares_are_points_of_a_hundred_and_what_always_passed_is_not_certain() -> None:
    one = table("Reliability")
    steady = cells(one, 1)
    assert steady["agent"] == "steady (simulated)"
    assert steady["pass^5"].startswith("100 ")
    assert steady["pass^5"] != "100 100–100"
    assert (steady["flaky"], steady["errors"], steady["tries"]) == ("0/10", "0 %", "50")
    assert cells(one, 0)["flaky"] == "3/18"


def test_one_try_per_case_says_what_is_missing() -> None:
    one = table("Reliability", [reliability_of(agent_record("a@1", cases([1, 0, 1])))])
    assert cells(one)["consistent"] == "-"
    assert "more epochs" in one.notes[-1]


def test_what_did_not_pass_is_listed_by_class_and_wrong_answers_are_no_errors() -> None:
    one = table("What did not pass")
    assert [row[1].text for row in one.rows] == ["40", "12", "4", "1"]
    wrong, refused, late, open_ = one.rows
    assert (wrong[2].text, wrong[3].text, wrong[2].tone) == ("failed", "wrong answer", Tone.PLAIN)
    assert (refused[2].text, refused[2].tone) == ("error, http_error", Tone.BAD)
    assert late[2].text == "timeout"
    assert (open_[2].text, open_[3].text) == ("answered", "not judged")


def test_more_classes_than_fit_are_counted() -> None:
    many = tuple(ErrorClass("error", "exception", f"kind {place}", 1) for place in range(MOST_CLASSES + 3))
    one = table("What did not pass", [reliability_of(agent_record("a@1", cases([0]), bench(errors=many)))])
    assert len(one.rows) == MOST_CLASSES
    assert one.notes == ("3 more classes of errors, in the other report formats.",)


def test_the_spread_between_tries_is_a_share_of_what_a_try_uses() -> None:
    one = table("Spread between tries")
    assert (cells(one)["duration"], cells(one)["cost"]) == ("±10 %", "±10 %")
    assert cells(one, 1)["duration"] == "-"


def test_other_forms_of_the_questions_show_what_broke() -> None:
    one = table("The same questions in another form")
    row = cells(one)
    assert (row["agent"], row["pairs"], row["original"], row["other form"]) == ("shaky", "8", "80", "0")
    assert row["change"].startswith("-80 [")
    assert row["end alike"] == "12 %"
    assert row["broken"] == "p0, p1, p2, p3, p5, p6 and 1 more"


def test_tables_without_anything_to_say_are_left_out() -> None:
    plain = [reliability_of(agent_record("a@1", cases([1, 1])))]
    assert [one.title for one in reliability_tables(plain)] == ["Reliability"]
    assert reliability_tables([]) == []


def test_an_agent_without_a_single_try_is_a_row_of_unknowns() -> None:
    one = table("Reliability", [reliability_of(agent_record("a@1", [], bench()))])
    assert cells(one)["pass^1"] == "-"
    assert cells(one)["errors"] == "-"


def test_a_benchmark_is_named_where_one_is_meant() -> None:
    record = agent_record("a@1", cases([1, 1]))
    one = table("Reliability", [reliability_of(record, "facts")])
    assert cells(one)["agent"] == "a in facts"
