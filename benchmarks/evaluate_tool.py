"""One tool putting N cases to an agent that does nothing, in a process of its own: seconds, CPU and peak memory."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path


def echo(text: str) -> str:
    return text


def with_dyno(count: int, folder: Path) -> Callable[[], object]:
    from agentdyno import Benchmark, Case, Suite, evaluate

    cases = tuple(Case(f"case-{i}", f"text {i}", f"text {i}") for i in range(count))
    suite = Suite("overhead", (Benchmark("echo", cases),), epochs=1, warmup=0)
    return lambda: evaluate(suite, agents=[echo], store=str(folder / "dyno.db"))


def with_inspect(count: int, folder: Path) -> Callable[[], object]:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import exact
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    @solver
    def noop() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
            state.output = ModelOutput.from_content("none", echo(state.input_text))
            return state

        return solve

    samples = [Sample(id=f"case-{i}", input=f"text {i}", target=f"text {i}") for i in range(count)]
    task = Task(dataset=MemoryDataset(samples), solver=noop(), scorer=exact())

    def work() -> None:
        (log,) = eval(task, model="mockllm/model", display="none", log_dir=str(folder / "logs"))
        assert log.status == "success", log.error  # it returns what failed as well

    return work


def with_pydantic_evals(count: int, _folder: Path) -> Callable[[], object]:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected

    cases = [Case(name=f"case-{i}", inputs=f"text {i}", expected_output=f"text {i}") for i in range(count)]
    dataset = Dataset(name="overhead", cases=cases, evaluators=[EqualsExpected()])
    return lambda: dataset.evaluate_sync(echo, progress=False)


TOOLS = {"dyno": with_dyno, "inspect_ai": with_inspect, "pydantic_evals": with_pydantic_evals}


def main() -> None:
    tool, count, folder, out = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
    TOOLS[tool](20, folder)()  # what is loaded once is not a cost per case
    work = TOOLS[tool](count, folder)
    started, cpu = time.perf_counter(), time.process_time()
    work()
    figures = {
        "wall_s": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    out.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
