"""One model, one question at a time: throughput, time to first token, where the time goes, what it uses."""

from __future__ import annotations

from typing import Any, ClassVar

from agentdyno import Direction, Experiment, ExperimentContext, Metric, ServerWatch
from agentdyno_workloads.llm.serving import Serving, ask_once, choose, options_by_name

PROMPT = (
    "You are given the notes of a week of work on a benchmark suite. Say in a few sentences what was slow, what was "
    "wrong and what should be done first. Notes: the index was rebuilt on every query; two runs used the same seed; "
    "the report rounded times to whole seconds; a timeout was counted as a wrong answer."
)

METRICS = {
    metric.name: metric
    for metric in (
        Metric("tokens_per_s", "/s", Direction.HIGHER),
        Metric("ttft_s", "s", Direction.LOWER),
        Metric("itl_s", "s", Direction.LOWER),
        Metric("prompt_eval_s", "s", Direction.LOWER),
        Metric("eval_s", "s", Direction.LOWER),
        Metric("load_s", "s", Direction.LOWER),
        Metric("answer_s", "s", Direction.LOWER),
        Metric("server_rss_bytes", "bytes", Direction.LOWER),
        Metric("server_cpu", "", Direction.UNKNOWN),
        Metric("gpu_memory_bytes", "bytes", Direction.LOWER),
        Metric("gpu_utilisation", "ratio", Direction.UNKNOWN),
    )
}
_OF_THE_SERVER = {
    "server.prompt_eval_s": "prompt_eval_s",
    "server.eval_s": "eval_s",
    "server.load_s": "load_s",
}


class SingleAgent(Experiment):
    """One model asked one question at a time; options of Ollama and llama.cpp as parameters, warm or cold."""

    metrics: ClassVar = METRICS

    def __init__(
        self,
        agent: str = "local",
        url: str = "",
        api_key_env: str = "",
        num_gpu: int | None = None,
        num_ctx: int | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        repeat_penalty: float | None = None,
        cold: bool = False,
        max_tokens: int = 64,
        prompt: str = "",
    ) -> None:
        given = options_by_name(num_gpu, num_ctx, temperature, top_p, top_k, repeat_penalty)
        super().__init__({"agent": agent, "cold": cold, **given})
        self.question = prompt or PROMPT
        options = {name: value for name, value in given.items() if value is not None}
        self.serving = Serving(choose(agent, url, api_key_env), options, max_tokens=max_tokens)
        self.fresh = False

    def setup(self, context: ExperimentContext) -> None:
        """Starts a local server; a cold run drops the model here, where no clock runs."""
        self.serving.open()
        self.watch = ServerWatch(self.serving.url, pid=self.serving.pid)
        if self.params["cold"]:
            self.serving.unload()
            self.watch = ServerWatch(self.serving.url, pid=self.serving.pid)
            self.fresh = True
        context.observe(cold=self.params["cold"])

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        """One answer. Its own times are in the returned figures; ``duration_s`` is that of the whole call."""
        if self.params["cold"] and not self.fresh:
            self.serving.unload()
            self.watch = ServerWatch(self.serving.url, pid=self.serving.pid)
        self.fresh = False
        with self.watch as watching:
            reply, answer_s = ask_once(self.serving, self.question)
        if not (reply.text or reply.reasoning):
            raise AssertionError("the model answered nothing")
        confirmed = self.serving.observed()
        context.observe(
            model=reply.model,
            **confirmed,
            requested={name: value for name, value in self.serving.options.items() if name not in confirmed},
            simulated=reply.simulated,
        )
        readings = reply.readings
        own = ("ttft_s", "itl_s", "tokens_per_s")
        figures: dict[str, Any] = {name: readings[name] for name in own if name in readings}
        figures |= {ours: readings[theirs] for theirs, ours in _OF_THE_SERVER.items() if theirs in readings}
        if self.params["cold"] and self.serving.start_s is not None and "load_s" not in figures:
            figures["load_s"] = self.serving.start_s
        figures["answer_s"] = answer_s
        if reply.usage is not None:
            figures |= {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
        figures |= watching.figures()
        return figures

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.serving.close()
