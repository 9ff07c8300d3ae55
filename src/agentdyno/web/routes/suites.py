"""The suites that are registered here or have been run."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from agentdyno.findings.figures.dimensions import measured_dimensions
from agentdyno.findings.record.ask_names import versions_of_suite
from agentdyno.jobs.catalogue import RegisteredSuite
from agentdyno.model import Suite
from agentdyno.model.job import Scope
from agentdyno.model.suite import Benchmark, Constraints
from agentdyno.store.rows import SuiteRow
from agentdyno.web.auth import require
from agentdyno.web.document_shapes import MIB, iso_time
from agentdyno.web.lookups import LONGEST_NAME, find_suite
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.replies import answer
from agentdyno.web.schemas import (
    BenchmarkView,
    DatasetView,
    LimitsView,
    SuiteItems,
    SuiteSummary,
    SuiteVersion,
    SuiteView,
)
from agentdyno.web.state import Services, services

router = APIRouter(tags=["suites"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]


@router.get("/api/suites", response_model=SuiteItems)
def suites(services: Given) -> Response:
    """Every suite by id: as it is registered, else the version that was run last."""
    rows, registered = services.store.boards.suites(), services.catalogue.suites
    stored = {row.suite_id: row for row in reversed(rows)}
    ids = sorted({*stored, *registered})
    return answer(SuiteItems(tuple(_summary(registered.get(key), stored.get(key)) for key in ids)))


@router.get("/api/suites/{suite_id:path}", response_model=SuiteView)
def suite(suite_id: Annotated[str, Path(max_length=LONGEST_NAME)], services: Given) -> Response:
    """A suite with its benchmarks: a version where one is named, else as it is registered or was run last."""
    reference = find_suite(services, suite_id)
    if reference is None:
        raise RefusedRequest(404, "a suite without a name", "GET /api/suites lists them.")
    store = services.store
    versions = versions_of_suite(store.boards.suites(), reference)
    key = versions[0].suite_id if versions else reference
    registered = services.catalogue.suites.get(key)
    asked = versions[0] if versions and versions[0].digest == reference else None
    whole: Suite
    if registered is not None and registered.loaded is not None and asked is None:
        whole = registered.loaded.suite
    else:
        whole = store.boards.load_suite(reference)
    summary = _summary(registered if asked is None else None, asked or (versions[0] if versions else None))
    first = versions[-1].created_at if versions else None
    return answer(
        SuiteView(
            suite=replace(summary, registered=registered is not None, description=whole.description),
            benchmarks=tuple(map(_benchmark, whole.benchmarks)),
            versions=tuple(SuiteVersion(row.digest, row.uid, row.version, row.created_at) for row in versions),
            suite_id=summary.suite_id,
            suite_name=summary.name,
            category=whole.category.value,
            version=whole.version,
            created_at=whole.created_at or iso_time(first) or "",
            constraints=_limits(whole.constraints),
            baseline_scores=whole.baseline_scores,
        )
    )


def _benchmark(item: Benchmark) -> BenchmarkView:
    return BenchmarkView(
        benchmark_id=item.benchmark_id,
        name=item.name,
        category=item.category.value,
        cases=len(item.cases),
        complexity=item.complexity.value,
        test_type=item.test_type.value,
        description=item.description,
        metrics_measured=item.metrics_measured,
        dimensions=measured_dimensions(item.metrics_measured),
        dataset=DatasetView(len(item.cases), item.complexity.value, item.data_source),
        constraints=_limits(item.constraints),
        scoring_rubric=item.rubric,
    )


def _limits(given: Constraints) -> LimitsView:
    return LimitsView(
        time_limit_ms=None if given.time_limit_s is None else 1000.0 * given.time_limit_s,
        memory_limit_mb=None if given.memory_limit_bytes is None else given.memory_limit_bytes / MIB,
        token_limit=given.token_limit,
        cost_limit_usd=given.cost_limit_usd,
    )


def _summary(registered: RegisteredSuite | None, stored: SuiteRow | None) -> SuiteSummary:
    """As it is registered, because that is what a run would take."""
    if registered is not None:
        return SuiteSummary(
            suite_id=registered.suite_id,
            name=registered.name,
            digest=registered.digest,
            version=registered.version,
            category=registered.category or (stored.category if stored is not None else ""),
            benchmarks=registered.benchmarks,
            cases=registered.cases,
            registered=True,
            description=registered.description,
            uid=registered.uid,
        )
    assert stored is not None, "a suite is registered or was run"
    return SuiteSummary(
        suite_id=stored.suite_id,
        name=stored.name,
        digest=stored.digest,
        version=stored.version,
        category=stored.category,
        benchmarks=stored.benchmarks,
        cases=stored.cases,
        registered=False,
        description="",
        uid=stored.uid,
    )
