from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import TypeAlias

import pytest

from agentdyno.runner.bench.job import ArmJob
from agentdyno.runner.executors.processes import ProcessExecutor
from tests.runner.building import children, descriptors

Pool: TypeAlias = Callable[..., ProcessExecutor]


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Makes executors, closes them at the end, and proves that they leave neither processes nor descriptors."""
    open_before, children_before = descriptors(), children()
    with ExitStack() as stack:

        def make(*jobs: ArmJob) -> ProcessExecutor:
            executor = ProcessExecutor({job.arm_id: job for job in jobs})
            stack.enter_context(closing(executor))
            return executor

        yield make
    assert children() == children_before
    assert descriptors() == open_before
