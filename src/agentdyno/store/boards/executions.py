"""What a run of a suite came to, arm by arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

from sqlalchemy import String, case, cast, func, insert, select, true, update

from agentdyno.model import Phase, Provenance, Status
from agentdyno.model.form import WHOLE
from agentdyno.model.metric import LARGEST
from agentdyno.store.boards import summaries
from agentdyno.store.boards.identities import agent_digest, derived_uid, split_agent, timed_uid
from agentdyno.store.boards.naming import adopt, label_agents
from agentdyno.store.boards.schema import ERRORS, SCORES, agents, benchmarks, configurations, executions, suites
from agentdyno.store.boards.targets import known_targets, scored_in_force, settle_targets
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import digest, id_bytes, id_text, plain_or_null
from agentdyno.store.runs.schema import arms, runs, samples
from agentdyno.store.runs.suites import keep_suite, keep_workspace, part_of

if TYPE_CHECKING:
    from agentdyno.model import AgentUse, ArmResult, RunResult

QUALITIES = ("correctness", "completeness", "relevance")
_MOST_FAILURES = 1_000
_MOST_REASONS = 5
_REASON_CHARACTERS = 300
_LEAST_ERROR = 1e-20
_MOST_ERROR = 1e3


def record_executions(session: DatabaseSession, run: int, result: RunResult, keys: Mapping[str, int]) -> None:
    """Writes one execution per arm, or brings up to date what an earlier end of the run wrote."""
    from agentdyno.model.result import form_of

    if result.suite is None:
        return
    known = {item.benchmark_id for item in result.suite.benchmarks}
    arms = [arm for arm in result.arms if arm.agent is not None and arm.benchmark in known]
    if not arms:
        return
    summaries.lock(session)
    suite = keep_suite(session, result.suite, result.started_at, part_of(result.form))
    settle_targets(session, suite, result)
    force = known_targets(session, part_of(result.form) or result.suite.digest)
    which = executions.c.arm.in_([keys[arm.arm_id] for arm in arms])
    present = {row.arm: row.id for row in session.execute(select(executions.c.arm, executions.c.id).where(which))}
    places = summaries.remove(session, which) if present else set()
    found = session.execute(select(benchmarks.c.benchmark_id, benchmarks.c.id).where(benchmarks.c.suite == suite))
    ids = {row.benchmark_id: int(row.id) for row in found}
    shared = {
        "run": run,
        "workspace": keep_workspace(session, result.workspace),
        "environment": session.execute(select(runs.c.environment).where(runs.c.id == run)).scalar_one(),
    }
    for arm in arms:
        key = keys[arm.arm_id]
        name, version, use = split_agent(arm.agent or "", result.suite.agents)
        row = {
            **shared,
            "arm": key,
            "benchmark": ids[arm.benchmark or ""],
            "agent": keep_agent(session, name, version, use, result.started_at),
            "configuration": _configuration(session, arm, use),
            **_figures(arm),
            **scored_in_force(arm, result.targets, force),
            "form": form_of(result).value,
            "stale": 0,
            **_recorded(session, key, arm, result),
        }
        if key in present:
            session.execute(update(executions).where(executions.c.id == present[key]), row)
        else:
            session.execute(insert(executions), {**row, "uid": timed_uid(int(str(row["created_at"])))})
    label_agents(session)
    summaries.add(session, which, places)


def keep_agent(session: DatabaseSession, name: str, version: str, use: AgentUse | None, now_ms: int) -> int:
    """The row of an agent in this version and configuration; ``label_agents`` has to follow."""
    mark = agent_digest(use)
    row = {
        "uid": derived_uid("agent", name, version, mark),
        "name": name,
        "version": version,
        "digest": mark,
        "uses": "" if use is None else use.uses,
        "config": None if use is None else plain_or_null(use.config, f"the configuration of {name}"),
        "created_at": now_ms,
        "identity": None if use is None else use.identity or None,
        "label": None,
    }
    session.execute(session.backend.insert_unless_present(agents, ["name", "version", "digest"]), row)
    if use is not None:
        adopt(session, name, use)
    return int(session.execute(select(agents.c.id).where(agents.c.uid == row["uid"])).scalar_one())


def _configuration(session: DatabaseSession, arm: ArmResult, use: AgentUse | None) -> int | None:
    """What the agent was told and what it was observed to be, once however many executions share it."""
    told = {} if use is None else {"uses": use.uses, "config": use.config}
    document = plain_or_null(
        {key: value for key, value in {**told, "observed": arm.observed}.items() if value},
        f"the configuration of {arm.name}",
    )
    if document is None:
        return None
    name = digest(document)
    session.execute(
        session.backend.insert_unless_present(configurations, ["digest"]), {"digest": name, "document": document}
    )
    return int(session.execute(select(configurations.c.id).where(configurations.c.digest == name)).scalar_one())


def _figures(arm: ArmResult) -> dict[str, object]:
    """What was concluded about the arm."""
    cases = arm.case_figures
    peak = arm.metrics.get("peak_rss_bytes")
    accuracy = arm.scores.get("accuracy", None if cases is None else cases.mean)
    return {
        **{name: _finite(arm.scores.get(name)) for name in SCORES},
        "accuracy": _finite(accuracy),
        **{name: standard_error(arm.score_errors.get(name.removesuffix("_error"))) for name in ERRORS},
        "tokens_used": _whole(arm.totals.get("total_tokens")),
        "api_calls": _whole(arm.totals.get("api_calls")),
        "memory_peak_bytes": None if peak is None else _whole(peak.maximum),
        "duration_s": _finite(arm.totals.get("duration_s")),
        "cost_usd": _finite(arm.totals.get("cost_usd")),
        "cases": None if cases is None else cases.cases,
        "scored": None if cases is None else cases.scored,
        "case_mean": None if cases is None else _finite(cases.mean),
        "case_variance": None if cases is None else _finite(cases.variance),
        "passed": None if cases is None else cases.passed,
        "samples": None if cases is None else cases.samples,
    }


def _recorded(session: DatabaseSession, key: int, arm: ArmResult, result: RunResult) -> dict[str, object]:
    """What the samples in the store say."""
    c = samples.c
    own = (c.arm == key, c.phase == Phase.MEASURED.value)
    mark = cast(c.details, String).like('%"simulated":true%')  # the store writes JSON without blanks
    counted = session.execute(
        select(
            func.count(case((c.status != Status.CANCELLED.value, 1))),
            func.count(case((c.status.in_([Status.OK.value, Status.FAILED.value]), 1))),
            func.sum(c.attempts),
            func.min(c.started_at_ms),
            func.max(c.started_at_ms + func.coalesce(c.duration_s, 0.0) * 1000.0),
            func.sum(c.cpu_s),
            func.count(case((mark, 1))),
        ).where(*own)
    ).one()
    recorded, usable, attempts, first, last, cpu_s, marked = counted
    totals_only = not recorded and arm.case_figures is not None and arm.case_figures.scored > 0
    if result.misjudged:
        status = "failed"
    elif (recorded or totals_only) and recorded >= arm.planned:
        status = "success"
    else:
        status = "partial" if usable else "failed"
    simulated = marked or any(metric.provenance is Provenance.SIMULATED for metric in arm.metrics.values())
    started_at = result.started_at if first is None else int(first)
    finished_at = (result.finished_at or started_at) if last is None else round(last)
    return {
        "status": status,
        "error_details": _reasons(session, key),
        "started_at": started_at,
        "finished_at": finished_at,
        "created_at": finished_at if result.finished_at is None else result.finished_at,
        "cpu_s": _finite(arm.totals.get("cpu_s", cpu_s)),
        "attempts": None if attempts is None else int(attempts),
        "simulated": int(bool(simulated)),
        **_qualities(session, key, arm),
    }


def _qualities(session: DatabaseSession, key: int, arm: ArmResult) -> dict[str, float | None]:
    """Means over cases where they were concluded, else over the samples."""
    found: dict[str, float | None] = {}
    for name in QUALITIES:
        if name in arm.scores:
            found[name] = _finite(arm.scores[name])
        elif name in arm.metrics:
            found[name] = _finite(arm.metrics[name].mean)
    missing = [name for name in QUALITIES if name not in found]
    if missing:
        sums = {name: [0.0, 0] for name in missing}
        own = (samples.c.arm == key, samples.c.phase == Phase.MEASURED.value, samples.c.scores.is_not(None))
        for (scores,) in session.execute(select(samples.c.scores).where(*own)):
            for name in missing:
                if scores.get(name) is not None:
                    sums[name][0] += scores[name]
                    sums[name][1] += 1
        found.update({name: total / count if count else None for name, (total, count) in sums.items()})
    return found


def _reasons(session: DatabaseSession, key: int) -> str | None:
    """The commonest failures, a line each."""
    own = (samples.c.arm == key, samples.c.phase == Phase.MEASURED.value, samples.c.failure.is_not(None))
    failures = session.execute(select(samples.c.failure).where(*own).order_by(samples.c.id).limit(_MOST_FAILURES))
    counts = Counter(f"{plain['kind']}: {plain['message']}"[:_REASON_CHARACTERS] for (plain,) in failures)
    lines = [f"{count} × {reason}" for reason, count in counts.most_common(_MOST_REASONS)]
    text = "\n".join(lines).encode("utf-8", "backslashreplace").decode()
    return text or None


def standard_error(value: float | None) -> float | None:
    """As it is kept: unknown where it cannot be one, and 0 where its square would be too small for PostgreSQL."""
    if value is None or not 0.0 <= value <= _MOST_ERROR:
        return None
    return 0.0 if value < _LEAST_ERROR else float(value)


def _finite(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else float(value)


def _whole(value: float | None) -> int | None:
    """``None`` for what no column of whole numbers can hold: of a sample from before values were looked at."""
    return None if value is None or not abs(value) <= LARGEST else round(value)


def runs_before(
    session: DatabaseSession, agent: str, suite_digest: str, benchmark: str, run_id: str = "", most: int = 1
) -> list[tuple[str, str]]:
    """The newest other whole runs of an agent (``NAME@VERSION``) in a benchmark of this version: run and arm."""
    name, _, version = agent.rpartition("@")
    found = session.execute(
        select(runs.c.run_id, arms.c.arm_id)
        .select_from(executions)
        .join(runs, runs.c.id == executions.c.run)
        .join(arms, arms.c.id == executions.c.arm)
        .where(
            executions.c.agent.in_(select(agents.c.id).where(agents.c.name == name, agents.c.version == version)),
            executions.c.benchmark.in_(
                select(benchmarks.c.id)
                .join(suites, suites.c.id == benchmarks.c.suite)
                .where(suites.c.digest == suite_digest, benchmarks.c.benchmark_id == benchmark)
            ),
            executions.c.status == "success",
            executions.c.form.in_(WHOLE),
            runs.c.run_id != id_bytes(run_id) if run_id else true(),
        )
        .order_by(executions.c.created_at.desc(), executions.c.id.desc())
        .limit(most)
    )
    return [(id_text(run), arm) for run, arm in found]
