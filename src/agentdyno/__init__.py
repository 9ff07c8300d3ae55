"""agentdyno: a dynamometer for agents.

The public names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentdyno.agents.endpoints.chat_model import ChatModel, ChatReply
    from agentdyno.agents.foreign.agent import ForeignAgent, ProgramUse
    from agentdyno.agents.hosting.recorder import tool_call
    from agentdyno.contracts import (
        Agent,
        CaseFailed,
        Experiment,
        ExperimentContext,
        Importer,
        Instrument,
        Report,
        Reporter,
        Scorer,
        Unscorable,
    )
    from agentdyno.errors import (
        DynoError,
        ImportFailed,
        NotComparable,
        PluginError,
        ResultError,
        RunError,
        SpecError,
        StoreError,
    )
    from agentdyno.findings.stress.judge import stress_report
    from agentdyno.load.target.server_watch import ServerWatch
    from agentdyno.model import (
        AgentUse,
        Benchmark,
        Case,
        CensoredValue,
        Comparison,
        Constraints,
        Direction,
        Event,
        Findings,
        Metric,
        Response,
        Rubric,
        RunResult,
        Sample,
        Score,
        ScorerUse,
        Suite,
        Usage,
        Verdict,
    )
    from agentdyno.registry import (
        register_agent,
        register_dataset,
        register_experiment,
        register_importer,
        register_instrument,
        register_reporter,
        register_scorer,
    )
    from agentdyno.runner.bench.function import BenchmarkResult, benchmark
    from agentdyno.sandbox.final_state import FinalState, NotAsAsked
    from agentdyno.scorers.adapt import scorer
    from agentdyno.servers.local_model import LocalModel
    from agentdyno.servers.proxy.model_call import ModelCall
    from agentdyno.servers.proxy.recorder import RecordingProxy
    from agentdyno.servers.simulated.model import SimulatedModel
    from agentdyno.specs.dataset.dataset import Dataset
    from agentdyno.stats.intervals import Interval
    from agentdyno.stats.survival import log_rank, median_time
    from agentdyno.stats.usl import ScalingFit, fit_amdahl, fit_usl
    from agentdyno.version import __version__
    from agentdyno.workbench.asking import (
        compare_agents,
        cost,
        coverage,
        history,
        import_results,
        leaderboard,
        matrix,
        profile,
        regressions,
        reliability,
    )
    from agentdyno.workbench.evaluate import aevaluate, evaluate
    from agentdyno.workbench.export.reading import StoredRuns, read_runs
    from agentdyno.workbench.running import compare, load_run, run_load, run_spec
    from agentdyno.workflows.metrics import BenchmarkMetrics
    from agentdyno.workflows.runner import BenchmarkRunner
    from agentdyno.workflows.visualizer import BenchmarkVisualizer

_HOMES = {
    "agentdyno.agents.endpoints.chat_model": ("ChatModel", "ChatReply"),
    "agentdyno.agents.foreign.agent": ("ForeignAgent", "ProgramUse"),
    "agentdyno.agents.hosting.recorder": ("tool_call",),
    "agentdyno.findings.stress.judge": ("stress_report",),
    "agentdyno.contracts": (
        "Agent",
        "CaseFailed",
        "Experiment",
        "ExperimentContext",
        "Importer",
        "Instrument",
        "Report",
        "Reporter",
        "Scorer",
        "Unscorable",
    ),
    "agentdyno.errors": (
        "DynoError",
        "ImportFailed",
        "NotComparable",
        "PluginError",
        "ResultError",
        "RunError",
        "SpecError",
        "StoreError",
    ),
    "agentdyno.load.target.server_watch": ("ServerWatch",),
    "agentdyno.model": (
        "AgentUse",
        "Benchmark",
        "Case",
        "CensoredValue",
        "Comparison",
        "Constraints",
        "Direction",
        "Event",
        "Findings",
        "Metric",
        "Response",
        "Rubric",
        "RunResult",
        "Sample",
        "Score",
        "ScorerUse",
        "Suite",
        "Usage",
        "Verdict",
    ),
    "agentdyno.registry": (
        "register_agent",
        "register_dataset",
        "register_experiment",
        "register_importer",
        "register_instrument",
        "register_reporter",
        "register_scorer",
    ),
    "agentdyno.runner.bench.function": ("BenchmarkResult", "benchmark"),
    "agentdyno.sandbox.final_state": ("FinalState", "NotAsAsked"),
    "agentdyno.scorers.adapt": ("scorer",),
    "agentdyno.servers.local_model": ("LocalModel",),
    "agentdyno.servers.proxy.model_call": ("ModelCall",),
    "agentdyno.servers.proxy.recorder": ("RecordingProxy",),
    "agentdyno.servers.simulated.model": ("SimulatedModel",),
    "agentdyno.specs.dataset.dataset": ("Dataset",),
    "agentdyno.stats.intervals": ("Interval",),
    "agentdyno.stats.survival": ("log_rank", "median_time"),
    "agentdyno.stats.usl": ("ScalingFit", "fit_amdahl", "fit_usl"),
    "agentdyno.workbench.running": ("compare", "load_run", "run_load", "run_spec"),
    "agentdyno.workbench.asking": (
        "compare_agents",
        "cost",
        "coverage",
        "history",
        "import_results",
        "leaderboard",
        "matrix",
        "profile",
        "regressions",
        "reliability",
    ),
    "agentdyno.version": ("__version__",),
    "agentdyno.workbench.export.reading": ("StoredRuns", "read_runs"),
    "agentdyno.workbench.evaluate": ("aevaluate", "evaluate"),
    "agentdyno.workflows.metrics": ("BenchmarkMetrics",),
    "agentdyno.workflows.runner": ("BenchmarkRunner",),
    "agentdyno.workflows.visualizer": ("BenchmarkVisualizer",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Agent",
    "AgentUse",
    "Benchmark",
    "BenchmarkMetrics",
    "BenchmarkResult",
    "BenchmarkRunner",
    "BenchmarkVisualizer",
    "Case",
    "CaseFailed",
    "CensoredValue",
    "ChatModel",
    "ChatReply",
    "Comparison",
    "Constraints",
    "Dataset",
    "Direction",
    "DynoError",
    "Event",
    "Experiment",
    "ExperimentContext",
    "FinalState",
    "Findings",
    "ForeignAgent",
    "ImportFailed",
    "Importer",
    "Instrument",
    "Interval",
    "LocalModel",
    "Metric",
    "ModelCall",
    "NotAsAsked",
    "NotComparable",
    "PluginError",
    "ProgramUse",
    "RecordingProxy",
    "Report",
    "Reporter",
    "Response",
    "ResultError",
    "Rubric",
    "RunError",
    "RunResult",
    "Sample",
    "ScalingFit",
    "Score",
    "Scorer",
    "ScorerUse",
    "ServerWatch",
    "SimulatedModel",
    "SpecError",
    "StoreError",
    "StoredRuns",
    "Suite",
    "Unscorable",
    "Usage",
    "Verdict",
    "__version__",
    "aevaluate",
    "benchmark",
    "compare",
    "compare_agents",
    "cost",
    "coverage",
    "evaluate",
    "fit_amdahl",
    "fit_usl",
    "history",
    "import_results",
    "leaderboard",
    "load_run",
    "log_rank",
    "matrix",
    "median_time",
    "profile",
    "read_runs",
    "register_agent",
    "register_dataset",
    "register_experiment",
    "register_importer",
    "register_instrument",
    "register_reporter",
    "register_scorer",
    "regressions",
    "reliability",
    "run_load",
    "run_spec",
    "scorer",
    "stress_report",
    "tool_call",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'agentdyno' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
