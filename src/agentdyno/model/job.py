"""Work that somebody asked the service for. Times are UTC milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

BATCH = "batch:"
"""How ``created_by`` of a job begins that is some cases of another job's run, done by another worker."""


class JobStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self in (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Job:
    """A run of a suite by an agent, both as they are registered: ``agent_digest`` and ``suite_digest`` are of their
    definitions, and only a worker that has registered the same takes the job.

    ``attempt`` counts leases and is the fencing token: who holds an older one can write nothing any more. ``lost``
    counts leases that ran out (a killed worker), ``failures`` attempts that ended with an error; only the latter use
    up ``max_failures``. ``run_id`` is set once the run has begun, so that the next attempt goes on with it.
    ``waits_because`` is not kept: it is filled in for who looks at a queued job that no worker offers.
    """

    job_id: str
    agent: str
    agent_digest: str
    suite_id: str
    suite_digest: str
    created_at: int
    status: JobStatus = JobStatus.QUEUED
    configuration: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    priority: int = 0
    workspace: str = "default"
    created_by: str = ""
    idempotency_key: str = ""
    attempt: int = 0
    lost: int = 0
    failures: int = 0
    max_failures: int = 3
    worker: str = ""
    lease_until: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    cancel_requested: bool = False
    run_id: str = ""
    progress: Mapping[str, object] = field(default_factory=dict)
    error: str = ""
    waits_because: str = ""


@dataclass(frozen=True, slots=True)
class WorkerSeen:
    """A worker that is there: digests of the agents and suites that it offered when it was last heard of, and
    whether it holds a job."""

    name: str
    seen_at: int
    agents: frozenset[str]
    suites: frozenset[str]
    busy: bool = False


class Scope(StrEnum):
    """Each holds the ones before it."""

    READ = "read"
    RUN = "run"
    ADMIN = "admin"

    def allows(self, wanted: Scope) -> bool:
        order = list(Scope)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed: the secret itself is never kept, ``prefix`` is its beginning, to recognise it by."""

    key_id: str
    name: str
    scope: Scope
    prefix: str
    created_at: int
    last_used_at: int | None = None
    revoked_at: int | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what. ``who`` is the name of a key, or "local"; ``number`` counts entries, once the store has it."""

    at: int
    who: str
    action: str
    subject: str
    details: Mapping[str, object] = field(default_factory=dict)
    number: int | None = None


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message about alerts to one place. ``delivery_id`` is the same at every try: receivers know repeats by it.

    ``attempt`` counts leases and is the fencing token, as of a job. ``tries`` counts those since it was queued,
    or put back by hand. It is not tried before ``due_at``. ``alert_ids`` are told once to each place.
    """

    delivery_id: str
    workspace: str
    channel: str
    created_at: int
    due_at: int
    message: Mapping[str, object] = field(default_factory=dict)
    alert_ids: tuple[str, ...] = ()
    status: DeliveryStatus = DeliveryStatus.WAITING
    attempt: int = 0
    tries: int = 0
    lease_until: int | None = None
    finished_at: int | None = None
    error: str = ""
