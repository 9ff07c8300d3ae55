"""A spec as the runner reads it: every default filled in, every name checked for shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.sample import LEFT_OUT
from agentdyno.settings.run import (
    AFFINITY,
    EXECUTOR,
    FEWEST,
    GC,
    INSTRUMENTED,
    ISOLATION,
    MAX_FAILURE_RATE,
    MEASURED,
    MOST,
    ORDER,
    OTEL,
    OUTPUT_LIMIT,
    PARALLELISM,
    PRECISION,
    PROCESSES,
    SEED,
    WARMUP,
)


class Strategy(StrEnum):
    """How the values of a sweep are combined."""

    CARTESIAN = "cartesian"
    RANDOM = "random"
    ZIP = "zip"


class Isolation(StrEnum):
    """``process`` protects the run from what it measures; ``inline`` runs in this very process."""

    INLINE = "inline"
    PROCESS = "process"


class Order(StrEnum):
    """``interleaved`` runs the arms in randomised blocks, ``sequential`` one after the other."""

    INTERLEAVED = "interleaved"
    SEQUENTIAL = "sequential"


class GcPolicy(StrEnum):
    """``normal`` leaves the collector alone, ``off`` stops it while timing, ``collect`` also collects before."""

    NORMAL = "normal"
    OFF = "off"
    COLLECT = "collect"


class Affinity(StrEnum):
    """``auto`` keeps every arm that uses one CPU on the same one, so that no arm has the quieter CPU."""

    AUTO = "auto"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class AutoStop:
    """Measure until the 95 % interval of the median is within ``precision`` of it, in every arm."""

    precision: float = PRECISION.default
    minimum: int = FEWEST.default
    maximum: int = MOST.default


@dataclass(frozen=True, slots=True)
class Iterations:
    """Calls per fresh start that are not recorded, samples that are, and passes per perturbing instrument.

    ``assumed``: nobody said how many samples, so that an experiment's own number goes first.
    """

    warmup: int = WARMUP.default
    measured: int = MEASURED.default
    instrumented: int = INSTRUMENTED.default
    auto: AutoStop | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class InstrumentUse:
    """An instrument by name, with the options that the user gave."""

    name: str
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """One experiment of a spec with its parameters and sweep; ``name`` is its own in a file of several, or empty."""

    experiment: str
    params: Mapping[str, object] = field(default_factory=dict)
    sweep: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    strategy: Strategy = Strategy.CARTESIAN
    samples: int | None = None
    iterations: Iterations = field(default_factory=Iterations)
    name: str = field(default="", metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one trial may use; ``None`` is no limit."""

    timeout_s: float | None = None
    memory_bytes: int | None = None
    output_bytes: int = OUTPUT_LIMIT.default * 1024 * 1024


@dataclass(frozen=True, slots=True)
class DeclaredMetric:
    """A number that ``execute_once`` returns, given a unit and a direction so that it can be judged."""

    unit: str = ""
    direction: str = "unknown"


@dataclass(frozen=True, slots=True)
class Spec:
    """One run. ``base_dir`` is where relative paths start; ``source`` is the file, for messages.

    ``processes`` is how many fresh processes an arm's samples are spread over; ``None`` is one, or ten where two
    sides are compared (a process has a speed of its own, by its layout in memory).

    ``against`` names the other side of a run that measures two: ``git:COMMIT``, ``python:PATH``, ``params:JSON``,
    ``experiment:NAME`` or, in a suite, ``agent:NAME``. ``until_decided`` runs a suite case by case and ends when the
    sides are told apart.
    ``otel`` puts each case of a suite once more to its agents, with tracing on, after everything that is timed.
    ``executor`` is where trials run. ``reports`` are written with every run. ``bands`` has thresholds that replace
    those of the settings; ``None`` where nobody asked to hold the figures against any.
    """

    name: str
    entries: tuple[Entry, ...]
    instruments: tuple[InstrumentUse, ...] = ()
    imports: tuple[str, ...] = ()
    output_dir: str | None = None
    tags: tuple[str, ...] = ()
    notes: str = ""
    seed: int = SEED.default
    parallelism: int = PARALLELISM.default
    isolation: Isolation = field(default=Isolation(ISOLATION.default))
    processes: int | None = PROCESSES.default
    order: Order = field(default=Order(ORDER.default))
    gc: GcPolicy = field(default=GcPolicy(GC.default))
    affinity: Affinity = field(default=Affinity(AFFINITY.default))
    inner_loops: int | None = None
    limits: Limits = field(default_factory=Limits)
    time_budget_s: float | None = None
    max_failure_rate: float = MAX_FAILURE_RATE.default
    metrics: Mapping[str, DeclaredMetric] = field(default_factory=dict)
    against: str | None = None
    until_decided: bool = False
    otel: bool = field(default=OTEL.default, metadata=LEFT_OUT)
    executor: str = field(default=EXECUTOR.default, metadata=LEFT_OUT)
    reports: tuple[str, ...] = ()
    bands: Mapping[str, float] | None = field(default=None, metadata=LEFT_OUT)
    base_dir: str = "."
    source: str = ""

    def entry_of(self, arm_name: str) -> str:
        """The name of the entry that an arm belongs to; empty where entries have none. Arms begin with it."""
        named = {entry.name for entry in self.entries if entry.name}
        return max((name for name in named if f"{arm_name} ".startswith(f"{name} ")), key=len, default="")
