"""``BenchmarkRunner``: one prompt to several models, several times, with files that hold all that came of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from agentdyno.errors import DynoError
from agentdyno.model import AgentUse, Benchmark, Case, Rubric, RunResult, ScorerUse, Suite
from agentdyno.model.codec import to_plain
from agentdyno.registry.installed import installed, load
from agentdyno.specs import load_workspace
from agentdyno.workbench.asking import compare_agents
from agentdyno.workbench.evaluate import aevaluate
from agentdyno.workflows.metrics import BenchmarkMetrics
from agentdyno.workflows.models import check_models, model_agent, same_models
from agentdyno.workflows.visualizer import BenchmarkVisualizer

TASKS = "workflows"
"""The data set whose cases are known by name."""
_ENOUGH = 40
"""Characters of a prompt that tell which task it is."""


class BenchmarkRunner:
    """Runs workflow prompts. Results go to a folder of their own below ``output_dir`` and, like every run, into the
    project's store, where ``dyno board``, ``compare`` and ``history`` find them.

    ``fault`` is injected into each execution, so that the second start shows what smart resume is worth: a kill at
    the step in the middle unless another is named; ``None`` for none. ``config`` is for every agent: ``repairs``,
    ``parallel``, ``quota_mb`` and options of the planner.
    """

    def __init__(
        self,
        output_dir: str | os.PathLike[str] = "benchmarks",
        *,
        fault: Mapping[str, object] | str | None = "kill",
        config: Mapping[str, object] | None = None,
        store: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._output_dir = Path(output_dir)
        self._config = {**({} if fault is None else {"fault": fault}), **(config or {})}
        self._store = store
        self._environ = os.environ if environ is None else environ

    async def run_benchmark(
        self, prompt: str, models: Sequence[str], repetitions: int = 1, description: str = ""
    ) -> dict[str, object]:
        """Puts ``prompt`` to every model ``repetitions`` times and writes the files.

        ``prompt`` is the name of a task, the beginning of a task's prompt, or free text. Free text has an empty
        working folder and no check: executions are measured and success stays unknown, which ``notes`` says.

        Returns ``benchmark_id``, ``benchmark_dir``, ``run_id``, ``summary``, ``visualizations``, ``files``, ``notes``
        and ``refused``: why models cannot be compared, where two names turned out to be one model.
        """
        check_models(models)
        case, notes = task_for(prompt)
        workspace = load_workspace(Path.cwd())
        uses = [model_agent(model, workspace, self._config, self._environ) for model in models]
        rubric = Rubric((ScorerUse("final_state"),))
        suite = Suite(
            "Workflow benchmark",
            (Benchmark(case.id, (case,), benchmark_id=case.id, rubric=rubric, description=description),),
            suite_id=f"workflow-{case.id}",
            description=description,
            warmup=0,
            epochs=repetitions,
            base_dir=str(Path.cwd()),
        )
        began = time.gmtime()
        result = await aevaluate(suite, uses, store=self._store, epochs=repetitions, warmup=0, notes=description)
        written = _Written(self._output_dir, result, began)
        refused = list(same_models(result))
        names = {use.name: model for use, model in zip(uses, models, strict=True)}
        metrics = BenchmarkMetrics(result, names)
        about: dict[str, object] = {
            "prompt": prompt,
            "task": case.id if case.metadata else None,
            "has_check": bool(case.metadata),
            "models": list(models),
            "repetitions": repetitions,
            "description": description,
            "config": self._config,
            "notes": notes,
        }
        return written.everything(about, metrics, refused, self._comparisons(uses, refused))

    def _comparisons(self, uses: Sequence[AgentUse], refused: Sequence[str]) -> object:
        """What the bench says of each against the first, as everywhere; why not, where it says nothing."""
        if refused:
            return {"refused": list(refused)}
        found: dict[str, object] = {}
        for use in uses[1:]:
            try:
                found[f"{uses[0].name} / {use.name}"] = to_plain(
                    compare_agents(uses[0].name, use.name, store=self._store)
                )
            except DynoError as error:
                found[f"{uses[0].name} / {use.name}"] = {"not_compared": error.message}
        return found


def task_for(prompt: str) -> tuple[Case, list[str]]:
    """The task that a prompt names or begins, else a case of its own; and what there is to say about that."""
    text = prompt.strip()
    for row in _tasks():
        case_id, asked = str(row["id"]), str(row["input"])
        if text == case_id or (len(text) >= _ENOUGH and asked.startswith(text)):
            metadata = row["metadata"]
            assert isinstance(metadata, Mapping)
            note = f"The prompt is that of the task {case_id}: its data and its check are used."
            return Case(case_id, asked, metadata=metadata), [note]
    return Case("free-prompt", text), ["A free prompt has no data and no check: success is unknown."]


def _tasks() -> Iterable[Mapping[str, object]]:
    if TASKS not in installed("datasets"):
        return ()
    cases: Callable[[], Iterable[Mapping[str, object]]] = load("datasets", TASKS)
    return cases()


class _Written:
    """The folder of one benchmark."""

    def __init__(self, root: Path, result: RunResult, began: time.struct_time) -> None:
        self._result = result
        self._id = f"{time.strftime('%Y%m%d_%H%M%S', began)}_{result.run_id[:8]}{result.run_id[9:13]}"
        self._folder = root / f"benchmark_{self._id}"
        self._folder.mkdir(parents=True, exist_ok=True)

    def everything(
        self, about: Mapping[str, object], metrics: BenchmarkMetrics, refused: Sequence[str], comparisons: object
    ) -> dict[str, object]:
        result, summary = self._result, metrics.summary()
        pictures = BenchmarkVisualizer(metrics.rows, summary).create(self._folder, self._id)
        metadata = {
            "benchmark_id": self._id,
            "run_id": result.run_id,
            "started_at": result.started_at,
            "finished_at": result.finished_at,
            **about,
            "models_answered": {model: row["models_answered"] for model, row in summary.items()},
            "sandbox": sorted(
                {str(arm.observed.get("sandbox")) for arm in result.arms if arm.observed.get("sandbox")}
            ),
            "environment": to_plain(result.environment),
        }
        files = {
            "metadata": self._json("metadata", metadata),
            "results": self._json("results", metrics.rows),
            "summary": self._json(
                "summary", {"models": summary, "comparisons": comparisons, "refused": list(refused)}
            ),
            "visualizations": self._json("visualizations", pictures),
            "data": str(metrics.write_csv(self._folder / f"data_{self._id}.csv")),
        }
        return {
            "benchmark_id": self._id,
            "benchmark_dir": str(self._folder),
            "run_id": result.run_id,
            "summary": summary,
            "visualizations": pictures,
            "files": files,
            "notes": about["notes"],
            "refused": list(refused),
        }

    def _json(self, name: str, value: object) -> str:
        path = self._folder / f"{name}_{self._id}.json"
        path.write_text(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")
        return str(path)
