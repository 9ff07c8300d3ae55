"""Experiments, agents, a scorer and a generator for the specs beside this file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentdyno import Case, Experiment, ExperimentContext, Metric, Response


def sorting(size: int = 200, reverse: bool = True) -> float:
    """Sort numbers."""
    return float(sorted(range(size), reverse=reverse)[0])


class Counting(Experiment):
    """Counts up."""

    param_schema: ClassVar[Mapping[str, Any] | None] = {
        "steps": {"type": "int", "default": 10, "min": 1, "max": 1000},
        "method": {"type": "str", "default": "loop", "choices": ["loop", "sum"]},
    }
    metrics: ClassVar[Mapping[str, Metric]] = {"steps_done": Metric("steps_done", "steps")}

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return {"steps_done": sum(1 for _ in range(context.params["steps"]))}


def echo(case: Case, suffix: str = "") -> Response:
    """Says what was asked."""
    return Response(f"{case.input}{suffix}")


def polite(case: Case, response: Response) -> float:
    """Whether the answer says please."""
    return float("please" in str(response.output))


def numbers(n: int = 3, seed: int = 0, step: int = 1) -> Iterator[dict[str, object]]:
    """Asks for numbers."""
    for i in range(0, n * step, step):
        yield {"id": f"n-{i}", "input": str(i), "target": str(i + seed)}
