"""What the suite measures of a framework: each function is one benchmark, and returns its readings by name.

Answers are checked, because a framework that fails fast is not fast. What a framework does not offer has no reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from agentdyno import RunError
from agentdyno_workloads.frameworks.framework_process import FrameworkProcess, ScriptedModel

TASKS = 10
"""Tasks in a row that throughput is measured on, and agents that are built."""
BATCH, AT_ONCE = 20, 10
TURNS = 10
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
PLAIN = f"repeat as final answer: {WORDS} number"
"""What the scripted model repeats; smolagents gives an answer by calling a tool, which has to be named."""


@dataclass
class MeasuredFramework:
    """A framework at work, and the models that it asks: ``faulty`` breaks the first tool call after a reset.

    ``scripted`` says whether the model is ours, so that its answers are known.
    """

    process: FrameworkProcess
    model: ScriptedModel | None
    faulty: ScriptedModel | None = None
    numbers: Any = field(default_factory=count)

    @property
    def scripted(self) -> bool:
        return self.model is not None

    def plain(self) -> str:
        return f"{PLAIN} {next(self.numbers)}"

    def check(self, text: str, told: dict[str, Any], expected: str | None = None) -> None:
        """Raises ``RunError`` where the answer is not the one that the script leads to."""
        answer = told["answer"]
        if not self.scripted:
            right = isinstance(answer, str) and bool(answer.strip())
        else:
            right = answer == expected if expected is not None else isinstance(answer, str) and text in answer
        if not right:
            what = told.get("error") or f"answered {str(answer)[:200]!r}"
            raise RunError(f"{self.process.framework}: {what}", where=text)


def latency(measured: MeasuredFramework) -> dict[str, float]:
    text = measured.plain()
    told = measured.process.ask("tasks", text)
    measured.check(text, told["told"][0])
    return {"latency_s": told["wall_s"], "latency_cpu_s": told["cpu_s"]}


def throughput(measured: MeasuredFramework) -> dict[str, float]:
    texts = [measured.plain() for _ in range(TASKS)]
    told = measured.process.ask("tasks", *texts)
    for text, one in zip(texts, told["told"], strict=True):
        measured.check(text, one)
    return {"throughput_per_s": TASKS / told["wall_s"]}


def streaming(measured: MeasuredFramework) -> dict[str, float]:
    text = measured.plain()
    told = measured.process.ask("streams", text)
    if not told["told"]:
        return {}
    (one,) = told["told"]
    measured.check(text, one)
    found = {
        "streaming_s": told["wall_s"],
        "streaming_cpu_s": told["cpu_s"],
        "streaming_pieces": float(one["deltas"]),
    }
    return found if one["first_s"] is None else found | {"streaming_first_s": one["first_s"]}


def validation(measured: MeasuredFramework) -> dict[str, float]:
    """A tool call with arguments of wrong types: what it costs, and whether they reach the tool."""
    faulty, model = measured.faulty, measured.model
    if faulty is None or model is None:
        return {}
    faulty.reset()
    measured.process.use(faulty.url)
    told = measured.process.ask("tasks", f"please add {next(measured.numbers)} and 4")
    measured.process.use(model.url)
    return {"validation_cpu_s": told["cpu_s"], "validation_refused": float(not told["wrong_calls"])}


def structured_output(measured: MeasuredFramework) -> dict[str, float]:
    if not measured.scripted:
        return {}
    number = next(measured.numbers)
    text = f"the Sum of {number} and 4 as final result"
    told = measured.process.ask("structured", text)
    if not told["told"]:
        return {}
    measured.check(text, told["told"][0] | {"answer": str(told["told"][0]["answer"])}, str({"a": number, "b": 4}))
    return {"structured_output_s": told["wall_s"], "structured_output_cpu_s": told["cpu_s"]}


def function_calling(measured: MeasuredFramework) -> dict[str, float]:
    if not measured.scripted:
        return {}
    number = next(measured.numbers)
    text = f"please add {number} and 4"
    told = measured.process.ask("tasks", text)
    measured.check(text, told["told"][0], str(number + 4))
    return {"function_calling_s": told["wall_s"], "function_calling_cpu_s": told["cpu_s"]}


def memory(measured: MeasuredFramework) -> dict[str, float]:
    """A conversation; the model's log shows whether the last request still had its first turn."""
    if measured.model is None:
        return {}
    texts = [measured.plain() for _ in range(TURNS)]
    measured.model.reset()
    told = measured.process.ask("conversation", *texts)
    if not told["told"]:
        return {}
    measured.check(texts[-1], told["told"][0])
    last = measured.model.requests()[-1]["input_tokens"]
    said = sum(len(text.split()) for text in texts)
    return {"memory_turn_cpu_s": told["cpu_s"] / TURNS, "memory_kept": float(last >= said)}


def batch(measured: MeasuredFramework) -> dict[str, float]:
    texts = [measured.plain() for _ in range(BATCH)]
    told = measured.process.ask("tasks", *texts, at_once=AT_ONCE)
    for text, one in zip(texts, told["told"], strict=True):
        measured.check(text, one)
    return {"batch_per_s": BATCH / told["wall_s"], "batch_task_cpu_s": told["cpu_s"] / BATCH}


def configuration(measured: MeasuredFramework) -> dict[str, float]:
    """Agents built anew, and one with a number for a tool."""
    told = measured.process.ask("builds", *([""] * TASKS))
    for one in told["told"]:
        measured.check("build", one, "made" if measured.scripted else None)
    refused = measured.process.ask("build_wrong")["told"][0]["answer"] is None
    return {"configuration_cpu_s": told["cpu_s"] / TASKS, "configuration_refused": float(refused)}


MEASURES: dict[str, Callable[[MeasuredFramework], dict[str, float]]] = {
    "latency": latency,
    "throughput": throughput,
    "streaming": streaming,
    "validation": validation,
    "structured_output": structured_output,
    "function_calling": function_calling,
    "memory": memory,
    "batch": batch,
    "configuration": configuration,
}
