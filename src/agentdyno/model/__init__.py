"""The frozen vocabulary: what flows between the parts. Standard library only.

Names are loaded when first used, so that a worker loads what it needs and starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentdyno.model.case import Case, Event, Response, Score, Usage
    from agentdyno.model.findings import (
        ArmComparison,
        Calibration,
        Check,
        Comparison,
        Findings,
        Level,
        MetricComparison,
    )
    from agentdyno.model.form import RunStatus, RunWarning
    from agentdyno.model.metric import Category, CensoredValue, Direction, Metric, Provenance, Verdict, known_metric
    from agentdyno.model.parameter import ExperimentInfo, Parameter
    from agentdyno.model.plan import Arm, Phase, Plan, Side, Trial
    from agentdyno.model.result import ArmResult, Artifact, CaseFigures, Environment, MetricSummary, RunResult, Vcs
    from agentdyno.model.sample import Failure, FailureKind, Progress, Sample, Status
    from agentdyno.model.spec import (
        Affinity,
        AutoStop,
        DeclaredMetric,
        Entry,
        GcPolicy,
        InstrumentUse,
        Isolation,
        Iterations,
        Limits,
        Order,
        Spec,
        Strategy,
    )
    from agentdyno.model.suite import (
        AgentUse,
        BaselineScores,
        Benchmark,
        Complexity,
        Constraints,
        Reducer,
        Rubric,
        ScorerUse,
        Suite,
        TestType,
    )
    from agentdyno.model.workspace import Price, Workspace

_HOMES = {
    "agentdyno.model.workspace": (
        "Price",
        "Workspace",
    ),
    "agentdyno.model.suite": (
        "AgentUse",
        "BaselineScores",
        "Benchmark",
        "Complexity",
        "Constraints",
        "Reducer",
        "Rubric",
        "ScorerUse",
        "Suite",
        "TestType",
    ),
    "agentdyno.model.case": (
        "Case",
        "Event",
        "Response",
        "Score",
        "Usage",
    ),
    "agentdyno.model.findings": (
        "ArmComparison",
        "Calibration",
        "Check",
        "Comparison",
        "Findings",
        "Level",
        "MetricComparison",
    ),
    "agentdyno.model.form": ("RunStatus", "RunWarning"),
    "agentdyno.model.metric": (
        "Category",
        "CensoredValue",
        "Direction",
        "Metric",
        "Provenance",
        "Verdict",
        "known_metric",
    ),
    "agentdyno.model.parameter": (
        "ExperimentInfo",
        "Parameter",
    ),
    "agentdyno.model.plan": ("Arm", "Phase", "Plan", "Side", "Trial"),
    "agentdyno.model.result": (
        "ArmResult",
        "Artifact",
        "CaseFigures",
        "Environment",
        "MetricSummary",
        "RunResult",
        "Vcs",
    ),
    "agentdyno.model.sample": (
        "Failure",
        "FailureKind",
        "Progress",
        "Sample",
        "Status",
    ),
    "agentdyno.model.spec": (
        "Affinity",
        "AutoStop",
        "DeclaredMetric",
        "Entry",
        "GcPolicy",
        "InstrumentUse",
        "Isolation",
        "Iterations",
        "Limits",
        "Order",
        "Spec",
        "Strategy",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Affinity",
    "AgentUse",
    "Arm",
    "ArmComparison",
    "ArmResult",
    "Artifact",
    "AutoStop",
    "BaselineScores",
    "Benchmark",
    "Calibration",
    "Case",
    "CaseFigures",
    "Category",
    "CensoredValue",
    "Check",
    "Comparison",
    "Complexity",
    "Constraints",
    "DeclaredMetric",
    "Direction",
    "Entry",
    "Environment",
    "Event",
    "ExperimentInfo",
    "Failure",
    "FailureKind",
    "Findings",
    "GcPolicy",
    "InstrumentUse",
    "Isolation",
    "Iterations",
    "Level",
    "Limits",
    "Metric",
    "MetricComparison",
    "MetricSummary",
    "Order",
    "Parameter",
    "Phase",
    "Plan",
    "Price",
    "Progress",
    "Provenance",
    "Reducer",
    "Response",
    "Rubric",
    "RunResult",
    "RunStatus",
    "RunWarning",
    "Sample",
    "Score",
    "ScorerUse",
    "Side",
    "Spec",
    "Status",
    "Strategy",
    "Suite",
    "TestType",
    "Trial",
    "Usage",
    "Vcs",
    "Verdict",
    "Workspace",
    "known_metric",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
