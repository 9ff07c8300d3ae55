"""Writes docs/results/polyglot.md from stored runs; every figure in it belongs to a run that is named.

``python -m agentdyno_workloads.polyglot.page [--store URL] [--output FILE] [RUN ...]``
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentdyno import RunError, RunResult
from agentdyno_workloads.llm.report import Configuration, configurations
from agentdyno_workloads.pages import day_of, newest_runs, write_page
from agentdyno_workloads.polyglot.judging import language_rows
from agentdyno_workloads.polyglot.published import PUBLISHED, printed_efficiency, tokens_per_s
from agentdyno_workloads.polyglot.report import language_lines
from agentdyno_workloads.polyglot.words import NAMES, shown

PAGE = Path("docs") / "results" / "polyglot.md"
SPECS = ("single", "multi", "runtimes")
OF_RUNTIMES = ("tokens_per_s", "cpu_per_token_s", "peak_rss_bytes", "start_s", "speedup", "efficiency")


def find_runs(references: Sequence[str], store: str | None) -> dict[str, RunResult]:
    """The runs given, or the newest complete one of each spec in the store."""
    found = newest_runs(references, store, SPECS, lambda run: run.spec is not None and "polyglot" in run.tags)
    if not found:
        raise RunError("no complete run", where=store, remedy="`dyno run workload:polyglot/single`.")
    return found


def page(runs: Mapping[str, RunResult]) -> Iterator[str]:
    environment = next(iter(runs.values())).environment
    yield "# Python and Rust on the same model\n"
    yield (
        "One agent, written twice: it reads documents, has a model analyse them and has it write a report. The\n"
        "programs send the same bytes to their model; times, tokens, CPU and memory are taken by the bench and its\n"
        "proxy. The model is the bundled SmolLM2; `zero_latency` is a simulated server that answers at once, so\n"
        "what differs there is the client's. `make results` renews this page; the [guide](../guides/polyglot.md)\n"
        "explains it.\n"
    )
    yield f"Machine: {environment.cpu_count} CPUs ({environment.cpu_model}), Python {environment.python}.\n"
    for name, title in (("single", "One agent"), ("multi", "Two agents")):
        if name in runs:
            yield f"## {title}\n"
            yield made_by(runs[name])
            yield "\n".join(language_lines(language_rows(runs[name]))[2:]) + "\n"
    if "runtimes" in runs:
        yield "## Five runtimes\n"
        yield made_by(runs["runtimes"])
        yield "\n".join(runtime_lines(configurations(runs["runtimes"]))) + "\n"
    yield "\n".join(published_lines())


def made_by(run: RunResult) -> str:
    noted = "\n".join(["The run warns:\n", *warning_lines(run), ""]) if run.warnings else ""
    phases = {arm.entry for arm in run.arms}
    only = f" --only {phases.pop()}" if len(phases) == 1 else ""
    most = max((len(arm.samples) for arm in run.arms), default=0)
    command = f"dyno run workload:polyglot/{run.name}{only} --iterations {most}"
    return f"Run `{run.run_id}`, {day_of(run)}: `{command}`.\n\n{noted}"


def warning_lines(run: RunResult) -> Iterator[str]:
    """One line for each kind of warning: the first of it, and how many other arms have it."""
    names = {arm.arm_id: f"{arm.name}: " for arm in run.arms}
    for code in dict.fromkeys(warning.code for warning in run.warnings):
        first, *others = [warning for warning in run.warnings if warning.code == code]
        more = f" (and {len(others)} other arms alike)" if others else ""
        yield f"- {names.get(first.arm_id or '', '')}{first.message}{more}"


def runtime_lines(found: Sequence[Configuration]) -> Iterator[str]:
    """One table for each phase and number of agents: medians, and 95 % intervals of tokens a second."""
    for phase, agents in dict.fromkeys((item.phase, item.params.get("agents")) for item in found):
        own = [item for item in found if (item.phase, item.params.get("agents")) == (phase, agents)]
        yield f"### {phase}: {agents} agents\n"
        yield f"| runtime | {' | '.join(NAMES[name] for name in OF_RUNTIMES)} | 95 % of tokens a second |"
        yield f"|---|{'---|' * len(OF_RUNTIMES)}---|"
        for item in own:
            known = [item.figures.get(name) for name in OF_RUNTIMES]
            cells = [
                shown(name, one.median) if one is not None else "-"
                for name, one in zip(OF_RUNTIMES, known, strict=True)
            ]
            rate = known[0].interval if known[0] is not None else None
            ends = "-" if rate is None else f"{shown(OF_RUNTIMES[0], rate[0])} to {shown(OF_RUNTIMES[0], rate[1])}"
            yield f"| {item.params['runtime']} | {' | '.join(cells)} | {ends} |"
        yield f"\n{_overlap(own)}\n"


def _overlap(own: Sequence[Configuration]) -> str:
    """Whether any two runtimes differ in tokens a second by more than their intervals."""
    ends = [item.figures["tokens_per_s"].interval for item in own if "tokens_per_s" in item.figures]
    known = [item for item in ends if item is not None]
    if len(known) < 2:
        return "Too few runs to tell runtimes apart."
    if max(low for low, _ in known) <= min(high for _, high in known):
        return "All intervals of tokens a second overlap: the runtimes cannot be told apart here."
    return "Some intervals of tokens a second do not overlap; differences between those that do are not shown."


def published_lines() -> Iterator[str]:
    yield "## Published figures, scored again\n"
    yield (
        "A published comparison of the same five runtimes (Chimeraforge, TR115) ranks them by parallel efficiency\n"
        "and advises against async-std. Scored by tokens over wall time, its own files of thirty runs each invert\n"
        "the ranking:\n"
    )
    yield "| runtime | printed efficiency | tokens a second |\n|---|---|---|"
    for runtime in PUBLISHED:
        yield f"| {runtime} | {printed_efficiency(runtime):.1f} % | {tokens_per_s(runtime):.1f} |"
    yield (
        "\nThe efficiency there compares the concurrent time with the sum of the agents' times *in the same\n"
        "concurrent turn*. Agents that slow each other down raise it; agents that wait for each other keep their\n"
        "speed, and have 50 %. Here the sequential turn is measured, and a runtime is judged by what it gets done\n"
        "in a second.\n"
    )


def main() -> None:
    write_page(__doc__, PAGE, lambda references, store: page(find_runs(references, store)))


if __name__ == "__main__":
    main()
