"""The suite of an agent framework's own features, each framework beside a bare loop, and the bench itself."""

from __future__ import annotations

from typing import ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.frameworks.framework_process import (
    ENVIRONMENTS,
    FrameworkProcess,
    ScriptedModel,
    check_framework,
)
from agentdyno_workloads.frameworks.measures import MEASURES, MeasuredFramework
from agentdyno_workloads.frameworks.own_engine import OWN, OWN_MEASURES, OwnEngine
from agentdyno_workloads.frameworks.subjects.catalogue import SUBJECTS

_SECONDS = (
    *("latency_s", "latency_cpu_s", "streaming_s", "streaming_first_s", "streaming_cpu_s", "validation_cpu_s"),
    *("structured_output_s", "structured_output_cpu_s", "function_calling_s", "function_calling_cpu_s"),
    *("memory_turn_cpu_s", "batch_task_cpu_s", "configuration_cpu_s"),
    *(f"{name}_1000_{unit}" for name in OWN_MEASURES for unit in ("s", "cpu_s")),
)
_RATES = ("throughput_per_s", "batch_per_s")
_BEHAVIOURS = ("validation_refused", "memory_kept", "configuration_refused")
METRICS = {
    **{name: Metric(name, "s", Direction.LOWER) for name in _SECONDS},
    **{name: Metric(name, "/s", Direction.HIGHER) for name in _RATES},
    **{name: Metric(name, "", Direction.HIGHER, machine_dependent=False) for name in _BEHAVIOURS},
}


class FrameworkSuite(Experiment):
    """Latency, streaming, validation, typed answers, tool calls, memory, batches and configuration of one framework.

    ``framework: agentdyno`` is the bench itself: evaluation, reward and engine, per 1,000 samples. Each benchmark is
    a flag, ``all`` stands for every one, and so does none. The model is scripted and has no latency, unless
    ``model_url`` names another (``model``: its name there), for which latency, throughput, streaming, batch and
    configuration are measured; ``stub`` takes the scripted one all the same.
    """

    metrics: ClassVar = METRICS

    def __init__(
        self,
        framework: str = "bare",
        latency: bool = False,
        throughput: bool = False,
        streaming: bool = False,
        validation: bool = False,
        structured_output: bool = False,
        function_calling: bool = False,
        memory: bool = False,
        batch: bool = False,
        configuration: bool = False,
        evaluation: bool = False,
        reward: bool = False,
        engine: bool = False,
        all: bool = False,
        stub: bool = False,
        model_url: str = "",
        model: str = "",
        environments: str = ENVIRONMENTS,
    ) -> None:
        flags = {
            **{"latency": latency, "throughput": throughput, "streaming": streaming, "validation": validation},
            **{"structured_output": structured_output, "function_calling": function_calling, "memory": memory},
            **{"batch": batch, "configuration": configuration},
            **{"evaluation": evaluation, "reward": reward, "engine": engine},
        }
        super().__init__({"framework": framework})
        check_framework(framework, (*SUBJECTS, OWN))
        if model_url and not model_url.startswith(("http://", "https://")):
            raise SpecError(f"no URL: {model_url!r}", where="params.model_url", remedy="Give http://HOST/v1.")
        offered = OWN_MEASURES if framework == OWN else MEASURES
        whole = all or not any(flags.values())
        self._chosen = [name for name in offered if whole or flags[name]]
        self._url, self._name = ("", "") if stub else (model_url, model)
        self._environments = environments
        self._measured: MeasuredFramework | None = None
        self._engine: OwnEngine | None = None

    def setup(self, context: ExperimentContext) -> None:
        """Starts what the chosen benchmarks need; an arm without any starts nothing."""
        if self.params["framework"] == OWN:
            self._engine = OwnEngine()
            return
        if not self._chosen:
            return
        model = None if self._url else ScriptedModel()
        url = self._url or (model.url if model else "")
        try:
            process = FrameworkProcess(self.params["framework"], self._environments, url, self._name)
        except BaseException:
            if model is not None:
                model.close()
            raise
        self._measured = MeasuredFramework(process, model)
        if model is not None and "validation" in self._chosen:
            self._measured.faulty = ScriptedModel("--faults", "wrong_arguments:1", "--fault-span", "1")
        context.observe(framework=process.version, python=process.facts["python"])

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        found: dict[str, float] = {}
        for name in self._chosen:
            if self._engine is not None:
                found |= OWN_MEASURES[name](self._engine)
            elif self._measured is not None:
                found |= MEASURES[name](self._measured)
        return found

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        measured = self._measured
        started = (measured.process, measured.model, measured.faulty) if measured else ()
        for one in (*started, self._engine):
            if one is not None:
                one.close()
