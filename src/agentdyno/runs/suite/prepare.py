"""From a suite and some agents to everything that a run needs, checked before anything is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.redaction import redactor_for
from agentdyno.agents.references import model_reference
from agentdyno.contracts import Agent
from agentdyno.errors import SpecError
from agentdyno.findings.figures.dimensions import targets_for
from agentdyno.model import (
    Arm,
    Benchmark,
    Plan,
    Price,
    RunWarning,
    Side,
    Spec,
    Suite,
    Workspace,
)
from agentdyno.model.case import ASKED, RECORDING_COST
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.identity import digest
from agentdyno.model.suite import RunForm
from agentdyno.pricing import PriceBook
from agentdyno.runner.cases.call import CaseJob, Conduct
from agentdyno.runner.cases.throttle import CpuShare
from agentdyno.runs.kind import Choices, RunRequest, Say, Tools, is_remote
from agentdyno.runs.lineup import Entrant, LocalServer, Maker, Named, line_up, told_apart
from agentdyno.runs.suite.forecast import Expected, check_limit, expect, has_price, pricing_of
from agentdyno.runs.suite.marking import JudgingAgents, Marking, load_imports, marking_for
from agentdyno.runs.suite.recording import SuiteRecording, suite_recording, unrecorded
from agentdyno.specs import LoadedSuite, plan_suite
from agentdyno.workers.reference import ALLOWANCE_S, INTERLEAVED_ALLOWANCE_S, ReadsReferences

if TYPE_CHECKING:
    from agentdyno.model.record import AgentRecord
    from agentdyno.runner.farm.driver import Farm
    from agentdyno.runs.cluster.order import WorkOrder
    from agentdyno.runs.suite.broken import Baselines
    from agentdyno.runs.suite.closing import Collected
    from agentdyno.runs.suite.tracing import TracingPass
    from agentdyno.store import Store

KIND = "suite"


@dataclass(frozen=True, slots=True)
class SuiteBody:
    """What the request of a suite holds besides its settings. ``pricing`` is of a run that is resumed: one run has
    one price list. ``None`` are the prices of the workspace. ``form`` says whether it is the whole suite."""

    suite: Suite
    pricing: Mapping[str, object] | None = None
    form: RunForm | None = None


def suite_request(loaded: LoadedSuite, *, against: str | None = None, until_decided: bool = False) -> RunRequest:
    """The request for a suite that was read. ``against`` adds a baseline: a git revision or another agent;
    ``until_decided`` ends the run when the two sides are told apart."""
    settings = loaded.settings
    settings = replace(
        settings,
        against=against or settings.against,
        until_decided=until_decided or settings.until_decided,
    )
    return RunRequest(KIND, settings, SuiteBody(loaded.suite, form=loaded.form))


@dataclass(frozen=True, slots=True)
class PreparedSuite:
    """A suite that is ready to run. ``judges`` are agents that scorers ask; ``collected`` is filled while it runs,
    and is not there where a single question is asked."""

    suite: Suite
    settings: Spec
    plan: Plan
    jobs: Mapping[str, CaseJob]
    entrants: Mapping[str, Entrant]
    judges: tuple[Agent, ...]
    conduct: Conduct
    prices: PriceBook
    targets: Mapping[str, Mapping[str, tuple[float, float]]]
    expected: Expected
    workspace: Workspace
    collected: Collected | None = None
    warnings: tuple[RunWarning, ...] = ()
    baselines: Baselines | None = None
    form: RunForm | None = None
    recording: SuiteRecording = field(default_factory=SuiteRecording)
    traced: Mapping[str, CaseJob] = field(default_factory=dict)
    tracing: TracingPass | None = None
    share: Callable[[WorkOrder], Farm] | None = None
    """Gives the others with whom the cases are shared."""

    @property
    def rates(self) -> dict[str, object]:
        """The prices that the user gave, as they stood when the run began; a resume goes on with them."""
        given: dict[str, object] = {}
        if self.workspace.prices:
            given["prices"] = to_plain(self.workspace.prices)
        if self.workspace.compute_price_per_cpu_hour is not None:
            given["compute_price_per_cpu_hour"] = self.workspace.compute_price_per_cpu_hour
        return given

    @property
    def calls(self) -> int:
        """Calls of agents that the plan holds, warm-ups included."""
        return len(self.plan.trials) + sum(job.warmup for job in self.jobs.values())

    @property
    def expected_usd(self) -> float | None:
        """What the plan is expected to cost; ``None`` where the price of an agent that costs money is unknown."""
        return self.expected.usd_of(self.plan)

    def share_references(self) -> None:
        """Agents that work on this host read references; together they may spend what a run may."""
        agents = {id(job.agent): job.agent for job in self.jobs.values()}.values()
        here = [agent for agent in agents if isinstance(agent, ReadsReferences)]
        two_sides = any(arm.side is not None for arm in self.plan.arms)
        whole_s = INTERLEAVED_ALLOWANCE_S if two_sides else ALLOWANCE_S
        for agent in here:
            agent.read_references(whole_s / len(here))

    def observed(self, told: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
        """What the other side says it is, with where the agent's code stands in its history."""
        observed: dict[str, dict[str, object]] = {}
        for arm_id, entrant in self.entrants.items():
            seen = self.conduct.redact(dict(told.get(arm_id, {})))
            mine: dict[str, object] = dict(seen) if isinstance(seen, Mapping) else {}
            recorded = self.recording.run if entrant.label in self.recording.by_agent else None
            if recorded is not None and recorded.cost is not None:
                mine[RECORDING_COST] = asdict(recorded.cost)
            if entrant.version.commit is not None:
                mine["commit"] = entrant.version.commit + (" (dirty)" if entrant.version.dirty else "")
            asked = model_reference(entrant.use.uses)
            if asked:
                mine[ASKED] = asked
            observed[arm_id] = mine
        return observed


@contextmanager
def preparing(request: RunRequest, tools: Tools) -> Iterator[PreparedSuite]:
    """Finds agents and scorers, checks every case, plans; what was started for the run ends with the block."""
    body, choices, say = request.body, tools.choices, tools.say
    assert isinstance(body, SuiteBody), "the request of a suite"
    workspace = _as_priced(tools.project, body.pricing)
    # The recording proxy is on this machine, where agents on others do not reach it.
    elsewhere = choices.share is not None or is_remote(request.spec.executor)
    suite = unrecorded(body.suite) if elsewhere else body.suite
    base_dir = Path(suite.base_dir)
    load_imports(suite)
    candidates = candidates_of(suite, workspace, choices)
    entrants, settings, warnings = _sides(candidates, request.spec, workspace, say)
    suite = replace(suite, agents=told_apart(entrants, tools.store))
    with ExitStack() as stack:
        local = LocalServer(suite.concurrency, stack, say)
        maker, meter = Maker(suite.concurrency, tools.environ), None
        recording = suite_recording(say, entrants, suite, tools.environ, choices.compared_with)
        stack.callback(recording.close)
        form = None if body.form is None else replace(body.form, proxied=recording.wanted)
        if any(entrant.wants_local_model for entrant in entrants):
            maker, meter = replace(maker, local_url=local.url), CpuShare(local.cpu_s)
        judging = JudgingAgents(workspace, base_dir, maker, local)
        prices = PriceBook(workspace.prices, workspace.compute_price_per_cpu_hour)
        markings = {
            item.benchmark_id: marking_for(item, base_dir, judging.named, prices) for item in suite.benchmarks
        }
        agents = _Agents(replace(maker, recordings=recording.by_agent))
        paid = {entrant.label: agents.of(entrant, None).paid or has_price(entrant, prices) for entrant in entrants}
        plan = _planned(suite, entrants, settings, paid)
        by_label = {entrant.label: entrant for entrant in entrants}
        arms = _by_id(plan, suite, by_label)
        jobs = _metered(_case_jobs(arms, agents, markings, prices, plan.warmups), arms, meter)
        expected = expect(arms, paid, prices)
        check_limit(suite, choices, expected)
        redactor = redactor_for((*(item.use for item in entrants), *judging.uses), tools.environ)
        tracing = _tracing_pass(say, redactor.value, stack) if settings.otel else None
        plan, traced = _with_traces(plan, arms, jobs, maker, tracing)
        if choices.cache is not None:
            choices.cache.prepare(_answered_by(arms), redactor.value)
        yield PreparedSuite(
            suite=suite,
            settings=settings,
            plan=plan,
            jobs=jobs,
            entrants={arm.arm_id: by_label[arm.agent or ""] for arm in plan.arms},
            judges=tuple(judging.made.values()),
            conduct=Conduct(suite.concurrency, suite.retries, choices.patience_s, redactor.value, choices.cache),
            prices=prices,
            targets=_targets(suite, tools.store, body.form),
            expected=expected,
            workspace=workspace,
            warnings=(*warnings, *(_changed_version(suite, tools, body.form) if suite.version else ())),
            baselines=_baselines(choices.compared_with, markings, suite),
            form=form,
            recording=recording,
            traced=traced,
            tracing=tracing,
            share=choices.share,
        )


def _baselines(
    compared_with: tuple[AgentRecord, ...], markings: Mapping[str, Marking], suite: Suite
) -> Baselines | None:
    if not compared_with:
        return None
    from agentdyno.runs.suite.broken import Baselines

    return Baselines(compared_with, markings, suite)


def _by_id(plan: Plan, suite: Suite, entrants: Mapping[str, Entrant]) -> dict[str, tuple[Arm, Benchmark, Entrant]]:
    """Each arm with its benchmark and its agent."""
    return {arm.arm_id: (arm, suite.benchmark(arm.benchmark or ""), entrants[arm.agent or ""]) for arm in plan.arms}


def _planned(suite: Suite, entrants: Sequence[Entrant], settings: Spec, paid: Mapping[str, bool]) -> Plan:
    """Every trial of the suite, its arms with their sides."""
    versions = [(entrant.use, entrant.version.version) for entrant in entrants]
    plan = plan_suite(suite, versions, seed=settings.seed, paid=paid, by_case=settings.until_decided)
    return _with_sides(plan, entrants)


def _tracing_pass(say: Say, redact: Callable[[object], object], stack: ExitStack) -> TracingPass:
    from agentdyno.runs.suite.tracing import TracingPass

    tracing = TracingPass(say, redact)
    stack.callback(tracing.close)
    return tracing


def _with_traces(
    plan: Plan,
    arms: Mapping[str, tuple[Arm, Benchmark, Entrant]],
    jobs: Mapping[str, CaseJob],
    maker: Maker,
    tracing: TracingPass | None,
) -> tuple[Plan, Mapping[str, CaseJob]]:
    """The plan with one more trial for each case that is traced, and what is done in these."""
    if tracing is None:
        return plan, {}
    from agentdyno.runs.suite.tracing import traced_jobs, with_tracing

    traced = traced_jobs({arm_id: entrant for arm_id, (_, _, entrant) in arms.items()}, jobs, maker, tracing)
    return with_tracing(plan, frozenset(traced)), traced


def _answered_by(arms: Mapping[str, tuple[Arm, Benchmark, Entrant]]) -> dict[str, str]:
    """Whose answers an arm may reuse: the same agent in the same version."""
    return {arm_id: digest([entrant.label, entrant.version.digest]) for arm_id, (_, _, entrant) in arms.items()}


def _as_priced(workspace: Workspace, pricing: Mapping[str, object] | None) -> Workspace:
    """The workspace with the prices that the run began with, where it is resumed."""
    if pricing is None:
        return workspace
    prices, hour = pricing.get("prices"), pricing.get("compute_price_per_cpu_hour")
    return replace(
        workspace,
        prices={name: from_plain(Price, row) for name, row in prices.items()} if isinstance(prices, Mapping) else {},
        compute_price_per_cpu_hour=float(hour) if isinstance(hour, (int, float)) else None,
    )


def _case_jobs(
    arms: Mapping[str, tuple[Arm, Benchmark, Entrant]],
    agents: _Agents,
    markings: Mapping[str, Marking],
    prices: PriceBook,
    warmups: Mapping[str, int],
) -> dict[str, CaseJob]:
    """What each agent does in each benchmark, by arm id."""
    jobs = {}
    for arm_id, (_, benchmark, entrant) in arms.items():
        agent = agents.of(entrant, benchmark.constraints.memory_limit_bytes)
        jobs[arm_id] = CaseJob(
            agent,
            {case.id: case for case in benchmark.cases},
            markings[benchmark.benchmark_id],
            pricing_of(prices, entrant, metered=not agent.paid),
            warmups.get(arm_id, 0),
            benchmark.constraints,
            benchmark.rubric.pass_threshold,
        )
    return jobs


def _metered(
    jobs: dict[str, CaseJob], arms: Mapping[str, tuple[Arm, Benchmark, Entrant]], meter: CpuShare | None
) -> dict[str, CaseJob]:
    """Those whose agents ask the local model have its CPU time counted."""
    local = [arm_id for arm_id, (_, _, entrant) in arms.items() if entrant.wants_local_model]
    return jobs | {arm_id: replace(jobs[arm_id], server=meter) for arm_id in local}


def candidates_of(suite: Suite, workspace: Workspace, choices: Choices) -> list[Entrant]:
    """The agents that the user names, else those of the suite, else those of dyno.yaml."""
    named: Sequence[Named] = (
        _of_suite(choices.agents, suite) or suite.agents or workspace.run_agents or tuple(workspace.agents)
    )
    if not named:
        raise SpecError(
            "no agent to run it with",
            where=suite.source or suite.name,
            remedy="Name one: --agent file.py@function, --agent openai:MODEL, or under `agents:` in dyno.yaml.",
        )
    return line_up(named, workspace, Path.cwd() if choices.agents else Path(suite.base_dir), choices.python)


def _sides(
    candidates: list[Entrant], settings: Spec, workspace: Workspace, say: Say
) -> tuple[list[Entrant], Spec, tuple[RunWarning, ...]]:
    """All entrants, with their sides where the run has two; the settings say how a resume finds them again."""
    if settings.against is not None:
        from agentdyno.runs.suite.sides import Unchanged, two_sides, unchanged_warnings

        found = two_sides(candidates, settings.against, workspace, Path.cwd(), say)
        if not found.entrants:
            raise Unchanged(found)
        return list(found.entrants), replace(settings, against=found.spelled), unchanged_warnings(found)
    if not settings.until_decided:
        return candidates, settings, ()
    if len(candidates) != 2:
        raise SpecError(
            f"--until-decided is a question about two agents, and {len(candidates)} take part",
            remedy="Name two with --agent (the baseline first), or one and --against REVISION.",
        )
    first, second = candidates
    return [replace(first, side=Side.BASELINE), replace(second, side=Side.CANDIDATE)], settings, ()


def _with_sides(plan: Plan, entrants: Sequence[Entrant]) -> Plan:
    """The arms with their sides; ids stay, so that an agent has the same ones in every run."""
    sides = {entrant.label: entrant.side for entrant in entrants}
    return replace(plan, arms=tuple(replace(arm, side=sides[arm.agent or ""]) for arm in plan.arms))


class _Agents:
    """One object per agent and memory limit: limits of memory belong to the process that an agent runs in."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self._made: dict[tuple[str, int | None], Agent] = {}

    def of(self, entrant: Entrant, memory_limit_bytes: int | None) -> Agent:
        key = (entrant.label, memory_limit_bytes)
        if key not in self._made:
            self._made[key] = entrant.make(self._maker, memory_limit_bytes)
        return self._made[key]


def _of_suite(agents: Sequence[Named], suite: Suite) -> tuple[Named, ...]:
    """``agents`` with the suite's own in place of their names; a name stands for its whole sweep."""
    found: list[Named] = []
    for item in agents:
        own = [use for use in suite.agents if use.name == item or use.name.startswith(f"{item} ")]
        found += own or [item]
    return tuple(found)


def _targets(suite: Suite, store: Store | None, form: RunForm | None) -> dict[str, dict[str, tuple[float, float]]]:
    """Those of the suite's version, set once, else what the rubric says. A part has those of the whole.

    A baseline agent that is named only now may have run the whole suite before: its first run gives what is missing.
    """
    whole = form is None or form.whole
    known = {} if store is None else store.runs.targets(suite.digest if form is None or whole else form.suite)
    first = {}
    if store is not None and whole and suite.baseline_scores:
        first = store.runs.first_targets(suite, suite.baseline_scores[0].agent_id)
    return {
        name: {**first.get(name, {}), **known.get(name, {}), **targets_for(item)}
        for item in suite.benchmarks
        for name in (item.benchmark_id,)
    }


def _changed_version(suite: Suite, tools: Tools, form: RunForm | None) -> tuple[RunWarning, ...]:
    from agentdyno.runs.suite.published import changed_version

    return changed_version(suite, tools.store, form, allowed=tools.choices.allow_changed_suite)
