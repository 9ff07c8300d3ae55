"""What agents achieved: their executions page by page, and two or more of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Annotated
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from agentdyno.findings.duel.model import Duel
from agentdyno.findings.profile.model import ProfileReport
from agentdyno.model import Comparison
from agentdyno.model.codec import encode
from agentdyno.model.job import Scope
from agentdyno.store.answers import Answers
from agentdyno.store.boards.pages import ResultFilter
from agentdyno.store.rows import Execution
from agentdyno.web.asked import comparison_asked, described
from agentdyno.web.auth import require
from agentdyno.web.document_shapes import Compared, ResultPage, duel_answer, execution_item, tournament_answer
from agentdyno.web.lookups import (
    LONGEST_NAME,
    cursor_after,
    find_agent,
    find_run,
    find_stored_suite,
    find_suite,
    place_after,
)
from agentdyno.web.problems import FieldProblem, RefusedRequest, finding
from agentdyno.web.replies import DAY_MS, Lasting, answer, kept_answer
from agentdyno.web.schemas import CompareBody, ComparisonType, RunComparisons, Timeframe
from agentdyno.web.state import Services, services

router = APIRouter(tags=["results"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
AgentId = Annotated[str, Path(max_length=LONGEST_NAME, description="A name, NAME@VERSION, or a UUID.")]
Text = Annotated[str | None, Query(max_length=LONGEST_NAME)]
MOST_RUNS = 8
MOST_JUDGED = 64
"""Comparisons that are kept."""
MOST_WRITTEN, MOST_SHOWN = 64, 100
"""Pages that are kept with their rows, and how many rows these may have."""
_written: WeakKeyDictionary[Services, Answers[bytes]] = WeakKeyDictionary()
_ids: WeakKeyDictionary[Services, dict[str, str]] = WeakKeyDictionary()
_judged: WeakKeyDictionary[Services, Answers[Compared]] = WeakKeyDictionary()
_DAYS = {Timeframe.DAY: 1, Timeframe.WEEK: 7, Timeframe.MONTH: 30}


@router.get("/benchmarks/agents/{agent_id:path}/results", response_model=ResultPage)
def results(
    agent_id: AgentId,
    suite_id: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    timeframe: Timeframe = Timeframe.LATEST,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    *,
    services: Given,
) -> Response:
    """Executions of an agent, newest first, simulated ones among them and marked."""
    window_ms = _DAYS[timeframe] * DAY_MS if timeframe in _DAYS else None
    after = place_after(cursor)

    def make() -> Lasting:
        since = None if window_ms is None else services.now_ms() - window_ms
        suite = find_suite(services, suite_id)
        wanted = ResultFilter(agent_id, None, suite, since, timeframe is Timeframe.LATEST)
        found = services.store.boards.execution_page(wanted, after, limit=limit + 1)
        if not found:  # the plain name of an agent is the usual case, and needs no looking up
            agent = find_agent(services, agent_id)
            wanted = wanted._replace(agent=agent.name, version=agent.version)
            found = services.store.boards.execution_page(wanted, after, limit=limit + 1)
        # Rows are added only with a new generation; what time does is that the last one leaves the window.
        until = found[-1].created_at + window_ms if window_ms is not None and found else inf
        ids = _suite_ids(services, found)
        shown = tuple((row, ids.get(row.suite, row.suite)) for row in found)
        if limit > MOST_SHOWN:
            return Lasting(_page(shown, limit), until)
        # Executions of other agents make no other page, and to write it takes longer than to read its rows.
        memo = _written.setdefault(services, Answers(MOST_WRITTEN))
        return Lasting(
            memo.get(shown, (limit, agent_id, suite_id), lambda: encode(_page(shown, limit)).encode()), until
        )

    return kept_answer(services, ("results", agent_id, suite_id, timeframe, cursor, limit), make)


def _suite_ids(services: Services, rows: Sequence[Execution]) -> Mapping[str, str]:
    """By digest; a version of a suite never changes its id, so that they are read once."""
    known = _ids.setdefault(services, {})
    if any(row.suite not in known for row in rows):
        known.update({row.digest: row.suite_id for row in services.store.boards.suites()})
    return known


def _page(rows: Sequence[tuple[Execution, str]], limit: int) -> ResultPage:
    """Of at most one row more than are shown, each with the id of its suite."""
    last = rows[limit - 1][0] if len(rows) > limit else None
    items = tuple(execution_item(row, suite_id) for row, suite_id in rows[:limit])
    return ResultPage(items, None if last is None else cursor_after(last.created_at, last.uid))


@router.post("/benchmarks/compare", response_model=Compared, openapi_extra=described(CompareBody, list[str]))
def compare(asked: Annotated[CompareBody, Depends(comparison_asked)], services: Given) -> Response:
    """Two agents head to head on the cases both answered, or every agent against every other.

    Asked for in a JSON object; or the agents as a list, the body or `agent_ids`, and the rest as parameters.
    409 where they have no cases in common.
    """
    kind = asked.comparison_type
    if kind is ComparisonType.HEAD_TO_HEAD and len(asked.agent_ids) != 2:
        message = f"head_to_head takes 2 agents, got {len(asked.agent_ids)}"
        errors = (FieldProblem("body.agent_ids", message),)
        raise RefusedRequest(422, message, 'Give "comparison_type": "matrix" for more.', errors=errors)

    policy = services.workspace.gate

    def make() -> Compared:
        from agentdyno.findings.change.ask_rows import finished
        from agentdyno.findings.duel.ask import duel_of, tournament_of
        from agentdyno.findings.record.ask import Records

        store = services.store
        labels = tuple(find_agent(services, name, "body.agent_ids").label for name in asked.agent_ids)
        suite = find_stored_suite(services, asked.suite_id, "body.suite_id")
        known = Records(store)

        def judged() -> Compared:
            records = known.together(labels, suite)
            simulated = tuple(record.agent for record in records if record.simulated)
            if kind is ComparisonType.HEAD_TO_HEAD:
                return duel_answer(duel_of(records, store, policy), simulated)
            return tournament_answer(tournament_of(records, store, policy), simulated)

        # Executions of others change the generation and nothing here: this rests on its runs, its noise on all runs.
        results = finished(known.results_together(labels, suite))
        stamp = None if results is None else (results, store.runs.finished())
        memo = _judged.setdefault(services, Answers(MOST_JUDGED))
        return memo.get(stamp, (kind, labels, suite, policy.rules), judged)

    return kept_answer(services, ("compare", kind, tuple(asked.agent_ids), asked.suite_id, policy.rules), make)


@router.get("/api/comparisons", response_model=RunComparisons)
def comparisons(
    run: Annotated[
        list[str], Query(min_length=2, max_length=MOST_RUNS, description="Ids of runs, the baseline first.")
    ],
    services: Given,
) -> Response:
    """Each of the runs against the first: agents of suites case by case, arms of experiments metric by metric.

    409 where two of them have nothing in common.
    """
    from agentdyno.findings.comparison.ask import Results, compare_operands
    from agentdyno.findings.duel.ask import compare_runs

    store, policy = services.store, services.workspace.gate
    first, *others = (Results(lambda: store).operand(find_run(services, name, "run")) for name in run)
    duels: list[Duel] = []
    found: list[Comparison] = []
    for other in others:
        if first.result.suite is not None and other.result.suite is not None:
            duels += compare_runs(first.result, other.result, store, policy).duels
        else:
            found.append(compare_operands(first, other, store))
    return answer(RunComparisons(tuple(duels), tuple(found)))


@router.get("/api/profiles", response_model=ProfileReport)
def profiles(
    subject: Text = None,
    agent: Text = None,
    case_id: Annotated[str | None, Query(max_length=2000)] = None,
    benchmark: Text = None,
    against: Text = None,
    *,
    services: Given,
) -> Response:
    """Where the time and the tokens of a run (an id, `last`) or of an agent's newest run went: phases, bottlenecks,
    use of resources, tokens, opportunities.

    Without a `subject`, the newest run of a suite; empty where there is none. One profile per agent; of one case
    (`case_id`) span by span; with `against` each beside its baseline.
    """
    from agentdyno.findings.profile.ask import ProfileQuestion, Profiles

    asked = Profiles(services.store)
    meant = subject or asked.newest_suite_run()
    if meant is None:
        return answer(ProfileReport())
    with finding("subject"):
        question = ProfileQuestion(meant, agent or None, case_id or None, benchmark or None, against or None)
        return answer(asked.report(question))
