"""What an agent framework costs beyond a bare loop: CPU time, time, memory and start of one scripted task."""

from __future__ import annotations

from typing import Any, ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric, RunError
from agentdyno_workloads.frameworks.framework_process import (
    ENVIRONMENTS,
    FrameworkProcess,
    ScriptedModel,
    check_framework,
)

METRICS = {
    metric.name: metric
    for metric in (
        Metric("task_cpu_s", "s", Direction.LOWER),
        Metric("task_s", "s", Direction.LOWER),
        Metric("tasks_per_s", "/s", Direction.HIGHER),
        Metric("rss_bytes", "bytes", Direction.LOWER),
        Metric("start_s", "s", Direction.LOWER),
        Metric("first_task_s", "s", Direction.LOWER),
        Metric("prompt_bytes", "bytes", Direction.LOWER, machine_dependent=False),
    )
}


class FrameworkOverhead(Experiment):
    """A tool call and an answer, two requests to a simulated model without latency, in the framework's environment.

    ``tasks`` of them make one execution, ``at_once`` at the same time; figures are per task. CPU time is that of the
    framework's process alone; ``prompt_bytes`` are the bodies of the requests that the first task took.
    """

    metrics: ClassVar = METRICS

    def __init__(
        self, framework: str = "bare", tasks: int = 1, at_once: int = 1, environments: str = ENVIRONMENTS
    ) -> None:
        super().__init__({"framework": framework, "tasks": tasks, "at_once": at_once})
        check_framework(framework)
        self._environments = environments
        self._model: ScriptedModel | None = None
        self._process: FrameworkProcess | None = None
        self._number = 0

    def setup(self, context: ExperimentContext) -> None:
        """Starts the model and the framework, and does the first task, which is slower than all others."""
        self._model = ScriptedModel()
        self._process = FrameworkProcess(self.params["framework"], self._environments, self._model.url)
        facts = self._process.facts
        first = self._asked(1, 1)
        self._of_start = {
            "start_s": float(facts["start_s"]),
            "first_task_s": float(first["wall_s"]),
            "prompt_bytes": float(sum(request["input_bytes"] for request in self._model.requests())),
        }
        context.observe(framework=self._process.version, python=facts["python"])

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        tasks = self.params["tasks"]
        told = self._asked(tasks, self.params["at_once"])
        return {
            "task_cpu_s": told["cpu_s"] / tasks,
            "task_s": told["wall_s"] / tasks,
            "tasks_per_s": tasks / told["wall_s"],
            "rss_bytes": float(told["rss_bytes"]),
            **self._of_start,
        }

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        for started in (self._process, self._model):
            if started is not None:
                started.close()

    def _asked(self, tasks: int, at_once: int) -> dict[str, Any]:
        """Every task is another one, and its answer is checked: a framework that fails fast is not fast."""
        assert self._process is not None
        numbers = range(self._number, self._number + tasks)
        self._number += tasks
        texts = [f"please add {number} and 4" for number in numbers]
        told = self._process.ask("tasks", *texts, at_once=at_once)
        for number, text, given in zip(numbers, texts, told["told"], strict=True):
            if given["answer"] != str(number + 4):
                what = given.get("error") or f"answered {given['answer']!r}"
                raise RunError(f"{self.params['framework']}: {what}", where=text)
        return told
