"""Questions to the store: which runs there are, and one of them as a value."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Row, Select, Text, bindparam, cast, func, null, select

from agentdyno.errors import StoreError, nearest
from agentdyno.model import Phase, RunStatus, RunWarning, Sample, Side, Status
from agentdyno.model.naming import with_labels
from agentdyno.store.boards.schema import agents, suites
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import (
    READ_AS_TEXT,
    READ_COLUMNS,
    decoded,
    decoder_of,
    id_bytes,
    id_text,
    readable,
    row_sample,
)
from agentdyno.store.runs.schema import (
    IS_SAMPLE,
    WITHOUT_SAMPLE,
    arms,
    artifacts,
    environments,
    runs,
    samples,
    specs,
)
from agentdyno.store.runs.suites import suite_of

if TYPE_CHECKING:
    from agentdyno.model import ArmResult, Artifact, RunResult, Spec, Suite

_LAST = re.compile(r"last(?:~(\d{1,9}))?")
_PREFIX = re.compile(r"[0-9a-fA-F-]{1,36}")
_CANDIDATES = 5
_RECENT = 200
_PHASE_ORDER = {phase: position for position, phase in enumerate(Phase)}
NEWEST_FIRST = (runs.c.started_at.desc(), runs.c.id.desc())


_COLUMNS = [
    cast(samples.c[name], Text).label(name) if name in READ_AS_TEXT else samples.c[name] for name in READ_COLUMNS
]
WHOLE = select(*_COLUMNS)
"""Samples as ``row_sample`` takes them; put together once, which takes longer than reading a few."""


def _without(*names: str) -> Select[*tuple[Any, ...]]:
    return select(*(null().label(column.name) if column.name in names else column for column in _COLUMNS))


WITHOUT_DETAILS = _without("details")
WITHOUT_ANSWERS = _without("output", "usage")
"""For who adds up what came of them: answers may be long, and an agent's own counts are among the readings."""
_KEY = select(runs.c.id).where(runs.c.run_id == bindparam("run_id"))


def run_key(session: DatabaseSession, run_id: str) -> int:
    """The row of a run by its full id."""
    found = session.execute(_KEY, {"run_id": id_bytes(run_id)}).scalar()
    if found is None:
        raise _unknown(session, run_id)
    return int(found)


def has_run(session: DatabaseSession, run_id: str) -> bool:
    """Whether the store holds a run of that full id; what is no id is none."""
    try:
        wanted = id_bytes(run_id)
    except StoreError:
        return False
    return session.execute(select(runs.c.id).where(runs.c.run_id == wanted)).scalar() is not None


def find_run(session: DatabaseSession, reference: str) -> str:
    """The full id for an id, a unique beginning of one, ``last`` or ``last~N``."""
    reference = reference.strip()
    last = _LAST.fullmatch(reference)
    if last:
        return _nth_newest(session, reference, int(last[1] or 0))
    digits = reference.replace("-", "").lower()
    if not _PREFIX.fullmatch(reference) or not 0 < len(digits) <= 32:
        raise _unknown(session, reference)
    low, high = (bytes.fromhex(digits.ljust(32, filler)) for filler in "0f")
    wanted = select(runs.c.run_id, runs.c.name).where(runs.c.run_id.between(low, high)).order_by(*NEWEST_FIRST)
    found = session.execute(wanted.limit(_CANDIDATES + 1)).all()
    if not found:
        raise _unknown(session, reference)
    if len(found) > 1:
        listed = ", ".join(f"{id_text(row.run_id)} ({row.name})" for row in found[:_CANDIDATES])
        more = ", and more" if len(found) > _CANDIDATES else ""
        raise StoreError(f"{reference!r} begins the id of more than one run", remedy=f"Say more of: {listed}{more}.")
    return id_text(found[0].run_id)


def _nth_newest(session: DatabaseSession, reference: str, back: int) -> str:
    found = session.execute(select(runs.c.run_id).order_by(*NEWEST_FIRST).offset(back).limit(1)).scalar()
    if found is not None:
        return id_text(found)
    count = session.execute(select(func.count()).select_from(runs)).scalar_one()
    if not count:
        raise _empty(session)
    raise StoreError(
        f"there is no {reference}: the store holds {count} run{'s' if count > 1 else ''}",
        where=session.backend.where,
        remedy=f"The oldest one is last~{count - 1}." if count > 1 else "The only one is last.",
    )


def _empty(session: DatabaseSession) -> StoreError:
    return StoreError(
        "the store holds no run yet", where=session.backend.where, remedy="`dyno run FILE` records one."
    )


def _unknown(session: DatabaseSession, reference: str) -> StoreError:
    recent = session.execute(select(runs.c.run_id, runs.c.name).order_by(*NEWEST_FIRST).limit(_RECENT)).all()
    if not recent:
        return _empty(session)
    named = [id_text(row.run_id) for row in recent if row.name == reference]
    if named:
        remedy = f"Runs are called by their id; the newest one named {reference!r} is {named[0]}."
    else:
        remedy = nearest(reference, [id_text(row.run_id) for row in recent])
    return StoreError(f"there is no run {reference!r}", where=session.backend.where, remedy=remedy)


def recorded(session: DatabaseSession, run_id: str) -> dict[str, Status]:
    """What a resume may skip: the status of every planned trial that has ended, by trial key (no warm-ups)."""
    return {key: Status(status) for key, status in _of_trials(session, run_id, samples.c.ended.is_(True))}


def unfinished(session: DatabaseSession, run_id: str) -> dict[str, int]:
    """How many samples each planned trial has that was begun and has not ended, by trial key."""
    counts = Counter(key for key, _ in _of_trials(session, run_id, samples.c.ended.is_(False)))
    if not counts:
        return {}
    ended = recorded(session, run_id)
    return {key: count for key, count in counts.items() if key not in ended}


def _of_trials(session: DatabaseSession, run_id: str, only: ColumnElement[bool]) -> Iterator[tuple[str, str]]:
    """Trial key and status of each sample that is no warm-up, and of each trial that has ended without any."""
    wanted = (
        select(
            arms.c.arm_id, *(samples.c[name] for name in ("phase", "iteration", "case_id", "instrument", "status"))
        )
        .join(arms, samples.c.arm == arms.c.id)
        .where(arms.c.run == run_key(session, run_id), samples.c.phase != Phase.WARMUP.value, only)
    )
    for arm_id, phase, iteration, case_id, instrument, status in session.execute(wanted):
        yield f"{arm_id}/{phase.removeprefix(WITHOUT_SAMPLE)}/{iteration}/{case_id}/{instrument}", status


def load_run(session: DatabaseSession, run_id: str, *, samples: bool = True) -> RunResult:
    """A run by its full id: arms in the order of the plan, all their samples by phase, iteration and case."""
    key = run_key(session, run_id)
    with readable(run_id):
        return _read_run(session, key, samples)


def _read_run(session: DatabaseSession, key: int, samples: bool) -> RunResult:
    from agentdyno.model import Environment, RunResult, Spec, Vcs  # what only lists runs does without them
    from agentdyno.model.suite import RunForm

    row = session.execute(
        select(
            runs,
            specs.c.document.label("spec_document"),
            environments.c.document.label("environment_document"),
            suites.c.document.label("suite_document"),
        )
        .join(specs, runs.c.spec == specs.c.id)
        .join(environments, runs.c.environment == environments.c.id)
        .outerjoin(suites, runs.c.suite == suites.c.id)
        .where(runs.c.id == key)
    ).one()
    spec = decoded(Spec, row.spec_document, "a spec")
    return RunResult(
        run_id=id_text(row.run_id),
        kind=row.kind,
        name=row.name,
        status=RunStatus(row.status),
        started_at=row.started_at,
        finished_at=row.finished_at,
        seed=row.seed,
        spec=spec,
        environment=decoded(Environment, row.environment_document, "an environment"),
        vcs=None if row.vcs is None else decoded(Vcs, row.vcs, "a commit"),
        tags=tuple(row.tags or ()),
        notes=row.notes,
        warnings=tuple(decoded(RunWarning, plain, "a warning") for plain in row.warnings or ()),
        arms=_load_arms(session, key, spec, samples),
        overhead_s=row.overhead_s,
        stopped_because=row.stopped_because,
        suite=None if row.suite_document is None else _suite(session, row.suite_settings, row.suite_document),
        pricing=row.pricing or {},
        targets=_targets(row.targets or {}),
        workspace=row.workspace,
        origin=row.origin or {},
        form=None if row.form is None else decoded(RunForm, row.form, "the form of a run"),
        paused_ms=row.paused_ms,
    )


def _suite(session: DatabaseSession, settings: Mapping[str, Any] | None, document: Mapping[str, Any]) -> Suite:
    """A run's suite, its agents with what they are called today."""
    suite = suite_of(settings, document)
    identities = {use.identity for use in suite.agents if use.identity}
    if not identities:
        return suite
    known = select(agents.c.identity, agents.c.label).where(agents.c.identity.in_(identities)).distinct()
    labels = {use.identity: use.label or use.name for use in suite.agents}
    return replace(suite, agents=with_labels(suite.agents, labels | dict(session.execute(known).all())))


def load_artifact(session: DatabaseSession, run_id: str, path: str) -> bytes | None:
    """The content of an artifact by its path below the run's folder; ``None`` where the store has none."""
    run = run_key(session, run_id)
    wanted = select(artifacts.c.content).where(artifacts.c.run == run, artifacts.c.path == path)
    return session.execute(wanted.limit(1)).scalar()


def _targets(plain: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, dict[str, tuple[float, float]]]:
    return {
        benchmark: {metric: (float(pair[0]), float(pair[1])) for metric, pair in of_metric.items()}
        for benchmark, of_metric in plain.items()
    }


def _load_arms(session: DatabaseSession, run: int, spec: Spec, with_samples: bool) -> tuple[ArmResult, ...]:
    from agentdyno.model import Artifact

    files = defaultdict(list)
    wanted = select(*(artifacts.c[name] for name in ("arm", "name", "path", "size_bytes", "media_type")))
    for row in session.execute(wanted.where(artifacts.c.run == run).order_by(artifacts.c.id)):
        files[row.arm].append(Artifact(row.name, row.path, row.size_bytes, row.media_type))
    counted = select(samples.c.arm, func.count(samples.c.id)).join(arms, arms.c.id == samples.c.arm)
    counted = counted.where(arms.c.run == run, IS_SAMPLE).group_by(samples.c.arm)
    counts: dict[int, int] = {} if with_samples else dict(session.execute(counted).all())
    found = []
    for row in session.execute(select(arms).where(arms.c.run == run).order_by(arms.c.position)).all():
        kept = _load_samples(session, row.id, row.arm_id) if with_samples else ()
        count = len(kept) if with_samples else counts.get(row.id, 0)
        arm = _arm_result(row, count, kept, tuple(files[row.id]))
        found.append(replace(arm, entry=spec.entry_of(arm.name)))
    return tuple(found)


def _load_samples(session: DatabaseSession, arm: int, arm_id: str) -> tuple[Sample, ...]:
    """Sorted here, because databases do not agree on the order of texts."""
    wanted = WHOLE.where(samples.c.arm == arm, IS_SAMPLE)
    rows = session.execute(wanted).all()
    decode = decoder_of(len(rows))
    loaded = [row_sample(row, arm_id, decode) for row in rows]
    loaded.sort(key=lambda s: (_PHASE_ORDER[s.phase], s.iteration, s.case_id, s.instrument, s.part))
    return tuple(loaded)


def _arm_result(
    row: Row[*tuple[Any, ...]], count: int, kept: tuple[Sample, ...], files: tuple[Artifact, ...]
) -> ArmResult:  # a row of ``arms``
    from agentdyno.model import ArmResult, CaseFigures, MetricSummary
    from agentdyno.model.result import ScoreSpread

    metrics = row.metrics or {}
    return ArmResult(
        arm_id=row.arm_id,
        name=row.name,
        experiment=row.experiment,
        params=row.params or {},
        benchmark=row.benchmark,
        agent=row.agent,
        side=None if row.side is None else Side(row.side),
        observed=row.observed or {},
        metrics={name: decoded(MetricSummary, plain, "a metric") for name, plain in metrics.items()},
        scores=row.scores or {},
        statuses=row.statuses or {},
        planned=row.planned,
        samples_total=count,
        samples=kept,
        artifacts=files,
        case_figures=None if row.case_figures is None else decoded(CaseFigures, row.case_figures, "case figures"),
        totals={name: value for name, value in (row.totals or {}).items() if value is not None},
        score_errors=row.score_errors or {},
        spread=None if row.spread is None else decoded(ScoreSpread, row.spread, "a spread"),
    )
