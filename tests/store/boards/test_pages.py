"""Executions of an agent, a page at a time."""

from __future__ import annotations

from agentdyno.store import Store
from agentdyno.store.boards.pages import ResultFilter
from agentdyno.store.runs.pages import After

from ..builders import run_id
from ..suite_builders import AGENTS, MONDAY, run_suite, suite_header

NAME = AGENTS[0].rpartition("@")[0]


def test_pages_of_executions_hold_every_one_once(store: Store) -> None:
    for number in range(1, 5):
        run_suite(store, suite_header(run_id(number), started_at=MONDAY), dict.fromkeys(AGENTS, 0.5))
    known = [row.uid for row in store.boards.executions() if row.agent == NAME]
    seen: list[str] = []
    after = None
    while page := store.boards.execution_page(ResultFilter(NAME), after, limit=3):
        seen += [row.uid for row in page]
        after = After(page[-1].created_at, page[-1].uid)
    assert seen == known


def test_the_newest_execution_of_each_benchmark_is_found(store: Store) -> None:
    for number in (1, 2, 3):
        header = suite_header(run_id(number), started_at=MONDAY + number)
        run_suite(store, header, {AGENTS[0]: number / 10}, finished_at=MONDAY + 10 * number)
    found = store.boards.execution_page(ResultFilter(NAME, latest=True), limit=50)
    assert {row.accuracy for row in found} == {0.3}
    assert len({row.benchmark for row in found}) == len(found) > 1
    earlier = store.boards.execution_page(ResultFilter(NAME, since=MONDAY + 20), limit=50)
    assert {row.accuracy for row in earlier} == {0.2, 0.3}
    assert store.boards.execution_page(ResultFilter(NAME, version="0"), limit=5) == []
    assert store.boards.execution_page(ResultFilter(NAME, suite="nothing"), limit=5) == []
