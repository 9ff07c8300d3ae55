"""What frameworks do about a model that fails: recover, tell the caller or the model, hide it, or wait."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.frameworks.framework_process import (
    ENVIRONMENTS,
    FrameworkProcess,
    ScriptedModel,
    check_framework,
)
from agentdyno_workloads.frameworks.measures import PLAIN

RECOVERED, TOLD, REFERRED, HIDDEN, WAITS = "recovered", "told", "referred", "hidden", "waits"
ONCE = ("--fault-span", "1")


@dataclass(frozen=True, slots=True)
class ModelFault:
    """``options`` of the simulated model, and the outcomes that are right: a passing test of a framework.

    With ``streamed`` a text is asked for as a stream, where the framework has one; else two numbers are added.
    """

    options: tuple[str, ...]
    passes: frozenset[str]
    what: str
    streamed: bool = False


FAULTS = {
    "rate_limited": ModelFault(
        ("--faults", "rate_limited:1", "--retry-after", "0", *ONCE),
        frozenset({RECOVERED}),
        "429 once, to be tried again at once",
    ),
    "server_error": ModelFault(("--faults", "http_error:1", *ONCE), frozenset({RECOVERED}), "500 once"),
    "broken_body": ModelFault(
        ("--faults", "html:1", *ONCE), frozenset({RECOVERED, TOLD}), "200 once, with a page instead of JSON"
    ),
    "malformed_arguments": ModelFault(
        ("--faults", "malformed_arguments:1", *ONCE),
        frozenset({RECOVERED, TOLD, REFERRED}),
        "a tool call once, whose arguments are no JSON",
    ),
    "no_finish": ModelFault(
        ("--fault", "no_finish"), frozenset({TOLD}), "answers that end without a finish reason", streamed=True
    ),
    "rate_limited_always": ModelFault(
        ("--fault", "rate_limited", "--retry-after", "0"), frozenset({TOLD}), "429 every time"
    ),
    "server_error_always": ModelFault(("--fault", "http_error"), frozenset({TOLD}), "500 every time"),
}
METRICS = {"passed": Metric("passed", "", Direction.HIGHER, machine_dependent=False)}


class FrameworkFaults(Experiment):
    """One framework against every fault in turn, each with a model of its own; ``limit_s`` for each."""

    metrics: ClassVar = METRICS

    def __init__(self, framework: str = "bare", limit_s: float = 30.0, environments: str = ENVIRONMENTS) -> None:
        super().__init__({"framework": framework, "limit_s": limit_s})
        check_framework(framework)
        if not limit_s > 0:
            raise SpecError(f"limit_s is {limit_s}", where="params.limit_s", remedy="Give seconds above 0.")
        self._environments = environments
        self._process: FrameworkProcess | None = None

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        found = {name: self._met(fault, context) for name, fault in FAULTS.items()}
        return {"passed": float(sum(one["passed"] for one in found.values())), "faults": found}

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self._end()

    def _met(self, fault: ModelFault, context: ExperimentContext) -> dict[str, Any]:
        """Its outcome, how many requests it took, and what was raised."""
        model = ScriptedModel(*fault.options)
        try:
            process = self._ready(model.url, context)
            model.reset()
            began = time.perf_counter()
            outcome, told = self._outcome(process, fault)
            seconds, requests = time.perf_counter() - began, len(model.requests())
            if outcome == HIDDEN and told and REFERRED in fault.passes and requests > 1:
                outcome = REFERRED
            return {
                "outcome": outcome,
                "passed": outcome in fault.passes,
                "requests": requests,
                "seconds": round(seconds, 3),
                "told": told,
            }
        finally:
            model.close()

    def _outcome(self, process: FrameworkProcess, fault: ModelFault) -> tuple[str, str]:
        limit_s = float(self.params["limit_s"])
        text, expected = ("please add 3 and 4", "7") if not fault.streamed else (f"{PLAIN} 1", None)
        try:
            told = process.ask("streams" if fault.streamed else "tasks", text, limit_s=limit_s)["told"]
            if not told:  # it streams nothing: the same answer in one piece
                told = process.ask("tasks", text, limit_s=limit_s)["told"]
        except TimeoutError as error:
            self._end()
            return WAITS, str(error)
        (one,) = told
        if one.get("error"):
            return TOLD, str(one["error"])
        return (RECOVERED if one["answer"] == expected else HIDDEN), str(one["answer"])[:200]

    def _ready(self, url: str, context: ExperimentContext) -> FrameworkProcess:
        """The framework's process, which has done its slow first task, asking the model at ``url`` from now on."""
        if self._process is None:
            with_all_well = ScriptedModel()
            try:
                self._process = FrameworkProcess(self.params["framework"], self._environments, with_all_well.url)
                self._process.ask("tasks", "please add 1 and 1")
            finally:
                with_all_well.close()
            context.observe(framework=self._process.version, python=self._process.facts["python"])
        self._process.use(url)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None
