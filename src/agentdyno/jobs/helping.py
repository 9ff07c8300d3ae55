"""The other side of sharing: a worker that does a batch of another's run, and writes what came of it to the batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from agentdyno.errors import SpecError
from agentdyno.jobs.catalogue import Catalogue
from agentdyno.jobs.submitting import RunOptions
from agentdyno.model import Trial
from agentdyno.model.codec import from_plain
from agentdyno.model.job import Job
from agentdyno.runs.cluster.case_work import CaseWork
from agentdyno.runs.cluster.files import FilesHere, ShippedFiles
from agentdyno.runs.host_state import host_id
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.suite.ordering import suite_order
from agentdyno.runs.suite.prepare import PreparedSuite, suite_request


@dataclass(slots=True)
class Helper:
    """Agents of one attempt at another's job, kept from batch to batch. They are what is registered here: the store
    says which of them, by their content, and brings no code."""

    owner: str
    work: CaseWork
    arms: frozenset[str]
    concurrency: int
    closing: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def for_batch(cls, batch: Job, catalogue: Catalogue, environ: Mapping[str, str]) -> Helper:
        """Raises a ``DynoError`` where the agent cannot work here."""
        agent, suite = catalogue.agent_of(batch.agent_digest), catalogue.suite_of(batch.suite_digest)
        assert agent is not None, "only what is offered is leased"
        assert suite is not None, "only what is offered is leased"
        given = batch.options.get("options")
        loaded = RunOptions.of(given if isinstance(given, Mapping) else {}).load(suite)
        use = agent.configured(batch.configuration)
        tools = Tools(workspace=catalogue.workspace, environ=environ, choices=Choices((use,)))
        with ExitStack() as stack:
            kind = kind_named(SUITE)
            prepared = stack.enter_context(kind.prepare(suite_request(loaded), tools))
            assert isinstance(prepared.work, PreparedSuite), "a suite"
            order, _ = suite_order(prepared.work, batch.created_by)
            files = FilesHere(ShippedFiles())
            stack.callback(files.close)
            work = CaseWork(order, files, environ)
            work.open()
            stack.callback(work.close)
            return cls(batch.created_by, work, frozenset(order.arms), order.concurrency, stack.pop_all())

    def perform(self, batch: Job, stops: Callable[[], bool]) -> list[dict[str, object]] | None:
        """What came of its trials; ``None`` where there was a reason to stop before the end."""
        given = batch.options.get("trials")
        waiting = deque(from_plain(Trial, plain) for plain in (given if isinstance(given, list) else ()))
        for trial in waiting:
            if trial.arm_id not in self.arms:
                raise SpecError(f"the run asks for {trial.arm_id}, which is not what {batch.agent} is here")
        items: list[dict[str, object]] = []
        doing = 0
        while waiting or doing:
            while waiting and doing < self.concurrency:
                self.work.start(waiting.popleft())
                doing += 1
            items.append({**self.work.wait_item(), "host_id": host_id()})
            doing -= 1
            if stops():
                return None
        return items

    def close(self) -> None:
        self.closing.close()
