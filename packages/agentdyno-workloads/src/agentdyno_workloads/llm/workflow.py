"""What one agent does: read files, analyse them with a model, write a report with it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from agentdyno import ChatReply, RunError
from agentdyno_workloads.llm.serving import Serving

DOCUMENTS = Path(__file__).parent / "documents"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One answer of the model: seconds, and tokens a second while it was generating."""

    stage: str
    answer_s: float
    ttft_s: float | None
    tokens_per_s: float | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class Worked:
    """One agent's whole workflow. ``started_at`` and ``ended_at`` are of one clock for all agents."""

    agent: str
    started_at: float
    ended_at: float
    calls: tuple[ModelAnswer, ...]
    model: str = ""
    simulated: bool = False

    @property
    def took_s(self) -> float:
        return self.ended_at - self.started_at

    @property
    def ttft_s(self) -> float | None:
        """Mean over the calls."""
        return _mean([call.ttft_s for call in self.calls])

    @property
    def output_tokens(self) -> int:
        return sum(call.output_tokens or 0 for call in self.calls)

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens of all calls over the time of the whole workflow."""
        return self.output_tokens / self.took_s if self.output_tokens and self.took_s > 0 else None


async def work(name: str, serving: Serving, folder: Path) -> Worked:
    """Ingest, analyse, report."""
    began = time.perf_counter()
    text = ingest(folder)
    analysis, first = await _call(
        serving, "analysis", f"Name the two most urgent problems in these notes, one line each.\n\n{text}"
    )
    report, second = await _call(
        serving, "report", f"Write a report of three sentences for a manager from this analysis:\n\n{analysis.text}"
    )
    return Worked(
        name,
        began,
        time.perf_counter(),
        (first, second),
        report.model,
        analysis.simulated or report.simulated,
    )


def ingest(folder: Path) -> str:
    """Every text file of a folder, in the order of their names; none is an error."""
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise RunError("there is no .txt file to read", where=str(folder))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


async def _call(serving: Serving, stage: str, prompt: str) -> tuple[ChatReply, ModelAnswer]:
    began = time.perf_counter()
    reply = await serving.ask(prompt)
    took_s = time.perf_counter() - began
    if not (reply.text or reply.reasoning):
        raise AssertionError(f"the model answered nothing to the {stage}")
    call = ModelAnswer(
        stage,
        took_s,
        reply.readings.get("ttft_s"),
        reply.readings.get("tokens_per_s"),
        reply.usage.output_tokens if reply.usage is not None else None,
    )
    return reply, call


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
