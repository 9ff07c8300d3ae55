"""agentdyno: a dynamometer for agents.

The public names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentdyno.contracts import Experiment, ExperimentContext, Instrument, Report, Reporter
    from agentdyno.errors import DynoError, NotComparable, PluginError, ResultError, RunError, SpecError, StoreError
    from agentdyno.model import Comparison, Direction, Findings, Metric, RunResult, Sample, Verdict
    from agentdyno.registry import register_experiment, register_instrument, register_reporter
    from agentdyno.runner.function import BenchmarkResult, benchmark
    from agentdyno.workbench.api import compare, run_spec

__version__ = "0.1.0"

_HOMES = {
    "agentdyno.contracts": ("Experiment", "ExperimentContext", "Instrument", "Report", "Reporter"),
    "agentdyno.errors": (
        "DynoError",
        "NotComparable",
        "PluginError",
        "ResultError",
        "RunError",
        "SpecError",
        "StoreError",
    ),
    "agentdyno.model": ("Comparison", "Direction", "Findings", "Metric", "RunResult", "Sample", "Verdict"),
    "agentdyno.registry": ("register_experiment", "register_instrument", "register_reporter"),
    "agentdyno.runner.function": ("BenchmarkResult", "benchmark"),
    "agentdyno.workbench.api": ("compare", "run_spec"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BenchmarkResult",
    "Comparison",
    "Direction",
    "DynoError",
    "Experiment",
    "ExperimentContext",
    "Findings",
    "Instrument",
    "Metric",
    "NotComparable",
    "PluginError",
    "Report",
    "Reporter",
    "ResultError",
    "RunError",
    "RunResult",
    "Sample",
    "SpecError",
    "StoreError",
    "Verdict",
    "__version__",
    "benchmark",
    "compare",
    "register_experiment",
    "register_instrument",
    "register_reporter",
    "run_spec",
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
