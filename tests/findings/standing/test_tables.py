from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

import pytest
from rich.cells import cell_len

from agentdyno.findings.figures.suite_figures import close_suite, figures_of
from agentdyno.findings.standing.judge import every_failure, standing_of
from agentdyno.findings.standing.judge_pairs import judged_pairs
from agentdyno.findings.standing.model import ScoreEstimate, SuiteFindings
from agentdyno.findings.standing.tables import agents, errors, matrix, spending
from agentdyno.findings.standing.tables_cases import duel, failed
from agentdyno.findings.standing.tables_labels import agent_labels, points
from agentdyno.findings.standing.tables_overview import overview
from agentdyno.findings.standing.words import not_told_apart
from agentdyno.model import Findings, Rubric, RunResult, RunStatus, RunWarning, Sample, ScorerUse, Status
from agentdyno.model.policy import GatePolicy
from agentdyno.reports import render_console
from agentdyno.reports.csv_files import agents_csv
from agentdyno.reports.html_page import render_html
from agentdyno.reports.markdown import render_markdown
from agentdyno.reports.outline import ran

from ...reports.suites import comprehensive, renamed, report
from ..suite_builders import arm, benchmark, sample, suite_of, suite_result

RUN = comprehensive()
STANDING = standing_of(RUN)
HOSTILE = "<script>alert(1)</script>|`x` \x1b[31m\x00 =1+1 漢字 🚀 " + "long" * 30


def text(width: int = 80, *, brief: bool = False) -> str:
    return render_console(report(RUN), width, brief=brief)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160])
@pytest.mark.parametrize("brief", [True, False])
def test_no_line_of_a_suite_is_wider_than_the_terminal(width: int, brief: bool) -> None:
    assert max(cell_len(line) for line in text(width, brief=brief).splitlines()) <= width


def test_eighty_columns_show_every_agent_on_every_dimension_with_intervals() -> None:
    lines = text(80).splitlines()
    header = next(line for line in lines if "reliability" in line)
    assert header.split() == ["overall", "accuracy", "speed", "efficiency", "cost", "reliability"]
    row = lines[lines.index("smollm2-tools@1.1", lines.index("Scores")) + 1].split()
    expected = STANDING.agents[0]
    assert expected.agent == "smollm2-tools@1.1"
    assert " ".join(row) == " ".join(
        points(expected.scores[name])
        for name in ("overall", "accuracy", "speed", "efficiency", "cost", "reliability")
    )
    assert "–" in row[1]


def test_short_names_stay_beside_their_scores_at_eighty_columns() -> None:
    own = benchmark("a", "b", "c")
    run = close_suite(
        suite_result(
            suite_of(own),
            arm("quick@1", "facts", [sample(case_id, 1.0) for case_id in "abc"]),
            arm("slow@1", "facts", [sample(case_id, 0.0) for case_id in "abc"]),
        )
    )
    lines = render_console(agents(standing_of(run)), 80).splitlines()
    assert lines[3].split() == ["quick", "100", "50–100*", "100", "44–100", "-", "-", "-", "-"]
    assert lines[1].split()[0] == "agent"


def test_the_order_is_that_of_the_overall_score() -> None:
    values = [agent.scores["overall"].value or 0.0 for agent in STANDING.agents]
    assert values == sorted(values, reverse=True)
    firsts = [row[0].text for row in agents(STANDING).rows]
    assert firsts == [agent_labels(STANDING)[agent.agent] for agent in STANDING.agents]


def test_a_score_reads_in_points_of_a_hundred() -> None:
    assert points(ScoreEstimate(0.853, (0.707, 0.931))) == "85 71–93"
    assert points(ScoreEstimate(1.0, (1.0, 1.0))) == "100"
    assert points(ScoreEstimate(0.5)) == "50"
    assert points(ScoreEstimate(None)) == "-"


def test_versions_are_named_only_where_two_share_a_name() -> None:
    labels = agent_labels(STANDING)
    assert labels["rules@1.0"] == "rules"
    assert labels["smollm2-tools@0.9"] == "smollm2-tools@0.9"
    long = renamed(RUN, "smollm2-tools@0.9", "smollm2-tools@0123456789abcdef0123")
    assert "smollm2-tools@0123456789" in agent_labels(standing_of(long)).values()


def test_a_partial_overall_says_what_is_missing() -> None:
    few = comprehensive(epochs=2)
    table = agents(standing_of(few))
    assert all(row[1].whole.endswith("*") for row in table.rows)
    assert "reliability needs 3 epochs" in table.notes[2]
    assert all(row[6].text == "-" for row in table.rows)


def test_the_matrix_has_a_row_per_benchmark_and_a_column_per_agent() -> None:
    table = matrix(STANDING)
    assert table is not None
    assert [row[0].text for row in table.rows] == ["arithmetic", "retrieval-over-documents", "multi-turn-memory"]
    assert [row[1].text for row in table.rows] == ["14", "10", "8"]
    assert len(table.columns) == 2 + 5
    own = suite_result(suite_of(benchmark("a")), arm("x@1", "facts", [sample("a")]))
    assert matrix(standing_of(close_suite(own))) is None


def test_cases_without_a_score_are_counted_in_the_matrix() -> None:
    samples = [sample("a", 1.0), sample("b", Status.ERROR)]
    two = suite_of(benchmark("a", "b"), benchmark("a", "b", name="sums"))
    run = close_suite(suite_result(two, arm("x@1", "facts", samples), arm("x@1", "sums", samples)))
    table = matrix(standing_of(run))
    assert table is not None
    assert table.rows[0][2].whole == "100 21–100 (scored 1 of 2)"


def test_time_and_money_by_hand() -> None:
    readings = {"duration_s": 2.0, "ttft_s": 0.25, "total_tokens": 500.0, "cost_usd": 0.03}
    samples = [
        sample("a", 1.0, readings=readings, details={"judge_cost_usd": 0.01}),
        sample("b", 0.0, readings={**readings, "duration_s": 4.0}),
        sample("c", Status.TIMEOUT, readings={"duration_s": 9.0, "cost_usd": 0.0}),
    ]
    run = close_suite(suite_result(suite_of(benchmark("a", "b", "c")), arm("x@1", "facts", samples)))
    table = spending(standing_of(run))
    shown = dict(zip([column.header for column in table.columns], [cell.text for cell in table.rows[0]], strict=True))
    assert shown == {
        "agent": "x",
        "passed": "1/3",
        "median": "3 s",
        "p95": "3.90 s",
        "TTFT": "250 ms",
        "tokens": "-",
        "cost": "$0.06",
        "per success": "$0.06",
        "not answered": "1 timeout",
    }
    assert table.notes == ("Judging cost, not counted above: x $0.01.",)


def test_a_cost_that_is_known_in_part_is_a_lower_bound() -> None:
    samples = [sample("a", 1.0, readings={"cost_usd": 0.03}), sample("b", 1.0)]
    run = close_suite(suite_result(suite_of(benchmark("a", "b")), arm("x@1", "facts", samples)))
    row = spending(standing_of(run)).rows[0]
    assert [cell.text for cell in row[6:8]] == ["≥ $0.03", "-"]


def test_failed_cases_come_with_want_got_why_and_the_command_that_shows_them() -> None:
    scoring = [{"scorer": "exact", "values": {"correctness": 0.0}, "explanation": "'no idea' is not 'yes'"}]
    samples = [sample("refund 04", 0.0, output="no\nidea", details={"scoring": scoring}), sample("b", 1.0)]
    run = close_suite(suite_result(suite_of(benchmark("refund 04", "b")), arm("x@1", "facts", samples)))
    table = failed(standing_of(run), "last")
    assert table is not None
    assert [cell.text for cell in table.rows[0]] == [
        *("refund 04", "x", "failed", "yes", "no idea", "'no idea' is not 'yes'")
    ]
    assert table.notes == ("One of them whole: `dyno show last --case 'refund 04'`",)


def test_what_was_got_is_the_answer_and_never_the_reason() -> None:
    samples = [sample("a", Status.ERROR, output=None)]
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", samples)))
    table = failed(standing_of(run), "last")
    assert table is not None
    assert [cell.text for cell in table.rows[0]][3:] == ["yes", "-", "error happened"]


def test_of_judged_tool_calls_the_calls_are_what_was_got() -> None:
    scoring = [
        {
            "scorer": "tool_calls",
            "values": {"correctness": 0.0},
            "explanation": "missing: refund",
            "details": {"calls": ["search(x)", "lookup"]},
        }
    ]
    samples = [sample("a", 0.0, output="I am done.", details={"scoring": scoring})]
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", samples)))
    table = failed(standing_of(run), "last")
    assert table is not None
    assert [cell.text for cell in table.rows[0]][4:] == ["search(x), lookup", "missing: refund"]


def test_every_arm_gets_its_turn_among_the_failed_cases() -> None:
    table = failed(STANDING, "last", most=10)
    assert table is not None
    assert len({row[1].text for row in table.rows}) == 5
    assert table.notes[1] == f"{STANDING.failed_total - 10} more: `dyno show last --failed`"
    assert "dyno show 019ca9c1-4d80 --case sum-00" in text(80)


def test_every_failure_can_be_listed_however_many_there_are() -> None:
    ids = [f"case-{number:03}" for number in range(120)]
    samples = [sample(case_id, 0.0, output="no") for case_id in ids]
    run = close_suite(suite_result(suite_of(benchmark(*ids)), arm("x@1", "facts", samples)))
    assert len(standing_of(run).failed) < len(ids)
    assert [item.case_id for item in every_failure(run)] == ids


def test_nothing_failed_is_no_table() -> None:
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", [sample("a", 1.0)])))
    assert failed(standing_of(run), "last") is None


def test_the_head_to_head_names_what_was_fixed_and_what_broke() -> None:
    own = benchmark("a", "b", "c", "d")
    old = arm("x@1", "facts", [sample(case_id, score) for case_id, score in zip("abcd", (0, 0, 1, 1), strict=True)])
    new = arm("x@2", "facts", [sample(case_id, score) for case_id, score in zip("abcd", (1, 1, 0, 1), strict=True)])
    table = duel(standing_of(close_suite(suite_result(suite_of(own), old, new))))
    assert table is not None
    assert table.title == "x@1 → x@2"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["fixed", "2", "a, b"],
        ["broken", "1", "c"],
        ["right in both", "1", ""],
        ["wrong in both", "0", ""],
    ]
    assert "accuracy 50 → 75 on 4 cases, +25 points" in table.notes[0]
    assert "p = 1, swap test exact" in table.notes[0]


def test_two_different_agents_have_no_fixed_cases() -> None:
    own = benchmark("a", "b")
    run = suite_result(
        suite_of(own), arm("x@1", "facts", [sample("a"), sample("b", 0.0)]), arm("y@1", "facts", [sample("a")])
    )
    table = duel(standing_of(close_suite(run)))
    assert table is not None
    assert [row[0].text for row in table.rows][:2] == ["only y", "only x"]


def test_what_ended_without_an_answer_is_told_apart_from_wrong_answers() -> None:
    table = errors(RUN)
    assert table is not None
    assert [row[1].text for row in table.rows] == ["error", "timeout"]


def test_the_headline_says_who_is_first_of_several_agents() -> None:
    assert text(200).splitlines()[0] == "✓ complete  smollm2-tools@1.1 is first of 5 agents, accuracy 92 of 100."


def test_agents_with_as_many_points_share_the_first_place() -> None:
    own = benchmark("a", "b")
    arms = [arm(f"{name}@1", "facts", [sample("a", 1.0), sample("b", 0.0)]) for name in ("x", "y")]
    third = arm("z@1", "facts", [sample("a", 0.0), sample("b", 0.0)])
    run = close_suite(suite_result(suite_of(own), *arms, third))
    assert verdict(run) == "✓ complete  x and y share the first place of 3 agents, accuracy 50 of 100."


def test_an_agent_that_left_cases_unanswered_does_not_share_the_first_place() -> None:
    own = benchmark("a", "b", "c")
    crashed = [sample("a", 1.0), sample("b", Status.ERROR), sample("c", 1.0)]
    whole = [sample(case_id, 1.0) for case_id in "abc"]
    wrong = [sample(case_id, 0.0) for case_id in "abc"]
    arms = [arm("x@1", "facts", crashed), arm("y@1", "facts", whole), arm("z@1", "facts", wrong)]
    run = close_suite(suite_result(suite_of(own), *arms))
    assert "y is first of 3 agents, accuracy 100 of 100" in verdict(run)
    assert verdict(run).endswith("; x answered 2 of 3 cases.")
    assert [row[0].text for row in agents(standing_of(run)).rows] == ["y", "x", "z"]


def test_the_first_of_three_is_not_told_apart_from_those_whose_difference_is_not_decided() -> None:
    cases = [f"c{number}" for number in range(12)]
    right = {"x": 12, "y": 11, "z": 0}
    arms = [
        arm(f"{name}@1", "facts", [sample(case, float(place < known)) for place, case in enumerate(cases)])
        for name, known in right.items()
    ]
    run = close_suite(suite_result(suite_of(benchmark(*cases)), *arms))
    standing = standing_of(run)
    pairs = judged_pairs(run, figures_of(run), standing, GatePolicy())
    told = ran(run, standing, pairs).text
    assert told == "x is first of 3 agents, accuracy 100 of 100, not told apart from y."
    assert ran(run, standing).text == "x is first of 3 agents, accuracy 100 of 100."


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), ""),
        (("a",), ", not told apart from a"),
        (("a", "b"), ", not told apart from a and b"),
        (("a", "b", "c"), ", not told apart from a, b and c"),
        (("a", "b", "c", "d"), ", not told apart from 4 others"),
    ],
)
def test_few_who_may_be_as_good_are_named_and_many_counted(names: tuple[str, ...], told: str) -> None:
    assert not_told_apart(names) == told


def test_the_headline_of_one_agent_says_what_it_passed() -> None:
    samples = [sample("a", 1.0), sample("b", 0.0)]
    run = close_suite(suite_result(suite_of(benchmark("a", "b")), arm("x@1", "facts", samples)))
    assert verdict(run) == "✓ complete  x passed 1 of 2, accuracy 50 (9–91) of 100."


def test_the_headline_of_two_agents_is_the_verdict_about_them() -> None:
    own = benchmark("a", "b")
    run = close_suite(
        suite_result(
            suite_of(own),
            arm("x@1", "facts", [sample("a"), sample("b", 0.0)]),
            arm("y@1", "facts", [sample("a"), sample("b")]),
        )
    )
    assert verdict(run).startswith("✓ complete  not decided between x and y: accuracy 50 → 100 on 2 cases")


def verdict(run: RunResult) -> str:
    return render_console(report(run), 200, brief=True).splitlines()[0]


def test_wrong_answers_do_not_spoil_a_run_and_missing_ones_do() -> None:
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", [sample("a", 0.0)])))
    assert render_console(report(run)).startswith("✓ complete")
    partial = replace(run, status=RunStatus.PARTIAL, stopped_because="the budget of $2 is spent")
    assert render_console(report(partial)).startswith("! partial")
    assert "Stopped early: the budget of $2 is spent." in " ".join(render_console(report(partial)).split())
    nothing = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", [sample("a", Status.ERROR)])))
    assert render_console(report(nothing)).startswith("✗ failed")


def test_warnings_are_shown_as_for_every_run() -> None:
    warned = replace(RUN, warnings=(RunWarning("unknown-price", "no price is known for m", "Add it."),))
    assert "! no price is known for m" in render_console(report(warned), 100)


def test_findings_that_come_along_are_not_computed_again() -> None:
    own = replace(STANDING, agents=STANDING.agents[:1], head_to_head=None)
    given = replace(report(RUN), findings=SuiteFindings(standings=(own,)))
    shown = render_console(given, 100)
    assert "smollm2-tools passed 90 of 96" in shown
    assert "fixed" not in shown


def test_simulated_agents_are_marked() -> None:
    samples = [sample(case_id, 1.0, details={"simulated": True}) for case_id in "ab"]
    run = close_suite(suite_result(suite_of(benchmark("a", "b")), arm("x@1", "facts", samples)))
    shown = render_console(report(run), 100)
    assert "x (simulated)" in shown
    assert "simulated model" in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_hostile_names_and_answers_stay_inside_the_terminal(width: int) -> None:
    own = benchmark(HOSTILE, "b", name=HOSTILE)
    samples = [sample(HOSTILE, 0.0, output=HOSTILE * 50), sample("b", Status.ERROR)]
    run = close_suite(
        suite_result(
            suite_of(own, benchmark("z")),
            arm(f"{HOSTILE}@1", own.benchmark_id, samples),
            arm(f"{HOSTILE}@2", own.benchmark_id, samples),
        )
    )
    shown = render_console(report(run), width)
    assert max(cell_len(line) for line in shown.splitlines()) <= width
    assert not any(ord(character) < 32 and character != "\n" for character in shown)


def test_a_suite_without_arms_or_samples_can_be_shown() -> None:
    bare = suite_result(suite_of(benchmark("a")))
    assert "no agent has answered" in render_console(report(bare))
    assert "no agent has answered" in render_console(report(bare), brief=True)
    empty = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", (), planned=3)))
    assert "no case was answered" in render_console(report(empty))


def test_findings_of_a_suite_are_findings() -> None:
    assert isinstance(SuiteFindings(), Findings)


def several_scorers() -> RunResult:
    """Two agents, judged by three scorers of which the second weighs most."""
    uses = (ScorerUse("exact"), ScorerUse("judge.py@tone", 3.0), ScorerUse("regex", 0.5))
    own = benchmark("a", "b", rubric=Rubric(scorers=uses))

    def judged(case_id: str, *values: float) -> Sample:
        said = [
            {"scorer": use.name, "weight": use.weight, "values": {"correctness": value}}
            for use, value in zip(uses, values, strict=True)
        ]
        score = (values[0] + 3 * values[1] + 0.5 * values[2]) / 4.5
        return sample(case_id, score, details={"scoring": said}, output="x")

    return close_suite(
        suite_result(
            suite_of(own),
            arm("x@1", "facts", [judged("a", 1.0, 1.0, 0.0), judged("b", 0.0, 1.0, 1.0)]),
            arm("y@1", "facts", [judged("a", 1.0, 0.0, 0.0), judged("b", 1.0, 0.5, 0.0)]),
        )
    )


def test_each_scorer_has_its_column_and_the_primary_one_is_named() -> None:
    standing = standing_of(several_scorers())
    table = overview(standing)
    headers = [column.header for column in table.columns]
    assert headers == ["agent", "passed", "accuracy", "exact", "tone (primary)", "regex", "time"]
    assert [cell.text for cell in table.rows[0]][2:6] == ["83", "50", "100", "50"]
    assert [cell.text for cell in table.rows[1]][2:6] == ["39", "100", "25", "0"]
    shown = render_console(report(several_scorers()), 80, brief=True)
    assert "tone (primary)" in " ".join(shown.split())


def test_one_scorer_is_the_accuracy_and_has_one_column() -> None:
    scoring = [{"scorer": "exact", "weight": 1.0, "values": {"correctness": 1.0}}]
    samples = [sample("a", 1.0, details={"scoring": scoring})]
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", samples)))
    assert [column.header for column in overview(standing_of(run)).columns] == ["agent", "passed", "exact", "time"]


def test_answers_that_no_scorer_is_known_of_show_their_accuracy() -> None:
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", [sample("a", 1.0)])))
    assert [column.header for column in overview(standing_of(run)).columns] == ["agent", "passed", "accuracy", "time"]


def test_a_scorer_that_raises_counts_as_zero_and_one_without_a_verdict_not_at_all() -> None:
    raised = {"scorer": "exact", "values": {"correctness": 0.0}, "details": {"problem": {"code": "scorer_raised"}}}
    silent = {"scorer": "exact", "values": {"correctness": None}}
    right = {"scorer": "exact", "values": {"correctness": 1.0}}
    samples = [
        sample(case_id, score, details={"scoring": [item]})
        for case_id, score, item in (("a", 1.0, right), ("b", 0.0, raised), ("c", 1.0, silent))
    ]
    run = close_suite(suite_result(suite_of(benchmark("a", "b", "c")), arm("x@1", "facts", samples)))
    (said,) = standing_of(run).agents[0].by_scorer
    assert said.value == 0.5
    assert said.primary


def test_the_first_screen_is_short_and_the_rest_is_told_on_demand() -> None:
    shown = text(80, brief=True)
    assert len(shown.splitlines()) <= 45
    assert "Points of 100" not in shown
    assert "Points of 100" in text(80)
    assert "more: `dyno show 019ca9c1-4d80 --failed`" in shown


def test_every_scorer_has_a_column_in_markdown_csv_and_the_page() -> None:
    told = report(several_scorers())
    assert "tone (primary)" in render_markdown(told)
    assert "tone (primary)" in render_html(told)
    rows = list(csv.DictReader(StringIO(agents_csv(told))))
    assert [(row["scorer.exact"], row["scorer.tone"], row["scorer.regex"]) for row in rows] == [
        ("0.5", "1.0", "0.5"),
        ("1.0", "0.25", "0.0"),
    ]
    assert {row["primary_scorer"] for row in rows} == {"tone"}


def two_benchmarks(small: float, large: float) -> RunResult:
    """Two agents on one case and on nine; the first is right in all, the second as it is given."""
    few, many = benchmark("a", name="few"), benchmark(*(f"c{place}" for place in range(9)), name="many")
    arms = [
        arm(f"{agent}@1", own.benchmark_id, [sample(case.id, score) for case in own.cases])
        for agent, scores in (("good", (1.0, 1.0)), ("odd", (small, large)))
        for own, score in zip((few, many), scores, strict=True)
    ]
    return close_suite(suite_result(suite_of(few, many), *arms))


def test_two_means_of_one_accuracy_on_a_screen_say_which_is_which() -> None:
    shown = render_console(report(two_benchmarks(0.0, 1.0)), 80, brief=True)
    assert "accuracy 90 → 100 on 10 cases" in shown
    assert next(line for line in shown.splitlines() if line.startswith("odd ")).split()[2] == "50"
    assert "Compared by the mean over all cases; accuracy is the mean over 2 benchmarks." in shown
    alike = render_console(report(two_benchmarks(0.0, 0.0)), 80, brief=True)
    assert "mean over all cases" not in alike


def test_a_failure_in_wide_characters_stays_on_its_line_and_a_long_name_keeps_how_it_ended() -> None:
    name = "an-agent-whose-name-" + "goes-on-" * 10
    own = benchmark("a")
    failed_sample = sample("a", 0.0, output="大阪だと思いますが、" * 12)
    run = close_suite(
        suite_result(suite_of(own), *(arm(f"{who}@1", "facts", [failed_sample]) for who in (name, "b")))
    )
    lines = render_console(report(run), 80, brief=True).splitlines()
    got = [line for line in lines if line.startswith("  got")]
    assert [line.split()[1][:5] for line in got] == ["大阪だと思", "大阪だと思"]
    assert all(line.endswith("…") and cell_len(line) <= 80 for line in got)
    ended = "".join(lines[lines.index("Failed cases") :]).replace(" ", "")
    assert f"a,{name}:failed" in ended


def test_more_scorers_than_fit_stand_below_each_other_and_no_word_is_broken() -> None:
    names = ("numeric", "json_equal", "exact", "tool_calls", "includes", "edit_similarity")
    parts = [benchmark("a", "b", name=name, rubric=Rubric((ScorerUse(name),))) for name in names]
    details = {name: {"scoring": [{"scorer": name, "weight": 1.0, "values": {"score": 1.0}}]} for name in names}
    arms = [
        arm(f"rules@{version}", name, [sample(case, 1.0, details=details[name]) for case in "ab"])
        for version in (1, 2)
        for name in names
    ]
    run = close_suite(suite_result(suite_of(*parts), *arms))
    lines = render_console(report(run), 80, brief=True).splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("agent "))
    assert lines[head].split() == ["agent", "rules@1", "rules@2"]
    assert [line.split()[0] for line in lines[head + 2 : head + 4]] == ["passed", "accuracy"]
    assert set(names) <= {line.split()[0] for line in lines[head + 2 :] if line.strip()}
    wide = render_console(report(run), 160, brief=True).splitlines()
    assert next(line for line in wide if line.startswith("agent ")).split()[1:3] == ["passed", "accuracy"]
