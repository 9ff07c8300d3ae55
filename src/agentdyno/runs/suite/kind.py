"""Suites: every case is put to every agent, and answers are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.errors import RunError
from agentdyno.model import Plan, RunResult, Sample, Side, Suite
from agentdyno.runs.kind import (
    Announced,
    Ended,
    HeaderParts,
    KindWords,
    Prepared,
    RunRequest,
    Source,
    Tools,
    is_remote,
)

if TYPE_CHECKING:
    from agentdyno.contracts import StopRule
    from agentdyno.runner.executor import Executor
    from agentdyno.runner.farm.driver import Farm
    from agentdyno.runs.place import Place
    from agentdyno.runs.suite.prepare import PreparedSuite


def _changed(header: RunResult, plan: Plan) -> RunError | None:
    planned = {arm.arm_id: arm.agent or "" for arm in plan.arms}
    known = {arm.arm_id: arm.agent or "" for arm in header.arms}
    if planned.keys() == known.keys():
        return None
    changed = sorted({agent for arm_id, agent in known.items() if arm_id not in planned})
    now = sorted({agent for arm_id, agent in planned.items() if arm_id not in known})
    return RunError(
        f"agents have changed since: {', '.join(changed)} would now be {', '.join(now) or 'missing'}",
        where=f"run {header.run_id[:13]}",
        remedy="Start a new run; the answers of the old one stay as they are.",
    )


class SuiteKind:
    """The kind of suites. The body of a request is a ``SuiteBody``."""

    name = "suite"
    findings = ("standing",)
    continuable = True
    words = KindWords("calls", _changed)

    def read(self, source: Source, changes: Mapping[str, object]) -> RunRequest:
        from agentdyno.runs.suite.prepare import suite_request
        from agentdyno.specs import load_suite, parse_suite, suite_changes

        given = dict(changes)
        against, until_decided = given.pop("against", None), bool(given.pop("until_decided", False))
        bands = bool(given.pop("bands", False))
        overrides = suite_changes(**given)
        if source.path is not None:
            loaded = load_suite(source.path, quick=source.quick, overrides=overrides)
        else:
            where = {"source": "suite", "base_dir": Path.cwd(), "quick": source.quick}
            loaded = parse_suite(source.document or {}, overrides=overrides, **where)  # type: ignore[arg-type]
        if bands:
            loaded = replace(loaded, settings=replace(loaded.settings, bands=loaded.settings.bands or {}))
        return suite_request(loaded, against=str(against) if against else None, until_decided=until_decided)

    def again(self, header: RunResult, tools: Tools) -> RunRequest:  # noqa: ARG002
        """With the agents as they were: another version would be another arm."""
        from agentdyno.runs.suite.prepare import SuiteBody
        from agentdyno.runs.suite.recording import unrecorded

        suite = header.suite
        assert suite is not None, "a run of this kind has a suite"
        _refuse_functions(header, suite)
        if header.form is None or not header.form.proxied:
            suite = unrecorded(suite)
        if header.spec.against is not None:  # the baselines, which come first, are found again
            candidates = {arm.agent for arm in header.arms if arm.side is Side.CANDIDATE}
            suite = replace(suite, agents=suite.agents[-len(candidates) :])
        return RunRequest(self.name, header.spec, SuiteBody(suite, header.pricing, header.form))

    @contextmanager
    def prepare(self, request: RunRequest, tools: Tools) -> Iterator[Prepared[PreparedSuite]]:
        from agentdyno.runs.suite.broken import EarlyWarning
        from agentdyno.runs.suite.closing import Collected
        from agentdyno.runs.suite.prepare import preparing

        early = EarlyWarning(tools.say)
        with preparing(request, tools) as ready:
            benchmarks = {arm.arm_id: arm.benchmark or "" for arm in ready.plan.arms}
            collected = Collected(ready.suite, benchmarks, len(ready.plan.trials))

            def take(sample: Sample) -> None:
                collected.add(sample)
                early.add(sample)

            yield Prepared(
                request=replace(request, spec=ready.settings),
                plan=ready.plan,
                work=replace(ready, collected=collected),
                parts=HeaderParts(
                    suite=ready.suite,
                    targets=ready.targets,
                    pricing=ready.rates,
                    workspace=ready.workspace.name,
                    code_dir=ready.suite.base_dir,
                    form=ready.form,
                ),
                warnings=ready.warnings,
                announced=Announced("", ready.calls, ready.expected_usd, ready.expected.unpriced),
                parallelism=ready.conduct.concurrency,
                shares_commits=True,
                on_sample=take,
            )

    def executor(self, prepared: Prepared[PreparedSuite], place: Place) -> Executor:
        from agentdyno.runner.executors.cases import CaseExecutor

        if not _is_shared(prepared):  # what is read there says nothing of the standards of this host
            prepared.work.share_references()
        names = {arm.arm_id: arm.name for arm in prepared.plan.arms}
        work = prepared.work
        if work.tracing is not None:
            work.tracing.folder = place.folder
        conduct = replace(work.conduct, folder=place.folder / "cases", pauses=place.pauses)
        if _is_shared(prepared):
            from agentdyno.runner.farm.cases import FarmCaseExecutor

            return FarmCaseExecutor(_farm(prepared, place), work.jobs, conduct, names, work.judges, place.say)
        return CaseExecutor(work.jobs, conduct, names, work.judges, work.traced)

    def rules(
        self,
        prepared: Prepared[PreparedSuite],
        executor: Executor,
        tools: Tools,
        given_up: Callable[[str], bool],
    ) -> list[StopRule]:
        work, limits, facts = prepared.work, prepared.work.suite.constraints, executor.facts
        rules: list[StopRule] = []
        dollars = [value for value in (tools.choices.max_cost_usd, limits.cost_limit_usd) if value is not None]
        if dollars:
            from agentdyno.runner.rules.budgets import cost_limit

            rules.append(cost_limit(min(dollars), work.expected.usd_per_call, lambda: facts.extra_usd))
        if limits.token_limit is not None:
            from agentdyno.runner.rules.budgets import token_limit

            rules.append(token_limit(limits.token_limit))
        if limits.time_limit_s is not None:
            from agentdyno.runner.rules.stopping import TimeBudget

            rules.append(TimeBudget(limits.time_limit_s, tools.clock))
        if prepared.spec.until_decided:
            from agentdyno.runner.rules.deciding import UntilDecided

            rules.append(UntilDecided.of(work.suite, prepared.plan, given_up=given_up))
        if _is_shared(prepared):
            from agentdyno.runner.farm.cases import FarmCaseExecutor

            assert isinstance(executor, FarmCaseExecutor), "made above"
            rules.append(executor.timing)
        return [*rules, *tools.choices.rules]

    def close(self, header: RunResult, prepared: Prepared[PreparedSuite], ended: Ended) -> RunResult:
        from agentdyno.runs.suite.closing import close_run

        work, reason = prepared.work, header.stopped_because
        if prepared.spec.until_decided:
            reason = _with_saving(reason, ended.rules)
        pricing = {**work.rates, **work.prices.snapshot(), "warmup_usd": ended.facts.extra_usd}
        if work.tracing is not None:
            work.tracing.close()
            header = replace(header, warnings=(*header.warnings, *work.tracing.warnings()))
        return close_run(
            ended.store,
            replace(
                header,
                stopped_because=reason,
                pricing=pricing,
                warnings=(*header.warnings, *work.recording.warnings()),
            ),
            observed=work.observed(ended.facts.observed),
            collected=None if ended.resumed else work.collected,
            baselines=work.baselines,
        )


def _is_shared(prepared: Prepared[PreparedSuite]) -> bool:
    """Whether other machines answer cases."""
    return prepared.work.share is not None or is_remote(prepared.spec.executor)


def _farm(prepared: Prepared[PreparedSuite], place: Place) -> Farm:
    from agentdyno.runs.suite.ordering import suite_order

    order, files = suite_order(prepared.work, place.run_id)
    if prepared.work.share is not None:
        return prepared.work.share(order)
    from agentdyno.runs.cluster.ray_farm import RayFarm

    return RayFarm(prepared.spec.executor, order, files, place.say)


def _refuse_functions(header: RunResult, suite: Suite) -> None:
    from agentdyno.runs.lineup import IN_PROCESS

    here = [use for use in suite.agents if use.uses.startswith(IN_PROCESS)]
    if here:
        raise RunError(
            f"{here[0].name} is a function of the program that started the run",
            where=f"run {header.run_id[:13]}",
            remedy="Only that program can go on: put the function into a file and name it file.py@function.",
        )


def _with_saving(reason: str | None, rules: Sequence[StopRule]) -> str | None:
    """Why the run ended, with the calls that were saved where a decision ended it."""
    from agentdyno.runner.rules.deciding import UntilDecided

    for rule in rules:
        if isinstance(rule, UntilDecided) and reason == str(rule.outcome):
            return f"{reason}; {rule.outcome.saved_calls:,} of {rule.outcome.planned_calls:,} calls saved"
    return reason
