"""Runs: the list, one of them, its samples page by page, its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import FileResponse, Response

from agentdyno.findings.case.ask import Browsing, header_of
from agentdyno.findings.run.ask_place import RunPlace, place_of
from agentdyno.findings.run.ask_progress import RunCourse, course_of
from agentdyno.model import Phase, RunStatus, Status
from agentdyno.model.job import Scope
from agentdyno.store.rows import RunRow
from agentdyno.store.runs.pages import AfterSample, SampleFilter
from agentdyno.web.auth import require
from agentdyno.web.lookups import LONGEST_NAME, cursor_after, decode_cursor, encode_cursor, find_run, place_after
from agentdyno.web.problems import finding
from agentdyno.web.replies import answer, kept_answer
from agentdyno.web.schemas import ArtifactItems, ReportFormat, RunRowPage, RunView, SamplePage
from agentdyno.web.state import Services, services
from agentdyno.workbench.run_files import TYPES, ZIP, RunFile, find_artifact, list_artifacts, write_report

if TYPE_CHECKING:
    from agentdyno.findings.change.ask_runs import VerdictAnswers

router = APIRouter(tags=["runs"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
RunId = Annotated[str, Path(max_length=100, description="An id, a unique beginning of one, `last` or `last~N`.")]
Text = Annotated[str | None, Query(max_length=LONGEST_NAME)]
_MENTIONED = "Part of a name, an agent, an experiment, a suite, a tag or a commit; or the beginning of a run's id."
_SEVERAL = "May be given several times; without it, all."
_FILE: dict[int | str, dict[str, object]] = {
    200: {"description": "The file.", "content": {"application/octet-stream": {}}}
}
_REPORT: dict[int | str, dict[str, object]] = {
    200: {"description": "The report.", "content": {kind.partition(";")[0]: {} for kind in (*TYPES.values(), ZIP)}}
}

_verdicts: WeakKeyDictionary[Services, VerdictAnswers] = WeakKeyDictionary()


@router.get("/api/runs", response_model=RunRowPage)
def runs(
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    kind: Text = None,
    name: Text = None,
    status: Annotated[list[RunStatus] | None, Query(description=_SEVERAL)] = None,
    q: Annotated[str | None, Query(max_length=LONGEST_NAME, description=_MENTIONED)] = None,
    verdicts: Annotated[bool, Query(description="With the verdict of each run against its baseline.")] = False,
    *,
    services: Given,
) -> Response:
    """Runs, newest first, with what each was about and what came of it."""
    after, statuses = place_after(cursor), tuple(status or ())
    found = services.store.runs.page(
        kind or None, name or None, after, statuses=statuses, text=q or "", limit=limit + 1
    )
    last = cursor_after(found[limit - 1].started_at, found[limit - 1].run_id) if len(found) > limit else None
    shown = found[:limit]
    return answer(RunRowPage(tuple(_judged(services, shown) if verdicts else shown), last))


def _judged(services: Services, rows: list[RunRow]) -> list[RunRow]:
    from agentdyno.findings.change.ask_runs import RunVerdicts, kept_verdicts

    kept = _verdicts.get(services)
    if kept is None:
        kept = _verdicts.setdefault(services, kept_verdicts())
    workspace = services.workspace
    baselines = services.store.boards.baselines(workspace.name)
    return RunVerdicts(services.store, baselines, workspace.gate, kept).judged(rows)


@router.get("/api/runs/{run_id}", response_model=RunView)
def run(
    run_id: RunId,
    bands: Annotated[bool, Query(description="What its figures mean, whether or not its file asks for it.")] = False,
    *,
    services: Given,
) -> Response:
    """A run without its samples, and what is concluded about it."""
    found = find_run(services, run_id)
    header = services.store.runs.load(found, samples=False)
    policy, banded = services.workspace.gate, bands or header.spec.bands is not None

    def make() -> RunView:
        from agentdyno.findings.run.ask import findings_for, rests_on_samples
        from agentdyno.findings.standing.model import SuiteFindings

        whole = (header.suite is None and banded) or rests_on_samples(header)
        seen = services.store.runs.load(found) if whole else header
        if banded:
            seen = replace(seen, spec=replace(seen.spec, bands=seen.spec.bands or {}))
        findings = findings_for(seen, services.store, policy=policy)
        standings = findings.standings if isinstance(findings, SuiteFindings) else ()
        compared = next(iter(findings.comparisons), None)
        return RunView(header_of(header), next(iter(standings), None), compared, findings.bands)

    if header.status is RunStatus.RUNNING:
        return answer(make())
    counted = tuple(arm.samples_total for arm in header.arms)
    return kept_answer(
        services, ("run", found, header.status, header.finished_at, counted, policy.rules, banded), make
    )


@router.get("/api/runs/{run_id}/place", response_model=RunPlace)
def place(run_id: RunId, services: Given) -> Response:
    """The runs before and after it, of the same kind and name, and its agents against their baselines."""
    found = find_run(services, run_id)
    return answer(place_of(services.store, found, services.workspace.gate))


@router.get("/api/runs/{run_id}/progress", response_model=RunCourse)
def progress(run_id: RunId, services: Given) -> Response:
    """How it goes on: what was answered, passed and spent so far, over time, and whether somebody executes it."""
    return answer(course_of(services.store, find_run(services, run_id)))


@router.get("/api/runs/{run_id}/samples", response_model=SamplePage)
def samples(
    run_id: RunId,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    status: Annotated[list[Status] | None, Query(description=_SEVERAL)] = None,
    agent: Text = None,
    benchmark: Text = None,
    arm: Annotated[str | None, Query(max_length=LONGEST_NAME, description="The id or the name of an arm.")] = None,
    case: Text = None,
    phase: Annotated[Phase, Query(description="Which executions: the measured ones by default.")] = Phase.MEASURED,
    *,
    services: Given,
) -> Response:
    """Samples in the order of the plan: arm by arm, epoch by epoch. Outputs are cut to 2,000 characters."""
    found = find_run(services, run_id)
    parts = decode_cursor(cursor, str, str, int, str, str, int)
    after = None
    if parts is not None:
        arm_id, of_phase, iteration, case_id, instrument, part = parts
        after = AfterSample(str(arm_id), str(of_phase), int(iteration), str(case_id), str(instrument), int(part))
    wanted = SampleFilter(status or (), agent or None, benchmark or None, case or None, phase, arm or None)
    rows, place = Browsing(services.store).samples(found, wanted, after, limit)
    return answer(SamplePage(tuple(rows), None if place is None else encode_cursor(place)))


@router.get("/api/runs/{run_id}/artifacts", response_model=ArtifactItems)
def artifacts(run_id: RunId, services: Given) -> Response:
    """The files that a run left."""
    header = services.store.runs.load(find_run(services, run_id), samples=False)
    return answer(ArtifactItems(list_artifacts(header)))


@router.get("/api/runs/{run_id}/artifacts/{path:path}", response_class=Response, responses=_FILE)
def artifact(run_id: RunId, path: Annotated[str, Path(max_length=2000)], services: Given) -> Response:
    """One of these files, to be saved."""
    store = services.store
    header = store.runs.load(find_run(services, run_id), samples=False)
    with finding("path"):
        found = find_artifact(store, header, path)
    return _sent(found, "application/octet-stream")


@router.get("/api/runs/{run_id}/report", response_class=Response, responses=_REPORT)
def report(
    run_id: RunId,
    wanted: Annotated[ReportFormat, Query(alias="format")] = ReportFormat.HTML,
    *,
    services: Given,
) -> Response:
    """A report of the run as one file; `csv` and `png` are several, in a zip."""
    found = write_report(services.store, find_run(services, run_id), wanted.value, services.workspace.gate)
    return _sent(found, found.media_type)


def _sent(file: RunFile, media_type: str) -> Response:
    """Always to be saved and never to be shown: what an agent wrote must not run in a browser as this site."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='', errors='replace')}",
        "X-Content-Type-Options": "nosniff",
    }
    if isinstance(file.content, File):
        return FileResponse(file.content, headers=headers, media_type=media_type)
    return Response(file.content, headers=headers, media_type=media_type)
