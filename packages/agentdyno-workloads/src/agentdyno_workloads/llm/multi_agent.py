"""Several agents at once over one or more endpoints, beside the same agents one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.llm.concurrency import Concurrency, ContentionLimits
from agentdyno_workloads.llm.serving import ServerChoice, Serving, choose, options_by_name
from agentdyno_workloads.llm.workflow import DOCUMENTS, Worked, work

METRICS = {
    metric.name: metric
    for metric in (
        Metric("speedup", "", Direction.HIGHER),
        Metric("efficiency", "ratio", Direction.HIGHER),
        Metric("balance", "ratio", Direction.HIGHER),
        Metric("fairness", "ratio", Direction.HIGHER),
        Metric("slowdown_mean", "", Direction.LOWER),
        Metric("slowdown_max", "", Direction.LOWER),
        Metric("sequential_s", "s", Direction.LOWER),
        Metric("concurrent_s", "s", Direction.LOWER),
        Metric("ttft_s", "s", Direction.LOWER),
        Metric("ttft_alone_s", "s", Direction.LOWER),
        Metric("ttft_delta_s", "s", Direction.LOWER),
        Metric("throughput_delta_per_s", "/s", Direction.LOWER),
        Metric("tokens_per_s", "/s", Direction.HIGHER),
        Metric("contention_events", "", Direction.LOWER),
        Metric("contention_rate", "ratio", Direction.LOWER),
    )
}
_SECOND = {"temperature": 0.2, "top_p": 0.1}
"""By how much the second configuration of a heterogeneous pair differs, where the first leaves room."""


class MultiAgent(Experiment):
    """Agents that read, analyse and report at the same time, against the same agents one by one."""

    metrics: ClassVar = METRICS

    def __init__(
        self,
        scenario: Literal["baseline_vs_tuned", "heterogeneous", "homogeneous"] = "homogeneous",
        agents: int = 2,
        endpoints: str = "local,local",
        agent: str = "",
        slots: int = 1,
        pin: Literal["none", "one_core", "two_cores"] = "none",
        num_gpu: int | None = None,
        num_ctx: int | None = None,
        temperature: float | None = 0.8,
        top_p: float | None = None,
        top_k: int | None = None,
        repeat_penalty: float | None = None,
        max_tokens: int = 48,
        documents: str = "",
        cold: bool = False,
        contention_ttft_s: float = 3.0,
        contention_slowdown: float = 1.2,
    ) -> None:
        options = options_by_name(num_gpu, num_ctx, temperature, top_p, top_k, repeat_penalty)
        given = {"scenario": scenario, "agents": agents, "endpoints": endpoints, "pin": pin, "cold": cold}
        super().__init__({**given, **options})
        self.limits = ContentionLimits(contention_ttft_s, contention_slowdown)
        self.folder = Path(documents) if documents else DOCUMENTS
        tuned = {name: value for name, value in options.items() if value is not None}
        self.configurations = configurations(scenario, agents, tuned)
        self.places = [_place(item.strip(), agent) for item in endpoints.split(",") if item.strip()]
        if not self.places:
            raise SpecError(
                "no endpoint is named", where="params.endpoints", remedy="Write URL1,URL2, or local,local."
            )
        self.slots, self.pin, self.max_tokens = slots, pin, max_tokens
        self.servers: list[Serving] = []
        self.workers: list[Serving] = []

    def setup(self, context: ExperimentContext) -> None:
        """Starts local servers, and gives every agent its endpoint in turn and its configuration."""
        self.servers = [self._server(place, number) for number, place in enumerate(self.places)]
        self._ask_anew()
        # What agents ask of their servers is in no answer of theirs.
        requested = {"slots": self.slots, "pin": self.pin, "agents": [dict(item) for item in self.configurations]}
        context.observe(endpoints=len(self.servers), cold=self.params["cold"], requested=requested)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        """Both turns, in an order drawn anew for every iteration, so that neither has the warmer cache."""
        first_alone = context.rng.random() < 0.5
        if first_alone:
            alone = self._one_by_one()
            together = self._at_once()
        else:
            together = self._at_once()
            alone = self._one_by_one()
        measured = Concurrency(tuple(alone), tuple(together), self.limits)
        context.observe(
            model=together[0].model,
            simulated=any(item.simulated for item in (*alone, *together)),
        )
        return measured.figures()

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        for server in self.servers:
            server.close()

    def _ask_anew(self) -> None:
        """Every agent gets its endpoint in turn, and its configuration."""
        homes = [self.servers[number % len(self.servers)] for number in range(len(self.configurations))]
        pairs = zip(homes, self.configurations, strict=True)
        self.workers = [_client_of(home, options, self.max_tokens) for home, options in pairs]

    def _cool(self) -> None:
        """Unloads every model where runs are cold, while no clock runs. A local server is then another one."""
        if not self.params["cold"]:
            return
        for server in self.servers:
            server.unload()
        self._ask_anew()

    def _one_by_one(self) -> list[Worked]:
        """Each agent alone; cold ones each after an unloading of its own, as they would start alone."""
        done = []
        for number in range(len(self.configurations)):
            self._cool()
            done.append(asyncio.run(self._alone(number)))
        return done

    async def _alone(self, number: int) -> Worked:
        done = await work(f"agent {number + 1}", self.workers[number], self.folder)
        await self._forget()
        return done

    def _at_once(self) -> list[Worked]:
        self._cool()
        return asyncio.run(self._together())

    async def _together(self) -> list[Worked]:
        ready = asyncio.Event()

        async def start(number: int, serving: Serving) -> Worked:
            await ready.wait()
            return await work(f"agent {number}", serving, self.folder)

        tasks = [asyncio.create_task(start(number, item)) for number, item in enumerate(self.workers, 1)]
        await asyncio.sleep(0)  # every task waits at the line before the signal
        ready.set()
        done = await asyncio.gather(*tasks)
        await self._forget()
        return list(done)

    async def _forget(self) -> None:
        for item in self.workers:
            await item.forget()

    def _server(self, place: ServerChoice, number: int) -> Serving:
        shared = {name: value for name, value in self.configurations[0].items() if name == "num_ctx"}
        server = Serving(
            place,
            shared if place.protocol == "local" else {},
            slots=self.slots,
            max_tokens=self.max_tokens,
            cpus=cpus_for(self.pin, number),
        )
        server.open()
        return server


def configurations(scenario: str, agents: int, tuned: Mapping[str, float]) -> list[dict[str, float]]:
    """What each agent asks with. ``baseline_vs_tuned``: the server's defaults and the tuned options in turn;
    ``heterogeneous``: the tuned options and a variant of them; ``homogeneous``: the tuned options for all.

    Raises ``SpecError`` where there are no agents.
    """
    if agents < 1:
        raise SpecError(f"{agents} agents cannot work", where="params.agents", remedy="Give 1 or more.")
    if scenario == "baseline_vs_tuned":
        kinds: list[dict[str, float]] = [{}, dict(tuned)]
    elif scenario == "heterogeneous":
        other = dict(tuned)
        other["temperature"] = round(max(0.0, tuned.get("temperature", 0.8) - _SECOND["temperature"]), 3)
        other["top_p"] = round(max(0.1, tuned.get("top_p", 1.0) - _SECOND["top_p"]), 3)
        kinds = [dict(tuned), other]
    else:
        kinds = [dict(tuned)]
    return [kinds[number % len(kinds)] for number in range(agents)]


def cpus_for(pin: str, number: int) -> tuple[int, ...]:
    """The cores of server ``number``: all on the first, or each on one of the first two."""
    if pin == "one_core":
        return (0,)
    return (number % 2,) if pin == "two_cores" else ()


def _place(endpoint: str, agent: str) -> ServerChoice:
    if endpoint == "local":
        return choose("local")
    return choose(agent, endpoint) if agent else choose(endpoint)


def _client_of(server: Serving, options: Mapping[str, float], max_tokens: int) -> Serving:
    """Another asker of the same server, with options of its own."""
    if server.choice.protocol == "local":
        asked = {name: value for name, value in options.items() if name not in ("num_ctx", "num_gpu")}
        place = ServerChoice("openai", server.url, server.model_name)
    else:
        asked, place = dict(options), server.choice
    client = Serving(place, asked, max_tokens=max_tokens)
    client.open()
    return client
