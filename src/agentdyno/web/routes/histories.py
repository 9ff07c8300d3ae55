"""How agents and experiments went over time, and what became worse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from agentdyno.errors import SpecError
from agentdyno.findings.history.ask import POINTS, THRESHOLD, Histories
from agentdyno.findings.history.judge_series import SERIES_METRICS, series_metric
from agentdyno.findings.history.judge_thresholds import thresholds_from
from agentdyno.findings.history.model import History
from agentdyno.findings.record.ask_names import UnknownName, agent_named
from agentdyno.model.job import Scope
from agentdyno.settings.judging import INCLUDE_PARTIAL
from agentdyno.web.auth import require
from agentdyno.web.document_shapes import RegressionAnswer, regression_answer
from agentdyno.web.lookups import LONGEST_NAME, find_agent, find_stored_suite
from agentdyno.web.problems import FieldProblem, RefusedRequest, near
from agentdyno.web.replies import about, answer, kept_answer
from agentdyno.web.schemas import ArmLabel, ExperimentArms, HistorySubjects, MetricNames
from agentdyno.web.state import Services, services

router = APIRouter(tags=["history"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
Text = Annotated[str | None, Query(max_length=LONGEST_NAME)]
Partial = Annotated[bool, Query(description=INCLUDE_PARTIAL.description)]
TARGET = "target"
"""The parameter of a load's scenarios that says what was under it."""
_FIELDS = {"--metric": "query.metric", "history": "query.subject"}


@router.get("/benchmarks/agents/{agent_id:path}/regressions", response_model=RegressionAnswer)
def regressions(
    agent_id: Annotated[str, Path(max_length=LONGEST_NAME)],
    baseline_version: Text = None,
    threshold: Annotated[float, Query(gt=0, le=10)] = THRESHOLD,
    suite_id: Text = None,
    thresholds: Annotated[
        list[str] | None, Query(max_length=20, description="For metrics of their own: `accuracy=0.05`, repeated.")
    ] = None,
    *,
    request: Request,
    services: Given,
) -> Response:
    """What became worse: against a baseline, over time, and in patterns of small signs."""
    store, workspace, policy = services.store, services.workspace.name, services.workspace.gate

    with about("query.thresholds"):
        # Those of files hold where none is given; the parameter's default cannot say whether one was.
        general = [str(threshold)] if "threshold" in request.query_params else []
        said = (*general, *(thresholds or ()))
        thresholds_from(said, "thresholds")
    project = services.workspace.thresholds

    def make() -> RegressionAnswer:
        agent = find_agent(services, agent_id)
        suite = find_stored_suite(services, suite_id)
        if baseline_version is not None:
            named = baseline_version if "@" in baseline_version else f"{agent.name}@{baseline_version}"
            find_agent(services, named, "baseline_version")
        asked = Histories(
            services.store, workspace=workspace, now_ms=services.now_ms(), policy=policy, thresholds=project
        )
        limits = thresholds_from(said, "thresholds", asked.thresholds_of(agent.label, suite))
        found = asked.regressions(agent.label, baseline=baseline_version or None, threshold=limits, suite=suite)
        return regression_answer(found)

    chosen = tuple((row.agent, row.suite_id, row.version, row.set_at) for row in store.boards.baselines(workspace))
    question = (
        "regressions",
        agent_id,
        baseline_version,
        (said, tuple(project.items())),
        suite_id,
        workspace,
        chosen,
        policy.rules,
    )
    return kept_answer(services, question, make)


@router.get("/api/history", response_model=History)
def history(
    subject: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
    metric: Text = None,
    suite_id: Text = None,
    benchmark: Text = None,
    days: Annotated[int | None, Query(ge=1, le=36_500)] = None,
    include_partial: Partial = False,
    *,
    services: Given,
) -> Response:
    """One metric of an agent, or of an experiment, over time.

    Simulated results are not in it, and runs that were quick, limited or cut short only with `include_partial`.
    """
    workspace = services.workspace.name
    asked = Histories(services.store, workspace=workspace, now_ms=services.now_ms(), partial=include_partial)
    agent = _agent(services, subject)
    if agent is not None and metric:
        with about("query.metric"):
            series_metric(metric)
    suite = find_stored_suite(services, suite_id)
    try:
        found = asked.of(agent or subject, metric or None, suite=suite, benchmark=benchmark or None, days=days)
    except SpecError as error:
        field = _FIELDS.get(error.where or "")
        if field is None:
            raise
        told = (FieldProblem(field, error.message),)
        raise RefusedRequest(422, error.message, error.remedy, near=near(error.remedy), errors=told) from error
    return answer(found)


@router.get("/api/metrics-known", response_model=MetricNames)
def metrics_known(subject: Text = None, *, services: Given) -> Response:
    """The metrics that have a history: of an agent, or of an experiment where `subject` is one."""
    if not subject or _agent(services, subject) is not None:
        return answer(MetricNames(tuple(SERIES_METRICS)))
    store = services.store
    experiment, _, arm = subject.partition(":")
    rows = (
        store.boards.arm_series(experiment=subject, limit=POINTS)
        or store.boards.arm_series(arm_name=subject, limit=POINTS)
        or store.boards.arm_series(experiment=experiment, arm_name=arm, limit=POINTS)
    )
    if not rows:
        find_agent(services, subject, "subject")
    names = {name for row in rows for name in row.metrics}
    return answer(MetricNames(tuple(sorted(names) or SERIES_METRICS)))


@router.get("/api/history-subjects", response_model=HistorySubjects)
def history_subjects(services: Given) -> Response:
    """Agents that have run, and experiments with their arms."""
    store = services.store
    agents = sorted({row.name for row in store.boards.agents()})
    found: dict[str, dict[str, Mapping[str, object]]] = {}
    for row in store.boards.arm_series(limit=POINTS):
        if row.side != "baseline":
            found.setdefault(row.experiment, {})[row.name] = row.params
    experiments = tuple(
        ExperimentArms(
            name,
            tuple(
                ArmLabel(f"{name}:{arm}" if arm == name and len(arms) > 1 else arm, _arm_label(name, arm, params))
                for arm, params in arms.items()
            ),
        )
        for name, arms in sorted(found.items())
    )
    return answer(HistorySubjects(tuple(agents), experiments))


def _arm_label(experiment: str, arm: str, params: Mapping[str, object]) -> str:
    """The name of the arm where it tells its parameters; of a scenario of a load what was under it, else all."""
    told = {TARGET: params[TARGET]} if TARGET in params else params
    if not told or arm != experiment:
        return arm
    return f"{arm} ({' '.join(f'{name}={value}' for name, value in told.items())})"


def _agent(services: Services, subject: str) -> str | None:
    """The label of an agent that has run; ``None`` where no agent is called so."""
    try:
        return agent_named(services.store, subject).label
    except UnknownName:
        return None
