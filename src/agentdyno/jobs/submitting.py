"""Asking for a run that a worker makes: everything is checked before it is queued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.errors import Conflict, RunError, SpecError, nearest
from agentdyno.jobs.catalogue import Catalogue, RegisteredSuite, check_configuration
from agentdyno.model.identity import new_run_id
from agentdyno.model.job import AuditEntry, Job
from agentdyno.specs import LoadedSuite, SuiteOverrides, load_suite
from agentdyno.specs.files.pasted_secrets import secret_problems
from agentdyno.store import Store

QUEUE_LIMIT = 100
LONGEST_KEY = 200
_MOST_EPOCHS = 1_000
_MOST_USD = 1e9


class QueueFull(RunError):
    """As many jobs wait as may; asking again later may help."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What of a run its caller may choose; ``None`` leaves the suite as it is. Money is in US dollars."""

    epochs: int | None = None
    limit: int | None = None
    quick: bool = False
    max_cost_usd: float | None = None

    @classmethod
    def of(cls, plain: Mapping[str, object]) -> RunOptions:
        """The options of a request or a job. Raises ``SpecError`` that names the one that cannot be."""
        for key in plain:
            if key not in cls.__dataclass_fields__:
                shown = str(key)[:80]
                remedy = nearest(shown, cls.__dataclass_fields__)
                raise SpecError(f"unknown option {shown!r}", where=f"options.{shown}", remedy=remedy)
        quick = plain.get("quick")
        if quick is not None and not isinstance(quick, bool):
            raise SpecError("expected true or false", where="options.quick", remedy="Leave it out for false.")
        return cls(
            epochs=_whole(plain, "epochs", _MOST_EPOCHS),
            limit=_whole(plain, "limit", 10_000_000),
            quick=bool(quick),
            max_cost_usd=_dollars(plain),
        )

    def plain(self) -> dict[str, object]:
        """Only what was chosen."""
        return {
            name: value
            for name in self.__dataclass_fields__
            if (value := getattr(self, name)) is not None and value is not False
        }

    def load(self, suite: RegisteredSuite) -> LoadedSuite:
        """The suite as it will be run. Raises ``SpecError`` where the options do not fit it."""
        overrides = SuiteOverrides(epochs=self.epochs, limit=self.limit)
        return load_suite(suite.path, quick=self.quick, overrides=overrides)


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
    queue_limit: int = QUEUE_LIMIT,
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
    asked.load(chosen)
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


def _whole(plain: Mapping[str, object], key: str, most: int) -> int | None:
    value = plain.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SpecError(
            f"expected a whole number from 1 to {most:,}", where=f"options.{key}", remedy="Or leave it out."
        )
    return value


def _dollars(plain: Mapping[str, object]) -> float | None:
    value = plain.get("max_cost_usd")
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= _MOST_USD:
        return float(value)
    raise SpecError("expected a number of dollars above 0", where="options.max_cost_usd", remedy="Or leave it out.")
