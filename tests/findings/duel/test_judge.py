from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.duel.judge import all_against_all, case_scores, duel
from agentdyno.findings.duel.model import Duel, PairedRow
from agentdyno.findings.duel.words import change_text, decide_winner, describe, p_text, success_text
from agentdyno.findings.engine.measure import paired_row
from agentdyno.model import Verdict
from agentdyno.model.record import AgentRecord
from agentdyno.stats import holm

from ..duel_builders import answered, bench, drawn, record, scored

CHANCES = np.random.default_rng(0).beta(2.0, 1.0, 60)


def pair(gain: float = 0.0, **factors: float) -> tuple[AgentRecord, AgentRecord]:
    random = np.random.default_rng(7)
    better = CHANCES + gain * (1.0 - CHANCES)
    return drawn("mine@1.0", CHANCES, random), drawn("mine@1.1", better, random, factors)


def warned(found: Duel) -> set[str]:
    return {warning.code for warning in found.warnings}


def test_accuracy_is_corrected_with_the_error_rate_the_other_rows_together_and_benchmarks_apart() -> None:
    first, second = pair(gain=0.6)
    found = duel(first, second)
    assert [row.metric for row in found.rows] == [
        "accuracy",
        "speed",
        "efficiency",
        "cost",
        "reliability",
        "overall",
    ]
    # No execution ended in an error, so that the error rate cannot stand out and accuracy is alone.
    accuracy = found.row("accuracy")
    assert (accuracy.adjusted_p, accuracy.family) == (accuracy.p_value, 1)
    others = [row for row in found.rows if row.p_value is not None and row.metric != "accuracy"]
    assert [row.metric for row in others] == ["speed", "cost", "reliability", "overall"]
    assert [row.adjusted_p for row in others] == pytest.approx(holm([row.p_value or 0.0 for row in others]))
    assert {row.family for row in others} == {4}
    assert found.row("efficiency").verdict is None
    assert found.row("efficiency").family == 0
    assert {row.benchmark for row in found.benchmark_rows} == {"facts"}
    own = [row for row in found.benchmark_rows if row.p_value is not None]
    assert [row.adjusted_p for row in own] == pytest.approx(holm([row.p_value or 0.0 for row in own]))


def test_rows_are_those_of_a_row_alone_but_for_the_correction() -> None:
    first, second = pair(gain=0.3)
    for row in duel(first, second).rows:
        alone = paired_row(first, second, row.metric)
        assert (row.change, row.interval, row.p_value) == (alone.change, alone.interval, alone.p_value)


def test_who_is_better_wins_with_the_numbers() -> None:
    found = duel(*pair(gain=0.8))
    assert found.row("overall").verdict is Verdict.BETTER
    assert found.winner == "mine@1.1"
    told = [found.row(metric) for metric in ("accuracy", "reliability")]
    for row in told:
        assert f"{describe(row)}, {p_text(row)}" in found.why
    assert "overall" not in found.why
    assert found.dimension_winners["accuracy"] == "mine@1.1"
    assert found.dimension_winners["efficiency"] is None
    assert found.category_winners == {"accuracy": "mine@1.1"}
    assert found.flips.fixed
    accuracy = found.row("accuracy")
    assert (found.flips.difference, found.flips.p_value) == (accuracy.change, accuracy.p_value)
    assert (found.flips.interval, found.flips.verdict) == (accuracy.interval, accuracy.verdict)


def test_the_other_way_round_the_same_agent_wins() -> None:
    first, second = pair(gain=0.8)
    found, mirrored = duel(first, second), duel(second, first)
    assert mirrored.winner == found.winner
    assert mirrored.row("overall").verdict is Verdict.WORSE
    assert mirrored.row("accuracy").change == pytest.approx(-(found.row("accuracy").change or 0))
    assert mirrored.row("cost").change == pytest.approx(1 / (1 + (found.row("cost").change or 0)) - 1)


def decided(**verdicts: tuple[Verdict | None, float]) -> list[PairedRow]:
    return [
        PairedRow(
            metric,
            "",
            metric,
            "ratio",
            True,
            False,
            0.5,
            0.5 + change,
            change=change,
            interval=(change - 0.042, change + 0.042),
            p_value=0.01,
            adjusted_p=0.012,
            verdict=verdict,
            more_cases=140 if verdict is Verdict.INCONCLUSIVE else None,
            reason="not significant" if verdict is Verdict.INCONCLUSIVE else "",
        )
        for metric, (verdict, change) in verdicts.items()
    ]


LABELS = ("old@1", "new@2")
UNSURE = Verdict.INCONCLUSIVE


def test_better_in_something_and_worse_in_nothing_wins() -> None:
    rows = decided(accuracy=(Verdict.BETTER, 0.06), reliability=(UNSURE, 0.01), overall=(UNSURE, 0.02))
    winner, why = decide_winner(LABELS, rows)
    assert winner == "new@2"
    assert why == "better in accuracy +6.0 points (95 %: +1.8 to +10.2), p = 0.012; and worse in nothing"
    winner, why = decide_winner(LABELS, decided(accuracy=(Verdict.WORSE, -0.06), overall=(UNSURE, -0.02)))
    assert winner == "old@1"
    assert why.startswith("new@2 is worse in accuracy -6.0 points")


@pytest.mark.parametrize("metric", ["efficiency", "overall"])
def test_resources_and_the_overall_score_do_not_decide_a_winner(metric: str) -> None:
    winner, why = decide_winner(LABELS, decided(**{"accuracy": (UNSURE, 0.01), metric: (Verdict.WORSE, -0.1)}))
    assert winner is None
    assert why.startswith("no winner: accuracy +1.0 points")


def test_a_winner_takes_half_of_the_level_because_two_families_could_have_raised_it() -> None:
    nearly = [replace(row, adjusted_p=0.03) for row in decided(accuracy=(Verdict.BETTER, 0.06))]
    assert decide_winner(LABELS, nearly) == (
        None,
        "no winner: accuracy +6.0 points (95 %: +1.8 to +10.2), p = 0.03, and a winner takes p < 0.025",
    )


def test_a_case_that_costs_less_does_not_decide_where_a_success_does_not() -> None:
    def costing(verdict: Verdict, change: float, per_success: tuple[float | None, float | None]) -> list[PairedRow]:
        row = decided(cost=(verdict, change))[0]
        cost = replace(row, higher_is_better=False, relative=True, per_success=per_success)
        return [*decided(accuracy=(UNSURE, -0.05)), cost]

    for spared in ((1.0, 1.0), (1.0, 1.2), (1.0, None), (None, None)):
        assert decide_winner(LABELS, costing(Verdict.BETTER, -0.3, spared))[0] is None
    assert decide_winner(LABELS, costing(Verdict.BETTER, -0.3, (1.0, 0.9)))[0] == "new@2"
    assert decide_winner(LABELS, costing(Verdict.BETTER, -0.3, (None, 0.9)))[0] == "new@2"
    # What costs more costs more, whatever became of the pass rate.
    assert decide_winner(LABELS, costing(Verdict.WORSE, 0.3, (1.0, 0.9)))[0] == "old@1"


def test_an_agent_that_fails_more_and_uses_the_same_has_lost_its_pass_rate_and_nothing_else() -> None:
    first = record("a@1", [answered(f"c{i:02}", tries=3, cost_usd=0.01 + i / 1000) for i in range(30)])
    second = record(
        "b@1", [answered(f"c{i:02}", 2 / 3, tries=3, passed=2, cost_usd=0.01 + i / 1000) for i in range(30)]
    )
    found = duel(first, second)
    cost = found.row("cost")
    assert (cost.verdict, cost.change) == (Verdict.SAME, 0.0)
    assert cost.per_success == pytest.approx((0.0245, 0.03675))
    assert found.winner == "a@1"
    assert "cost" not in found.why


def test_an_agent_that_gives_up_early_is_not_better_in_cost() -> None:
    asked = [(f"c{i:02}", 0.01 + i / 1000) for i in range(30)]
    first = record("a@1", [answered(name, cost_usd=usd) for name, usd in asked])
    gives_up = [
        answered(name, 0.0, cost_usd=usd / 10) if i < 20 else answered(name, cost_usd=usd)
        for i, (name, usd) in enumerate(asked)
    ]
    found = duel(first, record("b@1", gives_up))
    assert found.row("cost").verdict is Verdict.BETTER
    assert (found.winner, "cost" in found.why) == ("a@1", False)
    assert success_text(found.row("cost")) == (
        "A success costs $0.025 → $0.038: cost per case over the pass rate, not less, so that what a case saves "
        "counts for nobody."
    )
    assert success_text(duel(first, first).row("cost")) is None


def test_better_in_one_thing_and_worse_in_another_is_no_winner() -> None:
    rows = decided(accuracy=(Verdict.BETTER, 0.06), reliability=(Verdict.WORSE, -0.08), overall=(UNSURE, 0.0))
    winner, why = decide_winner(LABELS, rows)
    assert winner is None
    assert why.startswith("no winner: new@2 is better in accuracy +6.0 points")
    assert "and worse in reliability -8.0 points" in why


def test_no_winner_says_why_and_what_would_decide() -> None:
    rows = decided(accuracy=(UNSURE, 0.012), overall=(UNSURE, 0.01))
    assert decide_winner(LABELS, rows) == (
        None,
        "no winner: accuracy +1.2 points (95 %: -3.0 to +5.4), needs about 140 more cases",
    )
    same = decided(accuracy=(Verdict.SAME, 0.0), overall=(Verdict.SAME, 0.0))
    assert decide_winner(LABELS, same)[1] == "no winner: the two are the same within tolerance in accuracy"
    nothing = [replace(row, reason="different machines") for row in decided(speed=(None, 0.0))]
    assert decide_winner(LABELS, nothing)[1] == "no winner: nothing compares (different machines)"


def test_changes_read_in_the_unit_that_they_have() -> None:
    row = decided(accuracy=(UNSURE, 0.012))[0]
    assert change_text(row, -0.0301) == "-3.0 points"
    assert change_text(row, 0.0) == "0.0 points"
    assert change_text(replace(row, relative=True, unit="s"), 1.5) == "+150 %"
    assert change_text(replace(row, unit="usd"), 0.25) == "+$0.25"
    assert change_text(row, None) == "-"


def test_identical_agents_have_no_winner() -> None:
    first, second = pair()
    found = duel(first, second)
    assert found.winner is None
    assert found.why.startswith("no winner: accuracy")
    assert all(row.verdict is not Verdict.BETTER for row in found.rows)


def test_recommendations_cite_the_numbers() -> None:
    first, second = pair(gain=0.8, cost_usd=3.0)
    found = duel(first, second)
    cost = found.row("cost")
    assert cost.verdict is Verdict.WORSE
    text = next(text for text in found.recommendations if "more per case" in text)
    assert f"mine@1.1 costs {100 * (cost.change or 0):.0f} % more per case" in text
    assert f"{100 * (found.row('accuracy').change or 0):+.1f} points accuracy" in text
    assert any(text.startswith("mine@1.0 is not reliable") for text in found.recommendations)


def test_cases_that_broke_are_named_first() -> None:
    found = duel(scored("mine@1", [1.0] * 30), scored("mine@2", [0.0] * 8 + [1.0] * 22))
    assert found.recommendations[0] == "Look first at the 8 cases that broke: c00, c01, c02, c03, c04 and 3 more."


def test_errors_and_blindness_are_pointed_out() -> None:
    errors = record("bad@1", [answered(f"c{i}", tries=2, errors=1) for i in range(8)])
    found = duel(errors, record("good@1", [answered(f"c{i}") for i in range(8)]))
    assert any("bad@1 ends in an error in 50 % of executions" in text for text in found.recommendations)
    blind = duel(scored("a@1", [0.0, 1.0] * 5), scored("b@1", [1.0, 0.0] * 4 + [1.0, 1.0]))
    assert any("10 cases show a difference of accuracy from" in text for text in blind.recommendations)
    few = duel(scored("a@1", [0.0, 1.0]), scored("b@1", [1.0, 0.0]))
    assert any("cannot show a difference" in text for text in few.recommendations)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"suite_id": "other", "suite": "x", "suite_name": "sums"}, "their suites differ"),
        ({"suite": "x", "suite_version": "2"}, "their versions of the suite differ"),
        ({}, "different benchmarks or cases"),
    ],
)
def test_no_common_case_is_not_comparable(fields: dict[str, object], why: str) -> None:
    first = scored("a@1", [1.0])
    second = replace(record("b@1", [answered("elsewhere")]), **fields)  # type: ignore[arg-type]
    with pytest.raises(NotComparable, match=why) as caught:
        duel(first, second)
    assert "a@1 ran suite 1" in str(caught.value)
    assert "dyno run" in str(caught.value)


def test_changed_cases_are_said_to_ask_something_else() -> None:
    with pytest.raises(NotComparable, match="1 cases have the same id and ask something else"):
        duel(record("a@1", [answered("x")]), record("b@1", [answered("x", digest="new")]))


def test_what_a_reader_should_know_is_a_warning() -> None:
    first, second = pair()
    assert warned(duel(first, second)) == set()
    elsewhere = replace(second, machine_id="other", benchmarks=(bench(run_id="run-2", targets={}, rubric="strict"),))
    found = duel(first, elsewhere)
    assert warned(found) == {"different-machines", "separate-runs", "different-rubrics", "different-targets"}
    assert not found.paired
    newer = replace(second, suite="x", suite_version="2", cases=second.cases[:-4])
    assert warned(duel(first, newer)) == {"different-suites", "missing-cases"}
    text = next(w.message for w in duel(first, newer).warnings if w.code == "different-suites")
    assert text == "suite 1 and suite 2: only the 56 cases in common are compared"
    simulated = [replace(side, simulated=True) for side in (first, second)]
    assert warned(duel(*simulated)) == {"simulated"}
    made_up = duel(first, simulated[1])
    assert warned(made_up) == {"simulated"}
    assert all(row.verdict is None for row in made_up.rows)
    assert made_up.winner is None
    planned = replace(second, benchmarks=(replace(second.benchmarks[0], planned=200),))
    text = next(w.message for w in duel(first, planned).warnings if w.code == "partial-run")
    assert text == "mine@1.1 made 180 of 200 planned executions"


def test_a_category_is_won_by_better_accuracy_in_it() -> None:
    def side(agent: str, easy: float, hard: Sequence[float]) -> AgentRecord:
        cases = [answered(f"c{i:02}", easy, benchmark="easy") for i in range(30)]
        cases += [answered(f"d{i:02}", value, benchmark="hard") for i, value in enumerate(hard)]
        return record(agent, cases, [bench("easy", category="speed"), bench("hard", category="reliability")])

    found = duel(side("a@1", 0.0, [1.0, 0.0] * 6), side("b@1", 1.0, [0.0, 1.0] * 6))
    assert found.category_winners == {"reliability": None, "speed": "b@1"}


def test_all_against_all_corrects_over_every_pair() -> None:
    random = np.random.default_rng(5)
    low, high = CHANCES * 0.5, CHANCES + 0.8 * (1.0 - CHANCES)
    records = [drawn("low@1", low, random), drawn("mid@1", CHANCES, random), drawn("high@1", high, random)]
    found = all_against_all(records)
    assert [(item.baseline, item.candidate) for item in found.duels] == [
        ("low@1", "mid@1"),
        ("low@1", "high@1"),
        ("mid@1", "high@1"),
    ]
    rows = [row for item in found.duels for row in item.rows if row.p_value is not None]
    for own in ([row for row in rows if row.metric == "accuracy"], [row for row in rows if row.metric != "accuracy"]):
        assert [row.adjusted_p for row in own] == pytest.approx(holm([row.p_value or 0.0 for row in own]))
        assert {row.family for row in own} == {len(own)}
    assert found.wins == {"low@1": 0, "mid@1": 1, "high@1": 2}
    assert found.winner == "high@1"
    assert found.why == "beats low@1, mid@1"
    assert len(found.cases) == 60
    assert [case.disagree for case in found.cases] == sorted((case.disagree for case in found.cases), reverse=True)


def test_agents_that_cannot_be_told_apart_share_no_win() -> None:
    good = [scored(name, [1.0] * 20) for name in ("a@1", "b@1")]
    found = all_against_all([*good, scored("c@1", [0.0] * 20)])
    assert found.winner is None
    assert found.why == "no winner: a@1 and b@1 are not beaten and not told apart"
    assert all_against_all(good).why.startswith("no winner: no pair is decided (a@1 → b@1: accuracy 0.0 points")


def test_a_pair_without_common_cases_is_left_out_with_a_warning() -> None:
    records = [scored("a@1", [1.0] * 8), scored("b@1", [0.0] * 8), record("far@1", [answered("other")])]
    found = all_against_all(records)
    assert len(found.duels) == 1
    assert [warning.code for warning in found.warnings] == ["not-comparable", "not-comparable"]
    with pytest.raises(NotComparable, match="no two of"):
        all_against_all([records[0], records[2]])
    with pytest.raises(NotComparable, match="named twice"):
        all_against_all([records[0], records[0]])
    with pytest.raises(NotComparable, match="alone"):
        all_against_all(records[:1])


def asked(agent: str, model: str, answered_as: str = "the-only-one", **configuration: object) -> AgentRecord:
    found = scored(agent, [1.0, 0.0] * 6)
    return replace(found, asked=model, models=(answered_as,), configuration=configuration)


def test_two_names_for_one_model_are_refused_by_what_the_responses_say() -> None:
    first, second = asked("a@1", "openai:first"), asked("b@1", "openai:second")
    with pytest.raises(NotComparable, match="a and b are the same model: both answered as the-only-one"):
        duel(first, second)
    hot = asked("hot@1", "openai:first", temperature=1)
    among = all_against_all([first, second, hot])
    assert [(one.baseline, one.candidate) for one in among.duels] == [("a@1", "hot@1"), ("b@1", "hot@1")]
    assert "are the same model" in among.warnings[0].message
    with pytest.raises(NotComparable, match="no two of a@1, b@1 compare"):
        all_against_all([first, second])


@pytest.mark.parametrize(
    "other",
    [
        asked("b@1", "openai:second", "another"),
        asked("b@1", "openai:second", temperature=1),
        asked("b@1", "openai:second", base_url="http://elsewhere"),
        asked("b@1", "workflow:openai:first"),
        asked("b@1", "ollama:first"),
        asked("b@1", ""),
        asked("a@2", "openai:first"),
    ],
    ids=["model", "setting", "server", "planner", "protocol", "code", "version"],
)
def test_agents_that_differ_in_more_than_a_name_are_compared(other: AgentRecord) -> None:
    assert duel(asked("a@1", "openai:first"), other).rows


def test_cases_under_every_agent_put_disagreements_first() -> None:
    first = record("a@1", [answered("same"), answered("split", 1.0), answered("near", 0.6), answered("new")])
    second = record(
        "b@1", [answered("same"), answered("split", 0.0), answered("near", 0.4), answered("new", digest="x")]
    )
    found = case_scores([first, second])
    assert [case.key.case_id for case in found] == ["split", "near", "new", "same"]
    assert [case.disagree for case in found] == [True, True, False, False]
    assert found[2].scores == {"a@1": 1.0, "b@1": None}


def test_identical_agents_seldom_have_a_winner_and_intervals_hold_the_truth() -> None:
    random = np.random.default_rng(123)
    winners, held, intervals = 0, 0, 0
    for number in range(120):
        chances = random.beta(2.0, 1.0, 30)
        found = duel(drawn("a@1", chances, random), drawn("b@1", chances, random), seed=number)
        winners += found.winner is not None
        known = [row.interval for row in found.rows if row.interval is not None]
        intervals += len(known)
        held += sum(low <= 0.0 <= high for low, high in known)
    # At a true rate of 5 % more than 13 of 120 come once in 200 runs; the seed makes it the same every time.
    assert winners <= 13
    assert held / intervals >= 0.92
