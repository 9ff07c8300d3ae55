"""Commands that are timed side by side, each run in a process of its own."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.errors import SpecError
from agentdyno.model import Arm, Isolation, Iterations, Order, RunResult, RunWarning, Spec
from agentdyno.model.identity import experiment_arm_id
from agentdyno.model.spec import Entry
from agentdyno.runs.kind import Announced, Ended, KindWords, Prepared, RunRequest, Source, Tools
from agentdyno.settings.commands import SECONDS_PER_COMMAND

if TYPE_CHECKING:
    from agentdyno.contracts import StopRule
    from agentdyno.runner.executor import Executor
    from agentdyno.runner.executors.commands import CommandJob
    from agentdyno.runs.place import Place


@dataclass(frozen=True, slots=True)
class PreparedCommands:
    """``jobs`` and ``iterations`` by arm id."""

    jobs: Mapping[str, CommandJob]
    iterations: Mapping[str, Iterations]


class CommandsKind:
    """The kind of ``dyno time``. A request has no body: its spec holds the commands as parameters of its entries."""

    name = "commands"
    findings = ("arms",)
    continuable = False
    words = KindWords("runs")

    def read(self, source: Source, changes: Mapping[str, object]) -> RunRequest:
        from agentdyno.specs.commands.build import load_commands, parse_commands

        if source.path is not None:
            return RunRequest(self.name, load_commands(source.path, quick=source.quick, overrides=changes))
        return RunRequest(self.name, parse_commands({**(source.document or {}), **changes}))

    def again(self, header: RunResult, tools: Tools) -> RunRequest:  # noqa: ARG002
        return RunRequest(self.name, header.spec)

    @contextmanager
    def prepare(self, request: RunRequest, tools: Tools) -> Iterator[Prepared[PreparedCommands]]:  # noqa: ARG002
        from agentdyno.specs import make_plan

        spec = request.spec
        arms = [(_arm(entry), entry.iterations) for entry in spec.entries]
        # Every run has a process of its own, and none stays alive: all commands can take turns with each other.
        plan = make_plan(replace(spec, isolation=Isolation.INLINE), arms, ())
        plan = replace(plan, trials=tuple(replace(trial, process=trial.iteration) for trial in plan.trials))
        jobs = {arm.arm_id: _job(arm, entry, spec) for (arm, _), entry in zip(arms, spec.entries, strict=True)}
        yield Prepared(
            request=request,
            plan=plan,
            work=PreparedCommands(jobs, {arm.arm_id: iterations for arm, iterations in arms}),
            warnings=_warnings(spec),
            announced=Announced(_announcement(spec), len(plan.trials)),
        )

    def executor(self, prepared: Prepared[PreparedCommands], place: Place) -> Executor:  # noqa: ARG002
        from agentdyno.runner.executors.commands import CommandExecutor

        return CommandExecutor(prepared.work.jobs, interleaved=prepared.spec.order is Order.INTERLEAVED)

    def rules(
        self,
        prepared: Prepared[PreparedCommands],
        executor: Executor,  # noqa: ARG002
        tools: Tools,  # noqa: ARG002
        given_up: Callable[[str], bool],  # noqa: ARG002
    ) -> list[StopRule]:
        from agentdyno.runner.rules.stopping import TimeGiven

        autos = {arm_id: item.auto for arm_id, item in prepared.work.iterations.items() if item.auto is not None}
        together = prepared.spec.order is Order.INTERLEAVED
        return [TimeGiven(autos, SECONDS_PER_COMMAND, together)] if autos else []

    def close(self, header: RunResult, prepared: Prepared[PreparedCommands], ended: Ended) -> RunResult:  # noqa: ARG002
        from agentdyno.runner.rules.stopping import TimeGiven
        from agentdyno.runs.closing import close_result

        settled = {arm_id for rule in ended.rules if isinstance(rule, TimeGiven) for arm_id in rule.settled}
        closed = close_result(
            ended.whole(header), metrics={}, observed=ended.facts.observed, folder=ended.folder, settled=settled
        )
        return replace(closed, warnings=tuple(map(_in_our_words, closed.warnings)))


def _arm(entry: Entry) -> Arm:
    return Arm(experiment_arm_id(entry.experiment, entry.params), entry.name, entry.experiment, dict(entry.params))


def _job(arm: Arm, entry: Entry, spec: Spec) -> CommandJob:
    from agentdyno.runner.executors.commands import CommandJob
    from agentdyno.specs.commands.build import NO_SHELL, argv_of

    params, shell = entry.params, str(entry.params["shell"])
    argv = argv_of(str(params["command"]), shell)
    if not argv:
        raise SpecError("a command without anything in it", where=spec.source)

    def around(name: str) -> tuple[str, ...] | None:
        """What surrounds a command is read by a shell in any case: it is not timed."""
        text = params.get(name)
        return None if not text else (*(shlex.split(shell) if shell != NO_SHELL else ["sh"]), "-c", str(text))

    output = params.get("output")
    return CommandJob(
        arm_id=arm.arm_id,
        label=entry.name,
        argv=tuple(argv),
        prepare=around("prepare"),
        setup=around("setup"),
        cleanup=around("cleanup"),
        shell=None if shell == NO_SHELL else (*shlex.split(shell), "-c", ""),
        warmup=entry.iterations.warmup,
        ignore_failure=bool(params.get("ignore_failure")),
        input=_path(params.get("input"), spec),
        output=None if output == "inherit" else _path(output, spec),
        shown=output == "inherit",
        timeout_s=spec.limits.timeout_s,
    )


def _path(value: object, spec: Spec) -> str | None:
    return None if value is None else str(Path(spec.base_dir) / str(value))


def _warnings(spec: Spec) -> tuple[RunWarning, ...]:
    if len({entry.params.get("setup") for entry in spec.entries}) < 2:
        return ()
    return (
        RunWarning(
            "setups-differ",
            "each command has a setup of its own, so they were timed one after the other: drift of the machine may "
            "look like a difference",
            "What each run needs can be done by --prepare instead; the commands then take turns.",
        ),
    )


def _in_our_words(warning: RunWarning) -> RunWarning:
    """A remedy with the options of ``dyno time``."""
    if warning.code == "few-samples":
        return replace(warning, remedy="Measure at least 6: --runs 10.")
    return replace(
        warning, remedy=warning.remedy.replace("iterations.warmup", "--warmup").replace("iterations", "runs")
    )


def _announcement(spec: Spec) -> str:
    count = len(spec.entries)
    iterations = spec.entries[0].iterations
    runs = f"{iterations.measured} runs each"
    if iterations.auto is not None:
        runs = f"{iterations.auto.minimum} to {iterations.auto.maximum:,} runs each"
    order = ", taking turns" if count > 1 and spec.order is Order.INTERLEAVED else ""
    return f"{count} command{'s' * (count > 1)}, {runs}{order}"
