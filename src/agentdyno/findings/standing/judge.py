"""The agents of one run: where each stands on the five dimensions, what it used, what it failed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from agentdyno.errors import NotComparable
from agentdyno.findings.figures.cases import ArmFigures, accuracy_interval, cluster_of
from agentdyno.findings.figures.dimensions import (
    DIMENSIONS,
    OVERALL,
    WEIGHTS,
    Targets,
    is_measured,
    missing_dimensions,
    overall,
    targets_for,
)
from agentdyno.findings.figures.resampling import (
    Draws,
    interval_of,
    mean_draws,
    overall_draws,
    resampling_seed,
    score_draws,
)
from agentdyno.findings.figures.suite_figures import figures_of, suite_of
from agentdyno.findings.figures.traces import MOST_CASES, Remarks, shorten, wanted_text
from agentdyno.findings.standing.judge_scorers import joined_means, means_by_scorer
from agentdyno.findings.standing.model import (
    AgentStanding,
    ArmStanding,
    FailedCase,
    Foresight,
    HeadToHead,
    ScoreEstimate,
    ScorerTrouble,
    SuiteStanding,
)
from agentdyno.model import ArmResult, Provenance, RunResult, Suite
from agentdyno.model.naming import shown_result
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.settings.judging import LEVEL
from agentdyno.stats import Values, quantile


def standing_of(
    result: RunResult, figures: Mapping[str, ArmFigures] | None = None, policy: GatePolicy = DEFAULT_POLICY
) -> SuiteStanding:
    """What a closed run of a suite says about its agents, in the order of their overall score.

    ``figures`` by arm id give intervals, failed cases and the head-to-head; without them they are made from the
    samples in the result, and an arm whose samples are not there is shown with what its own figures tell.
    """
    suite, result = suite_of(result), shown_result(result)
    taken = figures if figures is not None else figures_of(result)
    targets: dict[str, Targets] = {
        item.benchmark_id: result.targets.get(item.benchmark_id) or targets_for(item) for item in suite.benchmarks
    }
    arms = [arm for arm in result.arms if arm.agent is not None and arm.benchmark in targets]
    draws = {
        arm.arm_id: _draws(arm, taken[arm.arm_id], targets[arm.benchmark or ""])
        for arm in arms
        if arm.arm_id in taken
    }
    standings = {arm.arm_id: _arm_standing(arm, taken.get(arm.arm_id), draws.get(arm.arm_id, {})) for arm in arms}
    order = list(dict.fromkeys(arm.agent or "" for arm in arms))
    agents = [
        _agent_standing(agent, [arm for arm in arms if arm.agent == agent], standings, (taken, draws))
        for agent in order
    ]
    agents.sort(key=_rank)
    failed = [item for arm in arms if arm.arm_id in taken for item in failed_cases(arm, taken[arm.arm_id])]
    return SuiteStanding(
        run_id=result.run_id,
        benchmarks=tuple(item.benchmark_id for item in suite.benchmarks),
        agents=tuple(agents),
        arms=tuple(standings.values()),
        failed=tuple(failed),
        failed_total=sum(len(taken[arm.arm_id].remarks.failed_cases) for arm in arms if arm.arm_id in taken),
        head_to_head=_head_to_head(result, taken, (agents, order), policy) if len(agents) > 1 else None,
        scorers=tuple(
            item for arm in arms if arm.arm_id in taken for item in scorer_troubles(arm, taken[arm.arm_id])
        ),
    )


def _head_to_head(
    result: RunResult,
    figures: Mapping[str, ArmFigures],
    ranked: tuple[Sequence[AgentStanding], Sequence[str]],
    policy: GatePolicy,
) -> HeadToHead | None:
    """What the engine says of the two that matter most; ``None`` where the samples of one are not there, and where
    both are one model.

    ``ranked`` are the agents with their figures, and their names in the order of their overall score.
    """
    # Only now: a run of one agent, an experiment and a load have nothing to judge.
    from agentdyno.findings.engine.flips import pick_pair
    from agentdyno.findings.engine.judgement import judgement
    from agentdyno.findings.record.judge import record_of

    pair = pick_pair(*ranked)
    if pair is None:
        return None
    try:
        first, second = (record_of(result, figures, agent) for agent in pair)
    except NotComparable:
        return None
    if first.asked and second.asked:
        from agentdyno.findings.engine.one_model import AskedModel, one_model

        if one_model(AskedModel.of(first), AskedModel.of(second)):
            return None
    return judgement(first, second, policy).flips


def failed_cases(arm: ArmResult, figures: ArmFigures) -> list[FailedCase]:
    """The remembered cases that the agent did not always pass, wrong answers and errors alike."""
    cases = {case.id: case for case in figures.benchmark.cases}
    scorers = [scorer.name for scorer in figures.benchmark.rubric.scorers]
    found = []
    for case_id, remark in figures.remarks.failed.items():
        target = cases[case_id].target if case_id in cases else None
        found.append(
            FailedCase(
                benchmark=figures.benchmark.benchmark_id,
                case_id=case_id,
                agent=arm.agent or arm.name,
                status=remark.status,
                bad=remark.bad,
                tries=figures.tallies[case_id].tries,
                want=shorten(wanted_text(target, scorers)),
                got=remark.got,
                why=remark.why,
            )
        )
    return found


def every_failure(result: RunResult) -> tuple[FailedCase, ...]:
    """All cases of which the result holds a failed execution, however many there are."""
    benchmarks = {item.benchmark_id: item for item in suite_of(result).benchmarks}
    found: list[FailedCase] = []
    for arm in result.arms:
        benchmark = benchmarks.get(arm.benchmark or "")
        if benchmark is not None:
            remarks = Remarks(prints=False, most_remembered=len(arm.samples))
            figures = ArmFigures(benchmark, remarks=remarks)
            for sample in arm.samples:
                figures.add(sample)
            found += failed_cases(arm, figures)
    return tuple(found)


def scorer_troubles(arm: ArmResult, figures: ArmFigures) -> list[ScorerTrouble]:
    """The scorers that could not judge every answer of the arm."""
    found = []
    for tally in figures.scorers.values():
        cases = figures.in_order(tally.raised_on.keys() | tally.silent_on.keys())
        if tally.raised or tally.silent:
            found.append(
                ScorerTrouble(
                    benchmark=figures.benchmark.benchmark_id,
                    agent=arm.agent or arm.name,
                    scorer=tally.scorer,
                    answers=tally.answers,
                    raised=tally.raised,
                    unscored=tally.silent,
                    why=shorten(tally.why_raised or tally.why_silent),
                    cases=tuple(cases[:MOST_CASES]),
                    cases_total=len(cases),
                )
            )
    return found


def _draws(arm: ArmResult, figures: ArmFigures, targets: Targets) -> dict[str, Draws]:
    drawn = score_draws(figures, targets, resampling_seed(figures.benchmark))
    return {name: draws for name, draws in drawn.items() if is_measured(arm.scores, name)}


def _rank(agent: AgentStanding) -> tuple[float, float, int]:
    """The best first, of equals who answered more cases; those without a score last."""
    whole, accuracy = agent.scores[OVERALL].value, agent.scores["accuracy"].value
    return (1.0 if whole is None else -whole), (1.0 if accuracy is None else -accuracy), agent.unanswered


def _arm_standing(arm: ArmResult, figures: ArmFigures | None, draws: Mapping[str, Draws]) -> ArmStanding:
    scores = {}
    for name in (*DIMENSIONS, OVERALL):
        value = arm.scores.get(name)
        if name == "accuracy":
            interval = _accuracy(arm, figures)
        else:
            interval = interval_of(overall_draws(draws) if name == OVERALL else draws.get(name), value)
        scores[name] = ScoreEstimate(value, interval)
    counted = arm.case_figures
    return ArmStanding(
        arm_id=arm.arm_id,
        benchmark=arm.benchmark or "",
        agent=arm.agent or "",
        scores=scores,
        cases=counted.cases if counted else 0,
        scored=counted.scored if counted else 0,
        passed=counted.passed if counted else 0,
        samples=counted.samples if counted else 0,
        simulated=_simulated(arm),
        by_scorer=means_by_scorer(figures) if figures is not None else (),
        unanswered=0 if figures is None else sum(tally.unanswered for tally in figures.tallies.values()),
    )


def _accuracy(arm: ArmResult, figures: ArmFigures | None) -> tuple[float, float] | None:
    if figures is not None:
        return accuracy_interval(figures.case_scores(), figures.clusters())
    counted = arm.case_figures
    if counted is None or counted.mean is None or counted.variance is None:
        return None
    half = 1.96 * math.sqrt(counted.variance / counted.scored)
    return max(0.0, counted.mean - half), min(1.0, counted.mean + half)


def _agent_standing(
    agent: str,
    arms: Sequence[ArmResult],
    standings: Mapping[str, ArmStanding],
    known: tuple[Mapping[str, ArmFigures], Mapping[str, Mapping[str, Draws]]],
) -> AgentStanding:
    taken, draws = known
    own = [standings[arm.arm_id] for arm in arms]
    name, _, version = agent.rpartition("@")
    figures = [taken[arm.arm_id] for arm in arms if arm.arm_id in taken]
    statuses: Counter[str] = Counter()
    for arm in arms:
        statuses.update(arm.statuses)
    passed = sum(item.passed for item in own)
    totals = {key: _sum(arms, key) for key in ("total_tokens", "cost_usd", "judge_cost_usd")}
    cost = totals["cost_usd"]
    return AgentStanding(
        agent=agent,
        name=name or agent,
        version=version if name else "",
        scores=_agent_scores(arms, own, draws),
        cases=sum(item.cases for item in own),
        scored=sum(item.scored for item in own),
        passed=passed,
        samples=sum(item.samples for item in own),
        statuses=dict(sorted(statuses.items())),
        duration_s=_pooled(arms, figures, "duration_s", 0.5),
        duration_p95_s=_pooled(arms, figures, "duration_s", 0.95),
        ttft_s=_pooled(arms, figures, "ttft_s", 0.5),
        total_tokens=totals["total_tokens"],
        cost_usd=cost,
        known_cost_usd=math.fsum(item.known_cost() for item in figures) if figures else None,
        cost_per_success_usd=cost / passed if cost is not None and passed else None,
        judge_cost_usd=totals["judge_cost_usd"],
        missing=tuple(
            dimension for dimension in DIMENSIONS if any(dimension in missing_dimensions(arm.scores) for arm in arms)
        ),
        simulated=any(item.simulated for item in own),
        not_measured=tuple(
            dimension for dimension in DIMENSIONS if not any(is_measured(arm.scores, dimension) for arm in arms)
        ),
        by_scorer=joined_means([item.by_scorer for item in own]),
        unanswered=sum(item.unanswered for item in own),
        accuracy_of_all=_accuracy_of_all(own),
    )


def _accuracy_of_all(own: Sequence[ArmStanding]) -> float | None:
    """The mean over benchmarks where a case that was not answered is a wrong one; ``None`` where all were."""
    if not any(item.unanswered for item in own):
        return None
    counted = [
        (item.scores["accuracy"].value or 0.0) * item.scored / (item.scored + item.unanswered)
        for item in own
        if item.scored + item.unanswered
    ]
    return math.fsum(counted) / len(counted)


def _jointly(arms: Sequence[ArmResult], scores: Mapping[str, float | None]) -> dict[str, ScoreEstimate] | None:
    """The scores with the intervals that a board shows for them; ``None`` where an arm has no spread."""
    if any(arm.spread is None for arm in arms):
        return None
    # Only now: a run of one benchmark has nothing to put together.
    from agentdyno.findings.board.judge_joint import SpreadPart, joint_of
    from agentdyno.findings.board.judge_ranks import shares_of
    from agentdyno.findings.figures.spread import packed

    values = np.array([[np.nan if scores[name] is None else scores[name] for name in DIMENSIONS]], dtype=np.float64)
    parts = [SpreadPart(packed(arm.spread, arm.scores), 1.0, 1.0) for arm in arms]
    joint = joint_of([parts], np.nan_to_num(shares_of(values, WEIGHTS)))
    found = {}
    for place, name in enumerate((*DIMENSIONS, OVERALL)):
        value, low, high = scores[name], float(joint.low[0, place]), float(joint.high[0, place])
        if value is None or math.isnan(low) or math.isnan(high):
            found[name] = ScoreEstimate(value, None)
        else:
            found[name] = ScoreEstimate(value, (max(0.0, value - low), min(1.0, value + high)))
    return found


def _agent_scores(
    results: Sequence[ArmResult], arms: Sequence[ArmStanding], draws: Mapping[str, Mapping[str, Draws]]
) -> dict[str, ScoreEstimate]:
    """Means over the arms that have the score, and ``overall`` of those means."""
    if len(arms) == 1:
        return dict(arms[0].scores)
    scores: dict[str, ScoreEstimate] = {}
    together: dict[str, Draws] = {}
    for name in DIMENSIONS:
        scored = [arm for arm in arms if arm.scores[name].value is not None]
        values = [value for arm in scored if (value := arm.scores[name].value) is not None]
        value = math.fsum(values) / len(values) if values else None
        drawn = [draws[arm.arm_id][name] for arm in scored if name in draws.get(arm.arm_id, {})]
        mean = mean_draws(drawn) if len(drawn) == len(scored) else None
        if mean is not None:
            together[name] = mean
        scores[name] = ScoreEstimate(value, interval_of(mean, value))
    whole = overall({name: scores[name].value for name in DIMENSIONS})
    certain = all(name in together for name in DIMENSIONS if scores[name].value is not None)
    scores[OVERALL] = ScoreEstimate(whole, interval_of(overall_draws(together), whole) if certain else None)
    return _jointly(results, {name: score.value for name, score in scores.items()}) or scores


def _sum(arms: Sequence[ArmResult], name: str) -> float | None:
    """Over all arms; unknown where one of them does not know, or has nothing."""
    values = [arm.totals.get(name) for arm in arms]
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def _pooled(arms: Sequence[ArmResult], figures: Sequence[ArmFigures], name: str, q: float) -> float | None:
    """A quantile over the executions of all arms, seconds; from the one arm's own figures where samples are gone."""
    if len(figures) == len(arms):
        held: list[Values] = [np.array(item.values[name]) for item in figures if name in item.values]
        return quantile(np.concatenate([np.asarray(values) for values in held]), q) if held else None
    metric = arms[0].metrics.get(name) if len(arms) == 1 else None
    if metric is None:
        return None
    return metric.median if q == 0.5 else metric.p95


def _simulated(arm: ArmResult) -> bool:
    return any(metric.provenance is Provenance.SIMULATED for metric in arm.metrics.values())


DISCORDANT = 0.2
"""Share of cases that one of two agents passes and the other does not, where nothing is known yet."""
_FEWEST_FLIPS = 6
"""Cases that must flip, all in one direction, before the exact test says less than 5 %."""


def foresee(suite: Suite, warmups: Sequence[int], spread: float | None = None) -> Foresight:
    """For a run with one agent per entry of ``warmups``, its warm-up calls in each benchmark.

    ``spread`` is the standard deviation of the difference between two agents over cases, where an earlier run told
    it; else 20 % of the cases are taken to go one way or the other. Repeats of a case make its score more certain but
    are no further cases, so that they do not count here.
    """
    cases = sum(len(item.cases) for item in suite.benchmarks)
    executions = sum(len(item.cases) * (item.epochs or suite.epochs) for item in suite.benchmarks)
    clusters = len({(item.benchmark_id, cluster_of(c.id, c.group)) for item in suite.benchmarks for c in item.cases})
    assumed = math.sqrt(DISCORDANT) if spread is None else spread
    detectable = None
    if clusters >= _FEWEST_FLIPS:
        from agentdyno.stats import minimum_detectable_difference

        smallest = minimum_detectable_difference(assumed, clusters, alpha=LEVEL)
        detectable = max(smallest, _FEWEST_FLIPS / clusters)
        detectable = detectable if detectable <= 1.0 else None
    basis = (
        f"{100 * DISCORDANT:.0f} % of the cases decided differently by two agents"
        if spread is None
        else f"case scores that differ by {spread:.2f} (standard deviation), as before"
    )
    return Foresight(
        calls=executions * len(warmups),
        warmups=sum(warmups) * len(suite.benchmarks),
        cases=cases,
        clusters=clusters,
        agents=len(warmups),
        detectable=detectable,
        assumption=f"paired by case, 5 % level, 80 % power, {basis}",
    )
