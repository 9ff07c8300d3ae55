"""Asking for a run that a worker makes: everything is checked before it is queued."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from agentdyno.errors import Conflict, RunError, SpecError, nearest
from agentdyno.jobs.catalogue import Catalogue, RegisteredSuite, check_configuration
from agentdyno.model.identity import new_run_id
from agentdyno.model.job import AuditEntry, Job, JobStatus, WorkerSeen
from agentdyno.runs.suite.published import changed_version
from agentdyno.settings import settings_of
from agentdyno.settings.service import QUEUE_LIMIT
from agentdyno.settings.setting import JOB
from agentdyno.settings.suite import ALLOW_CHANGED_SUITE
from agentdyno.specs import LoadedSuite, load_suite, suite_changes
from agentdyno.specs.files.pasted_secrets import secret_problems
from agentdyno.specs.forms import JobOptions
from agentdyno.store import Store

LONGEST_KEY = 200


class QueueFull(RunError):
    """As many jobs wait as may; asking again later may help."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What of a run its caller has chosen, by the names of the settings; what is left out is as the suite says."""

    chosen: Mapping[str, object]

    @classmethod
    def of(cls, plain: Mapping[str, object]) -> RunOptions:
        """The options of a request or a job. Raises ``SpecError`` that names the one that cannot be."""
        try:
            options = JobOptions.model_validate(plain, strict=True)
        except ValidationError as error:
            raise _refused(plain, error) from None
        given = options.model_dump(exclude_none=True)
        return cls({name: value for name, value in given.items() if value is not False})

    @property
    def max_cost_usd(self) -> float | None:
        value = self.chosen.get("max_cost_usd")
        return value if isinstance(value, float) else None

    @property
    def allow_changed_suite(self) -> bool:
        return bool(self.chosen.get(ALLOW_CHANGED_SUITE.name))

    def plain(self) -> dict[str, object]:
        """Only what was chosen."""
        return dict(self.chosen)

    def load(self, suite: RegisteredSuite) -> LoadedSuite:
        """The suite as it will be run. Raises ``SpecError`` where the options do not fit it."""
        beside = ("quick", "max_cost_usd", ALLOW_CHANGED_SUITE.name)
        changes = suite_changes(**{name: value for name, value in self.chosen.items() if name not in beside})
        return load_suite(suite.path, quick=bool(self.chosen.get("quick")), overrides=changes)


def submit(
    store: Store,
    catalogue: Catalogue,
    *,
    agent: str,
    suite: str,
    configuration: Mapping[str, object],
    options: Mapping[str, object],
    who: str,
    idempotency_key: str,
    now_ms: int,
    queue_limit: int = QUEUE_LIMIT.default,
    priority: int = 0,
) -> Job:
    """Queues a run of a registered suite by a registered agent, and notes who asked for it.

    The same ``who`` with the same ``idempotency_key`` gets the job of the first time; with another request under that
    key a ``Conflict``. Raises ``SpecError`` for what cannot be run, ``QueueFull`` above ``queue_limit`` waiting jobs.
    """
    wanted, chosen = catalogue.find_agent(agent), catalogue.find_suite(suite)
    settings = check_configuration(wanted, configuration)
    for problem in secret_problems(settings, "configuration"):
        raise SpecError("what looks like a secret is not taken", where=problem.key, remedy=problem.remedy)
    asked = RunOptions.of(options)
    loaded = asked.load(chosen)
    changed_version(loaded.suite, store, loaded.form, allowed=asked.allow_changed_suite)
    if len(idempotency_key) > LONGEST_KEY:
        raise SpecError(f"longer than {LONGEST_KEY} characters", where="Idempotency-Key", remedy="Shorten it.")
    job = Job(
        job_id=new_run_id(now_ms),
        agent=wanted.label,
        agent_digest=wanted.digest,
        suite_id=chosen.suite_id,
        suite_digest=chosen.digest,
        created_at=now_ms,
        configuration=settings,
        options=asked.plain(),
        priority=priority,
        workspace=catalogue.workspace.name,
        created_by=who,
        idempotency_key=idempotency_key,
    )
    known = store.service.job_asked(who, idempotency_key)
    if known is None and store.service.queue_depth() >= queue_limit:
        raise QueueFull(
            f"{queue_limit} jobs wait already", remedy="Try again later, or start more workers: dyno worker."
        )
    kept = known or store.service.add_job(job)
    if kept.job_id != job.job_id:
        _require_same(kept, job)
        return kept
    details = {"agent": job.agent, "suite": job.suite_id, "options": job.options, "configuration": settings}
    store.service.add_audit(AuditEntry(now_ms, who, "run", job.job_id, details))
    return kept


def _require_same(kept: Job, job: Job) -> None:
    """An agent that changed in between is still the same request."""

    def request(item: Job) -> tuple[object, ...]:
        return (item.agent.rpartition("@")[0], item.suite_id, dict(item.configuration), dict(item.options))

    if request(kept) != request(job):
        raise Conflict(
            f"the idempotency key was used for job {kept.job_id}, which asks for something else",
            where="Idempotency-Key",
            remedy="Use a new key for a new request.",
        )


def _refused(plain: Mapping[str, object], error: ValidationError) -> SpecError:
    """The first thing that is wrong, an unknown name before all else."""
    known = {setting.name: setting for setting in settings_of(JOB)}
    for name in plain:
        if name not in known:
            shown = str(name)[:80]
            return SpecError(f"unknown option {shown!r}", where=f"options.{shown}", remedy=nearest(shown, known))
    name = str(error.errors()[0]["loc"][0])
    setting = known[name]
    if setting.types == ("boolean",):
        return SpecError("expected true or false", where=f"options.{name}", remedy="Leave it out for false.")
    if "integer" in setting.types:
        message = f"expected a whole number from {setting.minimum:,} to {setting.maximum:,}"
    else:
        message = f"expected a number of {setting.metavar.lower()} above {setting.above:g}"
    return SpecError(message, where=f"options.{name}", remedy="Or leave it out.")


SEEN_MS = 30_000
"""A worker that has told nothing for longer, and holds no job, counts as gone."""
GRACE_MS = 10_000
"""How long a job waits before anything is said: workers read dyno.yaml again only now and then."""


def explained(store: Store, jobs: Iterable[Job], now_ms: int) -> list[Job]:
    """The jobs, with ``waits_because`` where no worker offers them. Asks the store only where one waits."""
    rows = list(jobs)
    if not any(_waits(job, now_ms) for job in rows):
        return rows
    workers = store.service.seen_workers(since_ms=now_ms - SEEN_MS, now_ms=now_ms)
    return [replace(job, waits_because=reason(job, workers)) if _waits(job, now_ms) else job for job in rows]


def reason(job: Job, workers: Sequence[WorkerSeen]) -> str:
    """Why none of ``workers`` takes the job; empty where one does when it has time."""
    if any(job.agent_digest in worker.agents and job.suite_digest in worker.suites for worker in workers):
        return ""
    if not workers:
        return "no worker offers it: none is running (`dyno worker` starts one)"
    missing = []
    if not any(job.agent_digest in worker.agents for worker in workers):
        missing.append(f"agent {job.agent}")
    if not any(job.suite_digest in worker.suites for worker in workers):
        missing.append(f"suite {job.suite_id}")
    lacks = " or ".join(missing) or f"agent {job.agent} together with suite {job.suite_id}"
    busy = sum(worker.busy for worker in workers)
    later = f" ({busy} busy, {'it looks' if busy == 1 else 'they look'} again afterwards)" if busy else ""
    return f"no worker offers it: none of {len(workers)}{later} has {lacks} with the content that was asked for"


def _waits(job: Job, now_ms: int) -> bool:
    return job.status is JobStatus.QUEUED and now_ms - job.created_at > GRACE_MS
