"""Values of the model with everything filled in that a test does not care about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.model import (
    Arm,
    ArmResult,
    Artifact,
    AutoStop,
    DeclaredMetric,
    Direction,
    Entry,
    Environment,
    InstrumentUse,
    Iterations,
    MetricSummary,
    Phase,
    Provenance,
    RunResult,
    RunStatus,
    RunWarning,
    Sample,
    Side,
    Spec,
    Status,
    Vcs,
)
from agentdyno.store import Store

FIRST_ID = "01900000-0000-7000-8000-000000000001"
ENVIRONMENT = Environment(
    machine_id="machine-1",
    os="Linux",
    kernel="6.1",
    cpu_model="Some CPU",
    cpu_count=2,
    memory_bytes=8 << 30,
    python="3.11.7",
    implementation="cpython",
    agentdyno="0.1.0",
    packages={"numpy": "2.0"},
    variables={"PYTHONHASHSEED": "0"},
    details={"governor": None, "caches": [32, 512]},
)
SPEC = Spec(
    name="sorting",
    entries=(
        Entry(
            "workload:Sort",
            params={"kind": "quick", "deep": {"a": [1, None]}},
            sweep={"size": (10, 100)},
            iterations=Iterations(warmup=2, auto=AutoStop(maximum=50)),
        ),
    ),
    instruments=(InstrumentUse("memory", {"peak": True}),),
    tags=("nightly",),
    time_budget_s=1.5,
    metrics={"rows_per_s": DeclaredMetric("/s", "higher")},
)
ARMS = (
    Arm("arm-z", "sort size=10", "workload:Sort", {"size": 10}, side=Side.BASELINE),
    Arm("arm-a", "sort size=100", "workload:Sort", {"size": 100}, benchmark="b", agent="x@1", side=Side.CANDIDATE),
)


def run_id(number: int) -> str:
    """Ids that differ in their last characters only, unless ``number`` is large."""
    return FIRST_ID[:-12] + f"{number:012x}"


def header(identity: str = FIRST_ID, *, name: str = "sorting", started_at: int = 1_700_000_000_000) -> RunResult:
    """A run that has begun, without arms."""
    return RunResult(
        identity,
        "experiment",
        name,
        RunStatus.RUNNING,
        started_at,
        None,
        7,
        SPEC,
        ENVIRONMENT,
        Vcs("abc", None, True),
    )


def sample(
    iteration: int,
    *,
    arm_id: str = "arm-z",
    phase: Phase = Phase.MEASURED,
    status: Status = Status.OK,
    duration_s: float = 0.25,
) -> Sample:
    return Sample(
        arm_id, phase, iteration, status, 1_700_000_000_000 + iteration, {"duration_s": duration_s, "cpu_s": 0.2}
    )


def begin(
    store: Store,
    identity: str = FIRST_ID,
    *,
    name: str = "sorting",
    started_at: int = 1_700_000_000_000,
    arms: Sequence[Arm] = ARMS,
    planned: Mapping[str, int] | None = None,
) -> str:
    store.runs.begin(header(identity, name=name, started_at=started_at), arms, planned or {})
    return identity


SUMMARY = MetricSummary(
    "s", Direction.LOWER, Provenance.MEASURED, 3, 0.2, 0.2, 0.3, 0.3, (0.1, 0.3), cv=0.5, outliers=1
)


def finished(samples: Mapping[str, tuple[Sample, ...]] | None = None) -> RunResult:
    """A whole result of ``ARMS``: each field holds something other than its default."""
    kept = samples or {}
    first, second = (
        ArmResult(
            arm.arm_id,
            arm.name,
            arm.experiment,
            arm.params,
            arm.benchmark,
            arm.agent,
            arm.side,
            observed={"journal_mode": "wal", "odd": ["\udcff", "\x00"]},
            metrics={"duration_s": SUMMARY},
            scores={"speed": 0.5, "cost": None},
            statuses={"ok": len(kept.get(arm.arm_id, ()))},
            planned=3,
            samples_total=len(kept.get(arm.arm_id, ())),
            samples=kept.get(arm.arm_id, ()),
            artifacts=(Artifact(f"{arm.arm_id}.txt", f"artifacts/{arm.arm_id}.txt", 5, "text/plain"),),
            score_errors={"speed": 0.0625},
        )
        for arm in ARMS
    )
    return RunResult(
        FIRST_ID,
        "experiment",
        "sorting",
        RunStatus.PARTIAL,
        1_700_000_000_000,
        1_700_000_009_000,
        7,
        SPEC,
        ENVIRONMENT,
        Vcs("abc", "main", False),
        tags=("nightly", "ö"),
        notes="a note\nof two lines",
        warnings=(RunWarning("noisy", "the machine is noisy", "close the browser", "arm-a"),),
        arms=(first, second),
        overhead_s=4.2e-8,
        stopped_because="time budget",
        origin={"tool": "other", "file": "ö.json"},
    )
