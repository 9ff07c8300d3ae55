"""Cases put to agents on this machine, for a driver that judges the answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from agentdyno.agents.redaction import redactor_for
from agentdyno.agents.resolve import make_agent
from agentdyno.contracts import Agent
from agentdyno.model import AgentUse, Trial
from agentdyno.runner.cases.call import CaseJob, Conduct
from agentdyno.runner.farm.calls import CallExecutor, station_job
from agentdyno.runs.cluster.files import FilesHere
from agentdyno.runs.cluster.order import OrderedAgent, WorkOrder


class CaseWork:
    """Agents are made with this machine's environment: secrets are read here, by the names that they have."""

    def __init__(self, order: WorkOrder, files: FilesHere, environ: Mapping[str, str] = os.environ) -> None:
        agents = [made_here(item, files, environ, order) for item in order.agents]
        cases = {name: {case.id: case for case in listed} for name, listed in order.cases.items()}
        redact = redactor_for((item.use for item in order.agents), environ).value
        folder = Path(tempfile.mkdtemp(prefix="cases-", dir=files.root))
        conduct = Conduct(order.concurrency, order.retries, order.patience_s, redact, folder=folder)
        jobs: dict[str, CaseJob] = {}
        for arm_id, arm in order.arms.items():
            job = partial(
                CaseJob,
                agents[arm.agent],
                cases[arm.benchmark],
                constraints=arm.constraints,
                warmup=arm.warmup,
            )
            jobs[arm_id] = station_job(arm_id, job, lambda told: self._executor.warmed.append(told))
        self._executor = CallExecutor(jobs, conduct, {}, redact=redact)

    def open(self) -> None:
        self._executor.open()

    def start(self, trial: Trial) -> None:
        self._executor.submit(trial)

    def wait_item(self) -> dict[str, object]:
        return self._executor.wait_item()

    def close(self) -> None:
        self._executor.close()


def made_here(item: OrderedAgent, files: FilesHere, environ: Mapping[str, str], order: WorkOrder) -> Agent:
    """The agent with its files where they are on this machine."""
    use, python = _here(item.use, files), None
    if item.launch is not None:
        paths = [files.of(path) for path in item.launch.sys_path]
        environ = {**environ, "PYTHONPATH": os.pathsep.join(paths)}
        own = item.launch.python != order.python
        python = item.launch.python if own and (not use.python or item.launch.label == item.launch.python) else None
    return make_agent(
        use, workers=order.concurrency, memory_limit_bytes=item.memory_limit_bytes, environ=environ, python=python
    )


def _here(use: AgentUse, files: FilesHere) -> AgentUse:
    return replace(use, uses=files.text(use.uses), base_dir=files.folder(use.base_dir))
