"""One workflow prompt, many models: run, measured and drawn with three names.

``BenchmarkRunner`` runs, ``BenchmarkMetrics`` reads figures out of results, ``BenchmarkVisualizer`` draws them.
"""

from __future__ import annotations

from agentdyno.workflows.metrics import BenchmarkMetrics
from agentdyno.workflows.runner import BenchmarkRunner
from agentdyno.workflows.visualizer import BenchmarkVisualizer

__all__ = ["BenchmarkMetrics", "BenchmarkRunner", "BenchmarkVisualizer"]
