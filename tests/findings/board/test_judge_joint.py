"""Intervals of boards beside those of a run's report, on the same data: given figures, several random data sets."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from agentdyno.findings.board.judge import leaderboard, matrix
from agentdyno.findings.board.judge_joint import SpreadPart, joint_of
from agentdyno.findings.board.model import RankedScore
from agentdyno.findings.board.model_rows import LeaderboardRow
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL, WEIGHTS
from agentdyno.findings.figures.resampling import Draws, overall_draws, resampling_seed, score_draws
from agentdyno.findings.figures.spread import SIZE, packed, rescaled, unpacked
from agentdyno.findings.figures.suite_figures import ArmBefore, close_arm, close_suite
from agentdyno.findings.standing.judge import standing_of
from agentdyno.model import ArmResult, Benchmark, Sample
from agentdyno.model.result import ScoreSpread

from ..board_rows import leaderboard_row, matrix_row
from ..suite_builders import arm, benchmark, sample, suite_of, suite_result

TARGETS = {
    "duration_s": (0.3, 6.0),
    "cost_usd": (0.1, 10.0),
    "total_tokens": (20.0, 2_000.0),
    "cpu_s": (0.01, 1.0),
}
POINT = 0.01
DATA_SETS = tuple((number, cases) for number, cases in enumerate((20, 25, 30, 45, 65, 65, 100, 150)))


def answers(cases: int, epochs: int, seed: int, run: int = 0) -> list[Sample]:
    """Cases differ: hard ones are answered wrongly, slowly and at a higher price. A run adds its own luck."""
    case_luck, run_luck = Random(seed), Random(1_000 * seed + run)
    found = []
    for number in range(cases):
        hard, size = case_luck.betavariate(0.6, 1.2), case_luck.lognormvariate(0.0, 0.6)
        for epoch in range(epochs):
            right = run_luck.random() > hard
            noise = run_luck.lognormvariate(0.0, 0.1)
            found.append(
                sample(
                    f"c{number:03}",
                    float(right),
                    epoch,
                    readings={
                        "duration_s": size * (1.0 + hard) * noise,
                        "cost_usd": 0.4 * size * noise,
                        "total_tokens": 90.0 * size,
                        "cpu_s": 0.05 * size * noise,
                    },
                )
            )
    return found


def questions(cases: int, name: str = "facts") -> Benchmark:
    return benchmark(*(f"c{number:03}" for number in range(cases)), name=name)


def closed_arm(own: Benchmark, samples: list[Sample], before: Sequence[ArmBefore] = ()) -> ArmResult:
    return close_arm(arm("x@1", own.benchmark_id, samples), ArmFigures.of(own, samples), TARGETS, before)


def board_row(arms: list[ArmResult], last: list[ArmResult]) -> LeaderboardRow:
    """What a store adds up: means over all executions, and how the last ones spread."""
    means = {}
    for name in DIMENSIONS:
        known = [value for one in arms if (value := one.scores[name]) is not None]
        means[name] = sum(known) / len(known) if known else None
    return leaderboard_row(
        "x@1",
        tuple(means[name] for name in DIMENSIONS),  # type: ignore[arg-type]
        n=len(arms),
        benchmarks=len(last),
        spreads=tuple(packed(one.spread, one.scores) for one in last),
    )


def shown(row: LeaderboardRow) -> dict[str, RankedScore]:
    (entry,) = leaderboard([row], [], days=30, until=0).entries
    return dict(entry.scores)


def assert_near(found: tuple[float, float] | None, expected: tuple[float, float] | None, what: str) -> None:
    assert found is not None, what
    assert expected is not None, what
    assert found[0] == pytest.approx(expected[0], abs=POINT), what
    assert found[1] == pytest.approx(expected[1], abs=POINT), what


@pytest.mark.parametrize(("seed", "cases"), DATA_SETS)
def test_the_board_of_one_run_shows_the_intervals_of_its_report(seed: int, cases: int) -> None:
    own, samples = questions(cases), answers(cases, 3, seed)
    run = close_suite(suite_result(suite_of(own), arm("x@1", "facts", samples), targets={"facts": TARGETS}))
    (report,) = standing_of(run).agents
    board = shown(board_row([run.arms[0]], [run.arms[0]]))
    cell = matrix_row("x@1", scores=tuple(run.arms[0].scores[name] for name in DIMENSIONS))  # type: ignore[arg-type]
    cell = cell._replace(spread=packed(run.arms[0].spread, run.arms[0].scores))
    (entry,) = matrix([cell]).entries
    for name in (*DIMENSIONS, OVERALL):
        assert_near(board[name].interval, report.scores[name].interval, name)
        assert_near(entry.scores[name].interval, report.scores[name].interval, name)


@pytest.mark.parametrize(("seed", "cases"), DATA_SETS)
def test_several_benchmarks_together_are_as_the_report_has_them(seed: int, cases: int) -> None:
    places = [questions(cases, "facts"), questions(cases + 10, "sums"), questions(20, "talks")]
    samples = [answers(len(own.cases), 3, seed + 10 * place) for place, own in enumerate(places)]
    made = [arm("x@1", own.benchmark_id, mine) for own, mine in zip(places, samples, strict=True)]
    targets = {own.benchmark_id: TARGETS for own in places}
    run = close_suite(suite_result(suite_of(*places), *made, targets=targets))
    (report,) = standing_of(run).agents
    board = shown(board_row(list(run.arms), list(run.arms)))
    for name in (*DIMENSIONS, OVERALL):
        assert_near(board[name].interval, report.scores[name].interval, name)


def pooled_and_drawn(
    cases: int, epochs: int, seed: int, known: int = 3, runs: int = 4
) -> tuple[dict[str, RankedScore], dict[str, Draws]]:
    """Four runs of the same cases, or so many, each closed beside at most ``known`` earlier ones: what the board
    shows, and draws of the mean of all their scores."""
    own = questions(cases)
    taken = [answers(cases, epochs, seed, run) for run in range(runs)]
    figures = [ArmFigures.of(own, samples) for samples in taken]
    arms: list[ArmResult] = []
    for place, samples in enumerate(taken):
        before = [ArmBefore(figures[run], arms[run].spread, arms[run].scores) for run in reversed(range(place))]
        arms.append(closed_arm(own, samples, before[:known]))
    drawn = [score_draws(each, TARGETS, resampling_seed(own)) for each in figures]
    together = {name: np.mean([each[name] for each in drawn], axis=0) for name in drawn[0]}
    whole = overall_draws(together)
    assert whole is not None
    return shown(board_row(arms, [arms[-1]])), {**together, OVERALL: whole}


@pytest.mark.parametrize("known", [1, 3])
@pytest.mark.parametrize(("seed", "cases"), DATA_SETS)
def test_several_runs_pooled_are_as_a_bootstrap_over_their_cases_has_them(seed: int, cases: int, known: int) -> None:
    board, drawn = pooled_and_drawn(cases, 3, seed, known)
    # The interval of accuracy is no bootstrap's, here as in the report.
    for name in (OVERALL, "speed", "efficiency", "cost"):
        low, high = np.quantile(drawn[name], [0.025, 0.975])
        assert_near(board[name].interval, (float(low), float(high)), name)


@pytest.mark.parametrize(("seed", "cases"), DATA_SETS)
def test_with_one_try_a_case_pooled_runs_are_within_a_point_too(seed: int, cases: int) -> None:
    board, drawn = pooled_and_drawn(cases, 1, seed)
    for name in (OVERALL, "speed", "efficiency", "cost"):
        low, high = np.quantile(drawn[name], [0.025, 0.975])
        assert_near(board[name].interval, (float(low), float(high)), name)


@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("seed", range(100, 106))
def test_two_runs_of_few_cases_are_as_a_bootstrap_over_them_has_them(seed: int, epochs: int) -> None:
    board, drawn = pooled_and_drawn(20, epochs, seed, runs=2)
    for name in (OVERALL, "speed", "efficiency", "cost"):
        low, high = np.quantile(drawn[name], [0.025, 0.975])
        assert_near(board[name].interval, (float(low), float(high)), name)


def test_dimensions_that_move_together_make_the_overall_interval_wider() -> None:
    own, samples = questions(65), answers(65, 3, 3)
    one = closed_arm(own, samples)
    found = shown(board_row([one], [one]))
    apart = leaderboard_row(
        "x@1",
        tuple(one.scores[name] for name in DIMENSIONS),  # type: ignore[arg-type]
        n=1,
        benchmarks=1,
        errors=tuple(one.score_errors[name] for name in DIMENSIONS),
    )
    joint, independent = found[OVERALL].interval, shown(apart)[OVERALL].interval
    assert joint is not None
    assert independent is not None
    assert joint[1] - joint[0] > 1.3 * (independent[1] - independent[0])


def test_what_is_not_known_to_move_together_is_unknown() -> None:
    shares = np.array([[WEIGHTS[name] for name in DIMENSIONS]])
    nothing: list[list[SpreadPart]] = [[]]
    for parts in (nothing, [[SpreadPart(None, 1.0, 1.0)]]):
        found = joint_of(parts, shares)
        assert np.isnan(found.low).all()
        assert np.isnan(found.covariance).all()


def test_a_spread_is_kept_in_276_bytes_and_comes_back() -> None:
    one = closed_arm(questions(30), answers(30, 3, 1))
    assert one.spread is not None
    blob = packed(one.spread, one.scores)
    assert blob is not None
    assert len(blob) == 276 == 4 * SIZE
    back = unpacked([blob])
    for place, name in enumerate((*DIMENSIONS, OVERALL)):
        score = one.scores[name]
        assert score is not None
        assert back.low[0, place] == pytest.approx(score - one.spread.low[name], abs=1e-6)
        assert back.high[0, place] == pytest.approx(one.spread.high[name] - score, abs=1e-6)
    assert back.covariance[0, 0, 0] == pytest.approx(one.score_errors["accuracy"] ** 2, rel=1e-5)
    assert packed(None, {}) is None
    older = unpacked([blob[:228]])
    assert older.low.tolist() == back.low.tolist()
    assert np.isnan(older.below).all(), "kept before the means over several runs were"


def test_other_targets_stretch_the_spread_of_what_depends_on_them() -> None:
    half = (0.04, *([0.0] * 4), 0.04, 0.0, 0.0, 0.0, *([None] * 6))
    spread = ScoreSpread(
        {"accuracy": 0.4, "speed": 0.3, OVERALL: 0.35}, {"accuracy": 0.6, "speed": 0.7, OVERALL: 0.65}, half
    )
    scores = {"accuracy": 0.5, "speed": 0.5, OVERALL: 0.5}
    found = unpacked([rescaled(packed(spread, scores), {"speed": 2.0}) or b""])
    assert (found.low[0, 0], found.low[0, 1]) == (pytest.approx(0.1), pytest.approx(0.4))
    assert found.covariance[0, 1, 1] == pytest.approx(0.16)
    # 0.6² · 0.04 + 0.4² · 0.04 becomes 0.6² · 0.04 + 0.4² · 0.16.
    assert found.low[0, 5] == pytest.approx(0.15 * (0.04 / 0.0208) ** 0.5, rel=1e-4)
    assert rescaled(None, {}) is None
