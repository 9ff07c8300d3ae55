"""What the store answers besides the values of the model. Times are UTC milliseconds, scores are in 0..1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agentdyno.model import Direction, Provenance, RunStatus, Verdict
from agentdyno.model.form import Form

__all__ = [
    "AgentExecutionRow",
    "AgentRow",
    "ArmMetric",
    "ArmSeriesRow",
    "BaselineRow",
    "Execution",
    "ExecutionFilter",
    "RunRow",
    "RunSubject",
    "SeriesRow",
    "SuiteRow",
]


@dataclass(frozen=True, slots=True)
class RunSubject:
    """What was measured in a run: an agent over all its benchmarks, an arm of an experiment, a scenario of a load.

    ``label`` is ``name@version`` of an agent, else the name of the experiment or scenario; ``params`` are in words.
    ``score`` (0..1, the overall one) and ``pass_rate`` are an agent's. ``median`` is of ``metric``, in its ``unit``:
    seconds per case of an agent, what an experiment measures first, the latency of a load. ``cost_usd`` is of all its
    executions together. What is not known is ``None``; ``metric`` is then "".

    ``verdict`` is of this run against ``against``, its baseline, where somebody asked for it and there is one; a run
    of the baseline itself has itself there.
    """

    label: str
    params: str = ""
    side: str = ""
    score: float | None = None
    pass_rate: float | None = None
    metric: str = ""
    unit: str = ""
    median: float | None = None
    cost_usd: float | None = None
    verdict: Verdict | None = None
    against: str = ""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of a list of runs.

    ``samples`` counts everything recorded; ``errors`` those of them that gave no answer (status ``error``,
    ``timeout`` or ``limit``). ``form`` says of a run of a suite what it was, as in ``model.form``; "" for others.
    ``subjects`` are in the order of the plan. ``suite_id`` and ``commit`` are "" where there is none. ``paused_ms``
    is how long it stood still between being interrupted and being resumed.
    """

    run_id: str
    kind: str
    name: str
    status: RunStatus
    started_at: int
    finished_at: int | None
    arms: int
    samples: int
    errors: int
    tags: tuple[str, ...] = ()
    form: str = ""
    subjects: tuple[RunSubject, ...] = ()
    suite_id: str = ""
    commit: str = ""
    paused_ms: int = 0


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent that was put on the bench; ``uid`` is the same in every store. ``digest`` is of its definition.

    ``name`` is its label among the agents of the store, ``identity`` where it comes from: what has the same one is
    versions of one agent. ``called`` is the name that runs of it use.

    ``last_attempt_at`` is of its last execution in any benchmark, ``last_success_at`` of the last whole run (no quick
    or limited one) that succeeded; simulated ones count for neither.
    """

    uid: str
    name: str
    version: str
    digest: str
    uses: str
    created_at: int
    last_attempt_at: int | None = None
    last_success_at: int | None = None
    called: str = ""
    identity: str = ""


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One version of a suite: equal content has an equal ``digest``. ``part_of`` is the version it is a part of."""

    uid: str
    suite_id: str
    name: str
    version: str
    digest: str
    category: str
    benchmarks: int
    cases: int
    created_at: int
    part_of: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """One benchmark executed by one agent: a row of ``executions``. What is not known is ``None``.

    ``suite`` is the digest of the suite's version. ``run_id`` and ``arm_id`` are empty for rows that came from
    outside; ``uid`` is given by the store where it is empty. ``status`` is ``success`` (every planned sample is
    recorded), ``partial`` or ``failed`` (none is usable). ``tokens_used``, ``api_calls``, ``cpu_s``, ``duration_s``
    and ``cost_usd`` are sums over the executions of all cases; ``attempts`` counts calls, retries included.
    ``accuracy_error`` and the like are standard errors of the scores. ``form`` is that of its run (``model.form``).
    """

    agent: str
    agent_version: str
    suite: str
    benchmark: str
    created_at: int
    status: str = "success"
    started_at: int | None = None
    finished_at: int | None = None
    workspace: str = "default"
    accuracy: float | None = None
    speed: float | None = None
    efficiency: float | None = None
    cost: float | None = None
    reliability: float | None = None
    overall: float | None = None
    tokens_used: int | None = None
    api_calls: int | None = None
    memory_peak_bytes: int | None = None
    cpu_s: float | None = None
    duration_s: float | None = None
    correctness: float | None = None
    completeness: float | None = None
    relevance: float | None = None
    cost_usd: float | None = None
    cases: int | None = None
    scored: int | None = None
    case_mean: float | None = None
    case_variance: float | None = None
    passed: int | None = None
    samples: int | None = None
    attempts: int | None = None
    simulated: bool = False
    error_details: str | None = None
    category: str = ""
    uid: str = ""
    run_id: str = ""
    arm_id: str = ""
    accuracy_error: float | None = None
    speed_error: float | None = None
    efficiency_error: float | None = None
    cost_error: float | None = None
    reliability_error: float | None = None
    form: str = Form.UNKNOWN.value


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Which executions: ``suite`` is a digest or the id of a suite (all its versions), ``since`` a time."""

    agent: str | None = None
    agent_version: str | None = None
    suite: str | None = None
    benchmark: str | None = None
    category: str | None = None
    workspace: str | None = None
    status: str | None = None
    since: int | None = None
    simulated: bool | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """What an agent's later versions are held against in a suite, whichever version of the suite that is.

    ``version`` is the agent's; ``run_id`` is "" where the newest run of that version is meant.
    """

    agent: str
    suite_id: str
    version: str
    run_id: str = ""
    set_at: int = 0
    note: str = ""
    workspace: str = "default"


class SeriesRow(NamedTuple):
    """One benchmark executed by one agent, as a history needs it; the figures are those of ``Execution``.

    ``suite`` is the digest of the suite's version. ``run_id``, ``machine_id`` and ``commit`` are "" where unknown, as
    they are for rows that came from outside. ``proxied``: model calls went through the recording proxy, which takes
    time. A tuple, because a history is made of thousands.
    """

    at: int
    version: str
    suite: str
    benchmark: str
    category: str
    run_id: str
    machine_id: str
    commit: str
    status: str
    accuracy: float | None
    speed: float | None
    efficiency: float | None
    cost: float | None
    reliability: float | None
    overall: float | None
    duration_s: float | None
    cost_usd: float | None
    tokens_used: int | None
    cpu_s: float | None
    memory_peak_bytes: int | None
    passed: int | None
    samples: int | None
    attempts: int | None
    cases: int | None
    scored: int | None
    case_mean: float | None
    case_variance: float | None
    form: str = Form.FULL.value
    proxied: bool = False


class AgentExecutionRow(NamedTuple):
    """Where an execution of an agent is to be found; ``run_id`` and ``arm_id`` are "" for one from outside."""

    version: str
    suite: str
    suite_id: str
    benchmark: str
    run_id: str
    arm_id: str
    created_at: int
    status: str
    simulated: bool
    form: str = Form.FULL.value


class ArmMetric(NamedTuple):
    """The middle of ``n`` readings of one metric; ``low`` and ``high`` are the ends of its 95 % interval."""

    median: float
    n: int
    unit: str
    direction: Direction
    provenance: Provenance
    low: float | None = None
    high: float | None = None


class ArmSeriesRow(NamedTuple):
    """One arm of one run of an experiment. ``at`` is when the run ended; ``side`` is "" in a run without sides.

    ``commit`` is "" where the code was under no version control.
    """

    at: int
    run_id: str
    arm_id: str
    name: str
    experiment: str
    side: str
    params: Mapping[str, object]
    metrics: Mapping[str, ArmMetric]
    machine_id: str
    commit: str


class SpendRow(NamedTuple):
    """What one agent's executions with one model spent on a day, which begins at ``day`` (UTC milliseconds).

    ``model`` is "" where no answer named one. ``cost_usd`` is of the ``priced`` ones of the ``executions``,
    ``tokens`` of the ``counted`` ones.
    """

    day: int
    agent: str
    model: str
    executions: int
    priced: int
    cost_usd: float
    counted: int
    tokens: int


class RepeatRow(NamedTuple):
    """One arm of a run that came to its planned end. ``suite`` is the store's own number of the suite's version.

    ``commit`` ends in "+" where the tree was dirty. ``medians`` are by metric. What a kind of run lacks is "".
    """

    run_id: str
    at: int
    suite: str
    python: str
    commit: str
    arm_id: str
    experiment: str
    params: Mapping[str, object]
    benchmark: str
    agent: str
    side: str
    planned: int
    medians: Mapping[str, float]
