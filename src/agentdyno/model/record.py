"""What one agent did on one version of a suite, case by case: what comparisons, gates and baseline files rest on.

Beside it what is known of the noise between runs: how far a figure of one subject wanders on one host although
nothing was changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentdyno.model.case import CaseKey
from agentdyno.model.sample import LEFT_OUT

SpreadSource: TypeAlias = Literal["own", "pooled", "calibrated"]


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """One case, its executions taken together; cancelled ones are left out.

    ``digest`` is of input, target and turns: two records with the same one answered the same question. ``score`` is
    what the rubric makes of the ``scored`` executions, ``None`` without any. ``used`` is per execution: the median
    of ``duration_s`` and ``ttft_s``, the lower quartile of normalised times, else the mean; what is not known is left
    out. ``spread`` is the standard deviation between executions. ``statuses`` counts executions by their end; a wrong
    answer is ``failed``. ``perturbs`` names the case of the same benchmark that this one asks in another form.
    """

    benchmark: str
    case_id: str
    digest: str
    tries: int
    scored: int
    passed: int
    score: float | None
    statuses: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, float] = field(default_factory=dict)
    spread: Mapping[str, float] = field(default_factory=dict)
    group: str | None = None
    perturbs: str | None = None

    @property
    def key(self) -> CaseKey:
        return CaseKey(self.benchmark, self.case_id)

    @property
    def errors(self) -> int:
        return self.statuses.get("error", 0)

    @property
    def cluster(self) -> str:
        """What this case counts as one with."""
        return (
            f"{self.benchmark} case {self.case_id}" if self.group is None else f"{self.benchmark} group {self.group}"
        )


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """Failures that are alike: their status, ``Failure.kind`` ("" for a wrong answer, "scorer" for an answer on which
    a scorer raised) and their message, what varies in it left out. ``example`` is the first of them as it was;
    ``cases`` are the first few it met."""

    status: str
    kind: str
    message: str
    count: int
    example: str = ""
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BenchmarkRecord:
    """One benchmark of the record. ``rubric`` is a digest of how answers are judged: scores under different ones do
    not compare. ``scores`` are the dimensions and ``overall``; ``targets`` the values that score 1 and 0.

    ``cases`` counts those of the benchmark, ``planned`` executions; ``run_id`` is the run that it comes from.
    """

    benchmark_id: str
    name: str
    category: str
    rubric: str
    pass_threshold: float
    cases: int
    planned: int
    run_id: str
    scores: Mapping[str, float | None] = field(default_factory=dict)
    targets: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    errors: tuple[ErrorClass, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """An agent in a suite. ``suite`` is the digest of the suite's version; ``finished_at`` UTC milliseconds.

    ``configuration`` is what is known of the agent (model, temperature…), ``commit`` where its code stood.
    ``machine_id`` is "" where its benchmarks ran on several machines. ``origin`` says where a record comes from that
    no run of this store made. ``proxied``: its model calls went through the recording proxy, which takes time.
    ``disturbed``: the share of its executions in which the bench itself stood still, whose times do not count.
    ``models`` are those that answered, by the responses; ``asked`` is the agent's reference where it is a model asked
    as it is (``openai:gpt-5-mini``), "" where code of its own is around it. ``agent`` is ``label@version``, as people
    read it; ``called`` is what the arms of its runs say where that is another text.
    """

    agent: str
    name: str
    version: str
    suite: str
    suite_id: str
    suite_name: str
    suite_version: str
    finished_at: int
    machine_id: str
    benchmarks: tuple[BenchmarkRecord, ...]
    cases: tuple[CaseRecord, ...]
    simulated: bool = False
    commit: str = ""
    configuration: Mapping[str, object] = field(default_factory=dict)
    origin: str = ""
    proxied: bool = field(default=False, metadata=LEFT_OUT)
    disturbed: float = field(default=0.0, metadata=LEFT_OUT)
    models: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    asked: str = field(default="", metadata=LEFT_OUT)
    called: str = field(default="", metadata=LEFT_OUT)

    @property
    def arm_agent(self) -> str:
        """What the arms of its runs call it."""
        return self.called or self.agent

    def benchmark(self, benchmark_id: str) -> BenchmarkRecord:
        for item in self.benchmarks:
            if item.benchmark_id == benchmark_id:
                return item
        raise KeyError(benchmark_id)

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.run_id for item in self.benchmarks if item.run_id))


@dataclass(frozen=True, slots=True)
class QuantitySpread:
    """The standard deviation of the logarithm of a run's figure, between runs.

    ``degrees`` are its degrees of freedom: runs less subjects. ``source`` says whose runs they are: the subject's own
    earlier ones, all subjects' on this host, or those of ``dyno doctor --calibrate``.

    A side may have been run more often than once: ``baseline_runs`` and ``candidate_runs`` count its runs that are
    alike, and ``offset`` is what the logarithm of the ratio of the two compared runs has too much beside that of the
    means over these. So log ratio - ``offset`` has the standard error ``log_sd`` * sqrt(1 / ``baseline_runs`` +
    1 / ``candidate_runs``). ``speeds_apart``, a logarithm too, is how far apart the speeds of the machine were that
    the two sides met, which a figure that was not normalised may show in place of the code.
    """

    log_sd: float
    degrees: int
    source: SpreadSource
    baseline_runs: int = 1
    candidate_runs: int = 1
    offset: float = 0.0
    speeds_apart: float = 0.0


@dataclass(frozen=True, slots=True)
class RunSpread:
    """What is known of the noise between runs on the host ``host_id``, by quantity (``duration_s``, ``cpu_s``, …)."""

    host_id: str = ""
    quantities: Mapping[str, QuantitySpread] = field(default_factory=dict)


UNKNOWN_SPREAD = RunSpread()
