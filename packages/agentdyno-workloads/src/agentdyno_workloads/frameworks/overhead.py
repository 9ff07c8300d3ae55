"""What an agent framework costs beyond a bare loop: CPU time, time, memory and start of one scripted task."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric, PluginError, RunError, SpecError
from agentdyno_workloads.frameworks.subjects import SUBJECTS

ENVIRONMENTS = ".venv-frameworks"
QUIET = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OPENAI_API_KEY": "none",
}
"""Frameworks that tell their makers about every run would measure that, too."""
METRICS = {
    metric.name: metric
    for metric in (
        Metric("task_cpu_s", "s", Direction.LOWER),
        Metric("task_s", "s", Direction.LOWER),
        Metric("tasks_per_s", "/s", Direction.HIGHER),
        Metric("rss_bytes", "bytes", Direction.LOWER),
        Metric("start_s", "s", Direction.LOWER),
        Metric("first_task_s", "s", Direction.LOWER),
    )
}


class FrameworkOverhead(Experiment):
    """A tool call and an answer, two requests to a simulated model without latency, in the framework's environment.

    ``tasks`` of them make one execution, ``at_once`` at the same time; figures are per task. CPU time is that of the
    framework's process alone.
    """

    metrics: ClassVar = METRICS

    def __init__(
        self, framework: str = "bare", tasks: int = 1, at_once: int = 1, environments: str = ENVIRONMENTS
    ) -> None:
        super().__init__({"framework": framework, "tasks": tasks, "at_once": at_once})
        if framework not in SUBJECTS:
            known = ", ".join(SUBJECTS)
            raise SpecError(f"no framework {framework!r}", where="params.framework", remedy=f"Known: {known}.")
        self._python = Path(environments).absolute() / SUBJECTS[framework].environment / "bin" / "python"
        self._model: subprocess.Popen[str] | None = None
        self._work: subprocess.Popen[str] | None = None
        self._number = 0

    def setup(self, context: ExperimentContext) -> None:
        """Starts the model and the framework, and does the first task, which is slower than all others."""
        listed = SUBJECTS[self.params["framework"]]
        if not self._python.exists():
            raise PluginError(
                f"{self.params['framework']} has no environment {self._python.parent.parent}",
                remedy=f"`scripts/frameworks.sh {listed.environment}` makes it; or give -p environments=FOLDER.",
            )
        url = self._start_model()
        script = Path(__file__).with_name("task_process.py")
        environ = {**os.environ, **QUIET, "OPENAI_BASE_URL": f"{url}/v1"}
        self._work = _started([str(self._python), str(script), self.params["framework"]], environ)
        facts = self._told()
        self._start_s = float(facts["start_s"])
        self._first_s = float(self._asked(1, 1)["wall_s"])
        context.observe(framework=f"{listed.package} {facts['version']}", python=facts["python"])

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        tasks = self.params["tasks"]
        told = self._asked(tasks, self.params["at_once"])
        return {
            "task_cpu_s": told["cpu_s"] / tasks,
            "task_s": told["wall_s"] / tasks,
            "tasks_per_s": tasks / told["wall_s"],
            "rss_bytes": float(told["rss_bytes"]),
            "start_s": self._start_s,
            "first_task_s": self._first_s,
        }

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        for process in (self._work, self._model):
            if process is not None:
                process.terminate()
                process.wait()
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        pipe.close()

    def _start_model(self) -> str:
        dyno = Path(sys.executable).with_name("dyno")
        options = ("--port", "0", "--ttft", "0", "--itl", "0")
        self._model = _started([str(dyno), "model", "simulate", *options], dict(os.environ))
        line = self._model.stdout.readline() if self._model.stdout else ""
        found = re.search(r"http://\S+", line)
        if found is None:
            raise RunError("the simulated model did not start", remedy="`dyno model simulate` says why.")
        return found.group()

    def _asked(self, tasks: int, at_once: int) -> dict[str, Any]:
        """Every task is another one, and its answer is checked: a framework that fails fast is not fast."""
        work = self._work
        assert work is not None
        assert work.stdin is not None
        numbers = range(self._number, self._number + tasks)
        self._number += tasks
        texts = [f"please add {number} and 4" for number in numbers]
        work.stdin.write(json.dumps({"tasks": texts, "at_once": at_once}) + "\n")
        work.stdin.flush()
        told = self._told()
        wrong = [given for number, given in zip(numbers, told["answers"], strict=True) if given != str(number + 4)]
        if wrong:
            raise RunError(f"{self.params['framework']} answered {wrong[0]!r}", where=texts[0])
        return told

    def _told(self) -> dict[str, Any]:
        assert self._work is not None
        assert self._work.stdout is not None
        line = self._work.stdout.readline()
        if not line:
            self._work.wait()
            raise RunError(f"the process of {self.params['framework']} ended", remedy=self._why())
        told: dict[str, Any] = json.loads(line)
        return told

    def _why(self) -> str:
        listed = SUBJECTS[self.params["framework"]]
        return f"Try `{self._python} -c 'import {listed.package.replace('-', '_')}'`."


def _started(command: list[str], environ: dict[str, str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environ, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
