"""The targets of a suite's version: set once, moved only by who asks for it.

A target is the value that scores 1 and its bound the value that scores 0. An execution whose run had other targets is
scored again with these, from what its run measured; a total that came from outside cannot be and is ``stale``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, insert, or_, select, update

from agentdyno.findings.figures.dimensions import (
    TARGETED_DIMENSIONS,
    Targets,
    scores_with,
    spread_factors,
    targets_for,
)
from agentdyno.model.form import WHOLE
from agentdyno.store.boards import summaries
from agentdyno.store.boards.schema import SCORES, agents, benchmarks, executions, suites, targets
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import decoded, id_text
from agentdyno.store.runs.schema import arms, runs
from agentdyno.store.runs.suites import suite_key, suite_of

if TYPE_CHECKING:  # every run sets targets; few ask for a list of them
    from agentdyno.findings.baseline.model import TargetRow
    from agentdyno.model.result import ArmResult, RunResult
    from agentdyno.model.suite import Suite

_ARM_COLUMNS = [arms.c[name] for name in ("arm_id", "name", "metrics", "scores", "case_figures", "totals")]
_TARGETED = (*TARGETED_DIMENSIONS, "overall")


class MovedTargets(NamedTuple):
    """How many executions were scored again, and how many could not be."""

    scored_again: int
    left_out: int


def list_targets(session: DatabaseSession, suite: str) -> list[TargetRow]:
    """The targets in force for a suite (a digest, or an id for its newest version), benchmark by benchmark."""
    from agentdyno.findings.baseline.model import TargetRow

    columns = [targets.c[name] for name in ("metric", "target", "bound", "agent", "run_id", "set_at")]
    rows = session.execute(
        select(benchmarks.c.benchmark_id, *columns)
        .join(benchmarks, benchmarks.c.id == targets.c.benchmark)
        .where(benchmarks.c.suite == suite_key(session, suite))
        .order_by(benchmarks.c.position, targets.c.metric)
    )
    return [TargetRow(*row) for row in rows]


def known_targets(session: DatabaseSession, digest: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Target and bound by benchmark and metric; empty where the suite has none yet, or is not known."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    rows = session.execute(
        select(benchmarks.c.benchmark_id, targets.c.metric, targets.c.target, targets.c.bound)
        .join(benchmarks, benchmarks.c.id == targets.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .where(suites.c.digest == digest)
    )
    for benchmark, metric, target, bound in rows:
        found.setdefault(benchmark, {})[metric] = (target, bound)
    return found


def first_targets(session: DatabaseSession, suite: Suite, agent: str) -> dict[str, dict[str, tuple[float, float]]]:
    """By benchmark what the first whole run of a baseline agent (a name, or ``NAME@VERSION``) gives targets of."""
    rows = session.execute(
        select(benchmarks.c.id, benchmarks.c.benchmark_id)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .where(suites.c.digest == suite.digest)
    ).all()
    firsts = ((name, _first_whole_arm(session, key, agent)) for key, name in rows)
    return {name: targets_for(suite.benchmark(name), first[3]) for name, first in firsts if first is not None}


def settle_targets(session: DatabaseSession, suite: int, result: RunResult) -> None:
    """Sets what a whole run brought targets for and nobody has set; other executions are scored again with them."""
    from agentdyno.model.result import form_of

    if form_of(result) not in WHOLE:
        return
    named = result.suite.baseline_scores[0].agent_id if result.suite and result.suite.baseline_scores else ""
    agent = next((arm.agent for arm in result.arms if arm.agent and _is_agent(arm.agent, named)), "") or ""
    missing = _missing(session, suite, result.targets)
    rows = [
        {"benchmark": key, "metric": metric, "target": pair[0], "bound": pair[1], "agent": agent}
        for key, metric, pair in missing
    ]
    if not rows:
        return
    given = {"run_id": result.run_id, "set_at": result.finished_at or result.started_at}
    upsert = session.backend.insert_unless_present(targets, ["benchmark", "metric"])
    session.execute(upsert, [{**row, **given} for row in rows])
    score_again(session, {key for key, _, _ in missing})


def _missing(
    session: DatabaseSession, suite: int, given: Mapping[str, Targets]
) -> list[tuple[int, str, tuple[float, float]]]:
    keys = dict(
        session.execute(select(benchmarks.c.benchmark_id, benchmarks.c.id).where(benchmarks.c.suite == suite)).all()
    )
    present = select(targets.c.benchmark, targets.c.metric).where(targets.c.benchmark.in_(list(keys.values())))
    known = set(session.execute(present).all())
    return [
        (keys[name], metric, pair)
        for name, of_metric in given.items()
        if name in keys
        for metric, pair in of_metric.items()
        if (keys[name], metric) not in known
    ]


def settle_old_targets(session: DatabaseSession) -> None:
    """For a store in which targets moved with every run of the baseline agent: those of its first whole run.

    What was scored with others is scored again. The summaries are left to whoever makes them anew.
    """
    known = session.execute(select(suites.c.id, suites.c.document)).all()
    for key, document in known:
        suite = suite_of(None, document)
        rows = session.execute(
            select(benchmarks.c.id, benchmarks.c.benchmark_id, benchmarks.c.baseline_agent).where(
                benchmarks.c.suite == key, benchmarks.c.baseline_agent.is_not(None)
            )
        ).all()
        for benchmark, name, agent in rows:
            found = _first_whole_arm(session, benchmark, agent)
            if found is None:
                continue
            label, run_id, at, arm = found
            for metric, pair in targets_for(suite.benchmark(name), arm).items():
                values = {"benchmark": benchmark, "metric": metric, "target": pair[0], "bound": pair[1]}
                session.execute(insert(targets), {**values, "agent": label, "run_id": run_id, "set_at": at})
            score_again(session, [benchmark])


def _first_whole_arm(session: DatabaseSession, benchmark: int, agent: str) -> tuple[str, str, int, ArmResult] | None:
    """The label, the run and its end, and the arm."""
    label = agents.c.name + "@" + agents.c.version
    row = session.execute(
        select(label.label("label"), runs.c.run_id, executions.c.created_at, *_ARM_COLUMNS)
        .select_from(executions)
        .join(agents, agents.c.id == executions.c.agent)
        .join(arms, arms.c.id == executions.c.arm)
        .join(runs, runs.c.id == executions.c.run)
        .where(
            executions.c.benchmark == benchmark,
            executions.c.status == "success",
            executions.c.form.in_(WHOLE),
            or_(agents.c.name == agent, label == agent),
        )
        .order_by(executions.c.created_at, executions.c.id)
        .limit(1)
    ).one_or_none()
    return None if row is None else (row.label, id_text(row.run_id), row.created_at, _arm_of(row))


def move_targets(session: DatabaseSession, suite: str, rows: Sequence[TargetRow]) -> MovedTargets:
    """Puts these in place of what is in force, and scores everything of the suite's version again."""
    summaries.lock(session)
    key = suite_key(session, suite)
    keys = dict(
        session.execute(select(benchmarks.c.benchmark_id, benchmarks.c.id).where(benchmarks.c.suite == key)).all()
    )
    upsert = session.backend.insert_or_replace(targets, ["benchmark", "metric"], "1 = 1")
    for row in rows:
        session.execute(upsert, {**row._asdict(), "benchmark": keys[row.benchmark]})
    moved = {keys[row.benchmark] for row in rows}
    which = executions.c.benchmark.in_(list(moved))
    outside = which & executions.c.arm.is_(None) & (executions.c.stale == 0)
    scored = or_(*(executions.c[name].is_not(None) for name in TARGETED_DIMENSIONS))
    count = session.execute(select(func.count()).select_from(executions).where(outside, scored)).scalar_one()
    if count:
        places = summaries.remove(session, outside & scored)
        ids = list(session.execute(select(executions.c.id).where(outside, scored)).scalars())
        session.execute(update(executions).where(executions.c.id.in_(ids)), {"stale": 1})
        summaries.add(session, executions.c.id.in_(ids), places)
    return MovedTargets(score_again(session, moved), int(count))


def score_again(session: DatabaseSession, of: Iterable[int]) -> int:
    """Scores the executions of these benchmarks with the targets in force, as far as they are not; how many were.

    Parts of the suite's version (``--limit``) are scored with its targets, too.
    """
    changed = 0
    for key in of:
        digest, name = session.execute(
            select(suites.c.digest, benchmarks.c.benchmark_id)
            .join(suites, suites.c.id == benchmarks.c.suite)
            .where(benchmarks.c.id == key)
        ).one()
        bounds = known_targets(session, digest).get(name, {})
        parts = (
            select(benchmarks.c.id)
            .join(suites, suites.c.id == benchmarks.c.suite)
            .where(suites.c.part_of == digest, benchmarks.c.benchmark_id == name)
        )
        changed += _score_benchmark(session, [key, *session.execute(parts).scalars()], name, bounds)
    return changed


def _score_benchmark(session: DatabaseSession, keys: Sequence[int], name: str, bounds: Targets) -> int:
    from agentdyno.findings.figures.spread import (
        rescaled,  # with numpy, which readers of the store do without
    )

    held = [executions.c[column] for column in ("id", "spread", *SCORES)]
    rows = session.execute(
        select(runs.c.targets, *held, *_ARM_COLUMNS)
        .join(arms, arms.c.id == executions.c.arm)
        .join(runs, runs.c.id == executions.c.run)
        .where(executions.c.benchmark.in_(list(keys)))
    ).all()
    new: dict[int, dict[str, object]] = {}
    for row in rows:
        scores = scores_with(_arm_of(row), bounds)
        if all(_equal(getattr(row, each), scores[each]) for each in _TARGETED):
            continue
        used = {metric: tuple(pair) for metric, pair in ((row.targets or {}).get(name) or {}).items()}
        spread = rescaled(row.spread, spread_factors(used, bounds))
        new[row.id] = {**{each: scores[each] for each in _TARGETED}, "spread": spread}
    if not new:
        return 0
    which = executions.c.id.in_(list(new))
    places = summaries.remove(session, which)
    for key, values in new.items():
        session.execute(update(executions).where(executions.c.id == key), values)
    summaries.add(session, which, places)
    return len(new)


def scored_in_force(arm: ArmResult, used: Mapping[str, Targets], force: Mapping[str, Targets]) -> dict[str, object]:
    """The scores that depend on targets and the spread, as ``executions`` keeps them: with the targets in force."""
    from agentdyno.findings.figures.spread import packed, rescaled

    name = arm.benchmark or ""
    blob = packed(arm.spread, arm.scores)
    own = used.get(name, {})
    if not force.get(name) or {metric: tuple(pair) for metric, pair in own.items()} == dict(force[name]):
        return {"spread": blob}
    scores = scores_with(arm, force[name])
    return {
        **{each: scores[each] for each in _TARGETED},
        "spread": rescaled(blob, spread_factors(own, force[name])),
    }


def _arm_of(row: Any) -> ArmResult:  # a row with columns of ``arms``
    from agentdyno.model.result import ArmResult, CaseFigures, MetricSummary  # readers of boards do without

    figures = row.case_figures
    return ArmResult(
        row.arm_id,
        row.name,
        "",
        metrics={
            metric: decoded(MetricSummary, plain, "a metric")
            for metric, plain in (row.metrics or {}).items()
            if metric in ("duration_s", "cpu_s", "peak_rss_bytes")
        },
        scores=row.scores or {},
        case_figures=None if figures is None else decoded(CaseFigures, figures, "the cases of an arm"),
        totals=row.totals or {},
    )


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) < 1e-12


def _is_agent(label: str, name: str) -> bool:
    return bool(name) and (label == name or label.rpartition("@")[0] == name)
